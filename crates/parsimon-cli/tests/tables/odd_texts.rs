//! A few texts among the numbers of a column, and guesses about a file that are printed.

use super::{found, table};
use crate::fixture::Dir;

/// People; the ages of two of them are written in this way.
fn people(rows: usize, odd: &str) -> String {
    let cities = ["Rome", "unknown", "Bonn"];
    table("age,city,bought", rows, |i| {
        let age = match i {
            17 | 401 => odd.to_owned(),
            _ => format!("{}.5", 20 + i * 13 % 50),
        };
        format!("{age},{},{}", cities[i % 3], usize::from((i * 7 + i / 3) % 10 < 4))
    })
}

#[test]
fn a_few_texts_among_numbers_are_missing_and_printed() {
    let dir = Dir::new();
    dir.write("odd.csv", people(600, "unknown")).write("empty.csv", people(600, ""));
    let told = dir.run("train odd.csv -a ftrl -o odd.psm").stderr;
    let line = "missing: \"unknown\" in the number column age (first in line 19); --categories age";
    assert!(told.contains(line), "{told}");
    dir.run("train empty.csv -a ftrl -o empty.psm --quiet").ok();
    let weights = |model: &str| dir.run(&format!("inspect {model} --weights json")).json();
    assert_eq!(weights("odd.psm")["weights"], weights("empty.psm")["weights"]);
    // The text is missing in that column alone.
    assert!(weights("odd.psm").to_string().contains("city=unknown"));
    let predicted = |model: &str, data: &str| {
        let ran = dir.run(&format!("predict {model} {data}"));
        assert!(!ran.stderr.contains("did not fit"), "{}", ran.stderr);
        ran.ok()
    };
    assert_eq!(predicted("odd.psm", "odd.csv"), predicted("empty.psm", "empty.csv"));
    for command in ["tune odd.csv", "compare odd.csv -m auto"] {
        assert!(dir.run(command).stderr.contains(line), "{command}");
    }
    // A column that the user calls a category is one.
    assert_eq!(
        found(&dir, "odd.csv --categories age"),
        "age:category city:category bought*:number"
    );
    assert_eq!(found(&dir, "odd.csv"), "age:number city:category bought*:number");
}

#[test]
fn a_schema_a_checkpoint_and_a_cache_keep_the_texts() {
    let dir = Dir::new();
    dir.write("odd.csv", people(600, "unknown"));
    dir.write("more.csv", people(50, "unknown"));
    let written = dir.run("schema odd.csv").ok();
    assert!(written.contains(r#""missing":["unknown"]"#), "{written}");
    dir.write("s.json", written);
    let weights = |model: &str| dir.run(&format!("inspect {model} --weights json")).ok();
    dir.run("train odd.csv more.csv -a ftrl -o whole.psm --quiet").ok();
    dir.run("train odd.csv more.csv -a ftrl --schema s.json -o by_schema.psm --quiet").ok();
    assert_eq!(weights("by_schema.psm"), weights("whole.psm"));
    dir.run("train odd.csv -a ftrl --checkpoint c.psk --quiet").ok();
    dir.run("train more.csv --resume c.psk -o resumed.psm --quiet").ok();
    assert_eq!(weights("resumed.psm"), weights("whole.psm"));
    dir.run("convert odd.csv -o odd.psc").ok();
    dir.run("train odd.psc -a ftrl --checkpoint k.psk --quiet").ok();
    dir.run("train more.csv --resume k.psk -o cached.psm --quiet").ok();
    assert_eq!(weights("cached.psm"), weights("whole.psm"));
    // A text that comes later makes the column a category, as before.
    dir.write("late.csv", people(600, "unknown") + &"n/a?,Rome,1\n".repeat(9900) + "so,Rome,1\n");
    let told = dir.run("train late.csv").stderr;
    assert!(!told.contains("missing:"), "{told}");
    let error = dir.run("train more.csv --schema s.json --missing x").fails(2);
    assert!(error.contains("--missing"), "{error}");
}

#[test]
fn a_text_after_the_first_rows_is_a_late_contradiction() {
    let dir = Dir::new();
    dir.write("late.csv", people(10_100, "unknown") + "perhaps,Rome,1\n");
    let told = dir.run("train late.csv -o m.psm").stderr;
    assert!(told.contains("\"perhaps\" does not fit the first rows"), "{told}");
    let weights = dir.run("inspect m.psm --json").ok();
    assert!(!weights.contains(r#""missing":["#), "{weights}");
}

#[test]
fn guesses_about_the_file_are_printed_with_the_flag_for_another() {
    let dir = Dir::new();
    let decimal = |i: usize| format!("{},5;{};{}", i % 50, i % 7, usize::from(i % 10 < 4));
    dir.write("d.csv", table("age;n;bought", 300, decimal));
    let semicolons = "cells are separated by semicolons; --separator CHAR chooses another";
    dir.run("train d.csv -o m.psm --quiet").ok();
    for command in ["train d.csv", "tune d.csv", "compare d.csv -m auto", "evaluate m.psm d.csv"] {
        let told = dir.run(command).stderr;
        assert!(told.contains(semicolons), "{command}: {told}");
        let is_new = !command.starts_with("evaluate");
        assert_eq!(told.contains("numbers written like 1.234,5: age;"), is_new, "{told}");
    }
    let told = dir.run("train d.csv --separator ;").stderr;
    assert!(!told.contains("separated"), "{told}");
    let error = dir.run("train d.csv --separator |").fails(1);
    assert!(error.contains("The columns are age;n;bought"), "{error}");
    assert!(dir.run("train d.csv --separator ab").fails(2).contains("one sign"));
    dir.write("d.tsv", "a\ty\n1\t0\n2\t1\n".repeat(2));
    assert!(
        dir.run("train d.tsv --separator ;")
            .fails(1)
            .contains("only CSV has a separator; leave out --separator")
    );
    dir.write("n.csv", table("3,4,0", 300, |i| format!("{},{},{}", i % 50, i % 7, i % 2)));
    let told = dir.run("train n.csv").stderr;
    assert!(told.contains("no header: the first line is a row"), "{told}");
    assert!(!dir.run("train n.csv --header absent").stderr.contains("no header"));
}

#[test]
fn two_fractions_are_no_classes() {
    let dir = Dir::new();
    let row = |i: usize| format!("0.{}5,{}.5,{}.25", 2 + 5 * (i % 2), i % 17, i % 23);
    dir.write("d.csv", table("0.25,1.5,2.5", 300, row));
    let error = dir.run("train d.csv").fails(1);
    assert!(error.contains("--label-column NAME. The columns are c1, c2, c3"), "{error}");
}
