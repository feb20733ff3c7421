//! The Python package as its users meet it: a wheel, installed where nothing of ours is.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::{run, timed};

/// What the tests use, beside the package: everything it can work together with.
const TOOLS: [&str; 13] = [
    "maturin>=1.9,<2",
    "numpy",
    "scipy",
    "scikit-learn",
    "pytest",
    "pytest-xdist",
    "pandas",
    "polars",
    "pyarrow",
    "river",
    "matplotlib",
    "tqdm",
    "mypy",
];

/// What the tests of `parsimon.spark` use; hundreds of megabytes, and only where there is a Java runtime.
const SPARK: [&str; 2] = ["pyspark>=4,<5", "pandas<3"];

/// Why the package cannot be built and tested here, if it cannot.
pub(crate) fn obstacle() -> Option<&'static str> {
    let mut ask = Command::new(interpreter());
    ask.args(["-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))"]);
    let able = ask.stderr(std::process::Stdio::null()).status().is_ok_and(|s| s.success());
    (!able).then_some("there is no Python 3.10 or newer with venv")
}

fn has_java() -> bool {
    Command::new("java").arg("-version").output().is_ok_and(|o| o.status.success())
}

fn interpreter() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".into())
}

/// Builds the wheel and tests it in a virtual environment of its own. Needs Python 3.10 or newer, and the network the first time.
/// With `spark`, `parsimon.spark` is tested too where Java is installed.
pub(crate) fn python(spark: bool) -> Result<()> {
    let folder = Path::new("target/python");
    let wheels = folder.join("wheels");
    // A wheel of an earlier build must not be what is tested.
    if wheels.exists() {
        std::fs::remove_dir_all(&wheels).with_context(|| wheels.display().to_string())?;
    }
    let environment = folder.join("venv");
    let python = environment.join("bin/python");
    if !python.exists() {
        let mut create = Command::new(interpreter());
        create.args(["-m", "venv", "--clear"]).arg(&environment);
        run(create)?;
    }
    let mut tools = TOOLS.to_vec();
    if spark && has_java() {
        tools.extend(SPARK);
    } else {
        println!("   Spark is not tested: no Java runtime, or no time");
    }
    timed("pip", || pip(&python, &tools))?;
    let mut build = Command::new(environment.join("bin/maturin"));
    // The profile of the tests: what they have compiled is not compiled again, and ours is optimized in it.
    build.args(["build", "--locked", "--out"]).arg(&wheels);
    timed("wheel", || run(build))?;
    let wheel = only_file(&wheels)?.display().to_string();
    pip(&python, &["--no-index", "--no-deps", "--force-reinstall", &wheel])?;
    timed("pytest", || test(&python, folder))
}

fn test(python: &Path, folder: &Path) -> Result<()> {
    let mut test = Command::new(std::path::absolute(python)?);
    // From another folder: the package in the tree has no native module and must not be found.
    test.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "--ignore"])
        .arg(std::path::absolute("python/tests/slow")?)
        .arg(std::path::absolute("python/tests")?)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder);
    // The program, if it has been built, must read the models written here, and the other way round.
    let program = std::path::absolute("target/debug/parsimon")?;
    if program.exists() {
        test.env("PARSIMON_PROGRAM", program);
    }
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
