//! Tests of data that is not in the repository. Where the data is absent they are reported as ignored, at run time, which
//! `#[ignore]` cannot do; so they bring their own `main`.

use std::path::PathBuf;

use libtest_mimic::{Arguments, Completion, Trial};

/// A file or folder of the shared data.
pub(crate) fn shared(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name)
}

/// A test, and the files it reads.
pub(crate) fn with_data(
    name: &'static str,
    files: &'static [&'static str],
    test: impl FnOnce() + Send + 'static,
) -> Trial {
    Trial::ignorable_test(name, move || {
        if !shared("").is_dir() {
            return Ok(Completion::ignored_with("needs ../shared/data"));
        }
        if let Some(absent) = files.iter().find(|file| !shared(file).exists()) {
            return Ok(Completion::ignored_with(format!("needs ../shared/data/{absent}")));
        }
        test();
        Ok(Completion::Completed)
    })
}

/// Runs the tests as `cargo test` wants them run.
pub(crate) fn run(trials: Vec<Trial>) {
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
