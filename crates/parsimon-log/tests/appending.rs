//! Many threads append; one order comes out, and stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parsimon_log::{
    AppendError, Clock, Content, Directory, Disk, Error, Log, Options, Records, verify,
};
use parsimon_testing::SplitMix64;

use crate::common::{append, clock, disk, names, options, payloads, put};

const WAIT: Duration = Duration::from_secs(60);

#[test]
fn threads_append_a_follower_follows_and_a_second_opening_finds_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), options()).unwrap();
    let (threads, each) = (4_u64, 300_u64);
    let mut followed = Vec::new();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let log = &log;
            scope.spawn(move || {
                let random = &mut SplitMix64::new(thread);
                for number in 0..each {
                    let mut payload = (thread << 32 | number).to_le_bytes().to_vec();
                    payload.resize(8 + random.below(500) as usize, thread as u8);
                    let ticket = append(log, thread as u8, &payload);
                    if number % 16 == 0 {
                        log.wait_durable(ticket.seq).unwrap();
                    }
                }
            });
        }
        let mut follower = log.follow(0).unwrap();
        while (followed.len() as u64) < threads * each {
            let record = follower.next_within(WAIT).unwrap().unwrap();
            assert!(record.seq <= log.progress().durable);
            let Content::Data { kind, payload } = record.content else { panic!("no data") };
            followed.push((record.seq, kind, payload.to_vec()));
        }
    });
    let mut next = vec![0; threads as usize];
    for (index, (seq, kind, payload)) in followed.iter().enumerate() {
        assert_eq!(*seq, index as u64 + 1);
        let number = u64::from_le_bytes(payload[..8].try_into().unwrap());
        assert_eq!(number, u64::from(*kind) << 32 | next[usize::from(*kind)]);
        next[usize::from(*kind)] += 1;
    }
    drop(log);
    let left = Directory::existing(directory.path());
    assert!(names(&left, ".seg").len() > 10);
    assert_eq!(names(&left, ".tmp"), [""; 0]);

    let log = Log::open(directory.path(), options()).unwrap();
    assert_eq!((log.opened().last, log.opened().torn), (threads * each, 0));
    let again = payloads(log.follow(0).unwrap());
    assert!(again.iter().eq(followed.iter().map(|(_, _, payload)| payload)));
    assert_eq!(payloads(log.follow(1199).unwrap()).len(), 1);
    assert_eq!(put(&log, b"more"), threads * each + 1);
}

#[test]
fn what_threads_were_told_is_durable_survives_power_cuts_at_any_time() {
    let disk = disk();
    let log = Log::on(Arc::new(disk.clone()), options()).unwrap();
    let acknowledged = AtomicU64::new(0);
    let cut_by = &|thread: u8| {
        let mut cuts = Vec::new();
        for number in 0..300 {
            let ticket = append(&log, thread, &[thread; 100]);
            if number % 4 == 0 {
                let told = acknowledged.load(Ordering::SeqCst);
                cuts.push((told, disk.state()));
            }
            log.wait_durable(ticket.seq).unwrap();
            acknowledged.fetch_max(ticket.seq, Ordering::SeqCst);
        }
        cuts
    };
    let cuts: Vec<_> = std::thread::scope(|scope| {
        let threads = [0, 1, 2].map(|thread| scope.spawn(move || cut_by(thread)));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    drop(log);
    let random = &mut SplitMix64::new(1);
    for (told, state) in &cuts {
        let choices: Vec<_> =
            state.choices().iter().map(|ways| random.below(*ways as u64) as usize).collect();
        for choices in [Vec::new(), choices] {
            let cut = parsimon_log::simulated::SimulatedDisk::new(state.crash(&choices), 512);
            let log = Log::on(Arc::new(cut), options()).unwrap();
            assert!(log.opened().last >= *told, "{:?}, told {told}", log.opened());
            assert_eq!(payloads(log.follow(0).unwrap()).len() as u64, log.opened().last);
        }
    }
    assert_eq!(cuts.len(), 225);
}

#[test]
fn a_log_can_be_read_while_it_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), options()).unwrap();
    let disk: Arc<dyn Disk> = Arc::new(Directory::existing(directory.path()));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..200 {
                let ticket = append(&log, 0, &[7; 700]);
                log.wait_logged(ticket.seq).unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        let mut last = 0;
        while !done.load(Ordering::SeqCst) {
            let seen = verify(disk.clone()).unwrap().last;
            assert!(seen >= last);
            last = seen;
        }
    });
    log.wait_durable(200).unwrap();
    assert_eq!(verify(disk).unwrap().last, 200);
}

