//! Every target with mutated seeds, the same inputs in every run. Prints a table: how many inputs, and what became of them.
//!
//! `cargo test -p parsimon-fuzz -- NAME` runs the targets whose names contain NAME.

#![allow(clippy::print_stdout, reason = "a test program without the harness prints its results")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use parsimon_fuzz::{Campaign, Fault, TARGETS, Tally, Target, keep_panics, last_panic};
use parsimon_testing::allocation::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of the random sequence.
const NUMBER: u64 = 20_261_116;

/// The least number of inputs that all targets try together.
const LEAST: u64 = 200_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        TARGETS.iter().for_each(|target| println!("{}: test", target.name));
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let is_chosen = |target: &&Target| {
        filters.is_empty() || filters.iter().any(|f| target.name.contains(f.as_str()))
    };
    let mut chosen: Vec<&Target> = TARGETS.iter().filter(is_chosen).collect();
    // Long ones first, so that both threads end at about the same time.
    chosen.sort_by_key(|target| std::cmp::Reverse(target.inputs));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let start = Instant::now();
    keep_panics();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(target) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let began = Instant::now();
                    // Making the seeds may panic, too.
                    let result = std::panic::catch_unwind(|| attack(target));
                    let result = result.unwrap_or_else(|_| Err(last_panic()));
                    let line = line(target, &result, began.elapsed().as_secs_f64());
                    println!("{line}");
                    done.lock().unwrap().push((target.name, result));
                }
            });
        }
    });
    let done = done.into_inner().unwrap();
    let inputs: u64 =
        done.iter().filter_map(|(_, result)| result.as_ref().ok()).map(|tally| tally.inputs).sum();
    println!("{inputs} inputs in {:.0} s", start.elapsed().as_secs_f64());
    let mut is_good = true;
    for (name, result) in &done {
        if let Err(words) = result {
            println!("{name}: {words}");
            is_good = false;
        }
    }
    if filters.is_empty() && is_good && inputs < LEAST {
        println!("fewer inputs than {LEAST}");
        is_good = false;
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn attack(target: &Target) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let ran = Campaign::new(target).and_then(|mut campaign| {
        campaign.run(NUMBER, |k| k < target.inputs)?;
        tally = campaign.tally;
        Ok(())
    });
    if let Err(Fault { origin, bytes, words }) = ran {
        let path = std::env::temp_dir().join(format!("parsimon-fuzz-{}", target.name));
        std::fs::write(&path, &bytes).map_err(|e| e.to_string())?;
        let kept = format!(
            "cargo run -p parsimon-fuzz --bin fuzz -- read {} {}",
            target.name,
            path.display()
        );
        return Err(format!("{origin}: {words}\n    again with: {kept}"));
    }
    if tally.share_past_header() < target.floor {
        let share = tally.share_past_header();
        return Err(format!(
            "only {share:.3} of the inputs got past the header, less than {}",
            target.floor
        ));
    }
    Ok(tally)
}

fn line(target: &Target, result: &Result<Tally, String>, seconds: f64) -> String {
    match result {
        Err(_) => format!("{:<13} FAILED", target.name),
        Ok(tally) => format!(
            "{:<13} {:>7} inputs, {:>3.0}% past the header, {:>6} refused, {:>6} accepted, {:>4} MiB, {seconds:.0} s",
            target.name,
            tally.inputs,
            100.0 * tally.share_past_header(),
            tally.refused,
            tally.accepted,
            tally.peak >> 20,
        ),
    }
}
