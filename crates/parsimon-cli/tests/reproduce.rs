//! `reproduce`, as a user meets it.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod fixture;

use fixture::Dir;
use serde_json::Value;

#[test]
fn experiments_are_listed_run_and_reported() {
    let dir = Dir::new();
    let list = dir.run("reproduce --list").ok();
    for id in ["csgd/low-dimension", "pda-thesis/identification", "slides/equivalences"] {
        assert!(list.contains(id), "{list}");
    }
    let table = dir.run("reproduce slides/equivalences csgd/mnist --quick --out r").ok();
    assert!(table.contains("reproduces") && table.contains("not run"), "{table}");
    let results: Value = serde_json::from_slice(&dir.read("r/results.json")).unwrap();
    assert_eq!(results.as_array().unwrap().len(), 2);
    let page = String::from_utf8(dir.read("r/index.html")).unwrap();
    assert!(page.contains("Equivalence theorems") && page.contains("parsimon data get mnist"));
    // What is finished is kept: the same numbers, from the folder.
    dir.run("reproduce slides/equivalences csgd/mnist --quick --out r --threads 1").ok();
    let again: Value = serde_json::from_slice(&dir.read("r/results.json")).unwrap();
    assert_eq!(results, again);
}

#[test]
fn what_is_not_there_is_said() {
    let dir = Dir::new();
    let refused = dir.run("reproduce slide").fails(2);
    assert!(refused.contains("did you mean \"slides\"?"), "{refused}");
    dir.write("taken", "");
    let refused = dir.run("reproduce slides/equivalences --quick --out taken").fails(1);
    assert!(refused.contains("taken"), "{refused}");
    dir.run("reproduce slides/equivalences --quick --threads 0").fails(2);
    assert!(dir.run("reproduce --quick --full").fails(2).contains("cannot be used with"));
}
