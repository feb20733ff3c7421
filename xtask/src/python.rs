//! The Python package as its users meet it: a wheel, installed where nothing of ours is.
//!
//! Two virtual environments below `target/python`: one with everything the package works together with, in the newest
//! versions, and one with Spark and Ray, which want older ones of some.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use parsimon_testing::doors;

use crate::command::{output, run, run_and_look, target, works};
use crate::java;
use crate::table::{LeftOut, Table};

/// Tests that start clusters, with an environment of their own.
const CLUSTERS: [&str; 2] = ["python/tests/clusters", "python/tests/slow"];

/// Why the package cannot be built and tested here, if it cannot.
pub(crate) fn obstacle() -> Option<&'static str> {
    let mut ask = Command::new(interpreter());
    ask.args(["-c", "import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))"]);
    let able = ask.stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    (!able).then_some("there is no Python 3.10 or newer with venv")
}

fn interpreter() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".into())
}

/// Builds the wheel and tests it in virtual environments. Needs Python 3.10 or newer, and the network the first time.
pub(crate) fn steps(table: &mut Table) {
    const TESTS: &str = "Python tests";
    const CLUSTER_TESTS: &str = "Spark and Ray tests";
    if let Some(obstacle) = obstacle() {
        table.not_run(TESTS, obstacle);
        return table.not_run(CLUSTER_TESTS, obstacle);
    }
    let folder = PathBuf::from("target/python");
    let tools = table.preparation("maturin from PyPI", || {
        let environment = Environment::create(&folder.join("venv"))?;
        environment.install(&["maturin>=1.9,<2"])?;
        Ok(environment)
    });
    let environment = match tools {
        Ok(environment) => environment,
        Err(why) => {
            table.not_run(TESTS, &why);
            return table.not_run(CLUSTER_TESTS, &why);
        }
    };
    let Some(wheel) = table.step("wheel", || environment.wheel(&folder.join("wheels"))) else {
        table.not_run(TESTS, "there is no wheel");
        return table.not_run(CLUSTER_TESTS, "there is no wheel");
    };
    // The extras of pyproject.toml: what the tests need is listed there and nowhere else.
    let packages = table.preparation("Python packages", || {
        environment.install_wheel(&wheel, "test,plot,progress,river")
    });
    match packages {
        Ok(()) => table.tests(TESTS, |left_out| {
            let mut test = environment.pytest(&["-n", "2"], &folder)?;
            for cluster in CLUSTERS {
                test.arg("--ignore").arg(std::path::absolute(cluster)?);
            }
            test.arg(std::path::absolute("python/tests")?);
            look_for_skips(test, left_out)
        }),
        Err(why) => table.not_run(TESTS, &why),
    }
    let clusters = table.preparation("Spark, Ray and Java", || {
        let environment = Environment::create(&folder.join("clusters"))?;
        environment.install_wheel(&wheel, "test,spark,ray")?;
        let java = java::home(&environment, &folder)?;
        Ok((environment, java))
    });
    match clusters {
        Ok((environment, java)) => table.tests(CLUSTER_TESTS, |left_out| {
            let mut test = environment.pytest(&["--durations=5"], &folder)?;
            if let Some(java) = java {
                test.env("JAVA_HOME", java);
            }
            for cluster in CLUSTERS {
                test.arg(std::path::absolute(cluster)?);
            }
            look_for_skips(test, left_out)
        }),
        Err(why) => table.not_run(CLUSTER_TESTS, &why),
    }
}

