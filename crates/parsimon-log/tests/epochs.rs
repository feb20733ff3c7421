//! Going back to an earlier state: the abandoned records stay, and are passed over.

use std::sync::Arc;
use std::time::Duration;

use parsimon_log::{AppendError, Content, Error, Log};

use crate::common::{disk, options, payloads, put};

/// As above, and tries again while there is no segment for the epoch.
fn begin_epoch(log: &Log, base: u64, reason: &str) -> u64 {
    loop {
        match log.begin_epoch(base, reason) {
            Ok(ticket) => {
                log.wait_durable(ticket.seq).unwrap();
                return ticket.seq;
            }
            Err(AppendError::Overloaded) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn text(records: parsimon_log::Follower) -> String {
    let words = payloads(records).into_iter().map(|bytes| String::from_utf8(bytes).unwrap());
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn an_epoch_starts_from_an_earlier_state_and_the_branch_is_kept() {
    let disk = disk();
    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    let mut live = log.follow(0).unwrap();
    for word in ["a", "b", "c", "d"] {
        put(&log, word.as_bytes());
    }
    assert_eq!(begin_epoch(&log, 2, "bad"), 5);
    put(&log, b"e");
    // Followers see everything, with the base to go back to.
    let mut seen = Vec::new();
    while let Some(record) = live.next_within(Duration::ZERO).unwrap() {
        seen.push((
            record.seq,
            record.epoch,
            match record.content {
                Content::Epoch { base, .. } => Some(base),
                Content::Data { .. } => None,
            },
        ));
    }
    let data = |seq, epoch| (seq, epoch, None);
    let expected = [data(1, 1), data(2, 1), data(3, 1), data(4, 1), (5, 2, Some(2)), data(6, 2)];
    assert_eq!(seen, expected);
    drop(log);

    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    assert_eq!(text(log.follow(0).unwrap()), "a b bad e");
    assert_eq!(text(log.replay(0, 4).unwrap()), "a b c d");
    assert_eq!(text(log.replay(1, 6).unwrap()), "b bad e");
    assert!(matches!(log.follow(3), Err(Error::Abandoned { seq: 3, state: 6, .. })));
    assert!(matches!(log.follow(7), Err(Error::NotHeld { seq: 7, .. })));
    // And back to the branch that was abandoned.
    begin_epoch(&log, 4, "not so bad");
    put(&log, b"f");
    assert_eq!(text(log.follow(0).unwrap()), "a b c d not so bad f");
    let epochs = log.epochs();
    let found: Vec<_> =
        epochs.all().iter().map(|epoch| (epoch.number, epoch.first, epoch.base)).collect();
    assert_eq!(found, [(1, 1, 0), (2, 5, 2), (3, 7, 4)]);
    assert_eq!(epochs.all()[1].reason, "bad");
    drop(log);
    assert_eq!(parsimon_log::inspect(&disk).unwrap().epochs, Some(epochs));
}

#[test]
fn snapshots_of_an_abandoned_branch_do_not_lead_to_the_present() {
    let log = Log::on(Arc::new(disk()), options()).unwrap();
    for word in ["a", "b", "c", "d"] {
        let seq = put(&log, word.as_bytes());
        log.write_snapshot(seq, |out| out.write_all(word.as_bytes())).unwrap();
    }
    let last = begin_epoch(&log, 2, "back");
    let (found, bad) = log.newest_snapshot(last).unwrap();
    assert_eq!((found.unwrap().0.seq, bad.len()), (2, 0));
    assert_eq!(log.newest_snapshot(4).unwrap().0.unwrap().0.seq, 4);
    let future = log.begin_epoch(9, "none").unwrap_err();
    assert_eq!(future, AppendError::NoSuchBase { base: 9, first: 1, last: 5 });
}
