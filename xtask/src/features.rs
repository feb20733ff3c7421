//! The program without its features, and with each of them alone.

use anyhow::{Context, Result};

use crate::command::{cargo, run};

const MANIFEST: &str = "crates/parsimon-cli/Cargo.toml";

/// Lints the program in every such build, and tests the smallest.
pub(crate) fn check() -> Result<()> {
    lint(&[])?;
    let manifest = std::fs::read_to_string(MANIFEST).context(MANIFEST)?;
    for feature in names(&manifest)? {
        lint(&["--features", &feature])?;
    }
    // Optimizing for a few small runs takes longer than they do.
    let mut test = cargo();
    test.args(["test", "-p", "parsimon-cli", "--no-default-features", "--profile", "plain"]);
    test.args(["--test", "all", "left_out::"]);
    run(test)
}

fn lint(features: &[&str]) -> Result<()> {
    let mut clippy = cargo();
    clippy
        .args(["clippy", "--quiet", "-p", "parsimon-cli", "--no-default-features"])
        .args(features);
    clippy.args(["--", "-D", "warnings"]);
    run(clippy)
}

/// The features of a manifest, but for the default ones.
fn names(manifest: &str) -> Result<Vec<String>> {
    let manifest: toml::Table = manifest.parse()?;
    let features = manifest.get("features").and_then(toml::Value::as_table);
    let names = features.context("the manifest has no features")?.keys();
    Ok(names.filter(|name| *name != "default").cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn features_are_read_from_the_manifest() {
        let manifest = "[features]\ndefault = [\"b\"]\nb = []\na = []\n";
        assert_eq!(names(manifest).unwrap(), ["a", "b"]);
        assert!(names("[package]\nname = \"x\"\n").is_err());
    }
}
