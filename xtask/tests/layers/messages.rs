//! Messages of the libraries name no flags: each door writes the settings of a remedy in its own way.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::tokens::strings;

/// The crates whose messages reach users of the program, of Python and of the service.
const LIBRARIES: [&str; 4] = ["parsimon-core", "parsimon-data", "parsimon-files", "parsimon"];

#[test]
fn no_string_of_a_library_names_a_flag() -> Result<()> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("a repository")?;
    let mut found = Vec::new();
    for name in LIBRARIES {
        search(&repository.join("crates").join(name).join("src"), &mut found)?;
    }
    if !found.is_empty() {
        bail!("these strings name flags; attach a remedy instead:\n{}", found.join("\n"));
    }
    Ok(())
}

/// Adds the strings below a folder that contain the beginning of a flag.
fn search(folder: &Path, found: &mut Vec<String>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            search(&path, found)?;
            continue;
        }
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let is_test = name.ends_with("tests") || name == "testing";
        if is_test || path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let source = fs::read_to_string(&path)?;
        let named = strings(&source).into_iter().filter(|text| text.contains("--"));
        found.extend(named.map(|text| format!("{}: {text}", path.display())));
    }
    Ok(())
}

#[test]
fn strings_are_found_and_comments_are_not() {
    let source = "// \"a --x\"\nlet a = \"b --y\"; let c = '\"'; /* \"d\" */ r#\"e\"f\"#; 'x: loop {}\n\
                  #[cfg(test)]\nmod tests { \"g\" }";
    assert_eq!(strings(source), ["\"b --y\"", "r#\"e\"f\"#"]);
}
