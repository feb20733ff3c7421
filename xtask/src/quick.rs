//! `cargo xtask quick`: format, lints and unit tests of what changed, for the minutes between two edits.
//!
//! The whole workspace is always selected, as in `cargo xtask test`: a part of it would turn on other features of the
//! libraries and compile them once more. Cargo checks again only what changed and what depends on it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use serde_json::Value;

use crate::command::{cargo, output, run};
use crate::table::Table;
use crate::workspace::{Package, affected, packages};

/// The branches a change may be meant for; the first that exists counts.
const BASES: [&str; 4] = ["origin/HEAD", "origin/main", "main", "master"];

pub(crate) fn quick() -> Result<()> {
    let packages = packages()?;
    let names = affected(&packages, &changed()?);
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
    let list: Vec<&str> = names.iter().map(String::as_str).collect();
    println!("changed, or depending on a change: {}", list.join(", "));
    table.step("lints", || {
        let mut lints = cargo();
        lints.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
        run(lints)
    });
    table.step("unit tests", || unit_tests(&packages, &names));
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

/// Builds the unit tests and runs those of the packages named.
fn unit_tests(packages: &[Package], names: &BTreeSet<String>) -> Result<()> {
    let mut build = cargo();
    build.args(["test", "--workspace", "--lib", "--bins", "--no-run"]);
    build.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let built = build.output()?;
    if !built.status.success() {
        bail!("the unit tests do not compile");
    }
    let mut failed = Vec::new();
    for (folder, program) in programs(&String::from_utf8(built.stdout)?) {
        let is_here = |package: &&Package| folder.ends_with(&package.folder);
        let Some(package) = packages.iter().find(is_here) else { continue };
        if !names.contains(&package.name) {
            continue;
        }
        println!("   {}", package.name);
        let mut test = Command::new(program);
        test.arg("--quiet").current_dir(&folder);
        if run(test).is_err() {
            failed.push(package.name.as_str());
        }
    }
    if !failed.is_empty() {
        bail!("unit tests of {} failed", failed.join(", "));
    }
    Ok(())
}

/// The test programs among cargo's messages, each with the folder of its package.
fn programs(messages: &str) -> Vec<(PathBuf, PathBuf)> {
    let program = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        if message["profile"]["test"] != true {
            return None;
        }
        let executable = PathBuf::from(message["executable"].as_str()?);
        let manifest = PathBuf::from(message["manifest_path"].as_str()?);
        Some((manifest.parent()?.to_owned(), executable))
    };
    messages.lines().filter_map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_test_programs_are_run() {
        let messages = r#"{"reason": "compiler-artifact", "manifest_path": "/w/crates/a/Cargo.toml", "profile": {"test": true}, "executable": "/w/target/a-1"}
{"reason": "compiler-artifact", "manifest_path": "/w/crates/b/Cargo.toml", "profile": {"test": false}, "executable": "/w/target/b"}
{"reason": "compiler-artifact", "manifest_path": "/w/crates/c/Cargo.toml", "profile": {"test": true}, "executable": null}
{"reason": "build-finished", "success": true}"#;
        let wanted = [(PathBuf::from("/w/crates/a"), PathBuf::from("/w/target/a-1"))];
        assert_eq!(programs(messages), wanted);
    }
}
