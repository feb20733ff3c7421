//! Generated rows in the place of sets that no package carries, so that a clean clone can run the experiments.
//!
//! A stand-in has the counts of the set, measured once: rows, features, nonzeros of a row and their spread, the power law of the features' frequencies and the
//! share of positive rows. Values are 1 and labels follow a logistic model in which every feature has a say. Nothing else of the set is in it: a
//! result on it carries a mark.

use std::path::Path;

use parsimon::rows::{Chunk, Repeats};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rows::{Rows, rows};
use super::{Depth, ReadError, State, find};

/// Counts of a set.
#[derive(Clone, Copy, Debug)]
struct Counts {
    name: &'static str,
    train: usize,
    /// Rows to judge by, where the set has some.
    test: usize,
    features: usize,
    /// Nonzeros of a row, on average.
    nonzeros: f64,
    /// The standard deviation of the logarithm of the nonzeros.
    spread: f64,
    /// The frequency of the `j`-th feature is proportional to `(j + shift)^-exponent`.
    shift: f64,
    exponent: f64,
    positive: f64,
    /// The standard deviation of the log odds: how well rows can be distinguished.
    signal: f64,
}

const COUNTS: &[Counts] = &[
    counts("a9a", (32561, 16281), 123, (13.9, 0.04), (500.0, 33.7), 0.241, 3.0),
    counts("w8a", (49749, 0), 300, (11.7, 1.08), (500.0, 12.2), 0.030, 4.0),
    counts("books-ids", (2000, 0), 195_887, (239.6, 0.83), (10.0, 0.79), 0.5, 4.0),
    counts("books-5000", (2000, 4465), 4907, (92.2, 0.73), (20.0, 0.90), 0.5, 4.0),
    counts("dvd-5000", (2000, 3586), 4922, (92.2, 0.78), (20.0, 0.87), 0.5, 4.0),
    counts("electronics-5000", (2000, 5681), 4841, (71.3, 0.74), (20.0, 0.93), 0.5, 5.0),
    counts("kitchen-5000", (2000, 5945), 4790, (63.2, 0.68), (20.0, 0.95), 0.5, 5.0),
    counts("rcv1-small", (1000, 500), 11671, (78.7, 0.68), (100.0, 1.35), 0.459, 8.0),
    counts("20news", (11314, 7532), 168_430, (163.9, 0.62), (50.0, 1.26), 0.521, 8.0),
    counts("avazu", (8087, 0), 9565, (22.0, 0.0), (5.0, 1.49), 0.173, 1.5),
    counts("criteo", (7200, 0), 41594, (33.3, 0.11), (5.0, 1.09), 0.215, 1.5),
    counts("amazon-access", (32769, 0), 15626, (9.0, 0.0), (2.0, 1.06), 0.942, 2.0),
    counts("frappe", (57722, 28860), 5328, (10.0, 0.0), (1.0, 1.29), 0.330, 3.0),
];

const fn counts(
    name: &'static str,
    (train, test): (usize, usize),
    features: usize,
    (nonzeros, spread): (f64, f64),
    (shift, exponent): (f64, f64),
    positive: f64,
    signal: f64,
) -> Counts {
    Counts { name, train, test, features, nonzeros, spread, shift, exponent, positive, signal }
}

/// The rows of a set; where nothing of it is there and it has a stand-in, generated ones, with a sentence that says so.
pub fn rows_or_stand_in(name: &str, dir: &Path) -> Result<(Rows, Option<String>), ReadError> {
    match counts_in_place_of(name, dir) {
        Some(counts) => Ok((counts.generate(), Some(counts.sentence()))),
        None => rows(name, dir).map(|rows| (rows, None)),
    }
}

/// Whether rows would be generated in the place of a set.
pub fn is_generated(name: &str, dir: &Path) -> bool {
    counts_in_place_of(name, dir).is_some()
}

/// Whether a set has a stand-in.
pub fn has_stand_in(name: &str) -> bool {
    COUNTS.iter().any(|counts| counts.name == name)
}

/// A set with some of its files is not absent: the error names the missing files instead.
fn counts_in_place_of(name: &str, dir: &Path) -> Option<&'static Counts> {
    let is_absent = find(name)?.state(dir, Depth::Size) == State::Absent;
    COUNTS.iter().find(|counts| counts.name == name && is_absent)
}

impl Counts {
    fn sentence(&self) -> String {
        let Counts { name, train, test, features, nonzeros, positive, .. } = self;
        format!(
            "{name} is not there and no package has it: these rows are generated with its counts ({} rows, {features} features, {nonzeros} nonzeros per row, \
             {} positive, the same frequencies of features), and say nothing about the set itself",
            train + test,
            format_args!("{:.0}%", 100.0 * positive),
        )
    }

