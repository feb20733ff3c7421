//! Online prediction on a real set: AUC of the predictions made before learning, and the share of nonzero weights.
//!
//! Rows come in an order of the trial's own. Each method gets the best power of two of a range for its rate, judged by its AUC, as the paper does.

use std::collections::{BTreeMap, BTreeSet};

use parsimon::Frame;
use parsimon::core::{Chunk, Loss};
use parsimon::data::{Input, Labels, Options, Reader};
use parsimon::eval::{Evaluation, Evaluator};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::{Rates, Run, Trial, spec};
use crate::data;
use crate::experiment::Method;

/// What is read, as the file says it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stream {
    /// The set's name.
    set: String,
    /// Which of its files, from 1; all if absent.
    #[serde(default)]
    file: Option<usize>,
    /// The penalty of the whole run; each of the `T` rows pays a `T`-th of it.
    l1_in_all: f64,
    rates: Rates,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let stream: Stream = run.settings()?;
    let rows = shuffled(&read_set(run, &stream.set, stream.file)?, run.seed);
    let features: BTreeSet<u32> =
        (0..rows.len()).flat_map(|i| rows.row(i).indices().to_vec()).collect();
    let mut trial = Trial::default();
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

/// All rows of a set with two classes, or of one of its files, counted from 1.
pub(super) fn read_set(run: &Run<'_>, name: &str, file: Option<usize>) -> Result<Chunk, String> {
    let set = data::find(name).ok_or_else(|| format!("there is no set {name:?}"))?;
    let files = set.locate(run.data).map_err(|e| e.to_string())?;
    let chosen = (1..).zip(files).filter(|(k, _)| file.is_none_or(|file| file == *k));
    let inputs: Vec<Input> = chosen.map(|(_, path)| Input::Path(path)).collect();
    let options = Options { labels: Labels::binary(), ..Options::default() };
    let mut reader = Reader::open(&inputs, &options).map_err(|e| e.to_string())?;
    let (mut all, mut chunk) = (Chunk::new(), Chunk::new());
    while reader.read(&mut chunk).map_err(|e| e.to_string())? {
        (0..chunk.len()).for_each(|i| all.copy_row(&chunk, i));
    }
    Ok(all)
}

pub(super) fn shuffled(rows: &Chunk, seed: u64) -> Chunk {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    let mut chunk = Chunk::new();
    order.into_iter().for_each(|i| chunk.copy_row(rows, i));
    chunk
}

/// AUC of the predictions made on the way, and the nonzeros at the end.
fn play(
    method: &Method,
    stream: &Stream,
    power: i32,
    rows: &Chunk,
) -> Result<(f64, usize), String> {
    let l1 = stream.l1_in_all / rows.len().max(1) as f64;
    let spec = spec(method).set("rate", f64::from(power).exp2()).set("l1", l1);
    let online = spec.resolve().and_then(|settings| settings.build(Frame::default()));
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
