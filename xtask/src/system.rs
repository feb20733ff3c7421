//! Packages of the operating system that some tests need.

use std::process::Command;

use anyhow::{Result, bail};

use crate::command::{run, works};
use crate::{instructions, python};

/// The names under which Chromium is installed; `crates/parsimon-testing/src/browser.rs` looks for the same.
const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// The Debian packages that are not installed.
pub(crate) fn missing() -> Vec<&'static str> {
    let mut packages = Vec::new();
    if !instructions::has_valgrind() {
        packages.push("valgrind");
    }
    if !BROWSERS.iter().any(|name| works(name, "--version")) {
        packages.push("chromium");
    }
    if python::obstacle().is_some() {
        packages.push("python3-venv");
    }
    packages
}

/// Whether this run can install packages: as root where there is apt-get.
pub(crate) fn may_install() -> bool {
    let user = Command::new("id").arg("-u").output();
    user.is_ok_and(|output| output.stdout == b"0\n") && works("apt-get", "--version")
}

/// The command that installs packages, for the reader of the table.
pub(crate) fn command(packages: &[&str]) -> String {
    format!("apt-get update && apt-get install -y {}", packages.join(" "))
}

/// Installs packages.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let mut update = Command::new("apt-get");
    update.args(["update", "-qq"]);
    run(update)?;
    // One by one: a package that this distribution lacks must not keep the others away.
    let mut failed = Vec::new();
    for &package in packages {
        let mut install = Command::new("apt-get");
        install.args(["install", "-qq", "-y", "--no-install-recommends", package]);
        install.env("DEBIAN_FRONTEND", "noninteractive");
        if run(install).is_err() {
            failed.push(package);
        }
    }
    if !failed.is_empty() {
        bail!("apt-get cannot install {}", failed.join(", "));
    }
    Ok(())
}
