//! Rows weighted by their class, on the way to the learner.
//!
//! The factor multiplies the importance weight that the learner sees, and nothing else: the progressive loss and the metrics
//! stay those of the rows unchanged, so that runs with different class weights can be compared. What happens inside a
//! learner (scales of `normalize`, the race of `auto`) counts the factor like any importance weight.
//!
//! Balanced factors are computed from the rows learned so far, the row itself included: `n / (K n_c)` with sums of importance
//! weights `n` of all rows and `n_c` of the row's class, and `K` classes. They depend on the order of the rows, never on chunks.

use std::ops::Range;

use parsimon_core::Chunk;

use crate::algorithm::setting::ClassWeight;
use crate::error::{BuildError, Error};
use crate::settings::Settings;
use crate::survey::Found;

/// The factors, and the rows with them.
#[derive(Clone, Debug)]
pub(super) struct ClassWeights {
    factors: Factors,
    /// Reused from stretch to stretch.
    weighted: Chunk,
}

#[derive(Clone, Debug)]
enum Factors {
    /// The importance weights of the rows of each class so far.
    Balanced(Vec<f64>),
    /// One per class.
    Fixed(Vec<f64>),
}

impl ClassWeights {
    /// The class weights of the settings, if they have some; refuses those of other classes, and of numbers.
    pub(super) fn new(settings: &Settings, found: &Found) -> Result<Option<Self>, BuildError> {
        let Some(weight) = settings.class_weight() else { return Ok(None) };
        let classes = settings.class_labels(found).ok_or_else(|| {
            BuildError::new(
                "class_weight",
                "class_weight needs classes, and the labels are numbers",
            )
        })?;
        let factors = match weight {
            ClassWeight::Balanced => Factors::Balanced(vec![0.0; classes.len()]),
            ClassWeight::Fixed(each) => {
                let mut factors = vec![1.0; classes.len()];
                for (label, factor) in each {
                    let Some(place) = classes.iter().position(|class| is_same(class, label)) else {
                        let message = format!(
                            "class_weight names {label:?}, which is no class; the classes are {}",
                            classes.join(", ")
                        );
                        return Err(BuildError::new("class_weight", message));
                    };
                    factors[place] = *factor;
                }
                Factors::Fixed(factors)
            }
        };
        Ok(Some(Self { factors, weighted: Chunk::new() }))
    }

    /// The rows with the importance weights that are learned; they are rows `0..rows.len()` of the chunk returned.
    pub(super) fn weigh(&mut self, chunk: &Chunk, rows: Range<usize>) -> Result<&Chunk, Error> {
        self.weighted.clear();
        for i in rows {
            let weight = chunk.weight(i);
            let factor = match chunk.label(i) {
                Some(y) if weight > 0.0 => self.factors.of(y, weight),
                _ => 1.0,
            };
            self.weighted.copy_row_weighted(chunk, i, weight * factor).map_err(|_| {
                Error::usage(format!(
                    "class_weight makes the importance {weight} of a row larger than a number can be"
                ))
            })?;
        }
        Ok(&self.weighted)
    }

    /// The counts that a checkpoint keeps; empty for fixed factors.
    pub(super) fn counts(&self) -> &[f64] {
        match &self.factors {
            Factors::Balanced(counts) => counts,
            Factors::Fixed(_) => &[],
        }
    }

    /// Takes the counts of a checkpoint; `None` if they are not of these classes.
    pub(super) fn restore(&mut self, saved: &[f64]) -> Option<()> {
        let is_count = |n: &f64| n.is_finite() && *n >= 0.0;
        match &mut self.factors {
            Factors::Balanced(counts)
                if counts.len() == saved.len() && saved.iter().all(is_count) =>
            {
                counts.copy_from_slice(saved);
                Some(())
            }
            Factors::Balanced(_) => None,
            Factors::Fixed(_) => saved.is_empty().then_some(()),
        }
    }
}

impl Factors {
    fn of(&mut self, label: f64, weight: f64) -> f64 {
        // Two classes are -1 and 1, several are their places.
        let place = if label < 0.0 { 0 } else { label as usize };
        match self {
            Factors::Fixed(factors) => factors.get(place).copied().unwrap_or(1.0),
            Factors::Balanced(counts) => {
                let classes = counts.len() as f64;
                let Some(own) = counts.get_mut(place) else { return 1.0 };
                *own += weight;
                let own = *own;
                counts.iter().sum::<f64>() / (classes * own)
            }
        }
    }
}

/// `+1`, `1.0` and `1` are one label.
fn is_same(class: &str, label: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    class == label || number(class).is_some_and(|class| number(label) == Some(class))
}

#[cfg(test)]
mod tests {
    use parsimon_core::Repeats;

    use super::*;
    use crate::settings::Spec;

    fn chunk(rows: &[(f64, f64)]) -> Chunk {
        let mut chunk = Chunk::new();
        for &(label, weight) in rows {
            chunk.push_feature(1, 1.0);
            chunk.finish_row(Some(label), weight, Repeats::Refuse).unwrap();
        }
        chunk
    }

    fn weights(spec: &Spec, found: &Found, rows: &[(f64, f64)]) -> Vec<f64> {
        let mut own = ClassWeights::new(&spec.resolve().unwrap(), found).unwrap().unwrap();
        let chunk = chunk(rows);
        let weighted = own.weigh(&chunk, 0..rows.len()).unwrap();
        (0..rows.len()).map(|i| weighted.weight(i)).collect()
    }

    #[test]
    fn balanced_counts_the_row_itself_and_its_importance() {
        let spec = Spec::new("ftrl").set("class_weight", "balanced");
        let rows = [(1.0, 1.0), (-1.0, 2.0), (-1.0, 1.0), (1.0, 0.0), (1.0, 4.0)];
        let expected = [0.5, 2.0 * 3.0 / 4.0, 4.0 / 6.0, 0.0, 4.0 * 8.0 / 10.0];
        assert_eq!(weights(&spec, &Found::default(), &rows), expected);
    }

    #[test]
    fn fixed_factors_go_by_label() {
        let each = serde_json::json!({"yes": 10});
        let spec = Spec::new("ftrl").set("class_weight", each);
        let found = Found { classes: vec!["no".into(), "yes".into()], ..Found::default() };
        assert_eq!(weights(&spec, &found, &[(1.0, 2.0), (-1.0, 1.0)]), [20.0, 1.0]);
        let other = Found { classes: vec!["a".into(), "b".into()], ..Found::default() };
        let error = ClassWeights::new(&spec.resolve().unwrap(), &other).unwrap_err().to_string();
        assert!(error.contains("\"yes\"") && error.contains("a, b"), "{error}");
        let several = Spec::new("ftrl").set("multiclass", true);
        let several = several.set("class_weight", serde_json::json!({"2.0": 3}));
        let found = Found { classes: ["1", "2", "3"].map(str::to_owned).to_vec(), ..other };
        assert_eq!(weights(&several, &found, &[(0.0, 1.0), (1.0, 1.0)]), [1.0, 3.0]);
    }

    #[test]
    fn numbers_have_no_classes() {
        let spec = Spec::new("ftrl").set("loss", "squared").set("class_weight", "balanced");
        assert!(ClassWeights::new(&spec.resolve().unwrap(), &Found::default()).is_err());
    }
}
