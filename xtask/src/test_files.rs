//! Where `tests/all.rs` lists the test files of a crate, a file that is not listed would never run: it is an error.

use std::collections::BTreeSet;
use std::path::Path;

use crate::workspace::packages;

/// The modules that a file declares, on lines such as `mod twins;`.
fn modules(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.trim().strip_prefix("mod ")?.strip_suffix(';'))
}

#[test]
fn every_test_file_is_part_of_a_test_program() {
    // Tests run in the folder of their package.
    std::env::set_current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    let mut forgotten = Vec::new();
    for package in packages().unwrap() {
        let manifest = std::fs::read_to_string(package.folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let is_automatic = manifest["package"].get("autotests").is_none_or(|v| v != &false.into());
        let Ok(entries) = std::fs::read_dir(package.folder.join("tests")) else { continue };
        if is_automatic {
            continue;
        }
        let files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        let files = files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs"));
        let tests = manifest.get("test").and_then(|tests| tests.as_array());
        let mut known: BTreeSet<String> = tests
            .into_iter()
            .flatten()
            .map(|test| test["name"].as_str().unwrap().to_owned())
            .collect();
        let files: Vec<_> = files.collect();
        for file in &files {
            let text = std::fs::read_to_string(file).unwrap();
            known.extend(modules(&text).map(str::to_owned));
        }
        let is_forgotten = |file: &&&std::path::PathBuf| {
            !known.contains(file.file_stem().unwrap().to_str().unwrap())
        };
        forgotten.extend(files.iter().filter(is_forgotten).map(|file| file.display().to_string()));
    }
    assert!(forgotten.is_empty(), "no test program has these files: {}", forgotten.join(", "));
}
