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
        /// The separator of thousands.
        thousands: u8,
    },
}

/// `1,234.5`
pub(super) const POINT: NumberForm = NumberForm::Written { decimal: b'.', thousands: b',' };
/// `1.234,5`
pub(super) const COMMA: NumberForm = NumberForm::Written { decimal: b',', thousands: b'.' };

/// Signs around a number. Euro, pound and yen are of several bytes.
const SIGNS: [&[u8]; 7] =
    [b"$", "€".as_bytes(), "£".as_bytes(), "¥".as_bytes(), b"EUR", b"USD", b"%"];

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
    let has_minus = inner.is_none() && cell.first() == Some(&b'-');
    let has_plus = inner.is_none() && cell.first() == Some(&b'+');
    let is_negative = has_minus || inner.is_some();
    let (bare, sign) = strip(if has_minus || has_plus { &cell[1..] } else { cell });
    let is_negative_inside = !is_negative && sign.is_some() && bare.first() == Some(&b'-');
    let bare = if is_negative_inside { &bare[1..] } else { bare };
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
    for &b in bare {
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
            _ if b == thousands && !is_fraction => {
                let fits = if groups == 0 { (1..=3).contains(&group) } else { group == 3 };
                fits.then_some(())?;
                (group, groups) = (0, groups + 1);
            }
            _ => return None,
        }
    }
    (is_fraction || groups == 0 || group == 3).then_some(())?;
    number::whole(&text[..len]).map(|value| (value, sign))
}

/// A cell without its currency or percent sign, which may stand on either side.
fn strip(cell: &[u8]) -> (&[u8], Option<usize>) {
    for (k, sign) in SIGNS.iter().enumerate() {
        if let Some(rest) = cell.strip_prefix(*sign).or_else(|| cell.strip_suffix(*sign)) {
            return (rest.trim_ascii(), Some(k));
        }
    }
    (cell, None)
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
        ] {
            assert_eq!(POINT.read(cell.as_bytes()), Some(value), "{cell}");
        }
        for (cell, value) in [("1,5", 1.5), ("1.234,5", 1234.5), ("-0,25", -0.25), ("12 %", 12.0)] {
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
        ] {
            assert_eq!(POINT.read(cell.as_bytes()), None, "{cell}");
        }
        assert_eq!(NumberForm::parse(COMMA.example().unwrap()), Some(COMMA));
    }
}
