//! The dual kept with its norm: dual averaging in the l2 ball, and plain follow-the-leader.
//!
//! The weight is the sum of gradients times one number that depends on the round and on the sum's norm, so
//! reading stays O(1).

use super::Rule;
use crate::share::{Merging, Parts, Share};
use crate::{Float, Table, state::state};

/// `w = -scale s` with `s` the sum of gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spherical {
    /// `Pi_ball(-(rate/sqrt(t)) s)`: Nesterov's simple dual averaging.
    DualAveraging {
        /// `1/gamma`
        rate: f64,
        /// The ball's radius, infinite for the bias.
        radius: f64,
    },
    /// `argmin_{|w| <= radius} s.w = -radius s/|s|`: follow the leader on the linearized losses. It jumps from
    /// side to side; the method is here to show that.
    FollowTheLeader {
        /// The ball's radius.
        radius: f64,
    },
}

/// The round, the squared norm of the dual, and the scale in force.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SphericalClock {
    t: u64,
    norm2: f64,
    scale: f64,
}

state!(SphericalClock { t, norm2, scale });

impl Spherical {
    fn scale(&self, now: &SphericalClock) -> f64 {
        let norm = now.norm2.sqrt();
        match *self {
            Spherical::DualAveraging { rate, radius } => {
                let free = rate / (now.t as f64).sqrt();
                if free * norm > radius { radius / norm } else { free }
            }
            Spherical::FollowTheLeader { .. } if norm == 0.0 => 0.0,
            Spherical::FollowTheLeader { radius } => radius / norm,
        }
    }
}

impl<F: Float> Rule<F> for Spherical {
    type Coord = F;
    type Clock = SphericalClock;

    fn tick(&self, now: &mut SphericalClock) {
        now.t += 1;
    }
    fn merging(&self) -> Result<&dyn Merging<Self::Coord, Self::Clock>, &'static str> {
        Ok(self)
    }
    fn played(&self, now: &SphericalClock, _j: u32, s: &F) -> F {
        -(F::from_f64(now.scale) * *s)
    }
    fn absorb(&self, now: &mut SphericalClock, _j: u32, s: &mut F, _w: F, g: F, _at: F) {
        let old = s.to_f64();
        *s += g;
        let new = s.to_f64();
        now.norm2 = (now.norm2 + (new - old) * (new + old)).max(0.0);
    }
    fn close(&self, now: &mut SphericalClock, _table: &mut Table<F>) {
        now.scale = self.scale(now);
    }
}

impl<F: Float> Merging<F, SphericalClock> for Spherical {
    fn shares(&self) -> &'static [Share] {
        &[Share::Sum]
    }
    fn rounds(&self, now: &SphericalClock) -> u64 {
        now.t
    }
    fn parts(&self, _now: &SphericalClock, _j: u32, s: &F) -> Parts {
        Parts { value: s.to_f64(), ..Parts::default() }
    }
    fn coordinate(&self, _t: u64, _j: u32, parts: &Parts) -> F {
        F::from_f64(parts.value)
    }
    fn clock(&self, t: u64, table: &Table<F>) -> SphericalClock {
        let mut now = SphericalClock { t, ..SphericalClock::default() };
        if t > 0 {
            now.norm2 = table.seen().map(|(_, s)| s.to_f64() * s.to_f64()).sum();
            now.scale = self.scale(&now);
        }
        now
    }
}
