//! Chores of the repository: `cargo xtask test` is what CI runs, `cargo xtask codegen` refreshes generated text,
//! `cargo xtask instructions` counts what the hot loops cost, `cargo xtask python` builds and tests the Python package.

#![allow(clippy::print_stdout, reason = "a chore talks to the person who runs it")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

mod instructions;
mod python;

use instructions::{Bounds, instructions};

const USAGE: &str = "usage: cargo xtask <test | codegen | instructions [--update] | python>

test          fmt, clippy with warnings denied, all tests, documentation, generated text; instructions if valgrind is
              installed, the Python package if Python is, licenses if cargo-deny is
instructions  count the instructions of the hot loops per feature and check them against bench/instructions.toml;
              --update writes that file
python        build the wheel, install it in a virtual environment under target/, run python/tests
codegen       write the algorithm table into README.md, the data sets into docs/data.md and the command reference into docs/cli.md";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => test(),
        ["codegen"] => codegen(Mode::Write),
        ["instructions"] => instructions(Bounds::Check),
        ["instructions", "--update"] => instructions(Bounds::Update),
        ["python"] => timed("python", || python::python(true)),
        _ => bail!("{USAGE}"),
    }
}

/// A machine that took so long for the rest has no time for what builds once more.
const PATIENCE: Duration = Duration::from_secs(13 * 60);
/// Nor for installing Spark.
const HURRY: Duration = Duration::from_secs(10 * 60);

fn test() -> Result<()> {
    let start = Instant::now();
    step("format", &["fmt", "--all", "--", "--check"])?;
    step("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    step("tests", &["test", "--workspace"])?;
    let documentation = ["doc", "--workspace", "--no-deps", "--quiet"];
    step_with("documentation", &documentation, &[("RUSTDOCFLAGS", "-D warnings")])?;
    println!("== generated text");
    codegen(Mode::Check)?;
    let slow = || (start.elapsed() > PATIENCE).then_some("this machine is slow today");
    match python::obstacle().or_else(slow) {
        None => timed("python", || python::python(start.elapsed() < HURRY))?,
        Some(obstacle) => println!("== the Python package was not tested: {obstacle}"),
    }
    match instructions::obstacle().or_else(slow) {
        None => timed("instructions of the hot loops", || instructions(Bounds::Check))?,
        Some(obstacle) => println!("== instructions of the hot loops not counted: {obstacle}"),
    }
    if Command::new("cargo-deny").arg("--version").output().is_ok_and(|o| o.status.success()) {
        step("licenses and advisories", &["deny", "check", "licenses", "bans", "sources"])?;
    } else {
        println!("== cargo-deny is not installed: licenses and sources not checked");
    }
    Ok(())
}

fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

fn step(name: &str, arguments: &[&str]) -> Result<()> {
    step_with(name, arguments, &[])
}

fn step_with(name: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    let mut command = Command::new(cargo());
    command.args(arguments).envs(variables.iter().copied());
    timed(name, || run(command))
}

fn timed(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("== {name}");
    let start = Instant::now();
    work()?;
    println!("   {:.0} s", start.elapsed().as_secs_f64());
    Ok(())
}

fn run(mut command: Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed");
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Write,
    Check,
}

/// Text that is printed from the code and stands between markers in a document.
fn codegen(mode: Mode) -> Result<()> {
    // The tests have just built the program, and would not share all they built with it alone.
    if mode == Mode::Write {
        let mut build = Command::new(cargo());
        build.args(["build", "--quiet", "--package", "parsimon-cli"]);
        run(build)?;
    }
    let table = parsimon(&["algorithms", "--markdown"])?;
    between_markers(Path::new("README.md"), "algorithms", &table, mode)?;
    let sets = parsimon(&["data", "list", "--markdown"])?;
    between_markers(Path::new("docs/data.md"), "sets", &sets, mode)?;
    let mut reference = String::new();
    for command in [
        "train",
        "predict",
        "evaluate",
        "inspect",
        "merge",
        "compare",
        "tune",
        "identify",
        "cancel",
        "reproduce",
        "data list",
        "data get",
        "algorithms",
        "convert",
        "quickstart",
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = parsimon(&words)?;
        let help: String = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        reference.push_str(&format!("## `parsimon {command}`\n\n```text\n{help}```\n\n"));
    }
    between_markers(Path::new("docs/cli.md"), "reference", reference.trim_end(), mode)
}

fn parsimon(arguments: &[&str]) -> Result<String> {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    let mut command = Command::new(Path::new(&target).join("debug/parsimon"));
    command.args(arguments);
    // The width of the terminal must not show in a document.
    command.env("COLUMNS", "100").stdin(Stdio::null());
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn between_markers(path: &Path, name: &str, text: &str, mode: Mode) -> Result<()> {
    let document = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let (begin, end) = (format!("<!-- begin {name} -->"), format!("<!-- end {name} -->"));
    let parts = document.split_once(&begin).and_then(|(head, rest)| {
        let (_, tail) = rest.split_once(&end)?;
        Some((head, tail))
    });
    let Some((head, tail)) = parts else { bail!("{} lacks the markers of {name}", path.display()) };
    let fresh = format!("{head}{begin}\n{}\n{end}{tail}", text.trim_end());
    if fresh == document {
        return Ok(());
    }
    if mode == Mode::Check {
        bail!("{} is not up to date: run `cargo xtask codegen`", path.display());
    }
    std::fs::write(path, fresh).with_context(|| path.display().to_string())?;
    println!("wrote {}", path.display());
    Ok(())
}
