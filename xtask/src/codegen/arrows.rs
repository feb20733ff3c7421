//! Dependencies of each crate, as a table for ARCHITECTURE.md.

use crate::workspace::Package;

/// A row for each crate: our own crates it depends on, the libraries of others, and our own crates that only its tests use.
pub(super) fn table(packages: &[Package]) -> String {
    let is_ours = |name: &&String| packages.iter().any(|package| package.name == **name);
    let list = |names: Vec<&String>| -> String {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        if quoted.is_empty() { "nothing".into() } else { quoted.join(", ") }
    };
    let mut table =
        "| crate | depends on ours | on libraries | its tests, also |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for package in packages {
        let (ours, others) = package.dependencies.iter().partition(is_ours);
        let tests: Vec<&String> = package.other_dependencies.iter().filter(is_ours).collect();
        let tests = if tests.is_empty() { String::new() } else { list(tests) };
        table.push_str(&format!(
            "| `{}` | {} | {} | {tests} |\n",
            package.name,
            list(ours),
            list(others)
        ));
    }
    table
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn ours_and_others_are_told_apart() {
        let package = |name: &str, dependencies: &[&str], other: &[&str]| Package {
            name: name.into(),
            folder: PathBuf::new(),
            dependencies: dependencies.iter().map(ToString::to_string).collect(),
            other_dependencies: other.iter().map(ToString::to_string).collect(),
            inherits_lints: true,
        };
        let packages = [
            package("core", &[], &["oracle", "proptest"]),
            package("data", &["arrow", "core"], &[]),
            package("oracle", &[], &[]),
        ];
        let table = table(&packages);
        assert!(table.contains("| `core` | nothing | nothing | `oracle` |\n"), "{table}");
        assert!(table.contains("| `data` | `core` | `arrow` |  |\n"), "{table}");
    }
}
