//! A machine that allows no further threads: the work is done by those there are, with the same result.

#![cfg(target_os = "linux")]

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::fixture::{Dir, Ran, stream};

/// A user that has no other process. The limit does not bind root.
const POWERLESS: u32 = 65_534;

/// Runs a copy of the program, which any user can reach, under a limit of one thread for its user.
fn alone(dir: &Dir, words: &str) -> Ran {
    let program = dir.path("program");
    if !program.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_parsimon"), &program).unwrap();
    }
    let program = program.display();
    // bash calls the limit -u, dash -p.
    let limit = "ulimit -u 1 2>/dev/null || ulimit -p 1";
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{limit}; exec {program} {words}")]).current_dir(dir.path("."));
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|me| {
        use std::os::unix::fs::MetadataExt;
        me.uid() == 0
    });
    if is_root {
        command.uid(POWERLESS);
    }
    command.output().unwrap().into()
}

#[test]
fn threads_that_cannot_start_are_done_without() {
    let dir = Dir::new();
    dir.write("d.svm", stream(3_000));
    std::fs::set_permissions(dir.path("."), std::fs::Permissions::from_mode(0o777)).unwrap();
    for words in
        ["train d.svm --threads 4", "tune d.svm --threads 4", "compare d.svm -m ftrl -m rda"]
    {
        let name = words.split(' ').next().unwrap();
        let ran = alone(&dir, words);
        assert_eq!(ran.code, 0, "{words}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{name}: {}", ran.stderr);
    }
    alone(&dir, "train d.svm --threads 4 --quiet -o alone.psm").ok();
    dir.run("train d.svm --threads 4 --quiet -o several.psm").ok();
    assert_eq!(dir.read("alone.psm"), dir.read("several.psm"));
}

#[test]
fn a_million_threads_are_bounded_by_the_cores_and_a_line_says_so() {
    let dir = Dir::new();
    dir.write("d.svm", stream(3_000));
    dir.run("train d.svm --threads 1 --quiet -o one.psm").ok();
    for words in [
        "train d.svm --threads 1000000 -o many.psm",
        "tune d.svm --threads 1000000",
        "compare d.svm -m ftrl -m rda --threads 1000000",
        "predict one.psm d.svm --threads 1000000 -o scores.txt",
        "evaluate one.psm d.svm --threads 1000000",
    ] {
        let ran = dir.run(words);
        assert_eq!(ran.code, 0, "{words}: {}", ran.stderr);
        let said = ran.stderr.matches("1000000 threads were requested; ").count();
        assert_eq!(said, 1, "{words}: {}", ran.stderr);
    }
    assert_eq!(dir.read("one.psm"), dir.read("many.psm"));
    let ran = dir.run("client bench --connections 1000000 http://127.0.0.1:1/v1/models/m");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("at most 1000"), "{}", ran.stderr);
}
