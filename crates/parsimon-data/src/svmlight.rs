//! `label index:value ... # comment`: svmlight, libsvm, libfm.
//!
//! Indices are ids: whether a file counts from 0 or from 1, they are kept as written. They need not be
//! sorted; one that occurs twice is an error. Blank lines and lines that are only a comment are passed
//! over, a `qid` is refused. In a hashed space the digits of the index are hashed like a name.

#![allow(unsafe_code)]

use memchr::memchr;
use parsimon_core::{Repeats, RowError};

use crate::builder::Builder;
use crate::error::{Bad, shown};
#[cfg(target_arch = "x86_64")]
use crate::four_features;
use crate::label::Found;
use crate::separators::Lines;
use crate::{DataErrorKind, Space, number};

/// Parses a block of whole lines.
pub(crate) fn parse(builder: &mut Builder, text: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if crate::separators::is_wide() {
        // SAFETY: the machine has the instructions, as checked above.
        return unsafe {
            match builder.is_ids() {
                true => parse_wide::<true>(builder, text),
                false => parse_wide::<false>(builder, text),
            }
        };
    }
    match builder.is_ids() {
        true => parse_block::<true, false>(builder, text),
        false => parse_block::<false, false>(builder, text),
    }
}

/// Like the function above, compiled for wide registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn parse_wide<const IDS: bool>(builder: &mut Builder, text: &[u8]) {
    parse_block::<IDS, true>(builder, text);
}

/// Reads common rows with their separators known beforehand, and others one by one.
#[inline(always)]
fn parse_block<const IDS: bool, const WIDE: bool>(builder: &mut Builder, text: &[u8]) {
    let mut separators = std::mem::take(&mut builder.separators);
    let batch = &mut Batch::new();
    let (mut at, mut line) = (0, 0);
    'block: while at < text.len() {
        let mut lines = separators.look(text, at);
        while !lines.is_done() {
            line += 1;
            if !builder.spec.labels_only
                && let Some(after) = common_row::<IDS, WIDE>(lines, builder, batch)
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

/// Reads the current row of `label id:value ...` with blanks between; and goes to the next; `None`, with the row begun but not finished, where
/// something is out of the ordinary. Whether that is a mistake is for [`parse_line`] to say.
#[inline(always)]
fn common_row<'a, const IDS: bool, const WIDE: bool>(
    mut lines: Lines<'a>,
    builder: &mut Builder,
    batch: &mut Batch,
) -> Option<Lines<'a>> {
    let (end, after) = lines.separator(lines.next);
    let token = &lines.text[lines.at..end];
    if token.is_empty() || token[0] == b'#' || !(is_blank(after) || after == b'\n') {
        return None;
    }
    let label = builder.label(Found::Text(token), 0).ok()?;
    let max = builder.spec.max_value;
    let (mut start, mut next, mut last) = (end + 1, lines.next + 1, after);
    let mut patience = 0;
    let mut least = 0;
    while last != b'\n' {
        #[cfg(target_arch = "x86_64")]
        if IDS && WIDE && next >= patience {
            // SAFETY: only `parse_wide` asks for this.
            let count = unsafe { batch.read(&lines, next) };
            if count > 0 {
                builder.push_ids(&batch.ids[..count], &batch.values[..count]);
                next += 2 * count;
                let (end, after) = lines.separator(next - 1);
                (start, last) = (end + 1, after);
                continue;
            }
            // After an unusual feature, the following ones are probably unusual too.
            patience = next + 8;
        }
        // Every feature has two separators.
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
        let value = match number::common(lines.text, colon + 1, end) {
            Some(value) if value.abs() <= max => value,
            _ => number::bounded(&lines.text[colon + 1..end], 0, max).ok()?,
        };
        if !IDS {
            // Ids in order do not repeat. Hashed, they can no longer be compared.
            if u64::from(id) < least {
                return None;
            }
            least = u64::from(id) + 1;
        }
        push::<IDS>(builder, id, digits, value);
        (start, next, last) = (end + 1, next + 2, after);
    }
    let repeats = if IDS { Repeats::Refuse } else { Repeats::Add };
    builder
        .finish(label, 1.0, repeats, |e| Bad::new(DataErrorKind::Index, 0, e.to_string()))
        .ok()?;
    (lines.at, lines.next) = (start, next);
    Some(lines)
}

