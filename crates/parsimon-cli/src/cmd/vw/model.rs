//! Models of this command: files of parsimon with the flags that belong to the model, and the weights by slot.

use std::path::Path;

use parsimon_files::container::{Container, ContainerError, Kind, bytes_of, numbers_of};
use serde_json::{Value, json};

use super::learner::{Bet, Learner, State, Weights};
use super::loss::Range;
use super::{Fault, NagClock, Scaled};

/// A model that was read.
#[derive(Debug)]
pub(super) struct Model {
    path: String,
    pub(super) words: Vec<(String, String)>,
    pub(super) indexing: Option<u32>,
    width: usize,
    slots: Vec<u32>,
    values: Vec<f32>,
    sums: Vec<f64>,
}

/// Numbers of a slot that are written: one where learning does not go on.
fn numbers(weights: &Weights, slot: usize, w: f32) -> [f32; 6] {
    match weights {
        Weights::Steps(steps) => [w, steps[slot].squares, steps[slot].scale, 0.0, 0.0, 0.0],
        Weights::Bets(bets) => {
            let Bet { sum, size, scale, wealth, slope, .. } = bets[slot];
            [w, sum, size, scale, wealth, slope]
        }
    }
}

/// Writes a model.
pub(super) fn save(
    path: &str,
    learner: &Learner,
    words: &[(String, String)],
    indexing: Option<u32>,
    weights_only: bool,
) -> Result<(), Fault> {
    let State { weights, clocks, seen, norms, total, range, .. } = &learner.state;
    let width = match (weights_only, weights) {
        (true, _) => 1,
        (false, Weights::Steps(_)) => 3,
        (false, Weights::Bets(_)) => 6,
    };
    let (mut slots, mut values) = (Vec::new(), Vec::new());
    for slot in 0..weights.len() {
        let all = numbers(weights, slot, learner.weight(slot));
        if all[..width].iter().any(|x| *x != 0.0) {
            slots.push(slot as u32);
            values.extend_from_slice(&all[..width]);
        }
    }
    if values.iter().any(|x| !x.is_finite()) {
        return Err(Fault::Input(
            "the weights are not finite; use a smaller --learning_rate".into(),
        ));
    }
    let mut sums = vec![*seen, *norms, *total, f64::from(range.low), f64::from(range.high)];
    for clock in clocks {
        sums.extend([clock.weight, clock.norms]);
    }
    let mut file = Container::new(json!({
        "program": "vw",
        "flags": words.iter().map(|(name, value)| json!([name, value])).collect::<Vec<_>>(),
        "indexing": indexing,
        "width": width,
    }));
    file.push("sums", bytes_of(&sums, f64::to_le_bytes));
    file.push("slots", bytes_of(&slots, u32::to_le_bytes));
    file.push("values", bytes_of(&values, f32::to_le_bytes));
    Ok(file.write(Path::new(path), Kind::Vw)?)
}

impl Model {
    pub(super) fn read(path: &str) -> Result<Self, Fault> {
        let bytes = parsimon_files::read_file(Path::new(path))?;
        let bad = |what: &str| Fault::Input(format!("{path}: {what}"));
        let file = Container::from_bytes(&bytes, Kind::Vw).map_err(|error| {
            Fault::Input(match error {
                ContainerError::NotOurs => format!(
                    "{path}: is not a model of parsimon vw; model files of Vowpal Wabbit cannot be read, train the model again"
                ),
                error => format!("{path}: {error}"),
            })
        })?;
        let pair =
            |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
        let flags = file.about["flags"].as_array().map(|list| list.iter().map(pair).collect());
        let words: Option<Option<Vec<_>>> = flags;
        let words = words.flatten().ok_or_else(|| bad("has a header without flags"))?;
        let width = file.about["width"].as_u64().filter(|n| [1, 3, 6].contains(n));
        let width = width.ok_or_else(|| bad("has a header without a width"))? as usize;
        let cut = || bad("has a section of the wrong length");
        let slots = numbers_of(file.section("slots"), u32::from_le_bytes).ok_or_else(cut)?;
        let values = numbers_of(file.section("values"), f32::from_le_bytes).ok_or_else(cut)?;
        let sums = numbers_of(file.section("sums"), f64::from_le_bytes).ok_or_else(cut)?;
        if slots.len() * width != values.len() {
            return Err(cut());
        }
        let is_finite = values.iter().all(|x| x.is_finite()) && sums.iter().all(|x| x.is_finite());
        if !is_finite {
            return Err(bad("has numbers that are not finite"));
        }
        let indexing = file.about["indexing"].as_u64().map(|n| n as u32);
        Ok(Self { path: path.to_owned(), words, indexing, width, slots, values, sums })
    }

