//! The program finds in a file what the library finds.

use crate::fixture::Dir;
use parsimon::data::{Input, Kinds, Options, Reading};
use parsimon::{Spec, survey};
use serde_json::Value;

/// What the program found, from its report.
fn by_program(dir: &Dir, words: &str, stdin: &[u8]) -> Value {
    dir.run_with(&format!("train {words} --quiet --json report.json"), stdin).ok();
    let mut report: Value = serde_json::from_slice(&dir.read("report.json")).unwrap();
    report["reading"].take()
}

#[test]
fn the_program_and_the_library_find_the_same() {
    let rls = Spec::new("rls").set("loss", "squared");
    let ftrl = Spec::new("ftrl");
    let classes = || Spec::new("ftrl").set("multiclass", true);
    let cases = [
        ("zero.svm", "0 1:1\n1 2:1\n", "-a ftrl", ftrl.clone()),
        ("minus.svm", "-1 1:1\n1 2:1\n", "-a ftrl", ftrl.clone()),
        ("three.svm", "3 1:1\n1 9:1\n2 2:1\n", "-a ftrl --multiclass", classes()),
        ("text.csv", "age,label\n30,yes\n40,no\n", "-a ftrl", ftrl.clone()),
        ("text.vw", "1 | a b\n-1 | b c\n", "-a ftrl", ftrl.clone()),
        ("rows.jsonl", "{\"label\": \"x\", \"a\": 1}\n{\"label\": \"y\"}\n", "-a ftrl", ftrl),
        ("ids.svm", "1 0:1 4:1\n2 2:1\n", "-a rls --loss squared", rls.clone()),
        ("hashed.csv", "age,city,label\n30,Paris,3\n40,Lyon,4\n", "-a rls --loss squared", rls),
        (
            "phases.svm",
            "1 1:1\n2 2:1\n3 1:1\n",
            "-a csgd --loss squared",
            Spec::new("csgd").set("loss", "squared"),
        ),
    ];
    for (name, text, words, spec) in cases {
        let dir = Dir::new();
        dir.write(name, text);
        let by_program = by_program(&dir, &format!("{name} {words}"), b"");
        let settings = spec.resolve().unwrap();
        let inputs = [Input::from(dir.path(name))];
        let options = Options::from(Reading { kinds: Kinds::Found, ..Reading::default() });
        let opened = survey::open(&[settings], &inputs[..], &options).unwrap();
        assert_eq!(by_program, serde_json::to_value(&opened.schema).unwrap(), "{name}");
    }
}

#[test]
fn standard_input_with_declared_classes_is_as_a_file() {
    let (dir, text) = (Dir::new(), "b 1:1\na 2:1\nb 1:1\n");
    dir.write("d.svm", text);
    let words = "-a ftrl --format svmlight --multiclass --classes a,b";
    let from_file = by_program(&dir, &format!("d.svm {words}"), b"");
    let from_stdin = by_program(&dir, &format!("- {words}"), text.as_bytes());
    assert_eq!(from_stdin, from_file);
    assert_eq!(from_stdin["classes"], serde_json::json!(["a", "b"]));
}

/// A pipe is gone once it was looked at: no row may be lost to a look.
#[cfg(unix)]
#[test]
fn no_row_of_a_pipe_is_lost() {
    let dir = Dir::new();
    let text: String = (0..5000).map(|i| format!("{} {}:1\n", i % 2 * 2 - 1, 1 + i % 7)).collect();
    dir.write("d.svm", &text);
    let pipe = dir.path("pipe.svm");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn(move || std::fs::write(pipe, text));
    let piped = dir.run("train pipe.svm -a ftrl --quiet --json -").json();
    writer.join().unwrap().unwrap();
    let plain = dir.run("train d.svm -a ftrl --quiet --json -").json();
    assert_eq!(piped["rows"], 5000);
    assert_eq!(piped["progressive_loss"], plain["progressive_loss"]);
}
