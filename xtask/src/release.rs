//! `cargo xtask release --dry-run`: what is checked before a release and not in every run of the tests.

use std::path::Path;
use std::process::Command;

use crate::command::{cargo, output, run, works};
use crate::python::{Environment, look_for_skips, obstacle};
use crate::table::Table;
use crate::{archive, docs, wheels};

/// Packages of others that models are handed to, and clients of the service.
const PACKAGES: [&str; 8] = [
    "mlflow",
    "onnx",
    "onnxruntime",
    "pytest",
    "schemathesis",
    "skl2onnx",
    "skops",
    "tritonclient[http]",
];

/// Runs every check and writes `target/release-files/release.md`, a record with a line for each step.
pub(crate) fn dry_run() -> anyhow::Result<()> {
    let mut table = Table::new();
    table.step("packed crates", || {
        let mut publish = cargo();
        publish.args(["publish", "--workspace", "--dry-run", "--allow-dirty", "--no-verify"]);
        run(publish)
    });
    public_names(&mut table);
    id_histories(&mut table);
    kills(&mut table);
    table.step("documentation", docs::docs);
    wheels::steps(&mut table);
    let program = archive::steps(&mut table);
    exports(&mut table, program.as_deref());
    write_record(&table)?;
    table.finish()
}

/// Writes the lines of the table with the commit, the compiler and the machine.
fn write_record(table: &Table) -> anyhow::Result<()> {
    let said = |program: &str, arguments: &[&str]| {
        let mut command = Command::new(program);
        command.args(arguments);
        output(command).map(|text| text.trim().to_owned()).unwrap_or_default()
    };
    let lines = [
        format!("# Checks of a release, {}", said("date", &["-u", "+%Y-%m-%d"])),
        format!(
            "Commit {}, {}, {}, {} processors.",
            said("git", &["describe", "--always", "--dirty"]),
            said("rustc", &["--version"]),
            said("uname", &["-sm"]),
            std::thread::available_parallelism().map_or(1, usize::from),
        ),
        table.markdown(),
    ];
    let folder = archive::folder();
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("release.md");
    std::fs::write(&file, lines.join("\n\n"))?;
    println!("\n{}", file.display());
    Ok(())
}

/// Checks the service's table of ids against its model by many more histories than the tests run.
fn id_histories(table: &mut Table) {
    table.step("the table of ids, 100,000 histories", || {
        let mut test = cargo();
        test.args(["test", "--release", "--package", "parsimon-serve", "--lib", "id_check"]);
        test.env("PARSIMON_ID_HISTORIES", "100000");
        run(test)
    });
}

/// Kills a leader and its follower at random, many more times than the tests do.
fn kills(table: &mut Table) {
    table.step("a leader and its follower, 200 kills", || {
        let mut test = cargo();
        test.args(["test", "--release", "--package", "parsimon-cli", "--test", "all"]);
        test.args(["follower::", "--", "--ignored"]);
        run(test)
    });
}

/// Compares the public names of the libraries with those of the last release.
fn public_names(table: &mut Table) {
    const STEP: &str = "public names, beside the last release";
    if !works("cargo-semver-checks", "--version") {
        let reason = "cargo-semver-checks is not installed; cargo install cargo-semver-checks";
        return table.not_run(STEP, reason);
    }
    let mut tag = Command::new("git");
    tag.args(["describe", "--tags", "--abbrev=0", "--match", "v*"]);
    match output(tag) {
        Ok(tag) => {
            table.step(STEP, || {
                let mut check = cargo();
                check.args(["semver-checks", "--workspace", "--baseline-rev", tag.trim()]);
                run(check)
            });
        }
        Err(_) => table.not_run(STEP, "no release to compare with: there is no tag v*"),
    }
}

/// skops, ONNX, MLflow and C, with the real packages and a server; the service with clients of others.
fn exports(table: &mut Table, program: Option<&Path>) {
    const TESTS: &str = "exports with the real packages, clients of the service";
    if let Some(why) = obstacle() {
        return table.not_run(TESTS, why);
    }
    let ready = table.preparation("MLflow, ONNX, skops, Triton and schemathesis from PyPI", || {
        let tools = Environment::create(Path::new("target/python/tools"))?;
        tools.install(&["maturin>=1.9,<2"])?;
        let wheel = tools.wheel(Path::new("target/python/wheels"))?;
        let environment = Environment::create(Path::new("target/python/exports"))?;
        environment.install(&PACKAGES)?;
        environment.install_wheel(&wheel, "")?;
        Ok(environment)
    });
    match ready {
        Ok(environment) => table.tests(TESTS, |left_out| {
            let mut test = environment.pytest(&["--durations=5"], Path::new("target/python"))?;
            test.env("PARSIMON_SERVE", "1");
            if let Some(program) = program {
                test.env("PARSIMON_PROGRAM", program);
            }
            for file in ["test_exports.py", "test_mlflow.py", "test_peers.py"] {
                test.arg(std::path::absolute(Path::new("python/tests").join(file))?);
            }
            look_for_skips(test, left_out)
        }),
        Err(why) => table.not_run(TESTS, &why),
    }
}
