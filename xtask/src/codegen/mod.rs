//! Text that is printed from the code and stands between markers in a document.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::{cargo, output, run, target};
use crate::workspace::packages;

mod algorithms;
mod arrows;
mod papers;
mod unsafe_modules;

/// Whether documents are written or only compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

pub(crate) fn codegen(mode: Mode) -> Result<()> {
    let packages = packages()?;
    let arrows = arrows::table(&packages);
    between_markers(Path::new("ARCHITECTURE.md"), "arrows", &arrows, mode)?;
    let modules = unsafe_modules::table(&packages)?;
    between_markers(Path::new("SECURITY.md"), "unsafe", &modules, mode)?;
    papers::pages(mode)?;
    // The tests have just built the program, and would not share all they built with it alone.
    if mode == Mode::Write {
        let mut build = cargo();
        build.args(["build", "--quiet", "--package", "parsimon-cli"]);
        run(build)?;
    }
    algorithms::pages(mode)?;
    let sets = parsimon(&["data", "list", "--markdown"])?;
    between_markers(Path::new("docs/data.md"), "sets", &sets, mode)?;
    let mut reference = String::new();
    for command in [
        "train",
        "predict",
        "evaluate",
        "calibrate",
        "inspect",
        "merge",
        "compare",
        "tune",
        "identify",
        "cancel",
        "serve",
        "reproduce",
        "data list",
        "data get",
        "algorithms",
        "schema",
        "convert",
        "vw",
        "quickstart",
        "completions",
        "man",
    ] {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = parsimon(&words)?;
        let help: String = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        reference.push_str(&format!("## `parsimon {command}`\n\n```text\n{help}```\n\n"));
    }
    between_markers(Path::new("docs/cli.md"), "reference", reference.trim_end(), mode)
}

/// The program that the tests built.
fn program() -> PathBuf {
    Path::new(&target()).join("debug/parsimon")
}

fn parsimon(arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(program());
    command.args(arguments);
    // The width of the terminal must not show in a document.
    command.env("COLUMNS", "100").stdin(Stdio::null());
    output(command)
}

fn between_markers(path: &Path, name: &str, text: &str, mode: Mode) -> Result<()> {
    let document = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let Some(fresh) = replaced(&document, name, text) else {
        bail!("{} lacks the markers of {name}", path.display())
    };
    write(path, &fresh, mode)
}

/// Writes a document that differs from the file, or refuses it.
fn write(path: &Path, fresh: &str, mode: Mode) -> Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|document| document == fresh) {
        return Ok(());
    }
    if mode == Mode::Check {
        bail!("{} is not up to date: run `cargo xtask codegen`", path.display());
    }
    std::fs::write(path, fresh).with_context(|| path.display().to_string())?;
    println!("wrote {}", path.display());
    Ok(())
}

/// The document with the text between two markers replaced; `None` where it lacks them.
fn replaced(document: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- begin {name} -->"), format!("<!-- end {name} -->"));
    let (head, rest) = document.split_once(&begin)?;
    let (_, tail) = rest.split_once(&end)?;
    Some(format!("{head}{begin}\n{}\n{end}{tail}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let document = "a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n";
        let fresh = "a\n<!-- begin x -->\nnew\n<!-- end x -->\nb\n";
        assert_eq!(replaced(document, "x", "new\n").as_deref(), Some(fresh));
        assert_eq!(replaced(document, "y", "new"), None);
    }
}
