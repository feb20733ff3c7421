//! Warnings issued after all rows have been read.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::encoding::{Stray, Strays};
use crate::unmet::Unmet;

/// Remarks about inputs, in the order the inputs were opened. Shared by the thread that opens inputs and the reader.
#[derive(Debug, Default)]
pub(crate) struct Remarks(Mutex<Vec<Remark>>);

#[derive(Debug)]
enum Remark {
    Words(String),
    /// Bytes of an input that are not UTF-8; how many there are is known at its end.
    Strays(Arc<str>, Arc<Strays>),
    /// Names that the first rows do not have; whether later ones do is known at the end.
    Unmet(Arc<str>, Arc<Unmet>),
}

impl Remarks {
    pub(crate) fn add(&self, name: &str, words: &str) {
        self.add_sentence(format!("{name}: {words}"));
    }

    /// Adds a sentence that is not about a single input.
    pub(crate) fn add_sentence(&self, sentence: String) {
        self.push(Remark::Words(sentence));
    }

    pub(crate) fn watch(&self, name: &Arc<str>, strays: &Arc<Strays>) {
        self.push(Remark::Strays(name.clone(), strays.clone()));
    }

    pub(crate) fn watch_unmet(&self, name: &Arc<str>, unmet: &Arc<Unmet>) {
        self.push(Remark::Unmet(name.clone(), unmet.clone()));
    }

    fn push(&self, remark: Remark) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(remark);
    }

    /// All of them, as sentences.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let remarks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.iter().filter_map(Remark::sentence).collect()
    }
}

impl Remark {
    fn sentence(&self) -> Option<String> {
        match self {
            Remark::Words(words) => Some(words.clone()),
            Remark::Unmet(name, unmet) => {
                let names = unmet.names();
                (!names.is_empty()).then(|| {
                    format!("{name}: no row has {}, which the settings name", names.join(" or "))
                })
            }
            Remark::Strays(name, strays) => {
                let Stray { line, byte, .. } = strays.first.get()?;
                let column = strays.column().map(|name| format!(", column {name:?}"));
                let column = column.unwrap_or_default();
                let bytes = strays.bytes.load(Ordering::Relaxed);
                let (s, were) = if bytes == 1 { ("", "was") } else { ("s", "were") };
                Some(format!(
                    "{name}:{line}:{byte}{column}: the text is not UTF-8 here; {bytes} byte{s} {were} read as Windows-1252"
                ))
            }
        }
    }
}
