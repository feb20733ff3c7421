//! Roles of a table's columns: one is the label, one may be the weight, the rest are features.

use std::sync::Arc;

use crate::curves::Shape;
use crate::error::shown;
use crate::kinds::{NumberForm, TimeForm, find, nearest, select};
use crate::remedy::{Message, Remedy};
use crate::role_names::{asks_no_weight, label_name, weight_name};
use crate::{Kind, Labels, Options, TableSchema};

/// Any number of empty cells behind the last column.
pub(crate) const ANY_TAILS: u64 = u64::MAX;

/// The columns of a table, in order.
#[derive(Debug, PartialEq)]
pub(crate) struct Columns {
    pub(crate) columns: Vec<Column>,
    /// Whether one of them is the label.
    pub(crate) has_label: bool,
    /// Columns of the table that the schema does not know, and the other way round.
    pub(crate) unknown: Vec<String>,
    pub(crate) absent: Vec<String>,
    /// Separator of cells, in text.
    pub(crate) delimiter: u8,
    /// Whether the first line of text has their names.
    pub(crate) has_header: bool,
    /// Whether quotes inside of text do not follow RFC 4180.
    pub(crate) is_careless: bool,
    /// How many empty cells may stand behind the last column, in text: see `Dialect`.
    pub(crate) tails: u64,
    /// Curves and pairs, if there are any.
    pub(crate) shape: Option<Arc<Shape>>,
}

/// One column.
#[derive(Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) role: Role,
    /// The place among the cells that travel with the row, if it is one of them.
    pub(crate) carried: Option<u32>,
}

/// Role of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Label,
    Weight,
    Ignored,
    /// A feature, cell by cell: its position among features, from 1, and whether its numbers are categories.
    Feature {
        id: u32,
        is_text: bool,
    },
    /// A number: its position among number columns, from 0.
    Number {
        k: u32,
        form: NumberForm,
    },
    Category,
    /// A category of two words, in any case.
    Boolean,
    Words,
    Time {
        k: u32,
        form: TimeForm,
    },
    /// A column that had no value when its kind was found.
    Empty,
}

