//! `label [qid:n] index:value ... # comment`: svmlight, libsvm, libfm.
//!
//! Indices are ids: whether a file counts from 0 or from 1, they are kept as written. They need not be
//! sorted; one that occurs twice is an error. Blank lines and lines that are only a comment are passed
//! over, a `qid` is read and ignored. In a hashed space the digits of the index are hashed like a name.

#![allow(unsafe_code)]

use memchr::memchr;
use parsimon_core::{Repeats, RowError};

use crate::Space;
use crate::builder::Builder;
use crate::error::{Bad, shown};
use crate::label::Found;
use crate::number::{self, Pair};
use crate::separators::Lines;

/// Parses a block of whole lines.
pub(crate) fn parse(builder: &mut Builder, text: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if crate::separators::is_wide() {
        // SAFETY: the machine has what was asked for just now.
        return unsafe {
            match builder.is_ids() {
                true => parse_wide::<true>(builder, text),
                false => parse_wide::<false>(builder, text),
            }
        };
    }
    match builder.is_ids() {
        true => parse_block::<true, number::Plain>(builder, text),
        false => parse_block::<false, number::Plain>(builder, text),
    }
}

/// The same, compiled for wide registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn parse_wide<const IDS: bool>(builder: &mut Builder, text: &[u8]) {
    parse_block::<IDS, number::Wide>(builder, text);
}

/// Reads common rows with their separators known beforehand, and others one by one.
#[inline(always)]
fn parse_block<const IDS: bool, P: Pair>(builder: &mut Builder, text: &[u8]) {
    let mut separators = std::mem::take(&mut builder.separators);
    let batch = &mut Batch::new();
    let (mut at, mut line) = (0, 0);
    'block: while at < text.len() {
        let mut lines = separators.look(text, at);
        while !lines.is_done() {
            line += 1;
            if !builder.spec.labels_only
                && let Some(after) = common_row::<IDS, P>(lines, builder, batch)
            {
                lines = after;
                continue;
            }
            builder.abandon_row();
            if let Err(bad) = parse_line::<IDS>(builder, lines.line())
                && !builder.refuse(line, bad)
            {
                break 'block;
            }
            lines.skip_line();
        }
        at += lines.text.len();
    }
    builder.separators = separators;
    builder.out.lines += line;
}

/// Reads the row at hand of `label id:value ...` with blanks between; and goes to the next; `None`, with the row begun but not finished, where
/// something is out of the ordinary. Whether that is a mistake is for [`parse_line`] to say.
#[inline(always)]
fn common_row<'a, const IDS: bool, P: Pair>(
    mut lines: Lines<'a>,
    builder: &mut Builder,
    batch: &mut Batch,
) -> Option<Lines<'a>> {
    let (end, after) = lines.separator(lines.next);
    let token = &lines.text[lines.at..end];
    if token.is_empty() || token[0] == b'#' || matches!(after, b':' | b'|') {
        return None;
    }
    let label = builder.label(Found::Text(token), 0).ok()?;
    let max = builder.spec.max_value;
    let (mut start, mut next, mut last) = (end + 1, lines.next + 1, after);
    while last != b'\n' {
        // Every feature has two separators.
        if IDS {
            let pairs = lines.places.get(next..)?.as_chunks::<2>().0;
            let count = batch.read::<P>(lines.text, start, pairs);
            if count > 0 {
                builder.push_ids(&batch.ids[..count], &batch.values[..count]);
                next += 2 * count;
                let (end, after) = lines.separator(next - 1);
                (start, last) = (end + 1, after);
                continue;
            }
        }
        let (colon, is_colon) = lines.separator(next);
        let (end, after) = lines.separator(next + 1);
        if is_colon != b':' {
            // A blank after a blank, or before the end, is nothing; a word by itself is something.
            if colon != start || !(is_blank(is_colon) || is_colon == b'\n') {
                return None;
            }
            (start, next, last) = (colon + 1, next + 1, is_colon);
            continue;
        }
        if !(is_blank(after) || after == b'\n') {
            return None;
        }
        let digits = &lines.text[start..colon];
        let id = match number::natural(lines.text, start, colon) {
            Some(id) => id,
            None => parse_id(digits, 0).ok()?,
        };
        // PERF: not cut at the token's end, so that it can be read eight bytes at once.
        let value = match number::leading(&lines.text[colon + 1..]) {
            Some((value, len)) if colon + 1 + len == end && value.abs() <= max => value,
            _ => number::bounded(&lines.text[colon + 1..end], 0, max).ok()?,
        };
        push::<IDS>(builder, id, digits, value);
        (start, next, last) = (end + 1, next + 2, after);
    }
    let repeats = if IDS { Repeats::Refuse } else { Repeats::Add };
    builder.finish(label, 1.0, repeats, |e| Bad::new(0, e.to_string())).ok()?;
    (lines.at, lines.next) = (start, next);
    Some(lines)
}

