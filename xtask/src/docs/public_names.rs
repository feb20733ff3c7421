//! The public names of the crate `parsimon`: at most [`MOST`], each in an example.
//!
//! A name is an item of a public module or of the root, counted once under all of its paths. Items and modules with
//! `#[doc(hidden)]` are not counted: they serve the other crates of this repository. `algorithm::typed` counts as one name: it is
//! a table with one struct for each algorithm.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const MOST: usize = 80;

/// Modules that count as one name.
const TABLES: [&str; 1] = ["typed"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")
}

/// A public item of a source file: the word before its name (`use`, `mod`, `fn`, ...), and the text after the word.
fn public_items(source: &str) -> Vec<(String, String)> {
    let mut items = Vec::new();
    let mut is_hidden = false;
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[doc(hidden)]") {
            is_hidden = true;
        } else if let Some(item) = line.strip_prefix("pub ") {
            let (word, rest) = item.split_once(' ').unwrap_or((item, ""));
            let mut rest = rest.to_owned();
            while word == "use" && !rest.contains(';') {
                rest.push_str(lines.next().expect("a `use` ends with a semicolon").trim());
            }
            if !is_hidden {
                items.push((word.to_owned(), rest));
            }
            is_hidden = false;
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            is_hidden = false;
        }
    }
    items
}

/// The names that a `use` brings into its module, without braces within braces.
fn imported(tree: &str) -> Vec<String> {
    let tree = tree.trim_end_matches(';');
    let list = match tree.split_once('{') {
        Some((_, list)) => list.trim_end_matches('}'),
        None => tree,
    };
    let last = |path: &str| path.rsplit([':', ' ']).next().unwrap_or(path).to_owned();
    list.split(',').map(str::trim).filter(|path| !path.is_empty()).map(last).collect()
}

/// The name at the beginning of an item's text.
fn name(rest: &str) -> String {
    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Adds the names of a module, and of its public modules.
fn names(file: &Path, folder: &Path, found: &mut BTreeSet<String>) {
    let source = std::fs::read_to_string(file).unwrap();
    for (word, rest) in public_items(&source) {
        match word.as_str() {
            "use" => found.extend(imported(&rest)),
            "mod" => {
                let module = name(&rest);
                if TABLES.contains(&module.as_str()) {
                    found.insert(module);
                    continue;
                }
                let (alone, within) = (folder.join(format!("{module}.rs")), folder.join(&module));
                let file = if alone.exists() { alone } else { within.join("mod.rs") };
                names(&file, &within, found);
            }
            _ => {
                found.insert(name(&rest));
            }
        }
    }
}

fn public_names() -> BTreeSet<String> {
    let folder = crates().join("parsimon/src");
    let mut found = BTreeSet::new();
    names(&folder.join("lib.rs"), &folder, &mut found);
    found
}

/// The lines of all examples in the documentation of some crates.
fn examples(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            examples(&path, text);
        } else if path.extension().is_some_and(|e| e == "rs" || e == "md") {
            let source = std::fs::read_to_string(&path).unwrap();
            let is_page = path.extension().is_some_and(|e| e == "md");
            let mut is_example = false;
            for line in source.lines() {
                let line = line.trim_start();
                let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
                let Some(doc) = doc.or(is_page.then_some(line)) else { continue };
                if doc.trim_start().starts_with("```") {
                    is_example = !is_example;
                } else if is_example {
                    text.push_str(doc);
                    text.push('\n');
                }
            }
        }
    }
}

#[test]
fn the_crate_exports_few_names() {
    let names = public_names();
    assert!(names.contains("Trainer") && names.contains("Evaluation") && names.len() > 40);
    assert!(
        names.len() <= MOST,
        "{} public names, at most {MOST}: hide those that users do not need in `workspace`: {names:?}",
        names.len()
    );
}

#[test]
fn every_name_is_in_an_example() {
    let mut text = String::new();
    for folder in ["parsimon/src", "parsimon-core/src", "parsimon-data/src", "parsimon-eval/src"] {
        examples(&crates().join(folder), &mut text);
    }
    examples(&crates().join("parsimon"), &mut text);
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let missing: Vec<String> =
        public_names().into_iter().filter(|name| !words.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "no example of {missing:?}");
}

#[test]
fn hidden_items_do_not_count() {
    let source = "pub mod a;\n#[doc(hidden)]\npub mod b;\n#[doc(inline)]\npub use x::{\n    C, D as E,\n};\npub fn f(g: u8) {}\n";
    let items: Vec<String> = public_items(source)
        .into_iter()
        .flat_map(|(word, rest)| if word == "use" { imported(&rest) } else { vec![name(&rest)] })
        .collect();
    assert_eq!(items, ["a", "C", "E", "f"]);
}
