//! Which column is the label, and what the user wants the others to be.

use super::judge::{Judge, Verdict};
use super::select::{find, select};
use super::{ColumnKind, Kind, TableSchema, missing, no_texts};
use crate::error::shown;
use crate::listing::listed;

/// Names of labels. The column `y` is one as well.
const LABELS: [&str; 5] = ["label", "target", "click", "class", "outcome"];
/// Names of importance weights.
const WEIGHTS: [&str; 3] = ["weight", "importance", "sample_weight"];

/// What the user says about columns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked<'a> {
    pub(crate) label: Option<&'a str>,
    pub(crate) weight: Option<&'a str>,
    pub(crate) numbers: &'a [String],
    pub(crate) categories: &'a [String],
    pub(crate) texts: &'a [String],
    pub(crate) ignored: &'a [String],
    pub(crate) kept: &'a [String],
    /// Words for a missing cell beside the usual ones.
    pub(crate) missing: &'a [String],
    pub(crate) ngrams: Option<u8>,
    /// Whether a table without a label will do.
    pub(crate) is_label_optional: bool,
}

/// A table as it was seen.
pub(crate) struct Candidate<'a> {
    pub(crate) names: &'a [String],
    pub(crate) has_header: bool,
    /// What each column was found to be, and whether it has two values that may be classes.
    pub(crate) verdicts: Vec<(Verdict, bool)>,
}

impl<'a> Candidate<'a> {
    /// From the cells of delimited text.
    pub(crate) fn new(
        names: &'a [String],
        judges: &[Judge],
        has_header: bool,
        is_whole: bool,
        comma_decimals: bool,
    ) -> Self {
        let verdicts = names.iter().zip(judges).map(|(name, judge)| {
            (judge.verdict(name, is_whole, comma_decimals), judge.has_two_classes())
        });
        Self { names, has_header, verdicts: verdicts.collect() }
    }
}

/// The schema of a table.
pub(crate) fn choose(table: &Candidate<'_>, asked: &Asked<'_>) -> Result<TableSchema, String> {
    let names = table.names;
    let label = match asked.label {
        Some(name) if asked.is_label_optional => find(names, name).ok(),
        Some(name) => Some(find(names, name)?),
        None => match label(table, &excluded(names, asked.ignored)?) {
            Err(_) if asked.is_label_optional => None,
            found => Some(found?),
        },
    };
    let weight = match asked.weight {
        Some(name) => Some(find(names, name)?),
        // A column that a flag names is what the flag makes of it.
        None => {
            let lists = [asked.kept, asked.numbers, asked.categories, asked.texts, asked.ignored];
            let mut claimed = Vec::new();
            for list in lists {
                claimed.extend(excluded(names, list)?);
            }
            let found = usual(names, &WEIGHTS).into_iter().find(|w| !claimed.contains(w));
            found.filter(|&w| Some(w) != label)
        }
    };
    if weight.is_some() && weight == label {
        return Err("label and weight are the same column".to_owned());
    }
    let mut columns: Vec<ColumnKind> = names
        .iter()
        .zip(&table.verdicts)
        .map(|(name, (verdict, _))| ColumnKind {
            name: name.clone(),
            kind: verdict.kind,
            form: verdict.form.map(str::to_owned),
            missing: verdict.few.clone(),
        })
        .collect();
    // Where two flags name a column, one by one goes before `all`, and the later of these before the earlier.
    let mut by_name = vec![false; columns.len()];
    let mut exact: Vec<Option<Kind>> = vec![None; columns.len()];
    let wishes = [
        (asked.kept, None),
        (asked.numbers, Some(Kind::Number)),
        (asked.categories, Some(Kind::Category)),
        (asked.texts, Some(Kind::Text)),
        (asked.ignored, Some(Kind::Ignored)),
    ];
    for (patterns, kind) in wishes {
        for pattern in patterns {
            let is_broad = pattern == "all";
            for i in select(names, pattern)? {
                if is_broad && by_name[i] {
                    continue;
                }
                by_name[i] |= !is_broad;
                let verdict = &table.verdicts[i].0;
                if let Some(kind) = kind.filter(|_| *pattern == names[i]) {
                    check_wish(&names[i], kind, exact[i].replace(kind), verdict)?;
                }
                let kind = kind.unwrap_or(verdict.kept);
                columns[i].kind = kind;
                columns[i].form =
                    (kind == verdict.kept).then(|| verdict.form.map(str::to_owned)).flatten();
            }
        }
    }
    // A label or a weight that is no number is an error of its row.
    for (i, column) in columns.iter_mut().enumerate() {
        if column.kind != Kind::Number || [label, weight].contains(&Some(i)) {
            column.missing.clear();
        }
    }
    let name = |i: Option<usize>| i.map(|i| names[i].clone());
    let schema = TableSchema {
        columns,
        label: name(label),
        weight: name(weight),
        missing: missing::with_usual(asked.missing),
        ngrams: asked.ngrams.filter(|&n| n > 1),
    };
    match schema.ngrams {
        Some(n) if !schema.has_texts() => Err(no_texts(n)),
        _ => Ok(schema),
    }
}

