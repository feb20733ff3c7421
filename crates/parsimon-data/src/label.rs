//! Valid labels, and the numbers that the loss receives for them.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Bad, shown};
use crate::{DataErrorKind, number};

/// Interpretation of the label of a row.
///
/// | labels | accepts | tells the loss |
/// | --- | --- | --- |
/// | `Real` | a finite number | the number |
/// | `NonNegative` | a number >= 0 | the number |
/// | `Binary` | one of two texts | -1 or 1 |
/// | `Classes` | one of several texts | the class's position, from 0 |
/// | `Optional(x)` | what `x` accepts, or anything, or nothing | as `x`, else no label |
/// | `Any` | anything | a number as itself, a text as a code (see [`LabelTexts`]) |
///
/// Blanks around a label and final periods do not count. Numbers are compared as numbers: `+1`, `1.0` and `1` are one label. When the pair of `Binary` is the
/// usual one (positive 1, negative -1 or 0), both -1 and 0 are negative.
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{Input, Labels, Options, Reader, Reading};
///
/// let bytes = b"spam 3:1\nham 2:1\n".to_vec();
/// let labels = Labels::Binary { negative: "ham".into(), positive: "spam".into() };
/// let options = Options::from(Reading { labels, ..Reading::default() });
/// let mut reader = Reader::open(&[Input::Bytes { name: "mail.svm".into(), bytes }], &options).unwrap();
/// let mut chunk = Chunk::new();
/// reader.read(&mut chunk).unwrap();
/// assert_eq!((chunk.label(0), chunk.label(1)), (Some(1.0), Some(-1.0)));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// Any finite number: regression.
    Real,
    /// A number that is not negative: counts.
    NonNegative,
    /// Two classes.
    Binary {
        /// The label that the loss receives as -1.
        negative: String,
        /// The label that the loss receives as 1.
        positive: String,
    },
    /// Several classes, identified by their position in this list.
    Classes(Vec<String>),
    /// As another kind, but a missing or unknown label is no label: prediction.
    Optional(Box<Labels>),
    /// Whatever stands there: looking at data, and copying it into a cache.
    Any,
}

impl Labels {
    /// -1 (or 0) against 1.
    pub fn binary() -> Self {
        Labels::Binary { negative: "-1".into(), positive: "1".into() }
    }
}

/// [`Labels`] made ready for asking once per row.
#[derive(Clone, Debug)]
pub(crate) enum LabelReader {
    Number { least: f64 },
    Binary { negative: Class, positive: Class, standard: bool },
    Classes { texts: FxHashMap<Vec<u8>, u32>, numbers: FxHashMap<u64, u32> },
    Optional(Box<LabelReader>),
    Any,
}

#[derive(Clone, Debug)]
pub(crate) struct Class {
    text: Vec<u8>,
    number: Option<f64>,
}

impl Class {
    fn new(text: &str) -> Result<Self, String> {
        let text = trimmed(text.as_bytes());
        if is_not_finite(text) {
            return Err(format!("class {} is not a finite number", shown(text)));
        }
        Ok(Self { text: text.to_vec(), number: number::whole(text) })
    }

    fn is(&self, token: &[u8], number: Option<f64>) -> bool {
        self.text == token || (number.is_some() && self.number == number)
    }
}

/// A label as a format found it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'a> {
    Text(&'a [u8]),
    Number(f64),
}

impl LabelReader {
    pub(crate) fn new(labels: &Labels) -> Result<Self, String> {
        Ok(match labels {
            Labels::Real => Self::Number { least: f64::NEG_INFINITY },
            Labels::NonNegative => Self::Number { least: 0.0 },
            Labels::Binary { negative, positive } => {
                let (negative, positive) = (Class::new(negative)?, Class::new(positive)?);
                if positive.is(&negative.text, negative.number) {
                    return Err(format!("the two labels are the same: {}", shown(&negative.text)));
                }
                let standard = positive.number == Some(1.0)
                    && negative.number.is_some_and(|n| n == -1.0 || n == 0.0);
                Self::Binary { negative, positive, standard }
            }
            Labels::Classes(list) => {
                let (mut texts, mut numbers) = (FxHashMap::default(), FxHashMap::default());
                for (i, text) in list.iter().enumerate() {
                    let class = Class::new(text)?;
                    let number = class.number.map(number_key);
                    let twice = texts.insert(class.text, i as u32).is_some()
                        || number.is_some_and(|n| numbers.insert(n, i as u32).is_some());
                    if twice {
                        return Err(format!("class {} is listed twice", shown(text.as_bytes())));
                    }
                }
                Self::Classes { texts, numbers }
            }
            Labels::Optional(inner) => Self::Optional(Box::new(Self::new(inner)?)),
            Labels::Any => Self::Any,
        })
    }

    /// Whether labels are numbers to be predicted.
    pub(crate) fn are_numbers(&self) -> bool {
        match self {
            Self::Number { .. } => true,
            Self::Optional(inner) => inner.are_numbers(),
            _ => false,
        }
    }

