//! The steps on which the promises of the log rest. Tests leave out one at a time and expect the crash simulator to notice.

/// A step that must not be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) enum Step {
    SyncGroup,
    SyncSeal,
    SyncHeader,
    RenameSegment,
    SyncSegmentName,
    SyncSpare,
    RewriteTail,
    ZeroTail,
    SyncTail,
    SyncNamesAtOpen,
    DropUnfinishedEpoch,
    CheckChecksum,
    CheckChain,
    CheckClaim,
    CheckLaterSegments,
    CheckSnapshotsBeyondEnd,
    SyncSnapshot,
    RenameSnapshot,
    SyncSnapshotName,
    ReadBackSnapshot,
    SyncRemoval,
    KeepTwoSnapshots,
}

/// Whether the step is to be taken. Always true outside of the tests of this crate.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn taken(_: Step) -> bool {
    true
}

#[cfg(test)]
pub(crate) use left_out::{ALL, taken, without};

#[cfg(test)]
mod left_out {
    use std::cell::Cell;

    use super::Step;

    thread_local! {
        static LEFT_OUT: Cell<Option<Step>> = const { Cell::new(None) };
    }

    pub(crate) fn taken(step: Step) -> bool {
        LEFT_OUT.get() != Some(step)
    }

    /// Runs without one step, on this thread.
    pub(crate) fn without<T>(step: Step, run: impl FnOnce() -> T) -> T {
        LEFT_OUT.set(Some(step));
        let result = run();
        LEFT_OUT.set(None);
        result
    }

    pub(crate) const ALL: [Step; 22] = [
        Step::SyncGroup,
        Step::SyncSeal,
        Step::SyncHeader,
        Step::RenameSegment,
        Step::SyncSegmentName,
        Step::SyncSpare,
        Step::RewriteTail,
        Step::ZeroTail,
        Step::SyncTail,
        Step::SyncNamesAtOpen,
        Step::DropUnfinishedEpoch,
        Step::CheckChecksum,
        Step::CheckChain,
        Step::CheckClaim,
        Step::CheckLaterSegments,
        Step::CheckSnapshotsBeyondEnd,
        Step::SyncSnapshot,
        Step::RenameSnapshot,
        Step::SyncSnapshotName,
        Step::ReadBackSnapshot,
        Step::SyncRemoval,
        Step::KeepTwoSnapshots,
    ];
}
