//! Checks the source against `layers.toml`: a module may use modules of its own layer and of the layers below, never one above,
//! and modules of one layer may not depend on each other in a circle. Dependencies between crates are checked against the same file.

mod messages;
mod tokens;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tokens::Token;

const FILE: &str = "layers.toml";
/// Uses between modules: the user, the used, and a file that has the use.
type Edges = BTreeMap<(String, String), String>;

#[test]
fn every_module_looks_down() -> Result<()> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("a repository")?;
    let text = fs::read_to_string(repository.join(FILE)).context(FILE)?;
    let order: toml::Table = text.parse().context(FILE)?;
    let mut complaints = String::new();
    let crates = crates_of(repository)?;
    for name in order.keys().filter(|name| !crates.iter().any(|(own, _)| own == *name)) {
        writeln!(complaints, "{FILE} lists {name}, which is no crate")?;
    }
    for (name, directory) in &crates {
        let Some(entry) = order.get(name) else {
            writeln!(complaints, "{FILE} does not list the crate {name}")?;
            continue;
        };
        let order = Order::read(entry).with_context(|| format!("{FILE}, {name}"))?;
        let source = Source::read(&directory.join("src"))?;
        for complaint in check(&order, &source) {
            writeln!(complaints, "{name}: {complaint}")?;
        }
        for complaint in check_dependencies(entry, directory)? {
            writeln!(complaints, "{name}: {complaint}")?;
        }
    }
    if !complaints.is_empty() {
        bail!("the order of {FILE} is not kept:\n{complaints}");
    }
    Ok(())
}

/// The crates of the workspace, by directory.
fn crates_of(repository: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut crates = Vec::new();
    for entry in fs::read_dir(repository.join("crates"))? {
        let directory = entry?.path();
        if directory.join("Cargo.toml").exists() {
            let name = directory.file_name().and_then(|name| name.to_str()).context("a name")?;
            crates.push((name.to_owned(), directory.clone()));
        }
    }
    crates.push(("parsimon-fuzz".to_owned(), repository.join("fuzz")));
    crates.sort();
    Ok(crates)
}

/// The entry of a crate in `layers.toml`.
#[derive(Debug, Default)]
struct Order {
    /// The lowest first.
    layers: Vec<Vec<String>>,
    /// Modules that may depend on each other in a circle.
    circle: Vec<String>,
    /// Items defined in the root that modules may use.
    root: Vec<String>,
}

impl Order {
    fn read(entry: &toml::Value) -> Result<Self> {
        let layers = entry.get("layers").and_then(toml::Value::as_array).context("no layers")?;
        let layers = layers.iter().map(|layer| Ok(words(layer.as_str().context("no words")?)));
        let list = |key: &str| entry.get(key).and_then(toml::Value::as_str).map(words);
        Ok(Self {
            layers: layers.collect::<Result<_>>()?,
            circle: list("circle").unwrap_or_default(),
            root: list("root").unwrap_or_default(),
        })
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The modules of a crate and what they use of each other.
#[derive(Debug, Default)]
struct Source {
    modules: BTreeSet<String>,
    edges: Edges,
    /// Items of the root that come from no module, with a file that names each.
    of_root: BTreeMap<String, String>,
}

impl Source {
    fn read(source: &Path) -> Result<Self> {
        let mut files = Vec::new();
        collect(source, &mut Vec::new(), &mut files)?;
        let mut read = Vec::new();
        for (path, module) in files {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            read.push((path.display().to_string(), module, text));
        }
        Ok(Self::of(&read))
    }

    /// Reads files given as name, module path and text. The module path of a root is empty.
    fn of(files: &[(String, Vec<String>, String)]) -> Self {
        let (mut names, mut modules) = (BTreeMap::new(), BTreeSet::new());
        for (_, _, text) in files.iter().filter(|(_, module, _)| module.is_empty()) {
            let tokens = tokens::tokens(text);
            modules.extend(children(&tokens));
            names.extend(uses::names_of_root(&tokens));
        }
        let declared = declared(files);
        let (mut edges, mut of_root) = (Edges::new(), BTreeMap::new());
        for (path, module, text) in files {
            let Some(from) = module.first() else { continue };
            // Skip files that are compiled for tests only.
            if !(1..=module.len()).all(|depth| declared.contains(&module[..depth])) {
                continue;
            }
            for used in uses::paths(&tokens::tokens(text), module) {
                let Some(first) = used.first() else { continue };
                let to = match names.get(first).and_then(|path| path.first()) {
                    _ if modules.contains(first) => first.as_str(),
                    Some(own) if modules.contains(own) => own,
                    // A re-export of another crate.
                    Some(_) => continue,
                    None => {
                        of_root.entry(first.clone()).or_insert_with(|| path.clone());
                        continue;
                    }
                };
                if to != from {
                    let place = format!("{path} names {}", used.join("::"));
                    edges.entry((from.clone(), to.to_owned())).or_insert(place);
                }
            }
        }
        Self { modules, edges, of_root }
    }
}

/// The modules that a file declares and other files contain.
fn children(tokens: &[Token]) -> impl Iterator<Item = String> {
    tokens.windows(3).filter_map(|three| match three {
        [before, name, after] if before.is_word("mod") && after.is(';') => {
            name.word().map(str::to_owned)
        }
        _ => None,
    })
}

/// The paths of all modules that are not compiled for tests only.
fn declared(files: &[(String, Vec<String>, String)]) -> BTreeSet<Vec<String>> {
    let mut all = BTreeSet::new();
    for (_, module, text) in files {
        let own = children(&tokens::tokens(text))
            .map(|child| module.iter().cloned().chain([child]).collect::<Vec<_>>())
            .collect::<Vec<_>>();
        all.extend(own);
    }
    all
}

/// All Rust files below a directory, with their module paths.
fn collect(
    directory: &Path,
    module: &mut Vec<String>,
    files: &mut Vec<(PathBuf, Vec<String>)>,
) -> Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    entries.sort();
    for path in entries {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).context("a name")?.to_owned();
        if path.is_dir() {
            module.push(stem);
            collect(&path, module, files)?;
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_own = ["lib", "main", "mod"].contains(&stem.as_str());
            let own = module.iter().cloned().chain((!is_own).then_some(stem)).collect();
            files.push((path, own));
        }
    }
    Ok(())
}

