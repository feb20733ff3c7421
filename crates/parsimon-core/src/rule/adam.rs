//! Adam (Kingma and Ba 2015) on sparse rows, at a price that does not grow with the rounds a feature was absent.
//!
//! A coordinate without gradient still moves, by its decaying first moment. After round `s` the moves that follow are
//!
//! ```text
//! eta beta1^i m / (1 - beta1^(s+i)) / (sqrt(beta2^i v / (1 - beta2^(s+i))) + epsilon),    i = 1, 2, ...
//! ```
//!
//! which is `r^i`, `r = beta1/sqrt(beta2)`, times a function of `i` that varies slowly. A Gauss rule (`geometric.rs`) adds up all of
//! them from eight values, and the sum over the rounds missed is that of the rounds from `s` on less that of the rounds still to come.
//!
//! # Error
//!
//! The sum differs from the moves one by one by at most `1e-13` of itself ([`Adam::ERROR`]; measured: `2e-15` with the default
//! decays), which a weight in f32 cannot show, and by the rounding of `1 - beta2^t`, which is larger in the first rounds when `beta2` is
//! very near 1. Rounds are replayed one by one where that is cheaper (a few missed rounds), in the
//! first rounds of a stream (358 with the default decays), where the bias corrections still vary fast, and under settings whose
//! decays are too close for the rule: `ln(beta2)` must be small against `1 - r`. A replay ends where what follows is less than the
//! last digit of the weight.

use super::Rule;
use crate::exponential::exp;
use crate::geometric::{DISTANCE, GeometricRule, NODES, deviation};
use crate::share::{Merging, Parts, Share};
use crate::{Float, Table, state::state};

/// Adam without a penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    rate: f64,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    ln_beta1: f64,
    ln_beta2: f64,
    /// The rounds from which the corrections of the first and of the second moment are 1.
    corrected: [u64; 2],
    tail: Option<Tail>,
}

/// A weight, its moments, and the round of its last visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments<F> {
    w: F,
    m: F,
    v: F,
    seen: u64,
}

state!(Moments<F: Float> { w, m, v, seen });

/// The numbers of a coordinate after a round.
#[derive(Clone, Copy)]
struct At {
    round: u64,
    w: f64,
    m: f64,
    v: f64,
}

/// Terms of the sum of all future moves.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tail {
    /// The first round after which it holds.
    from: u64,
    /// Up to this number of missed rounds are replayed one by one: that is cheaper, and the difference of two sums would cancel.
    few: u64,
    /// After this number of moves the rest of the sum is less than the last digit of the moves before.
    vanished: u64,
    /// Weights of the nodes, times `eta beta1`.
    weights: [f64; NODES],
    /// `beta2^(1 + x)` at the nodes `x`.
    decays: [f64; NODES],
    /// `epsilon beta2^(-x/2)`.
    epsilons: [f64; NODES],
}

/// Exponent of `e` below which a number is less than half of the last digit of 1.
const NEGLIGIBLE: f64 = -37.5;

impl Adam {
    /// The most that the moves of missed rounds, added up, may differ from the same moves one by one, relative to their sum.
    pub const ERROR: f64 = 1e-13;

    /// The rule with `eta`, the decays of the first and the second moment, and what is added to the root of the second.
    pub fn new(rate: f64, beta1: f64, beta2: f64, epsilon: f64) -> Self {
        // A decay of 0 has no logarithm; `e` to this power is 0 as well.
        let [ln_beta1, ln_beta2] = [beta1, beta2].map(|beta| beta.ln().max(-1000.0));
        let corrected = [ln_beta1, ln_beta2].map(|ln| (NEGLIGIBLE / ln).ceil() as u64);
        let plain = Self { rate, beta1, beta2, epsilon, ln_beta1, ln_beta2, corrected, tail: None };
        Self { tail: Tail::of(&plain), ..plain }
    }

    /// `beta1^k`, where it is not negligible against 1.
    #[inline(always)]
    fn power1(&self, k: u64) -> f64 {
        if k >= self.corrected[0] { 0.0 } else { exp(k as f64 * self.ln_beta1) }
    }

    /// `beta2^k`, likewise.
    #[inline(always)]
    fn power2(&self, k: u64) -> f64 {
        if k >= self.corrected[1] { 0.0 } else { exp(k as f64 * self.ln_beta2) }
    }

    /// Returns the moments after `rounds` rounds without gradient.
    #[inline(always)]
    fn decayed(&self, m: f64, v: f64, rounds: u64) -> (f64, f64) {
        let k = rounds as f64;
        (m * exp(k * self.ln_beta1), v * exp(k * self.ln_beta2))
    }

