//! Full queues, full disks, failed writes and syncs.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use parsimon_log::simulated::Faults;
use parsimon_log::{AppendError, Failed, Log, Notify, Options, Progress};

use crate::common::{disk, options, payloads, put};

/// Reports what it is called with, and waits for an answer to go on.
struct Gate {
    calls: Mutex<Sender<Result<Progress, Failed>>>,
    go_on: Mutex<Receiver<()>>,
}

impl Notify for Gate {
    fn advanced(&self, progress: Progress) {
        let _ = self.calls.lock().unwrap().send(Ok(progress));
        let _ = self.go_on.lock().unwrap().recv();
    }

    fn failed(&self, failed: &Failed) {
        let _ = self.calls.lock().unwrap().send(Err(failed.clone()));
    }
}

type Calls = Receiver<Result<Progress, Failed>>;

fn gate() -> (Arc<dyn Notify>, Calls, Sender<()>) {
    let (calls, called) = channel();
    let (open, go_on) = channel();
    (Arc::new(Gate { calls: Mutex::new(calls), go_on: Mutex::new(go_on) }), called, open)
}

#[test]
fn a_full_queue_refuses_at_once_and_takes_nothing() {
    let (notify, called, open) = gate();
    let options = Options { queue_bytes: 1000, notify: Some(notify), ..options() };
    let log = Log::on(Arc::new(disk()), options).unwrap();
    log.append(0, b"first").unwrap();
    // The writer has written it and waits in the call.
    assert_eq!(called.recv().unwrap(), Ok(Progress { logged: 1, durable: 0 }));
    log.wait_logged(1).unwrap();
    let row = [1; 280];
    for seq in 2..=4 {
        assert_eq!(log.append(0, &row).unwrap().seq, seq);
    }
    assert_eq!(log.append(0, &row), Err(AppendError::Overloaded));
    assert_eq!(log.append_all([(0, &b""[..]), (0, &row)]), Err(AppendError::Overloaded));
    drop(open);
    assert_eq!(called.recv().unwrap(), Ok(Progress { logged: 1, durable: 1 }));
    log.wait_durable(4).unwrap();
    assert_eq!(put(&log, b"after"), 5);
    assert_eq!(payloads(log.follow(0).unwrap()).len(), 5);
}

#[test]
fn a_failed_sync_is_final() {
    let disk = disk();
    let (notify, called, open) = gate();
    drop(open);
    let log =
        Log::on(Arc::new(disk.clone()), Options { notify: Some(notify), ..options() }).unwrap();
    put(&log, b"good");
    // The next segment is prepared beside; only syncs after that count.
    while log.append(0, &[0; 12_000]).is_err() {}
    log.wait_durable(2).unwrap();
    let mut follower = log.follow(0).unwrap();
    disk.set_faults(Faults { fail_sync: Some(0), ..Faults::default() });
    let mut failed = None;
    // A sync of the thread that prepares may have met the fault in its stead.
    while failed.is_none() {
        let seq = log.append(0, b"bad").map_or(u64::MAX, |ticket| ticket.seq);
        failed = log.wait_durable(seq).err();
        if failed.is_none() {
            disk.set_faults(Faults { fail_sync: Some(0), ..Faults::default() });
        }
    }
    disk.set_faults(Faults::default());
    let why = failed.unwrap();
    assert!(why.to_string().contains("simulated EIO on sync"), "{why}");
    assert_eq!(log.append(0, b"later"), Err(AppendError::Failed(why.clone())));
    assert_eq!(log.failed(), Some(why.clone()));
    assert_eq!(called.iter().find_map(Result::err), Some(why));
    // What was durable is still given, and nothing else.
    let durable = log.progress().durable;
    let mut given = 0;
    while let Some(record) = follower.next_within(Duration::from_millis(1)).unwrap() {
        given = record.seq;
    }
    assert_eq!(given, durable);
    drop(log);
    // Opened anew, it goes on, and what it found is durable.
    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    let last = log.opened().last;
    assert!(last >= durable);
    put(&log, b"again");
    let cut = parsimon_log::simulated::SimulatedDisk::new(disk.state().crash(&[]), 512);
    assert_eq!(Log::on(Arc::new(cut), options()).unwrap().opened().last, last + 1);
}

#[test]
fn a_full_disk_is_an_alarm_and_no_failure() {
    let disk = disk();
    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    disk.set_faults(Faults { room: Some(40_000), ..Faults::default() });
    let row = [1; 1000];
    let mut taken = 0;
    let refused = loop {
        match log.append(0, &row) {
            Ok(ticket) => taken = ticket.seq,
            Err(AppendError::Overloaded) => std::thread::yield_now(),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, AppendError::DiskFull(_)), "{refused}");
    assert!(log.alarm().is_some() && log.failed().is_none());
    log.wait_durable(taken).unwrap();
    assert!(taken >= 14, "{taken}");
    disk.set_faults(Faults::default());
    let seq = loop {
        match log.append(0, &row) {
            Ok(ticket) => break ticket.seq,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    assert_eq!(seq, taken + 1);
    log.wait_durable(seq).unwrap();
    assert_eq!(log.alarm(), None);
}

/// Panics when it is called.
struct Panics;

impl Notify for Panics {
    fn advanced(&self, _: Progress) {
        panic!("on purpose");
    }

    fn failed(&self, _: &Failed) {}
}

#[test]
fn a_panic_in_a_call_fails_the_log_instead_of_hanging_it() {
    let options = Options { notify: Some(Arc::new(Panics)), ..options() };
    let log = Log::on(Arc::new(disk()), options).unwrap();
    let seq = log.append(0, b"row").unwrap().seq;
    assert!(log.wait_durable(seq).is_err());
}
