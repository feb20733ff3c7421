//! Numbers as people write them: thousands separators, decimal commas, currency and percent signs.

use std::sync::Arc;

use super::{Kind, TableSchema};
use crate::number;

/// Notations of the numbers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberForm {
    /// As programs write numbers: a decimal point, no separator of thousands.
    Plain,
    /// With a decimal sign, and perhaps a separator of thousands, a currency sign or a percent sign.
    Written {
        /// The decimal sign.
        decimal: u8,
        /// The separator of thousands, beside those of [`SEPARATORS`].
        thousands: u8,
    },
}

/// `1,234.5`
pub(super) const POINT: NumberForm = NumberForm::Written { decimal: b'.', thousands: b',' };
/// `1.234,5`
pub(super) const COMMA: NumberForm = NumberForm::Written { decimal: b',', thousands: b'.' };

/// Signs around a number. One that ends or begins with another comes before it.
const SIGNS: [&str; 25] = [
    "US$", "R$", "A$", "C$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "zł", "kr", "EUR", "USD",
    "GBP", "JPY", "CHF", "INR", "CAD", "AUD", "Rs.", "Rs", "%",
];

/// Separators of thousands in either form: an apostrophe, a blank, and their relatives in Unicode.
const SEPARATORS: [&str; 6] = ["'", "’", " ", "\u{a0}", "\u{202f}", "\u{2009}"];

/// The minus sign of Unicode.
const MINUS: &[u8] = "\u{2212}".as_bytes();

/// The longest number that is read in a form.
const LONGEST: usize = 64;

impl NumberForm {
    /// The form of an example.
    pub(crate) fn parse(example: &str) -> Option<Self> {
        match example {
            "1,234.5" => Some(POINT),
            "1.234,5" => Some(COMMA),
            _ => None,
        }
    }

    /// The form of the labels of a table, whose column may be another than that of the schema.
    pub(crate) fn of_label(schema: Option<&Arc<TableSchema>>, label: Option<&String>) -> Self {
        let label = |schema: &TableSchema| {
            let name = label.or(schema.label.as_ref())?;
            let column = schema.column(name).or_else(|| schema.column(schema.label.as_ref()?))?;
            (column.kind == Kind::Number).then(|| Self::parse(column.form.as_deref()?)).flatten()
        };
        schema.and_then(|schema| label(schema)).unwrap_or(Self::Plain)
    }

    /// An example; `None` for plain numbers.
    pub(crate) fn example(self) -> Option<&'static str> {
        match self {
            NumberForm::Plain => None,
            COMMA => Some("1.234,5"),
            NumberForm::Written { .. } => Some("1,234.5"),
        }
    }

    /// The number of a cell.
    #[inline]
    pub(crate) fn read(self, cell: &[u8]) -> Option<f64> {
        match self {
            NumberForm::Plain => number::whole(cell),
            NumberForm::Written { decimal, thousands } => {
                read_written(cell, decimal, thousands).map(|(value, _)| value)
            }
        }
    }
}

/// Whether a text is a number as people write it and programs do not: `1.234,5`, `1,234.5`, `12 EUR`.
pub fn is_written_number(text: &str) -> bool {
    let cell = text.as_bytes();
    number::whole(cell).is_none() && [POINT, COMMA].iter().any(|form| form.read(cell).is_some())
}

/// The number of a cell, and its sign by position in the list, if it has one.
pub(super) fn read_written(
    cell: &[u8],
    decimal: u8,
    thousands: u8,
) -> Option<(f64, Option<usize>)> {
    // Accountants write negative amounts in parentheses.
    let inner = cell.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")"));
    let cell = inner.map_or(cell, <[u8]>::trim_ascii);
    let (cell, is_negative, has_plus) = match inner {
        Some(_) => (cell, true, false),
        None => match without_minus(cell) {
            Some(rest) => (rest, true, false),
            None => cell.strip_prefix(b"+").map_or((cell, false, false), |c| (c, false, true)),
        },
    };
    let (bare, sign) = strip(cell);
    let has_sign = is_negative || has_plus;
    // A minus between a currency sign and the number, or behind it, as accounting programs have it.
    let inside = (!has_sign && sign.is_some()).then(|| without_minus(bare)).flatten();
    let behind = (!has_sign && inside.is_none()).then(|| bare.strip_suffix(b"-")).flatten();
    let is_negative_inside = inside.is_some() || behind.is_some();
    let bare = inside.or(behind).unwrap_or(bare);
    let mut text = [0; LONGEST];
    let mut len = 0;
    let mut put = |b: u8| {
        *text.get_mut(len)? = b;
        len += 1;
        Some(())
    };
    if is_negative || is_negative_inside {
        put(b'-')?;
    }
    // Digits since the last separator of thousands; the first group may be shorter.
    let (mut group, mut groups, mut is_fraction) = (0, 0, false);
    // All separators of a number are the same.
    let mut separator = None;
    let mut rest = bare;
    while let Some((&b, behind)) = rest.split_first() {
        rest = behind;
        match b {
            b'0'..=b'9' => {
                group += 1;
                put(b)?;
            }
            _ if b == decimal && !is_fraction => {
                (groups == 0 || group == 3).then_some(())?;
                is_fraction = true;
                put(b'.')?;
            }
            _ if !is_fraction => {
                let long = bare.len() - rest.len() - 1;
                let found = match b == thousands {
                    true => &bare[long..=long],
                    false => separator_at(&bare[long..])?,
                };
                let is_same = *separator.get_or_insert(found) == found;
                let fits = if groups == 0 { (1..=3).contains(&group) } else { group == 3 };
                (fits && is_same).then_some(())?;
                rest = &bare[long + found.len()..];
                (group, groups) = (0, groups + 1);
            }
            _ => return None,
        }
    }
    (is_fraction || groups == 0 || group == 3).then_some(())?;
    number::whole(&text[..len]).map(|value| (value, sign))
}

