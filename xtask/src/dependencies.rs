//! Licenses, sources and known faults of the crates this workspace depends on, by cargo-deny.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::command::{cargo, run, target, works};

/// The cargo-deny of the machine, or one that was installed below the target folder.
fn installed() -> Option<PathBuf> {
    let own = Path::new(&target()).join("tools/bin/cargo-deny");
    let candidates = [PathBuf::from("cargo-deny"), own];
    candidates.into_iter().find(|path| works(&path.to_string_lossy(), "--version"))
}

/// Finds cargo-deny, or installs it below the target folder, which takes minutes.
pub(crate) fn install() -> Result<PathBuf> {
    if let Some(program) = installed() {
        return Ok(program);
    }
    let tools = Path::new(&target()).join("tools");
    let mut install = cargo();
    install.args(["install", "--quiet", "--locked", "--root"]).arg(&tools);
    install.arg("cargo-deny");
    run(install)?;
    Ok(tools.join("bin/cargo-deny"))
}

/// Whether the database of advisories can be read, fetched anew where there is a network.
pub(crate) fn has_advisories(program: &Path) -> bool {
    let mut fetch = Command::new(program);
    fetch.args(["fetch", "db"]).stdout(Stdio::null()).stderr(Stdio::null());
    fetch.status().is_ok_and(|status| status.success())
}

/// Runs the checks named.
pub(crate) fn check(program: &Path, checks: &[&str]) -> Result<()> {
    let mut deny = Command::new(program);
    deny.args(["--log-level", "error", "check"]).args(checks);
    run(deny)
}
