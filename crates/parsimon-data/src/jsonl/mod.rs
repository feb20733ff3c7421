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
//! That is Vowpal Wabbit's JSON, the meaning of rows that have `_label`, and of all rows under
//! [`Kinds::ByCell`](crate::Kinds::ByCell). Other rows are those of a table: see `table`, and `found` for the kinds of its columns.

use std::borrow::Cow;
use std::sync::Arc;

mod fields;
mod found;
mod row;
mod table;
#[cfg(test)]
mod table_tests;

use memchr::memchr;
use parsimon_core::RowError;
use serde_json::{Map, Value};

use crate::builder::Builder;
use crate::columns::Columns;
use crate::delimited::Scratch;
use crate::error::{Bad, shown};
use crate::label::Found;
use crate::role_names::{
    BESIDE_FEATURES, NO_COLUMN, VW_LABEL, VW_WEIGHT, label_field, weight_field,
};
use crate::{DataErrorKind, Options, hash, json_object, number, svmlight};

pub(crate) use fields::{absent_fields, names_fields, without_label};
pub(crate) use found::{Found as FoundColumns, are_bags, found};
pub(crate) use table::columns_of;

/// Parses a block of whole lines: rows of a table if there are columns.
pub(crate) fn parse(builder: &mut Builder, text: &[u8], columns: Option<&Arc<Columns>>) {
    let (mut name, mut field) = (Scratch::default(), String::new());
    let named = columns.map(|columns| builder.named(columns));
    if let Some(named) = &named {
        builder.begin_table(&named.columns);
    }
    let mut at = 0;
    let mut line = 0;
    while at < text.len() {
        let end = memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        line += 1;
        let row = &text[at..end];
        let parsed = match &named {
            _ if row.trim_ascii().is_empty() => Ok(()),
            Some(named) => table::parse_row(builder, row, named, &mut field, &mut name),
            None => parse_fields(builder, row, &mut name),
        };
        if let Err(bad) = parsed
            && !builder.refuse(line, bad)
        {
            break;
        }
        at = end + 1;
    }
    builder.out.lines += line;
}

/// Parses a row whose fields are understood one by one.
fn parse_fields(builder: &mut Builder, line: &[u8], name: &mut Scratch) -> Result<(), Bad> {
    let row = json_object::read(line).map_err(|e| row::malformed(&e))?;
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
    let id = options.ask.id.as_deref();
    let mut row_features = Features { builder, name, namespace: "", seed: 0 };
    match row.get("features") {
        Some(Value::Object(features)) => match (features.get("indices"), features.get("values")) {
            (Some(Value::Array(indices)), Some(Value::Array(values))) => {
                row_features.pairs(indices, values)?;
            }
            _ => row_features.object(features, &options.reading.ignore)?,
        },
        Some(Value::Array(list)) => row_features.array(list)?,
        Some(other) => return Err(odd("features", other, "an object or an array")),
        None => {
            for (key, value) in &row {
                let is_feature = !key.starts_with('_')
                    && !keys.takes(key)
                    && id != Some(key.as_str())
                    && !options.reading.ignore.contains(key);
                if is_feature {
                    row_features.field(key, value)?;
                }
            }
        }
    }
    for (k, name) in (0..).zip(&options.ask.carried) {
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

/// Returns what identifies a row: a text, or the digits of a whole number; empty if the row has no such field. An id that is null or
/// empty is refused: it would identify every row that lacks one.
fn row_id<'a>(field: &str, value: Option<&'a Value>) -> Result<Cow<'a, str>, Bad> {
    match value {
        None => Ok(Cow::Borrowed("")),
        Some(Value::String(text)) if !text.is_empty() => Ok(Cow::Borrowed(text)),
        Some(Value::Number(n)) if n.is_u64() || n.is_i64() => Ok(Cow::Owned(n.to_string())),
        Some(other) => Err(odd(field, other, "a text that is not empty, or a whole number")),
    }
}

/// Where label and weight stand in a row: where the user says, or under the usual names of columns.
struct Keys<'a> {
    label: &'a str,
    weight: &'a str,
}

impl<'a> Keys<'a> {
    fn of(row: &'a Map<String, Value>, options: &'a Options) -> Self {
        let fields = || row.keys().map(String::as_str);
        let (label, weight) =
            (options.reading.label_column.as_deref(), options.reading.weight_column.as_deref());
        Self {
            label: label.or_else(|| label_field(fields())).unwrap_or(VW_LABEL),
            weight: match weight {
                // No field has an empty name, so that none is the weight.
                Some(NO_COLUMN) if !row.contains_key(NO_COLUMN) => "",
                Some(weight) => weight,
                None => {
                    weight_field(fields()).unwrap_or_else(|| match row.contains_key("features") {
                        true => BESIDE_FEATURES,
                        false => VW_WEIGHT,
                    })
                }
            },
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
}

impl Features<'_> {
    /// A field of the row itself: a feature, or a namespace.
    fn field(&mut self, key: &str, value: &Value) -> Result<(), Bad> {
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            self.builder.enter(b"");
            return self.feature(key, value);
        }
        self.builder.enter(key.as_bytes());
        let seed = hash::namespace(key.as_bytes());
        let mut inner =
            Features { builder: &mut *self.builder, name: &mut *self.name, namespace: key, seed };
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

    fn feature(&mut self, key: &str, value: &Value) -> Result<(), Bad> {
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
    use crate::{Format, Labels, Options, Reading, Space};

    fn json() -> Options {
        Options::from(Reading { format: Some(Format::Jsonl), ..Reading::default() })
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
        let all = rows(
            text.as_bytes(),
            &Options { reading: Reading { interactions, ..json().reading }, ..json() },
        )
        .unwrap();
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
        let vw =
            Options { reading: Reading { format: Some(Format::Vw), ..json().reading }, ..json() };
        let text = b"1 |user age:30 city=Rome |ad 0:0.5 x | plain:2\n";
        let same = rows(text, &vw).unwrap();
        assert!(same.names.iter().all(|n| all.names.contains(n)));
    }

    #[test]
    fn ids_are_integers() {
        let options =
            Options { reading: Reading { space: Some(Space::Ids), ..json().reading }, ..json() };
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
                "x:1: the label is missing; remove the row, or skip it with skip_bad",
            ),
            (
                r#"{"label": [1]}"#,
                "x:1: \"label\" is \"[1]\" instead of a number, a text or a truth value",
            ),
            (
                r#"{"label": 1, "weight": -1, "features": {}}"#,
                "x:1: importance weight \"-1\" is negative",
            ),
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
        let options = Options {
            reading: Reading {
                label_column: Some("y".into()),
                labels: Labels::Real,
                ..json().reading
            },
            ..json()
        };
        let all = rows(br#"{"y": 2.5, "label": 3}"#, &options).unwrap();
        assert_eq!(all.labels, [Some(2.5)]);
        assert_eq!(names(&all), ["label"]);
    }
}