    /// Returns the change of the weight in a round with these moments.
    #[inline(always)]
    fn step(&self, m: f64, v: f64, power1: f64, power2: f64) -> f64 {
        let (m_hat, v_hat) = (m / (1.0 - power1), v / (1.0 - power2));
        if m_hat == 0.0 { 0.0 } else { self.rate * m_hat / (v_hat.sqrt() + self.epsilon) }
    }

    /// The weight after round `t`, if the rounds after the last visit brought no gradient.
    #[inline(always)]
    fn moved<F: Float>(&self, c: &Moments<F>, t: u64) -> f64 {
        let mut at = At { round: c.seen, w: c.w.to_f64(), m: c.m.to_f64(), v: c.v.to_f64() };
        // PERF: a feature that is in every row has no missed rounds.
        if at.round >= t || at.m == 0.0 {
            return at.w;
        }
        let (from, few) = self.tail.as_ref().map_or((t, 0), |tail| (tail.from, tail.few));
        let end = if t - at.round <= few { t } else { t.min(from) };
        if at.round < end {
            at = self.replayed(at, end, F::PRECISION.epsilon() / 64.0);
        }
        match &self.tail {
            Some(tail) if at.round < t && at.m != 0.0 => {
                let gone = tail.sum(at.m, at.v, self.power2(at.round), self.beta2);
                let missed = t - at.round;
                if missed >= tail.vanished {
                    return at.w - gone;
                }
                let (m, v) = self.decayed(at.m, at.v, missed);
                at.w - (gone - tail.sum(m, v, self.power2(t), self.beta2))
            }
            _ => at.w,
        }
    }

    /// The numbers after the rounds up to `end`, one by one; the first moment is 0 if the moves vanish before.
    #[cold]
    #[inline(never)]
    fn replayed(&self, at: At, end: u64, digit: f64) -> At {
        let At { round, mut w, mut m, mut v } = at;
        let s = round as f64;
        let (mut power1, mut power2) = (exp(s * self.ln_beta1), exp(s * self.ln_beta2));
        for _ in round..end {
            power1 *= self.beta1;
            power2 *= self.beta2;
            m *= self.beta1;
            v *= self.beta2;
            let step = self.step(m, v, power1, power2);
            w -= step;
            // The remaining moves are at most a small multiple of this step: less than the weight's last digit.
            let vanishing = step.abs() <= digit * w.abs() || step.abs() < 1e-300;
            if m == 0.0 || vanishing && self.beta1 * self.beta1 < self.beta2 {
                m = 0.0;
                break;
            }
        }
        At { round: end, w, m, v }
    }
}

impl Tail {
    /// The sum under settings, or nothing if its error would not be small.
    fn of(rule: &Adam) -> Option<Self> {
        let ratio = rule.beta1 / rule.beta2.sqrt();
        let sigma = deviation(ratio);
        // The nearest singularities: 2 pi / ln(beta2) away, where the root of the second moment is -epsilon, and at round 0.
        let smooth = ratio > 0.0
            && ratio < 1.0
            && std::f64::consts::TAU >= DISTANCE * sigma * -rule.ln_beta2;
        if !smooth {
            return None;
        }
        let GeometricRule { nodes, weights } = GeometricRule::new(ratio);
        Some(Self {
            from: ((DISTANCE * sigma).ceil() as u64).max(rule.corrected[0]),
            few: ((-0.05 / ratio.ln()).ceil() as u64).max(6),
            vanished: (NEGLIGIBLE / ratio.ln()).ceil() as u64,
            weights: weights.map(|weight| rule.rate * rule.beta1 * weight),
            decays: nodes.map(|x| rule.beta2.powf(1.0 + x)),
            epsilons: nodes.map(|x| rule.epsilon * rule.beta2.powf(-0.5 * x)),
        })
    }

    /// All moves that follow moments after a round without another gradient; `power2` is `beta2` to that round.
    #[inline(always)]
    fn sum(&self, m: f64, v: f64, power2: f64, beta2: f64) -> f64 {
        let root = (beta2 * v).sqrt();
        let terms: [f64; NODES] = std::array::from_fn(|k| {
            let correction = (1.0 - power2 * self.decays[k]).sqrt();
            self.weights[k] * correction / (root + self.epsilons[k] * correction)
        });
        let [a, b, c, d, e, f, g, h] = terms;
        m * (((a + e) + (c + g)) + ((b + f) + (d + h)))
    }
}

impl<F: Float> Rule<F> for Adam {
    type Coord = Moments<F>;
    type Clock = u64;

