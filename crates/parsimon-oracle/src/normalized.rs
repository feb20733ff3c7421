//! Any method behind the normalizer of rows and, where labels are numbers on a line, of labels.

use crate::loss::Loss;
use crate::method::{Method, Round, dot};
use crate::normalizer::Normalizer;
use crate::space::Space;
use crate::stream::{Outcome, Stream};
use crate::target::Target;

/// Plays a stream; also returns the points inside, after every round that counts.
///
/// Statistics count a row before its margin is made. The margin is reported in the units of the labels before
/// the row, and clipped to their range.
pub(crate) fn play(
    method: &mut dyn Method,
    loss: &Loss,
    mut target: Target,
    stream: &Stream,
    space: &Space,
) -> (Outcome, Vec<Vec<f64>>) {
    let mut normalizer = Normalizer::new(space);
    let (mut margins, mut points) = (Vec::new(), Vec::new());
    let mut t = 0;
    for example in &stream.examples {
        if example.is_learned() {
            normalizer.count(&example.x, example.weight);
        }
        method.scale_penalty(normalizer.level());
        let x = normalizer.row(&example.x, example.is_learned());
        let p = dot(&method.point(), &x);
        margins.push(target.prediction(p));
        if !example.is_learned() {
            continue;
        }
        t += 1;
        target.count(example.y, example.weight);
        let y = target.units().inside(example.y);
        method.learn(&Round::new(t, &x, p, y, example.weight, loss));
        points.push(method.point());
    }
    let units = target.units();
    let mut weights = normalizer.in_units_of_features(&method.readout());
    let bias = if space.bias { weights.pop().unwrap_or(0.0) } else { 0.0 };
    // A formula may leave -0.0 where it cuts; a user reads plain zero.
    let weights = weights.iter().map(|w| units.deviation * w + 0.0).collect();
    (Outcome { margins, weights, bias: units.outside(bias) }, points)
}
