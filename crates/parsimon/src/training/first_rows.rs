//! Checks of the first rows: a feature in a far larger unit than the others, and a feature that reveals the label.

use parsimon_core::Chunk;

use crate::settings::Settings;

/// Rows whose features are all looked at.
const EXAMINED: usize = 1000;
/// Features of these rows together, at most; rows of text may be long.
const MOST_ENTRIES: usize = 1 << 18;
/// Rows in which the features that may leak the label are followed.
const FOLLOWED: usize = 10_000;
/// Features that are followed.
const MOST_SUSPECTS: usize = 8;
/// Rows of each class, or rows with a number, in which a leak must be seen.
const ENOUGH: usize = 100;

/// Takes the first rows of a run. It costs one sort of their features, and later only a search for the few that are suspected.
pub(super) struct FirstRows {
    task: Option<Task>,
    stage: Stage,
    largest: Option<Largest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Task {
    Classes,
    Numbers,
}

enum Stage {
    Collecting(Box<Chunk>),
    Following(Following),
    Done,
}

#[derive(Default)]
struct Following {
    labels: Vec<f64>,
    suspects: Vec<Suspect>,
}

struct Suspect {
    feature: u32,
    /// One per label.
    values: Vec<f64>,
}

/// The feature with the largest values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Largest {
    pub(super) feature: u32,
    /// Root mean square of its values, divided by that of the median feature.
    pub(super) times: f64,
}

/// A feature that predicts almost perfectly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leak {
    pub(super) feature: u32,
    pub(super) rows: usize,
    pub(super) evidence: Evidence,
}

/// Quality of one feature as a predictor of the label.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Evidence {
    /// A threshold on its values separates the two classes with this number of errors.
    Errors(usize),
    /// Its correlation with the label.
    Correlation(f64),
}

impl FirstRows {
    pub(super) fn new(settings: &Settings) -> Self {
        let task = match (settings.is_multiclass(), settings.is_binary()) {
            (true, _) => None,
            (_, true) => Some(Task::Classes),
            _ => Some(Task::Numbers),
        };
        Self { task, stage: Stage::Collecting(Box::default()), largest: None }
    }

    /// Records rows. Returns a leak if they are enough evidence for one.
    pub(super) fn take(&mut self, chunk: &Chunk) -> Option<Leak> {
        if matches!(self.stage, Stage::Done) {
            return None;
        }
        // The cells of number columns are features like others here.
        let plain = (!chunk.columns().is_empty()).then(|| chunk.with_plain_numbers());
        let chunk = plain.as_ref().unwrap_or(chunk);
        for i in 0..chunk.len() {
            match &mut self.stage {
                Stage::Done => return None,
                _ if chunk.label(i).is_none() => {}
                Stage::Collecting(rows) => {
                    rows.copy_row(chunk, i);
                    if rows.len() >= EXAMINED || rows.nonzeros() >= MOST_ENTRIES {
                        self.examine();
                    }
                }
                Stage::Following(following) => {
                    following.take(chunk, i);
                    if following.labels.len() >= FOLLOWED {
                        return self.finish();
                    }
                }
            }
        }
        None
    }

    /// Ends the scan of the first rows and returns a leak, if any.
    pub(super) fn finish(&mut self) -> Option<Leak> {
        self.examine();
        match (std::mem::replace(&mut self.stage, Stage::Done), self.task) {
            (Stage::Following(following), Some(task)) => following.leak(task),
            _ => None,
        }
    }

    /// A leak, if the rows so far show one. More rows may come; the leak that is found is the only one.
    pub(super) fn judge(&mut self) -> Option<Leak> {
        let leak = match (&self.stage, self.task) {
            (Stage::Collecting(rows), task) => {
                let stage = Stage::Collecting(rows.clone());
                Self { task, stage, largest: None }.finish()
            }
            (Stage::Following(following), Some(task)) => following.leak(task),
            _ => None,
        };
        if leak.is_some() {
            self.stage = Stage::Done;
        }
        leak
    }

    /// The feature with the largest values in the rows so far.
    pub(super) fn largest(&mut self) -> Option<Largest> {
        self.examine();
        self.largest
    }

