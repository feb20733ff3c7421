//! A page for each algorithm: the card and settings of the code, the notes of `docs/algorithms/notes.toml`, an example with
//! its output, and links to the twin and to the experiments that run it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Mode, between_markers, parsimon, program, write};

/// Where the pages are.
const FOLDER: &str = "docs/algorithms";
const NOTES: &str = "docs/algorithms/notes.toml";

/// Rows with numbers as labels, whose mean is far from zero.
const NUMBERS: &str = r#"awk 'BEGIN { s = 1
  for (t = 0; t < 5000; t++) {
    y = 0; row = ""
    for (j = 1; j <= 10; j++) { s = s * 16807 % 2147483647; x = 5 + s / 2147483647; y += (j % 5 - 2) * x; row = row " " j ":" x }
    print y row } }' > far.svm
"#;

/// A function of one input that is not linear.
const WAVE: &str = r#"awk 'BEGIN { s = 1; print "x,y"
  for (t = 0; t < 3000; t++) { s = s * 16807 % 2147483647; x = 2 * s / 2147483647 - 1; print x "," sin(6 * x) } }' > wave.csv
"#;

struct Notes {
    formula: String,
    about: String,
    use_when: String,
    avoid: String,
    twin: String,
    /// The method whose page has the derivation.
    page: Option<String>,
    derivation: Option<String>,
    example: String,
}

/// Writes or compares all pages, their table and their lines in `SUMMARY.md`.
pub(super) fn pages(mode: Mode) -> Result<()> {
    let notes = notes()?;
    let cards: Vec<Value> = serde_json::from_str(&parsimon(&["algorithms", "--json"])?)?;
    let names: Vec<&str> = cards.iter().map(|card| word(card, "name")).collect();
    if let Some(name) = notes.keys().find(|name| !names.contains(&name.as_str())) {
        bail!("{NOTES}: there is no algorithm {name}");
    }
    let experiments = experiments()?;
    let mut summary = "- [All algorithms](algorithms/README.md)\n".to_owned();
    let mut wanted = vec![PathBuf::from(FOLDER).join("README.md")];
    for card in &cards {
        let name = word(card, "name");
        let notes = notes.get(name).with_context(|| format!("{NOTES} lacks [{name}]"))?;
        let path = PathBuf::from(FOLDER).join(format!("{name}.md"));
        let page = page(card, notes, &experiments).with_context(|| name.to_owned())?;
        write(&path, &page, mode)?;
        summary.push_str(&format!("    - [{name}](algorithms/{name}.md)\n"));
        wanted.push(path);
    }
    for entry in std::fs::read_dir(FOLDER)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "md") && !wanted.contains(&path) {
            bail!("{} is the page of no algorithm: remove it", path.display());
        }
    }
    between_markers(Path::new("docs/SUMMARY.md"), "algorithms", &summary, mode)?;
    let table = linked_table(&parsimon(&["algorithms", "--markdown"])?);
    between_markers(&Path::new(FOLDER).join("README.md"), "algorithms", &table, mode)
}

/// The table of all algorithms, with the names as links and without its padding.
fn linked_table(table: &str) -> String {
    let mut fresh = String::new();
    for (number, line) in table.lines().enumerate() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let first = match number {
            0 => cells[0].to_owned(),
            1 => "---".to_owned(),
            _ => format!("[{0}]({0}.md)", cells[0]),
        };
        let rest = cells[1..].iter().map(|cell| if number == 1 { "---" } else { *cell });
        let rest: Vec<&str> = rest.collect();
        fresh.push_str(&format!("| {first} | {} |\n", rest.join(" | ")));
    }
    fresh
}

fn notes() -> Result<BTreeMap<String, Notes>> {
    let text = std::fs::read_to_string(NOTES).context(NOTES)?;
    let table: toml::Table = text.parse().context(NOTES)?;
    let mut notes = BTreeMap::new();
    for (name, entry) in table {
        let optional = |key: &str| Some(entry.get(key)?.as_str()?.to_owned());
        let field =
            |key: &str| optional(key).with_context(|| format!("{NOTES}: [{name}] lacks {key}"));
        let twin = format!("crates/parsimon-oracle/src/{}", field("twin")?);
        if !Path::new(&twin).exists() {
            bail!("{NOTES}: [{name}]: there is no {twin}");
        }
        let fresh = Notes {
            formula: field("formula")?,
            about: field("about")?,
            use_when: field("use")?,
            avoid: field("avoid")?,
            twin,
            page: optional("page"),
            derivation: optional("derivation"),
            example: field("example")?,
        };
        notes.insert(name, fresh);
    }
    Ok(notes)
}

/// The experiments by the algorithms that their methods name.
fn experiments() -> Result<BTreeMap<String, Vec<String>>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for paper in sorted("experiments")? {
        if !paper.is_dir() {
            continue;
        }
        for file in sorted(&paper)? {
            let text = std::fs::read_to_string(&file)?;
            for part in text.split("algorithm = \"").skip(1) {
                let name = part.split('"').next().unwrap_or(part);
                let files = found.entry(name.to_owned()).or_default();
                let file = file.display().to_string();
                if !files.contains(&file) {
                    files.push(file);
                }
            }
        }
    }
    Ok(found)
}

