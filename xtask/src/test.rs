//! `cargo xtask test`: everything there is to check. A step that fails hides no later one.

use anyhow::Result;

use crate::codegen::{self, Mode};
use crate::command::{cargo, run, run_and_look};
use crate::instructions::{self, Bounds};
use crate::table::{LeftOut, Table};
use crate::{dependencies, features, python, system, workflows};

pub(crate) fn test() -> Result<()> {
    let mut table = Table::new();
    system_packages(&mut table);
    table.step("format", || run_cargo(&["fmt", "--all", "--", "--check"]));
    table.step("lints", || {
        run_cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
    });
    table.tests("tests", |left_out| cargo_test(&["--workspace", "--no-fail-fast"], left_out));
    table.step("fewer features", features::check);
    table.step("documentation", || {
        let mut document = cargo();
        document.args(["doc", "--workspace", "--no-deps", "--quiet"]);
        run(with_denied_warnings(document))
    });
    table.step("generated text", || codegen::codegen(Mode::Check));
    workflows::step(&mut table);
    python::steps(&mut table);
    match instructions::obstacle() {
        None => {
            table.step("instructions", || instructions::instructions(Bounds::Check));
        }
        Some(obstacle) => table.not_run("instructions", obstacle),
    }
    dependency_checks(&mut table);
    table.finish()
}

fn system_packages(table: &mut Table) {
    let missing = system::missing();
    if missing.is_empty() {
        return;
    }
    if system::may_install() {
        // What is still missing afterwards is named by the steps that miss it.
        table.preparation("system packages", || system::install(&missing)).ok();
    } else {
        let reason = format!("install them with: {}", system::command(&missing));
        table.not_run("system packages", &reason);
    }
}

fn dependency_checks(table: &mut Table) {
    const CHECKS: &str = "licenses, bans, sources";
    match table.preparation("cargo-deny", dependencies::install) {
        Err(why) => table.not_run(CHECKS, &why),
        Ok(program) => {
            table.step(CHECKS, || dependencies::check(&program, &["licenses", "bans", "sources"]));
            if dependencies::has_advisories(&program) {
                table.step("advisories", || dependencies::check(&program, &["advisories"]));
            } else {
                table.not_run("advisories", "the advisory database cannot be fetched");
            }
        }
    }
}

fn run_cargo(arguments: &[&str]) -> Result<()> {
    let mut command = cargo();
    command.args(arguments);
    run(command)
}

fn with_denied_warnings(mut command: std::process::Command) -> std::process::Command {
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

/// Runs `cargo test` and notes the tests that are ignored.
pub(crate) fn cargo_test(arguments: &[&str], left_out: &mut LeftOut) -> Result<()> {
    let mut command = cargo();
    command.arg("test").args(arguments);
    run_and_look(command, |line| {
        if let Some(reason) = ignored(line) {
            *left_out.entry(reason.to_owned()).or_default() += 1;
        }
    })
}

/// The reason in a line such as `test name ... ignored, needs a browser`, or `(needs a browser)` from tests that decide
/// at run time.
fn ignored(line: &str) -> Option<&str> {
    let (_, rest) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    let in_brackets = || rest.strip_prefix(" (")?.strip_suffix(')');
    Some(rest.strip_prefix(", ").or_else(in_brackets).unwrap_or("ignored without a reason"))
}

#[cfg(test)]
mod tests {
    use super::ignored;

    #[test]
    fn ignored_tests_are_recognized() {
        assert_eq!(ignored("test a::b ... ignored, needs a browser"), Some("needs a browser"));
        assert_eq!(ignored("test a::b ... ignored (needs data)"), Some("needs data"));
        assert_eq!(ignored("test a::b ... ignored"), Some("ignored without a reason"));
        assert_eq!(ignored("test a::b ... ok"), None);
    }
}