/// Features on their way into a row.
struct Batch {
    ids: [u32; BATCH],
    values: [f64; BATCH],
    powers: [f64; BATCH],
}

/// Features taken over at a time.
const BATCH: usize = 64;

impl Batch {
    fn new() -> Self {
        Self { ids: [0; BATCH], values: [0.0; BATCH], powers: [1.0; BATCH] }
    }

    /// Reads features of the commonest kind, the first of which begins at `start`: an id of up to eight digits, a value that is
    /// one digit (`1`, mostly) or one digit, a point and up to eight more, and a blank or the line's end. Stops before one
    /// that is not, or behind one that ends with something else than a blank; says how many there were.
    ///
    /// PERF: most features of most files. There is no branch on which kind of value it is, for it would be guessed wrong: a digit
    /// alone is one with no digits after its point.
    #[inline(always)]
    fn read<P: Pair>(&mut self, text: &[u8], mut start: usize, separators: &[[u32; 2]]) -> usize {
        let mut count = 0;
        let places = self.ids.iter_mut().zip(&mut self.values).zip(&mut self.powers);
        for (&[colon, end], ((id, value), power)) in separators.iter().zip(places) {
            let (colon, end) = (colon as usize, end as usize);
            let Some(around) = window::<11>(text, colon) else { break };
            let Some(before) = window::<9>(text, end) else { break };
            let (id_len, value_len) = (colon - start, end - colon - 1);
            let digits = value_len.saturating_sub(2);
            let words = [first_eight(around), first_eight(before)];
            let Some([number, fraction]) = P::read(words, [id_len, digits]) else { break };
            let (first, has_point) = (around[9].wrapping_sub(b'0'), around[10] == b'.');
            let is_common = (around[8] == b':')
                & (id_len > 0)
                & (first <= 9)
                & ((value_len == 1) | has_point)
                & (before[8] == b' ' || before[8] == b'\n');
            if !is_common {
                break;
            }
            *id = number;
            (*value, *power) = number::decimal(first, fraction, digits);
            (count, start) = (count + 1, end + 1);
            if before[8] != b' ' {
                break;
            }
        }
        // Divided together, for that goes several at a time.
        let values = self.values.iter_mut().zip(&self.powers).take(count);
        values.for_each(|(value, power)| *value /= power);
        count
    }
}

/// The eight bytes before `at`, and those that follow.
#[inline(always)]
fn window<const N: usize>(text: &[u8], at: usize) -> Option<&[u8; N]> {
    text.get(at.checked_sub(8)?..)?.first_chunk()
}

#[inline(always)]
fn first_eight<const N: usize>(bytes: &[u8; N]) -> [u8; 8] {
    bytes.first_chunk().copied().unwrap_or_default()
}

#[inline]
fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r')
}

#[inline]
fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while at < line.len() && is_blank(line[at]) {
        at += 1;
    }
    at
}

fn token_end(line: &[u8], at: usize) -> usize {
    line[at..].iter().position(|&b| is_blank(b)).map_or(line.len(), |n| at + n)
}

/// Parses one line of any kind, with words about what is wrong with it.
fn parse_line<const IDS: bool>(builder: &mut Builder, line: &[u8]) -> Result<(), Bad> {
    let mut at = skip_blanks(line, 0);
    if at == line.len() || line[at] == b'#' {
        return Ok(());
    }
    let end = token_end(line, at);
    let token = &line[at..end];
    let label = if memchr(b':', token).is_none() {
        let label = builder.label(Found::Text(token), at + 1)?;
        at = end;
        label
    } else if builder.spec.labels.may_be_missing() {
        None
    } else {
        let token = shown(token);
        return Err(Bad::new(at + 1, format!("{token} stands where the label should be")));
    };
    if builder.spec.labels_only {
        at = line.len();
    }
    loop {
        at = skip_blanks(line, at);
        if at == line.len() || line[at] == b'#' {
            break;
        }
        at = parse_feature::<IDS>(builder, line, at)?;
    }
    let repeats = if IDS { Repeats::Refuse } else { Repeats::Add };
    builder.finish(label, 1.0, repeats, |e| explain(e, line))
}

