//! The modules that may contain `unsafe`, as a table for SECURITY.md.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::Package;

/// What would break if the `unsafe` of a module were wrong: files of tests, or names of tests in the module itself.
const TESTS: [(&str, &str); 16] = [
    ("crates/parsimon-cancel-c/src/abi.rs", "crates/parsimon-cancel-c/tests/check.c"),
    ("crates/parsimon-cli/src/allocation.rs", "crates/parsimon-cli/tests/memory.rs"),
    (
        "crates/parsimon-cli/src/interrupt.rs",
        "crates/parsimon-cli/tests/interrupts.rs, crates/parsimon-cli/tests/signals.rs",
    ),
    ("crates/parsimon-core/src/huge.rs", "room_is_room (address sanitizer)"),
    ("crates/parsimon-core/src/prefetch.rs", "nothing_changes, no_index_does_harm (Miri)"),
    ("crates/parsimon-core/src/scattered.rs", "items_are_those_of_a_checked_copy (twin and Miri)"),
    ("crates/parsimon-core/src/score/avx2.rs", "crates/parsimon-core/src/score/tests.rs (twin)"),
    ("crates/parsimon-core/src/score/mod.rs", "crates/parsimon-core/src/score/tests.rs (twin)"),
    ("crates/parsimon-core/src/vector.rs", "both_ways_give_the_same_bits (twin and Miri)"),
    ("crates/parsimon-core/src/wide.rs", "wide_and_narrow_give_the_same_bits (twin and Miri)"),
    (
        "crates/parsimon-data/src/four_features.rs",
        "no_bytes_and_no_places_do_harm (address sanitizer), four_are_read_as_one_by_one (twin)",
    ),
    ("crates/parsimon-data/src/row_sort.rs", "wide_and_narrow_give_the_same_ranks (twin and Miri)"),
    ("crates/parsimon-data/src/separators.rs", "wide_and_narrow_find_the_same (twin and Miri)"),
    (
        "crates/parsimon-data/src/svmlight.rs",
        "crates/parsimon-data/tests/properties.rs (a naive twin), fuzz/src/targets/text.rs",
    ),
    ("crates/parsimon-python/src/capsule.rs", "python/tests/test_tables.py"),
    ("crates/parsimon-testing/src/allocation.rs", "crates/parsimon-core/tests/allocation.rs"),
];

/// The tests of a module. A file that is not there, or a name that the module does not have, is an error.
fn tests_of(file: &Path, text: &str) -> Result<&'static str> {
    let known = TESTS.iter().find(|(module, _)| Path::new(module) == file);
    let (_, tests) = known.with_context(|| {
        format!("{}: name the test of its unsafe code in TESTS", file.display())
    })?;
    for test in tests.split(", ") {
        let name = test.split(' ').next().unwrap_or(test);
        let is_there = if name.contains('/') {
            Path::new(name).exists()
        } else {
            text.contains(&format!("fn {name}("))
        };
        if !is_there {
            bail!("{}: the test {name} is not there", file.display());
        }
    }
    Ok(tests)
}

/// How many `unsafe` blocks and implementations a text has, without its tests.
fn blocks(text: &str) -> usize {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| line.matches("unsafe {").count() + line.matches("unsafe impl").count()).sum()
}

/// A row for each module that lifts the workspace's ban, with the first sentence of its documentation.
pub(super) fn table(packages: &[Package]) -> Result<String> {
    let mut table = "| module | what it is | blocks | what would break if one were wrong |\n| --- | --- | --- | --- |\n".to_owned();
    for package in packages {
        if !package.inherits_lints {
            bail!("{}/Cargo.toml lacks `lints.workspace = true`", package.folder.display());
        }
        for file in sources(&package.folder.join("src"))? {
            let text =
                std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
            if allows_unsafe(&text) {
                let sentence = first_sentence(&text);
                let sentence =
                    sentence.with_context(|| format!("{} has no documentation", file.display()))?;
                let (blocks, tests) = (blocks(&text), tests_of(&file, &text)?);
                table.push_str(&format!(
                    "| `{}` | {sentence} | {blocks} | {tests} |\n",
                    file.display()
                ));
            }
        }
    }
    Ok(table)
}

/// All Rust files below a folder, sorted.
fn sources(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Whether an attribute in the text, of the module or of an item, lifts the ban.
fn allows_unsafe(text: &str) -> bool {
    let mut attribute = String::new();
    for line in text.lines().map(str::trim) {
        let is_start = line.starts_with("#[") || line.starts_with("#![");
        if attribute.is_empty() && !is_start {
            continue;
        }
        attribute.push_str(line);
        if line.ends_with(']') {
            let is_ban = attribute.contains("deny(") || attribute.contains("forbid(");
            if attribute.contains("unsafe_code") && !is_ban {
                return true;
            }
            attribute.clear();
        }
    }
    false
}

/// The first sentence of a module's documentation, on one line.
fn first_sentence(text: &str) -> Option<String> {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let words: Vec<&str> = lines.map(str::trim).take_while(|line| !line.is_empty()).collect();
    let paragraph = words.join(" ");
    // A point within quoted code ends no sentence.
    let is_end = |(at, _): &(usize, &str)| paragraph[..*at].matches('`').count().is_multiple_of(2);
    let end = paragraph.match_indices(". ").find(is_end).map_or(paragraph.len(), |(at, _)| at);
    let sentence = paragraph[..end].trim_end_matches('.');
    (!sentence.is_empty()).then(|| sentence.replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_lift_the_ban_is_seen() {
        assert!(allows_unsafe("//! A.\n#![allow(unsafe_code)]\n"));
        assert!(allows_unsafe("#![allow(\n    unsafe_code,\n    reason = \"why\"\n)]\n"));
        assert!(allows_unsafe("#[expect(dead_code, unsafe_code)]\nfn f() {}\n"));
        assert!(!allows_unsafe("#![allow(dead_code)]\n// unsafe_code is denied here.\n"));
        assert!(!allows_unsafe("    let quoted = \"#![allow(unsafe_code)]\";\n"));
    }

    #[test]
    fn the_first_sentence_may_run_over_lines() {
        let text = "//! Asks for\n//! large pages. Changes nothing.\n//!\n//! More.\n";
        assert_eq!(first_sentence(text).as_deref(), Some("Asks for large pages"));
        let quoted = "//! `label ... # comment`: a row. More.\n";
        assert_eq!(first_sentence(quoted).as_deref(), Some("`label ... # comment`: a row"));
        assert_eq!(first_sentence("use std::io;\n"), None);
    }
}