    /// Whether labels are positions among several classes.
    pub(crate) fn is_of_several_classes(&self) -> bool {
        match self {
            Self::Classes { .. } => true,
            Self::Optional(inner) => inner.is_of_several_classes(),
            _ => false,
        }
    }

    /// Whether a row of a format that must have labels may do without.
    pub(crate) fn may_be_missing(&self) -> bool {
        matches!(self, Self::Optional(_) | Self::Any)
    }

    /// Returns the number that the loss receives for a label at `column`.
    #[inline]
    pub(crate) fn read(
        &self,
        found: Found<'_>,
        column: usize,
        max: f64,
    ) -> Result<Option<f64>, Bad> {
        // PERF: nine rows of ten say one of these.
        if let Self::Binary { standard: true, .. } = self {
            match found {
                Found::Text(b"1" | b"+1") | Found::Number(1.0) => return Ok(Some(1.0)),
                Found::Text(b"-1" | b"0") | Found::Number(-1.0 | 0.0) => return Ok(Some(-1.0)),
                _ => {}
            }
        }
        self.read_slowly(found, column, max)
    }

    fn read_slowly(&self, found: Found<'_>, column: usize, max: f64) -> Result<Option<f64>, Bad> {
        let found = match found {
            Found::Text(token) => Found::Text(trimmed(token)),
            number @ Found::Number(_) => number,
        };
        let number = match found {
            Found::Text(token) => number::whole(token),
            Found::Number(v) => v.is_finite().then_some(v),
        };
        let spelled;
        let token = match found {
            Found::Text(token) => token,
            Found::Number(v) => {
                spelled = v.to_string();
                spelled.as_bytes()
            }
        };
        match self {
            Self::Number { least } => match number {
                Some(y) if y < *least => {
                    Err(refused(token, column, format!("label {} is negative", shown(token))))
                }
                Some(y) if y.abs() <= max => Ok(Some(y)),
                Some(_) => Err(number::too_large(token, column, max).in_label()),
                None => Err(refused(
                    token,
                    column,
                    format!("label {}", crate::error::not_a_number(token)),
                )),
            },
            Self::Binary { negative, positive, standard } => {
                let zero_or_minus = || number.is_some_and(|n| n == 0.0 || n == -1.0);
                if positive.is(token, number) {
                    Ok(Some(1.0))
                } else if negative.is(token, number) || (*standard && zero_or_minus()) {
                    Ok(Some(-1.0))
                } else {
                    let (n, p) = (shown(&negative.text), shown(&positive.text));
                    let words = format!("label {} is neither {n} nor {p}", shown(token));
                    Err(refused(token, column, words))
                }
            }
            Self::Classes { texts, numbers } => {
                let by_number = || number.and_then(|n| numbers.get(&number_key(n)));
                match texts.get(token).or_else(by_number) {
                    Some(&class) => Ok(Some(f64::from(class))),
                    None => {
                        let words = format!("label {} is not a known class", shown(token));
                        Err(refused(token, column, words))
                    }
                }
            }
            Self::Optional(inner) => Ok(inner.read(found, column, max).unwrap_or(None)),
            Self::Any => match number {
                Some(y) if y.abs() <= max => Ok(Some(y)),
                None if is_not_finite(token) => Err(refused(
                    token,
                    column,
                    format!("label {}", crate::error::not_a_number(token)),
                )),
                _ => Ok(Some(code(token))),
            },
        }
    }
}

/// A label without blanks around it and without final periods: files of one set differ in these.
pub(crate) fn trimmed(token: &[u8]) -> &[u8] {
    let mut bare = token.trim_ascii();
    while let Some(shorter) = bare.strip_suffix(b".") {
        bare = shorter.trim_ascii_end();
    }
    if bare.is_empty() { token } else { bare }
}

/// Whether a label is `nan`, `inf` or too large for any number: a slip of what wrote the file, never the name of a class.
fn is_not_finite(token: &[u8]) -> bool {
    std::str::from_utf8(token)
        .is_ok_and(|text| text.parse::<f64>().is_ok_and(|value| !value.is_finite()))
}

fn refused(token: &[u8], column: usize, words: String) -> Bad {
    Bad::new(DataErrorKind::Label, column, words).found(token)
}

/// -0 and 0 are one number.
fn number_key(v: f64) -> u64 {
    (v + 0.0).to_bits()
}

// The codes of texts live where no label can be: `Bounds::max_value` is at most 1e250.
const CODES_FROM: f64 = 1e270;

/// The number that stands for a text label under [`Labels::Any`]: between 2^900 and 2^901, with 52 bits
/// of the text's hash as its fraction.
pub(crate) fn code(text: &[u8]) -> f64 {
    f64::from_bits(((1023 + 900) << 52) | (xxh3_64(text) >> 12))
}

/// Whether a label is a code of [`LabelTexts`].
pub(crate) fn is_code(label: f64) -> bool {
    label >= CODES_FROM
}

