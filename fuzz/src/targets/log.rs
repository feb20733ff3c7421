//! The log of a service.

use std::io::Read;
use std::sync::{Arc, LazyLock};

use parsimon_log::simulated::{Faults, SimulatedDisk, State};
use parsimon_log::{
    AppendError, Clock, Disk, Log, Options, Records, inspect, repair as repair_log, verify,
};
use parsimon_testing::SplitMix64;

use crate::{Outcome, repair};

const BLOCK: usize = 512;

/// Where the headers of segments and snapshots have the number of the log.
const LOG_NUMBER: std::ops::Range<usize> = 16..32;

fn options() -> Options {
    Options { segment_bytes: 2 << 10, clock: Clock::both(|| 1000), ..Options::default() }
}

/// Appends a record and waits until it is durable.
fn append(log: &Log, kind: u8, payload: &[u8]) -> u64 {
    loop {
        match log.append(kind, payload) {
            Ok(ticket) => {
                log.wait_durable(ticket.seq).unwrap();
                return ticket.seq;
            }
            Err(AppendError::Overloaded) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// A log of two segments, two epochs and a snapshot.
static DISK: LazyLock<State> = LazyLock::new(|| {
    let disk = SimulatedDisk::new(State::default(), BLOCK);
    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    let mut last = 0;
    for k in 0..24_u8 {
        last = append(&log, k % 3, &vec![k; usize::from(k) * 5]);
    }
    log.write_snapshot(5, |out| out.write_all(b"state after five")).unwrap();
    while log.begin_epoch(5, "back").is_err() {
        std::thread::yield_now();
    }
    last = append(&log, 1, b"after").max(last);
    log.write_snapshot(last, |out| out.write_all(&[7; 300])).unwrap();
    drop(log);
    disk.state()
});

fn contents(name: &str) -> Vec<u8> {
    let disk = SimulatedDisk::new(DISK.clone(), BLOCK);
    let file = disk.open(name, false).unwrap();
    let mut bytes = vec![0; file.size().unwrap() as usize];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

fn files(start: &str) -> Vec<String> {
    let mut names = SimulatedDisk::new(DISK.clone(), BLOCK).list().unwrap();
    names.retain(|name| name.starts_with(start));
    names.sort();
    names
}

fn seeds(start: &str) -> Vec<Vec<u8>> {
    // The first byte chooses the file that is replaced.
    let seed = |(k, name): (usize, &String)| {
        let mut bytes = [&[k as u8][..], &contents(name)].concat();
        // The log's number is drawn when it is made: `replaced` puts it in.
        bytes[1..][LOG_NUMBER].fill(0);
        bytes
    };
    files(start).iter().enumerate().map(seed).collect()
}

pub(crate) fn segment_seeds() -> Vec<Vec<u8>> {
    seeds("log-")
}

pub(crate) fn snapshot_seeds() -> Vec<Vec<u8>> {
    seeds("snap-")
}

/// The log with one file replaced, on a disk that reads in small pieces.
fn replaced(start: &str, bytes: &[u8], mend: fn(&[u8]) -> Vec<u8>) -> Option<SimulatedDisk> {
    let (&first, rest) = bytes.split_first()?;
    let names = files(start);
    let name = &names[usize::from(first) % names.len()];
    let mut rest = rest.to_vec();
    rest.get_mut(LOG_NUMBER)?.copy_from_slice(&contents(name)[LOG_NUMBER]);
    let disk = SimulatedDisk::new(DISK.clone(), BLOCK);
    let pieces = 1 + SplitMix64::new(parsimon_files::checksum(bytes)).below(900) as usize;
    disk.set_faults(Faults { short_reads: Some(pieces), ..Faults::default() });
    disk.damage(name, |file| *file = mend(&rest));
    Some(disk)
}

fn records(disk: &SimulatedDisk) -> Result<u64, parsimon_log::Error> {
    let mut records = Records::open(Arc::new(disk.clone()), 0)?;
    let (mut count, mut before) = (0, 0);
    while records.advance()? {
        let record = records.record().expect("it advanced");
        assert!(record.seq > before, "records {before} and {}", record.seq);
        (count, before) = (count + 1, record.seq);
    }
    Ok(count)
}

pub(crate) fn segment(bytes: &[u8]) -> Outcome {
    let Some(disk) = replaced("log-", bytes, repair::segment) else { return Outcome::Unrecognized };
    let inspected = inspect(&disk);
    let read = records(&disk).map_err(|e| e.to_string());
    assert_eq!(records(&disk).map_err(|e| e.to_string()), read, "read twice");
    let verified = verify(Arc::new(disk.clone()));
    if verified.is_ok() {
        assert!(read.is_ok(), "verified, and {read:?}");
    } else if let Ok(done) = repair_log(Arc::new(disk.clone())) {
        let again = verify(Arc::new(disk.clone()));
        assert!(again.is_ok(), "{done:?}, and still {again:?}; before {verified:?}");
    }
    match (inspected, read) {
        (Err(_), _) => Outcome::Unrecognized,
        (Ok(_), Err(_)) => Outcome::Refused,
        (Ok(_), Ok(_)) => Outcome::Accepted,
    }
}

pub(crate) fn snapshot(bytes: &[u8]) -> Outcome {
    let Some(disk) = replaced("snap-", bytes, repair::snapshot) else {
        return Outcome::Unrecognized;
    };
    let Ok(log) = Log::on(Arc::new(disk.clone()), options()) else { return Outcome::Refused };
    let mut outcome = Outcome::Accepted;
    for (epoch, seq) in log.snapshots().unwrap() {
        match log.open_snapshot(epoch, seq) {
            Err(_) => outcome = Outcome::Refused,
            Ok((_, mut contents)) => {
                let left = contents.left();
                let mut all = Vec::new();
                contents.read_to_end(&mut all).unwrap();
                assert_eq!(all.len(), left);
            }
        }
    }
    let durable = log.progress().durable;
    let _ = log.newest_snapshot(durable);
    outcome
}
