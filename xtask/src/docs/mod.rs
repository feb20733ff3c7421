//! `cargo xtask docs`: the documentation as a site, by mdBook. `book.toml` calls this program back for every page.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{cargo, run, target, works};

#[cfg(test)]
mod checks;
#[cfg(test)]
mod contributing;
mod math;
mod pages;
mod preprocess;
#[cfg(test)]
mod public_names;
#[cfg(test)]
mod records;

pub(crate) use preprocess::preprocess;

/// Builds the site in `target/book` and checks that its pages load nothing from elsewhere.
pub(crate) fn docs() -> Result<()> {
    let mut build = Command::new(install()?);
    build.args(["build", "--dest-dir"]).arg(std::env::current_dir()?.join(target()).join("book"));
    run(build)?;
    let site = Path::new(&target()).join("book");
    let pages = loads_nothing(&site)?;
    println!("{pages} pages: open {}/index.html", site.display());
    Ok(())
}

/// Finds mdBook, or installs it below the target folder, which takes minutes.
fn install() -> Result<PathBuf> {
    let tools = Path::new(&target()).join("tools");
    let candidates = [PathBuf::from("mdbook"), tools.join("bin/mdbook")];
    if let Some(program) = candidates.iter().find(|p| works(&p.to_string_lossy(), "--version")) {
        return Ok(program.clone());
    }
    println!("installs mdbook in {}", tools.display());
    let mut install = cargo();
    install.args(["install", "--quiet", "--locked", "--root"]).arg(&tools);
    install.args(["mdbook", "--no-default-features", "--features", "search"]);
    run(install)?;
    Ok(tools.join("bin/mdbook"))
}

/// The number of pages below a folder. A script, style or image from another host is an error.
fn loads_nothing(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            count += loads_nothing(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let page = std::fs::read_to_string(&path)?;
            if let Some(outside) = loaded_from_outside(&page) {
                bail!("{} loads {outside}", path.display());
            }
            count += 1;
        }
    }
    Ok(count)
}

/// The first address of another host in an attribute that a browser loads.
fn loaded_from_outside(page: &str) -> Option<&str> {
    page.split('<').find_map(|tag| {
        let attribute = match tag.split_whitespace().next()? {
            "script" | "img" | "iframe" | "source" => "src=\"",
            "link" => "href=\"",
            _ => return None,
        };
        let address = tag.split_once(attribute)?.1.split('"').next()?;
        (address.starts_with("http") || address.starts_with("//")).then_some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::loaded_from_outside;

    #[test]
    fn links_may_leave_the_site_and_scripts_may_not() {
        assert_eq!(loaded_from_outside("<a href=\"https://x\">"), None);
        assert_eq!(loaded_from_outside("<script src=\"toc.js\">"), None);
        assert_eq!(loaded_from_outside("<p><script src=\"https://x/y\">"), Some("https://x/y"));
        assert_eq!(loaded_from_outside("<link rel=\"s\" href=\"//x\">"), Some("//x"));
    }
}
