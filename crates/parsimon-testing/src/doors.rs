//! Twelve tables that every reader must read alike, and their texts as CSV, TSV and JSON.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A cell that has a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// True or false.
    Truth(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A number of 32 bits.
    Single(f32),
    /// A text.
    Text(String),
    /// A day, counted from the first of January 1970.
    Day(i32),
    /// Seconds since then.
    Moment(i64),
}

/// A column: its name and its cells.
pub type Column = (&'static str, Vec<Option<Value>>);

/// A table, and how it is learned.
pub struct Table {
    /// The property that the table tests.
    pub name: &'static str,
    /// Flags of `train`.
    pub flags: &'static str,
    /// The columns; the last is the label.
    pub columns: Vec<Column>,
}

impl Value {
    /// The cell as text.
    pub fn text(&self) -> String {
        match self {
            Self::Truth(truth) => truth.to_string(),
            Self::Integer(n) => n.to_string(),
            Self::Float(x) => format!("{x:?}"),
            Self::Single(x) => format!("{:?}", f64::from(*x)),
            Self::Text(text) => text.clone(),
            Self::Day(day) => date(i64::from(*day)),
            Self::Moment(seconds) => {
                let (day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
                let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
                format!("{}T{hour:02}:{minute:02}:{second:02}", date(day))
            }
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Day(_) | Self::Moment(_))
    }

    /// The cell as JSON, with days and moments as texts.
    fn json(&self) -> String {
        if self.is_text() { json(&self.text()) } else { self.text() }
    }

    /// The word for the type of the cell in [`Table::typed_json`].
    fn type_word(&self) -> &'static str {
        match self {
            Self::Truth(_) => "truth",
            Self::Integer(_) => "integer",
            Self::Float(_) => "float",
            Self::Single(_) => "single",
            Self::Text(_) => "text",
            Self::Day(_) => "day",
            Self::Moment(_) => "moment",
        }
    }
}

/// A day of the Gregorian calendar, as `2020-12-31`.
fn date(day: i64) -> String {
    // Years begin in March, so that the leap day is the last.
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (year_of_era + 400 * era, month + 3),
        _ => (year_of_era + 400 * era + 1, month - 9),
    };
    format!("{year:04}-{month:02}-{day:02}")
}

impl Table {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, cells)| cells.len())
    }

    /// The rows of a range.
    #[must_use]
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        let columns = self.columns.iter();
        let columns = columns.map(|(name, cells)| (*name, cells[rows.clone()].to_vec())).collect();
        Self { columns, ..*self }
    }

    /// The rows that have a label.
    #[must_use]
    pub fn labelled(&self) -> Self {
        let has_label = |row: usize| self.columns.last().is_some_and(|(_, l)| l[row].is_some());
        let kept: Vec<usize> = (0..self.rows()).filter(|&row| has_label(row)).collect();
        let columns = self.columns.iter();
        let columns = columns
            .map(|(name, cells)| (*name, kept.iter().map(|&row| cells[row].clone()).collect()));
        Self { columns: columns.collect(), ..*self }
    }

    /// CSV: cells in quotes where they need them.
    pub fn csv(&self) -> String {
        let quoted = |text: &str| match text.contains([',', '"', '\n']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.to_owned(),
        };
        self.delimited(",", quoted)
    }

    /// TSV.
    pub fn tsv(&self) -> String {
        self.delimited("\t", str::to_owned)
    }

    fn delimited(&self, sign: &str, spelled: impl Fn(&str) -> String) -> String {
        let names: Vec<_> = self.columns.iter().map(|(name, _)| spelled(name)).collect();
        let mut text = names.join(sign) + "\n";
        for row in 0..self.rows() {
            let cells = self.columns.iter().map(|(_, cells)| {
                cells[row].as_ref().map_or_else(String::new, |cell| spelled(&cell.text()))
            });
            text += &(cells.collect::<Vec<_>>().join(sign) + "\n");
        }
        text
    }

    /// JSON objects, one for each row.
    pub fn objects(&self) -> Vec<String> {
        let object = |row: usize| {
            let fields = self.columns.iter().map(|(name, cells)| {
                let cell = cells[row].as_ref().map_or_else(|| "null".to_owned(), Value::json);
                format!("{}:{cell}", json(name))
            });
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        };
        (0..self.rows()).map(object).collect()
    }

    /// JSON lines.
    pub fn json_lines(&self) -> String {
        self.objects().join("\n") + "\n"
    }

    /// The table with the type of each column, for the tests of Python: name, flags, and columns with a name, a type and cells.
    pub fn typed_json(&self) -> String {
        let column = |(name, cells): &Column| {
            let words: BTreeSet<_> = cells.iter().flatten().map(Value::type_word).collect();
            let word = match words.len() {
                0 => "text",
                1 => words.first().copied().unwrap_or("text"),
                _ => "mixed",
            };
            let cells = cells.iter().map(|c| c.as_ref().map_or("null".to_owned(), Value::json));
            let cells = cells.collect::<Vec<_>>().join(",");
            format!("{{\"name\":{},\"type\":\"{word}\",\"cells\":[{cells}]}}", json(name))
        };
        let columns = self.columns.iter().map(column).collect::<Vec<_>>().join(",");
        let (name, flags) = (json(self.name), json(self.flags));
        format!("{{\"name\":{name},\"flags\":{flags},\"columns\":[{columns}]}}")
    }

    /// An array of JSON objects.
    pub fn json_array(&self) -> String {
        format!("[\n  {}\n]\n", self.objects().join(",\n  "))
    }
}

