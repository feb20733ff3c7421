//! Follow the proximally regularized leader with a schedule (FTPRL, `q_{1:t} = sqrt(t)/rate`).
//!
//! `x_{t+1} = argmin lin_t x + t l1 |x| + q_{1:t}/2 x^2`, `lin_t = g_{1:t} - sum_s q_s x_s`. The quadratics are
//! centered at the iterates, and their weight grows on every round for every coordinate. Nevertheless a
//! coordinate without gradient has a closed form:
//!
//! * while `x != 0` it loses `l1/q_{1:t}` per round (put `x` into the definition of `lin`), so after rounds
//!   `s+1..t` it is `|x| - l1 rate (S(t) - S(s))` with `S(n) = sum_{k<=n} 1/sqrt(k)`;
//! * once it is zero, `lin` stands still and stays below the growing threshold;
//! * at a bound of the penalty, the pressure `r = |lin| - t l1 - q_{1:t} |x|` falls by `l1` per round, and the weight stands still
//!   until `r` is used up.
//!
//! `S` is evaluated by the Euler-Maclaurin formula and inverted to find the round in which a weight died, so
//! nothing is stored but the weight, `lin` and the round of the last visit.

use super::{Implicit, Rule};
use crate::penalty::{Candidate, Elastic, Flat};
use crate::{Float, state::state};

/// FTPRL with the metric `sqrt(t)/rate` (McMahan 2011, Theorem 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proximal<P> {
    /// `q_{1:t} = sqrt(t)/rate`.
    pub rate: f64,
    /// The penalty, charged on every round.
    pub penalty: P,
}

/// The weight after the round `seen`, and the linear part then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProximalCoord<F> {
    x: F,
    lin: F,
    seen: u64,
}

state!(ProximalCoord<F: Float> { x, lin, seen });

/// The round and the terms that depend only on it: of this round, and of the round before.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProximalClock {
    now: Moment,
    before: Moment,
}

/// A round, `q_{1:t}`, and the sum of the inverse roots up to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moment {
    t: u64,
    q: f64,
    roots: f64,
}

state!(Moment { t, q, roots });
state!(ProximalClock { now, before });

impl<P: Flat> Proximal<P> {
    fn q(&self, t: u64) -> f64 {
        (t as f64).sqrt() / self.rate
    }

    /// Weight and linear part at a moment, if there has been no gradient since the last visit.
    #[inline]
    fn caught_up<F: Float>(&self, c: &ProximalCoord<F>, at: &Moment) -> (f64, f64)
    where
        P: Elastic<F>,
    {
        let (mut x, lin, mut seen) = (c.x.to_f64(), c.lin.to_f64(), c.seen);
        if x == 0.0 || at.t == seen {
            return (x, lin);
        }
        let l1 = self.penalty.l1();
        if self.penalty.bounds().is_some_and(|bounds| bounds.is_end(c.x)) {
            let pressure = (lin.abs() - seen as f64 * l1 - self.q(seen) * x.abs()).max(0.0);
            let held = (pressure / l1) as u64;
            if at.t - seen <= held {
                let lin = -(at.q * x.abs() + seen as f64 * l1 + pressure);
                return (x, lin.copysign(-x));
            }
            // The rest of the pressure reduces the first loss, as if the weight had started farther out.
            seen += held;
            let left = pressure - held as f64 * l1;
            x = (x.abs() + left / self.q(seen + 1)).copysign(x);
        }
        let since = inverse_roots(seen);
        let alive = x.abs() - l1 * self.rate * (at.roots - since);
        if alive > 0.0 {
            let lin = -(at.q * alive + at.t as f64 * l1);
            return (alive.copysign(x), lin.copysign(-x));
        }
        (0.0, self.linear_part_at_death(x, seen, since, at.t).copysign(-x))
    }