/// Features on their way into a row.
struct Batch {
    ids: [u32; BATCH],
    values: [f64; BATCH],
}

/// Features taken over at a time.
const BATCH: usize = 64;

impl Batch {
    fn new() -> Self {
        Self { ids: [0; BATCH], values: [0.0; BATCH] }
    }

    /// Reads features of the commonest kind, four at a time; `next` is the separator behind the id of the first. Stops before one that is
    /// not of that kind, or at the row's end; says how many there were.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline]
    fn read(&mut self, lines: &Lines<'_>, next: usize) -> usize {
        // The separator before a feature is where it begins.
        let places = lines.places.get(next - 1..).unwrap_or_default();
        let (ids, values) = (self.ids.as_chunks_mut::<4>().0, self.values.as_chunks_mut::<4>().0);
        for (k, (ids, values)) in ids.iter_mut().zip(values).enumerate() {
            let Some(nine) = places.get(8 * k..).and_then(|p| p.first_chunk()) else {
                return 4 * k;
            };
            let found = four_features::read(lines.text, nine, ids, values);
            // PERF: where the next four begin is a matter of the branch, which is guessed right, not of this count, which takes long.
            if found.count < 4 || found.ends_row {
                return 4 * k + found.count;
            }
        }
        BATCH
    }
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
        let words = format!("{} stands where the label should be", shown(token));
        return Err(Bad::new(DataErrorKind::Label, at + 1, words).found(token));
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
    if !IDS && let Some(index) = builder.repeated_id() {
        return Err(explain(RowError::Repeated { index }, line));
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
        let words = format!("{} is not an index:value pair", shown(token));
        return Err(Bad::new(DataErrorKind::Malformed, start + 1, words).found(token));
    };
    let (digits, value) = (&token[..colon], &token[colon + 1..]);
    if digits == b"qid" {
        let words = format!(
            "{} groups rows for ranking, which is not supported; without qid every row is learned alone",
            shown(token)
        );
        return Err(Bad::new(DataErrorKind::Malformed, start + 1, words).found(token));
    }
    let id = parse_id(digits, start + 1)?;
    let value = number::bounded(value, start + colon + 2, builder.spec.max_value)?;
    if !IDS {
        builder.note_id(id);
    }
    push::<IDS>(builder, id, digits, value);
    Ok(end)
}

/// An id in decimal, or words about why it is none.
pub(crate) fn parse_id(digits: &[u8], column: usize) -> Result<u32, Bad> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        let words = format!("feature index {} is not an integer >= 0", shown(digits));
        return Err(Bad::new(DataErrorKind::Index, column, words).found(digits));
    }
    let text = std::str::from_utf8(digits).unwrap_or_default();
    match text.parse::<u32>() {
        Ok(id) if id <= Space::LARGEST_ID => Ok(id),
        _ => {
            let (text, largest) = (&text[..text.len().min(40)], Space::LARGEST_ID);
            let words = format!("feature index {text} is beyond the largest, {largest}");
            Err(Bad::new(DataErrorKind::Index, column, words).found(digits))
        }
    }
}

/// Finds the place of what a finished row was refused for.
#[cold]
fn explain(error: RowError, line: &[u8]) -> Bad {
    let RowError::Repeated { index } = error else {
        return Bad::new(DataErrorKind::Number, 0, error.to_string());
    };
    let mut at = 0;
    let mut met = false;
    while at < line.len() {
        at = skip_blanks(line, at);
        let end = token_end(line, at);
        let digits = line[at..end].split(|&b| b == b':').next().unwrap_or_default();
        if digits.len() < end - at && parse_id(digits, 0) == Ok(index) {
            if met {
                let bad = Bad::new(DataErrorKind::Index, at + 1, error.to_string());
                return bad.found(digits);
            }
            met = true;
        }
        at = end;
    }
    Bad::new(DataErrorKind::Index, 0, error.to_string())
}

