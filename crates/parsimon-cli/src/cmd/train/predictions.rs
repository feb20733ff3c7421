//! The predictions made before learning, as a file.

use std::io::Write;
use std::path::Path;

use parsimon::core::Loss;
use parsimon::data::Position;
use parsimon::{Observer, Pass, Progress, Trainer, Warning};

use crate::console::Console;
use crate::fault::Fault;
use crate::output::Output;

/// One line per row, empty for a row without a prediction.
pub(super) struct PredictionsFile {
    out: Output,
    loss: Loss,
    /// The classes, if there are several.
    classes: Vec<String>,
    /// The first error of writing. Learning goes on: the model is worth more than the predictions.
    failed: Option<std::io::Error>,
}

impl PredictionsFile {
    pub(super) fn create(path: &Path, trainer: &Trainer) -> Result<Self, Fault> {
        let classes = match trainer.settings().is_multiclass() {
            true => trainer.schema().found.classes.clone(),
            false => Vec::new(),
        };
        let (out, loss) = (Output::open(Some(path))?, trainer.settings().loss());
        Ok(Self { out, loss, classes, failed: None })
    }

    fn write(&mut self, margins: Option<&[f64]>) {
        if self.failed.is_some() {
            return;
        }
        let written = match margins {
            None => writeln!(self.out),
            Some([p]) => writeln!(self.out, "{}", self.loss.predict(*p)),
            Some(margins) => {
                let best =
                    (0..margins.len()).fold(0, |b, k| if margins[k] > margins[b] { k } else { b });
                writeln!(self.out, "{}", self.classes.get(best).map_or("", String::as_str))
            }
        };
        self.failed = written.err();
    }

    /// Gives the file its name.
    pub(super) fn finish(self) -> Result<(), Fault> {
        match self.failed {
            Some(error) => Err(error.into()),
            None => self.out.finish(),
        }
    }
}

/// The console, and beside it the file.
pub(super) struct Predicting {
    pub(super) console: Console,
    pub(super) file: Option<PredictionsFile>,
}

impl Observer for Predicting {
    fn progress(&mut self, line: &Progress) {
        self.console.progress(line);
    }
    fn loss(&mut self, average: f64) {
        self.console.loss(average);
    }
    fn position(&mut self, position: &Position) {
        self.console.position(position);
    }
    fn pass(&mut self, pass: &Pass) {
        self.console.pass(pass);
    }
    fn warning(&mut self, warning: &Warning) {
        self.console.warning(warning);
    }
    fn predicted(&mut self, margins: Option<&[f64]>) {
        if let Some(file) = &mut self.file {
            file.write(margins);
        }
    }
}
