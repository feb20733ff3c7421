//! The choice of the label, the weight and the kinds of columns.

use super::judge::{Judge, Verdict};
use super::select::{find, select};
use super::{
    ColumnKind, Kind, LabelGuess, LabelReason, Points, TableSchema, TypeNote, missing, no_texts,
};
use crate::error::shown;
use crate::remedy::{Message, Remedy, Setting};
use crate::role_names::{WEAK_LABEL, asks_no_weight, is_label_name, is_weight_name};

/// Choices of the user about columns.
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
    /// Whether a table may have no label.
    pub(crate) is_label_optional: bool,
}

/// A table as it was seen.
pub(crate) struct Candidate<'a> {
    pub(crate) names: &'a [String],
    pub(crate) has_header: bool,
    /// The kind found for each column, and whether it has two values that may be classes.
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
pub(crate) fn choose(table: &Candidate<'_>, asked: &Asked<'_>) -> Result<TableSchema, Message> {
    let names = table.names;
    let mut guess = None;
    let label = match asked.label {
        Some("last" | "-1") if !names.iter().any(|name| name == "last") => Some(last_of(table)),
        Some(name) if asked.is_label_optional => find(names, name).ok(),
        Some(name) => Some(find(names, name)?),
        None => match label(table, &excluded(names, asked.ignored)?) {
            Err(_) if asked.is_label_optional => None,
            found => {
                let (found, how) = found?;
                guess = Some(how);
                Some(found)
            }
        },
    };
    let weight = weight(names, asked, label)?;
    if weight.is_some() && weight == label {
        return Err("label and weight are the same column".into());
    }
    let mut columns = columns_of(table);
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
    let mut schema = TableSchema {
        columns,
        label: name(label),
        weight: name(weight),
        missing: missing::with_usual(asked.missing),
        ngrams: asked.ngrams.filter(|&n| n > 1),
        pairs: Vec::new(),
        notes: super::TypeNotes::guessed(guess),
    };
    let codes = names.iter().zip(&table.verdicts).zip(&schema.columns);
    let codes = codes
        .filter(|((_, (verdict, _)), column)| verdict.is_code && column.kind == Kind::Category);
    let codes = codes.map(|((name, _), _)| TypeNote::Code(name.clone())).collect();
    schema.notes.take(codes);
    match schema.ngrams {
        Some(n) if !schema.has_texts() => Err(no_texts(n)),
        _ => Ok(schema),
    }
}

/// The column of weights, if there is one.
fn weight(
    names: &[String],
    asked: &Asked<'_>,
    label: Option<usize>,
) -> Result<Option<usize>, Message> {
    Ok(match asked.weight {
        Some(name) if asks_no_weight(names, name) => None,
        Some(name) => Some(find(names, name)?),
        // A column that a flag names is what the flag makes of it.
        None => {
            let lists = [asked.kept, asked.numbers, asked.categories, asked.texts, asked.ignored];
            let mut claimed = Vec::new();
            for list in lists {
                claimed.extend(excluded(names, list)?);
            }
            let found = named(names, is_weight_name).into_iter().find(|w| !claimed.contains(w));
            found.filter(|&w| Some(w) != label)
        }
    })
}

/// The columns by what their cells show, before any flag is looked at.
fn columns_of(table: &Candidate<'_>) -> Vec<ColumnKind> {
    let columns = table.names.iter().zip(&table.verdicts);
    columns
        .map(|(name, (verdict, _))| ColumnKind {
            name: name.clone(),
            kind: verdict.kind,
            form: verdict.form.map(str::to_owned),
            missing: verdict.few.clone(),
            knots: Points::default(),
            cuts: Points::default(),
        })
        .collect()
}

