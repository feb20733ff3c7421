//! The loop every twin runs in: show the point, see the row, move.

use crate::loss::Loss;
use crate::space::Space;
use crate::stream::{Outcome, Stream};

/// One row as a method sees it, after the margin has been made.
pub(crate) struct Round<'a> {
    /// The clock: 1 at the first row that counts.
    pub(crate) t: usize,
    /// The dense row, the bias included.
    pub(crate) x: &'a [f64],
    /// `g = v l'(p, y) x` at the point played.
    pub(crate) gradient: Vec<f64>,
    /// `v l'(p, y)` at the margin of the point played.
    pub(crate) slope_played: f64,
    /// `p = w.x` at the point played.
    pub(crate) margin: f64,
    /// The label.
    pub(crate) y: f64,
    /// The importance weight `v`, above zero.
    pub(crate) weight: f64,
    loss: &'a Loss,
    /// Whether the slope is that of several margins.
    is_together: bool,
}

impl<'a> Round<'a> {
    pub(crate) fn new(
        t: usize,
        x: &'a [f64],
        margin: f64,
        y: f64,
        weight: f64,
        loss: &'a Loss,
    ) -> Self {
        let slope_played = weight * loss.slope(margin, y);
        let gradient = x.iter().map(|x| slope_played * x).collect();
        Round { t, x, gradient, slope_played, margin, y, weight, loss, is_together: false }
    }

    /// The same row with another slope, for losses of several margins.
    pub(crate) fn at_slope(self, slope: f64) -> Self {
        let gradient = self.x.iter().map(|x| slope * x).collect();
        Round { gradient, slope_played: slope, is_together: true, ..self }
    }

    /// The loss, if it is of this margin alone.
    pub(crate) fn own_loss(&self) -> Option<&'a Loss> {
        (!self.is_together).then_some(self.loss)
    }

    /// The clock as a number.
    pub(crate) fn time(&self) -> f64 {
        self.t as f64
    }

    /// `v l'(p, y)` at another margin.
    pub(crate) fn slope(&self, p: f64) -> f64 {
        self.weight * self.loss.slope(p, self.y)
    }
}

/// One online method.
pub(crate) trait Method {
    /// The point the next margin is made with.
    fn point(&self) -> Vec<f64>;

    /// Learns one row.
    fn learn(&mut self, round: &Round);

    /// Puts `scale` times the penalty in force, where a penalty is in force once and not round by round.
    fn scale_penalty(&mut self, _scale: f64) {}

    /// The weights a user reads now.
    fn readout(&self) -> Vec<f64> {
        self.point()
    }
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Plays a stream; also returns the point after every round that counts.
pub(crate) fn play(
    method: &mut dyn Method,
    loss: &Loss,
    stream: &Stream,
    space: &Space,
) -> (Outcome, Vec<Vec<f64>>) {
    let mut margins = Vec::new();
    let mut points = Vec::new();
    let mut t = 0;
    for example in &stream.examples {
        let mut x = space.zeros();
        for &(i, value) in &example.x {
            x[i] = value;
        }
        if space.bias {
            x[space.dimension] = 1.0;
        }
        let p = dot(&method.point(), &x);
        margins.push(p);
        if !example.is_learned() {
            continue;
        }
        t += 1;
        method.learn(&Round::new(t, &x, p, example.y, example.weight, loss));
        points.push(method.point());
    }
    // A formula may leave -0.0 where it cuts; a user reads plain zero.
    let mut weights: Vec<f64> = method.readout().iter().map(|w| w + 0.0).collect();
    let bias = if space.bias { weights.pop().unwrap_or(0.0) } else { 0.0 };
    (Outcome { margins, weights, bias }, points)
}
