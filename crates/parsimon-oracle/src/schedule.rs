//! Step sizes that depend on the clock alone (algorithms, section 1).

use crate::spec::Spec;

/// `eta_t` for `t = 1, 2, ...`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Schedule {
    /// `eta0`.
    Constant(f64),
    /// `eta0 / sqrt(t)`.
    Sqrt(f64),
    /// `eta0 / t`.
    Inverse(f64),
    /// `eta0 / t^alpha`.
    Power(f64, f64),
    /// `eta0 / sqrt(t)` before `t = m`, then `eta0 sqrt(m) / t` (001, CSGD).
    TwoPhase(f64, f64),
}

impl Schedule {
    pub(crate) fn from_spec(spec: &Spec) -> Self {
        Schedule::from_spec_or(spec, "sqrt")
    }

    /// The schedule of a method whose own default is not the square root.
    pub(crate) fn from_spec_or(spec: &Spec, default: &str) -> Self {
        let rate = spec.number("rate");
        match spec.text_or("schedule", default).as_str() {
            "constant" => Schedule::Constant(rate),
            "sqrt" => Schedule::Sqrt(rate),
            "inverse" => Schedule::Inverse(rate),
            "power" => Schedule::Power(rate, spec.number_or("power", 0.5)),
            "two-phase" => Schedule::TwoPhase(rate, spec.number("switch")),
            other => panic!("unknown schedule {other:?}"),
        }
    }

    pub(crate) fn eta(&self, t: usize) -> f64 {
        let t = t as f64;
        match *self {
            Schedule::Constant(rate) => rate,
            Schedule::Sqrt(rate) => rate / t.sqrt(),
            Schedule::Inverse(rate) => rate / t,
            Schedule::Power(rate, alpha) => rate / t.powf(alpha),
            Schedule::TwoPhase(rate, m) if t < m => rate / t.sqrt(),
            Schedule::TwoPhase(rate, m) => rate * m.sqrt() / t,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_phases_meet() {
        let schedule = Schedule::TwoPhase(0.5, 4.0);
        assert_eq!(schedule.eta(1), 0.5);
        assert_eq!(schedule.eta(4), 0.25);
        assert_eq!(schedule.eta(8), 0.125);
    }
}
