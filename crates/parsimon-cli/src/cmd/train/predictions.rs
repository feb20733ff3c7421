//! The predictions made before learning, as a file.

use std::io::Write;
use std::path::Path;

use parsimon::Trainer;
use parsimon::settings::Loss;
use parsimon::workspace::{Cell, ColumnType, TableFormat, TableWriter};

use crate::cmd::predict::{best, shares};
use crate::fault::Fault;
use crate::output::{Output, Prepared};

/// One row for each of the data, empty for a row without a prediction.
pub(super) struct PredictionsFile {
    form: Form,
    loss: Loss,
    /// The classes, if there are several.
    classes: Vec<String>,
    /// The first error of writing. Learning continues: the model is worth more than the predictions.
    failed: Option<std::io::Error>,
}

/// Lines, or a table by the ending of the file's name.
enum Form {
    Lines(Output),
    Table(Box<TableWriter<Output>>),
}

impl PredictionsFile {
    pub(super) fn create(path: &Path, trainer: &Trainer) -> Result<Self, Fault> {
        let classes = match trainer.settings().is_multiclass() {
            true => trainer.schema().found.classes.clone(),
            false => Vec::new(),
        };
        let (out, loss) = (Output::open(Some(path))?, trainer.settings().loss());
        let form = match TableFormat::of_path(path) {
            None => Form::Lines(out),
            Some((format, is_zipped)) => {
                let is_class = !classes.is_empty();
                let kind = if is_class { ColumnType::Text } else { ColumnType::Number };
                let word = if loss.has_probabilities() { "probability" } else { "margin" };
                let of_class = classes.iter().map(|class| format!("{word}_{class}"));
                let mut columns = vec![("prediction".to_owned(), kind)];
                columns.extend(of_class.map(|name| (name, ColumnType::Number)));
                Form::Table(Box::new(TableWriter::new(out, format, is_zipped, columns)?))
            }
        };
        Ok(Self { form, loss, classes, failed: None })
    }

    pub(super) fn write(&mut self, margins: Option<&[f64]>) {
        if self.failed.is_some() {
            return;
        }
        let Self { form, loss, classes, .. } = self;
        let class = |margins: &[f64]| classes.get(best(margins)).map_or("", String::as_str);
        let written = match (form, margins) {
            (Form::Lines(out), None) => writeln!(out),
            (Form::Lines(out), Some([p])) => writeln!(out, "{}", loss.predict(*p)),
            (Form::Lines(out), Some(margins)) => writeln!(out, "{}", class(margins)),
            (Form::Table(table), None) => table.push(&vec![Cell::Missing; 1 + classes.len()]),
            (Form::Table(table), Some([p])) => table.push(&[Cell::Number(loss.predict(*p))]),
            (Form::Table(table), Some(margins)) => {
                let mut cells = vec![Cell::Text(class(margins).as_bytes())];
                match loss.has_probabilities() {
                    true => cells.extend(shares(*loss, margins).into_iter().map(Cell::Number)),
                    false => cells.extend(margins.iter().map(|p| Cell::Number(*p))),
                }
                table.push(&cells)
            }
        };
        self.failed = written.err();
    }

    /// Completes the file, which has no name yet.
    pub(super) fn prepare(self) -> Result<Prepared, Fault> {
        match (self.failed, self.form) {
            (Some(error), _) => Err(error.into()),
            (None, Form::Lines(out)) => out.prepare(),
            (None, Form::Table(table)) => table.finish()?.prepare(),
        }
    }
}
