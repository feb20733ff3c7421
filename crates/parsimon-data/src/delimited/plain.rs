//! Records of plain numbers, which are most records of many tables.
//!
//! PERF: rows are read without a search for the end of the record and its cells, and without a dispatch per cell. Measured in
//! `record/python.md`.

use memchr::memchr2;

use super::Dialect;
use crate::builder::Builder;
use crate::columns::{Columns, Role};
use crate::kinds::NumberForm;
use crate::label::Found;
use crate::number;
use crate::number_rows::NumberRows;

/// Reads records whose features are plain numbers.
pub(super) struct Plain<'a> {
    columns: &'a Columns,
    delimiter: u8,
    /// The cells of a record, NaN where one is missing, in the order of the number columns, before they are divided.
    cells: Vec<f64>,
    divisors: Vec<f64>,
    rows: NumberRows<'a>,
}

impl<'a> Plain<'a> {
    /// `None` where the table has other columns.
    pub(super) fn new(builder: &Builder, columns: &'a Columns, dialect: Dialect) -> Option<Self> {
        let mut numbers = Vec::new();
        for column in &columns.columns {
            match column.role {
                _ if column.carried.is_some() => return None,
                Role::Label | Role::Ignored => {}
                Role::Number { k, form: NumberForm::Plain } => {
                    numbers.push((k as usize, column.name.as_str()));
                }
                _ => return None,
            }
        }
        let (cells, divisors) = (vec![f64::NAN; numbers.len()], vec![1.0; numbers.len()]);
        let rows = NumberRows::new(builder, numbers.into_iter()).filter(|_| columns.has_label)?;
        Some(Self { columns, delimiter: dialect.delimiter, cells, divisors, rows })
    }

