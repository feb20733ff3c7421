//! Tables as people have them: what the program finds in them, and what it does when it cannot tell.

mod cached;
#[cfg(feature = "columnar")]
mod curved;
#[cfg(feature = "columnar")]
mod doors;
mod encodings;
mod expected;
mod files;
mod flags;
mod guesses;
mod late;
mod odd_texts;
mod words;

use crate::fixture::Dir;
use serde_json::Value;

/// The columns with their kinds, from the program. The label has a star.
fn found(dir: &Dir, words: &str) -> String {
    let schema: Value = serde_json::from_str(&dir.run(&format!("schema {words}")).ok()).unwrap();
    let columns = schema["columns"].as_array().unwrap().iter().map(|column| {
        let star = if column["name"] == schema["label"] { "*" } else { "" };
        let text = |key: &str| column[key].as_str().unwrap().to_owned();
        format!("{}{star}:{}", text("name"), text("kind"))
    });
    columns.collect::<Vec<_>>().join(" ")
}

/// The names of the features with a weight.
fn features(dir: &Dir, model: &str) -> Vec<String> {
    let table = dir.run(&format!("inspect {model} --weights tsv")).ok();
    let mut names: Vec<String> =
        table.lines().skip(1).filter_map(|l| l.split('\t').next()).map(str::to_owned).collect();
    names.sort();
    names
}

/// `count` rows below a header; a row is made from its number.
fn table(header: &str, count: usize, row: impl Fn(usize) -> String) -> String {
    let rows = (0..count).map(|i| row(i) + "\n");
    format!("{header}\n{}", rows.collect::<String>())
}
