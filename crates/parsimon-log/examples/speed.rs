//! How fast records become durable: `cargo run --release -p parsimon-log --example speed -- DIRECTORY [SECONDS]`.
//!
//! Beside every figure of the log stands what the disk does alone: the same bytes written into a prepared file and synced.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parsimon_log::{AppendError, Log, Options};

const ROW: usize = 300;
const BATCH: usize = 1000;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| "target/log-speed".into());
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(5);
    let directory = Path::new(&directory);
    let time = Duration::from_secs(seconds);
    if directory.exists() {
        return Err(io::Error::other(format!("{} exists", directory.display())));
    }
    std::fs::create_dir_all(directory)?;
    for size in [ROW + 44, BATCH * (ROW + 44)] {
        let times = bare(&directory.join("bare"), size, time)?;
        print(&format!("bare write and fdatasync of {size} bytes"), &times, 0.0);
    }
    let log = Log::open(&directory.join("log"), Options::default()).map_err(io::Error::other)?;
    let times = appends(&log, 1, time);
    print("one durable record at a time", &times, 1.0);
    let times = appends(&log, BATCH, time);
    print("one durable batch at a time", &times, BATCH as f64);
    for threads in [2, 8] {
        several(&log, threads, time);
    }
    let started = Instant::now();
    let last = log.progress().durable;
    let mut follower = log.follow(0).map_err(io::Error::other)?;
    while follower.next_within(Duration::ZERO).map_err(io::Error::other)?.is_some() {}
    println!("read again: {:.0} records/s", last as f64 / started.elapsed().as_secs_f64());
    drop(log);
    let started = Instant::now();
    drop(Log::open(&directory.join("log"), Options::default()).map_err(io::Error::other)?);
    println!("opened again with {last} records: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
    std::fs::remove_dir_all(directory)
}

/// The disk alone.
fn bare(path: &Path, size: usize, time: Duration) -> io::Result<Vec<Duration>> {
    let mut file = File::create(path)?;
    for _ in 0..64 {
        file.write_all(&vec![0; 1 << 20])?;
    }
    file.sync_all()?;
    let (bytes, mut at, mut times) = (vec![7; size], 0, Vec::new());
    let end = Instant::now() + time;
    while Instant::now() < end {
        let started = Instant::now();
        parsimon_log::DiskFile::write_at(&file, at, &bytes)?;
        parsimon_log::DiskFile::sync(&file)?;
        times.push(started.elapsed());
        at = (at + size as u64) % ((64 << 20) - size as u64);
    }
    std::fs::remove_file(path)?;
    Ok(times)
}

/// One thread that appends so many rows, waits until they are durable, and goes on.
fn appends(log: &Log, rows: usize, time: Duration) -> Vec<Duration> {
    let (row, mut times) = ([7_u8; ROW], Vec::new());
    let end = Instant::now() + time;
    while Instant::now() < end {
        let started = Instant::now();
        let ticket = loop {
            match log.append_all((0..rows).map(|_| (0, &row[..]))) {
                Ok(ticket) => break ticket,
                Err(AppendError::Overloaded) => std::thread::sleep(Duration::from_micros(200)),
                Err(error) => panic!("{error}"),
            }
        };
        if let Err(error) = log.wait_durable(ticket.seq) {
            panic!("{error}");
        }
        times.push(started.elapsed());
    }
    times
}

/// Several threads that append batches, with a follower behind.
fn several(log: &Log, threads: usize, time: Duration) {
    let (done, followed) = (AtomicBool::new(false), AtomicU64::new(0));
    let from = log.progress().durable;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let Ok(mut follower) = log.follow(from) else { return };
            while !done.load(Ordering::Relaxed) {
                if let Ok(Some(record)) = follower.next_within(Duration::from_millis(10)) {
                    followed.store(record.seq - from, Ordering::Relaxed);
                }
            }
        });
        let started = Instant::now();
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(|| appends(log, BATCH, time))).collect();
        let times: Vec<_> =
            all.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect();
        let rows = log.progress().durable - from;
        let rate = rows as f64 / started.elapsed().as_secs_f64();
        print(&format!("{threads} threads, batches, a follower: {rate:.0} rows/s"), &times, 0.0);
        done.store(true, Ordering::Relaxed);
        println!("  followed {} of {rows}", followed.load(Ordering::Relaxed));
    });
}

fn print(what: &str, times: &[Duration], rows: f64) {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = |share: f64| {
        let index = ((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1));
        sorted.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    let total: f64 = sorted.iter().map(Duration::as_secs_f64).sum();
    let rate = sorted.len() as f64 * rows / total.max(1e-9);
    let rate = if rows > 0.0 { format!(", {rate:.0} rows/s") } else { String::new() };
    println!(
        "{what}: p50 {:.2} ms, p90 {:.2}, p99 {:.2}, max {:.2} ({} times{rate})",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0),
        sorted.len()
    );
}
