//! Every command that writes, with every one of its operations on files failing once.
//!
//! A debug build counts its operations and lets one fail (`PARSIMON_FAULT`, see `parsimon-files/src/disk.rs`). Whatever fails, an earlier
//! output is whole, no temporary file is left, the exit code is not 0 and the message names the file. A short read or write is no
//! failure: the outputs are those of an undisturbed run.

#![cfg(debug_assertions)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::fixture;

use fixture::{Dir, Ran, stream};
use parsimon_audio::wav::{self, SampleFormat};
use parsimon_testing::Lcg64;

/// The outputs of a command, by name, with their bytes.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Every file below a folder.
fn files(folder: &Path) -> Files {
    let mut found = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_owned();
                    found.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

/// One operation of an undisturbed run: what it does, and to which file.
struct Operation {
    what: String,
    file: String,
}

struct Case {
    dir: Dir,
    words: String,
    /// The files before the command.
    before: Files,
    /// The files after an undisturbed run.
    after: Files,
    operations: Vec<Operation>,
    /// Outputs that hold the time, so that two runs differ.
    varies: &'static [&'static str],
}

impl Case {
    fn new(dir: Dir, words: &str, varies: &'static [&'static str]) -> Self {
        let before = files(&dir.path("."));
        let (ran, operations) = run(&dir, words, None);
        ran.ok();
        let operations = operations.into_values().collect();
        let after = files(&dir.path("."));
        Self { dir, words: words.into(), before, after, operations, varies }
    }

    /// Puts the files back.
    fn reset(&self) {
        for name in files(&self.dir.path(".")).keys() {
            std::fs::remove_file(self.dir.path(name.to_str().unwrap())).unwrap();
        }
        for (name, bytes) in &self.before {
            self.dir.write(name.to_str().unwrap(), bytes);
        }
    }

    fn varies(&self, name: &Path) -> bool {
        self.varies.iter().any(|end| name.to_str().unwrap().ends_with(end))
    }

    /// Lets operation `n`, counted from 1, fail in one way.
    fn check(&self, n: usize, fault: &str) {
        self.reset();
        let (ran, operations) = run(&self.dir, &self.words, Some(&format!("{n}:{fault}")));
        // Threads may have come in another order, and done less.
        let Some(Operation { what, file }) = operations.get(&n) else {
            assert_eq!(ran.code, 0, "{}: {}", self.words, ran.stderr);
            return;
        };
        let about = format!("{} with {fault} in {what} {file}: {}", self.words, ran.stderr);
        let found = files(&self.dir.path("."));
        for (name, bytes) in &found {
            let known = [&self.before, &self.after].iter().any(|all| all.get(name) == Some(bytes));
            let is_new_and_varies = self.after.contains_key(name) && self.varies(name);
            assert!(known || is_new_and_varies, "{} is not whole: {about}", name.display());
        }
        for name in self.before.keys() {
            assert!(found.contains_key(name), "{} is lost: {about}", name.display());
        }
        if fault == "short" {
            assert_eq!(ran.code, 0, "{about}");
            assert_eq!(found.keys().collect::<Vec<_>>(), self.after.keys().collect::<Vec<_>>());
            return;
        }
        // Trials are kept for convenience. A file may be opened twice: a look at its beginning needs no more than that.
        let is_needless = file.contains("trials") || ["Open", "Read"].contains(&what.as_str());
        if ran.code == 0 && is_needless {
            for (name, bytes) in &self.after {
                let is_kept = name.to_str().unwrap().contains("trials");
                let is_same = found.get(name) == Some(bytes);
                assert!(is_same || is_kept || self.varies(name), "{}: {about}", name.display());
            }
            return;
        }
        assert!(ran.code == 1 || ran.code == 2, "{about}");
        assert!(ran.stderr.contains(file.as_str()), "{about}");
        assert!(ran.stderr.contains("(injected)"), "{about}");
    }

    /// Lets every operation fail in every way; of many reads or writes of one file in a row, the first, the second and the last.
    fn check_all(&self) {
        let same = |a: &Operation, b: &Operation| a.what == b.what && a.file == b.file;
        let all = &self.operations;
        for n in 1..=all.len() {
            let repeats = |k: usize| k >= 1 && k < all.len() && same(&all[k], &all[k - 1]);
            let is_inside = repeats(n - 1) && repeats(n) && n >= 2 && repeats(n.saturating_sub(2));
            if is_inside {
                continue;
            }
            for fault in ["ENOSPC", "EIO", "short"] {
                let is_transfer = ["Read", "Write"].contains(&all[n - 1].what.as_str());
                if fault != "short" || is_transfer {
                    self.check(n, fault);
                }
            }
        }
        let names: Vec<String> = all.iter().map(|o| format!("{} {}", o.what, o.file)).collect();
        let has = |what: &str| all.iter().any(|o| o.what == what);
        assert!(has("Create") && has("Write") && has("Sync") && has("Rename"), "{names:?}");
    }
}