#[test]
fn a_directory_is_opened_once() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), options()).unwrap();
    let again = Log::open(directory.path(), options()).err().unwrap();
    assert!(matches!(again, Error::InUse { .. }), "{again}");
    let place = directory.path().display();
    assert_eq!(again.to_string(), format!("{place}: the log is in use by another process"));
    drop(log);
    Log::open(directory.path(), options()).unwrap();
}

#[test]
fn several_records_are_taken_together_or_not_at_all() {
    let log = Log::on(Arc::new(disk()), options()).unwrap();
    let rows = [&[1; 10][..], &[][..], &[3; 9000][..]];
    let ticket = log.append_all(rows.map(|row| (9, row))).unwrap();
    assert_eq!(ticket.seq, 3);
    let large = log.append_all([(0, &b"small"[..]), (0, &[0; 16 << 10][..])]).unwrap_err();
    assert!(matches!(large, AppendError::TooLarge { bytes: 16_384, .. }), "{large}");
    assert_eq!(log.append(0, b"next").unwrap().seq, 4);
    log.wait_durable(4).unwrap();
    assert_eq!(payloads(log.follow(0).unwrap())[..3], rows);
}

#[test]
fn log_time_never_goes_back_and_old_segments_are_sealed() {
    let disk = disk();
    let (options, time) = clock(Options { seal_after: Duration::from_secs(10), ..options() });
    let log = Log::on(Arc::new(disk.clone()), options.clone()).unwrap();
    let mut times = Vec::new();
    for now in [5, 9, 7, 8000, 4, 10_010, 10_011] {
        time.store(now, Ordering::Relaxed);
        let ticket = append(&log, 0, b"tick");
        log.wait_durable(ticket.seq).unwrap();
        times.push(ticket.time);
        // The next segment is prepared beside.
        while names(&disk, ".tmp").is_empty() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    assert_eq!(times, [5, 9, 9, 8000, 8000, 10_010, 10_011]);
    drop(log);
    assert_eq!(
        names(&disk, ".seg"),
        ["log-00000000000000000001.seg", "log-00000000000000000006.seg"]
    );
    time.store(3, Ordering::Relaxed);
    let log = Log::on(Arc::new(disk.clone()), options).unwrap();
    assert_eq!(append(&log, 0, b"tick").time, 10_011);
    log.wait_durable(8).unwrap();
    let mut records = Records::open(Arc::new(disk), 0).unwrap();
    let mut read = Vec::new();
    while records.advance().unwrap() {
        read.push(records.record().unwrap().time);
    }
    assert_eq!(read[..7], times);
}

#[test]
fn a_wall_clock_that_jumps_changes_no_interval_of_log_time() {
    const HOUR: u64 = 3_600_000;
    for (before, after) in [(5 * HOUR, 4 * HOUR), (5 * HOUR, 7 * HOUR)] {
        let (wall, steady) = (Arc::new(AtomicU64::new(before)), Arc::new(AtomicU64::new(77)));
        let read = |clock: &Arc<AtomicU64>| -> Arc<dyn Fn() -> u64 + Send + Sync> {
            let clock = clock.clone();
            Arc::new(move || clock.load(Ordering::Relaxed))
        };
        let clock = Clock { wall: read(&wall), steady: read(&steady) };
        let log = Log::on(Arc::new(disk()), Options { clock, ..options() }).unwrap();
        assert_eq!(append(&log, 0, b"tick").time, before);
        steady.fetch_add(250, Ordering::Relaxed);
        wall.store(after, Ordering::Relaxed);
        assert_eq!((append(&log, 0, b"tick").time, log.time()), (before + 250, before + 250));
    }
}

#[test]
fn another_arithmetic_starts_a_segment_and_is_shown() {
    let disk = disk();
    for arithmetic in [1, 1, 2] {
        let options = Options { arithmetic, ..options() };
        let log = Log::on(Arc::new(disk.clone()), options).unwrap();
        put(&log, b"row");
    }
    let log = Log::on(Arc::new(disk.clone()), Options { arithmetic: 3, ..options() }).unwrap();
    assert_eq!(log.opened().arithmetic, Some(2));
    assert_eq!(payloads(log.follow(0).unwrap()).len(), 3);
    let segments = parsimon_log::inspect(&disk).unwrap().segments;
    let found: Vec<_> =
        segments.iter().map(|(_, header)| (header.first, header.arithmetic)).collect();
    assert_eq!(found, [(1, 1), (3, 2)]);
}