/// A string of JSON.
fn json(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_control() => {
                // Writing into a string does not fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A column whose cells are made from the numbers of their rows.
fn column(name: &'static str, rows: usize, cell: impl Fn(usize) -> Option<Value>) -> Column {
    (name, (0..rows).map(cell).collect())
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "cells are optional, and texts stand in the place of cells"
)]
fn text(text: impl Into<String>) -> Option<Value> {
    Some(Value::Text(text.into()))
}

fn label(rows: usize) -> Column {
    column("label", rows, |i| Some(Value::Integer((i * 7 % 11 % 2) as i64)))
}

fn float(rows: usize) -> Column {
    column("x", rows, |i| Some(Value::Float((i % 13) as f64 / 4.0 - 1.5)))
}

/// The tables.
#[expect(clippy::too_many_lines, reason = "a list of tables, with a few lines for each")]
pub fn tables() -> Vec<Table> {
    const N: usize = 240;
    let table = |name, flags, columns| Table { name, flags, columns };
    let city = |i: usize| text(["Rome", "Oslo", "New York, NY", "Z\u{fc}rich"][i % 4]);
    vec![
        table(
            "nulls",
            "",
            vec![
                column("a", N, |i| (i % 5 > 0).then(|| Value::Float(i as f64 / 8.0))),
                column("city", N, |i| city(i).filter(|_| i % 7 > 0)),
                column("nothing", N, |_| None),
                label(N),
            ],
        ),
        table(
            "booleans",
            "",
            vec![
                column("flag", N, |i| (i % 9 > 0).then_some(Value::Truth(i % 3 == 0))),
                float(N),
                column("label", N, |i| Some(Value::Truth(i * 7 % 11 % 2 == 0))),
            ],
        ),
        table(
            "dates and times",
            "",
            vec![
                column("day", N, |i| Some(Value::Day(18_000 + 3 * i as i32))),
                column("at", N, |i| {
                    (i % 6 > 0).then_some(Value::Moment(1_500_000_000 + 54_321 * i as i64))
                }),
                column("written", N, |i| text(format!("{:02}/{:02}/2019", 1 + i % 28, 1 + i % 12))),
                column("clock", N, |i| text(format!("{:02}:{:02}", i % 24, i % 60))),
                label(N),
            ],
        ),
        table(
            "long integers",
            "",
            vec![
                column("code", N, |i| Some(Value::Integer((1 << 60) + (i % 6) as i64))),
                column("count", N, |i| {
                    Some(Value::Integer(9_007_199_254_740_993 + (i % 9) as i64))
                }),
                column("small", N, |i| Some(Value::Integer((i % 17) as i64 - 8))),
                label(N),
            ],
        ),
        table(
            "digits in texts",
            "--categories plan",
            vec![column("plan", N, |i| text((i % 4).to_string())), float(N), label(N)],
        ),
        table(
            "leading zeros",
            "",
            vec![column("zip", N, |i| text(format!("{:05}", 501 + i % 8))), float(N), label(N)],
        ),
        table(
            "empty texts",
            "",
            vec![
                column("city", N, |i| if i % 6 == 1 { text("") } else { city(i) }),
                column("note", N, |i| text(if i % 5 == 1 { "NA" } else { "  fine " })),
                float(N),
                label(N),
            ],
        ),
        table(
            "a kind that widens late",
            "-a ftrl",
            vec![
                column("size", 15_000, |i| match i {
                    14_500 => text("oops"),
                    _ => Some(Value::Integer((i % 7) as i64)),
                }),
                float(15_000),
                label(15_000),
            ],
        ),
        table(
            "texts",
            "--ngrams 2",
            vec![
                column("review", N, |i| {
                    let words = ["good", "bad", "so \"so\"", "na\u{ef}ve", "Great"];
                    text(format!("{} and {} it was, {i}", words[i % 5], words[i % 3]))
                }),
                label(N),
            ],
        ),
        table(
            "identifiers",
            "",
            vec![
                column("id", N, |i| Some(Value::Integer(1000 + i as i64))),
                column("key", N, |i| text(format!("k{}", i * 31 % 1009))),
                column("same", N, |_| text("one")),
                float(N),
                column("label", N, |i| text(["a", "b", "c"][i * 7 % 11 % 3])),
            ],
        ),
        table(
            "weights and missing labels",
            "--weight-column weight --skip-bad 100 --loss squared",
            vec![
                float(N),
                column("weight", N, |i| {
                    (i % 10 > 0).then_some(Value::Float(1.0 + (i % 3) as f64 / 2.0))
                }),
                column("target", N, |i| {
                    (i % 12 > 0).then_some(Value::Float((i % 13) as f64 / 8.0))
                }),
            ],
        ),
        table(
            "singles and names that are not ASCII",
            "",
            vec![
                column("gr\u{f6}\u{df}e", N, |i| Some(Value::Single(i as f32 / 10.0))),
                column("\u{540d}\u{524d}", N, |i| {
                    text(["\u{6771}\u{4eac}", "\u{5927}\u{962a}"][i % 2])
                }),
                column("a \"b\", c.d", N, |i| Some(Value::Single((i % 7) as f32 / 3.0))),
                label(N),
            ],
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_spelled_as_programs_do() {
        assert_eq!(Value::Day(0).text(), "1970-01-01");
        assert_eq!(Value::Day(11_016).text(), "2000-02-29");
        assert_eq!(Value::Moment(-1).text(), "1969-12-31T23:59:59");
        assert_eq!(Value::Single(0.1).text(), "0.10000000149011612");
        assert_eq!(Value::Float(3.0).text(), "3.0");
        let all = tables();
        assert_eq!(all.len(), 12);
        assert!(all.iter().all(|table| table.csv().lines().count() == table.rows() + 1));
        let typed = all[2].typed_json();
        assert!(typed.starts_with("{\"name\":\"dates and times\",\"flags\":\"\","), "{typed}");
        assert!(typed.contains("{\"name\":\"day\",\"type\":\"day\",\"cells\":[\"2019-04-14\","));
        assert!(all[7].typed_json().contains("\"type\":\"mixed\""));
        assert!(all[0].json_array().starts_with("[\n  {\"a\":null,\"city\":null,\"nothing\":null"));
    }
}
