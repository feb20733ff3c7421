//! The coordinates of a twin: features and the bias.

/// The coordinates: `dimension` features, then the bias when there is one.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// Number of features.
    pub(crate) dimension: usize,
    /// Whether one more coordinate, always one in a row, follows the features.
    pub(crate) bias: bool,
}

impl Space {
    pub(crate) fn new(dimension: usize, bias: bool) -> Self {
        Space { dimension, bias }
    }

    pub(crate) fn len(&self) -> usize {
        self.dimension + usize::from(self.bias)
    }

    pub(crate) fn zeros(&self) -> Vec<f64> {
        vec![0.0; self.len()]
    }

    /// A strength per coordinate: `value` on the features, zero on the bias.
    pub(crate) fn on_features(&self, value: f64) -> Vec<f64> {
        let mut strength = vec![value; self.dimension];
        strength.resize(self.len(), 0.0);
        strength
    }

    /// Applies a map of the whole feature vector, leaving the bias unchanged.
    pub(crate) fn map_features(&self, w: &[f64], map: impl FnOnce(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let (features, bias) = w.split_at(self.dimension);
        let mut mapped = map(features);
        mapped.extend_from_slice(bias);
        mapped
    }
}
