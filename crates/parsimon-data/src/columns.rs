//! What the columns of a table are for: one is the label, one may be the weight, the rest are features.

use crate::error::shown;
use crate::{Labels, Options};

/// The columns of a table, in order.
#[derive(Debug, PartialEq)]
pub(crate) struct Columns {
    pub(crate) columns: Vec<Column>,
    /// Whether one of them is the label.
    pub(crate) has_label: bool,
}

/// One column.
#[derive(Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) role: Role,
}

/// What a column is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Label,
    Weight,
    Ignored,
    /// A feature: its position among features, from 1, and whether its numbers are categories.
    Feature {
        id: u32,
        is_text: bool,
    },
}

pub(crate) const LABELS: [&str; 5] = ["label", "target", "y", "click", "class"];
pub(crate) const WEIGHTS: [&str; 3] = ["weight", "importance", "sample_weight"];

impl Columns {
    /// Gives each column its role. `fallback` is the label's position when none is named so.
    pub(crate) fn new(
        names: &[String],
        options: &Options,
        fallback: Option<usize>,
    ) -> Result<Self, String> {
        let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|w| w[0] == w[1]) {
            return Err(format!("column {} appears twice", shown(twice[0].as_bytes())));
        }
        // To predict, a table need not have the label: what is not called so is a feature.
        let optional = matches!(options.labels, Labels::Optional(_));
        let label = match &options.label_column {
            Some(asked) if optional => find(names, asked).ok(),
            Some(asked) => Some(find(names, asked)?),
            None if optional => usual(names, &LABELS),
            None => usual(names, &LABELS).or(fallback),
        };
        let weight = match &options.weight_column {
            Some(asked) => Some(find(names, asked)?),
            None => usual(names, &WEIGHTS).filter(|&w| Some(w) != label),
        };
        if weight.is_some() && weight == label {
            return Err("label and weight are the same column".to_owned());
        }
        let positions = |asked: &[String]| {
            asked.iter().map(|name| find(names, name)).collect::<Result<Vec<_>, _>>()
        };
        let (ignored, texts) =
            (positions(&options.ignored_columns)?, positions(&options.text_columns)?);
        let mut id = 0;
        let columns = names
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let role = if Some(i) == label {
                    Role::Label
                } else if Some(i) == weight {
                    Role::Weight
                } else if ignored.contains(&i) {
                    Role::Ignored
                } else {
                    id += 1;
                    Role::Feature { id, is_text: texts.contains(&i) }
                };
                Column { name: name.clone(), role }
            })
            .collect();
        Ok(Self { columns, has_label: label.is_some() })
    }

    /// The columns that are features, by position among them, from 1.
    pub(crate) fn features(&self) -> impl Iterator<Item = (u32, &str)> {
        self.columns.iter().filter_map(|column| match column.role {
            Role::Feature { id, .. } => Some((id, column.name.as_str())),
            _ => None,
        })
    }

    /// The name of the label's column.
    pub(crate) fn label(&self) -> Option<&str> {
        self.columns.iter().find(|c| c.role == Role::Label).map(|c| c.name.as_str())
    }
}

/// A column by name, else by its number from 1.
fn find(names: &[String], asked: &str) -> Result<usize, String> {
    let by_number = || {
        let n = asked.parse::<usize>().ok()?;
        (1..=names.len()).contains(&n).then(|| n - 1)
    };
    names.iter().position(|name| name == asked).or_else(by_number).ok_or_else(|| {
        let some: Vec<_> = names.iter().take(8).map(String::as_str).collect();
        let more = if names.len() > 8 { ", ..." } else { "" };
        format!("has no column {}: {}{more}", shown(asked.as_bytes()), some.join(", "))
    })
}

fn usual(names: &[String], list: &[&str]) -> Option<usize> {
    list.iter().find_map(|usual| names.iter().position(|n| n.eq_ignore_ascii_case(usual)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(names: &[&str], options: &Options) -> Result<Vec<Role>, String> {
        let names: Vec<_> = names.iter().map(|&n| n.to_owned()).collect();
        Ok(Columns::new(&names, options, Some(0))?.columns.iter().map(|c| c.role).collect())
    }

    const fn feature(id: u32) -> Role {
        Role::Feature { id, is_text: false }
    }

    #[test]
    fn usual_names_have_usual_roles() {
        let default = Options::default();
        let all = roles(&["a", "Click", "weight", "b"], &default).unwrap();
        assert_eq!(all, [feature(1), Role::Label, Role::Weight, feature(2)]);
        assert_eq!(roles(&["a", "b"], &default).unwrap(), [Role::Label, feature(1)]);
    }

    #[test]
    fn asked_for_columns_are_found_or_missed_by_name() {
        let options = Options {
            label_column: Some("b".into()),
            weight_column: Some("1".into()),
            ignored_columns: vec!["d".into()],
            text_columns: vec!["c".into()],
            ..Options::default()
        };
        let text = Role::Feature { id: 1, is_text: true };
        let all = roles(&["a", "b", "c", "d"], &options).unwrap();
        assert_eq!(all, [Role::Weight, Role::Label, text, Role::Ignored]);
        assert_eq!(roles(&["a", "c", "d"], &options).unwrap_err(), "has no column \"b\": a, c, d");
        assert_eq!(roles(&["a", "a"], &options).unwrap_err(), "column \"a\" appears twice");
    }
}
