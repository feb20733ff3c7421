//! Caches of tables.

use super::table;
use crate::fixture::Dir;

#[test]
fn a_cached_table_is_learned_as_the_table() {
    let dir = Dir::new();
    dir.write(
        "rows.csv",
        table("at,x,city,note,label", 300, |i| {
            format!(
                "2020-01-{:02} 1{}:30,{},{},word{} and more {i},{}",
                1 + i % 28,
                i % 10,
                if i % 11 == 0 { "NA".into() } else { format!("{}.25", 1000 * (i % 7)) },
                ["Rome", "Oslo", "Paris"][i % 3],
                i % 5,
                i % 2
            )
        }),
    );
    let ran = dir.run("convert rows.csv -o rows.psc");
    assert!(
        ran.stderr.contains("300 rows in rows.psc, with the kinds of 5 columns"),
        "{}",
        ran.stderr
    );
    // Models have the names of their inputs: both are called d.
    for flags in ["", "-a ftrl --l1 0 --normalize", "-a sgd", "-a nlms"] {
        let table = dir.read("rows.csv");
        dir.write("d", table);
        dir.run(&format!("train d --format csv {flags} --quiet -o m.psm")).ok();
        dir.write("d", dir.read("rows.psc"));
        dir.run(&format!("train d --format cache {flags} --quiet -o n.psm")).ok();
        assert!(dir.read("m.psm") == dir.read("n.psm"), "{flags}");
        let predict = |data: &str| dir.run(&format!("predict n.psm {data}")).ok();
        assert_eq!(predict("rows.csv"), predict("rows.psc"), "{flags}");
    }
}

#[test]
fn a_cache_of_other_kinds_is_refused() {
    let dir = Dir::new();
    dir.write("d.csv", table("x,label", 40, |i| format!("{},{}", i % 7, i % 2)));
    dir.run("train d.csv --quiet -o m.psm").ok();
    dir.run("convert d.csv --categories x -o other.psc").ok();
    dir.run("convert d.csv --kinds cell -o plain.psc").ok();
    let error = dir.run("predict m.psm other.psc").fails(1);
    assert!(error.contains("other.psc: was recorded with other kinds of columns"), "{error}");
    let error = dir.run("predict m.psm plain.psc").fails(1);
    assert!(error.contains("plain.psc: was recorded without the kinds of columns"), "{error}");
    for flag in ["--ignore x", "--label-column x", "--missing -1"] {
        let error = dir.run(&format!("train other.psc {flag} --quiet")).fails(1);
        assert!(error.contains("has no columns; leave out --"), "{flag}: {error}");
    }
    // A late surprise widens a column here as well.
    let late = table("x,label", 12_000, |i| format!("{},{}", i % 7, i % 2)) + "oops,1\n";
    dir.write("late.csv", late);
    let ran = dir.run("convert late.csv -o late.psc");
    assert!(ran.stderr.contains("starting again with x as a category"), "{}", ran.stderr);
    ran.ok();
    dir.run("train late.psc -a ftrl --l1 0 --quiet -o m.psm").ok();
    assert!(dir.run("inspect m.psm --weights tsv").ok().contains("x=oops"));
}
