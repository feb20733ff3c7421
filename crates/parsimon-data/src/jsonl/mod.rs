//! One JSON object per line.
//!
//! ```text
//! {"label": 1, "weight": 2, "features": {"age": 30, "city": "Paris", "new": true}}
//! {"label": 1, "features": {"indices": [3, 7], "values": [0.5, 1]}}
//! {"_label": 1, "_tag": "a7", "user": {"age": 30, "city": "Paris"}, "ad": [0.5, "x"]}
//! ```
//!
//! A number is the feature `name` with that value, a text the feature `name=text`, true is 1 and
//! false 0, null is missing. Without `features` every other field is one: a plain value belongs to the anonymous
//! namespace, an object or array is a namespace of its own (Vowpal Wabbit's JSON). In an array a number is
//! called by its position from 0 and a text by itself. Fields that begin with `_` are never features.
//! A row without a label field can be predicted but not learned from; a null label is an error.
//!
//! Where the columns have known kinds ([`Kinds::Known`](crate::Kinds::Known)), a field of the row or of `features` that is one of
//! the columns is read by the kind of the column, as a cell of a CSV file is. Other fields are read as above.

use std::borrow::Cow;

mod fields;

use memchr::memchr;
use parsimon_core::RowError;
use serde_json::{Map, Value};

use crate::builder::{Builder, NamedColumns};
use crate::columns::{LABELS, Role, WEIGHTS};
use crate::delimited::{Scratch, push_kind};
use crate::error::{Bad, shown};
use crate::label::Found;
use crate::{DataErrorKind, Options, hash, json_object, number, svmlight};

pub(crate) use fields::{absent_fields, names_fields, without_label};

/// Parses a block of whole lines.
pub(crate) fn parse(builder: &mut Builder, text: &[u8]) {
    let mut name = Scratch::default();
    if let Some(named) = builder.named_columns.clone() {
        builder.begin_table(named.columns.numbers());
    }
    let mut at = 0;
    let mut line = 0;
    while at < text.len() {
        let end = memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        line += 1;
        if let Err(bad) = parse_line(builder, &text[at..end], &mut name)
            && !builder.refuse(line, bad)
        {
            break;
        }
        at = end + 1;
    }
    builder.out.lines += line;
}

fn parse_line(builder: &mut Builder, line: &[u8], name: &mut Scratch) -> Result<(), Bad> {
    if line.trim_ascii().is_empty() {
        return Ok(());
    }
    let row = json_object::read(line).map_err(|e| {
        let words = e.to_string();
        // The place stands in front of the message already.
        let words = words.split(" at line ").next().unwrap_or_default();
        let words = match e.is_data() {
            true => words.to_owned(),
            false => format!("not a json object: {words}"),
        };
        Bad::new(DataErrorKind::Malformed, e.column(), words)
    })?;
    let spec = builder.spec.clone();
    let options = &spec.options;
    let keys = Keys::of(&row, options);
    let mut weight = match keys.weight(&row) {
        Some(value) => importance(builder, value)?,
        None => 1.0,
    };
    let label = match keys.label(&row) {
        Some(Value::Object(parts)) => {
            if let Some(value) = parts.get("Weight") {
                weight = importance(builder, value)?;
            }
            read_label(builder, parts.get("Label").unwrap_or(&Value::Null))?
        }
        Some(value) => read_label(builder, value)?,
        // As in Vowpal Wabbit's text, a row may have no label.
        None => None,
    };
    let named = builder.named_columns.clone();
    let columns = named.as_deref();
    let id = options.id_field.as_deref();
    let mut row_features = Features { builder, name, namespace: "", seed: 0, columns };
    match row.get("features") {
        Some(Value::Object(features)) => match (features.get("indices"), features.get("values")) {
            (Some(Value::Array(indices)), Some(Value::Array(values))) => {
                row_features.pairs(indices, values)?;
            }
            _ => row_features.object(features, &options.ignored_columns)?,
        },
        Some(Value::Array(list)) => row_features.array(list)?,
        Some(other) => return Err(odd("features", other, "an object or an array")),
        None => {
            for (key, value) in &row {
                let is_feature = !key.starts_with('_')
                    && !keys.takes(key)
                    && id != Some(key.as_str())
                    && !options.ignored_columns.contains(key);
                if is_feature {
                    row_features.field(key, value)?;
                }
            }
        }
    }
    for (k, name) in (0..).zip(&options.carried_columns) {
        let inner = || row.get("features").and_then(|features| features.get(name));
        match row.get(name).or_else(inner) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => builder.carry(k, text.as_bytes()),
            Some(other) => builder.carry(k, other.to_string().as_bytes()),
        }
    }
    let tag = match id {
        Some(id) => row_id(id, row.get(id))?,
        None => {
            let tag = row.get("_tag").or_else(|| row.get("tag")).and_then(Value::as_str);
            Cow::Borrowed(tag.unwrap_or_default())
        }
    };
    builder.finish_adding(label, weight, tag.as_bytes())
}

