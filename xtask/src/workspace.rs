//! The packages of the workspace and what they depend on, read from the `Cargo.toml` files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A package of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// Relative to the root.
    pub(crate) folder: PathBuf,
    /// `[dependencies]`, by name, sorted.
    pub(crate) dependencies: Vec<String>,
    /// `[dev-dependencies]` and `[build-dependencies]`.
    pub(crate) other_dependencies: Vec<String>,
    /// Whether the lints of the workspace hold, among them the ban of `unsafe`.
    pub(crate) inherits_lints: bool,
}

impl Package {
    fn read(folder: PathBuf) -> Result<Self> {
        let file = folder.join("Cargo.toml");
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let manifest: toml::Table = text.parse().with_context(|| file.display().to_string())?;
        let name = manifest.get("package").and_then(|p| p.get("name")?.as_str());
        let name = name.with_context(|| format!("{} has no name", file.display()))?.to_owned();
        let names = |sections: &[&str]| -> Vec<String> {
            let tables = sections.iter().filter_map(|section| manifest.get(*section)?.as_table());
            let names: BTreeSet<&String> = tables.flat_map(|table| table.keys()).collect();
            names.into_iter().cloned().collect()
        };
        let dependencies = names(&["dependencies"]);
        let other_dependencies = names(&["dev-dependencies", "build-dependencies"]);
        let lints = manifest.get("lints").and_then(|lints| lints.get("workspace")?.as_bool());
        let inherits_lints = lints == Some(true);
        Ok(Self { name, folder, dependencies, other_dependencies, inherits_lints })
    }

    fn depends_on(&self, names: &BTreeSet<String>) -> bool {
        self.dependencies.iter().chain(&self.other_dependencies).any(|name| names.contains(name))
    }
}

/// All packages, sorted by folder.
pub(crate) fn packages() -> Result<Vec<Package>> {
    let mut folders = vec![PathBuf::from("fuzz"), PathBuf::from("xtask")];
    for entry in std::fs::read_dir("crates").context("crates")? {
        let folder = entry?.path();
        if folder.join("Cargo.toml").exists() {
            folders.push(folder);
        }
    }
    folders.sort();
    folders.into_iter().map(Package::read).collect()
}

/// The packages that have a file among those named, and all that depend on one of them.
pub(crate) fn affected(packages: &[Package], files: &[PathBuf]) -> BTreeSet<String> {
    // Settings of the workspace concern every package.
    let is_shared = |file: &Path| {
        ["Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"]
            .iter()
            .any(|f| file == Path::new(f))
    };
    if files.iter().any(|file| is_shared(file)) {
        return packages.iter().map(|package| package.name.clone()).collect();
    }
    let is_changed =
        |package: &&Package| files.iter().any(|file| file.starts_with(&package.folder));
    let mut names: BTreeSet<String> =
        packages.iter().filter(is_changed).map(|package| package.name.clone()).collect();
    loop {
        let before = names.len();
        let more: Vec<String> = packages
            .iter()
            .filter(|package| package.depends_on(&names))
            .map(|package| package.name.clone())
            .collect();
        names.extend(more);
        if names.len() == before {
            return names;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[&str], other: &[&str]) -> Package {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Package {
            name: name.to_owned(),
            folder: PathBuf::from("crates").join(name),
            dependencies: owned(dependencies),
            other_dependencies: owned(other),
            inherits_lints: true,
        }
    }

    #[test]
    fn who_depends_on_a_change_is_affected() {
        let packages = [
            package("core", &[], &["oracle"]),
            package("data", &["core"], &[]),
            package("oracle", &[], &[]),
            package("page", &[], &[]),
        ];
        let of = |file: &str| -> Vec<String> {
            affected(&packages, &[PathBuf::from(file)]).into_iter().collect()
        };
        assert_eq!(of("crates/core/src/lib.rs"), ["core", "data"]);
        assert_eq!(of("crates/oracle/src/lib.rs"), ["core", "data", "oracle"]);
        assert_eq!(of("docs/cli.md"), [""; 0]);
        assert_eq!(of("Cargo.toml").len(), 4);
    }
}