#[cfg(test)]
mod tests {
    use crate::testing::{Rows, error, rows};
    use crate::{Bounds, Format, Labels, Options, Reading, Space};

    fn svm() -> Options {
        Options::from(Reading { format: Some(Format::Svmlight), ..Reading::default() })
    }

    fn read(text: &str) -> Rows {
        rows(text.as_bytes(), &svm()).unwrap()
    }

    fn refused(text: &str) -> String {
        error(text.as_bytes(), &svm())
    }

    #[test]
    fn rows_are_labels_and_features() {
        let text = "+1 3:0.5 1:2 # later\n\n# only words\n  -1\t0:1e-2 \r\n0\n1 4294967294:1 000000000007:2";
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
            (
                "1 3:1\n1 qid:7 3:1",
                "x:2:3: \"qid:7\" groups rows for ranking, which is not supported; without qid every row is learned alone",
            ),
            ("2 3:1", "x:1:1: label \"2\" is neither \"-1\" nor \"1\""),
            ("3:1", "x:1:1: \"3:1\" stands where the label should be"),
            ("1 3:\u{e9}", "x:1:5: \"\u{e9}\" is not a number"),
            ("", "x: is empty: no rows"),
            ("\n# words\n\n", "x: is empty: no rows"),
        ] {
            assert_eq!(refused(text), expected, "{text:?}");
        }
        let real = Options { reading: Reading { labels: Labels::Real, ..svm().reading }, ..svm() };
        assert_eq!(error(b"nan 1:1", &real), "x:1:1: label \"nan\" is not a finite number");
        let count =
            Options { reading: Reading { labels: Labels::NonNegative, ..svm().reading }, ..svm() };
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
        let options = Options { bounds: Bounds { skip_bad: 3, ..svm().bounds }, ..svm() };
        let all = rows(text, &options).unwrap();
        assert_eq!(all.rows.len(), 4);
        assert_eq!(all.skipped.len(), 3);
        assert_eq!(all.skipped[1], "x:4:1: label \"9\" is neither \"-1\" nor \"1\"");
        let (all, failure) = crate::testing::read(
            text,
            &Options { bounds: Bounds { skip_bad: 2, ..svm().bounds }, ..svm() },
        );
        assert_eq!(all.rows.len(), 3);
        let expected = "x:6:5: \"4:4\" is not a number (after 2 bad rows that were skipped)";
        assert_eq!(failure.unwrap().to_string(), expected);
    }

    #[test]
    fn a_prediction_needs_no_label() {
        let labels = Labels::Optional(Box::new(Labels::binary()));
        let all = rows(
            b"3:1 4:1\n1 3:1\n? 3:1\n",
            &Options { reading: Reading { labels, ..svm().reading }, ..svm() },
        )
        .unwrap();
        assert_eq!(all.labels, [None, Some(1.0), None]);
        assert_eq!(all.rows[0], [(3, 1.0), (4, 1.0)]);
    }

    #[test]
    fn digits_are_hashed_like_a_name() {
        let options = Options {
            reading: Reading { space: Some(Space::Hashed { bits: 20 }), ..svm().reading },
            ..svm()
        };
        let all = rows(b"1 3:1 12345678901234:2\n", &options);
        assert_eq!(
            all.unwrap_err(),
            "x:1:7: feature index 12345678901234 is beyond the largest, 4294967294"
        );
        let twice = |text: &[u8]| rows(text, &options).unwrap_err();
        assert_eq!(twice(b"1 3:1 3:2\n"), "x:1:7: feature index 3 appears twice");
        assert_eq!(twice(b"1 3:1 2:2 03:5\n"), "x:1:11: feature index 3 appears twice");
        let all = rows(b"1 5:1 3:1 12:2\n", &options).unwrap();
        assert_eq!(all.rows[0].len(), 3);
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
