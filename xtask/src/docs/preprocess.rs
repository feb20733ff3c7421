//! The preprocessor of `book.toml`: mdBook sends the book as JSON and reads it back.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use parsimon_testing::markdown::links;
use serde_json::Value;

use super::math::rendered;
use super::pages::{ROOT_PAGES, relative, resolved, source};

/// Reads `[context, book]` from standard input and writes the book with formulas as MathML and with links that lead to
/// pages of the site.
pub(crate) fn preprocess() -> Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let mut input: Value = serde_json::from_str(&text).context("not a book of mdBook")?;
    let Some(book) = input.get_mut(1) else { bail!("mdBook sent no book") };
    chapters(book)?;
    println!("{book}");
    Ok(())
}

/// Changes every chapter below a value, however mdBook nests them.
fn chapters(value: &mut Value) -> Result<()> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(chapters),
        Value::Object(fields) => {
            if let (Some(Value::String(content)), Some(Value::String(path))) =
                (fields.get("content"), fields.get("source_path"))
            {
                let fresh = page(Path::new(path), content).with_context(|| path.clone())?;
                fields.insert("content".into(), fresh.into());
            }
            fields.values_mut().try_for_each(chapters)
        }
        _ => Ok(()),
    }
}

/// The text of one page of the site.
fn page(path: &Path, content: &str) -> Result<String> {
    let (file, text) = source(path)?;
    let text = text.as_deref().unwrap_or(content);
    rendered(&linked(path, &file, text))
}

/// The text with links that lead to pages of the site; a link to another file of the repository becomes its name.
fn linked(page: &Path, file: &Path, text: &str) -> String {
    let mut fresh = String::with_capacity(text.len());
    let mut at = 0;
    for link in links(text) {
        let (target, anchor) = match link.target.split_once('#') {
            Some((target, anchor)) => (target, format!("#{anchor}")),
            None => (link.target.as_str(), String::new()),
        };
        if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let Some(text_end) = text[link.start..link.end].rfind("](") else { continue };
        let words = &text[link.start..=link.start + text_end];
        let wanted = resolved(file, target);
        fresh.push_str(&text[at..link.start]);
        match on_site(&wanted) {
            Some(on_site) => {
                fresh.push_str(&format!("{words}({}{anchor})", relative(page, &on_site)));
            }
            None if words[1..words.len() - 1].trim_matches('`') == wanted.to_string_lossy() => {
                fresh.push_str(&format!("`{}`", wanted.display()));
            }
            None => {
                let words = &words[1..words.len() - 1];
                fresh.push_str(&format!("{words} (`{}`)", wanted.display()));
            }
        }
        at = link.end;
    }
    fresh.push_str(&text[at..]);
    fresh
}

/// The place on the site of a file of the repository.
fn on_site(file: &Path) -> Option<PathBuf> {
    // mdBook renames README.md, and not the links to it.
    if file == Path::new("README.md") || file == Path::new("docs/README.md") {
        return Some(PathBuf::from("index.md"));
    }
    if file.ends_with("README.md") && file.starts_with("docs") {
        return file.strip_prefix("docs").ok().map(|page| page.with_file_name("index.md"));
    }
    if let Ok(page) = file.strip_prefix("docs") {
        return page.extension().is_some().then(|| page.to_owned());
    }
    ROOT_PAGES.iter().find(|(_, root)| Path::new(root) == file).map(|(page, _)| PathBuf::from(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_on_the_site_or_become_names() {
        let fresh =
            |page: &str, file: &str, text: &str| linked(Path::new(page), Path::new(file), text);
        let on_page = |text: &str| fresh("algorithms/pda.md", "docs/algorithms/pda.md", text);
        assert_eq!(on_page("[a](apa.md#x)"), "[a](../algorithms/apa.md#x)");
        assert_eq!(on_page("[a](#x) [b](https://c)"), "[a](#x) [b](https://c)");
        assert_eq!(on_page("[record](../../record/x.md)."), "record (`record/x.md`).");
        assert_eq!(on_page("[`record/x.md`](../../record/x.md)"), "`record/x.md`");
        assert_eq!(on_page("[c](../../CONTRIBUTING.md)"), "[c](../project/contributing.md)");
        assert_eq!(on_page("[all](../algorithms/README.md)"), "[all](../algorithms/index.md)");
        let root = fresh("project/contributing.md", "CONTRIBUTING.md", "[lab](docs/lab.md)");
        assert_eq!(root, "[lab](../lab.md)");
    }

    #[test]
    fn chapters_are_found_at_any_depth() {
        let mut book = serde_json::json!({"items": [{"Chapter": {"content": "$x$", "source_path": "a.md",
            "sub_items": [{"Chapter": {"content": "$y$", "source_path": "b.md", "sub_items": []}}]}}, "Separator"]});
        chapters(&mut book).unwrap();
        assert_eq!(book.to_string().matches("<math").count(), 2, "{book}");
    }
}