#[inline]
fn push<const IDS: bool>(builder: &mut Builder, id: u32, digits: &[u8], value: f64) {
    if IDS {
        builder.push_id(id, value);
    } else {
        builder.push_named(0, b"", digits, value);
    }
}

/// Parses the feature at `start`, with words about what cannot be read. Returns the token's end.
fn parse_feature<const IDS: bool>(
    builder: &mut Builder,
    line: &[u8],
    start: usize,
) -> Result<usize, Bad> {
    let end = token_end(line, start);
    let token = &line[start..end];
    let Some(colon) = memchr(b':', token) else {
        return Err(Bad::new(start + 1, format!("{} is not an index:value pair", shown(token))));
    };
    let (digits, value) = (&token[..colon], &token[colon + 1..]);
    if digits == b"qid" {
        return match std::str::from_utf8(value).ok().and_then(|v| v.parse::<u64>().ok()) {
            Some(_) => Ok(end),
            None => {
                Err(Bad::new(start + 5, format!("query id {} is not an integer", shown(value))))
            }
        };
    }
    let id = parse_id(digits, start + 1)?;
    let value = number::bounded(value, start + colon + 2, builder.spec.max_value)?;
    push::<IDS>(builder, id, digits, value);
    Ok(end)
}

/// An id in decimal, or words about why it is none.
pub(crate) fn parse_id(digits: &[u8], column: usize) -> Result<u32, Bad> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Bad::new(
            column,
            format!("feature index {} is not an integer >= 0", shown(digits)),
        ));
    }
    let text = std::str::from_utf8(digits).unwrap_or_default();
    match text.parse::<u32>() {
        Ok(id) if id <= Space::LARGEST_ID => Ok(id),
        _ => {
            let (text, largest) = (&text[..text.len().min(40)], Space::LARGEST_ID);
            Err(Bad::new(column, format!("feature index {text} is beyond the largest, {largest}")))
        }
    }
}

/// Finds the place of what a finished row was refused for.
#[cold]
fn explain(error: RowError, line: &[u8]) -> Bad {
    let RowError::Repeated { index } = error else {
        return Bad::new(0, error.to_string());
    };
    let mut at = 0;
    let mut met = false;
    while at < line.len() {
        at = skip_blanks(line, at);
        let end = token_end(line, at);
        let digits = line[at..end].split(|&b| b == b':').next().unwrap_or_default();
        if digits.len() < end - at && parse_id(digits, 0) == Ok(index) {
            if met {
                return Bad::new(at + 1, error.to_string());
            }
            met = true;
        }
        at = end;
    }
    Bad::new(0, error.to_string())
}

#[cfg(test)]
mod tests {
    use crate::testing::{Rows, error, rows};
    use crate::{Format, Labels, Options, Space};

    fn svm() -> Options {
        Options { format: Some(Format::Svmlight), ..Options::default() }
    }

    fn read(text: &str) -> Rows {
        rows(text.as_bytes(), &svm()).unwrap()
    }

    fn refused(text: &str) -> String {
        error(text.as_bytes(), &svm())
    }

