//! Features of texts, times and missing cells.

use super::{features, table};
use crate::fixture::Dir;

#[test]
fn words_and_runs_of_words_are_features() {
    let dir = Dir::new();
    let rows = table("Note,label", 20, |i| {
        format!("{} X{i},{}", ["Not Good", "isn't 'bad'!"][i % 2], i % 2)
    });
    dir.write("d.csv", rows.replace('X', "so "));
    let names = |flags: &str| {
        dir.run(&format!("train d.csv --texts Note -a ftrl --l1 0 {flags} --quiet -o m.psm")).ok();
        let names = features(&dir, "m.psm").into_iter();
        names.filter(|name| !name.contains(|c: char| c.is_ascii_digit())).collect::<Vec<_>>()
    };
    let words = ["(bias)", "Note^bad", "Note^good", "Note^isn't", "Note^not", "Note^so"];
    assert_eq!(names(""), words);
    assert_eq!(names("--ngrams 1"), words);
    let pairs = ["Note^bad so", "Note^good so", "Note^isn't bad", "Note^not good"];
    let mut both: Vec<_> = words.iter().chain(&pairs).copied().collect();
    both.sort_unstable();
    assert_eq!(names("--ngrams 2"), both);
    assert!(names("--ngrams 3").contains(&"Note^not good so".to_owned()));
    // A prediction cuts texts as the training did.
    let audit = dir.run("predict m.psm d.csv --audit").ok();
    assert!(audit.contains("Note^isn't bad so"), "{audit}");
}

#[test]
fn runs_of_words_need_texts() {
    let dir = Dir::new();
    dir.write("d.csv", table("x,label", 20, |i| format!("{},{}", i % 7, i % 2)));
    dir.write("d.svm", "1 1:1\n-1 2:1\n");
    dir.run("schema d.csv -o s.json").ok();
    for (words, code, expected) in [
        ("train d.csv --ngrams 2", 1, "d.csv: has no column of text"),
        ("train d.svm --ngrams 2", 1, "has no columns; leave out --ngrams"),
        ("train d.csv --texts x --ngrams 9", 1, "ngrams must be 1 to 8, got 9"),
        ("train d.csv --schema s.json --ngrams 2", 2, "set \"ngrams\" in the file"),
        ("train d.csv --kinds cell --ngrams 2", 1, "columns have no kinds; leave out --ngrams"),
        ("train d.svm --missing -1", 1, "has no columns; leave out --missing"),
        ("train d.csv --schema s.json --missing -1", 2, "instead of passing --missing"),
    ] {
        let error = dir.run(words).fails(code);
        assert!(error.contains(expected) && error.lines().count() == 1, "{words}: {error}");
    }
}

#[test]
fn a_time_is_hour_weekday_and_trend() {
    let dir = Dir::new();
    dir.write(
        "d.csv",
        table("at,label", 40, |i| format!("2020-01-0{} 1{}:30,{}", 5 + i % 3, i % 4, i % 2)),
    );
    dir.run("train d.csv -a ftrl --l1 0 --quiet -o m.psm").ok();
    let expected = [
        "(bias)",
        "at",
        "at^cos(2year)",
        "at^cos(year)",
        "at^date=5",
        "at^date=6",
        "at^date=7",
        "at^day=Mon",
        "at^day=Sun",
        "at^day=Tue",
        "at^hour=10",
        "at^hour=11",
        "at^hour=12",
        "at^hour=13",
        "at^month=Jan",
        "at^sin(2year)",
        "at^sin(year)",
        "at^week=1",
    ];
    assert_eq!(features(&dir, "m.psm"), expected);
}

#[test]
fn missing_tokens_are_stored_and_applied_in_predictions() {
    let dir = Dir::new();
    dir.write(
        "d.csv",
        table("a,b,label", 40, |i| {
            format!(
                "{},{},{}",
                ["1.5", "-999", "unknown", "4"][i % 4],
                ["red", "unknown"][i % 2],
                i / 2 % 2
            )
        }),
    );
    dir.write("marked.csv", "a,b\n-999.0,unknown\n");
    dir.write("empty.csv", "a,b\n,\n");
    dir.write("other.csv", "a,b\n-998,blue\n");
    let train = |flags: &str| {
        dir.run(&format!("train d.csv -a ftrl --l1 0 --quiet {flags} -o m.psm")).ok();
        features(&dir, "m.psm")
    };
    assert_eq!(train("--missing -999,unknown"), ["(bias)", "a", "b=red"]);
    let predict = |file: &str| dir.run(&format!("predict m.psm {file}")).ok();
    assert_eq!(predict("marked.csv"), predict("empty.csv"));
    assert_ne!(predict("marked.csv"), predict("other.csv"));
    dir.run("schema d.csv --missing=-999 --missing unknown -o s.json").ok();
    let schema = String::from_utf8(dir.read("s.json")).unwrap();
    assert!(schema.contains("\"?\",\"-999\",\"unknown\"]"), "{schema}");
    assert_eq!(train("--schema s.json"), ["(bias)", "a", "b=red"]);
    // The list of a schema is the whole list.
    let own = schema.replacen("\"NA\",", "", 1);
    dir.write("s.json", own);
    dir.write(
        "d.csv",
        table("b,a,label", 40, |i| format!("{},{},{}", ["NA", "NULL"][i % 2], i % 4, i / 2 % 2)),
    );
    let names = train("--schema s.json");
    assert!(
        names.contains(&"b=NA".to_owned()) && !names.contains(&"b=NULL".to_owned()),
        "{names:?}"
    );
    // A label is missing by a word that was added.
    dir.write(
        "d.csv",
        "x,label\n1,yes\n2,no\n3,unknown\n4,yes\n".to_owned() + &"5,no\n".repeat(20),
    );
    let error = dir.run("train d.csv --missing unknown --quiet").fails(1);
    assert!(error.contains("d.csv:4:3: the label is missing"), "{error}");
}
