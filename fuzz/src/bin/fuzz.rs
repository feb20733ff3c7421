//! Targets, their seeds, and mutated inputs without a guide. `cargo xtask fuzz` runs it.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool talks to the person who runs it"
)]

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parsimon_fuzz::{Campaign, TARGETS, Target, find, keep_panics};
use parsimon_testing::allocation::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const USAGE: &str =
    "usage: fuzz list | seeds NAME FOLDER | read NAME FILE | run NAME MINUTES [FOLDER]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let known = |name: &str| {
        find(name).ok_or_else(|| format!("{name} is no target; `fuzz list` lists them"))
    };
    let done = match arguments[..] {
        ["list"] => {
            TARGETS.iter().for_each(|target| println!("{:<13} {}", target.name, target.about));
            Ok(())
        }
        ["seeds", name, folder] => {
            known(name).and_then(|target| write_seeds(target, Path::new(folder)))
        }
        ["read", name, file] => known(name).and_then(|target| {
            let bytes = std::fs::read(file).map_err(|e| format!("{file}: {e}"))?;
            println!("{:?}", (target.run)(&bytes));
            Ok(())
        }),
        ["run", name, minutes] => {
            known(name).and_then(|target| run(target, minutes, Path::new(".")))
        }
        ["run", name, minutes, folder] => {
            known(name).and_then(|target| run(target, minutes, Path::new(folder)))
        }
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(words) => {
            eprintln!("{words}");
            ExitCode::FAILURE
        }
    }
}

/// The seeds as files, and the dictionary beside the folder.
fn write_seeds(target: &Target, folder: &Path) -> Result<(), String> {
    let write = |path: &Path, bytes: &[u8]| {
        std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
    };
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for (k, seed) in target.seeds().iter().enumerate() {
        write(&folder.join(format!("seed-{k:03}")), seed)?;
    }
    write(&folder.with_extension("dict"), target.dictionary.as_bytes())
}

fn run(target: &Target, minutes: &str, folder: &Path) -> Result<(), String> {
    let minutes: f64 =
        minutes.parse().map_err(|_| format!("{minutes:?} is not a number of minutes"))?;
    keep_panics();
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let number = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
    let ran = Campaign::new(target).and_then(|mut campaign| {
        campaign.run(number, |_| Instant::now() < end)?;
        Ok(campaign.tally)
    });
    match ran {
        Ok(tally) => {
            println!(
                "{}: {} inputs of number {number}, {:.0}% past the header, {} refused, {} accepted",
                target.name,
                tally.inputs,
                100.0 * tally.share_past_header(),
                tally.refused,
                tally.accepted
            );
            Ok(())
        }
        Err(fault) => {
            let path = folder.join(format!("crash-{}-{number}", target.name));
            std::fs::write(&path, &fault.bytes).map_err(|e| format!("{}: {e}", path.display()))?;
            Err(format!(
                "{}: {}: {}; the input is in {}",
                target.name,
                fault.origin,
                fault.words,
                path.display()
            ))
        }
    }
}
