//! What a setting may be, and how to say what is wrong with one.

use serde_json::Value;

use crate::BuildError;

/// One setting of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name in specs, flags (with dashes), Python and HTTP.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it is when nobody says; `None` when it may be absent.
    pub default: Option<Default>,
    /// One line for people.
    pub about: &'static str,
}

/// Beyond this the rows of an affine projection are all but dependent, and the solve no longer small.
pub const MAX_ORDER: u64 = 64;

/// What a setting may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A finite number > 0.
    Positive,
    /// A finite number >= 0.
    NonNegative,
    /// A number with 0 < x < 1.
    Fraction,
    /// A number with 0 <= x < 1.
    Decay,
    /// A number with 0 <= x <= 1.
    Unit,
    /// A number with 0 < x <= 1.
    Share,
    /// A number with -1 <= x <= 1.
    Signed,
    /// A number with 0 < x < 2: the steps under which a projection method cannot run away.
    Step,
    /// Any finite number.
    Number,
    /// A number >= 0 or "inf".
    Threshold,
    /// A whole number >= 1.
    Natural,
    /// A whole number from 1 to 64.
    Order,
    /// A whole number >= 1, or "none".
    NaturalOrNone,
    /// true or false.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these words, or a list of different ones.
    Words(&'static [&'static str]),
    /// A list of finite numbers > 0.
    Positives,
    /// A list of whole numbers >= 1.
    Naturals,
    /// Lists of feature ids.
    Groups,
    /// Texts.
    Texts,
}

/// A default, as it stands in the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Default {
    /// A number.
    Number(f64),
    /// A word.
    Word(&'static str),
    /// true or false.
    Flag(bool),
}

impl Default {
    /// As JSON.
    pub fn value(self) -> Value {
        match self {
            Default::Number(x) if x.fract() == 0.0 && x.abs() < 1e15 => Value::from(x as i64),
            Default::Number(x) => Value::from(x),
            Default::Word(word) => Value::from(word),
            Default::Flag(flag) => Value::from(flag),
        }
    }
}

impl Kind {
    /// What to write after "must be".
    pub fn expectation(self) -> String {
        match self {
            Kind::Positive => "a finite number > 0".into(),
            Kind::NonNegative => "a finite number >= 0".into(),
            Kind::Fraction => "a number between 0 and 1".into(),
            Kind::Decay => "a number >= 0 and < 1".into(),
            Kind::Unit => "a number from 0 to 1".into(),
            Kind::Share => "a number > 0 and <= 1".into(),
            Kind::Signed => "a number from -1 to 1".into(),
            Kind::Step => "a number > 0 and < 2".into(),
            Kind::Number => "a finite number".into(),
            Kind::Threshold => "a number >= 0 or \"inf\"".into(),
            Kind::Natural => "a whole number >= 1".into(),
            Kind::Order => format!("a whole number from 1 to {MAX_ORDER}"),
            Kind::NaturalOrNone => "a whole number >= 1 or \"none\"".into(),
            Kind::Flag => "true or false".into(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
            Kind::Words(words) => format!("one or a list of {}", words.join(", ")),
            Kind::Positives => "a list of finite numbers > 0".into(),
            Kind::Naturals => "a list of whole numbers >= 1".into(),
            Kind::Groups => "a list of lists of feature ids".into(),
            Kind::Texts => "a list of at least two different texts".into(),
        }
    }

    /// Whether a value is such a thing.
    pub fn accepts(self, value: &Value) -> bool {
        let number = |ok: fn(f64) -> bool| value.as_f64().is_some_and(|x| x.is_finite() && ok(x));
        match self {
            Kind::Positive => number(|x| x > 0.0),
            Kind::NonNegative => number(|x| x >= 0.0),
            Kind::Fraction => number(|x| 0.0 < x && x < 1.0),
            Kind::Decay => number(|x| (0.0..1.0).contains(&x)),
            Kind::Unit => number(|x| (0.0..=1.0).contains(&x)),
            Kind::Share => number(|x| 0.0 < x && x <= 1.0),
            Kind::Signed => number(|x| (-1.0..=1.0).contains(&x)),
            Kind::Step => number(|x| 0.0 < x && x < 2.0),
            Kind::Number => number(|_| true),
            Kind::Threshold => value == "inf" || number(|x| x >= 0.0),
            Kind::Natural => value.as_u64().is_some_and(|n| n >= 1),
            Kind::Order => value.as_u64().is_some_and(|n| (1..=MAX_ORDER).contains(&n)),
            Kind::NaturalOrNone => value == "none" || Kind::Natural.accepts(value),
            Kind::Flag => value.is_boolean(),
            Kind::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Kind::Words(words) if value.is_string() => Kind::Choice(words).accepts(value),
            Kind::Words(words) => {
                let known = |list: &[Value]| list.iter().all(|v| Kind::Choice(words).accepts(v));
                let distinct =
                    |list: &[Value]| (1..list.len()).all(|i| !list[..i].contains(&list[i]));
                value.as_array().is_some_and(|l| !l.is_empty() && known(l) && distinct(l))
            }
            Kind::Positives => is_list(value, |v| Kind::Positive.accepts(v)),
            Kind::Naturals => is_list(value, |v| {
                Kind::Natural.accepts(v) && v.as_u64().is_some_and(|n| u32::try_from(n).is_ok())
            }),
            Kind::Groups => value.as_array().is_some_and(|groups| groups.iter().all(is_ids)),
            Kind::Texts => {
                let texts = texts_of(value);
                let distinct: std::collections::BTreeSet<_> = texts.iter().collect();
                let given = value.as_array().map_or(0, Vec::len);
                distinct.len() == given && given >= 2
            }
        }
    }
}

/// A value as it is typed: a number, true or false, or a word.
pub fn scalar(text: &str) -> Value {
    if let Ok(n) = text.parse::<u64>() {
        return n.into();
    }
    match (text, text.parse::<f64>()) {
        ("true", _) => true.into(),
        ("false", _) => false.into(),
        (_, Ok(x)) if x.is_finite() => x.into(),
        _ => text.into(),
    }
}

/// A list of texts; a number stands for its digits.
pub(crate) fn texts_of(value: &Value) -> Vec<String> {
    let text = |v: &Value| match v {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

fn is_list(value: &Value, good: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(good))
}

fn is_ids(value: &Value) -> bool {
    let id = |v: &Value| v.as_u64().is_some_and(|id| id < u64::from(u32::MAX));
    value.as_array().is_some_and(|ids| !ids.is_empty() && ids.iter().all(id))
}

impl Parameter {
    /// Judges a value; the only place where numbers are judged.
    pub fn check(&self, value: &Value) -> Result<(), BuildError> {
        if self.kind.accepts(value) {
            return Ok(());
        }
        let expected = self.kind.expectation();
        Err(BuildError::new(self.name, format!("{} must be {expected}, got {value}", self.name)))
    }
}