    fn belongs(&self, now: &u64, c: &Moments<F>) -> bool {
        c.seen <= *now
    }
    fn tick(&self, now: &mut u64) {
        *now += 1;
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    #[inline(always)]
    fn played(&self, now: &u64, _j: u32, c: &Moments<F>) -> F {
        F::from_f64(self.moved(c, *now))
    }
    #[inline(always)]
    fn absorb(&self, now: &mut u64, _j: u32, c: &mut Moments<F>, w: F, g: F, _at: F) {
        let (t, g) = (*now, g.to_f64());
        let (m, v) = self.decayed(c.m.to_f64(), c.v.to_f64(), t - c.seen);
        let m = m + (1.0 - self.beta1) * g;
        let v = v + (1.0 - self.beta2) * g * g;
        let w = w.to_f64() - self.step(m, v, self.power1(t), self.power2(t));
        *c = Moments { w: F::from_f64(w), m: F::from_f64(m), v: F::from_f64(v), seen: t };
    }
}

impl<F: Float> Merging<Moments<F>, u64> for Adam {
    fn shares(&self) -> &'static [Share] {
        &[Share::Mean; 3]
    }
    fn rounds(&self, now: &u64) -> u64 {
        *now
    }
    fn parts(&self, now: &u64, _j: u32, c: &Moments<F>) -> Parts {
        let (memory, second) = self.decayed(c.m.to_f64(), c.v.to_f64(), *now - c.seen);
        Parts { value: self.moved(c, *now), memory, second }
    }
    fn coordinate(&self, t: u64, _j: u32, parts: &Parts) -> Moments<F> {
        let v = F::from_f64(parts.second.max(0.0));
        Moments { w: F::from_f64(parts.value), m: F::from_f64(parts.memory), v, seen: t }
    }
    fn clock(&self, t: u64, _table: &Table<Moments<F>>) -> u64 {
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The moves one by one, added up with a compensation.
    fn replay(rule: &Adam, c: &Moments<f64>, t: u64) -> (f64, f64) {
        let (mut m, mut v) = (c.m, c.v);
        let (mut sum, mut lost, mut size) = (0.0f64, 0.0f64, 0.0f64);
        for s in c.seen + 1..=t {
            m *= rule.beta1;
            v *= rule.beta2;
            let power = |beta: f64| beta.powf(s as f64);
            let step = rule.step(m, v, power(rule.beta1), power(rule.beta2));
            let (y, before) = (step - lost, sum);
            sum += y;
            lost = (sum - before) - y;
            size += step.abs();
            if step.abs() < 1e-25 * size {
                break;
            }
        }
        (sum, size)
    }

    #[test]
    fn the_sum_is_that_of_the_moves_one_by_one() {
        let mut worst = 0.0f64;
        for (beta1, beta2) in [
            (0.9, 0.999),
            (0.9, 0.99),
            (0.5, 0.999),
            (0.1, 0.9),
            (0.99, 0.999),
            (0.99, 0.9999),
            (0.9, 0.999_999),
            (0.0, 0.9),
            // Too close, and the wrong way around: replayed.
            (0.9, 0.9),
            (0.9, 0.81),
            (0.9, 0.5),
        ] {
            for epsilon in [1e-8, 1e-3, 10.0] {
                let rule = Adam::new(1.0, beta1, beta2, epsilon);
                let replays = beta1 == 0.0 || beta2 < 0.9 || beta1 == 0.9 && beta2 == 0.9;
                assert_eq!(rule.tail.is_none(), replays, "{beta1} {beta2}");
                for seen in [0, 1, 20, 357, 358, 359, 500, 4000, 40_000, 10_000_000] {
                    for missed in [0, 1, 6, 7, 20, 90, 376, 377, 5000] {
                        for v in [1e-300, 1e-14, 1e-4, 3.0] {
                            let c = Moments { w: 0.0, m: 0.1, v, seen };
                            let (exact, size) = replay(&rule, &c, seen + missed);
                            let found = -rule.moved(&c, seen + missed);
                            let error = (found - exact).abs();
                            let place = format!("{beta1} {beta2} {epsilon} {seen} {missed} {v}");
                            let tolerance = Adam::ERROR
                                .max(8.0 * f64::EPSILON / (1.0 - beta2.powf(seen as f64 + 1.0)));
                            assert!(
                                error <= tolerance * size,
                                "{place}: {found} {exact} {:e}",
                                error / size
                            );
                            if (beta1, beta2) == (0.9, 0.999) && size > 0.0 {
                                worst = worst.max(error / size);
                            }
                        }
                    }
                }
            }
        }
        assert!(worst <= 1e-14, "{worst:e}");
    }

    #[test]
    fn zero_moments_do_not_move() {
        let rule = Adam::new(0.5, 0.9, 0.999, 1e-8);
        for (w, v) in [(0.0, 0.0), (0.25, 0.0), (0.25, 2.0)] {
            let c = Moments::<f64> { w, m: 0.0, v, seen: 3 };
            assert_eq!(rule.moved(&c, 1_000_000), w);
        }
        let unseen = Moments::<f32>::default();
        assert_eq!(rule.moved(&unseen, 1_000_000), 0.0);
    }
}