/// What identifies a row: a text, or the digits of a whole number; empty if there is nothing.
fn row_id<'a>(field: &str, value: Option<&'a Value>) -> Result<Cow<'a, str>, Bad> {
    match value {
        None | Some(Value::Null) => Ok(Cow::Borrowed("")),
        Some(Value::String(text)) => Ok(Cow::Borrowed(text)),
        Some(Value::Number(n)) if n.is_u64() || n.is_i64() => Ok(Cow::Owned(n.to_string())),
        Some(other) => Err(odd(field, other, "a text or a whole number")),
    }
}

/// Where label and weight stand in a row: where the user says, or under the usual names of columns.
struct Keys<'a> {
    label: &'a str,
    weight: &'a str,
}

impl<'a> Keys<'a> {
    fn of(row: &Map<String, Value>, options: &'a Options) -> Self {
        // Vowpal Wabbit's own key is unmistakable and goes first: beside it, "class" may be a namespace.
        let usual = |names: &[&'static str], own: &'static str| match row.contains_key(own) {
            true => own,
            false => names.iter().copied().find(|name| row.contains_key(*name)).unwrap_or(own),
        };
        Self {
            label: options.label_column.as_deref().unwrap_or_else(|| usual(&LABELS, "_label")),
            weight: options.weight_column.as_deref().unwrap_or_else(|| usual(&WEIGHTS, "_weight")),
        }
    }

    fn label<'r>(&self, row: &'r Map<String, Value>) -> Option<&'r Value> {
        row.get(self.label)
    }

    fn weight<'r>(&self, row: &'r Map<String, Value>) -> Option<&'r Value> {
        row.get(self.weight)
    }

    fn takes(&self, key: &str) -> bool {
        key == self.label || key == self.weight || key == "tag"
    }
}

fn read_label(builder: &mut Builder, value: &Value) -> Result<Option<f64>, Bad> {
    match value {
        Value::Null => builder.no_label(0),
        Value::Bool(b) => builder.label(Found::Number(f64::from(*b)), 0),
        Value::Number(n) => builder.label(Found::Number(n.as_f64().unwrap_or(f64::NAN)), 0),
        Value::String(text) => builder.label(Found::Text(text.as_bytes()), 0),
        other => Err(odd("label", other, "a number, a text or a truth value").in_label()),
    }
}

fn importance(builder: &Builder, value: &Value) -> Result<f64, Bad> {
    match value {
        Value::Null => Ok(1.0),
        Value::Number(n) => builder.importance(n.to_string().as_bytes(), 0),
        other => Err(odd("weight", other, "a number")),
    }
}

