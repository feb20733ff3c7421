//! Bad input: a clear error with its place, exit code 1 (2 for the command itself), nothing written.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::fixture;

use fixture::{Dir, stream};

/// Trains on some text; gives the error, and checks that an earlier model is untouched.
fn refused(name: &str, text: impl AsRef<[u8]>, flags: &str) -> String {
    let dir = Dir::new();
    dir.write("good.svm", stream(50));
    dir.run("train good.svm -o m.psm").ok();
    let before = dir.read("m.psm");
    dir.write(name, text);
    let error = dir.run(&format!("train {name} -o m.psm {flags} --quiet")).fails(1);
    assert_eq!(dir.read("m.psm"), before, "the earlier model must stay");
    let left: Vec<_> = std::fs::read_dir(dir.path(".")).unwrap().filter_map(Result::ok).collect();
    assert!(left.iter().all(|e| !e.file_name().to_string_lossy().contains("tmp")), "{left:?}");
    error
}

#[test]
fn each_bad_row_has_its_place() {
    let cases = [
        ("1 1:1\n-1 2:nan\n", "bad.svm:2:6: "),
        ("1 1:1\n-1 2:inf\n", "bad.svm:2:6: "),
        ("1 1:1\n-1 2:1e400\n", "bad.svm:2:6: "),
        ("1 7:1 7:2\n", "bad.svm:1:7: "),
        ("1 99999999999:1\n", "bad.svm:1:3: "),
        ("1 1:1\n5 2:1\n", "bad.svm:2:1: "),
        ("1 1:x\n", "bad.svm:1:5: "),
        ("1 oops\n", "bad.svm:1:3: "),
        ("nan 1:1\n", "bad.svm:1:1: "),
    ];
    for (text, place) in cases {
        let error = refused("bad.svm", text, "--classes -1,1");
        assert!(error.starts_with(&format!("error: {place}")), "{text:?}: {error}");
    }
}

#[test]
fn bad_files_are_told_apart() {
    assert!(refused("empty.svm", "", "").contains("empty"));
    let rubbish: Vec<u8> =
        (0..2000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    refused("rubbish.svm", rubbish, "");
    // The first half of a gzip file.
    let dir = Dir::new();
    let error = dir.run("train nowhere.svm").fails(1);
    assert!(error.contains("nowhere.svm"), "{error}");
}

#[test]
fn labels_outside_the_domain() {
    let error = refused("d.svm", "-3 1:1\n", "--loss poisson");
    assert!(error.contains("d.svm:1:1"), "{error}");
    let error = refused("d.svm", "many 1:1\n", "--loss squared");
    assert!(error.contains("many"), "{error}");
}

#[test]
fn bad_rows_can_be_passed_over_and_are_counted() {
    let dir = Dir::new();
    dir.write("d.svm", "1 1:1\n-1 2:nan\n1 3:1\n1 4:1 4:1\n-1 2:1\n");
    let ran = dir.run("train d.svm --skip-bad 2 -o m.psm");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("skipped 2 bad rows"), "{}", ran.stderr);
    assert!(ran.stderr.contains("d.svm:2:6"), "{}", ran.stderr);
    let error = dir.run("train d.svm --skip-bad 1 --quiet").fails(1);
    assert!(error.contains("d.svm:4"), "{error}");
}

#[test]
fn a_row_of_ten_million_features() {
    let dir = Dir::new();
    let mut row = String::from("1");
    (1..=10_000_000).for_each(|j| row.push_str(&format!(" {j}:1")));
    dir.write("d.svm", format!("{row}\n-1 5:1\n"));
    dir.run("train d.svm -o m.psm --quiet").ok();
}

#[test]
fn an_absurd_index_costs_one_entry() {
    let dir = Dir::new();
    dir.write("d.svm", "1 4294967294:1\n-1 3:1\n1 4294967294:1\n");
    dir.run("train d.svm -o m.psm --l1 0 --quiet").ok();
    let weights = dir.run("inspect m.psm --weights json").json();
    assert!(weights["weights"]["4294967294"].as_f64().unwrap() > 0.0);
}