/// The text labels met under [`Labels::Any`], and the codes that stand for them in chunks.
///
/// A chunk's labels are numbers. Where any label is valid, a text is stored as a number beyond 1e270
/// that depends on the text alone; this table leads back.
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{Input, Labels, Options, Reader, Reading};
///
/// let bytes = b"spam 3:1\n+1 2:1\n".to_vec();
/// let options = Options::from(Reading { labels: Labels::Any, ..Reading::default() });
/// let mut reader = Reader::open(&[Input::Bytes { name: "a.svm".into(), bytes }], &options).unwrap();
/// let mut chunk = Chunk::new();
/// reader.read(&mut chunk).unwrap();
/// assert_eq!(reader.label_texts().spell(chunk.label(0).unwrap()), "spam");
/// assert_eq!(reader.label_texts().spell(chunk.label(1).unwrap()), "1");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LabelTexts {
    texts: FxHashMap<u64, String>,
}

impl LabelTexts {
    /// The text behind a label, or the label as a number.
    pub fn spell(&self, label: f64) -> String {
        self.text(label).map_or_else(|| label.to_string(), str::to_owned)
    }

    /// The text behind a label, if it is a code.
    pub fn text(&self, label: f64) -> Option<&str> {
        self.texts.get(&label.to_bits()).map(String::as_str)
    }

    /// Number of text labels.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether every label was a number.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Codes and texts, by code.
    pub fn iter(&self) -> impl Iterator<Item = (f64, &str)> {
        let mut all: Vec<_> =
            self.texts.iter().map(|(&bits, t)| (f64::from_bits(bits), t.as_str())).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.into_iter()
    }

    /// Adds a text under the code of its bytes.
    pub(crate) fn remember(&mut self, code: f64, text: &str) {
        self.texts.entry(code.to_bits()).or_insert_with(|| text.to_owned());
    }

    pub(crate) fn contains(&self, label: f64) -> bool {
        self.texts.contains_key(&label.to_bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(labels: &Labels, token: &str) -> Result<Option<f64>, String> {
        let reader = LabelReader::new(labels).unwrap();
        reader.read(Found::Text(token.as_bytes()), 1, 1e12).map_err(|b| b.message.to_string())
    }

    #[test]
    fn equal_numbers_are_equal_labels() {
        for (text, y) in
            [("1", 1.0), ("+1", 1.0), ("1.0", 1.0), ("-1", -1.0), ("0", -1.0), ("-0.0", -1.0)]
        {
            assert_eq!(read(&Labels::binary(), text), Ok(Some(y)), "{text}");
        }
        let odd = Labels::Binary { negative: "1".into(), positive: "2".into() };
        assert_eq!(read(&odd, "1.0"), Ok(Some(-1.0)));
        assert_eq!(read(&odd, "2"), Ok(Some(1.0)));
        assert_eq!(read(&odd, "0"), Err("label \"0\" is neither \"1\" nor \"2\"".into()));
    }

    #[test]
    fn classes_are_told_by_position() {
        let classes = Labels::Classes(vec!["b".into(), "a".into(), "7".into(), "-0".into()]);
        assert_eq!(read(&classes, "a"), Ok(Some(1.0)));
        assert_eq!(read(&classes, "7.0"), Ok(Some(2.0)));
        assert_eq!(read(&classes, "0"), Ok(Some(3.0)));
        assert_eq!(read(&classes, "c"), Err("label \"c\" is not a known class".into()));
    }

    #[test]
    fn what_is_refused_is_said() {
        assert_eq!(read(&Labels::Real, "nan"), Err("label \"nan\" is not a finite number".into()));
        assert_eq!(read(&Labels::Real, "x"), Err("label \"x\" is not a number".into()));
        assert_eq!(read(&Labels::NonNegative, "-2"), Err("label \"-2\" is negative".into()));
        assert_eq!(
            read(&Labels::Real, "1e13"),
            Err("\"1e13\" is beyond the largest magnitude, 1e12".into())
        );
        let same = Labels::Binary { negative: "1".into(), positive: "+1".into() };
        assert!(LabelReader::new(&same).is_err());
        assert!(LabelReader::new(&Labels::Classes(vec!["1".into(), "1.0".into()])).is_err());
    }

    #[test]
    fn a_prediction_does_not_mind_the_label() {
        let optional = Labels::Optional(Box::new(Labels::binary()));
        assert_eq!(read(&optional, "1"), Ok(Some(1.0)));
        assert_eq!(read(&optional, "whatever"), Ok(None));
    }

    #[test]
    fn texts_have_codes_of_their_own() {
        let code = read(&Labels::Any, "spam").unwrap().unwrap();
        assert!(is_code(code) && code.is_finite());
        assert_eq!(code.to_bits(), super::code(b"spam").to_bits());
        assert_eq!(read(&Labels::Any, "-3.5"), Ok(Some(-3.5)));
        for slip in ["nan", "NaN", "inf", "-Infinity", "1e999"] {
            assert!(read(&Labels::Any, slip).is_err(), "{slip}");
            assert!(LabelReader::new(&Labels::Classes(vec!["a".into(), slip.into()])).is_err());
        }
    }
}
