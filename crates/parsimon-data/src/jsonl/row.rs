//! A JSON row as named cells: objects become columns such as `user.age`, and numbers keep the digits that the file has.

use std::borrow::Cow;
use std::fmt;

use rustc_hash::FxHashSet;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::DataErrorKind;
use crate::error::{Bad, shown};

/// The deepest nesting of objects and arrays in a row.
const DEEPEST: usize = 32;

/// Fields that are compared with each other before a set is made.
const FEW: usize = 16;

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    Truth(bool),
    /// A number, as the file spells it.
    Number(&'a str),
    Text(Cow<'a, str>),
    /// An array that holds neither objects nor arrays.
    List(Vec<Cell<'a>>),
}

impl Cell<'_> {
    /// Whether there is no value: null, and arrays without one.
    pub(super) fn is_missing(&self) -> bool {
        match self {
            Cell::Null => true,
            Cell::List(items) => items.iter().all(Cell::is_missing),
            _ => false,
        }
    }
}

/// The fields of an object in the order of the text; a name that appears twice is refused.
pub(super) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// Reads one object, the whole of a line.
pub(super) fn read(line: &[u8]) -> Result<Object<'_>, Bad> {
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(not_an_object(line));
    }
    serde_json::from_slice(line).map_err(|e| malformed(&e))
}

/// The error of a line that does not begin as an object.
fn not_an_object(line: &[u8]) -> Bad {
    match serde_json::from_slice::<&RawValue>(line) {
        Ok(_) => Bad::new(DataErrorKind::Malformed, 0, "a row is a json object"),
        Err(e) => malformed(&e),
    }
}

/// Words for an error of the JSON parser. The place stands in front of the message already.
pub(super) fn malformed(e: &serde_json::Error) -> Bad {
    let words = e.to_string();
    let words = words.split(" at line ").next().unwrap_or_default();
    let words = match e.is_data() {
        true => words.to_owned(),
        false => format!("not a json object: {words}"),
    };
    Bad::new(DataErrorKind::Malformed, e.column(), words)
}

impl<'a> Object<'a> {
    /// The raw value of a field.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
    }

    /// The names of the fields.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(|(name, _)| name.as_ref())
    }

    /// Visits all cells of a row in order, with the names of their columns. Where the row keeps its features in an object called
    /// `features`, these are columns beside the other fields for which `is_role` holds; else every field is one.
    pub(super) fn visit(
        &self,
        name: &mut String,
        is_role: &dyn Fn(&str) -> bool,
        cell: &mut Visit<'_, 'a>,
    ) -> Result<(), Bad> {
        let inner = self.get(FEATURES).filter(|value| is_object(value));
        for (key, value) in &self.0 {
            name.clear();
            match inner {
                Some(_) if key == FEATURES => fields(value, name, 1, cell)?,
                Some(_) if !is_role(key) => {}
                _ => {
                    name.push_str(key);
                    walk(value, name, 1, cell)?;
                }
            }
        }
        Ok(())
    }
}

/// The field whose object holds the features of a row.
pub(super) const FEATURES: &str = "features";

/// A function of a cell and the name of its column.
pub(super) type Visit<'v, 'a> = dyn FnMut(&str, Cell<'a>) -> Result<(), Bad> + 'v;

/// Whether a raw value is an object.
pub(super) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

/// Whether a raw value is an array.
pub(super) fn is_array(value: &RawValue) -> bool {
    value.get().starts_with('[')
}

/// Visits the cells of a value, whose column is called `name`.
fn walk<'a>(
    value: &'a RawValue,
    name: &mut String,
    depth: usize,
    cell: &mut Visit<'_, 'a>,
) -> Result<(), Bad> {
    if is_object(value) {
        name.push('.');
        return fields(value, name, depth + 1, cell);
    }
    if !is_array(value) {
        return cell(name, scalar(value)?);
    }
    let items: Vec<&RawValue> = parsed(value.get(), name)?;
    if !items.iter().any(|item| is_object(item) || is_array(item)) {
        let items = items.into_iter().map(scalar).collect::<Result<_, _>>()?;
        return cell(name, Cell::List(items));
    }
    check_depth(depth, name)?;
    let len = name.len();
    for (i, item) in items.into_iter().enumerate() {
        name.truncate(len);
        name.push('.');
        name.push_str(&i.to_string());
        walk(item, name, depth + 1, cell)?;
    }
    Ok(())
}

/// Visits the fields of an object, whose columns are called `name` and their own names.
fn fields<'a>(
    value: &'a RawValue,
    name: &mut String,
    depth: usize,
    cell: &mut Visit<'_, 'a>,
) -> Result<(), Bad> {
    check_depth(depth, name)?;
    let Object(fields) = parsed(value.get(), name)?;
    let len = name.len();
    for (key, value) in fields {
        name.truncate(len);
        name.push_str(&key);
        walk(value, name, depth, cell)?;
    }
    Ok(())
}

