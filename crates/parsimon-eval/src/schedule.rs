//! Schedules of reports: after 1, 2, 4, 8, ... rows, after each `factor`-fold growth, or every `n` rows.
//!
//! A schedule is a set of row counts and nothing else. It has no memory, so a resumed run reports where
//! the uninterrupted one would have, and a chunk that spans several due counts reports at each of them,
//! provided the caller asks per row, or stops at [`next_after`](Schedule::next_after).

use std::fmt;
use std::str::FromStr;

/// The row counts at which progress is reported.
///
/// Written as Vowpal Wabbit writes `--progress`: with a decimal point it is a factor, without it a stride.
///
/// ```
/// use parsimon_eval::Schedule;
///
/// let due = |schedule: &Schedule| (1..=20).filter(|&n| schedule.due(n)).collect::<Vec<u64>>();
/// assert_eq!(due(&Schedule::parse("2.0")?), [1, 2, 4, 8, 16]);
/// assert_eq!(due(&Schedule::parse("1.5")?), [1, 2, 3, 5, 8, 12, 18]);
/// assert_eq!(due(&Schedule::parse("6")?), [6, 12, 18]);
///
/// let message = Schedule::parse("0.5").unwrap_err().to_string();
/// assert_eq!(message, "a progress factor must be a finite number > 1, got 0.5");
/// # Ok::<(), parsimon_eval::ScheduleError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule(ReportRule);

#[derive(Clone, Copy, Debug, PartialEq)]
enum ReportRule {
    Multiply(f64),
    Every(u64),
}

/// Why a text is no schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError(String);

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScheduleError {}

impl Default for Schedule {
    fn default() -> Self {
        Self::doubling()
    }
}

impl Schedule {
    /// After 1, 2, 4, 8, ... rows: few lines at any length of stream, the first of them at once.
    pub fn doubling() -> Self {
        Self(ReportRule::Multiply(2.0))
    }

    /// After 1 row and then whenever the count has grown by `factor`, rounded up.
    pub fn multiply(factor: f64) -> Result<Self, ScheduleError> {
        if factor.is_finite() && factor > 1.0 {
            Ok(Self(ReportRule::Multiply(factor)))
        } else {
            Err(ScheduleError(format!(
                "a progress factor must be a finite number > 1, got {factor}"
            )))
        }
    }

    /// Every `stride` rows.
    pub fn every(stride: u64) -> Result<Self, ScheduleError> {
        if stride > 0 {
            Ok(Self(ReportRule::Every(stride)))
        } else {
            Err(ScheduleError("a progress stride must be at least 1 row, got 0".to_owned()))
        }
    }

    /// Reads `"2.0"` (a factor) or `"1000"` (a stride).
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        if let Ok(stride) = text.parse::<u64>() {
            return Self::every(stride);
        }
        match text.parse::<f64>() {
            Ok(factor) => Self::multiply(factor),
            Err(_) => Err(ScheduleError(format!(
                "progress must be a factor such as 2.0 or a number of rows such as 1000, got {text:?}"
            ))),
        }
    }

    /// Whether to report after exactly `rows` rows.
    pub fn due(&self, rows: u64) -> bool {
        match self.0 {
            ReportRule::Multiply(2.0) => rows.is_power_of_two(),
            ReportRule::Every(stride) => rows > 0 && rows.is_multiple_of(stride),
            ReportRule::Multiply(_) => rows > 0 && self.next_after(rows - 1) == rows,
        }
    }

    /// The first due count greater than `rows`: how far a loop may run before it must look up.
    ///
    /// ```
    /// # use parsimon_eval::Schedule;
    /// assert_eq!(Schedule::doubling().next_after(1_000_000), 1_048_576);
    /// ```
    pub fn next_after(&self, rows: u64) -> u64 {
        match self.0 {
            ReportRule::Every(stride) => (rows / stride + 1).saturating_mul(stride),
            ReportRule::Multiply(factor) => {
                let mut count: u64 = 1;
                while count <= rows && count < u64::MAX {
                    // A factor close to one must still advance. The cast saturates.
                    count = ((count as f64 * factor).ceil() as u64).max(count + 1);
                }
                count
            }
        }
    }
}

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        Self::parse(text)
    }
}

impl fmt::Display for Schedule {
    /// The text that [`parse`](Schedule::parse) reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ReportRule::Multiply(factor) => write!(f, "{factor:?}"),
            ReportRule::Every(stride) => write!(f, "{stride}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 7] = ["2.0", "1.01", "1.5", "10.0", "1", "7", "1000"];

    #[test]
    fn due_and_next_after_tell_the_same_set() {
        for text in TEXTS {
            let schedule = Schedule::parse(text).unwrap();
            let due: Vec<u64> = (0..5000).filter(|&n| schedule.due(n)).collect();
            let mut walked = Vec::new();
            let mut n = schedule.next_after(0);
            while n < 5000 {
                walked.push(n);
                n = schedule.next_after(n);
            }
            assert_eq!(due, walked, "{text}");
        }
    }

    #[test]
    fn chunks_change_no_report() {
        for text in TEXTS {
            let schedule = Schedule::parse(text).unwrap();
            let reports = |chunk: u64| {
                let (mut rows, mut next, mut out) = (0, schedule.next_after(0), Vec::new());
                while rows < 4096 {
                    let end = (rows + chunk).min(4096);
                    while next <= end {
                        out.push(next);
                        next = schedule.next_after(next);
                    }
                    rows = end;
                }
                out
            };
            assert_eq!(reports(1), reports(1000), "{text}");
            assert_eq!(reports(1), reports(4096), "{text}");
        }
    }

    #[test]
    fn the_text_is_read_back() {
        for text in TEXTS {
            assert_eq!(Schedule::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_end_of_the_counts_is_reached_and_not_passed() {
        assert_eq!(Schedule::doubling().next_after(u64::MAX), u64::MAX);
        assert_eq!(Schedule::parse("3").unwrap().next_after(u64::MAX - 1), u64::MAX);
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        let message = |text| Schedule::parse(text).unwrap_err().to_string();
        assert_eq!(message("0"), "a progress stride must be at least 1 row, got 0");
        assert_eq!(message("1.0"), "a progress factor must be a finite number > 1, got 1");
        assert_eq!(message("inf"), "a progress factor must be a finite number > 1, got inf");
        assert_eq!(
            message("often"),
            "progress must be a factor such as 2.0 or a number of rows such as 1000, got \"often\""
        );
    }
}
