//! Early stopping of the settings of a sweep.

use parsimon_eval::CurvePoint;

/// The rule by which a [`Sweep`](crate::training::Sweep) gives up settings, looked at with every report.
///
/// A setting is given up when, after at least [`after`](EarlyStopping::after) rows, four things hold at once: its average loss is
/// more than [`excess`](EarlyStopping::excess) above that of the best setting; so is its average since the last report; neither is
/// within the reach of chance; and it is not catching up: the second excess is more than [`closing`](EarlyStopping::closing) of
/// what it was a report before.
///
/// The last condition is needed because strong penalties and small rates start slowly. It reads the reports as doublings of the rows: a
/// setting that closes a tenth of the gap with every doubling is kept. Chance is `3 sqrt(loss / rows)`, for losses of classes
/// alone: three standard deviations of a count of errors.
///
/// ```
/// use parsimon::tune::{EarlyStopping, Sweep};
/// use parsimon::{InputSchema, LearnerOptions, Spec};
///
/// let settings = ["0.001", "0.1", "1"].map(|rate| Spec::new("ftrl").set("rate", rate.parse::<f64>().unwrap()).resolve());
/// let settings = settings.into_iter().collect::<Result<_, _>>()?;
/// let mut sweep = Sweep::new(settings, LearnerOptions::default(), InputSchema::default())?;
/// // Stops settings whose loss is 5% above the best after 1,000 rows, and does not catch up.
/// sweep.give_up_when(EarlyStopping { after: 1000, excess: 0.05, ..EarlyStopping::default() });
/// # Ok::<(), parsimon::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlyStopping {
    /// The number of rows that every setting learns at least.
    pub after: u64,
    /// The largest excess over the loss of the best setting, as a share of that loss.
    pub excess: f64,
    /// The share of its earlier excess that a setting must come below to count as catching up.
    pub closing: f64,
}

impl Default for EarlyStopping {
    fn default() -> Self {
        Self { after: 1 << 14, excess: 0.1, closing: 0.9 }
    }
}

/// The averages of a setting at a report, and at the one before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trend {
    average: f64,
    recent: f64,
    before: f64,
    rows: f64,
    recent_rows: f64,
}

impl Trend {
    /// From the last two reports; `None` before there are two.
    pub(crate) fn of(points: &[CurvePoint]) -> Option<Self> {
        let [.., before, last] = points else { return None };
        Some(Self {
            average: last.average?,
            recent: last.since_last?,
            before: before.since_last?,
            rows: last.rows as f64,
            recent_rows: last.rows.saturating_sub(before.rows) as f64,
        })
    }

    pub(crate) fn average(&self) -> f64 {
        self.average
    }
}

impl EarlyStopping {
    /// Whether a setting is stopped in view of the best one.
    pub(crate) fn is_met(&self, own: &Trend, best: &Trend, is_of_classes: bool) -> bool {
        let is_above = |own: f64, best: f64, rows: f64| {
            let chance = if is_of_classes { 3.0 * (own.abs() / rows).sqrt() } else { 0.0 };
            own - best > (self.excess * best.abs()).max(chance)
        };
        // Shares of the best setting's loss, because all losses fall while there is something to learn.
        let gap = |own: f64, best: f64| (own - best) / best.abs();
        let (now, before) = (gap(own.recent, best.recent), gap(own.before, best.before));
        own.rows >= self.after as f64
            && is_above(own.average, best.average, own.rows)
            && is_above(own.recent, best.recent, own.recent_rows)
            && now > self.closing * before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trend(average: f64, recent: f64, before: f64) -> Trend {
        Trend { average, recent, before, rows: 16384.0, recent_rows: 8192.0 }
    }

    #[test]
    fn all_must_hold_at_once() {
        let (rule, best) = (EarlyStopping::default(), trend(0.50, 0.48, 0.50));
        let is_met = |own: Trend| rule.is_met(&own, &best, true);
        assert!(is_met(trend(0.60, 0.58, 0.60)));
        assert!(!is_met(trend(0.54, 0.58, 0.60)), "overall within a tenth");
        assert!(!is_met(trend(0.60, 0.52, 0.60)), "lately within a tenth");
        assert!(!is_met(trend(0.60, 0.55, 0.60)), "catching up");
        assert!(!is_met(Trend { rows: 16383.0, ..trend(0.60, 0.58, 0.60) }), "too early");
        assert!(!is_met(best), "the best itself");
    }

    #[test]
    fn few_errors_are_chance() {
        let rule = EarlyStopping::default();
        let (own, best) = (trend(0.0012, 0.0012, 0.0012), trend(0.0010, 0.0010, 0.0010));
        assert!(!rule.is_met(&own, &best, true));
        assert!(rule.is_met(&own, &best, false));
        // A loss of zero has no relative margin.
        let none = trend(0.0, 0.0, 0.0);
        assert!(!rule.is_met(&none, &none, true));
        assert!(!rule.is_met(&trend(1e-4, 1e-4, 1e-4), &none, true));
    }

    #[test]
    fn losses_may_be_negative() {
        let (rule, best) = (EarlyStopping::default(), trend(-2.0, -2.0, -2.0));
        assert!(rule.is_met(&trend(-1.5, -1.5, -1.5), &best, false));
        assert!(!rule.is_met(&trend(-1.9, -1.9, -1.9), &best, false));
    }
}
