//! Epochs: the paths of records that lead to a state. Sequence numbers continue when an epoch starts from an earlier state; the records between
//! are abandoned, and stay in the log as a branch with the number of their epoch.

/// An epoch of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Its number. The first is 1.
    pub number: u32,
    /// Its first record that the log still holds. It says why the epoch was started, except for the first epoch of the log.
    pub first: u64,
    /// The record whose state it started from.
    pub base: u64,
    /// Why it was started.
    pub reason: String,
    /// The log time when it was started.
    pub time: u64,
}

/// The epochs of a log, in order; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epochs(pub(crate) Vec<Epoch>);

impl Epochs {
    pub(crate) fn starting(number: u32, first: u64, time: u64) -> Self {
        let base = first.saturating_sub(1);
        Self(vec![Epoch { number, first, base, reason: String::new(), time }])
    }

    /// All epochs, the present one last.
    pub fn all(&self) -> &[Epoch] {
        &self.0
    }

    /// The epoch of a record.
    pub fn of(&self, seq: u64) -> &Epoch {
        let after = self.0.partition_point(|epoch| epoch.first <= seq);
        &self.0[after.saturating_sub(1)]
    }

    /// The records that lead to the state after record `to`, as ranges of first and last in order. Empty ranges are left out.
    pub fn path(&self, to: u64) -> Vec<(u64, u64)> {
        let (mut path, mut to) = (Vec::new(), to);
        loop {
            let epoch = self.of(to);
            if epoch.first <= to {
                path.push((epoch.first, to));
            }
            // A base lies before its epoch; anything else is a damaged log and must not loop.
            if epoch.number == self.0[0].number || epoch.base >= epoch.first {
                break;
            }
            to = epoch.base;
        }
        path.reverse();
        path
    }

    /// Whether the state after record `seq` is on the way to that after record `to`.
    pub fn leads(&self, seq: u64, to: u64) -> bool {
        seq + 1 == self.0[0].first && self.path(to).first().is_none_or(|range| range.0 == seq + 1)
            || self.path(to).iter().any(|&(first, last)| (first..=last).contains(&seq))
    }
}