/// Refuses a column that two flags name with different kinds, and texts that are to be numbers.
fn check_wish(
    name: &str,
    kind: Kind,
    before: Option<Kind>,
    verdict: &Verdict,
) -> Result<(), Message> {
    let column = shown(name.as_bytes());
    if let Some(before) = before.filter(|before| *before != kind) {
        return Err(Message::new(format!(
            "column {column} is set to be both {before} and {kind}; pass one of them"
        )));
    }
    match &verdict.odd {
        Some(odd) if kind == Kind::Number => {
            let odd = shown(odd.as_bytes());
            let fact = format!("column {column} has cells that are not numbers, such as {odd}");
            let leave_out = Remedy::LeaveOut(Setting::Numbers);
            Err(Message::new(fact).or(leave_out).or(Remedy::TreatAsMissing))
        }
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

/// The label where none is named, and how it was guessed; a column that the user ignores is none.
fn label(table: &Candidate<'_>, ignored: &[usize]) -> Result<(usize, LabelGuess), Message> {
    let names = table.names;
    let is_weak = |i: &usize| names[*i].eq_ignore_ascii_case(WEAK_LABEL);
    let called = if table.has_header { named(names, is_label_name) } else { Vec::new() };
    let mut likely = called.clone();
    likely.retain(|i| !ignored.contains(i));
    if !likely.iter().all(is_weak) {
        likely.retain(|i| !is_weak(i));
    }
    // Beside `x`, `y` is a coordinate or a width and not the label, unless no other column can be the label.
    let has_x = names.iter().any(|name| name.eq_ignore_ascii_case("x"));
    let is_coordinate = has_x && names.len() > 2;
    let last = last_of(table);
    let has_two =
        |i: usize| !ignored.contains(&i) && table.verdicts.get(i).is_some_and(|(_, two)| *two);
    let ends = || {
        let mut ends: Vec<_> = [0, last].into_iter().filter(|&i| has_two(i)).collect();
        ends.dedup();
        ends
    };
    let mut reason = LabelReason::Name;
    let plausible = match &likely[..] {
        [] if table.has_header => {
            reason = LabelReason::LastOfTwo;
            [last].into_iter().filter(|&i| has_two(i)).collect()
        }
        // Programs that write no header have the label in front or at the end.
        [] => {
            let ends = ends();
            reason = match ends[..] {
                [0, ..] if last > 0 => LabelReason::FirstOfTwo,
                _ => LabelReason::LastOfTwo,
            };
            ends
        }
        &[one] if is_weak(&one) && is_coordinate => {
            let mut several: Vec<_> = ends().into_iter().filter(|&i| i != one).collect();
            if !several.is_empty() {
                several.insert(0, one);
            }
            several
        }
        // Such a name may be that of a feature: of a class of travel, or of a place. Another column is as plausible if it has two
        // values and stands where labels do.
        &[one] if is_often_feature(&names[one], one == 0 || one == last) => {
            let mut several = vec![one];
            several.extend(ends().into_iter().filter(|&i| i != one));
            several
        }
        _ => likely,
    };
    match &plausible[..] {
        &[one] => {
            let may_be = |i: &usize| {
                let is_read = table.verdicts.get(*i).is_some_and(|(v, _)| v.kind.is_read());
                *i != one && is_read && !ignored.contains(i)
            };
            let all = || (0..names.len()).rev();
            let order = called.into_iter().chain(ends()).chain(all().filter(|&i| has_two(i)));
            let mut next: Vec<usize> = Vec::new();
            for i in order.chain([last, 0]).chain(all()).filter(may_be) {
                if next.len() < 2 && !next.contains(&i) {
                    next.push(i);
                }
            }
            let runners_up = next.into_iter().map(|i| names[i].clone()).collect();
            Ok((one, LabelGuess { reason, runners_up }))
        }
        [] => Err(Message::new("has no column that is surely the label")
            .or(Remedy::NameLabel { columns: names.to_vec() })),
        several => {
            let listed: Vec<_> = several.iter().map(|&i| shown(names[i].as_bytes())).collect();
            let fact = format!("has several columns that may be the label: {}", listed.join(", "));
            Err(Message::new(fact).or(Remedy::NameLabel { columns: Vec::new() }))
        }
    }
}

/// The last column that may be a label. The index of a pandas frame is written behind its columns, and separators at the end of lines
/// make columns without cells.
fn last_of(table: &Candidate<'_>) -> usize {
    let is_none = |i: &usize| {
        let kind = table.verdicts.get(*i).map(|(verdict, _)| verdict.kind);
        matches!(kind, Some(Kind::Index | Kind::Empty))
    };
    let last = table.names.len().saturating_sub(1);
    (0..=last).rev().find(|i| !is_none(i)).unwrap_or(last)
}

/// Whether a name of labels is as often that of a feature: `class` anywhere, and `y` between other columns.
fn is_often_feature(name: &str, is_at_end: bool) -> bool {
    name.eq_ignore_ascii_case("class") || name.eq_ignore_ascii_case(WEAK_LABEL) && !is_at_end
}

/// Returns the positions of the columns whose name satisfies a predicate.
fn named(names: &[String], is_name: fn(&str) -> bool) -> Vec<usize> {
    (0..names.len()).filter(|&i| is_name(&names[i])).collect()
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
        choose(&table, &Asked::default())
            .map(|schema| schema.label.unwrap())
            .map_err(|message| message.to_string())
    }

    #[test]
    fn a_guess_has_a_reason_and_runners_up() {
        let names: Vec<String> = ["y", "b", "c", "d"].map(str::to_owned).to_vec();
        let mut judges = vec![Judge::default(); names.len()];
        for row in [["1", "p", "u", "5"], ["2", "q", "v", "6"], ["3", "p", "w", "7"]] {
            row.iter().zip(&mut judges).for_each(|(cell, judge)| judge.take(cell.as_bytes()));
        }
        let table = Candidate::new(&names, &judges, true, true, false);
        let schema = choose(&table, &Asked::default()).unwrap();
        let guess = schema.notes.label_guess().unwrap();
        assert_eq!(guess.reason, LabelReason::Name);
        assert_eq!(guess.runners_up, ["b", "d"]);
        let named = Asked { label: Some("d"), ..Asked::default() };
        assert_eq!(choose(&table, &named).unwrap().notes.label_guess(), None);
    }

    #[test]
    fn the_label_is_found_or_the_columns_are_listed() {
        let rows: &[&[&str]] = &[&["1", "a"], &["2", "b"], &["3", "a"]];
        assert_eq!(chosen(&["x", "churn"], rows, true).unwrap(), "churn");
        assert!(chosen(&["Class", "z"], rows, true).unwrap_err().contains("\"Class\", \"z\""));
        assert_eq!(chosen(&["y", "z"], rows, true).unwrap(), "y");
        assert_eq!(chosen(&["c1", "c2"], rows, false).unwrap(), "c2");
        // Coordinates are no labels.
        let five: &[&[&str]] = &[&["1", "2", "3"], &["2", "3", "4"], &["3", "5", "9"]];
        assert!(chosen(&["X", "Y", "price"], five, true).unwrap_err().contains("X, Y, price"));
        assert_eq!(chosen(&["a", "Y", "price"], five, true).unwrap(), "Y");
        assert_eq!(chosen(&["a", "class", "price"], five, true).unwrap(), "class");
        assert!(
            chosen(&["label", "Target"], rows, true).unwrap_err().contains("\"label\", \"Target\"")
        );
        let three: &[&[&str]] = &[&["1", "a"], &["2", "b"], &["3", "c"]];
        assert!(
            chosen(&["p", "q"], three, true)
                .unwrap_err()
                .contains("label_column NAME. The columns are p, q")
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