#[cold]
fn odd(key: &str, value: &Value, expected: &str) -> Bad {
    let token = value.to_string();
    let (shown_key, value) = (shown(key.as_bytes()), shown(token.as_bytes()));
    let words = format!("{shown_key} is {value} instead of {expected}");
    Bad::new(DataErrorKind::Malformed, 0, words).found(token.as_bytes()).in_field(key)
}

/// The features of a row, in a namespace.
struct Features<'a> {
    builder: &'a mut Builder,
    name: &'a mut Scratch,
    namespace: &'a str,
    seed: u64,
    /// The columns that have kinds.
    columns: Option<&'a NamedColumns>,
}

impl Features<'_> {
    /// A field of the row itself: a feature, or a namespace.
    fn field(&mut self, key: &str, value: &Value) -> Result<(), Bad> {
        if let Some(role) = self.role(key) {
            return self.cell(key, role, value);
        }
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            self.builder.enter(b"");
            return self.feature(key, value);
        }
        self.builder.enter(key.as_bytes());
        let seed = hash::namespace(key.as_bytes());
        let mut inner = Features {
            builder: &mut *self.builder,
            name: &mut *self.name,
            namespace: key,
            seed,
            columns: None,
        };
        match value {
            Value::Object(features) => inner.object(features, &[]),
            Value::Array(list) => inner.array(list),
            _ => Ok(()),
        }
    }

    fn object(&mut self, features: &Map<String, Value>, ignored: &[String]) -> Result<(), Bad> {
        for (key, value) in features {
            if !ignored.contains(key) {
                self.feature(key, value)?;
            }
        }
        Ok(())
    }

    fn array(&mut self, list: &[Value]) -> Result<(), Bad> {
        for (i, value) in list.iter().enumerate() {
            match value {
                Value::String(text) => self.push(text, 1.0)?,
                Value::Object(features) => self.object(features, &[])?,
                _ => self.feature(&i.to_string(), value)?,
            }
        }
        Ok(())
    }

    fn pairs(&mut self, indices: &[Value], values: &[Value]) -> Result<(), Bad> {
        if indices.len() != values.len() {
            let (i, v) = (indices.len(), values.len());
            let words = format!("there are {i} indices but {v} values");
            return Err(Bad::new(DataErrorKind::Malformed, 0, words));
        }
        for (index, value) in indices.iter().zip(values) {
            let Value::Number(index) = index else {
                return Err(odd("indices", index, "integers >= 0"));
            };
            let digits = index.to_string();
            let id = svmlight::parse_id(digits.as_bytes(), 0)?;
            self.builder.note_id(id);
            match value {
                Value::Number(_) => self.feature(&digits, value)?,
                other => return Err(odd("values", other, "numbers")),
            }
        }
        match self.builder.repeated_id() {
            Some(index) => {
                let words = RowError::Repeated { index }.to_string();
                Err(Bad::new(DataErrorKind::Index, 0, words).in_field("indices"))
            }
            None => Ok(()),
        }
    }

    fn role(&self, key: &str) -> Option<Role> {
        self.columns?.role(key)
    }

    /// A cell of a column whose kind is known.
    fn cell(&mut self, key: &str, role: Role, value: &Value) -> Result<(), Bad> {
        let (builder, scratch) = (&mut *self.builder, &mut *self.name);
        let cell = match (value, role) {
            (Value::Null, _) => return Ok(()),
            (Value::Bool(b), Role::Number { .. }) => Found::Number(f64::from(*b)),
            (Value::Number(n), Role::Number { .. }) => {
                Found::Number(n.as_f64().unwrap_or(f64::NAN))
            }
            (Value::String(text), _) => Found::Text(text.as_bytes()),
            (Value::Bool(_) | Value::Number(_), _) => {
                let text = value.to_string();
                return push_kind(builder, key, role, Found::Text(text.as_bytes()), 0, scratch)
                    .map_err(|bad| bad.in_field(key));
            }
            (other, _) => return Err(odd(key, other, "a number, a text or a truth value")),
        };
        push_kind(builder, key, role, cell, 0, scratch).map_err(|bad| bad.in_field(key))
    }

    fn feature(&mut self, key: &str, value: &Value) -> Result<(), Bad> {
        if let Some(role) = self.role(key) {
            return self.cell(key, role, value);
        }
        match value {
            Value::Null => Ok(()),
            Value::Bool(b) => self.push(key, f64::from(*b)),
            Value::Number(n) => {
                let max = self.builder.spec.max_value;
                match n.as_f64() {
                    Some(v) if v.abs() <= max => self.push(key, v),
                    _ => Err(number::too_large(n.to_string().as_bytes(), 0, max).in_field(key)),
                }
            }
            Value::String(text) => {
                if self.builder.is_ids() {
                    return Err(odd(key, value, "a number: without hashing, values are numbers"));
                }
                let mut name = std::mem::take(&mut self.name.name);
                name.clear();
                name.extend_from_slice(key.as_bytes());
                name.push(b'=');
                name.extend_from_slice(text.as_bytes());
                self.builder.push_named(self.seed, self.namespace.as_bytes(), &name, 1.0);
                self.name.name = name;
                Ok(())
            }
            other => Err(odd(key, other, "a number, a text or a truth value")),
        }
    }

    fn push(&mut self, name: &str, value: f64) -> Result<(), Bad> {
        if self.builder.is_ids() {
            let id = svmlight::parse_id(name.as_bytes(), 0)?;
            self.builder.push_id(id, value);
        } else {
            let namespace = self.namespace.as_bytes();
            self.builder.push_named(self.seed, namespace, name.as_bytes(), value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Rows, error, rows};
    use crate::{Format, Labels, Options, Space};

    fn json() -> Options {
        Options { format: Some(Format::Jsonl), ..Options::default() }
    }

    fn names(all: &Rows) -> Vec<&str> {
        let mut names: Vec<_> = all.names.iter().map(|(_, name)| name.as_str()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn labels_have_the_usual_names_and_vowpal_wabbits_goes_first() {
        let text = concat!(
            r#"{"y": 1, "x": 2}"#,
            "\n",
            r#"{"_label": -1, "class": {"a": 1}}"#,
            "\n",
            r#"{"target": 1, "sample_weight": 3, "x": 1}"#
        );
        let all = rows(text.as_bytes(), &json()).unwrap();
        assert_eq!(all.labels, [Some(1.0), Some(-1.0), Some(1.0)]);
        assert_eq!(all.weights, [1.0, 1.0, 3.0]);
        assert_eq!(all.rows.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
    }

    #[test]
    fn plain_rows_have_features() {
        let all = rows(
            concat!(
                r#"{"id": 9, "label": true, "weight": 2, "features": {"age": 30, "city": "Rome", "new": true, "old": false, "x": null}}"#,
                "\r\n\n",
                r#"{"label": "-1", "features": {"indices": [7, 3], "values": [0.5, 1]}}"#,
            )
            .as_bytes(),
            &json(),
        )
        .unwrap();
        assert_eq!(all.labels, [Some(1.0), Some(-1.0)]);
        assert_eq!(all.weights, [2.0, 1.0]);
        assert_eq!((all.rows[0].len(), all.rows[1].len()), (3, 2));
        assert_eq!(names(&all), ["3", "7", "age", "city=Rome", "new", "old"]);
    }

    #[test]
    fn vowpal_wabbit_rows_have_namespaces() {
        let text = r#"{"_label": {"Label": 1, "Weight": 3}, "_tag": "t7", "user": {"age": 30, "city": "Rome"}, "ad": [0.5, "x"], "plain": 2}"#;
        let interactions = vec![vec!["u".into(), "a".into()]];
        let all = rows(text.as_bytes(), &Options { interactions, ..json() }).unwrap();
        assert_eq!((all.labels[0], all.weights[0], &all.tags[0][..]), (Some(1.0), 3.0, &b"t7"[..]));
        assert_eq!(
            names(&all),
            [
                "ad^0",
                "ad^x",
                "plain",
                "user^age",
                "user^age*ad^0",
                "user^age*ad^x",
                "user^city=Rome",
                "user^city=Rome*ad^0",
                "user^city=Rome*ad^x"
            ]
        );
        // The same feature has the same slot in every format.
        let vw = Options { format: Some(Format::Vw), ..json() };
        let text = b"1 |user age:30 city=Rome |ad 0:0.5 x | plain:2\n";
        let same = rows(text, &vw).unwrap();
        assert!(same.names.iter().all(|n| all.names.contains(n)));
    }

    #[test]
    fn ids_are_integers() {
        let options = Options { space: Some(Space::Ids), ..json() };
        let all = rows(br#"{"label":1,"features":{"7":2,"3":1}}"#, &options).unwrap();
        assert_eq!(all.rows, [[(3, 1.0), (7, 2.0)]]);
        assert_eq!(
            error(br#"{"label":1,"features":{"age":2}}"#, &options),
            "x:1: feature index \"age\" is not an integer >= 0"
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, expected) in [
            ("{\"label\": 1}\n{\"label\": }\n", "x:2:11: not a json object: expected value"),
            ("[1]\n", "x:1: a row is a json object"),
            (r#"{"label": 1, "a": 1, "a": 2}"#, "x:1:24: the name \"a\" appears twice"),
            (r#"{"label": 1, "u": {"b": 1, "b": 2}}"#, "x:1:30: the name \"b\" appears twice"),
            (
                r#"{"label": 1, "features": {"indices": [3, 7, 3], "values": [1, 2, 3]}}"#,
                "x:1: feature index 3 appears twice",
            ),
            (r#"{"label": "NaN", "a": 1}"#, "x:1: label \"NaN\" is neither \"-1\" nor \"1\""),
            ("{\"label\": 1", "x:1:11: not a json object: EOF while parsing an object"),
            (r#"{"label": 2}"#, "x:1: label \"2\" is neither \"-1\" nor \"1\""),
            (
                r#"{"label": null}"#,
                "x:1: the label is missing; remove the row, or skip it with --skip-bad",
            ),
            (
                r#"{"label": [1]}"#,
                "x:1: \"label\" is \"[1]\" instead of a number, a text or a truth value",
            ),
            (r#"{"label": 1, "weight": -1}"#, "x:1: importance weight \"-1\" is negative"),
            (
                r#"{"label": 1, "a": 1e200}"#,
                "x:1: \"1e+200\" is beyond the largest magnitude, 1e100",
            ),
            (r#"{"label": 1, "a": 1e999}"#, "x:1:23: not a json object: number out of range"),
            (
                r#"{"label": 1, "a": {"b": {}}}"#,
                "x:1: \"b\" is \"{}\" instead of a number, a text or a truth value",
            ),
            (
                r#"{"features": {"indices": [1], "values": []}}"#,
                "x:1: there are 1 indices but 0 values",
            ),
            (
                r#"{"features": {"indices": [-1], "values": [1]}}"#,
                "x:1: feature index \"-1\" is not an integer >= 0",
            ),
            (r#"{"features": 3}"#, "x:1: \"features\" is \"3\" instead of an object or an array"),
        ] {
            assert_eq!(error(text.as_bytes(), &json()), expected, "{text:?}");
        }
        let deep = format!("{{\"a\":{}", "[".repeat(100_000));
        assert!(error(deep.as_bytes(), &json()).contains("recursion limit exceeded"));
    }

    #[test]
    fn a_label_may_have_another_name() {
        let options = Options { label_column: Some("y".into()), labels: Labels::Real, ..json() };
        let all = rows(br#"{"y": 2.5, "label": 3}"#, &options).unwrap();
        assert_eq!(all.labels, [Some(2.5)]);
        assert_eq!(names(&all), ["label"]);
    }
}
