//! Several files, and files that differ from those of the training: columns are matched by name.

use super::table;
use crate::fixture::Dir;

fn dir() -> Dir {
    let dir = Dir::new();
    let cell = |i: usize| (["red", "blue", "green"][i % 3], i % 7, i % 2);
    dir.write(
        "a.csv",
        table("color,size,label", 40, |i| {
            let (color, size, label) = cell(i);
            format!("{color},{size},{label}")
        }),
    );
    dir.write(
        "b.csv",
        table("label,color,size", 40, |i| {
            let (color, size, label) = cell(i + 1);
            format!("{label},{color},{size}")
        }),
    );
    dir.write(
        "b_in_order.csv",
        table("color,size,label", 40, |i| {
            let (color, size, label) = cell(i + 1);
            format!("{color},{size},{label}")
        }),
    );
    dir.write(
        "more.csv",
        table("label,u,color,size,v", 40, |i| {
            let (color, size, label) = cell(i + 1);
            format!("{label},{i},{color},{size},x")
        }),
    );
    dir.write(
        "less.csv",
        table("color,label", 40, |i| {
            let (color, _, label) = cell(i + 1);
            format!("{color},{label}")
        }),
    );
    dir.write(
        "no_label.csv",
        table("size,color", 40, |i| {
            let (color, size, _) = cell(i + 1);
            format!("{size},{color}")
        }),
    );
    dir
}

#[test]
fn columns_of_later_files_are_matched_by_name() {
    let dir = dir();
    let weights = |files: &str| {
        let ran = dir.run(&format!("train {files} -a ftrl --l1 0 --quiet -o m.psm"));
        let warnings = ran.stderr.clone();
        ran.ok();
        (dir.run("inspect m.psm --weights tsv").ok(), warnings)
    };
    let (expected, none) = weights("a.csv b_in_order.csv");
    assert_eq!(none, "");
    assert_eq!(weights("a.csv b.csv"), (expected.clone(), String::new()));
    let (same, warnings) = weights("a.csv more.csv");
    assert_eq!(same, expected);
    assert_eq!(
        warnings,
        "warning: more.csv: 2 columns are not in the schema and were not read: u, v\n"
    );
    let error = dir.run("train a.csv less.csv --quiet").fails(1);
    assert!(error.contains("less.csv: has no column \"size\""), "{error}");
}

#[test]
fn a_constant_of_the_first_file_may_vary_in_the_next() {
    let dir = Dir::new();
    let day = |d: usize| table("day,x,label", 40, move |i| format!("{d},{},{}", i % 7, i % 2));
    dir.write("1.csv", day(1)).write("2.csv", day(2));
    dir.run("train 1.csv 2.csv -a ftrl --l1 0 --quiet -o m.psm").ok();
    let weights = dir.run("inspect m.psm --weights tsv").ok();
    assert!(weights.contains("day\t"), "{weights}");
}

#[test]
fn predictions_find_columns_by_name() {
    let dir = dir();
    dir.run("train a.csv -a ftrl --l1 0 --quiet -o m.psm").ok();
    let predict = |file: &str| {
        let ran = dir.run(&format!("predict m.psm {file}"));
        (ran.stdout.clone(), ran.stderr.clone())
    };
    let (expected, none) = predict("b_in_order.csv");
    assert_eq!((expected.lines().count(), none.as_str()), (40, ""));
    assert_eq!(predict("b.csv"), (expected.clone(), String::new()));
    assert_eq!(predict("no_label.csv"), (expected.clone(), String::new()));
    assert_eq!(predict("more.csv").0, expected);
    assert!(
        predict("more.csv").1.contains("2 columns are not in the schema and were not read: u, v")
    );
    // Half of the columns are too few, unless that is allowed.
    assert!(predict("less.csv").1.contains("the data lacks 1 of the 2 columns"));
    let (other, warnings) = predict("less.csv --allow-unknown");
    assert_eq!(other.lines().count(), 40);
    assert_ne!(other, expected);
    assert_eq!(
        warnings,
        "warning: less.csv: 1 column of the schema is absent and treated as missing in every row: size\n"
    );
    let evaluate = |file: &str| dir.run(&format!("evaluate m.psm {file}"));
    assert_eq!(evaluate("b.csv").ok(), evaluate("b_in_order.csv").ok());
    assert!(evaluate("no_label.csv").fails(1).contains("has no column \"label\""));
}

#[test]
fn a_prediction_counts_the_cells_that_do_not_fit() {
    let dir = Dir::new();
    dir.write("d.csv", table("x,label", 40, |i| format!("{}.5,{}", i % 7, i % 2)));
    dir.write("odd.csv", "label,x\n1,oops\n0,2.5\n1,NA\n");
    dir.run("train d.csv -a ftrl --quiet -o m.psm").ok();
    for command in ["predict m.psm odd.csv", "evaluate m.psm odd.csv"] {
        let ran = dir.run(command);
        assert!(ran.stderr.contains("warning: 1 cell did not fit"), "{}", ran.stderr);
        ran.ok();
    }
}