    /// Looks at all features of the rows collected, if that was not done before.
    fn examine(&mut self) {
        let Stage::Collecting(rows) = &self.stage else { return };
        let mut entries: Vec<(u32, u32, f64)> = Vec::with_capacity(rows.nonzeros());
        for i in 0..rows.len() {
            let row = rows.row(i);
            let pairs = row.indices().iter().zip(row.values());
            entries.extend(pairs.map(|(j, v)| (*j, i as u32, *v)));
        }
        entries.sort_unstable_by_key(|(j, i, _)| (*j, *i));
        let labels = rows.labels();
        let features = || entries.chunk_by(|a, b| a.0 == b.0);
        self.largest = largest(features());
        let mut suspects: Vec<(f64, u32)> = match self.task {
            Some(Task::Classes) => {
                let classes = Classes::of(labels);
                features().filter_map(|f| Some((classes.suspicion(f, labels)?, f[0].0))).collect()
            }
            Some(Task::Numbers) => features()
                .filter_map(|f| Some((correlation(f, labels)?, f[0].0)))
                .filter(|(r, _)| *r > 0.995)
                .collect(),
            None => Vec::new(),
        };
        suspects.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        suspects.truncate(MOST_SUSPECTS);
        let suspect = |&(_, feature): &(f64, u32)| Suspect { feature, values: Vec::new() };
        let mut following =
            Following { labels: Vec::new(), suspects: suspects.iter().map(suspect).collect() };
        self.stage = match following.suspects.is_empty() {
            true => Stage::Done,
            false => {
                (0..rows.len()).for_each(|i| following.take(rows, i));
                Stage::Following(following)
            }
        };
    }
}

impl Following {
    fn take(&mut self, chunk: &Chunk, i: usize) {
        let Some(y) = chunk.label(i) else { return };
        self.labels.push(y);
        let row = chunk.row(i);
        for suspect in &mut self.suspects {
            let place = row.indices().binary_search(&suspect.feature);
            suspect.values.push(place.map_or(0.0, |k| row.values()[k]));
        }
    }

    fn leak(&self, task: Task) -> Option<Leak> {
        let rows = self.labels.len();
        let entries = |suspect: &Suspect| -> Vec<(u32, u32, f64)> {
            let values = suspect.values.iter().enumerate();
            values.map(|(i, v)| (suspect.feature, i as u32, *v)).collect()
        };
        let leak = |suspect: &Suspect| {
            let entries = entries(suspect);
            let (feature, labels) = (suspect.feature, &self.labels[..]);
            let (evidence, quality) = match task {
                Task::Classes => {
                    let classes = Classes::of(labels);
                    let errors = classes.errors(&entries, labels);
                    let is_leak = classes.rarer() >= ENOUGH && errors * 1000 < rows;
                    (Evidence::Errors(errors), is_leak.then_some(-(errors as f64))?)
                }
                Task::Numbers => {
                    let r = correlation(&entries, labels)?;
                    let is_leak = rows >= ENOUGH && r > 0.999;
                    (Evidence::Correlation(r), is_leak.then_some(r)?)
                }
            };
            Some((quality, Leak { feature, rows, evidence }))
        };
        let leaks = self.suspects.iter().filter_map(leak);
        leaks.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, leak)| leak)
    }
}

/// The feature whose values are largest, by their root mean square, beside one in the middle of the others.
fn largest<'a>(features: impl Iterator<Item = &'a [(u32, u32, f64)]>) -> Option<Largest> {
    let square = |entries: &[(u32, u32, f64)]| {
        let sum: f64 = entries.iter().map(|(.., v)| v * v).sum();
        (sum / entries.len() as f64, entries[0].0)
    };
    let mut squares: Vec<(f64, u32)> = features.map(square).collect();
    squares.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (most, feature) = squares.pop()?;
    let (middle, _) = *squares.get(squares.len().saturating_sub(1) / 2)?;
    (middle > 0.0).then(|| Largest { feature, times: (most / middle).sqrt() })
}

/// Rows of each class.
struct Classes {
    positive: usize,
    negative: usize,
}

impl Classes {
    fn of(labels: &[f64]) -> Self {
        let positive = labels.iter().filter(|y| **y > 0.0).count();
        Self { positive, negative: labels.len() - positive }
    }

    fn rarer(&self) -> usize {
        self.positive.min(self.negative)
    }

    /// Returns the suspicion that a feature leaks the class; `None` if there is none.
    fn suspicion(&self, entries: &[(u32, u32, f64)], labels: &[f64]) -> Option<f64> {
        // Half a percent of the rows, limited by the size of the rarer class: with a class of one percent most features would look like leaks.
        let most = (labels.len() / 200).max(1).min(self.rarer() / 5);
        // Rows without the feature have one value, 0: on one side of any threshold.
        let positive = entries.iter().filter(|e| labels[e.1 as usize] > 0.0).count();
        let negative = entries.len() - positive;
        let least = (self.positive - positive).min(self.negative - negative);
        if self.rarer() < 5 || least > most {
            return None;
        }
        let errors = self.errors(entries, labels);
        (errors <= most).then_some(-(errors as f64))
    }

