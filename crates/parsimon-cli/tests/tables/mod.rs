//! Tables as people have them: what the program finds in them, and what it does when it cannot tell.

mod cases;

use crate::fixture::Dir;
use serde_json::Value;

/// The columns with their kinds, from the program.
fn found(dir: &Dir, words: &str) -> String {
    let schema: Value = serde_json::from_str(&dir.run(&format!("schema {words}")).ok()).unwrap();
    let columns = schema["columns"].as_array().unwrap().iter().map(|column| {
        let star = if column["name"] == schema["label"] { "*" } else { "" };
        let text = |key: &str| column[key].as_str().unwrap().to_owned();
        format!("{}{star}:{}", text("name"), text("kind"))
    });
    columns.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_trap_is_seen() {
    let dir = Dir::new();
    for case in cases::cases() {
        dir.write(case.name, &case.text);
        assert_eq!(found(&dir, case.name), case.schema, "{}", case.name);
        let flags = "-a ftrl --l1 0 --loss logistic --quiet";
        // What a file gives, its stream gives; and a schema that was written down.
        dir.run(&format!("train {} {flags} -o m.psm", case.name)).ok();
        let weights = dir.run("inspect m.psm --weights tsv").ok();
        assert!(weights.lines().count() > 1, "{}: {weights}", case.name);
        dir.run(&format!("schema {} -o s.json", case.name)).ok();
        dir.run(&format!("train {} {flags} --schema s.json -o n.psm", case.name)).ok();
        assert_eq!(dir.read("n.psm"), dir.read("m.psm"), "{}", case.name);
        let format = case.name.rsplit('.').next().unwrap();
        let classes: Value = dir.run("inspect m.psm --json").json();
        let classes = classes["reading"]["classes"].as_array().unwrap();
        let classes: Vec<_> = classes.iter().map(|class| class.as_str().unwrap()).collect();
        let words =
            format!("train - --format {format} {flags} --classes {} -o p.psm", classes.join(","));
        dir.run_with(&words, case.text.as_bytes()).ok();
        assert_eq!(dir.run("inspect p.psm --weights tsv").ok(), weights, "{}", case.name);
        dir.run(&format!("predict m.psm {} -o p.txt", case.name)).ok();
        dir.run(&format!("evaluate m.psm {}", case.name)).ok();
    }
}

/// A table whose first rows do not show what is in its last.
fn surprising() -> String {
    let rows = (0..12_000).map(|i| format!("{}.5,{},{}\n", i % 7, i % 5, i % 2));
    format!("x,z,label\n{}oops,1,1\n2.5,1,0\n", rows.collect::<String>())
}

#[test]
fn a_late_surprise_widens_a_file_and_is_a_bad_row_of_a_stream() {
    let dir = Dir::new();
    dir.write("d.csv", surprising());
    dir.run("train d.csv -a ftrl --l1 0 --quiet -o m.psm").ok();
    dir.run("train d.csv -a ftrl --l1 0 --categories x --quiet -o n.psm").ok();
    let weights = |model: &str| dir.run(&format!("inspect {model} --weights tsv")).ok();
    assert_eq!(weights("m.psm"), weights("n.psm"));
    assert!(weights("m.psm").contains("x=3.5"));
    let error =
        dir.run_with("train - --format csv -a ftrl --quiet", surprising().as_bytes()).fails(1);
    for words in ["stdin:12002:1", "\"x\"", "\"oops\"", "--categories x"] {
        assert!(error.contains(words), "{error}");
    }
    let words = "train - --format csv -a ftrl --skip-bad 1 --json - --quiet";
    let report = dir.run_with(words, surprising().as_bytes()).json();
    assert_eq!((&report["skipped_rows"], &report["rows"]), (&1.into(), &12_001.into()));
}

#[test]
fn a_prediction_counts_the_cells_that_do_not_fit() {
    let dir = Dir::new();
    dir.write("d.csv", "x,label\n".to_owned() + &"1.5,1\n2.5,0\n".repeat(20));
    dir.write("odd.csv", "label,x\n1,oops\n0,2.5\n1,NA\n");
    dir.run("train d.csv -a ftrl --quiet -o m.psm").ok();
    for command in ["predict m.psm odd.csv", "evaluate m.psm odd.csv"] {
        let ran = dir.run(command);
        assert!(ran.stderr.contains("warning: 1 cell did not fit"), "{}", ran.stderr);
        ran.ok();
    }
}

#[test]
fn columns_that_are_not_there_are_named_with_the_nearest() {
    let dir = Dir::new();
    let rows = "red,3,Rome,1\nblue,4,Oslo,0\ngreen,5,Rome,1\n".repeat(10);
    dir.write("d.csv", format!("color,size,city,label\n{rows}"));
    dir.write("two.csv", format!("target,size,city,label\n{rows}"));
    dir.write("none.csv", "a,b\n1,3\n2,5\n4,7\n");
    for (words, expected) in [
        ("d.csv --categories colour", "did you mean \"color\"?"),
        ("d.csv --ignore siz", "did you mean \"size\"?"),
        ("d.csv --keep X*", "has no column \"X*\""),
        ("d.csv --numbers 7-9", "has no column \"7\""),
        ("d.csv --texts citty", "did you mean \"city\"?"),
        ("d.csv --label-column labell", "did you mean \"label\"?"),
        ("d.csv --interactions color,citi", "did you mean \"city\"?"),
        ("two.csv", "several columns that may be the label: \"target\", \"label\""),
        ("none.csv", "--label-column NAME. The columns are a, b"),
    ] {
        let error = dir.run(&format!("train {words} --quiet")).fails(1);
        assert!(error.contains(expected) && error.lines().count() == 1, "{words}: {error}");
    }
}

#[test]
fn columns_are_named_in_many_ways() {
    let dir = Dir::new();
    let rows = (0..200).map(|i| format!("{i},{},{},7,{}\n", i % 3, i % 5, i % 2));
    dir.write("d.csv", format!("id,C1,C2,k,label\n{}", rows.collect::<String>()));
    for (words, expected) in [
        ("", "id:identifier C1:number C2:number k:constant label*:number"),
        ("--categories C*", "id:identifier C1:category C2:category k:constant label*:number"),
        ("--text-columns 2-3", "id:identifier C1:category C2:category k:constant label*:number"),
        (
            "--categories all --numbers C1",
            "id:category C1:number C2:category k:category label*:category",
        ),
        ("--keep id,k", "id:number C1:number C2:number k:number label*:number"),
        ("--ignore C1..C2", "id:identifier C1:ignored C2:ignored k:constant label*:number"),
        (
            "--texts C1 --label-column last",
            "id:identifier C1:text C2:number k:constant label*:number",
        ),
        ("--label-column -1", "id:identifier C1:number C2:number k:constant label*:number"),
        ("--label-column 2", "id:identifier C1*:number C2:number k:constant label:number"),
    ] {
        assert_eq!(found(&dir, &format!("d.csv {words}")), expected, "{words}");
    }
}

#[test]
fn what_was_found_is_printed() {
    let dir = Dir::new();
    let rows = (0..200).map(|i| {
        format!("{i},{}.5,{},7,{}\n", i % 3, ["a", "b", "c"][i % 3], ["no", "yes"][i % 2])
    });
    dir.write("d.csv", format!("id,x,z,k,bought\n{}", rows.collect::<String>()));
    let ran = dir.run("train d.csv");
    for line in [
        "5 columns: 1 number, 1 category, 1 identifier, 1 constant, label bought (no, yes)\n",
        "not read: id (a different value in every row; --keep COLUMNS reads them)\n",
        "not read: k (the same value in every row; --keep COLUMNS reads them)\n",
    ] {
        assert!(ran.stderr.contains(line), "{}", ran.stderr);
    }
    ran.ok();
}