impl Columns {
    /// Gives each column its role. `fallback` is the label's position when none is named so.
    pub(crate) fn new(
        names: &[String],
        options: &Options,
        fallback: Option<usize>,
    ) -> Result<Self, String> {
        check_names(names)?;
        let all = || names.iter().map(String::as_str);
        // To predict, a table need not have the label: what is not called so is a feature.
        let optional = matches!(options.reading.labels, Labels::Optional(_));
        let label = match &options.reading.label_column {
            Some(asked) if optional => find(names, asked).ok(),
            Some(asked) => Some(find(names, asked)?),
            None if optional => position(names, label_name(all())),
            None => position(names, label_name(all())).or(fallback),
        };
        // Nor the weight, which a prediction does not use.
        let weight = match &options.reading.weight_column {
            Some(asked) if asks_no_weight(names, asked) => None,
            Some(asked) if optional => find(names, asked).ok(),
            Some(asked) => Some(find(names, asked)?),
            None => position(names, weight_name(all())).filter(|&w| Some(w) != label),
        };
        if weight.is_some() && weight == label {
            return Err("label and weight are the same column".to_owned());
        }
        let positions = |asked: &[String]| {
            let found = asked.iter().map(|name| select(names, name));
            found.collect::<Result<Vec<_>, _>>().map(|lists| lists.concat())
        };
        let (ignored, texts) =
            (positions(&options.reading.ignore)?, positions(&options.reading.categories)?);
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
                Column { name: name.clone(), role, carried: None }
            })
            .collect();
        Ok(Self::of(columns, label.is_some()))
    }

    fn of(columns: Vec<Column>, has_label: bool) -> Self {
        let (unknown, absent) = (Vec::new(), Vec::new());
        Self {
            columns,
            has_label,
            unknown,
            absent,
            delimiter: b',',
            has_header: true,
            is_careless: false,
            tails: ANY_TAILS,
            shape: None,
        }
    }

    /// Returns the roles by the kinds of a schema, in any order of the columns. Columns that the schema does not know are
    /// not read. Columns that are not there are refused, unless what does not fit is missing.
    pub(crate) fn by_kind(
        names: &[String],
        options: &Options,
        schema: &TableSchema,
    ) -> Result<Self, Message> {
        check_names(names)?;
        let optional = matches!(options.reading.labels, Labels::Optional(_));
        // The kinds were found with what is asked for in mind.
        let is_found = options.reading.kinds == crate::Kinds::Found;
        let asked = options.reading.label_column.as_ref().filter(|_| !is_found);
        let asked = asked.or(schema.label.as_ref());
        let is_stored = asked == schema.label.as_ref();
        let label = match asked {
            // A stored name is no number of a column, even if it looks like one.
            Some(asked) if optional && is_stored => names.iter().position(|name| name == asked),
            Some(asked) if optional => find(names, asked).ok(),
            Some(asked) => Some(find(names, asked)?),
            None if optional => None,
            None => {
                let way = Remedy::NameLabel { columns: Vec::new() };
                return Err(Message::new("has a schema without a label").or(way));
            }
        };
        let weight = match (&options.reading.weight_column, &schema.weight) {
            (Some(asked), _) if asks_no_weight(names, asked) => None,
            (Some(asked), _) if optional => find(names, asked).ok(),
            (Some(asked), _) => Some(find(names, asked)?),
            (None, Some(stored)) if optional => names.iter().position(|name| name == stored),
            (None, Some(stored)) => Some(find(names, stored)?),
            (None, None) => None,
        };
        let mut k = 0;
        let mut number = || {
            k += 1;
            k - 1
        };
        let columns = names.iter().enumerate().map(|(i, name)| {
            let role = match schema.column(name) {
                _ if Some(i) == label => Role::Label,
                _ if Some(i) == weight => Role::Weight,
                None => Role::Ignored,
                // The label of the training, where another is asked for.
                Some(column) if schema.label.as_ref() == Some(&column.name) => Role::Ignored,
                Some(column) => {
                    let form = column.form.as_deref();
                    match column.kind {
                        Kind::Number => {
                            let form = form.and_then(NumberForm::parse);
                            Role::Number { k: number(), form: form.unwrap_or(NumberForm::Plain) }
                        }
                        Kind::Time => {
                            let form = form.and_then(TimeForm::parse);
                            Role::Time { k: number(), form: form.unwrap_or(TimeForm::YearFirst) }
                        }
                        Kind::Category => Role::Category,
                        Kind::Boolean => Role::Boolean,
                        Kind::Text => Role::Words,
                        Kind::Empty => Role::Empty,
                        Kind::Identifier | Kind::Constant | Kind::Index | Kind::Ignored => {
                            Role::Ignored
                        }
                    }
                }
            };
            Column { name: name.clone(), role, carried: None }
        });
        let mut columns = Self::of(columns.collect(), label.is_some());
        columns.shape = columns.shape_of(schema, k as usize);
        let is_free = |i: usize| Some(i) != label && Some(i) != weight;
        let unknown =
            (0..names.len()).filter(|&i| is_free(i) && schema.column(&names[i]).is_none());
        columns.unknown = unknown.map(|i| names[i].clone()).collect();
        let roles = [&schema.label, &schema.weight];
        let absent = schema.columns.iter().filter(|column| {
            column.kind.is_read()
                && !roles.contains(&&Some(column.name.clone()))
                && !names.contains(&column.name)
        });
        columns.absent = absent.map(|column| column.name.clone()).collect();
        match columns.absent.first() {
            Some(first) if !options.ask.unfit_is_missing => {
                Err(nearest(names, first, "column").into())
            }
            _ => Ok(columns),
        }
    }

    /// The curves and pairs of a schema, for `numbers` number columns.
    fn shape_of(&self, schema: &TableSchema, numbers: usize) -> Option<Arc<Shape>> {
        if !schema.has_curves() {
            return None;
        }
        let mut shape = Shape::new(numbers);
        let mut places: Vec<(&str, usize)> = Vec::new();
        let is_paired = |name: &str| schema.pairs.iter().flatten().any(|side| side == name);
        for column in &self.columns {
            let Some(known) = schema.column(&column.name) else { continue };
            if let Role::Number { k, .. } = column.role {
                shape.add_curve(k as usize, &column.name, &known.knots);
            }
            let place = match column.role {
                _ if !is_paired(&column.name) => continue,
                Role::Number { k, .. } => shape.add_bins(k as usize, &column.name, &known.cuts),
                Role::Category | Role::Boolean => shape.add_category(&column.name),
                _ => continue,
            };
            places.push((&column.name, place));
        }
        let place = |name: &String| places.iter().find(|(known, _)| known == name).map(|p| p.1);
        let pairs = schema.pairs.iter();
        shape.pairs = pairs.filter_map(|[a, b]| Some([place(a)?, place(b)?])).collect();
        (!shape.is_empty()).then(|| Arc::new(shape))
    }

    /// The columns whose numbers may stay apart, in order, each with its id.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (u32, &str)> {
        let places = self.columns.iter().zip(1..);
        places.filter_map(|(column, place)| match column.role {
            Role::Feature { id, .. } => Some((id, column.name.as_str())),
            Role::Number { .. } | Role::Time { .. } => Some((place, column.name.as_str())),
            _ => None,
        })
    }

    /// Marks the columns whose cells travel with the row, in the order they are asked for.
    pub(crate) fn carry(mut self, asked: &[String]) -> Result<Self, String> {
        let names = self.names();
        let mut k = 0;
        for asked in asked {
            for i in select(&names, asked)? {
                if self.columns[i].carried.is_none() {
                    self.columns[i].carried = Some(k);
                    k += 1;
                }
            }
        }
        Ok(self)
    }

    /// The names of the columns whose cells travel with the row, in that order.
    pub(crate) fn carried(&self) -> Vec<String> {
        let mut carried: Vec<_> =
            self.columns.iter().filter_map(|c| Some((c.carried?, c.name.clone()))).collect();
        carried.sort_unstable();
        carried.into_iter().map(|(_, name)| name).collect()
    }

    /// The names of all columns.
    pub(crate) fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// The name of the label's column.
    pub(crate) fn label(&self) -> Option<&str> {
        self.columns.iter().find(|c| c.role == Role::Label).map(|c| c.name.as_str())
    }
}

