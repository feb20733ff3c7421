//! Vowpal Wabbit's text: `[label [importance [base]]] ['tag]|namespace[:scale] feature[:value] ...`.
//!
//! As there, a word that touches the first bar is the row's tag, and a row without a label can be
//! predicted but not learned from. A third number, the initial prediction, is read and ignored. A feature
//! is called `namespace^feature` in reports, or `feature` alone after a bare bar. Features that occur
//! twice add up.
//!
//! In the id space features must be integers and namespaces are ignored. Slots are not Vowpal
//! Wabbit's: see [`hash`](crate::hash).

use memchr::memchr;

use crate::builder::Builder;
use crate::error::{Bad, shown};
use crate::label::Found;
use crate::{hash, number, svmlight};

/// Parses a block of whole lines.
pub(crate) fn parse(builder: &mut Builder, text: &[u8]) {
    let ids = builder.is_ids();
    let mut at = 0;
    let mut line = 0;
    while at < text.len() {
        let end = memchr(b'\n', &text[at..]).map_or(text.len(), |n| at + n);
        line += 1;
        let row = if ids {
            parse_line::<true>(builder, &text[at..end])
        } else {
            parse_line::<false>(builder, &text[at..end])
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

/// What a byte means inside a feature.
const BLANK: u8 = 1;
const COLON: u8 = 2;
const BAR: u8 = 4;

// PERF: one load per byte instead of five compares.
const MEANING: [u8; 256] = {
    let mut table = [0; 256];
    table[b' ' as usize] = BLANK;
    table[b'\t' as usize] = BLANK;
    table[b'\r' as usize] = BLANK;
    table[b':' as usize] = COLON;
    table[b'|' as usize] = BAR;
    table
};

#[inline]
fn meaning(line: &[u8], at: usize) -> u8 {
    line.get(at).map_or(BLANK, |&b| MEANING[b as usize])
}

/// The first byte from `at` on that means one of `stop`.
#[inline]
fn find(line: &[u8], at: usize, stop: u8) -> usize {
    let rest = &line[at..];
    at + rest.iter().position(|&b| MEANING[b as usize] & stop != 0).unwrap_or(rest.len())
}

fn parse_line<const IDS: bool>(builder: &mut Builder, line: &[u8]) -> Result<(), Bad> {
    let Some(bar) = memchr(b'|', line) else {
        if line.iter().all(|&b| MEANING[b as usize] == BLANK) {
            return Ok(());
        }
        return Err(Bad::new(1, format!("there is no bar (|) in {}", shown(line))));
    };
    let before = Before::parse(builder, &line[..bar])?;
    if !builder.spec.labels_only {
        parse_features::<IDS>(builder, line, bar)?;
    }
    builder.finish_adding(before.label, before.importance, before.tag)
}

/// What stands before the first bar.
struct Before<'a> {
    label: Option<f64>,
    importance: f64,
    tag: &'a [u8],
}

impl<'a> Before<'a> {
    #[inline]
    fn parse(builder: &mut Builder, text: &'a [u8]) -> Result<Self, Bad> {
        let mut words = [(0, &b""[..]); 4];
        let mut len = 0;
        let mut at = 0;
        loop {
            while at < text.len() && MEANING[text[at] as usize] == BLANK {
                at += 1;
            }
            if at == text.len() {
                break;
            }
            let end = find(text, at, BLANK);
            if len == words.len() {
                let word = shown(&text[at..end]);
                return Err(Bad::new(
                    at + 1,
                    format!("{word} is one word too many before the bar"),
                ));
            }
            words[len] = (at, &text[at..end]);
            len += 1;
            at = end;
        }
        let mut words = &words[..len];
        let mut tag = &b""[..];
        if let Some((&(start, word), others)) = words.split_last()
            && (word[0] == b'\'' || start + word.len() == text.len())
        {
            tag = word.strip_prefix(b"'").unwrap_or(word);
            words = others;
        }
        let label = match words.first() {
            Some(&(start, word)) => builder.label(Found::Text(word), start + 1)?,
            None => None,
        };
        let importance = match words.get(1) {
            Some(&(start, word)) => builder.importance(word, start + 1)?,
            None => 1.0,
        };
        if let Some(&(start, word)) = words.get(2) {
            number::bounded(word, start + 1, builder.spec.max_value)?;
        }
        if let Some(&(start, word)) = words.get(3) {
            let word = shown(word);
            return Err(Bad::new(start + 1, format!("{word} is one word too many before the bar")));
        }
        Ok(Self { label, importance, tag })
    }
}

fn parse_features<const IDS: bool>(
    builder: &mut Builder,
    line: &[u8],
    bar: usize,
) -> Result<(), Bad> {
    let max = builder.spec.max_value;
    let crossing = builder.is_crossing();
    // INVARIANT: at the head of this loop `line[at]` is a bar.
    let mut at = bar;
    while at < line.len() {
        let start = at + 1;
        at = find(line, start, BLANK | COLON | BAR);
        let namespace = &line[start..at];
        let mut scale = 1.0;
        if meaning(line, at) == COLON {
            let end = find(line, at, BLANK | BAR);
            scale = number::bounded(&line[at + 1..end], at + 2, max)?;
            at = end;
        }
        let seed = if IDS { 0 } else { hash::namespace(namespace) };
        if crossing {
            builder.enter(namespace);
        }
        loop {
            while at < line.len() && MEANING[line[at] as usize] == BLANK {
                at += 1;
            }
            if at == line.len() || line[at] == b'|' {
                break;
            }
            let start = at;
            at = find(line, start, BLANK | COLON | BAR);
            let name = &line[start..at];
            let mut value = 1.0;
            if meaning(line, at) == COLON {
                (value, at) = parse_value(line, at + 1, max)?;
                if name.is_empty() {
                    let token = shown(&line[start..at]);
                    return Err(Bad::new(start + 1, format!("feature {token} has no name")));
                }
            }
            let value = value * scale;
            if value.abs() > max {
                return Err(number::too_large(&line[start..at], start + 1, max));
            }
            if IDS {
                builder.push_id(svmlight::parse_id(name, start + 1).map_err(say_why_ids)?, value);
            } else {
                builder.push_named(seed, namespace, name, value);
            }
        }
    }
    Ok(())
}

/// The value at `at` and where it ends.
#[inline]
fn parse_value(line: &[u8], at: usize, max: f64) -> Result<(f64, usize), Bad> {
    if let Some((value, len)) = number::leading(&line[at..])
        && matches!(meaning(line, at + len), BLANK | BAR)
        && value.abs() <= max
    {
        return Ok((value, at + len));
    }
    let end = find(line, at, BLANK | BAR);
    Ok((number::bounded(&line[at..end], at + 1, max)?, end))
}

#[cold]
fn say_why_ids(mut bad: Bad) -> Bad {
    bad.message.push_str(": without hashing, features are integers");
    bad
}

#[cfg(test)]
mod tests {
    use crate::hash::{cross, feature, namespace, slot};
    use crate::testing::{Rows, error, rows};
    use crate::{Format, Labels, Options, Space};

    fn vw() -> Options {
        Options { format: Some(Format::Vw), ..Options::default() }
    }

    fn read(text: &str) -> Rows {
        rows(text.as_bytes(), &vw()).unwrap()
    }

    fn named(all: &Rows, row: usize) -> Vec<(String, f64)> {
        let name = |j: u32| all.names.iter().find(|(k, _)| *k == j).unwrap().1.clone();
        let mut row: Vec<_> = all.rows[row].iter().map(|&(j, v)| (name(j), v)).collect();
        row.sort_by(|a, b| a.0.cmp(&b.0));
        row
    }

    fn list(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
        pairs.iter().map(|&(n, v)| (n.to_owned(), v)).collect()
    }

    #[test]
    fn labels_weights_and_tags_stand_before_the_bar() {
        let all = read(concat!(
            "1 2.5 0.1 'first|a x\n",
            "-1 third| x\n",
            "| x\n",
            "\n",
            "  1\t0.5 |a x\r\n",
            "'only |a x\n",
            "0 |\n",
            "1|a x\n",
        ));
        let labels = [Some(1.0), Some(-1.0), None, Some(1.0), None, Some(-1.0), None];
        assert_eq!(all.labels, labels);
        assert_eq!(all.weights, [2.5, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0]);
        let tags: [&[u8]; 7] = [b"first", b"third", b"", b"", b"only", b"", b"1"];
        assert_eq!(all.tags, tags);
    }

    #[test]
    fn features_have_namespaces_scales_and_values() {
        let all = read("1 |user:2 age:0.5 city=Paris|ad x:1e-1 x:2 | plain z:0\n");
        assert_eq!(
            named(&all, 0),
            list(&[("ad^x", 2.1), ("plain", 1.0), ("user^age", 1.0), ("user^city=Paris", 2.0)])
        );
        let age = slot(feature(namespace(b"user"), b"age"), 22);
        assert!(all.rows[0].contains(&(age, 1.0)));
    }

    #[test]
    fn ids_are_kept_without_hashing() {
        let options = Options { space: Some(Space::Ids), ..vw() };
        let all = rows(b"1 |f 3:2 1 3:1\n", &options).unwrap();
        assert_eq!(all.rows[0], [(1, 1.0), (3, 3.0)]);
        assert!(all.names.is_empty());
        assert_eq!(
            error(b"1 |f 3:2 word:1", &options),
            "x:1:10: feature index \"word\" is not an integer >= 0: without hashing, features are integers"
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, expected) in [
            ("1 a b\n", "x:1:1: there is no bar (|) in \"1 a b\""),
            ("| a\n2 |a x\n", "x:2:1: label \"2\" is neither \"-1\" nor \"1\""),
            ("1 x |a x\n", "x:1:3: \"x\" is not a number"),
            ("1 -2 |a x\n", "x:1:3: importance weight \"-2\" is negative"),
            ("1 nan |a x\n", "x:1:3: \"nan\" is not a finite number"),
            ("1 1 y |a x\n", "x:1:5: \"y\" is not a number"),
            ("1 1 0 0 |a x\n", "x:1:7: \"0\" is one word too many before the bar"),
            ("1 1 0 0 0 |a x\n", "x:1:9: \"0\" is one word too many before the bar"),
            ("1 |a x:nan\n", "x:1:8: \"nan\" is not a finite number"),
            ("1 |a x:\n", "x:1:8: the number is missing"),
            ("1 |a x:1:2\n", "x:1:8: \"1:2\" is not a number"),
            ("1 |a :1\n", "x:1:6: feature \":1\" has no name"),
            ("1 |a:y x\n", "x:1:6: \"y\" is not a number"),
            ("1 |a:1e60 x:1e60\n", "x:1:11: \"x:1e60\" is beyond the largest magnitude, 1e100"),
        ] {
            assert_eq!(error(text.as_bytes(), &vw()), expected, "{text:?}");
        }
    }

    #[test]
    fn interactions_are_products_with_names() {
        let interactions = vec![vec!["a".into(), "user".into()]];
        let all = rows(b"1 |user y:3 |ad x:2\n", &Options { interactions, ..vw() }).unwrap();
        let both = list(&[("ad^x", 2.0), ("ad^x*user^y", 6.0), ("user^y", 3.0)]);
        assert_eq!(named(&all, 0), both);
        let (x, y) = (feature(namespace(b"ad"), b"x"), feature(namespace(b"user"), b"y"));
        assert!(all.rows[0].contains(&(slot(cross(x, y), 22), 6.0)));
        let interactions = vec![vec!["a".into(), "b".into()]];
        let ids = Options { interactions, space: Some(Space::Ids), ..vw() };
        assert_eq!(
            error(b"1 |a 1\n", &ids),
            "interactions need hashed features: ids leave no room for products"
        );
    }

    #[test]
    fn colliding_names_are_counted() {
        let options = Options { space: Some(Space::Hashed { bits: 1 }), ..vw() };
        let all = rows(b"1 | a b c d a b\n", &options).unwrap();
        assert_eq!(all.names.len(), 4);
        assert!(all.rows[0].len() <= 2);
    }

    #[test]
    fn classes_may_be_words() {
        let labels = Labels::Classes(vec!["cat".into(), "dog".into()]);
        let all = rows(b"dog | a\ncat | b\n", &Options { labels, ..vw() }).unwrap();
        assert_eq!(all.labels, [Some(1.0), Some(0.0)]);
    }
}