/// Runs a command, perhaps with a fault, and lists its operations by number.
fn run(dir: &Dir, words: &str, fault: Option<&str>) -> (Ran, BTreeMap<usize, Operation>) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut command = dir.command(words);
    command.env("PARSIMON_OPERATIONS", log.path());
    command.envs(fault.map(|fault| ("PARSIMON_FAULT", fault)));
    let ran = command.output().unwrap().into();
    let text = std::fs::read_to_string(log.path()).unwrap();
    let operation = |line: &str| {
        let mut parts = line.splitn(3, '\t').map(str::to_owned);
        let mut part = || parts.next().unwrap();
        (part().parse().unwrap(), Operation { what: part(), file: part() })
    };
    (ran, text.lines().map(operation).collect())
}

/// A folder with data, a model and checkpoints.
fn folder() -> Dir {
    let dir = Dir::new();
    dir.write("d.svm", stream(60)).write("t.svm", stream(20));
    dir.write("t.csv", "label,a,b\n1,2,x\n-1,3,y\n1,4,x\n-1,1,y\n".repeat(5));
    dir
}

/// With files of earlier runs under the names of the outputs.
fn with_old(dir: Dir, names: &[&str]) -> Dir {
    names.iter().for_each(|name| {
        dir.write(name, format!("what was in {name} before"));
    });
    dir
}

#[test]
fn train() {
    let words = "train d.svm -a ftrl --threads 1 -o m.psm --checkpoint c.ckpt --checkpoint-every 25 \
                 --json r.json --plot p.svg --quiet";
    let dir = with_old(folder(), &["m.psm", "c.ckpt", "r.json", "p.svg"]);
    Case::new(dir, words, &["r.json", "c.ckpt"]).check_all();
    let dir = folder();
    dir.run("train d.svm -a ftrl --checkpoint c.ckpt --quiet").ok();
    let words =
        "train d.svm --resume c.ckpt --skip 0 --threads 1 --checkpoint c.ckpt -o m.psm --quiet";
    Case::new(dir, words, &[]).check_all();
}

/// Where the disk of one output is full, no output changes, and the same command does the day again.
#[test]
fn a_day_that_could_not_be_published_is_done_again() {
    let dir = folder();
    dir.run("train d.svm -a ftrl --threads 1 --checkpoint c.ckpt -o m.psm --quiet").ok();
    let words = "train t.svm --resume c.ckpt --checkpoint c.ckpt -o m.psm --plot p.svg \
                 --predictions p.txt --threads 1 --quiet";
    let case = Case::new(with_old(dir, &["p.svg", "p.txt"]), words, &[]);
    let mut failures = 0;
    for n in 1..=case.operations.len() {
        let Operation { what, .. } = &case.operations[n - 1];
        if !["Create", "Write", "Permissions", "Sync"].contains(&what.as_str()) {
            continue;
        }
        case.reset();
        let (ran, _) = run(&case.dir, words, Some(&format!("{n}:ENOSPC")));
        assert!(ran.code == 1 || ran.code == 2, "{what}: {}", ran.stderr);
        assert!(files(&case.dir.path(".")) == case.before, "{what}: {}", ran.stderr);
        case.dir.run(words).ok();
        assert!(files(&case.dir.path(".")) == case.after, "{what}: {}", ran.stderr);
        failures += 1;
    }
    // Four files, each of which is created, written, and synced.
    assert!(failures >= 12);
}