fn check(order: &Order, source: &Source) -> Vec<String> {
    let Order { layers, circle: known, root } = order;
    let place = |name: &str| layers.iter().position(|layer| layer.iter().any(|own| own == name));
    let mut complaints = Vec::new();
    for module in source.modules.iter().filter(|module| place(module).is_none()) {
        complaints.push(format!("the module {module} has no layer"));
    }
    for module in layers.iter().flatten().filter(|module| !source.modules.contains(*module)) {
        complaints.push(format!("there is no module {module}"));
    }
    for ((from, to), example) in &source.edges {
        if let (Some(own), Some(other)) = (place(from), place(to))
            && other > own
        {
            complaints.push(format!("{from} uses {to}, which is above it: {example}"));
        }
    }
    for (item, file) in source.of_root.iter().filter(|(item, _)| !root.contains(*item)) {
        complaints.push(format!("{file} uses {item}, which the root defines; give it a module"));
    }
    for item in root.iter().filter(|item| !source.of_root.contains_key(*item)) {
        complaints
            .push(format!("no module uses {item} of the root any more: remove it from the list"));
    }
    for layer in layers {
        let mut edges = source.edges.clone();
        // Uses inside of a known circle do not count.
        edges.retain(|(from, to), _| !(known.contains(from) && known.contains(to)));
        if let Some(circle) = circle(layer, &edges) {
            complaints.push(format!("modules of one layer in a circle: {}", circle.join(" -> ")));
        }
    }
    if !known.is_empty() && circle(known, &source.edges).is_none() {
        complaints.push(format!("the list has a circle that is gone: {}", known.join(" ")));
    }
    complaints
}

/// Modules of one layer that use each other in a circle.
fn circle(layer: &[String], edges: &Edges) -> Option<Vec<String>> {
    let mut rest: Vec<&String> = layer.iter().collect();
    // A module that uses no other of the rest is not part of a circle: remove such modules until none is left.
    loop {
        let uses_rest = |module: &&String| {
            rest.iter().any(|&other| edges.contains_key(&((*module).clone(), other.clone())))
        };
        let left: Vec<&String> = rest.iter().copied().filter(uses_rest).collect();
        if left.len() == rest.len() {
            break;
        }
        rest = left;
    }
    // Every module left uses another one left, so following the uses visits some module twice.
    let mut path = vec![(*rest.first()?).clone()];
    loop {
        let last = path.last()?.clone();
        let next =
            rest.iter().find(|&&other| edges.contains_key(&(last.clone(), other.clone())))?;
        if let Some(start) = path.iter().position(|own| own == *next) {
            path.push((*next).clone());
            return Some(path.split_off(start));
        }
        path.push((*next).clone());
    }
}

