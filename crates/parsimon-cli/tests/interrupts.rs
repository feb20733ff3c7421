//! Signals: what was learned is saved, nothing half-written stays behind.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::fixture::{Dir, Ran, stream};

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(done.unwrap().success());
}

/// Gives a program the default answer to Ctrl-C: background jobs of a shell ignore it, and so would their children.
#[allow(unsafe_code, reason = "the standard library has no signals")]
pub(crate) fn hears_interrupts(command: &mut Command) -> &mut Command {
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        })
    }
}

/// Starts a command that reads rows from a pipe which stays open, and waits until some were learned.
fn learning(dir: &Dir, words: &str) -> Child {
    let mut command = dir.command(words);
    let piped = hears_interrupts(&mut command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(stream(300).as_bytes()).unwrap();
    child
}

fn end(child: Child) -> Ran {
    child.wait_with_output().unwrap().into()
}

/// Waits for a line of standard error.
fn wait_for(child: &mut Child, text: &str) {
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(text)));
}

#[test]
fn what_was_learned_is_saved() {
    for (name, code, word) in [("-INT", 130, "interrupted"), ("-TERM", 143, "terminated")] {
        let dir = Dir::new();
        let words = "train - -a ftrl -o m.psm --checkpoint c.ckpt --progress 100 --predictions p";
        let mut child = learning(&dir, words);
        wait_for(&mut child, " 200 ");
        signal(&child, name);
        let mut stdin = child.stdin.take();
        let error = end(child).fails(code);
        // Standard input was open all the time.
        stdin.take();
        let last = error.lines().last().unwrap();
        assert!(last.starts_with(&format!("{word}: learned ")), "{last}");
        assert!(last.contains("model m.psm, checkpoint c.ckpt"), "{last}");
        let rows = dir.run("inspect m.psm --json").json()["provenance"]["rows"].as_u64().unwrap();
        assert!((200..=300).contains(&rows), "{rows}");
        assert_eq!(String::from_utf8(dir.read("p")).unwrap().lines().count() as u64, rows);
        dir.write("more.svm", stream(10));
        dir.run("train more.svm --resume c.ckpt --quiet").ok();
    }
}

#[test]
fn a_signal_before_the_first_row_ends_at_once() {
    let dir = Dir::new();
    for words in ["train - -o m.psm", "compare - -m ftrl", "tune - -o m.psm", "train pipe -o m.psm"]
    {
        let made = Command::new("mkfifo").arg(dir.path("pipe")).status();
        assert!(made.is_ok());
        let mut command = dir.command(words);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The program may not have begun to wait for signals; it is not ended by them before it has.
        std::thread::sleep(std::time::Duration::from_millis(300));
        signal(&child, "-TERM");
        let stdin = child.stdin.take();
        let error = end(child).fails(143);
        drop(stdin);
        assert_eq!(error, "terminated: no row was learned, nothing was saved", "{words}");
        assert!(!dir.has("m.psm"));
    }
}

#[test]
fn comparisons_report_what_they_have() {
    let dir = Dir::new();
    for words in ["compare - -m ftrl -m sgd", "tune - -o m.psm"] {
        let mut child = learning(&dir, &format!("{words} --classes -1,1"));
        if words.starts_with("tune") {
            wait_for(&mut child, " 256 ");
        } else {
            std::thread::sleep(std::time::Duration::from_millis(500));
        }
        signal(&child, "-TERM");
        let stdin = child.stdin.take();
        let ran = end(child);
        drop(stdin);
        assert_eq!(ran.code, 143, "{}", ran.stderr);
        assert!(ran.stdout.contains("constant"), "{}", ran.stdout);
        assert!(ran.stderr.contains("terminated: the results are of the first"), "{}", ran.stderr);
    }
    assert!(dir.has("m.psm"));
}

#[test]
fn commands_that_cannot_save_leave_no_temporary_files() {
    let dir = Dir::new();
    dir.write("d.svm", stream(100));
    dir.run("train d.svm -o m.psm --quiet").ok();
    let child = learning(&dir, "predict m.psm - -o out");
    let is_begun = || {
        let files = std::fs::read_dir(dir.path(".")).unwrap().filter_map(Result::ok);
        files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with(".parsimon-"))
    };
    while !is_begun() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    signal(&child, "-TERM");
    assert_eq!(end(child).code, 143);
    assert!(!is_begun() && !dir.has("out"));
}