    /// The errors of the best threshold on the values of a feature; absent values are 0.
    fn errors(&self, entries: &[(u32, u32, f64)], labels: &[f64]) -> usize {
        let is_positive = |i: u32| labels[i as usize] > 0.0;
        // Value, positive rows, negative rows.
        let mut values: Vec<(f64, usize, usize)> = entries
            .iter()
            .map(|(_, i, v)| (*v, usize::from(is_positive(*i)), usize::from(!is_positive(*i))))
            .collect();
        let positive: usize = values.iter().map(|v| v.1).sum();
        let negative = values.len() - positive;
        values.push((0.0, self.positive - positive, self.negative - negative));
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut below_positive, mut below_negative, mut best) = (0, 0, self.rarer());
        for same in values.chunk_by(|a, b| a.0 == b.0) {
            below_positive += same.iter().map(|v| v.1).sum::<usize>();
            below_negative += same.iter().map(|v| v.2).sum::<usize>();
            let errors = below_positive + (self.negative - below_negative);
            best = best.min(errors).min(self.positive + self.negative - errors);
        }
        best
    }
}

/// The absolute correlation of a feature with numeric labels; absent values are 0.
fn correlation(entries: &[(u32, u32, f64)], labels: &[f64]) -> Option<f64> {
    let n = labels.len() as f64;
    let mean = labels.iter().sum::<f64>() / n;
    // NUMERICS: timestamps have a mean far above their deviation; where every row has a value, the first is subtracted.
    let shift = if entries.len() == labels.len() { entries.first()?.2 } else { 0.0 };
    let (mut x, mut xx, mut xy) = (0.0, 0.0, 0.0);
    for (_, i, v) in entries {
        let v = v - shift;
        x += v;
        xx += v * v;
        xy += v * (labels[*i as usize] - mean);
    }
    let yy: f64 = labels.iter().map(|y| (y - mean) * (y - mean)).sum();
    let r = xy / ((xx - x * x / n) * yy).sqrt();
    r.is_finite().then(|| r.abs())
}

#[cfg(test)]
mod tests {
    use parsimon_core::Repeats;
    use parsimon_testing::SplitMix64;

    use super::*;
    use crate::settings::Spec;

    /// Rows of features 1 and 2 and a label.
    fn rows(n: usize, mut row: impl FnMut(usize, &mut SplitMix64) -> (f64, f64, f64)) -> Chunk {
        let (mut chunk, mut random) = (Chunk::new(), SplitMix64::new(3));
        for i in 0..n {
            let (a, b, y) = row(i, &mut random);
            [(1, a), (2, b)].iter().for_each(|(j, v)| chunk.push_feature(*j, *v));
            chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    }

    fn first(loss: &str) -> FirstRows {
        FirstRows::new(&Spec::new("sgd").set("loss", loss).resolve().unwrap())
    }

    fn leak(loss: &str, chunk: &Chunk) -> Option<Leak> {
        let mut first = first(loss);
        first.take(chunk).or_else(|| first.finish())
    }

    #[test]
    fn a_feature_that_separates_the_classes() {
        let class = |u: f64, share: f64| if u < share { 1.0 } else { -1.0 };
        // By presence, by a threshold, and of a rare class.
        for (shift, share, n) in [(0.5, 0.5, 400), (40.0, 0.3, 20_000), (0.5, 0.03, 20_000)] {
            let chunk = rows(n, |_, random| {
                let y = class(random.unit(), share);
                (
                    random.unit(),
                    shift + 0.5 * y + if shift > 1.0 { 0.3 * random.unit() } else { 0.0 },
                    y,
                )
            });
            let found = leak("logistic", &chunk).unwrap();
            assert_eq!((found.feature, found.evidence), (2, Evidence::Errors(0)));
            assert_eq!(found.rows, n.min(FOLLOWED));
        }
        // One error in a hundred is no leak, nor are fewer than 100 rows of a class.
        let chunk = rows(5000, |i, random| {
            let y = class(random.unit(), 0.5);
            (random.unit(), if i % 100 == 0 { -y } else { y }, y)
        });
        assert_eq!(leak("logistic", &chunk), None);
        let chunk = rows(5000, |_, random| {
            let y = class(random.unit(), 0.01);
            (random.unit(), y, y)
        });
        assert_eq!(leak("logistic", &chunk), None);
    }

    #[test]
    fn a_feature_that_is_the_number() {
        let chunk = rows(300, |_, random| {
            let y = 1e9 + 100.0 * random.unit();
            (random.unit(), -3.0 * y + 5.0 * random.unit(), y)
        });
        let found = leak("squared", &chunk).unwrap();
        assert!(
            found.feature == 2 && matches!(found.evidence, Evidence::Correlation(r) if r > 0.999)
        );
        let chunk = rows(300, |_, random| {
            let y = random.unit();
            (random.unit(), y + 0.1 * random.unit(), y)
        });
        assert_eq!(leak("squared", &chunk), None);
    }

    #[test]
    fn the_largest_feature_beside_the_others() {
        let mut first = first("logistic");
        first.take(&rows(50, |_, random| (random.unit(), 1e7 * random.unit(), 1.0)));
        let largest = first.largest().unwrap();
        assert!(largest.feature == 2 && largest.times > 3e6 && largest.times < 3e7, "{largest:?}");
    }
}
