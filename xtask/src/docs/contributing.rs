//! The tables of CONTRIBUTING.md that walk through real changes: the files are there and hold what the table names, and where a
//! list is marked as complete, no other file knows the thing.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A walk: the rows of a table, and the word and folder for which it is complete.
struct Walk {
    complete: Option<(String, String)>,
    /// File and what to look for in it.
    rows: Vec<(String, String)>,
}

fn walks(text: &str) -> Vec<Walk> {
    let mut found = Vec::new();
    let mut complete = None;
    let mut is_table = false;
    for line in text.lines() {
        if let Some(claim) =
            line.strip_prefix("<!-- complete: ").and_then(|l| l.strip_suffix(" -->"))
        {
            complete =
                claim.split_once(" in ").map(|(word, folder)| (word.to_owned(), folder.to_owned()));
        } else if line == "| file | what the change added | look for |" {
            is_table = true;
            found.push(Walk { complete: complete.take(), rows: Vec::new() });
        } else if is_table && line.starts_with("| `") {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let quoted = |cell: &str| cell.trim().trim_matches('`').to_owned();
            let row = (quoted(cells[0]), quoted(cells[cells.len() - 1]));
            if let Some(walk) = found.last_mut() {
                walk.rows.push(row);
            }
        } else if !line.starts_with("| ---") {
            is_table = false;
        }
    }
    found
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn the_files_of_real_changes_are_listed_truly() {
    let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let walks = walks(&text);
    assert_eq!(
        walks.len(),
        9,
        "a loss, a penalty, an algorithm, a format, a filter, a command, a flag, an address of the service, an experiment"
    );
    let mut wrong = Vec::new();
    for walk in &walks {
        assert!(!walk.rows.is_empty());
        for (file, word) in &walk.rows {
            let is_there =
                std::fs::read_to_string(root().join(file)).is_ok_and(|text| text.contains(word));
            if !is_there {
                wrong.push(format!("{file} does not have {word}"));
            }
        }
        let Some((word, folder)) = &walk.complete else { continue };
        let is_lower = *word == word.to_lowercase();
        for path in rust_files(&root().join(folder)) {
            let text = std::fs::read_to_string(&path).unwrap();
            let knows =
                if is_lower { text.to_lowercase().contains(word) } else { text.contains(word) };
            let file = path.strip_prefix(root()).unwrap().display().to_string();
            if knows && !walk.rows.iter().any(|(listed, _)| *listed == file) {
                wrong.push(format!("{file} has {word} and is not listed"));
            }
        }
    }
    assert!(wrong.is_empty(), "CONTRIBUTING.md:\n{}", wrong.join("\n"));
}