fn check_depth(depth: usize, name: &str) -> Result<(), Bad> {
    if depth <= DEEPEST {
        return Ok(());
    }
    let words = format!("field {} is nested deeper than {DEEPEST} levels", shown(name.as_bytes()));
    Err(Bad::new(DataErrorKind::Malformed, 0, words))
}

/// Reads the text of a value that is valid JSON; names may appear twice in it.
fn parsed<'a, T: Deserialize<'a>>(text: &'a str, name: &str) -> Result<T, Bad> {
    serde_json::from_str(text).map_err(|e| {
        let words = e.to_string();
        let words = words.split(" at line ").next().unwrap_or_default().to_owned();
        Bad::new(DataErrorKind::Malformed, 0, words).in_field(name.trim_end_matches('.'))
    })
}

/// A value that is neither an object nor an array.
fn scalar(value: &RawValue) -> Result<Cell<'_>, Bad> {
    let text = value.get();
    Ok(match text.as_bytes().first() {
        Some(b'n') => Cell::Null,
        Some(b't') => Cell::Truth(true),
        Some(b'f') => Cell::Truth(false),
        Some(b'"') => Cell::Text(parsed::<Text<'_>>(text, "")?.0),
        _ => Cell::Number(text),
    })
}

/// A string, borrowed where it has no escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(parser: D) -> Result<Self, D::Error> {
        struct Borrowed;
        impl<'de> Visitor<'de> for Borrowed {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        parser.deserialize_str(Borrowed)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Object<'a> {
    fn deserialize<D: Deserializer<'de>>(parser: D) -> Result<Self, D::Error> {
        parser.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a json object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields: Vec<(Cow<'de, str>, &'de RawValue)> = Vec::new();
        let mut names = FxHashSet::default();
        while let Some(Text(name)) = map.next_key::<Text<'de>>()? {
            let is_known = match fields.len() {
                0..FEW => fields.iter().any(|(other, _)| *other == name),
                FEW => {
                    names.extend(fields.iter().map(|(other, _)| other.clone()));
                    !names.insert(name.clone())
                }
                _ => !names.insert(name.clone()),
            };
            if is_known {
                return Err(A::Error::custom(format_args!("the name {name:?} appears twice")));
            }
            fields.push((name, map.next_value()?));
        }
        Ok(Object(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(A::Error::custom("a row is a json object"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str) -> Result<Vec<(String, String)>, String> {
        let mut all = Vec::new();
        let row = read(line.as_bytes()).map_err(|bad| bad.message.to_string())?;
        row.visit(&mut String::new(), &|name| name == "y", &mut |name, cell| {
            all.push((name.to_owned(), format!("{cell:?}")));
            Ok(())
        })
        .map_err(|bad| bad.message.to_string())?;
        Ok(all)
    }

    fn names(line: &str) -> Vec<String> {
        cells(line).unwrap().into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn nested_objects_are_columns() {
        assert_eq!(
            names(r#"{"a":1,"u":{"b":2,"c":{"d":"x"}},"l":[1,2]}"#),
            ["a", "u.b", "u.c.d", "l"]
        );
        assert_eq!(names(r#"{"l":[{"a":1},2,[3]]}"#), ["l.0.a", "l.1", "l.2"]);
        assert_eq!(names(r#"{"y":1,"id":9,"features":{"a":1,"b":2}}"#), ["y", "a", "b"]);
        assert_eq!(names(r#"{"y":1,"id":9,"features":[1,2]}"#), ["y", "id", "features"]);
    }

    #[test]
    fn numbers_keep_their_digits_and_texts_their_letters() {
        let all = cells(r#"{"a":12345678901234567890123,"b":1.50,"c":"q\n","d":[true,null]}"#);
        let all: Vec<String> = all.unwrap().into_iter().map(|(_, cell)| cell).collect();
        assert_eq!(
            all,
            [
                "Number(\"12345678901234567890123\")",
                "Number(\"1.50\")",
                "Text(\"q\\n\")",
                "List([Truth(true), Null])"
            ]
        );
    }

    #[test]
    fn names_that_repeat_and_bottomless_rows_are_refused() {
        assert_eq!(cells(r#"{"a":1,"a":2}"#).unwrap_err(), "the name \"a\" appears twice");
        assert!(cells(r#"{"u":{"b":1,"b":2}}"#).unwrap_err().contains("\"b\" appears twice"));
        let many: String = (0..40).map(|i| format!("\"c{i}\":1,")).collect();
        assert_eq!(
            cells(&format!("{{{many}\"c7\":2}}")).unwrap_err(),
            "the name \"c7\" appears twice"
        );
        for (open, close) in [("{\"a\":", "}"), ("[", "]")] {
            let deep = format!("{{\"a\":{}1{}}}", open.repeat(5000), close.repeat(5000));
            let error = cells(&deep).unwrap_err();
            assert!(error.contains("deeper than 32") || error.contains("recursion"), "{error}");
        }
        assert_eq!(cells("[1]").unwrap_err(), "a row is a json object");
    }
}
