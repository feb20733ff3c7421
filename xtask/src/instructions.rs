//! Instructions per feature of the hot loops, against the bounds in `bench/instructions.toml`.
//!
//! valgrind counts the same whatever else the machine does. The counts depend on the processor's features, for the loops have a
//! wide version for AVX2, a little on the C library, whose copies they use, and on the compiler.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::{cargo, run, target, works};

const BOUNDS: &str = "bench/instructions.toml";
/// Rounds of the shorter and of the longer run: the difference is free of the set-up.
const ROUNDS: (u64, u64) = (2, 8);
/// What a loop may take beyond what was measured.
const SLACK: f64 = 1.05;

const HEADER: &str = "\
# Instructions per feature of the hot loops (crates/parsimon-data/examples/loops.rs), counted by valgrind on x86-64 with AVX2.
# `cargo xtask instructions` fails above a bound; `--update` measures and writes this file again. A bound is 5% above what was
# measured. Whoever raises one says why in the commit.
";

/// What to do with the counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bounds {
    Check,
    Update,
}

/// Why nothing can be counted here; `None` when it can.
pub(crate) fn obstacle() -> Option<&'static str> {
    if !has_avx2() {
        return Some("the bounds are for x86-64 with AVX2, which this machine lacks");
    }
    (!has_valgrind()).then_some("valgrind is not installed")
}

pub(crate) fn has_valgrind() -> bool {
    works("valgrind", "--version")
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

/// Counts every loop, and checks or writes the bounds.
pub(crate) fn instructions(bounds: Bounds) -> Result<()> {
    if let Some(obstacle) = obstacle() {
        bail!("instructions are not counted: {obstacle}");
    }
    let program = build()?;
    let counts = loops(&program)?
        .into_iter()
        .map(|(name, features)| {
            let per_feature = count(&program, &name, features)?;
            Ok((name, per_feature))
        })
        .collect::<Result<Vec<_>>>()?;
    match bounds {
        Bounds::Check => check(&counts),
        Bounds::Update => update(&counts),
    }
}

/// Builds the loops and tells where they are. The profile `count` is release for our own code; the format libraries, which
/// the loops never enter, are not optimized, so that they cost little time.
fn build() -> Result<String> {
    let arguments = ["build", "--quiet", "--profile", "count", "-p", "parsimon-data", "--example"];
    let mut command = cargo();
    command.args(arguments).arg("loops");
    run(command)?;
    Ok(format!("{}/count/examples/loops", target()))
}

/// The loops by name, with the features that one round meets.
fn loops(program: &str) -> Result<Vec<(String, u64)>> {
    let output = Command::new(program).output().with_context(|| program.to_owned())?;
    let list = String::from_utf8(output.stdout)?;
    let entry = |line: &str| {
        let (name, features) = line.split_once(' ').context("a loop and its features")?;
        Ok((name.to_owned(), features.parse()?))
    };
    list.lines().map(entry).collect()
}

/// Instructions per feature.
fn count(program: &str, name: &str, features: u64) -> Result<f64> {
    let (short, long) = ROUNDS;
    let extra = collected(program, name, long)? - collected(program, name, short)?;
    Ok(extra as f64 / ((long - short) * features) as f64)
}

fn collected(program: &str, name: &str, rounds: u64) -> Result<i64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", program, name]);
    command.arg(rounds.to_string()).stdin(Stdio::null());
    let output = command.output().context("cannot run valgrind")?;
    let words = String::from_utf8_lossy(&output.stderr);
    let total = words.lines().find_map(|line| line.split_once("Collected : "));
    match total {
        Some((_, number)) if output.status.success() => Ok(number.trim().parse()?),
        _ => bail!("{command:?} failed: {words}"),
    }
}

fn check(counts: &[(String, f64)]) -> Result<()> {
    let text = std::fs::read_to_string(BOUNDS).context(BOUNDS)?;
    let table: toml::Table = text.parse().context(BOUNDS)?;
    let mut above = Vec::new();
    for (name, per_feature) in counts {
        let bound = table.get(name).and_then(|entry| entry.get("bound")?.as_float());
        let Some(bound) = bound else {
            bail!("{BOUNDS} has no bound for {name}: run `cargo xtask instructions --update`")
        };
        println!("   {name:26} {per_feature:7.1} per feature, at most {bound:.1}");
        if *per_feature > bound {
            above.push(name.as_str());
        }
    }
    if !above.is_empty() {
        bail!("more instructions than {BOUNDS} allows: {}", above.join(", "));
    }
    Ok(())
}

fn update(counts: &[(String, f64)]) -> Result<()> {
    let mut text = HEADER.to_owned();
    text.push_str(&format!("# Measured with {}.\n\n", version("rustc")?));
    for (name, per_feature) in counts {
        println!("   {name:26} {per_feature:7.1} per feature");
        let bound = per_feature * SLACK;
        text.push_str(&format!("{name} = {{ measured = {per_feature:.1}, bound = {bound:.1} }}\n"));
    }
    std::fs::write(Path::new(BOUNDS), text).context(BOUNDS)?;
    println!("wrote {BOUNDS}");
    Ok(())
}

fn version(program: &str) -> Result<String> {
    let output = Command::new(program).arg("--version").output().context("cannot run rustc")?;
    let line = String::from_utf8(output.stdout)?;
    Ok(line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
}