/// A virtual environment.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// The environment in a folder, which is made if it is not there.
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        let environment = Self { folder: std::path::absolute(folder)? };
        // An environment whose interpreter was removed since is made anew.
        if !works(&environment.program("python").to_string_lossy(), "--version") {
            let mut create = Command::new(interpreter());
            create.args(["-m", "venv", "--clear"]).arg(folder);
            run(create)?;
        }
        Ok(environment)
    }

    /// A new environment in a folder, with nothing of an earlier one.
    pub(crate) fn create_anew(folder: &Path) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        Self::create(folder)
    }

    /// A program of the environment, which finds the other programs of the environment.
    pub(crate) fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.program(name));
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::iter::once(self.folder.join("bin")).chain(std::env::split_paths(&paths));
        if let Ok(paths) = std::env::join_paths(paths) {
            command.env("PATH", paths);
        }
        command
    }

    fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    pub(crate) fn install(&self, packages: &[&str]) -> Result<()> {
        let mut pip = Command::new(self.program("python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
        run(pip)
    }

    /// What a line of Python prints.
    pub(crate) fn ask(&self, line: &str) -> Result<String> {
        let mut python = Command::new(self.program("python"));
        python.args(["-c", line]);
        Ok(output(python)?.trim().to_owned())
    }

    pub(crate) fn wheel(&self, wheels: &Path) -> Result<String> {
        // A wheel of an earlier build must not be what is tested.
        if wheels.exists() {
            std::fs::remove_dir_all(wheels).with_context(|| wheels.display().to_string())?;
        }
        let mut build = Command::new(self.program("maturin"));
        // The profile of the tests: what they have compiled is not compiled again, and ours is optimized in it.
        build.args(["build", "--locked", "--out"]).arg(wheels);
        run(build)?;
        let mut files = std::fs::read_dir(wheels).with_context(|| wheels.display().to_string())?;
        let file = files.next().with_context(|| format!("no wheel in {}", wheels.display()))?;
        Ok(file?.path().display().to_string())
    }

    pub(crate) fn install_wheel(&self, wheel: &str, extras: &str) -> Result<()> {
        let extras = if extras.is_empty() { String::new() } else { format!("[{extras}]") };
        self.install(&[&format!("{wheel}{extras}")])?;
        // A wheel of the same version from an earlier run would have been left in place.
        self.install(&["--no-index", "--no-deps", "--force-reinstall", wheel])
    }

    pub(crate) fn pytest(&self, options: &[&str], folder: &Path) -> Result<Command> {
        let mut test = Command::new(self.program("python"));
        // From another folder: the package in the tree has no native module and must not be found.
        test.args(["-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"])
            .args(options)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(folder);
        // The program, if it has been built, must read the models written here, and the other way round.
        let program = std::path::absolute(Path::new(&target()).join("debug/parsimon"))?;
        if program.exists() {
            test.env("PARSIMON_PROGRAM", program);
        }
        // The tables that the tests of the program and of the service take through their formats.
        let tables = std::path::absolute(Path::new(&target()).join("same-rows.jsonl"))?;
        let lines: String = doors::tables().iter().map(|t| t.typed_json() + "\n").collect();
        std::fs::write(&tables, lines).with_context(|| tables.display().to_string())?;
        test.env("PARSIMON_SAME_ROWS", tables);
        Ok(test)
    }
}

pub(crate) fn look_for_skips(test: Command, left_out: &mut LeftOut) -> Result<()> {
    run_and_look(test, |line| {
        if let Some((count, reason)) = skipped(line) {
            *left_out.entry(reason.to_owned()).or_default() += count;
        }
    })
}

/// The count and the reason in a line such as `SKIPPED [2] python/tests/test_x.py:12: pip install ray`.
fn skipped(line: &str) -> Option<(usize, &str)> {
    let (count, place) = line.strip_prefix("SKIPPED [")?.split_once("] ")?;
    let reason = place.split_once(": ").map_or(place, |(_, reason)| reason);
    Some((count.parse().ok()?, reason))
}

#[cfg(test)]
mod tests {
    use super::skipped;

    #[test]
    fn skips_of_pytest_are_recognized() {
        let line = "SKIPPED [2] ../python/tests/test_x.py:12: Spark needs: Java";
        assert_eq!(skipped(line), Some((2, "Spark needs: Java")));
        assert_eq!(skipped("5 passed, 1 skipped in 3 s"), None);
    }
}
