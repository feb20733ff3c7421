//! `cargo xtask sanitize`: Miri over the `unsafe` code that it can run, the address sanitizer over the rest.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::command::{cargo, host, run, target};
use crate::table::Table;

/// What Miri runs: the unit tests of modules with `unsafe`. It has no `madvise`, so large pages are left to the sanitizer.
const MIRI: [(&str, &[&str]); 2] = [
    ("parsimon-core", &["prefetch::", "scattered::", "vector::", "wide::"]),
    ("parsimon-data", &["row_sort::", "separators::"]),
];

/// Without Parquet and Arrow, which take minutes to compile and have none of our `unsafe` code.
const FEW_FEATURES: [&str; 3] = ["--no-default-features", "--features", "zstd"];

/// The package with these features has tests that need the others.
const NEEDS_COLUMNAR: &str = "table_writer::";

/// What the address sanitizer runs.
const SANITIZED: [&str; 2] = ["parsimon-core", "parsimon-data"];

pub(crate) fn sanitize() -> Result<()> {
    let mut table = Table::new();
    let nightly = has_miri();
    for (package, modules) in MIRI {
        let step = format!("Miri, {package}");
        if nightly {
            table.step(&step, || miri(package, modules));
        } else {
            table.not_run(
                &step,
                "no nightly compiler with Miri: rustup +nightly component add miri rust-src",
            );
        }
    }
    for package in SANITIZED {
        table.step(&format!("address sanitizer, {package}"), || address_sanitizer(package));
    }
    table.finish()
}

fn has_miri() -> bool {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "miri", "--version"]);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn miri(package: &str, modules: &[&str]) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "miri", "test", "--package", package, "--lib", "--target-dir"]);
    command.arg(Path::new(&target()).join("miri")).args(features(package)).arg("--").args(modules);
    // A property that holds for a few cases holds for many; Miri is slow.
    command.env("PROPTEST_CASES", "4").env("MIRIFLAGS", "-Zmiri-disable-isolation");
    // Miri's machine has AVX2 only where it is compiled for it; without it the safe twins would run.
    if cfg!(target_arch = "x86_64") {
        command.env("RUSTFLAGS", "-Ctarget-feature=+avx2,+bmi1,+bmi2,+popcnt");
    }
    run(command)
}

fn address_sanitizer(package: &str) -> Result<()> {
    let mut command = cargo();
    command.args(["test", "--package", package, "--lib", "--target", &host()?, "--target-dir"]);
    command.arg(Path::new(&target()).join("sanitized")).args(features(package));
    command.args(["--", "--skip", NEEDS_COLUMNAR]);
    // The flag is not stable, and the compiler's libraries for it are there all the same.
    command.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address");
    run(command)
}

fn features(package: &str) -> &'static [&'static str] {
    if package == "parsimon-data" { &FEW_FEATURES } else { &[] }
}
