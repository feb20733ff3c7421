//! The stored past of a method that is defined by an argmin over it.

/// One vector per round.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    rounds: Vec<Vec<f64>>,
}

impl History {
    pub(crate) fn push(&mut self, v: Vec<f64>) {
        self.rounds.push(v);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.rounds.iter()
    }

    pub(crate) fn last(&self) -> Option<&Vec<f64>> {
        self.rounds.last()
    }

    /// The sum over all rounds, a vector of `len` coordinates.
    pub(crate) fn sum(&self, len: usize) -> Vec<f64> {
        self.sum_of(len, |v| v)
    }

    /// The sum over all rounds of `f` of each coordinate.
    pub(crate) fn sum_of(&self, len: usize, f: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut total = vec![0.0; len];
        for v in &self.rounds {
            for (total, &v) in total.iter_mut().zip(v) {
                *total += f(v);
            }
        }
        total
    }
}
