//! From trials to numbers: means and spreads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use crate::place::{Place, Round};

use crate::kind::Trial;

/// A measure of a method, averaged over trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// Round, mean, standard deviation over the trials.
    pub points: Vec<(f64, f64, f64)>,
    /// Number of trials.
    pub trials: usize,
    /// Mean and standard deviation of the logarithms, where all trials are positive.
    pub(crate) logs: Vec<Option<(f64, f64)>>,
}

impl Mean {
    /// The point at a round: the last one not beyond it.
    pub fn at(&self, place: Round) -> Option<(f64, f64)> {
        let point = match place {
            Round::End => self.points.last(),
            Round::At(x) => self.points.iter().rev().find(|p| p.0 <= x),
        };
        point.map(|p| (p.1, p.2))
    }

    /// The geometric mean of a point, and one standard deviation of the logarithms below and above it.
    pub(crate) fn log_band(&self, k: usize) -> Option<(f64, f64, f64)> {
        let (mean, spread) = (*self.logs.get(k)?)?;
        Some((mean.exp(), (mean - spread).exp(), (mean + spread).exp()))
    }
}

/// By method, then by measure.
pub type Means = BTreeMap<String, BTreeMap<String, Mean>>;

/// Averages the curves of all trials, which have the same rounds.
pub fn average(trials: &[Trial]) -> Means {
    let mut means = Means::new();
    let Some(first) = trials.first() else { return means };
    for (method, measures) in &first.curves {
        for (measure, curve) in measures {
            let all: Vec<_> =
                trials.iter().filter_map(|t| t.curves.get(method)?.get(measure)).collect();
            let point = |(k, &(x, _)): (usize, &(f64, f64))| {
                let values: Vec<f64> = all.iter().filter_map(|c| Some(c.get(k)?.1)).collect();
                let (mean, spread) = mean_and_spread(&values);
                let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
                let is_positive = values.iter().all(|v| *v > 0.0);
                ((x, mean, spread), is_positive.then(|| mean_and_spread(&logs)))
            };
            let (points, logs) = curve.iter().enumerate().map(point).unzip();
            let mean = Mean { points, trials: all.len(), logs };
            means.entry(method.clone()).or_default().insert(measure.clone(), mean);
        }
    }
    means
}

/// Mean and standard deviation.
pub(crate) fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
    (mean, if n > 1.0 { (square / (n - 1.0)).sqrt() } else { 0.0 })
}

/// Values of all trials at a place; `None` if one trial has no value there.
pub(crate) fn values(trials: &[Trial], place: &Place) -> Option<Vec<f64>> {
    let of = |trial: &Trial| {
        let curve = trial.curves.get(&place.method)?.get(&place.measure)?;
        let point = match place.round {
            Round::End => curve.last(),
            // A run that ends before the round has nothing there.
            Round::At(x) if curve.iter().all(|p| p.0 < x) => None,
            Round::At(x) => curve.iter().rev().find(|p| p.0 <= x),
        };
        point.map(|p| p.1)
    };
    trials.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(values: &[f64]) -> Trial {
        let curve = values.iter().enumerate().map(|(k, v)| (10.0 * (k + 1) as f64, *v)).collect();
        let measures = BTreeMap::from([("loss".to_owned(), curve)]);
        Trial { curves: BTreeMap::from([("a.b".to_owned(), measures)]), ..Trial::default() }
    }

    #[test]
    fn means_spreads_and_places() {
        let trials = [trial(&[1.0, 3.0]), trial(&[3.0, 5.0])];
        let means = average(&trials);
        let at = |text: &str| {
            let place = Place::parse(text).unwrap();
            means[&place.method][&place.measure].at(place.round)
        };
        let place = |text: &str| at(text).unwrap();
        assert_eq!(place("a.b.loss@end"), (4.0, 2f64.sqrt()));
        assert_eq!(place("a.b.loss@19"), (2.0, 2f64.sqrt()));
        assert!(at("a.b.loss@5").is_none());
        assert!(Place::parse("loss").is_err() && Place::parse("a.loss@x").is_err());
        let of = |text: &str| values(&trials, &Place::parse(text).unwrap());
        assert_eq!(of("a.b.loss@end"), Some(vec![3.0, 5.0]));
        assert_eq!(of("a.b.loss@10"), Some(vec![1.0, 3.0]));
        assert_eq!(of("a.b.gain@10"), None);
        assert_eq!(of("a.b.loss@19"), Some(vec![1.0, 3.0]));
        assert_eq!(of("a.b.loss@21"), None, "the run ends before");
    }

    /// On a logarithmic axis the spread is a factor.
    #[test]
    fn the_band_of_a_logarithmic_axis_is_that_of_the_logarithms() {
        let means = average(&[trial(&[1.0, 3.0]), trial(&[100.0, -5.0])]);
        let mean = &means["a.b"]["loss"];
        let (middle, low, high) = mean.log_band(0).unwrap();
        let factor = (100f64.ln() / 2f64.sqrt()).exp();
        assert!((middle - 10.0).abs() < 1e-9 && (high / middle - factor).abs() < 1e-9);
        assert!((middle / low - factor).abs() < 1e-9);
        assert!(mean.log_band(1).is_none(), "a value that is not positive has no logarithm");
    }
}
