//! The pages of the documentation: which files they are, and where their links lead.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result};

/// Pages of the site whose text stands in the root of the repository.
pub(super) const ROOT_PAGES: [(&str, &str); 5] = [
    ("project/architecture.md", "ARCHITECTURE.md"),
    ("project/changelog.md", "CHANGELOG.md"),
    ("project/contributing.md", "CONTRIBUTING.md"),
    ("project/releasing.md", "RELEASING.md"),
    ("project/security.md", "SECURITY.md"),
];

/// All Markdown files below a folder, sorted.
#[cfg(test)]
pub(super) fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(below(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Where a link of a page leads, both relative to the root of the repository.
pub(super) fn resolved(page: &Path, target: &str) -> PathBuf {
    let mut path = PathBuf::new();
    let folder = page.parent().unwrap_or(Path::new(""));
    for part in folder.join(target).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

/// A path of the site from the folder of one of its pages.
pub(super) fn relative(page: &Path, target: &Path) -> String {
    let depth = page.components().count().saturating_sub(1);
    format!("{}{}", "../".repeat(depth), target.display())
}

/// The text of a page of the site, and the file it stands in, from the root of the repository.
pub(super) fn source(page: &Path) -> Result<(PathBuf, Option<String>)> {
    let root = ROOT_PAGES.iter().find(|(name, _)| Path::new(name) == page);
    let Some((_, file)) = root else { return Ok((Path::new("docs").join(page), None)) };
    let text = std::fs::read_to_string(file).with_context(|| (*file).to_owned())?;
    Ok((PathBuf::from(file), Some(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_and_made() {
        let page = Path::new("docs/algorithms/pda.md");
        assert_eq!(resolved(page, "../../README.md"), Path::new("README.md"));
        assert_eq!(resolved(page, "apa.md"), Path::new("docs/algorithms/apa.md"));
        assert_eq!(relative(Path::new("algorithms/pda.md"), Path::new("cli.md")), "../cli.md");
        assert_eq!(
            relative(Path::new("cli.md"), Path::new("algorithms/pda.md")),
            "algorithms/pda.md"
        );
    }
}