#[test]
fn divergence_is_said_and_nothing_is_saved() {
    let error = refused(
        "d.svm",
        "1 1:1000 2:3\n".repeat(400),
        "-a sgd --loss squared --rate 10 --schedule constant",
    );
    assert!(error.contains("likely reason: the rate 10 is too large"), "{error}");
    assert!(error.contains("--rate 1,"), "{error}");
}

#[test]
fn damaged_models_and_foreign_files() {
    let dir = Dir::new();
    dir.write("d.svm", stream(50));
    dir.run("train d.svm -o m.psm --checkpoint c.ckpt --quiet").ok();
    let good = dir.read("m.psm");
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 4;
    dir.write("flipped.psm", &flipped).write("torn.psm", &good[..good.len() - 9]);
    let error = |words: &str| dir.run(words).fails(1);
    assert!(error("predict flipped.psm d.svm").contains("checksum"));
    assert!(error("predict torn.psm d.svm").contains("checksum"));
    assert!(error("predict d.svm d.svm").contains("is not a parsimon model or checkpoint"));
    assert!(error("predict c.ckpt d.svm").contains("is a checkpoint, not a model"));
    assert!(error("train d.svm --resume m.psm").contains("is a model, not a checkpoint"));
}

#[test]
fn wrong_commands_are_usage_errors_that_help() {
    let dir = Dir::new();
    dir.write("d.svm", stream(20));
    let usage = |words: &str| dir.run(words).fails(2);
    assert!(usage("train d.svm -a ftlr").contains("did you mean \"ftrl\"?"));
    assert!(usage("train d.svm -a adam --l1 0.1").contains("adam has no setting \"l1\""));
    assert!(usage("train d.svm --l1 -0.5").contains("l1 must be a finite number >= 0, got -0.5"));
    assert!(usage("train d.svm --lone 1").contains("--l"));
    dir.write("s.json", r#"{"algorithm": "rda", "lamda": 1}"#);
    assert!(usage("train d.svm --spec s.json").contains("rda has no setting \"lamda\""));
    dir.write("s.json", r#"{"algorithm": "rda", "lambda": 1, "l1": 2}"#);
    assert!(usage("train d.svm --spec s.json").contains("l1 is set twice, once as lambda"));
    assert!(usage("train - -a sgd --schedule two-phase").contains("pass --switch"));
    assert!(usage("train - -a papa").contains("pass --dimension"));
    assert!(usage("train d.svm -a nlms --rate 2").contains("rate must be a number > 0 and < 2"));
    assert!(usage("train - --passes 2").contains("read once"));
}

#[test]
fn a_broken_pipe_is_a_success() {
    use std::process::{Command, Stdio};
    let dir = Dir::new();
    dir.write("d.svm", stream(5000));
    dir.run("train d.svm -o m.psm --quiet").ok();
    let mut child = Command::new(env!("CARGO_BIN_EXE_parsimon"))
        .args(["predict", "m.psm", "d.svm"])
        .current_dir(dir.path("."))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn an_output_never_overwrites_an_input() {
    let dir = Dir::new();
    dir.write("d.svm", stream(50)).write("t.svm", stream(20));
    dir.write("s.json", r#"{"algorithm": "nlms"}"#);
    dir.run("train d.svm -o m.psm --quiet").ok();
    let (data, model) = (dir.read("d.svm"), dir.read("m.psm"));
    for words in [
        "train d.svm -o d.svm",
        "train d.svm -o x --json x",
        "convert d.svm -o ./d.svm",
        "predict m.psm d.svm -o d.svm",
        "predict m.psm d.svm -o m.psm",
        "evaluate m.psm d.svm --json d.svm",
        "evaluate m.psm d.svm --json m.psm",
        "compare d.svm -m ftrl:l1=1 --json d.svm",
        "compare d.svm -m ftrl:l1=1 --test t.svm --plot t.svm",
        "train d.svm --spec s.json -o s.json",
        "identify --synthetic n=10,samples=100 --spec s.json --json s.json",
    ] {
        let error = dir.run(words).fails(2);
        assert!(error.contains("would be overwritten"), "{words}: {error}");
    }
    assert_eq!((dir.read("d.svm"), dir.read("m.psm")), (data, model));
    let error = dir.run("train d.svm -o nowhere/m.psm").fails(1);
    assert!(error.contains("folder does not exist"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_are_followed_when_writing() {
    let dir = Dir::new();
    dir.write("d.svm", stream(50)).write("real.psm", "");
    std::os::unix::fs::symlink(dir.path("real.psm"), dir.path("link.psm")).unwrap();
    dir.run("train d.svm -o link.psm --quiet").ok();
    assert!(std::fs::symlink_metadata(dir.path("link.psm")).unwrap().is_symlink());
    assert!(dir.read("real.psm").starts_with(b"PARSIMON"));
    dir.run("convert d.svm -o link.psm").ok();
    assert!(std::fs::symlink_metadata(dir.path("link.psm")).unwrap().is_symlink());
    let error = dir.run("convert d.svm -o /dev/null").fails(1);
    assert!(error.contains("is not a file"), "{error}");
    dir.run("train d.svm -o /dev/null --quiet").ok();
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

/// Runs the program by a shell, for redirections.
#[cfg(unix)]
fn shell(dir: &Dir, script: &str) -> fixture::Ran {
    let mut command = std::process::Command::new("sh");
    command.env("P", env!("CARGO_BIN_EXE_parsimon")).current_dir(dir.path("."));
    command.args(["-c", script]).output().unwrap().into()
}

#[cfg(unix)]
#[test]
fn an_input_is_known_by_the_file_not_by_its_name() {
    let dir = Dir::new();
    dir.write("in", stream(50)).write("t.svm", stream(20));
    dir.write("s.json", r#"{"algorithm": "nlms"}"#);
    dir.run("train in -o m.psm --checkpoint c --quiet").ok();
    std::fs::hard_link(dir.path("in"), dir.path("hard")).unwrap();
    for (link, file) in [("soft", "in"), ("t.link", "t.svm"), ("s.link", "s.json"), ("c.link", "c")]
    {
        std::os::unix::fs::symlink(file, dir.path(link)).unwrap();
    }
    let files = ["in", "t.svm", "s.json", "m.psm", "c"];
    let before = files.map(|name| dir.read(name));
    for (words, collision) in [
        ("train in -o hard", "hard: cannot be written: --output is the same file as DATA in, "),
        ("train in -o soft", "soft: cannot be written: --output is the same file as DATA in, "),
        ("train in --checkpoint soft", "--checkpoint is the same file as DATA in, "),
        ("train in --test t.svm --json t.link", "--json is the same file as --test t.svm, "),
        ("train in --spec s.json --plot s.link", "--plot is the same file as --spec s.json, "),
        ("train in --resume c -o c", "--output is the same file as --resume c, "),
        ("train in --resume c --checkpoint c -o c.link", "--output is the same file as --"),
        ("train in -o new --json ./new", "--json is the same file as --output new, "),
        ("predict m.psm in -o hard", "--output is the same file as DATA in, "),
        ("merge c --out c.link", "--out is the same file as CHECKPOINT c, "),
        ("compare in -m ftrl:l1=1 --html soft", "--html is the same file as DATA in, "),
    ] {
        let error = dir.run(words).fails(2);
        assert!(error.contains(collision), "{words}: {error}");
        assert!(error.contains("would be overwritten; choose another file for"), "{error}");
    }
    for script in
        ["$P train - -o in < in", "$P train - -o soft < in", "cat in | $P predict m.psm - >> m.psm"]
    {
        let error = shell(&dir, script).fails(2);
        assert!(error.contains("would be overwritten"), "{script}: {error}");
    }
    let error = shell(&dir, "$P train - -o in < in").fails(2);
    assert!(error.contains("--output is the same file as the file on standard input"), "{error}");
    assert_eq!(files.map(|name| dir.read(name)), before);
    let error = dir.run("merge c c.link --out merged").fails(2);
    assert!(error.contains("is named twice"), "{error}");
    // A checkpoint is continued in place; what is only piped in has no name to collide with.
    dir.run("train in --resume c --checkpoint c --skip 0 --quiet").ok();
    assert_ne!(dir.read("c"), before[4]);
    shell(&dir, "cat in | $P train - -o in --classes=-1,1 --quiet").ok();
}

#[cfg(unix)]
#[test]
fn permissions_are_kept_and_read_only_files_too() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    let dir = Dir::new();
    dir.write("d.svm", stream(50));
    let mode = |name: &str| std::fs::metadata(dir.path(name)).unwrap().permissions().mode() & 0o777;
    let set = |name: &str, mode: u32| {
        std::fs::set_permissions(dir.path(name), Permissions::from_mode(mode)).unwrap();
    };
    let train = "$P train d.svm -o m.psm --checkpoint c --json j --plot p.svg --quiet";
    shell(&dir, &format!("umask 027; {train}; $P convert d.svm -o d.psc")).ok();
    let files = ["m.psm", "c", "j", "p.svg", "d.psc"];
    assert_eq!(files.map(mode), [0o640; 5]);
    files.iter().for_each(|name| set(name, 0o600));
    shell(&dir, &format!("umask 022; {train}; $P convert d.svm -o d.psc")).ok();
    assert_eq!(files.map(mode), [0o600; 5]);
    files.iter().for_each(|name| set(name, 0o444));
    let before = files.map(|name| dir.read(name));
    for words in [
        "train d.svm -o m.psm",
        "train d.svm --checkpoint c",
        "train d.svm --json j",
        "train d.svm --plot p.svg",
        "convert d.svm -o d.psc",
    ] {
        let error = dir.run(words).fails(1);
        assert!(error.contains("the file is read-only; make it writable"), "{words}: {error}");
    }
    assert_eq!(files.map(|name| dir.read(name)), before);
    let left = std::fs::read_dir(dir.path(".")).unwrap().count();
    assert_eq!(left, 1 + files.len(), "a temporary file was left");
}

#[cfg(unix)]
#[test]
fn pipes_and_standard_output_by_name_are_written_directly() {
    let dir = Dir::new();
    dir.write("d.svm", stream(50));
    dir.run("train d.svm -o m.psm --quiet").ok();
    let expected = dir.run("predict m.psm d.svm").ok();
    let named = dir.run("predict m.psm d.svm -o /dev/stdout").ok();
    assert_eq!(named, expected);
    let script = "mkfifo f; cat f > copy & $P predict m.psm d.svm -o f && wait && cat copy";
    assert_eq!(shell(&dir, script).ok(), expected);
    // What others append to is appended to, as a shell would.
    let script = "echo first > log; $P predict m.psm d.svm -o /dev/stdout >> log; cat log";
    assert_eq!(shell(&dir, script).ok(), format!("first\n{expected}"));
    // The reader closes the pipe early: the program ends quietly with success, whatever the pipe is called.
    dir.write("long.svm", stream(10_000));
    for script in [
        "mkfifo g; head -c 1 g > /dev/null & $P predict m.psm long.svm -o g; echo $?",
        "($P predict m.psm long.svm -o /dev/stdout; echo $? >&2) | head -c 1 > /dev/null",
    ] {
        let ran = shell(&dir, script);
        assert_eq!((ran.stdout + &ran.stderr).trim(), "0", "{script}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_with_the_file() {
    let dir = Dir::new();
    dir.write("d.svm", stream(50));
    dir.run("train d.svm -o m.psm --quiet").ok();
    for words in [
        "predict m.psm d.svm -o /dev/full",
        "train d.svm -o /dev/full --quiet",
        "train d.svm --json /dev/full --quiet",
    ] {
        let error = dir.run(words).fails(1);
        assert!(error.contains("/dev/full: cannot be written: no space left"), "{words}: {error}");
    }
}

#[test]
fn flags_that_would_be_ignored_are_refused() {
    let dir = Dir::new();
    dir.write("d.svm", stream(50));
    dir.run("train d.svm -o m.psm --quiet").ok();
    let usage = |words: &str| dir.run(words).fails(2);
    assert!(usage("predict m.psm d.svm -b 10").contains("--bits is an option of train"));
    assert!(usage("compare d.svm --l1 3").contains("-m name:l1="));
}
