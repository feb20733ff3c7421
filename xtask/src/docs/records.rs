//! The files of `record/`: each is linked from a page that uses its figures, and every mention of a record is a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use parsimon_testing::markdown::links;

use super::pages::{ROOT_PAGES, below, resolved};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names of the records, without the folder.
fn records() -> BTreeSet<String> {
    let names = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    below(&root().join("record")).unwrap().iter().map(names).collect()
}

/// Records that a page links.
fn linked() -> BTreeSet<String> {
    let mut pages: Vec<PathBuf> = ROOT_PAGES.iter().map(|(_, file)| PathBuf::from(file)).collect();
    pages.push("README.md".into());
    let docs = below(&root().join("docs")).unwrap();
    pages.extend(docs.iter().map(|page| page.strip_prefix(root()).unwrap().to_owned()));
    let mut found = BTreeSet::new();
    for page in pages {
        let text = std::fs::read_to_string(root().join(&page)).unwrap();
        for link in links(&text) {
            let target = link.target.split('#').next().unwrap_or_default();
            if let Ok(record) = resolved(&page, target).strip_prefix("record") {
                found.insert(record.to_string_lossy().into_owned());
            }
        }
    }
    found
}

/// Names that follow `record/` in a text.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("record/").filter_map(|(at, word)| {
        let rest = &text[at + word.len()..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        (end > 0 && rest[end..].starts_with(".md")).then(|| &rest[..end + 3])
    })
}

/// Source files of the product, the benchmarks and the Python package.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs" || e == "py" || e == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn every_record_is_linked_from_a_page() {
    let (records, linked) = (records(), linked());
    assert!(records.len() > 10, "only {} records were found", records.len());
    let alone: Vec<&String> = records.difference(&linked).collect();
    assert!(
        alone.is_empty(),
        "link these records from the page that uses their figures: {alone:?}"
    );
}

#[test]
fn records_are_named_by_their_subject() {
    let dated: Vec<String> = records()
        .into_iter()
        .filter(|name| name.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    assert!(dated.is_empty(), "one file per subject; the date belongs inside: {dated:?}");
}

#[test]
fn every_record_that_a_source_mentions_is_there() {
    let records = records();
    let mut files = Vec::new();
    for folder in ["crates", "bench", "python"] {
        sources(&root().join(folder), &mut files);
    }
    let mut count = 0;
    let mut missing = Vec::new();
    for file in files {
        // Files of other encodings are test data.
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for name in mentioned(&text) {
            count += 1;
            if !records.contains(name) {
                missing.push(format!("{}: record/{name}", file.display()));
            }
        }
    }
    assert!(count > 10, "only {count} mentions were found");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
