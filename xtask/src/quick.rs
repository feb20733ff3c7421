//! `cargo xtask quick`: format, lints and unit tests of what changed, for the minutes between two edits.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::command::{cargo, output, run};
use crate::table::Table;
use crate::workspace::{affected, packages};

/// The branches a change may be meant for; the first that exists counts.
const BASES: [&str; 4] = ["origin/HEAD", "origin/main", "main", "master"];

pub(crate) fn quick() -> Result<()> {
    let names = affected(&packages()?, &changed()?);
    let mut table = Table::new();
    table.step("format", || {
        let mut format = cargo();
        format.args(["fmt", "--all", "--", "--check"]);
        run(format)
    });
    if names.is_empty() {
        table.not_run("lints and unit tests", "no crate has changed");
        return table.finish();
    }
    let names: Vec<String> = names.into_iter().collect();
    println!("changed, or depending on a change: {}", names.join(", "));
    let chosen = || names.iter().flat_map(|name| ["--package", name]);
    table.step("lints", || {
        let mut lints = cargo();
        lints.arg("clippy").args(chosen()).args(["--all-targets", "--", "-D", "warnings"]);
        run(lints)
    });
    table.step("unit tests", || {
        let mut tests = cargo();
        tests.arg("test").args(chosen()).args(["--lib", "--bins", "--no-fail-fast", "--quiet"]);
        run(tests)
    });
    table.finish()
}

/// The files that differ from where this branch left the main one, and those git does not know yet.
fn changed() -> Result<Vec<PathBuf>> {
    let base = BASES.iter().find_map(|branch| git(&["merge-base", "HEAD", branch]).ok());
    let base = base.as_deref().map_or("HEAD", str::trim);
    let differing = git(&["diff", "--name-only", base])?;
    let unknown = git(&["ls-files", "--others", "--exclude-standard"])?;
    Ok(differing.lines().chain(unknown.lines()).map(PathBuf::from).collect())
}

fn git(arguments: &[&str]) -> Result<String> {
    let mut git = Command::new("git");
    git.args(arguments);
    output(git)
}