/// The separator of thousands at the beginning of a text, of those that both forms have.
fn separator_at(text: &[u8]) -> Option<&[u8]> {
    let found = SEPARATORS.iter().find(|separator| text.starts_with(separator.as_bytes()))?;
    Some(&text[..found.len()])
}

/// The text behind a minus sign, if it begins with one.
fn without_minus(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"-").or_else(|| text.strip_prefix(MINUS))
}

/// A cell without its currency or percent sign, which may stand on either side.
fn strip(cell: &[u8]) -> (&[u8], Option<usize>) {
    // PERF: most cells are digits at both ends.
    let is_digit = |b: Option<&u8>| b.is_some_and(u8::is_ascii_digit);
    if is_digit(cell.first()) && is_digit(cell.last()) {
        return (cell, None);
    }
    for (k, sign) in SIGNS.iter().enumerate() {
        let sign = sign.as_bytes();
        if let Some(rest) = cell.strip_prefix(sign).or_else(|| cell.strip_suffix(sign)) {
            return (trim(rest), Some(k));
        }
    }
    (cell, None)
}

/// A text without blanks at its ends, those of Unicode included.
fn trim(mut text: &[u8]) -> &[u8] {
    for blank in SEPARATORS.iter().skip(2).map(|blank| blank.as_bytes()) {
        text = text.strip_prefix(blank).unwrap_or(text);
        text = text.strip_suffix(blank).unwrap_or(text);
    }
    text.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_read_what_people_write() {
        for (cell, value) in [
            ("1,234", 1234.0),
            ("-1,234,567.5", -1_234_567.5),
            ("12.5", 12.5),
            ("$1,000.25", 1000.25),
            ("-$5", -5.0),
            ("$-5", -5.0),
            ("3.5%", 3.5),
            ("7 €", 7.0),
            ("+11,539.73", 11_539.73),
            ("($7,890.00)", -7890.0),
            ("(5)", -5.0),
            ("1'234.50", 1234.5),
            ("1’234’567", 1_234_567.0),
            ("12 345.5", 12_345.5),
            ("\u{2212}5", -5.0),
            ("₹1,200", 1200.0),
            ("US$5", 5.0),
            ("5 kr", 5.0),
            ("1,200.50-", -1200.5),
        ] {
            assert_eq!(POINT.read(cell.as_bytes()), Some(value), "{cell}");
        }
        for (cell, value) in [
            ("1,5", 1.5),
            ("1.234,5", 1234.5),
            ("-0,25", -0.25),
            ("12 %", 12.0),
            ("1 234,5", 1234.5),
            ("1\u{a0}234\u{202f}€", 1234.0),
            ("1\u{202f}234\u{202f}567,5", 1_234_567.5),
            ("CHF 1'234,50", 1234.5),
        ] {
            assert_eq!(COMMA.read(cell.as_bytes()), Some(value), "{cell}");
        }
        for cell in [
            "1,23",
            "12,34,567",
            ",123",
            "1,234,",
            "a",
            "",
            "$",
            "1.2.3",
            "1,2345",
            "()",
            "(-5)",
            "+-5",
            "-5-",
            "1'234,567",
            "1 23",
            " 123",
            "1'",
            "5\u{202f}",
        ] {
            assert_eq!(POINT.read(cell.as_bytes()), None, "{cell}");
        }
        assert_eq!(NumberForm::parse(COMMA.example().unwrap()), Some(COMMA));
    }
}
