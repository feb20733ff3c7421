//! Rows that calibrations are fitted to.

use parsimon_core::Chunk;
use parsimon_data::{Input, Options, Position, Reader};

use super::evaluation::Expect;
use crate::error::Error;
use crate::model::Model;

/// The smallest number of labeled rows that a calibration is fitted to.
pub const LEAST_CALIBRATION_ROWS: usize = 100;

impl Model {
    /// The margins of labeled rows, whether the rows are positive, and their importance weights, to fit a calibration.
    ///
    /// It is an error if the model does not predict two classes, if the data has fewer than 100 labeled rows, or if all labels are
    /// equal.
    pub fn calibration_rows(
        &self,
        inputs: &[Input],
        options: &Options,
        observe: &mut dyn FnMut(&Position),
    ) -> Result<Vec<(f64, bool, f64)>, Error> {
        if self.is_multiclass() {
            return Err(Error::Usage(
                "calibration is for two classes; the model has one set of weights per class".into(),
            ));
        }
        if !self.is_binary() {
            return Err(Error::usage(format!(
                "calibration is for two classes; the loss {} predicts numbers, which have no probabilities",
                self.settings().loss_name()
            )));
        }
        let options = self.options(options, Expect::Labels);
        let mut reader = Reader::open(inputs, &options)?;
        let scorer = self.scorer();
        let (mut chunk, mut margins, mut rows) = (Chunk::new(), Vec::new(), Vec::new());
        while reader.read(&mut chunk)? {
            margins.clear();
            scorer.margins(&chunk, &mut margins);
            for (i, margin) in margins.iter().enumerate() {
                if let Some(y) = chunk.label(i).filter(|_| chunk.weight(i) > 0.0) {
                    rows.push((*margin, y > 0.0, chunk.weight(i)));
                }
            }
            observe(&reader.position());
        }
        if rows.len() < LEAST_CALIBRATION_ROWS {
            return Err(Error::usage(format!(
                "calibration needs at least {LEAST_CALIBRATION_ROWS} labeled rows, got {}",
                rows.len()
            )));
        }
        if rows.iter().all(|row| row.1) || !rows.iter().any(|row| row.1) {
            return Err(Error::Usage(
                "calibration needs rows of both classes; all rows have the same label".into(),
            ));
        }
        Ok(rows)
    }
}
