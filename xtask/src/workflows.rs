//! The workflows of GitHub: checked by actionlint where it is installed, and their commands by a test.

use std::path::Path;
use std::process::Command;

use crate::command::{run, works};
use crate::table::Table;

/// Checks the workflows with actionlint.
pub(crate) fn step(table: &mut Table) {
    const STEP: &str = "workflows";
    if !works("actionlint", "-version") {
        return table.not_run(STEP, "actionlint is not installed");
    }
    table.step(STEP, || {
        let mut lint = Command::new("actionlint");
        for file in std::fs::read_dir(Path::new(".github/workflows"))? {
            lint.arg(file?.path());
        }
        run(lint)
    });
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// Words of the workflows, with the file.
    fn words() -> Vec<(String, Vec<String>)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let read = |path: &Path| {
            let text = std::fs::read_to_string(path).unwrap();
            (path.display().to_string(), text.split_whitespace().map(str::to_owned).collect())
        };
        files.map(|path| read(&path)).collect()
    }

    #[test]
    fn chores_that_workflows_run_exist() {
        let mut count = 0;
        for (file, words) in words() {
            for three in words.windows(3).filter(|w| w[0] == "cargo" && w[1] == "xtask") {
                let listed = |line: &str| line.split_whitespace().next() == Some(&three[2]);
                assert!(crate::USAGE.lines().any(listed), "{file}: {}", three[2]);
                count += 1;
            }
        }
        assert!(count >= 2, "{count} chores");
    }

    #[test]
    fn files_and_packages_that_workflows_name_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut count = 0;
        for (file, words) in words() {
            let tests = words.iter().filter_map(|word| word.strip_prefix("../python/tests/"));
            for name in tests {
                assert!(root.join("python/tests").join(name).is_file(), "{file}: {name}");
                count += 1;
            }
            let named = words.windows(2).filter(|w| w[0] == "-p" && w[1].starts_with("parsimon"));
            for package in named.map(|w| &w[1]) {
                let manifest = root.join("crates").join(package).join("Cargo.toml");
                assert!(manifest.is_file(), "{file}: {package}");
                count += 1;
            }
        }
        assert!(count >= 5, "{count} names");
    }
}
