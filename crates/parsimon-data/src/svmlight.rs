//! `label [qid:n] index:value ... # comment`: svmlight, libsvm, libfm.
//!
//! Indices are ids: whether a file counts from 0 or from 1, they are kept as written. They need not be
//! sorted; one that occurs twice is an error. Blank lines and lines that are only a comment are passed
//! over, a `qid` is read and ignored. In a hashed space the digits of the index are hashed like a name.

use memchr::memchr;
use parsimon_core::{Repeats, RowError};

use crate::Space;
use crate::builder::Builder;
use crate::error::{Bad, shown};
use crate::label::Found;
use crate::number;

/// Parses a block of whole lines.
pub(crate) fn parse(builder: &mut Builder, text: &[u8]) {
    let ids = builder.is_ids();
    let mut at = 0;
    let mut line = 0;
    while at < text.len() {
        let end = memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        line += 1;
        let row = if ids {
            parse_line::<true>(builder, text, at, end)
        } else {
            parse_line::<false>(builder, text, at, end)
        };
        if let Err(bad) = row
            && !builder.refuse(line, bad)
        {
            break;
        }
        at = end + 1;
    }
    builder.out.lines += line;
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

/// Parses the line from `from` to `to`.
fn parse_line<const IDS: bool>(
    builder: &mut Builder,
    text: &[u8],
    from: usize,
    to: usize,
) -> Result<(), Bad> {
    let line = &text[from..to];
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
    let max = builder.spec.max_value;
    loop {
        at = skip_blanks(line, at);
        if at == line.len() {
            break;
        }
        if IDS {
            let (ids, values) = (&mut [0; BATCH], &mut [0.0; BATCH]);
            let (stop, count) = common_features(text, from + at, max, ids, values);
            builder.push_ids(&ids[..count], &values[..count]);
            at = stop - from;
            if count > 0 {
                continue;
            }
        }
        // The common case with a name: up to seven digits, a colon, a plain decimal, a blank or the end.
        let start = at;
        let rest = &line[start..];
        if let Some(&word) = rest.first_chunk::<8>()
            && let (id, count @ 1..8) = number::leading_digits(word)
            && word[count] == b':'
            && let value = &rest[count + 1..]
            && let Some((v, len)) = number::leading(value)
            && value.get(len).is_none_or(|&b| is_blank(b))
            && v.abs() <= max
        {
            push::<IDS>(builder, id as u32, &rest[..count], v);
            // The blank after the value has been looked at already.
            at = (start + count + 2 + len).min(line.len());
            continue;
        }
        if line[start] == b'#' {
            break;
        }
        at = parse_feature_slowly::<IDS>(builder, line, start)?;
    }
    let repeats = if IDS { Repeats::Refuse } else { Repeats::Add };
    builder.finish(label, 1.0, repeats, |e| explain(e, line))
}

/// Features taken over at a time.
const BATCH: usize = 64;

/// Reads features of the commonest kind from `at` on: an id of up to seven digits, and a value that is one digit
/// (`1`, mostly) or one digit, a point and up to seven more; single blanks between. Stops where one is not of that kind,
/// at the line's end at the latest, and says where and after how many.
///
/// PERF: most features of most files. Numbers are read eight bytes at once from a window of fixed size, which may
/// reach into the next line but never takes anything from it: a line's end is no digit. Results go to arrays on the stack;
/// pushing each onto the row's vectors cost a third of the time.
#[inline]
fn common_features(
    text: &[u8],
    mut at: usize,
    max: f64,
    ids: &mut [u32; BATCH],
    values: &mut [f64; BATCH],
) -> (usize, usize) {
    let ends = |b: u8| b == b' ' || b == b'\n';
    let mut n = 0;
    while n < BATCH {
        let Some(window) = text.get(at..).and_then(|rest| rest.first_chunk::<24>()) else { break };
        let eight = |from: usize| window.get(from..).and_then(|w| w.first_chunk::<8>()).copied();
        let Some((id, count @ 1..8)) = eight(0).map(number::leading_digits) else { break };
        let (first, second) = (window[count + 1].wrapping_sub(b'0'), window[count + 2]);
        if window[count] != b':' || first > 9 {
            break;
        }
        let (value, len) = if ends(second) {
            (f64::from(first), 1)
        } else {
            let Some((fraction, digits @ 1..8)) = eight(count + 3).map(number::leading_digits)
            else {
                break;
            };
            if second != b'.' || !ends(window[count + 3 + digits]) {
                break;
            }
            (number::decimal(first, fraction, digits), 2 + digits)
        };
        if value > max {
            break;
        }
        (ids[n], values[n]) = (id as u32, value);
        n += 1;
        at += count + 1 + len;
        // INVARIANT: this byte was in the window.
        if text[at] == b'\n' {
            break;
        }
        at += 1;
    }
    (at, n)
}

#[inline]
fn push<const IDS: bool>(builder: &mut Builder, id: u32, digits: &[u8], value: f64) {
    if IDS {
        builder.push_id(id, value);
    } else {
        builder.push_named(0, b"", digits, value);
    }
}

/// The same for every other spelling, with words about what cannot be read. Returns the token's end.
fn parse_feature_slowly<const IDS: bool>(
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