    /// The linear part from the round in which the weight becomes zero, after which it stands still.
    #[cold]
    fn linear_part_at_death(&self, x: f64, seen: u64, since: f64, t: u64) -> f64 {
        let loss_per_unit = self.penalty.l1() * self.rate;
        let left = |n: u64| x.abs() - loss_per_unit * (inverse_roots(n) - since);
        let mut died = first_reaching(since + x.abs() / loss_per_unit).clamp(seen + 1, t);
        while died > seen + 1 && left(died - 1) <= 0.0 {
            died -= 1;
        }
        while died < t && left(died) > 0.0 {
            died += 1;
        }
        -(self.q(died) * left(died - 1) + (died - 1) as f64 * self.penalty.l1())
    }

    #[inline]
    fn problem<F: Float>(&self, clock: &ProximalClock, c: &ProximalCoord<F>, w: F) -> Candidate
    where
        P: Elastic<F>,
    {
        let (_, lin) = self.caught_up(c, &clock.before);
        let sigma = clock.now.q - clock.before.q;
        self.penalty.candidate(lin - sigma * w.to_f64(), clock.now.q, clock.now.t as f64)
    }
}

impl<F: Float, P: Elastic<F> + Flat> Rule<F> for Proximal<P> {
    type Coord = ProximalCoord<F>;
    type Clock = ProximalClock;

    fn belongs(&self, now: &ProximalClock, c: &ProximalCoord<F>) -> bool {
        c.seen <= now.now.t
    }
    fn tick(&self, clock: &mut ProximalClock) {
        let t = clock.now.t + 1;
        clock.before = clock.now;
        clock.now = Moment { t, q: self.q(t), roots: inverse_roots(t) };
    }
    fn merging(
        &self,
    ) -> Result<&dyn crate::share::Merging<Self::Coord, Self::Clock>, &'static str> {
        Err("with metric sqrt every round moves every weight; with metric adagrad it can be merged")
    }
    fn played(&self, clock: &ProximalClock, _j: u32, c: &ProximalCoord<F>) -> F {
        self.penalty.project(F::from_f64(self.caught_up(c, &clock.now).0))
    }
    fn absorb(
        &self,
        clock: &mut ProximalClock,
        _j: u32,
        c: &mut ProximalCoord<F>,
        w: F,
        g: F,
        _at: F,
    ) {
        let problem = self.problem(clock, c, w);
        let lin = problem.z + g.to_f64();
        *c = ProximalCoord {
            x: self.penalty.project(F::from_f64(problem.at(g.to_f64(), 1.0))),
            lin: F::from_f64(lin),
            seen: clock.now.t,
        };
    }
}

impl<F: Float, P: Elastic<F> + Flat> Implicit<F> for Proximal<P> {
    fn candidate(
        &self,
        clock: &ProximalClock,
        _j: u32,
        c: &ProximalCoord<F>,
        w: F,
        _at: F,
    ) -> Candidate {
        self.problem(clock, c, w)
    }
}

const ZETA_HALF: f64 = -1.460_354_508_809_586_8;

/// `sum_{k=1}^n 1/sqrt(k)`.
fn inverse_roots(n: u64) -> f64 {
    if n < 16 {
        return (1..=n).map(|k| 1.0 / (k as f64).sqrt()).sum();
    }
    let n = n as f64;
    let (r, m) = (n.sqrt(), 1.0 / n);
    // Euler-Maclaurin; the next term is below 1e-16 from n = 16 on.
    let m2 = m * m;
    let tail = r * m * (0.5 - m * (1.0 / 24.0 - m2 * (1.0 / 384.0 - m2 / 1024.0)));
    2.0 * r + ZETA_HALF + tail
}

/// Approximates the smallest `n` with `inverse_roots(n) >= target`; the caller corrects an error of 1.
fn first_reaching(target: f64) -> u64 {
    let root = (target - ZETA_HALF) / 2.0;
    let n = root * root - 0.5;
    if n < 1.0 { 1 } else { n.ceil() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_is_the_sum() {
        let mut sum = 0.0;
        for n in 1..5000u64 {
            sum += 1.0 / (n as f64).sqrt();
            assert!((inverse_roots(n) - sum).abs() < 1e-12 * n as f64, "{n}");
        }
    }

    #[test]
    fn its_inverse_is_off_by_one_at_most() {
        for n in 1..5000u64 {
            let found = first_reaching(inverse_roots(n));
            assert!(found.abs_diff(n) <= 1, "{n} {found}");
        }
    }
}
