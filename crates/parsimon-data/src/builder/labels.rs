//! Labels, base values and importance weights of rows.

use super::Builder;
use crate::DataErrorKind;
use crate::error::{Bad, shown};
use crate::kinds::NumberForm;
use crate::label::{Found, is_code, trimmed};
use crate::remedy::{Message, Remedy};

impl Builder {
    /// Returns the number that the loss receives for a label; under `Labels::Any` a text is remembered.
    #[inline]
    pub(crate) fn label(&mut self, found: Found<'_>, column: usize) -> Result<Option<f64>, Bad> {
        let found = match found {
            Found::Text(text) if self.spec.label_form != NumberForm::Plain => {
                self.spec.label_form.read(text.trim_ascii()).map_or(found, Found::Number)
            }
            found => found,
        };
        let y = self.spec.labels.read(found, column, self.spec.max_label)?;
        if let (Some(y), Found::Text(text)) = (y, found)
            && is_code(y)
        {
            self.remember_label(y, text);
        }
        Ok(y)
    }

    /// Reads a label that is true or false: one of these words where labels are words, else 1 or 0.
    pub(crate) fn truth_label(&mut self, truth: bool, column: usize) -> Result<Option<f64>, Bad> {
        let number = Found::Number(f64::from(truth));
        if self.spec.labels.are_numbers() {
            return self.label(number, column);
        }
        let word: &[u8] = if truth { b"true" } else { b"false" };
        match self.label(Found::Text(word), column) {
            Ok(Some(y)) => Ok(Some(y)),
            _ => self.label(number, column),
        }
    }

    /// Remembers the text of a label's code.
    pub(crate) fn remember_label(&mut self, code: f64, text: &[u8]) {
        if !self.label_texts.contains(code) {
            let text = trimmed(text);
            let text = String::from_utf8_lossy(text).into_owned();
            self.label_texts.remember(code, &text);
            self.out.label_news.push(text);
        }
    }

    /// A missing label, where a format must have one.
    pub(crate) fn no_label(&self, column: usize) -> Result<Option<f64>, Bad> {
        if self.spec.labels.may_be_missing() {
            Ok(None)
        } else {
            Err(Bad::new(
                DataErrorKind::Label,
                column,
                Message::new("the label is missing").or(Remedy::SkipBad),
            ))
        }
    }

    /// Gives the row under construction a base value; 0 is none.
    pub(crate) fn set_base(&mut self, token: &[u8], column: usize) -> Result<(), Bad> {
        let base = crate::number::bounded(token, column, self.spec.max_value)?;
        self.base = (base != 0.0).then_some(base);
        if self.base.is_some() && self.spec.labels.is_of_several_classes() {
            let words = format!(
                "base value {} is for one margin, and each of several classes has one; remove the number",
                shown(token)
            );
            return Err(Bad::new(DataErrorKind::Malformed, column, words).found(token));
        }
        Ok(())
    }

    /// Checks an importance weight.
    pub(crate) fn importance(&self, token: &[u8], column: usize) -> Result<f64, Bad> {
        let weight = crate::number::bounded(token, column, self.spec.max_value)?;
        if weight < 0.0 {
            let words = format!("importance weight {} is negative", shown(token));
            return Err(Bad::new(DataErrorKind::Number, column, words).found(token));
        }
        Ok(weight)
    }
}