fn sorted(folder: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = entries.collect::<Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn page(
    card: &Value,
    notes: &Notes,
    experiments: &BTreeMap<String, Vec<String>>,
) -> Result<String> {
    let name = word(card, "name");
    let (commands, output) = example(name, &notes.example)?;
    let mut page = format!(
        "<!-- Written by `cargo xtask codegen` from the card in crates/parsimon/src/algorithm/ and from notes.toml. -->\n\n\
         # {name}\n\n$$\n{}\n$$\n\n{}\n\n",
        notes.formula, notes.about
    );
    page.push_str(&format!("**From.** {}.\n\n", word(card, "paper").trim_end_matches('.')));
    page.push_str(&format!(
        "**Use it when:** {}\n\n**Do not use it when:** {}\n\n",
        notes.use_when, notes.avoid
    ));
    page.push_str(&format!("**Cost per example:** {}.\n\n", word(card, "cost")));
    page.push_str(&format!(
        "In the table of [all algorithms](README.md): loss {}; penalty {}; center {}.\n\n",
        word(card, "a"),
        word(card, "b"),
        word(card, "c")
    ));
    page.push_str(
        "## Settings\n\n| setting | default | values | meaning |\n| --- | --- | --- | --- |\n",
    );
    for setting in card.get("parameters").and_then(Value::as_array).into_iter().flatten() {
        let default = match setting.get("default") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => format!("`{text}`"),
            Some(other) => format!("`{other}`"),
        };
        let cell = |key: &str| word(setting, key).replace('|', "\\|");
        page.push_str(&format!(
            "| `{}` | {default} | {} | {} |\n",
            word(setting, "name"),
            cell("is"),
            cell("about")
        ));
    }
    page.push_str(&format!("\n## Example\n\n```sh\n{commands}```\n\n```text\n{output}```\n\n"));
    if let Some(derivation) = &notes.derivation {
        page.push_str(&format!("## Derivation\n\n{}\n\n", derivation.trim()));
    }
    page.push_str("## See also\n\n");
    if let Some(method) = &notes.page {
        page.push_str(&format!(
            "* [Derivation, measurements and pitfalls]({method}.md#derivation)\n"
        ));
    }
    page.push_str("* [Notation](../notation.md), [which method?](../choosing.md)\n");
    page.push_str(&format!(
        "* The twin, a dense implementation from the formula: [`{0}`](../../{0})\n",
        notes.twin
    ));
    for file in experiments.get(name).into_iter().flatten() {
        let experiment = file.trim_start_matches("experiments/").trim_end_matches(".toml");
        page.push_str(&format!("* `parsimon reproduce {experiment} --quick` runs an experiment with it: [`{file}`](../../{file})\n"));
    }
    Ok(page)
}

/// The commands of an example and what they print.
fn example(name: &str, example: &str) -> Result<(String, String)> {
    let (kind, flags) = example.split_once(' ').unwrap_or((example, ""));
    let flags = if flags.is_empty() { String::new() } else { format!(" {flags}") };
    let method = format!("-a {name}{flags}");
    let commands = match kind {
        "clicks" => format!(
            "parsimon quickstart --rows 5000 2> /dev/null > /dev/null\n\
             parsimon train quickstart/clicks.svm {method} --quiet -o model.psm\n\
             parsimon evaluate model.psm quickstart/holdout.svm | head -9\n\
             parsimon inspect model.psm | grep nonzero\n"
        ),
        "numbers" => format!(
            "{NUMBERS}parsimon train far.svm {method} --quiet -o model.psm\nparsimon evaluate model.psm far.svm | head -7\n"
        ),
        "wave" => format!(
            "{WAVE}parsimon train wave.csv {method} --quiet -o model.psm\nparsimon evaluate model.psm wave.csv | head -7\n"
        ),
        // The first line has the time it took.
        "signal" => format!(
            "parsimon identify --synthetic n=200,zeros=0.9,samples=5000 {method} 2>&1 | tail -n +2\n"
        ),
        other => bail!("{NOTES}: there is no kind of example {other}"),
    };
    let folder = Path::new(&crate::command::target()).join("examples-of-algorithms").join(name);
    std::fs::create_dir_all(&folder)?;
    let mut shell = std::process::Command::new("bash");
    shell.args(["-euc", &commands]).current_dir(&folder);
    let program = std::path::absolute(program())?;
    let mut path = program.parent().context("the program has no folder")?.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    shell.env("PATH", path).env("COLUMNS", "100").stdin(std::process::Stdio::null());
    let output = crate::command::output(shell)?;
    if output.trim().is_empty() {
        bail!("the example prints nothing:\n{commands}");
    }
    let output = output.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    Ok((commands, output))
}

#[cfg(test)]
mod tests {
    use super::linked_table;

    #[test]
    fn names_become_links() {
        let table = "| algorithm | cost   |\n| --------- | ------ |\n| ftrl      | O(nnz) |\n";
        let fresh = "| algorithm | cost |\n| --- | --- |\n| [ftrl](ftrl.md) | O(nnz) |\n";
        assert_eq!(linked_table(table), fresh);
    }
}