    /// Always the same rows: a trial draws their order, as it does of a real set.
    fn generate(&self) -> Rows {
        let seed = self.name.bytes().fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let normal = |random: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(random) };
        let mut sum = 0.0;
        let up_to: Vec<f64> = (0..self.features)
            .map(|j| {
                sum += (j as f64 + 1.0 + self.shift).powf(-self.exponent);
                sum
            })
            .collect();
        let weights: Vec<f64> = (0..self.features).map(|_| normal(&mut random)).collect();
        let middle = self.nonzeros.ln() - 0.5 * self.spread * self.spread;
        let mut all: Vec<(Vec<u32>, f64)> = Vec::new();
        for _ in 0..self.train + self.test {
            let length = (middle + self.spread * normal(&mut random)).exp().round();
            let length = (length.max(1.0) as usize).min(self.features);
            let mut row: Vec<u32> = Vec::with_capacity(length);
            // Frequent features are drawn repeatedly; after this many draws the row is used unchanged.
            for _ in 0..20 * length {
                if row.len() == length {
                    break;
                }
                let drawn = sum * random.random::<f64>();
                let place = up_to.partition_point(|v| *v < drawn);
                let feature = place.min(self.features - 1) as u32 + 1;
                if !row.contains(&feature) {
                    row.push(feature);
                }
            }
            row.sort_unstable();
            let odds: f64 = row.iter().map(|j| weights[*j as usize - 1]).sum();
            let odds = self.signal * odds / (row.len().max(1) as f64).sqrt();
            all.push((row, odds));
        }
        let offset = self.offset(&all);
        let mut chunks = [Chunk::new(), Chunk::new()];
        for (i, (row, odds)) in all.iter().enumerate() {
            let chunk = &mut chunks[usize::from(i >= self.train)];
            row.iter().for_each(|j| chunk.push_feature(*j, 1.0));
            let is_positive = random.random::<f64>() < 1.0 / (1.0 + (-(odds + offset)).exp());
            let label = if is_positive { 1.0 } else { -1.0 };
            if chunk.finish_row(Some(label), 1.0, Repeats::Refuse).is_err() {
                unreachable!("generated rows are sorted and finite");
            }
        }
        let [train, test] = chunks;
        Rows { train, test: (self.test > 0).then_some(test), features: self.features as u32 }
    }

    /// The constant added to all log odds so that the share of positive rows is that of the set.
    fn offset(&self, rows: &[(Vec<u32>, f64)]) -> f64 {
        let (mut low, mut high) = (-50.0, 50.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            let chance = |(_, odds): &(Vec<u32>, f64)| 1.0 / (1.0 + (-(odds + middle)).exp());
            let share = rows.iter().map(chance).sum::<f64>() / rows.len() as f64;
            if share < self.positive { low = middle } else { high = middle }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_has_the_counts_of_its_set() {
        for name in ["a9a", "books-5000", "avazu"] {
            let counts = COUNTS.iter().find(|c| c.name == name).unwrap();
            let (rows, sentence) = rows_or_stand_in(name, Path::new("no/such/folder")).unwrap();
            assert!(sentence.unwrap().contains("generated"));
            assert_eq!(rows.train.len(), counts.train);
            assert_eq!(rows.test.map_or(0, |t| t.len()), counts.test);
            let n = counts.train as f64;
            let lengths: usize = (0..counts.train).map(|i| rows.train.row(i).indices().len()).sum();
            let mean = lengths as f64 / n;
            assert!((mean / counts.nonzeros - 1.0).abs() < 0.1, "{name}: {mean}");
            let positive = (0..counts.train).filter(|i| rows.train.label(*i) == Some(1.0)).count();
            assert!((positive as f64 / n - counts.positive).abs() < 0.03, "{name}: {positive}");
        }
    }

    #[test]
    fn only_what_no_package_carries_has_a_stand_in() {
        for counts in COUNTS {
            let set = find(counts.name).unwrap();
            assert!(set.package.is_none(), "{}", counts.name);
        }
        assert!(!is_generated("mnist", Path::new("no/such/folder")));
        assert!(rows_or_stand_in("w9a", Path::new("no/such/folder")).is_err());
    }

    /// A set with a file of the wrong length is an error to be seen, not a reason to generate.
    #[test]
    fn a_set_that_is_half_there_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(&find("a9a").unwrap().files[0].forms()[0].path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "x").unwrap();
        assert!(!is_generated("a9a", folder.path()));
        assert!(rows_or_stand_in("a9a", folder.path()).is_err());
    }
}