    #[test]
    fn rows_are_labels_and_features() {
        let text = "+1 3:0.5 1:2 # later\n\n# only words\n  -1\tqid:7 0:1e-2 \r\n0\n1 4294967294:1 000000000007:2";
        let all = read(text);
        assert_eq!(all.labels, [Some(1.0), Some(-1.0), Some(-1.0), Some(1.0)]);
        let expected: [&[(u32, f64)]; 4] =
            [&[(1, 2.0), (3, 0.5)], &[(0, 0.01)], &[], &[(7, 2.0), (4_294_967_294, 1.0)]];
        assert_eq!(all.rows, expected);
        assert_eq!(all.weights, [1.0; 4]);
        assert_eq!(all.largest, 4_294_967_294);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, expected) in [
            ("1 7:1 3:2 7:5", "x:1:11: feature index 7 appears twice"),
            ("1 1:1\n\n-1 2:1 2:1\n", "x:3:8: feature index 2 appears twice"),
            (
                "1 99999999999:1",
                "x:1:3: feature index 99999999999 is beyond the largest, 4294967294",
            ),
            ("1 4294967295:1", "x:1:3: feature index 4294967295 is beyond the largest, 4294967294"),
            ("1 3:1 4", "x:1:7: \"4\" is not an index:value pair"),
            ("1 3:1 word", "x:1:7: \"word\" is not an index:value pair"),
            ("1 word:1", "x:1:3: feature index \"word\" is not an integer >= 0"),
            ("1 -3:1", "x:1:3: feature index \"-3\" is not an integer >= 0"),
            ("1 :1", "x:1:3: feature index \"\" is not an integer >= 0"),
            ("1 3:", "x:1:5: the number is missing"),
            ("1 3:abc", "x:1:5: \"abc\" is not a number"),
            ("1 3:1x 4:1", "x:1:5: \"1x\" is not a number"),
            ("1 3:1:2", "x:1:5: \"1:2\" is not a number"),
            ("1 3:nan", "x:1:5: \"nan\" is not a finite number"),
            ("1 3:-inf", "x:1:5: \"-inf\" is not a finite number"),
            ("1 3:1e999", "x:1:5: \"1e999\" is not a finite number"),
            ("1 3:1e101", "x:1:5: \"1e101\" is beyond the largest magnitude, 1e100"),
            ("1 qid:x 3:1", "x:1:7: query id \"x\" is not an integer"),
            ("2 3:1", "x:1:1: label \"2\" is neither \"-1\" nor \"1\""),
            ("3:1", "x:1:1: \"3:1\" stands where the label should be"),
            ("1 3:\u{e9}", "x:1:5: \"\u{e9}\" is not a number"),
            ("", "x: is empty: no rows"),
            ("\n# words\n\n", "x: is empty: no rows"),
        ] {
            assert_eq!(refused(text), expected, "{text:?}");
        }
        let real = Options { labels: Labels::Real, ..svm() };
        assert_eq!(error(b"nan 1:1", &real), "x:1:1: label \"nan\" is not a finite number");
        let count = Options { labels: Labels::NonNegative, ..svm() };
        assert_eq!(error(b"3 1:1\n-2 1:1", &count), "x:2:1: label \"-2\" is negative");
    }

    #[test]
    fn rows_before_a_bad_one_come_first() {
        let (all, failure) = crate::testing::read(b"1 1:1\n1 2:1\n1 x\n1 3:1\n", &svm());
        assert_eq!(all.rows.len(), 2);
        assert_eq!(failure.unwrap().to_string(), "x:3:3: \"x\" is not an index:value pair");
    }

    #[test]
    fn bad_rows_are_skipped_and_counted() {
        let text = b"1 1:1\n1 x\n1 2:1\n9 1:1\n1 3:1\n1 4:4:4\n1 5:1\n";
        let options = Options { skip_bad: 3, ..svm() };
        let all = rows(text, &options).unwrap();
        assert_eq!(all.rows.len(), 4);
        assert_eq!(all.skipped.len(), 3);
        assert_eq!(all.skipped[1], "x:4:1: label \"9\" is neither \"-1\" nor \"1\"");
        let (all, failure) = crate::testing::read(text, &Options { skip_bad: 2, ..svm() });
        assert_eq!(all.rows.len(), 3);
        let expected = "x:6:5: \"4:4\" is not a number (after 2 bad rows that were skipped)";
        assert_eq!(failure.unwrap().to_string(), expected);
    }

    #[test]
    fn a_prediction_needs_no_label() {
        let labels = Labels::Optional(Box::new(Labels::binary()));
        let all = rows(b"3:1 4:1\n1 3:1\n? 3:1\n", &Options { labels, ..svm() }).unwrap();
        assert_eq!(all.labels, [None, Some(1.0), None]);
        assert_eq!(all.rows[0], [(3, 1.0), (4, 1.0)]);
    }

    #[test]
    fn digits_are_hashed_like_a_name() {
        let options = Options { space: Some(Space::Hashed { bits: 20 }), ..svm() };
        let all = rows(b"1 3:1 12345678901234:2\n", &options);
        assert_eq!(
            all.unwrap_err(),
            "x:1:7: feature index 12345678901234 is beyond the largest, 4294967294"
        );
        let all = rows(b"1 3:1 12:2\n", &options).unwrap();
        let slot = crate::hash::slot(crate::hash::feature(0, b"12"), 20);
        assert!(all.rows[0].contains(&(slot, 2.0)));
        assert!(all.names.contains(&(slot, "12".to_owned())));
    }

    #[test]
    fn a_row_of_a_million_features_is_a_row() {
        let mut text = String::from("1");
        (0..1_000_000).for_each(|i| {
            use std::fmt::Write;
            write!(text, " {i}:1").unwrap();
        });
        text += "\n-1 5:1\n";
        let all = read(&text);
        assert_eq!((all.rows[0].len(), all.rows[1].len()), (1_000_000, 1));
    }
}
