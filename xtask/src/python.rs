//! The Python package as its users meet it: a wheel, installed where nothing of ours is.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::run;

/// Builds the wheel and tests it in a fresh virtual environment. Needs Python 3.10 or newer and the network.
pub(crate) fn python() -> Result<()> {
    let folder = Path::new("target/python");
    let wheels = folder.join("wheels");
    // A wheel of an earlier build must not be what is tested.
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).with_context(|| wheels.display().to_string())?;
    }
    let environment = folder.join("venv");
    let interpreter = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    let mut create = Command::new(interpreter);
    create.args(["-m", "venv", "--clear"]).arg(&environment);
    run(create)?;
    let python = environment.join("bin/python");
    pip(&python, &["maturin", "numpy", "scipy", "scikit-learn", "pytest", "pandas"])?;
    let mut build = Command::new(environment.join("bin/maturin"));
    build.args(["build", "--release", "--locked", "--out"]).arg(&wheels);
    run(build)?;
    let wheel = only_file(&wheels)?;
    pip(&python, &["--no-index", "--no-deps", &wheel.display().to_string()])?;
    let mut test = Command::new(std::path::absolute(&python)?);
    // From another folder: the package in the tree has no native module and must not be found.
    test.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(std::path::absolute("python/tests")?)
        .current_dir(folder);
    run(test)
}

fn pip(python: &Path, arguments: &[&str]) -> Result<()> {
    let mut install = Command::new(python);
    install
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
        .args(arguments);
    run(install)
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let file = files.next().with_context(|| format!("no wheel in {}", folder.display()))?;
    Ok(file?.path())
}
