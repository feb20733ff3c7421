//! Cells by the kind of their column.
//!
//! A number is the feature `column`, a category the feature `column=text`. A text has a feature `column^word` for each
//! word, in lower case, and `column^two words` for each run of words up to the length of the schema. A missing cell has none.
//!
//! A time has the number `column`, years since 2000, and the features `column^hour=14`, `column^day=Mon`, `column^date=31` (the day of
//! the month), `column^week=52`, `column^month=Dec`, and two harmonics of the year: `column^cos(year)`, `column^sin(year)`,
//! `column^cos(2year)` and `column^sin(2year)`. A month of a year has those of the month and the harmonics, a time of day has the hour.

use crate::builder::Builder;
use crate::columns::Role;
use crate::error::{Bad, not_a_number, shown};
use crate::kinds::{Moment, TimeForm};
use crate::label::Found;
use crate::remedy::{Remedy, Setting};
use crate::{Bounds, DataErrorKind, number};

/// Buffers that cells share.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) name: Vec<u8>,
    lower: String,
    word: Vec<u8>,
    /// Where the words of `lower` begin and end.
    words: Vec<(usize, usize)>,
}

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const HARMONICS: [&str; 4] = ["cos(year)", "sin(year)", "cos(2year)", "sin(2year)"];

/// Adds the features of a cell whose type is known. A number that is none is missing.
pub(crate) fn push_found(
    builder: &mut Builder,
    column: &str,
    role: Role,
    found: Found<'_>,
    place: usize,
    scratch: &mut Scratch,
) -> Result<(), Bad> {
    match (found, role) {
        (Found::Text(text), _) => push(builder, column, role, text.trim_ascii(), place, scratch),
        (Found::Number(value), Role::Number { .. })
            if value.is_nan() || builder.spec.missing.has_number(value) =>
        {
            Ok(())
        }
        (Found::Number(value), Role::Number { k, .. }) => {
            push_number(builder, column, k, value, place)
        }
        _ => Ok(()),
    }
}

/// Adds the features of a cell.
pub(crate) fn push(
    builder: &mut Builder,
    column: &str,
    role: Role,
    content: &[u8],
    place: usize,
    scratch: &mut Scratch,
) -> Result<(), Bad> {
    match role {
        Role::Number { k, form } => match form.read(content) {
            Some(value) if builder.spec.missing.has_number(value) => Ok(()),
            Some(value) => push_number(builder, column, k, value, place),
            None if builder.spec.missing.has(content) => Ok(()),
            None if builder.spec.missing.has_in(column, content) => Ok(()),
            None if is_infinite(content) && !builder.spec.options.ask.unfit_is_missing => {
                Err(Bad::new(DataErrorKind::Number, place, not_a_number(content)).found(content))
            }
            None => unfit(builder, column, content, place, "is not a number"),
        },
        _ if builder.spec.missing.has(content) => Ok(()),
        Role::Category => {
            push_category(builder, column, content, scratch);
            Ok(())
        }
        Role::Boolean => {
            // True, TRUE and the true of Arrow are one word.
            let mut word = std::mem::take(&mut scratch.word);
            word.clear();
            word.extend(content.iter().map(u8::to_ascii_lowercase));
            push_category(builder, column, &word, scratch);
            scratch.word = word;
            Ok(())
        }
        Role::Words => {
            push_words(builder, column, content, scratch);
            Ok(())
        }
        Role::Time { k, form } => match form.read(content) {
            Some(_) => push_time(builder, column, k, form, content, place, scratch),
            None => unfit(builder, column, content, place, "is not a date or time"),
        },
        Role::Empty => unfit(builder, column, content, place, "stands in an empty column"),
        Role::Label | Role::Weight | Role::Ignored | Role::Feature { .. } => Ok(()),
    }
}