#[test]
fn predict_and_convert() {
    let dir = with_old(folder(), &["p.txt"]);
    dir.run("train d.svm -a ftrl -o m.psm --quiet").ok();
    Case::new(dir, "predict m.psm t.svm --threads 1 -o p.txt", &[]).check_all();
    let dir = with_old(folder(), &["d.psc"]);
    Case::new(dir, "convert d.svm -o d.psc --threads 1", &[]).check_all();
    let dir = folder();
    dir.run("convert d.svm -o d.psc").ok();
    Case::new(dir, "train d.psc -a ftrl --threads 1 -o m.psm --quiet", &[]).check_all();
}

#[test]
fn merge() {
    let dir = with_old(folder(), &["merged.ckpt"]);
    dir.run("train d.svm -a ftrl --checkpoint a.ckpt --quiet").ok();
    dir.run("train t.svm -a ftrl --checkpoint b.ckpt --quiet").ok();
    Case::new(dir, "merge a.ckpt b.ckpt --out merged.ckpt", &[]).check_all();
}

#[test]
fn compare_and_tune() {
    let dir = with_old(folder(), &["c.html", "c.json"]);
    let words = "compare d.svm -m ftrl:l1=1 --threads 1 --html c.html --json c.json";
    Case::new(dir, words, &["c.html", "c.json"]).check_all();
    let dir = with_old(folder(), &["best.psm"]);
    let words = "tune d.svm -a ftrl --sweep l1=0.1,1 --threads 1 -o best.psm";
    Case::new(dir, words, &["best.psm"]).check_all();
}

#[test]
fn signals_and_schemas() {
    let dir = with_old(folder(), &["w.csv", "i.json"]);
    let words = "identify --synthetic n=10,samples=200 -a nlms -o w.csv --json i.json";
    Case::new(dir, words, &["i.json"]).check_all();
    let dir = with_old(folder(), &["s.json"]);
    Case::new(dir, "schema t.csv -o s.json", &[]).check_all();
    let dir = with_old(Dir::new(), &["clean.wav"]);
    let noise = Lcg64::noise(1, 2000);
    for name in ["far.wav", "near.wav"] {
        wav::write(&dir.path(name), &noise, 8000, SampleFormat::Int16).unwrap();
    }
    let words = "cancel --reference far.wav --microphone near.wav --taps 16 -o clean.wav --quiet";
    Case::new(dir, words, &[]).check_all();
}

/// An experiment of a moment.
const EXPERIMENT: &str = r#"
title = "Mine"
printed = "-"
claim = "PDA finds zeros."
kind = "identification"
axes = { mismatch = "mismatch, dB", zeros = "zeros, %" }
trials = { quick = 1, standard = 1, full = 1 }
settings = { n = 20, zeros = 0.9, samples = { quick = 200, standard = 200, full = 200 } }
method = [{ name = "PDA", spec = { algorithm = "pda", rate = 0.13, alpha = 0.8, l1 = 3 } }]
expect = [{ says = "zeros", left = "PDA.zeros@end", is = "above", bound = -1.0 }]
"#;

#[test]
fn folders_of_results() {
    let words = "quickstart --out q --rows 200";
    Case::new(Dir::new(), words, &["report.html", ".json"]).check_all();
    let dir = Dir::new();
    dir.write("mine.toml", EXPERIMENT);
    let words = "reproduce mine.toml --trials 1 --threads 1 --out r";
    Case::new(dir, words, &["index.html", ".json"]).check_all();
}
