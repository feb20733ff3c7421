//! Online prediction on a real set: AUC of the predictions made before learning, and the share of nonzero weights.
//!
//! Rows come in an order of the trial's own. Each method gets the best power of two of a range for its rate, judged by its AUC, as the paper does.

use std::collections::{BTreeMap, BTreeSet};

use parsimon::LearnerOptions;
use parsimon::eval::Evaluation;
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Loss;
use parsimon::survey::Found;
use parsimon::workspace::Evaluator;
use serde::Deserialize;

use super::{Rates, Run, Trial, spec};
use crate::data::rows::{pick, shuffled};
use crate::data::stand_in::rows_or_stand_in;
use crate::experiment::{Method, PerEffort};

/// Data to read, as in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamSettings {
    /// The set's name.
    set: String,
    /// Rows of the set.
    #[serde(default)]
    part: SetPart,
    /// Upper bound on the number of rows.
    #[serde(default)]
    rows: Option<PerEffort>,
    /// Whether every row is scaled to length 1.
    #[serde(default)]
    unit_rows: bool,
    /// The penalty of the whole run; each of the `T` rows pays a `T`-th of it.
    l1_in_all: f64,
    rates: Rates,
}

/// Rows of a set.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SetPart {
    /// Those to learn.
    #[default]
    Train,
    /// Those to judge by.
    Test,
    /// Both.
    Whole,
}

impl StreamSettings {
    fn read(&self, run: &Run<'_>) -> Result<(Chunk, Option<String>), String> {
        let (rows, stand_in) = rows_or_stand_in(&self.set, run.data).map_err(|e| e.to_string())?;
        let test = rows.test.unwrap_or_default();
        let rows = match self.part {
            SetPart::Train => rows.train,
            SetPart::Test => test,
            SetPart::Whole => {
                let mut whole = rows.train;
                (0..test.len()).for_each(|i| whole.copy_row(&test, i));
                whole
            }
        };
        Ok((rows, stand_in))
    }
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let stream: StreamSettings = run.settings()?;
    let (rows, stand_in) = stream.read(run)?;
    let rows = shuffled(&rows, run.seed);
    let most = stream.rows.map_or(rows.len(), |most| most.at(run.effort) as usize);
    let rows = if most < rows.len() { pick(&rows, 0..most) } else { rows };
    let rows = if stream.unit_rows { scaled(&rows) } else { rows };
    let features: BTreeSet<u32> =
        (0..rows.len()).flat_map(|i| rows.row(i).indices().to_vec()).collect();
    let mut trial = Trial { stand_in, ..Trial::default() };
    for method in run.experiment.methods_of(run.variant) {
        let mut best: Option<(i32, f64, usize)> = None;
        for power in stream.rates.powers() {
            let (auc, nonzeros) = play(method, &stream, power, &rows)?;
            if best.is_none_or(|(_, known, _)| auc > known) {
                best = Some((power, auc, nonzeros));
            }
        }
        let (power, auc, nonzeros) = best.ok_or("there are no rates to try")?;
        let at_end = |value: f64| vec![(rows.len() as f64, value)];
        let share = nonzeros as f64 / features.len().max(1) as f64;
        let measures = BTreeMap::from([
            ("auc".to_owned(), at_end(auc)),
            ("nonzeros".to_owned(), at_end(share)),
        ]);
        trial.curves.insert(method.name.clone(), measures);
        trial.chosen.insert(method.name.clone(), format!("rate 2^{power}"));
    }
    Ok(trial)
}

/// The rows with length 1 each.
fn scaled(rows: &Chunk) -> Chunk {
    let mut chunk = Chunk::new();
    for i in 0..rows.len() {
        let row = rows.row(i);
        let length = row.values().iter().map(|v| v * v).sum::<f64>().sqrt().max(1e-300);
        row.indices()
            .iter()
            .zip(row.values())
            .for_each(|(j, v)| chunk.push_feature(*j, v / length));
        if chunk.finish_row(rows.label(i), rows.weight(i), Repeats::Add).is_err() {
            unreachable!("rows that could be read are finite");
        }
    }
    chunk
}

/// AUC of the predictions made on the way, and the nonzeros at the end.
fn play(
    method: &Method,
    stream: &StreamSettings,
    power: i32,
    rows: &Chunk,
) -> Result<(f64, usize), String> {
    let l1 = stream.l1_in_all / rows.len().max(1) as f64;
    let spec = spec(method).set("rate", f64::from(power).exp2()).set("l1", l1);
    let online = spec
        .resolve()
        .and_then(|settings| settings.build(LearnerOptions::default(), &Found::default()));
    let mut online = online.map_err(|e| format!("{}: {e}", method.name))?;
    let (mut margins, mut evaluator) = (Vec::new(), Evaluator::new(Loss::Logistic));
    online.learn(rows, &mut margins);
    for (i, &p) in margins.iter().enumerate() {
        evaluator.record(p, rows.label(i).unwrap_or(0.0), rows.weight(i));
    }
    let auc = match evaluator.finish() {
        Evaluation::Binary(metrics) => metrics.auc.unwrap_or(0.5),
        _ => 0.5,
    };
    Ok((auc, online.nonzeros()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_rows_have_length_one_and_keep_their_labels() {
        let mut chunk = Chunk::new();
        chunk.push_feature(3, 3.0);
        chunk.push_feature(7, -4.0);
        chunk.finish_row(Some(-1.0), 2.0, Repeats::Refuse).unwrap();
        let scaled = scaled(&chunk);
        assert_eq!(scaled.row(0).values(), [0.6, -0.8]);
        assert_eq!((scaled.label(0), scaled.weight(0)), (Some(-1.0), 2.0));
    }
}