/// Refuses names that appear twice.
pub(crate) fn check_names(names: &[String]) -> Result<(), String> {
    let mut sorted: Vec<(&str, usize)> = names.iter().map(String::as_str).zip(1..).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|w| w[0].0 == w[1].0) {
        Some(twice) => Err(format!(
            "columns {} and {} are both called {}; rename one of the two",
            twice[0].1,
            twice[1].1,
            shown(twice[0].0.as_bytes())
        )),
        None => Ok(()),
    }
}

/// Returns the position of a name, if there is one.
fn position(names: &[String], name: Option<&str>) -> Option<usize> {
    names.iter().position(|other| Some(other.as_str()) == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reading;

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
        let all = roles(&["a", "Click", "Importance", "b"], &default).unwrap();
        assert_eq!(all, [feature(1), Role::Label, Role::Weight, feature(2)]);
        let none = Reading { weight_column: Some("none".into()), ..Reading::default() };
        let all = roles(&["y", "importance", "weight"], &none.into()).unwrap();
        assert_eq!(all, [Role::Label, feature(1), feature(2)]);
        assert_eq!(roles(&["a", "b"], &default).unwrap(), [Role::Label, feature(1)]);
    }

    #[test]
    fn asked_for_columns_are_found_or_missed_by_name() {
        let options = Options::from(Reading {
            label_column: Some("b".into()),
            weight_column: Some("1".into()),
            ignore: vec!["d".into()],
            categories: vec!["c".into()],
            ..Reading::default()
        });
        let text = Role::Feature { id: 1, is_text: true };
        let all = roles(&["a", "b", "c", "d"], &options).unwrap();
        assert_eq!(all, [Role::Weight, Role::Label, text, Role::Ignored]);
        assert_eq!(
            roles(&["a", "c", "d"], &options).unwrap_err(),
            "has no column \"b\". The columns are a, c, d"
        );
        assert_eq!(
            roles(&["a", "a"], &options).unwrap_err(),
            "columns 1 and 2 are both called \"a\"; rename one of the two"
        );
    }
}
