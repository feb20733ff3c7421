//! Checks of the pages that need no built site: links lead somewhere, the table of contents is complete, formulas
//! can be read, the README is short.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use parsimon_testing::markdown::{anchors, blocks, links};

use super::math::rendered;
use super::pages::{ROOT_PAGES, below, resolved};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// The documents of the root and the pages of `docs/`, from the root of the repository.
fn documents() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ROOT_PAGES.iter().map(|(_, file)| PathBuf::from(file)).collect();
    files.push("README.md".into());
    let pages = below(&root().join("docs")).unwrap();
    files.extend(pages.iter().map(|page| page.strip_prefix(root()).unwrap().to_owned()));
    files
}

#[test]
fn every_link_and_anchor_leads_somewhere() {
    let mut broken = Vec::new();
    let mut count = 0;
    for file in documents() {
        let text = read(&file);
        for link in links(&text) {
            let (target, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let wanted = if target.is_empty() { file.clone() } else { resolved(&file, target) };
            let is_page = wanted.extension().is_some_and(|extension| extension == "md");
            let is_there = root().join(&wanted).exists()
                && (anchor.is_empty()
                    || !is_page
                    || anchors(&read(&wanted)).contains(&anchor.to_owned()));
            if !is_there {
                let line = text[..link.start].lines().count();
                broken.push(format!("{}:{line}: {}", file.display(), link.target));
            }
        }
    }
    assert!(count > 300, "only {count} links were found");
    assert!(broken.is_empty(), "{} links lead nowhere:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn the_table_of_contents_has_every_page_once() {
    let summary = PathBuf::from("docs/SUMMARY.md");
    let mut listed = BTreeSet::new();
    for link in links(&read(&summary)) {
        let page = resolved(&summary, &link.target);
        assert!(listed.insert(page.clone()), "SUMMARY.md has {} twice", page.display());
    }
    let pages: BTreeSet<PathBuf> = documents()
        .into_iter()
        .filter(|file| file.starts_with("docs") && *file != summary)
        .collect();
    assert_eq!(listed, pages);
}

#[test]
fn every_formula_can_be_rendered() {
    let mut formulas = 0;
    for file in documents().iter().filter(|file| file.starts_with("docs")) {
        let page = rendered(&read(file)).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        formulas += page.matches("<math").count();
    }
    assert!(formulas > 100, "only {formulas} formulas");
}

#[test]
fn the_readme_is_short_and_names_the_test_command() {
    let readme = read(Path::new("README.md"));
    let words = readme.split_whitespace().count();
    assert!(words <= 1000, "README.md has {words} words");
    let commands: Vec<&str> = blocks(&readme).into_iter().take(1).map(|block| block.text).collect();
    assert!(commands[0].contains("cargo run --release -- quickstart"), "{commands:?}");
    assert!(commands[0].contains("cargo xtask test"), "{commands:?}");
}