/// Compares the workspace crates in a manifest with those in `layers.toml`.
fn check_dependencies(entry: &toml::Value, directory: &Path) -> Result<Vec<String>> {
    let manifest = directory.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
    let manifest: toml::Table = text.parse()?;
    let mut complaints = Vec::new();
    for (key, section) in [("uses", "dependencies"), ("tests-use", "dev-dependencies")] {
        let table = manifest.get(section).and_then(toml::Value::as_table);
        let actual: BTreeSet<&str> = table
            .into_iter()
            .flat_map(|table| table.keys().map(String::as_str))
            .filter(|name| *name == "parsimon" || name.starts_with("parsimon-"))
            .collect();
        let listed = entry.get(key).and_then(toml::Value::as_str).unwrap_or_default();
        let listed: BTreeSet<&str> = listed.split_whitespace().collect();
        if actual != listed {
            complaints.push(format!("its {section} are {actual:?}, listed are {listed:?}"));
        }
    }
    Ok(complaints)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(files: &[(&str, &str)]) -> Source {
        let file = |&(module, text): &(&str, &str)| {
            let path = module.split("::").filter(|word| !word.is_empty()).map(str::to_owned);
            (module.to_owned(), path.collect(), text.to_owned())
        };
        Source::of(&files.iter().map(file).collect::<Vec<_>>())
    }

    fn complaints(layers: &[&str], files: &[(&str, &str)]) -> Vec<String> {
        let layers = layers.iter().map(|layer| words(layer)).collect();
        check(&Order { layers, ..Order::default() }, &source(files))
    }

    const ROOT_FILE: (&str, &str) = ("", "mod low; pub mod high; pub use high::Thing;");

    #[test]
    fn looking_down_is_allowed() {
        let files = [ROOT_FILE, ("low", ""), ("high", "use crate::low::a; use super::low;")];
        assert_eq!(complaints(&["low", "high"], &files), Vec::<String>::new());
    }

    #[test]
    fn looking_up_is_not() {
        for text in ["use crate::high::b;", "use crate::{Thing};", "fn f() { super::high::g() }"] {
            let files = [ROOT_FILE, ("low", text), ("high", "")];
            let found = complaints(&["low", "high"], &files);
            assert!(found.len() == 1 && found[0].contains("above it"), "{text}: {found:?}");
        }
        let inner =
            [ROOT_FILE, ("low", "mod inner;"), ("low::inner", "use super::super::high::b;")];
        assert_eq!(complaints(&["low", "high"], &inner).len(), 1);
    }

    #[test]
    fn circles_and_strangers_are_found() {
        let files = [ROOT_FILE, ("low", "use crate::high::a;"), ("high", "use crate::low::b;")];
        let found = complaints(&["low high"], &files);
        assert!(found.len() == 1 && found[0].contains("circle"), "{found:?}");
        let found = complaints(&["low gone"], &files);
        assert!(found.contains(&"the module high has no layer".to_owned()), "{found:?}");
        assert!(found.contains(&"there is no module gone".to_owned()), "{found:?}");
    }

    #[test]
    fn what_the_root_defines_belongs_into_a_module() {
        let files = [ROOT_FILE, ("low", "use crate::thing;"), ("high", "")];
        assert!(complaints(&["low", "high"], &files)[0].contains("which the root defines"));
        let layers = vec![words("low"), words("high")];
        let known = Order { layers, root: words("thing"), ..Order::default() };
        assert_eq!(check(&known, &source(&files)), Vec::<String>::new());
        assert_eq!(check(&known, &source(&[ROOT_FILE])).len(), 1);
    }

    #[test]
    fn a_listed_circle_must_exist() {
        let known =
            Order { layers: vec![words("low high")], circle: words("low high"), root: vec![] };
        let files = [ROOT_FILE, ("low", "use crate::high::a;"), ("high", "use crate::low::b;")];
        assert_eq!(check(&known, &source(&files)), Vec::<String>::new());
        assert_eq!(
            check(&known, &source(&files[..2])),
            ["the list has a circle that is gone: low high"]
        );
    }

    #[test]
    fn files_compiled_for_tests_only_are_skipped() {
        let files = [
            ROOT_FILE,
            ("low", "#[cfg(test)] mod tests; mod inner;"),
            ("low::tests", "use crate::high::a;"),
            ("low::inner", ""),
            ("high", ""),
        ];
        assert_eq!(complaints(&["low", "high"], &files), Vec::<String>::new());
    }
}
