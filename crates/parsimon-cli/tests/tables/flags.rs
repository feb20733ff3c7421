//! Flags that name columns.

use super::{found, table};
use crate::fixture::Dir;

#[test]
fn columns_that_are_not_there_are_named_with_the_nearest() {
    let dir = Dir::new();
    let rows = "red,3,Rome,1\nblue,4,Oslo,0\ngreen,5,Rome,1\n".repeat(10);
    dir.write("d.csv", format!("color,size,city,label\n{rows}"));
    dir.run("schema d.csv -o s.json").ok();
    let json = |i: usize| {
        format!(
            "{{\"label\": {}, \"color\": \"red\", \"user\": {{\"age\": {i}}}, \"imp\": 1}}\n",
            i % 2
        )
    };
    dir.write("d.jsonl", (0..30).map(json).collect::<String>());
    let json = dir.read("d.jsonl");
    dir.write("v.jsonl", String::from_utf8(json).unwrap().replace("label", "_label"));
    dir.write("d.svm", "1 1:1\n-1 2:1\n");
    for (words, expected) in [
        ("d.csv --categories colour", "did you mean \"color\"?"),
        ("d.csv --ignore siz", "did you mean \"size\"?"),
        ("d.csv --keep X*", "has no column \"X*\""),
        ("d.csv --numbers 7-9", "has no column \"7\""),
        ("d.csv --texts citty", "did you mean \"city\"?"),
        ("d.csv --label-column labell", "did you mean \"label\"?"),
        ("d.csv --weight-column siize", "did you mean \"size\"?"),
        ("d.csv --interactions color,citi", "did you mean \"city\"?"),
        ("d.csv -q xs", "has no column \"x\""),
        ("d.csv --schema s.json --interactions color,citi", "did you mean \"city\"?"),
        ("d.csv --schema s.json --label-column labell", "did you mean \"label\"?"),
        ("d.csv --schema s.json --weight-column siize", "did you mean \"size\"?"),
        ("d.csv --kinds cell --interactions color,citi", "did you mean \"city\"?"),
        ("d.csv --kinds cell --ignore siz", "did you mean \"size\"?"),
        ("d.csv --kinds cell --categories colour", "did you mean \"color\"?"),
        ("d.csv --kinds cell --label-column labell", "did you mean \"label\"?"),
        ("d.csv --kinds cell --weight-column siize", "did you mean \"size\"?"),
        (
            "d.csv --kinds cell --texts city",
            "columns have no kinds; leave out --texts, or leave out --kinds cell",
        ),
        ("d.csv --kinds cell --numbers size", "columns have no kinds; leave out --numbers"),
        ("d.csv --no-hash --keep size", "columns have no kinds; leave out --keep"),
        ("d.jsonl --ignore colour", "has no column \"colour\", did you mean \"color\"?"),
        ("d.jsonl --label-column labell", "has no column \"labell\", did you mean \"label\"?"),
        ("d.jsonl --weight-column inp", "has no column \"inp\", did you mean \"imp\"?"),
        ("d.jsonl --interactions user.age,usr.age", "did you mean \"user.age\"?"),
        ("d.jsonl --categories colour", "has no column \"colour\", did you mean \"color\"?"),
        ("v.jsonl --label-column labell", "has no field \"labell\""),
        ("v.jsonl --interactions user,usr", "has no namespace \"usr\", did you mean \"user\"?"),
        (
            "v.jsonl --categories color",
            "whose values have types, unlike those of tables; leave out --categories",
        ),
        ("v.jsonl --texts color", "unlike those of tables; leave out --texts"),
        ("d.svm --label-column y", "has no columns; leave out --label-column"),
        ("d.svm --weight-column y", "has no columns; leave out --weight-column"),
        ("d.svm --kinds cell --label-column y", "has no columns; leave out --label-column"),
        ("d.svm --ignore y", "has no columns; leave out --ignore"),
        ("d.svm --bits 10 --interactions user,ad", "features have no namespaces"),
    ] {
        let error = dir.run(&format!("train {words} --quiet")).fails(1);
        assert!(error.contains(expected) && error.lines().count() == 1, "{words}: {error}");
    }
    dir.run("train d.jsonl --ignore color --weight-column imp --quiet").ok();
    dir.run("train d.svm -a ftrl -o m.psm --checkpoint c --quiet").ok();
    for (words, flag) in [
        ("predict m.psm d.svm", "--label-column"),
        ("evaluate m.psm d.svm", "--weight-column"),
        ("train d.svm --skip 0 --resume c", "--label-column"),
    ] {
        let ran = dir.run(&format!("{words} {flag} y"));
        assert_ne!(ran.code, 0, "{words}");
        let is_refused = ran.stderr.contains(&format!("has no columns; leave out {flag}"));
        assert!(is_refused || ran.stderr.contains("contradicts"), "{words}: {}", ran.stderr);
    }
}

/// Fields of JSON that only late rows have, or none.
#[test]
fn late_fields_of_json_are_looked_for_to_the_end() {
    let dir = Dir::new();
    let rows = |has_late: bool| -> String {
        let late = |i: u32| if has_late && i > 14_000 { ",\"zeta\":1" } else { "" };
        let row = |i: u32| format!("{{\"label\":{},\"color\":\"c{}\"{}}}\n", i % 2, i % 3, late(i));
        (0..15_000).map(row).collect()
    };
    dir.write("late.jsonl", rows(true)).write("never.jsonl", rows(false));
    let ran = dir.run("train late.jsonl -a ftrl --ignore zeta -o m.psm");
    assert!(!ran.stderr.contains("zeta"), "{}", ran.stderr);
    ran.ok();
    let ran = dir.run("train never.jsonl -a ftrl --ignore zeta -o n.psm");
    let warning = "never.jsonl: no row has field \"zeta\", which the settings name";
    assert!(ran.stderr.contains(warning), "{}", ran.stderr);
    ran.ok();
    assert!(dir.has("n.psm"));
    // A name that is nearly one of the first rows is refused at once.
    let error = dir.run("train never.jsonl -a ftrl --ignore colour").fails(1);
    assert!(error.contains("has no column \"colour\", did you mean \"color\"?"), "{error}");
    dir.write("few.jsonl", rows(false).lines().take(40).collect::<Vec<_>>().join("\n"));
    let error = dir.run("train few.jsonl -a ftrl --ignore zeta").fails(1);
    assert!(error.contains("has no column \"zeta\""), "{error}");
}

#[test]
fn a_checkpoint_says_how_rows_are_read() {
    let dir = Dir::new();
    dir.write("d.csv", table("x,label", 40, |i| format!("{},{}", i % 7, i % 2)));
    dir.run("train d.csv --quiet --checkpoint c.psk").ok();
    for flag in ["--texts x", "--missing -1", "--bits 20", "--ngrams 2", "--ignore x"] {
        let error = dir.run(&format!("train d.csv --quiet --resume c.psk {flag}")).fails(2);
        assert!(error.contains("contradicts the checkpoint c.psk"), "{flag}: {error}");
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
