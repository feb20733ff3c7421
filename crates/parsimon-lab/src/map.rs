//! The map: every numbered statement of the papers, with its code, its twin and the experiments that test it.

use serde::Deserialize;

const LIST: &str = include_str!("../experiments/map.toml");

/// A statement of a paper.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The paper's short name.
    pub paper: String,
    /// Its number there: `Table 3.2`, `(3.8)`, `Theorem 4.1, (4.3)`.
    pub at: String,
    /// The statement, in a line.
    pub says: String,
    /// The formula, as LaTeX.
    #[serde(default)]
    pub formula: Option<String>,
    /// The file that has it.
    #[serde(default)]
    pub code: Option<String>,
    /// The dense implementation that the code is held to.
    #[serde(default)]
    pub twin: Option<String>,
    /// The experiments that test it.
    #[serde(default)]
    pub experiments: Vec<String>,
    /// The methods it is about.
    #[serde(default)]
    pub methods: Vec<String>,
    /// The misprint, and the correction.
    #[serde(default)]
    pub misprint: Option<String>,
}

#[derive(Deserialize)]
struct Map {
    entry: Vec<Entry>,
}

/// All entries, in the order of the papers.
pub fn entries() -> Vec<Entry> {
    toml::from_str::<Map>(LIST).map_or_else(|_| Vec::new(), |map| map.entry)
}

/// Abbreviations that readers use for the words in front of numbers. Entries for equations have no word.
const ABBREVIATIONS: [(&str, &str); 10] = [
    ("eq", ""),
    ("equation", ""),
    ("fig", "figure"),
    ("tab", "table"),
    ("alg", "algorithm"),
    ("thm", "theorem"),
    ("prop", "proposition"),
    ("cor", "corollary"),
    ("def", "definition"),
    ("sec", "section"),
];

/// Returns the entries of a paper at a number as a reader writes it: `Table 2`, `table 2`, `9`, `(4.3)`, `eq. 4.3`, `Fig. 4.4b`.
pub fn find(paper: &str, number: &str) -> Vec<Entry> {
    let wanted = plain(&written_out(number));
    let found = entries_at(paper, &wanted);
    match wanted.strip_suffix(|c: char| c.is_ascii_lowercase()) {
        // The entry of a figure covers its parts.
        Some(whole) if found.is_empty() && whole.ends_with(|c: char| c.is_ascii_digit()) => {
            entries_at(paper, whole)
        }
        _ => found,
    }
}

fn entries_at(paper: &str, wanted: &str) -> Vec<Entry> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let is_at = |entry: &Entry| {
        plain(&entry.at) == wanted
            || entry.at.split([',', ' ']).any(|part| plain(part) == wanted)
            || entry.at.split(',').any(|part| plain(part) == wanted)
            || is_within(&entry.at, wanted)
    };
    entries().into_iter().filter(|e| e.paper == paper && is_at(e)).collect()
}

/// Replaces an abbreviation in front of a number by its word.
fn written_out(number: &str) -> String {
    let number = number.trim();
    let end = number.find(|c: char| !c.is_alphabetic()).unwrap_or(number.len());
    let (word, rest) = number.split_at(end);
    let word = word.to_lowercase();
    match ABBREVIATIONS.iter().find(|(short, _)| *short == word) {
        Some((_, full)) => format!("{full} {}", rest.trim_start_matches(['.', ' '])),
        None => number.to_owned(),
    }
}

/// Letters, digits and dots, without case.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_alphanumeric() || *c == '.' || *c == '_');
    kept.collect::<String>().to_lowercase()
}

/// Whether a number lies in a range such as `(19)-(23)` or `Figures 3 and 4`.
fn is_within(at: &str, wanted: &str) -> bool {
    if let Some((first, last)) = at.split_once(")-(") {
        let (first, last) = (plain(first), plain(last));
        let split = |text: &str| -> Option<(String, u32)> {
            let digits = text.len() - text.chars().rev().take_while(char::is_ascii_digit).count();
            Some((text[..digits].to_owned(), text[digits..].parse().ok()?))
        };
        let parts = split(&first).zip(split(&last)).zip(split(wanted));
        return parts.is_some_and(|(((a, low), (b, high)), (c, n))| {
            a == b && b == c && (low..=high).contains(&n)
        });
    }
    let numbered =
        at.split_once(' ').and_then(|(noun, rest)| Some((noun.strip_suffix('s')?, rest)));
    numbered.is_some_and(|(noun, rest)| {
        rest.split(" and ").any(|n| plain(&format!("{noun} {n}")) == wanted)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_entry_leads_somewhere() {
        let map: Map = toml::from_str(LIST).unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let (experiments, papers) = (crate::experiments().unwrap(), crate::papers());
        for entry in &map.entry {
            let at = format!("{} {}", entry.paper, entry.at);
            assert!(papers.iter().any(|p| p.name == entry.paper), "{at}");
            for id in &entry.experiments {
                assert!(experiments.iter().any(|e| e.id == *id), "{at}: {id}");
            }
            for name in &entry.methods {
                assert!(parsimon::algorithm::find(name).is_some(), "{at}: {name}");
            }
            let is_twin = |file: &str| match file.split_once(':') {
                Some(_) => path(file),
                None => format!("parsimon-oracle/src/{file}"),
            };
            for file in entry
                .code
                .as_deref()
                .map(path)
                .into_iter()
                .chain(entry.twin.as_deref().map(is_twin))
            {
                assert!(root.join(&file).exists(), "{at}: {file}");
            }
        }
    }

    fn path(file: &str) -> String {
        match file.split_once(':') {
            Some(("lab", file)) => format!("parsimon-lab/src/{file}"),
            Some((_, file)) => format!("parsimon-core/src/{file}"),
            None => file.to_owned(),
        }
    }

    #[test]
    fn every_experiment_of_a_paper_is_on_the_map() {
        let entries = entries();
        for experiment in crate::experiments().unwrap().iter().filter(|e| e.paper() != "ours") {
            let is_there = entries.iter().any(|e| e.experiments.contains(&experiment.id));
            assert!(is_there, "experiments/map.toml lacks {}", experiment.id);
        }
    }

    #[test]
    fn numbers_are_found_as_readers_write_them() {
        for (paper, number, says) in [
            ("slides", "Table 2", "AUC"),
            ("slides", "table 2", "AUC"),
            ("pda-thesis", "Table 3.2", "PDA"),
            ("pda-thesis", "figure 4.4", "mismatch"),
            ("csgd", "(9)", "O(d)"),
            ("csgd", "9", "O(d)"),
            ("csgd", "(21)", "proof"),
            ("lazy-thesis", "Algorithm 3", "keeps zeros"),
            ("lazy-thesis", "Figure 4", "F_sum"),
            ("rda-notes", "Theorem 4.1", "regret bound"),
            ("rda-notes", "(4.3)", "regret bound"),
            ("pda-thesis", "A.13", "proof"),
            ("pda-thesis", "Fig. 4.4b", "mismatch"),
            ("pda-thesis", "Eq. (3.10)", "half-space"),
            ("csgd", "thm 4.1", "regret bound"),
        ] {
            let found = find(paper, number);
            assert!(found.iter().any(|e| e.says.contains(says)), "{paper} {number}: {found:?}");
        }
        assert!(find("csgd", "Theorem 9.9").is_empty());
        assert!(find("csgd", "").is_empty());
    }
}
