//! The calibration curve: of rows whose predicted probability is about p, which share is of the second class.

use serde_json::{Value, json};

/// Upper bounds of the bins. Many streams of clicks have probabilities of a few percent, so the bins are narrow there.
const BOUNDS: [f64; 15] =
    [0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// The share that is left of old rows after a period: half after 30 periods.
const FADE: f64 = 0.977;

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    weight: f64,
    predicted: f64,
    happened: f64,
}

/// Predictions and outcomes by bins of the prediction. Old rows fade.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curve([Bin; BOUNDS.len() + 1]);

impl Curve {
    /// Takes a row.
    pub(crate) fn record(&mut self, p: f64, happened: bool, weight: f64) {
        let bin = &mut self.0[BOUNDS.partition_point(|bound| *bound <= p)];
        bin.weight += weight;
        bin.predicted += weight * p;
        bin.happened += weight * f64::from(u8::from(happened));
    }

    /// Ends a period.
    pub(crate) fn fade(&mut self) {
        for bin in &mut self.0 {
            bin.weight *= FADE;
            bin.predicted *= FADE;
            bin.happened *= FADE;
        }
    }

    /// The bins that have rows: weight, mean prediction, share of the second class.
    pub(crate) fn to_json(&self) -> Value {
        let shown = self.0.iter().filter(|bin| bin.weight >= 1.0);
        shown
            .map(|bin| json!([bin.weight, bin.predicted / bin.weight, bin.happened / bin.weight]))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_means_and_fade() {
        let mut curve = Curve::default();
        for (p, happened) in [(0.0, false), (0.012, true), (0.018, false), (1.0, true)] {
            curve.record(p, happened, 2.0);
        }
        assert_eq!(curve.to_json(), json!([[2.0, 0.0, 0.0], [4.0, 0.015, 0.5], [2.0, 1.0, 1.0]]));
        (0..40).for_each(|_| curve.fade());
        assert_eq!(curve.to_json().as_array().unwrap().len(), 1);
    }
}