    /// Adds the row of the record that begins at `start`, and returns where the next one begins. Does nothing if the record has
    /// another cell than plain numbers, a label and cells that are ignored, or anything is wrong with it.
    pub(super) fn record(
        &mut self,
        builder: &mut Builder,
        text: &[u8],
        start: usize,
    ) -> Option<usize> {
        let (mut at, mut label) = (start, None);
        let last = self.columns.columns.len().checked_sub(1)?;
        for (i, column) in self.columns.columns.iter().enumerate() {
            let end = if let Role::Number { k, .. } = column.role {
                let k = k as usize;
                let (cell, divisor) = (self.cells.get_mut(k)?, self.divisors.get_mut(k)?);
                let end;
                (*cell, *divisor, end) = match number::usual(text, at) {
                    Some(usual) => usual,
                    None if text.get(at) == Some(&self.delimiter) => (f64::NAN, 1.0, at),
                    None => {
                        let (value, len) = number::leading(text.get(at..)?)?;
                        (value, 1.0, at + len)
                    }
                };
                end
            } else {
                let rest = text.get(at..)?;
                let len = memchr2(self.delimiter, b'\n', rest).unwrap_or(rest.len());
                let content = &rest[..len];
                // The sign of a line's end on other systems is no part of the cell.
                let content = if i == last { content.trim_ascii_end() } else { content };
                if content.contains(&b'"') || content.trim_ascii() != content {
                    return None;
                }
                if column.role == Role::Label {
                    if builder.spec.missing.has_label(content) {
                        return None;
                    }
                    label = builder.label(Found::Text(content), 0).ok()?;
                }
                at + content.len()
            };
            at = match text.get(end..)? {
                [sign, ..] if i < last && *sign == self.delimiter => end + 1,
                _ if i < last => return None,
                [] => end,
                [b'\n', ..] => end + 1,
                [b'\r', b'\n', ..] => end + 2,
                _ => return None,
            };
        }
        let max = builder.spec.max_cell;
        let mut is_bounded = true;
        for (cell, divisor) in self.cells.iter_mut().zip(&self.divisors) {
            *cell /= divisor;
            // NaN is a missing cell.
            is_bounded &= cell.is_nan() | (cell.abs() <= max);
        }
        if !is_bounded {
            return None;
        }
        self.rows.push(builder, &self.cells, label).ok()?;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::read;
    use crate::{Bounds, Format, Kinds, Labels, Options, Reading};

    /// Numbers, some of them missing, and a label in the middle. `k` of them are not as usual.
    fn table(end: &str, strange: &[(usize, &str)]) -> String {
        let mut text = format!("a,b,y,c,skip{end}");
        for i in 0..2500_usize {
            let cell = |k: usize| match (i * 7 + k) % 13 {
                0 => String::new(),
                1 => "-0".into(),
                2 => format!("{}", i * 1_000_003),
                3 => format!("{i}.25e-7"),
                4 => format!("+.{i}"),
                5 => format!("0.{i}1234567890123456789"),
                _ => format!("{}", (i as f64 + k as f64 * 0.1).sin()),
            };
            let usual = format!("{},{},{},{},x{}", cell(1), cell(2), i % 2, cell(3), cell(4));
            let found = strange.iter().find(|(row, _)| *row == i);
            text += found.map_or(&usual[..], |(_, line)| line);
            text += end;
        }
        text
    }

    #[test]
    fn plain_records_are_read_as_all_others() {
        let lines = [
            "",
            " ",
            ",,1,,",
            "\"3\",1,1,2,x",
            " 3,1,1,2,x",
            "3,1 ,1,2,x",
            "3,1,1,2,\"x,y\"",
            "3,1, 1 ,2,x",
            "3,1,1,2,x,",
            "3,1,1,2",
            "3,1,1,2,x,y",
            "3,NA,1,2,x",
            "3,word,1,2,x",
            "3,inf,1,2,x",
            "3,1e200,1,2,x",
            "3,1,,2,x",
            "3,1,7,2,x",
            "3,1,1,2,",
            "1e5,0x10,1,2,x",
            "3,1,1.,2,x",
            "3,1,+1,2,x",
            "-,1,1,2,x",
            "3;1;1;2;x",
        ];
        for end in ["\n", "\r\n"] {
            let binary = || Labels::Binary { negative: "0".into(), positive: "1".into() };
            for (labels, skip_bad, numbers_apart) in [
                (binary(), 0, true),
                (binary(), 9, true),
                (Labels::Any, 9, true),
                (binary(), 9, false),
                (Labels::Any, 0, false),
            ] {
                let fast = Options {
                    reading: Reading {
                        format: Some(Format::Csv),
                        kinds: Kinds::Found,
                        numbers_apart,
                        label_column: Some("y".into()),
                        ignore: vec!["skip".into()],
                        labels,
                        ..Reading::default()
                    },
                    bounds: Bounds { skip_bad, ..Bounds::default() },
                    ..Options::default()
                };
                // If a number means a missing cell, each cell is checked.
                let slow = Options {
                    reading: Reading { missing: vec!["-98765.5".into()], ..fast.reading.clone() },
                    ..fast.clone()
                };
                let outcome = |text: &str, options: &Options| {
                    let (rows, error) = read(text.as_bytes(), options);
                    (rows, error.map(|e| e.to_string()))
                };
                for line in lines {
                    let text = table(end, &[(1500, line), (2400, "5,6,1,7,z")]);
                    assert_eq!(outcome(&text, &fast), outcome(&text, &slow), "{line:?}");
                    let text = text.strip_suffix(end).unwrap_or_default();
                    assert_eq!(outcome(text, &fast), outcome(text, &slow), "{line:?}");
                }
            }
        }
        let (rows, _) = read(
            table("\n", &[]).as_bytes(),
            &Options::from(Reading {
                numbers_apart: true,
                kinds: Kinds::Found,
                label_column: Some("y".into()),
                ..Reading::default()
            }),
        );
        assert_eq!((rows.rows.len(), rows.cells[0].len()), (2500, 3));
    }
}