/// Whether a cell is a number gone wrong, such as `inf` or `1e999`.
#[cold]
fn is_infinite(content: &[u8]) -> bool {
    std::str::from_utf8(content).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// Adds a number.
#[inline]
pub(crate) fn push_number(
    builder: &mut Builder,
    column: &str,
    k: u32,
    value: f64,
    place: usize,
) -> Result<(), Bad> {
    if value.abs() > builder.spec.max_cell || value.is_nan() {
        return Err(too_large(builder, column, value, place));
    }
    builder.enter(column.as_bytes());
    if builder.keeps_numbers_apart() {
        builder.push_number(k as usize, column.as_bytes(), value);
    } else {
        builder.push_named(0, b"", column.as_bytes(), value);
    }
    builder.push_shape(k as usize, value);
    Ok(())
}

#[cold]
fn too_large(builder: &Builder, column: &str, value: f64, place: usize) -> Bad {
    if !value.is_finite() {
        let words = format!("column {} is not a finite number", shown(column.as_bytes()));
        return Bad::new(DataErrorKind::Number, place, words);
    }
    let token = format!("{value:e}");
    let max = builder.spec.max_cell;
    let bad = number::too_large(token.as_bytes(), place, max).or(Remedy::Codes(column.to_owned()));
    // Standardized numbers may be larger.
    match max < Bounds::default().max_value {
        true => bad.or(Remedy::Pass(Setting::Normalize, None)),
        false => bad,
    }
}

/// Adds `column=text`.
pub(crate) fn push_category(
    builder: &mut Builder,
    column: &str,
    text: &[u8],
    scratch: &mut Scratch,
) {
    builder.enter(column.as_bytes());
    let name = &mut scratch.name;
    name.clear();
    name.extend_from_slice(column.as_bytes());
    name.push(b'=');
    name.extend_from_slice(text);
    builder.push_named(0, b"", name, 1.0);
    builder.note_category(column, name);
}

/// Adds `column^word` for each word, and for each run of words if these are wanted.
pub(crate) fn push_words(builder: &mut Builder, column: &str, text: &[u8], scratch: &mut Scratch) {
    builder.enter(column.as_bytes());
    let seed = builder.seed(column.as_bytes());
    let lower = &mut scratch.lower;
    lower.clear();
    for chunk in text.utf8_chunks() {
        if chunk.valid().is_ascii() {
            lower.push_str(chunk.valid());
        } else {
            lower.extend(chunk.valid().chars().flat_map(char::to_lowercase));
        }
        // A byte of another encoding stands for a letter that is not known.
        if !chunk.invalid().is_empty() {
            lower.push('\u{fffd}');
        }
    }
    lower.make_ascii_lowercase();
    let is_part = |c: char| c.is_alphanumeric() || c == '\'' || c == '\u{fffd}';
    let longest = builder.spec.ngrams;
    let Scratch { name, lower, words, .. } = scratch;
    words.clear();
    for word in lower.split(|c: char| !is_part(c)) {
        let word = word.trim_matches('\'');
        if word.is_empty() {
            continue;
        }
        builder.push_named(seed, column.as_bytes(), word.as_bytes(), 1.0);
        if longest > 1 {
            let start = word.as_ptr() as usize - lower.as_ptr() as usize;
            words.push((start, start + word.len()));
        }
    }
    for n in 2..=longest {
        for run in words.windows(n) {
            name.clear();
            for (i, &(start, end)) in run.iter().enumerate() {
                if i > 0 {
                    name.push(b' ');
                }
                name.extend_from_slice(&lower.as_bytes()[start..end]);
            }
            builder.push_named(seed, column.as_bytes(), name, 1.0);
        }
    }
}

/// Adds the features of a time.
fn push_time(
    builder: &mut Builder,
    column: &str,
    k: u32,
    form: TimeForm,
    content: &[u8],
    place: usize,
    scratch: &mut Scratch,
) -> Result<(), Bad> {
    let Some(moment) = form.read(content) else { return Ok(()) };
    push_moment(builder, column, k, moment, place, scratch)
}

/// Adds the features of a time that was parsed.
pub(crate) fn push_moment(
    builder: &mut Builder,
    column: &str,
    k: u32,
    moment: Moment,
    place: usize,
    scratch: &mut Scratch,
) -> Result<(), Bad> {
    use std::io::Write as _;

    builder.enter(column.as_bytes());
    let seed = builder.seed(column.as_bytes());
    let name = &mut scratch.name;
    let mut add = |builder: &mut Builder, what: &str, value: &dyn std::fmt::Display| {
        name.clear();
        // Writing into memory does not fail.
        let _ = write!(name, "{what}={value}");
        builder.push_named(seed, column.as_bytes(), name, 1.0);
    };
    if let Some(hour) = moment.hour() {
        add(builder, "hour", &hour);
    }
    if let Some(place) = moment.of_year() {
        if let Some(day) = moment.weekday().filter(|_| !moment.is_month) {
            add(builder, "day", &DAYS[day]);
            add(builder, "date", &place.day);
            add(builder, "week", &place.week());
        }
        add(builder, "month", &MONTHS[place.month]);
        for (harmonic, value) in HARMONICS.iter().zip(place.harmonics()) {
            builder.push_named(seed, column.as_bytes(), harmonic.as_bytes(), value);
        }
    }
    match moment.years() {
        Some(years) => push_number(builder, column, k, years, place),
        None => Ok(()),
    }
}

/// A cell that contradicts the kind of its column: missing, or a bad row.
#[cold]
pub(crate) fn unfit(
    builder: &mut Builder,
    column: &str,
    content: &[u8],
    place: usize,
    what: &str,
) -> Result<(), Bad> {
    if builder.spec.options.ask.unfit_is_missing {
        builder.out.unfit += 1;
        return Ok(());
    }
    let words = format!(
        "column {}: {} {what}, unlike the first rows",
        shown(column.as_bytes()),
        shown(content)
    );
    let bad = Bad::new(DataErrorKind::Kind, place, words).or(Remedy::Categories(column.to_owned()));
    Err(bad.found(content))
}
