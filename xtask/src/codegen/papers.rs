//! A page for each paper: every numbered statement of `experiments/map.toml` with its code, its twin, the experiments that test it and the recorded verdict.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use toml::Table;

use super::{Mode, between_markers, write};

const FOLDER: &str = "docs/papers";
const MAP: &str = "experiments/map.toml";
const PAPERS: &str = "experiments/papers.toml";
/// What a run of the lab has found, by experiment.
const VERDICTS: &str = "record/verdicts.toml";

/// Writes or compares all pages, their list and their lines in `SUMMARY.md`.
pub(super) fn pages(mode: Mode) -> Result<()> {
    let read = |file: &str| -> Result<Table> {
        let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
        toml::from_str(&text).with_context(|| file.to_owned())
    };
    let (map, papers, verdicts) = (read(MAP)?, read(PAPERS)?, read(VERDICTS)?);
    let entries = tables(&map, "entry");
    let mut list = HEAD.to_owned();
    let mut summary = "- [Statement by statement](papers/README.md)\n".to_owned();
    let mut wanted = vec![PathBuf::from(FOLDER).join("README.md")];
    for paper in tables(&papers, "paper") {
        let name = word(paper, "name");
        let own: Vec<&Table> =
            entries.iter().filter(|e| word(e, "paper") == name).copied().collect();
        if own.is_empty() {
            continue;
        }
        let path = PathBuf::from(FOLDER).join(format!("{name}.md"));
        write(&path, &page(paper, &own, &verdicts)?, mode)?;
        let misprints = own.iter().filter(|e| e.contains_key("misprint")).count();
        let (title, from) = (word(paper, "title"), word(paper, "from"));
        writeln!(list, "| [{name}]({name}.md) | {title}. {from} | {} | {misprints} |", own.len())?;
        writeln!(summary, "    - [{name}](papers/{name}.md)")?;
        wanted.push(path);
    }
    for entry in std::fs::read_dir(FOLDER)? {
        let path = entry?.path();
        if !wanted.contains(&path) {
            bail!("{} is the page of no paper: remove it", path.display());
        }
    }
    write(&wanted[0], &list, mode)?;
    between_markers(Path::new("docs/SUMMARY.md"), "papers", &summary, mode)
}

const HEAD: &str = "<!-- Written by `cargo xtask codegen` from experiments/map.toml. -->

# The papers, statement by statement

Every numbered equation, algorithm, table, figure and theorem that can be tested, in the order of its paper: what it says, the file that has it, the dense
twin that the file is held to, the command that tests it, the verdict recorded in [`record/verdicts.toml`](../../record/verdicts.toml), and what is printed
wrong. `parsimon reproduce --paper slides \"Table 2\"` runs the test of a statement; [the lab](../lab.md) says how verdicts come about.

| name | paper | statements | misprints and corrections |
| --- | --- | ---: | ---: |
";

fn page(paper: &Table, entries: &[&Table], verdicts: &Table) -> Result<String> {
    let (name, title, from) = (word(paper, "name"), word(paper, "title"), word(paper, "from"));
    let mut text = format!(
        "<!-- Written by `cargo xtask codegen` from experiments/map.toml. -->\n\n# {name}\n\n*{title}.* {from}.\n\nIn the order of the paper; [all papers](README.md). {}\n",
        notebook(name)?
    );
    for entry in entries {
        let at = word(entry, "at");
        write!(text, "\n## {at}\n\n{}\n", word(entry, "says"))?;
        if let Some(formula) = entry.get("formula").and_then(toml::Value::as_str) {
            write!(text, "\n$$\n{formula}\n$$\n")?;
        }
        let lines = lines(entry, verdicts).with_context(|| format!("{name} {at}"))?;
        if !lines.is_empty() {
            write!(text, "\n{lines}")?;
        }
    }
    Ok(text)
}

/// The link to the notebook that walks through the paper.
fn notebook(name: &str) -> Result<String> {
    let file = format!("python/examples/notebooks/paper-{name}.ipynb");
    if !Path::new(&file).exists() {
        bail!("{name} has no notebook {file}");
    }
    Ok(format!("A walk through its argument: [notebook](../../{file})."))
}

/// Where it is, what tests it, what is printed wrong.
fn lines(entry: &Table, verdicts: &Table) -> Result<String> {
    let mut text = String::new();
    let mut places = Vec::new();
    if let Some(code) = entry.get("code").and_then(toml::Value::as_str) {
        places.push(format!("code {}", link(&file(code, "parsimon-core"))?));
    }
    if let Some(twin) = entry.get("twin").and_then(toml::Value::as_str) {
        places.push(format!("twin {}", link(&file(twin, "parsimon-oracle"))?));
    }
    let methods = words(entry, "methods");
    if !methods.is_empty() {
        let links: Vec<String> =
            methods.iter().map(|m| format!("[`{m}`](../algorithms/{m}.md)")).collect();
        places.push(format!("methods {}", links.join(", ")));
    }
    if !places.is_empty() {
        writeln!(text, "* {}", places.join("; "))?;
    }
    for id in words(entry, "experiments") {
        let recorded = verdicts.get(id).and_then(toml::Value::as_table);
        let verdict = match recorded {
            Some(found) => {
                let number = word(found, "number");
                let number = if number.is_empty() { String::new() } else { format!(" ({number})") };
                format!("**{}**{number}; {}", word(found, "verdict"), word(found, "run"))
            }
            None => "no verdict recorded".to_owned(),
        };
        writeln!(text, "* [`parsimon reproduce {id}`](../../experiments/{id}.toml): {verdict}")?;
    }
    if let Some(misprint) = entry.get("misprint").and_then(toml::Value::as_str) {
        writeln!(text, "* Printed and corrected: {misprint}")?;
    }
    Ok(text)
}

/// `core:rule/leader.rs`, `lab:kind/regret.rs`, or a file of the crate that is meant without a prefix.
fn file(place: &str, usual: &str) -> String {
    match place.split_once(':') {
        Some(("lab", file)) => format!("crates/parsimon-lab/src/{file}"),
        Some((_, file)) => format!("crates/parsimon-core/src/{file}"),
        None => format!("crates/{usual}/src/{place}"),
    }
}

fn link(file: &str) -> Result<String> {
    if !Path::new(file).exists() {
        bail!("there is no {file}");
    }
    let short = file.trim_start_matches("crates/").replace("/src", "");
    Ok(format!("[`{short}`](../../{file})"))
}

fn tables<'a>(table: &'a Table, name: &str) -> Vec<&'a Table> {
    let list = table.get(name).and_then(toml::Value::as_array);
    list.into_iter().flatten().filter_map(toml::Value::as_table).collect()
}

fn word<'a>(table: &'a Table, name: &str) -> &'a str {
    table.get(name).and_then(toml::Value::as_str).unwrap_or_default()
}

fn words<'a>(table: &'a Table, name: &str) -> Vec<&'a str> {
    let list = table.get(name).and_then(toml::Value::as_array);
    list.into_iter().flatten().filter_map(toml::Value::as_str).collect()
}
