//! Step sizes: `eta_t` for `t = 1, 2, ...`.

/// Schedules of the step size.
///
/// ```
/// use parsimon_core::Schedule;
///
/// let eta = Schedule::TwoPhase { rate: 1.0, switch: 4.0 };
/// assert_eq!(eta.at(1), 1.0);
/// assert_eq!(eta.at(4), 0.5); // continuous at the switch: 1/sqrt(4) = sqrt(4)/4
/// assert_eq!(eta.at(8), 0.25);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// `rate`
    Constant {
        /// `eta`
        rate: f64,
    },
    /// `rate / sqrt(t)`
    Sqrt {
        /// `eta_0`
        rate: f64,
    },
    /// `rate / t`
    Inverse {
        /// `eta_0`
        rate: f64,
    },
    /// `rate / t^exponent`
    Power {
        /// `eta_0`
        rate: f64,
        /// `alpha`
        exponent: f64,
    },
    /// `rate / sqrt(t)` before `switch`, `rate sqrt(switch) / t` from there on.
    TwoPhase {
        /// `eta_0`
        rate: f64,
        /// `m`, the round from which the step falls as `1/t`.
        switch: f64,
    },
}

impl Schedule {
    /// The step size of round `t >= 1`.
    #[inline]
    pub fn at(&self, t: u64) -> f64 {
        let t = t as f64;
        match *self {
            Schedule::Constant { rate } => rate,
            Schedule::Sqrt { rate } => rate / t.sqrt(),
            Schedule::Inverse { rate } => rate / t,
            Schedule::Power { rate, exponent } => rate * t.powf(-exponent),
            Schedule::TwoPhase { rate, switch } if t < switch => rate / t.sqrt(),
            Schedule::TwoPhase { rate, switch } => rate * switch.sqrt() / t,
        }
    }
}