    /// Gives a learner with the flags of the model its weights and sums.
    pub(super) fn restore(self, learner: &mut Learner) -> Result<(), Fault> {
        let bad = |what: &str| Fault::Input(format!("{}: {what}", self.path));
        let State { weights, clocks, seen, norms, total, range, .. } = &mut learner.state;
        let (sums, by_class) =
            self.sums.split_at_checked(5).ok_or_else(|| bad("has too few sums"))?;
        if by_class.len() != 2 * clocks.len() {
            return Err(bad("has another number of classes than --oaa"));
        }
        let matches = match weights {
            Weights::Steps(_) => self.width != 6,
            Weights::Bets(_) => self.width != 3,
        };
        if !matches {
            return Err(bad(
                "was trained with another update; pass --ftrl, --coin or --pistol only if the model has it",
            ));
        }
        [*seen, *norms, *total] = [sums[0], sums[1], sums[2]];
        *range = Range { low: sums[3] as f32, high: sums[4] as f32 };
        for (clock, sums) in clocks.iter_mut().zip(by_class.chunks_exact(2)) {
            *clock = NagClock { importance: 0.0, weight: sums[0], norms: sums[1] };
        }
        // Start values of weights that are not in the file are 0 in it.
        (0..weights.len()).for_each(|slot| weights.set(slot, 0.0));
        for (slot, numbers) in self.slots.iter().zip(self.values.chunks_exact(self.width)) {
            let slot = *slot as usize;
            if slot >= weights.len() {
                return Err(bad("has slots beyond its --bit_precision"));
            }
            let at = |k: usize| numbers.get(k).copied().unwrap_or(0.0);
            match weights {
                Weights::Steps(steps) => {
                    steps[slot] = Scaled { w: at(0), squares: at(1), scale: at(2) };
                }
                Weights::Bets(bets) => {
                    bets[slot] = Bet {
                        w: at(0),
                        sum: at(1),
                        size: at(2),
                        scale: at(3),
                        wealth: at(4),
                        slope: at(5),
                    };
                }
            }
        }
        Ok(())
    }
}

/// Writes weights as text, one line per slot, with the names of features where they are known.
pub(super) fn text(
    learner: &Learner,
    options: &super::options::Options,
    names: Option<&std::collections::BTreeMap<usize, String>>,
) -> String {
    let State { weights, range, .. } = &learner.state;
    let mut text = format!(
        "Version parsimon {}\nMin label:{}\nMax label:{}\nbits:{}\noptions:",
        env!("CARGO_PKG_VERSION"),
        range.low,
        range.high,
        options.bits
    );
    for (name, value) in &options.words {
        text.push_str(&format!(" --{name}"));
        if !value.is_empty() {
            text.push_str(&format!(" {value}"));
        }
    }
    text.push_str("\n:0\n");
    for slot in 0..weights.len() {
        let w = learner.weight(slot);
        if w == 0.0 {
            continue;
        }
        if let Some(name) = names.and_then(|names| names.get(&slot)) {
            text.push_str(&format!("{name}:"));
        }
        let state = match weights {
            Weights::Steps(steps) if !options.weights_only && names.is_none() => {
                format!(" {} {}", steps[slot].squares, steps[slot].scale)
            }
            _ => String::new(),
        };
        text.push_str(&format!("{slot}:{w}{state}\n"));
    }
    text
}