/// Refuses a column that two flags name with different kinds, and texts that are to be numbers.
fn check_wish(
    name: &str,
    kind: Kind,
    before: Option<Kind>,
    verdict: &Verdict,
) -> Result<(), String> {
    let column = shown(name.as_bytes());
    if let Some(before) = before.filter(|before| *before != kind) {
        return Err(format!(
            "column {column} is set to be {before} and {kind} by two flags; pass one of them"
        ));
    }
    match &verdict.odd {
        Some(odd) if kind == Kind::Number => Err(format!(
            "column {column} has cells that are not numbers, such as {}; leave out --numbers, or treat the cells as missing with --missing",
            shown(odd.as_bytes())
        )),
        _ => Ok(()),
    }
}

/// The columns that patterns other than `all` name.
fn excluded(names: &[String], patterns: &[String]) -> Result<Vec<usize>, String> {
    let mut columns = Vec::new();
    for pattern in patterns.iter().filter(|pattern| !matches!(pattern.as_str(), "all" | "*")) {
        columns.extend(select(names, pattern)?);
    }
    Ok(columns)
}

/// The label where none is named; a column that the user ignores is none.
fn label(table: &Candidate<'_>, ignored: &[usize]) -> Result<usize, String> {
    let names = table.names;
    let mut named = if table.has_header { usual(names, &LABELS) } else { Vec::new() };
    named.retain(|i| !ignored.contains(i));
    // The index of a pandas frame is written behind its columns.
    let is_index = |i: &usize| table.verdicts.get(*i).is_some_and(|(v, _)| v.kind == Kind::Index);
    let last = (0..names.len()).rev().find(|i| !is_index(i)).unwrap_or_default();
    let has_two =
        |i: usize| !ignored.contains(&i) && table.verdicts.get(i).is_some_and(|(_, two)| *two);
    let plausible = match &named[..] {
        [] if table.has_header => match usual(names, &["y"]) {
            called if called.iter().any(|i| !ignored.contains(i)) => called,
            _ => [last].into_iter().filter(|&i| has_two(i)).collect(),
        },
        // Programs that write no header have the label in front or at the end.
        [] => {
            let mut ends: Vec<_> = [0, last].into_iter().filter(|&i| has_two(i)).collect();
            ends.dedup();
            ends
        }
        _ => named,
    };
    match &plausible[..] {
        [one] => Ok(*one),
        [] => Err(format!(
            "has no column that is surely the label; name it with --label-column NAME. The columns are {}",
            listed(names.iter(), 12)
        )),
        several => {
            let listed: Vec<_> = several.iter().map(|&i| shown(names[i].as_bytes())).collect();
            Err(format!(
                "has several columns that may be the label: {}; name it with --label-column NAME",
                listed.join(", ")
            ))
        }
    }
}

/// Whether a column of this name is taken for the label because of its name.
pub fn is_label_name(name: &str) -> bool {
    LABELS.iter().chain(&["y"]).any(|usual| name.eq_ignore_ascii_case(usual))
}

/// The columns with one of some names, in any case.
fn usual(names: &[String], list: &[&str]) -> Vec<usize> {
    let is_usual = |name: &str| list.iter().any(|usual| name.eq_ignore_ascii_case(usual));
    (0..names.len()).filter(|&i| is_usual(&names[i])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str], rows: &[&[&str]], has_header: bool) -> Result<String, String> {
        let names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
        let mut judges = vec![Judge::default(); names.len()];
        for row in rows {
            row.iter().zip(&mut judges).for_each(|(cell, judge)| judge.take(cell.as_bytes()));
        }
        let table = Candidate::new(&names, &judges, has_header, true, false);
        choose(&table, &Asked::default()).map(|schema| schema.label.unwrap())
    }

    #[test]
    fn the_label_is_found_or_the_columns_are_listed() {
        let rows: &[&[&str]] = &[&["1", "a"], &["2", "b"], &["3", "a"]];
        assert_eq!(chosen(&["x", "churn"], rows, true).unwrap(), "churn");
        assert_eq!(chosen(&["Class", "z"], rows, true).unwrap(), "Class");
        assert_eq!(chosen(&["y", "z"], rows, true).unwrap(), "y");
        assert_eq!(chosen(&["c1", "c2"], rows, false).unwrap(), "c2");
        assert!(
            chosen(&["label", "Target"], rows, true).unwrap_err().contains("\"label\", \"Target\"")
        );
        let three: &[&[&str]] = &[&["1", "a"], &["2", "b"], &["3", "c"]];
        assert!(
            chosen(&["p", "q"], three, true)
                .unwrap_err()
                .contains("--label-column NAME. The columns are p, q")
        );
        // Fractions are no classes.
        let fractions: &[&[&str]] = &[&["0.25", "a"], &["0.75", "b"], &["0.25", "c"]];
        for has_header in [false, true] {
            let error = chosen(&["c1", "c2"], fractions, has_header).unwrap_err();
            assert!(error.contains("The columns are c1, c2"), "{error}");
        }
        let whole: &[&[&str]] = &[&["0.0", "a"], &["1.0", "b"], &["0.0", "c"]];
        assert_eq!(chosen(&["c1", "c2"], whole, false).unwrap(), "c1");
        let both: &[&[&str]] = &[&["1", "a"], &["0", "b"], &["1", "a"]];
        assert!(chosen(&["c1", "c2"], both, false).unwrap_err().contains("\"c1\", \"c2\""));
    }
}
