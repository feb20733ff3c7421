//! `cargo xtask fuzz`: the targets of `fuzz/` for as long as one likes, with inputs chosen by coverage.
//!
//! libFuzzer needs its instrumentation in the code, which any compiler puts there; only the address sanitizer needs a nightly one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::command::{cargo, host, output, run, target, works};

/// What `cargo fuzz` passes, too.
const INSTRUMENTATION: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
];

const OVERVIEW: &str = "usage: cargo xtask fuzz NAME --minutes N [--unguided] | --list

NAME        a target, or `all` for one after the other
--minutes   how long each target runs
--unguided  mutate seeds without looking at coverage: no libFuzzer, no C++ compiler";

/// What to run.
enum Wanted<'a> {
    List,
    Run { name: &'a str, minutes: f64, is_guided: bool },
}

pub(crate) fn fuzz(arguments: &[&str]) -> Result<()> {
    match parse(arguments)? {
        Wanted::List => run(plain(&["list"])),
        Wanted::Run { name, minutes, is_guided } => {
            let list = output(plain(&["list"]))?;
            let names = list.lines().filter_map(|line| line.split_whitespace().next());
            let names: Vec<&str> = names.filter(|known| name == "all" || name == *known).collect();
            if names.is_empty() {
                bail!("{name} is no target; `cargo xtask fuzz --list` lists them");
            }
            let guided = if is_guided { build_guided()? } else { None };
            let mut broken = Vec::new();
            for name in names {
                let ran = match &guided {
                    Some(program) => run_guided(program, name, minutes),
                    None => run_unguided(name, minutes),
                };
                if let Err(error) = ran {
                    println!("{error:#}");
                    broken.push(name);
                }
            }
            if !broken.is_empty() {
                bail!(
                    "faults in {}; copy each input to fuzz/corpus/NAME and mend it",
                    broken.join(", ")
                );
            }
            Ok(())
        }
    }
}

fn parse<'a>(arguments: &[&'a str]) -> Result<Wanted<'a>> {
    let (mut name, mut minutes, mut is_guided) = (None, None, true);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--list" => return Ok(Wanted::List),
            "--unguided" => is_guided = false,
            "--minutes" => {
                minutes = rest.next().and_then(|m| m.parse::<f64>().ok()).filter(|m| *m > 0.0);
            }
            flag if flag.starts_with('-') => bail!("{OVERVIEW}"),
            word => name = Some(word),
        }
    }
    match (name, minutes) {
        (Some(name), Some(minutes)) => Ok(Wanted::Run { name, minutes, is_guided }),
        _ => bail!("{OVERVIEW}"),
    }
}

/// The program without instrumentation.
fn plain(arguments: &[&str]) -> Command {
    let mut command = cargo();
    command
        .args(["run", "--quiet", "--package", "parsimon-fuzz", "--bin", "fuzz", "--"])
        .args(arguments);
    command
}

fn run_unguided(name: &str, minutes: f64) -> Result<()> {
    println!("{name}: unguided, mutated seeds for {minutes} minutes");
    let folder = work(name);
    std::fs::create_dir_all(&folder)?;
    run(plain(&["run", name, &minutes.to_string(), &folder.display().to_string()]))
}

/// Where inputs that were found are kept between runs.
fn work(name: &str) -> PathBuf {
    Path::new(&target()).join("fuzz").join(name)
}

/// Builds the program around libFuzzer; `None`, with the reason printed, where that is not possible.
fn build_guided() -> Result<Option<PathBuf>> {
    if !works("c++", "--version") {
        println!("unguided: libFuzzer needs a C++ compiler, and there is no c++");
        return Ok(None);
    }
    let folder = Path::new(&target()).join("guided");
    let mut build = cargo();
    build.args(["build", "--package", "parsimon-fuzz", "--bin", "guided", "--features", "guided"]);
    let host = host()?;
    build.args(["--target", &host, "--target-dir"]).arg(&folder);
    build.env("RUSTFLAGS", INSTRUMENTATION.join(" "));
    run(build)?;
    Ok(Some(folder.join(host).join("debug").join("guided")))
}

fn run_guided(program: &Path, name: &str, minutes: f64) -> Result<()> {
    let folder = work(name);
    let (found, seeds) = (folder.join("found"), folder.join("seeds"));
    std::fs::create_dir_all(&found)?;
    run(plain(&["seeds", name, &seeds.display().to_string()]))?;
    println!(
        "{name}: guided by coverage for {minutes} minutes; inputs are kept in {}",
        found.display()
    );
    let mut command = Command::new(program);
    command.env("PARSIMON_FUZZ_TARGET", name);
    command.args([&found, &seeds]);
    command.arg(format!("-max_total_time={}", (minutes * 60.0).ceil()));
    // libFuzzer refuses an empty dictionary; targets without words have one.
    let words = seeds.with_extension("dict");
    if std::fs::metadata(&words).is_ok_and(|file| file.len() > 0) {
        command.arg(format!("-dict={}", words.display()));
    }
    command.arg(format!("-artifact_prefix={}/", folder.display()));
    command.args([
        "-rss_limit_mb=5000",
        "-timeout=120",
        "-max_len=8192",
        "-print_final_stats=1",
        "-verbosity=0",
    ]);
    run(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_minutes_are_needed() {
        assert!(matches!(parse(&["--list"]), Ok(Wanted::List)));
        let wanted = parse(&["csv", "--minutes", "0.5", "--unguided"]);
        assert!(matches!(wanted, Ok(Wanted::Run { name: "csv", minutes: 0.5, is_guided: false })));
        for wrong in [&["csv"][..], &["--minutes", "1"], &["csv", "--minutes", "x"], &["csv", "-m"]]
        {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
