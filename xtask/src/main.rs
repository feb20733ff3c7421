//! Chores of the repository, one file each. `cargo xtask test` is what CI runs.

#![allow(clippy::print_stdout, reason = "a chore talks to the person who runs it")]

use std::process::ExitCode;

use anyhow::{Result, bail};

mod archive;
mod codegen;
mod command;
mod dependencies;
mod docs;
mod features;
mod fuzz;
mod instructions;
mod java;
mod python;
mod quick;
mod release;
mod sanitize;
mod system;
mod table;
mod test;
#[cfg(test)]
mod test_files;
mod wheels;
mod workflows;
mod workspace;

use codegen::Mode;
use instructions::Bounds;
use table::Table;

const USAGE: &str = "usage: cargo xtask <test | quick | docs | codegen | instructions [--update] | python | wheels | release --dry-run | fuzz ... | sanitize>

test          format, clippy with warnings denied, all tests, builds with fewer features, documentation, generated text,
              the Python package with Spark and Ray, instructions of the hot loops, licenses and advisories; installs below
              target/ what package registries offer, ends with a table of what ran, and fails if a step failed
quick         format, clippy and unit tests of the crates that changed and of those that depend on them
docs          build the documentation as a site in target/book; installs mdbook below target/ if it is missing
instructions  count the instructions of the hot loops per feature and check them against bench/instructions.toml;
              --update writes that file
fuzz          a target of fuzz/ for some minutes, guided by coverage: cargo xtask fuzz NAME --minutes N; --list lists them
sanitize      Miri over the unsafe code that it can run, the address sanitizer over the rest
python        build the wheel, install it in virtual environments under target/, run python/tests
wheels        build wheels for manylinux2014 and the source distribution into target/wheels, check and install them
release       --dry-run: packs the crates, builds wheels, the static program with its archive and Debian package, checksums and the
              site, and tests exports with the real packages (MLflow, ONNX, skops); the record is target/release-files/release.md
codegen       write generated text into ARCHITECTURE.md, SECURITY.md and docs/";

fn main() -> ExitCode {
    match chore() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{e:#}");
            ExitCode::FAILURE
        }
    }
}

fn chore() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => test::test(),
        ["quick"] => quick::quick(),
        ["docs"] => docs::docs(),
        ["preprocess"] => docs::preprocess(),
        // mdBook asks which renderers are supported; a page is the same for all of them.
        ["preprocess", "supports", _] => Ok(()),
        ["codegen"] => codegen::codegen(Mode::Write),
        ["instructions"] => instructions::instructions(Bounds::Check),
        ["instructions", "--update"] => instructions::instructions(Bounds::Update),
        ["fuzz", ref rest @ ..] => fuzz::fuzz(rest),
        ["sanitize"] => sanitize::sanitize(),
        ["python"] => {
            let mut table = Table::new();
            python::steps(&mut table);
            table.finish()
        }
        ["wheels"] => {
            let mut table = Table::new();
            wheels::steps(&mut table);
            table.finish()
        }
        ["release", "--dry-run"] => release::dry_run(),
        _ => bail!("{USAGE}"),
    }
}
