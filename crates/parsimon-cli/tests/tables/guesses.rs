//! Guesses of the program about a table, and the effect of flags on them.

use super::{found, table};
use crate::fixture::Dir;

/// People with a weight of their own, and what they bought.
fn people(dir: &Dir) {
    let cities = ["Rome", "Oslo", "Bonn"];
    let row = |i: usize| {
        let bought = usize::from((i * 7 + i / 3) % 10 < 4);
        format!("{},{},{},{bought}", 20 + i * 13 % 50, 50 + i * 17 % 60, cities[i % 3])
    };
    dir.write("d.csv", table("age,weight,city,bought", 400, row));
}

#[test]
fn guesses_are_printed_with_the_flag_for_another() {
    let dir = Dir::new();
    people(&dir);
    for command in ["train d.csv", "tune d.csv", "compare d.csv -m auto"] {
        let told = dir.run(command).stderr;
        for line in [
            "4 columns: 2 numbers, 1 category, label bought (0, 1)\n",
            "  numbers: age, weight\n",
            "  categories: city\n",
            "label: guessed to be bought, the last column, because it has two values (next: age, city); --label-column",
            "weight is a feature; --weight-column weight makes it the importance weight of rows",
        ] {
            assert!(told.contains(line), "{command}: {line}\n{told}");
        }
    }
    let told = dir.run("train d.csv --label-column bought --weight-column weight").stderr;
    assert!(!told.contains("guessed") && !told.contains("is a feature"), "{told}");
    dir.write(
        "w.csv",
        String::from_utf8(dir.read("d.csv")).unwrap().replacen("weight", "importance", 1),
    );
    let told = dir.run("train w.csv").stderr;
    let line =
        "importance weight: guessed to be importance, because of its name; --weight-column none";
    assert!(told.contains(line), "{told}");
    let told = dir.run("train w.csv --weight-column none").stderr;
    assert!(told.contains("  numbers: age, importance\n") && !told.contains("weight: guessed"));
    let told = dir.run("train d.csv --kinds cell --loss squared").stderr;
    assert!(told.contains("label: column age; --label-column COLUMN"), "{told}");
}

#[test]
fn a_column_that_a_flag_names_is_not_guessed_to_be_label_or_weight() {
    let dir = Dir::new();
    people(&dir);
    let label = "bought*:number";
    let ignored = format!("age:number weight:ignored city:category {label}");
    assert_eq!(found(&dir, "d.csv --ignore weight"), ignored);
    let told = dir.run("train d.csv --numbers weight").stderr;
    assert!(told.contains("2 numbers, 1 category, label bought (0, 1)\n"), "{told}");
    assert_eq!(found(&dir, "d.csv --weight-column none"), found(&dir, "d.csv"));
    let error = dir.run("train d.csv --ignore bought").fails(1);
    assert!(
        error.contains("has no column that is surely the label; name it with --label-column NAME"),
        "{error}"
    );
}

#[test]
fn flags_that_contradict_each_other_or_the_cells_are_refused() {
    let dir = Dir::new();
    people(&dir);
    for (flags, expected) in [
        ("--numbers city", "column \"city\" has cells that are not numbers, such as \"Rome\""),
        ("--numbers age --categories age", "column \"age\" is set to be both number and category"),
    ] {
        let error = dir.run(&format!("train d.csv {flags}")).fails(1);
        assert!(error.contains(expected), "{flags}: {error}");
    }
    dir.run("train d.csv --categories all --numbers age --quiet").ok();
}

#[test]
fn a_missing_label_is_no_class() {
    let dir = Dir::new();
    let label = |i: usize| if i.is_multiple_of(9) { "NA".to_owned() } else { (i % 2).to_string() };
    dir.write("d.csv", table("x,label", 200, |i| format!("{},{}", i % 7, label(i))));
    let error = dir.run("train d.csv").fails(2);
    assert!(error.contains("some rows have the label \"NA\""), "{error}");
    dir.run("train d.csv --multiclass --classes 0,1,NA --quiet").ok();
}

#[test]
fn one_label_alone_is_warned_of() {
    let dir = Dir::new();
    dir.write("one.csv", table("x,label", 300, |i| format!("{},1", i % 7)));
    assert!(dir.run("train one.csv").stderr.contains("warning: all rows have the same label"));
}

#[test]
fn a_file_holds_what_its_name_says() {
    let dir = Dir::new();
    people(&dir);
    dir.run("train d.csv -o m.psm --quiet").ok();
    for (command, expected) in [
        ("train d.csv --plot p.png", "--plot writes SVG; use a name that ends in .svg, not .png"),
        ("predict m.psm d.csv -o p.xlsx", "--output writes tables that end in .csv"),
        ("train d.csv --predictions p.json", "--predictions writes tables that end in .csv"),
    ] {
        let error = dir.run(command).fails(2);
        assert!(error.contains(expected), "{command}: {error}");
    }
    dir.run("predict m.psm d.csv -o p.xlsx --output-format csv").ok();
    let error = dir.run("train m.psm").fails(1);
    assert!(error.contains("is a parsimon model or checkpoint and not read"), "{error}");
}

#[cfg(feature = "audio")]
#[test]
fn a_recording_is_wav() {
    let dir = Dir::new();
    let error = dir.run("cancel --reference a.wav --microphone b.wav -o c.mp3").fails(2);
    assert!(error.contains("--output writes WAV; use a name that ends in .wav"), "{error}");
}

#[test]
fn the_report_has_what_a_person_is_told() {
    let dir = Dir::new();
    let row = |i: usize| format!("{},{},{}", 9 * (i % 2) + i % 3, i % 7, i % 2);
    dir.write("d.csv", table("a,b,label", 600, row));
    dir.run("train d.csv --quiet --json r.json").ok();
    let report: serde_json::Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    let lines = |key: &str| -> Vec<String> {
        let lines = report[key].as_array().unwrap().iter();
        lines.map(|line| line.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(lines("found")[..2], ["3 columns: 2 numbers, label label (0, 1)", "numbers: a, b"]);
    assert_eq!(report["guesses"]["because"], "because of its name");
    assert!(lines("warnings").iter().any(|line| line.starts_with("possible leak: \"a\"")));
    assert_eq!(report["chosen"]["algorithm"], "ftrl");
    assert!(report["chosen_flags"].as_str().unwrap().starts_with("-a ftrl --normalize --rate "));
}
