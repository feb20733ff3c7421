//! One target under libFuzzer, chosen by `PARSIMON_FUZZ_TARGET`. `cargo xtask fuzz` builds and runs it.

#![no_main]
#![allow(clippy::print_stderr, reason = "libFuzzer shows what went wrong")]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use parsimon_fuzz::{Target, find, keep_panics, last_panic};

static TARGET: LazyLock<&'static Target> = LazyLock::new(|| {
    let name = std::env::var("PARSIMON_FUZZ_TARGET").unwrap_or_default();
    // The hook of libFuzzer would end the process at a panic that a reader catches.
    keep_panics();
    find(&name).unwrap_or_else(|| panic!("PARSIMON_FUZZ_TARGET names no target: {name:?}"))
});

fuzz_target!(|bytes: &[u8]| {
    let target = *TARGET;
    if std::panic::catch_unwind(|| (target.run)(bytes)).is_err() {
        eprintln!("{}", last_panic());
        std::process::abort();
    }
});
