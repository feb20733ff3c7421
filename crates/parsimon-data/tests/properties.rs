//! What must hold for any bytes: no parser panics, and neither threads, compression nor a cache change
//! what is read.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

mod common;

use std::fmt::Write as _;
use std::io::Write;

use common::{Rows, any_labels, bytes, cached, read, read_inputs};
use parsimon_data::{Bounds, Format, Header, Labels, Options, Reading, Run, Space};
use proptest::prelude::*;

const TEXT: [Format; 5] = [Format::Svmlight, Format::Vw, Format::Csv, Format::Tsv, Format::Jsonl];

fn text_format() -> impl Strategy<Value = Format> {
    proptest::sample::select(TEXT.to_vec())
}

/// Lines that look like data, with some that do not.
fn lines() -> impl Strategy<Value = String> {
    let feature = "([0-9]{1,3}|[a-c]{1,2}):(-?[0-9]{1,3}(\\.[0-9]{1,4})?(e-?[0-9])?|nan|x|)";
    let svm = proptest::collection::vec(feature, 0..6).prop_flat_map(|f| {
        "(-1|1|0|\\+1|2|spam)".prop_map(move |y| format!("{y} {}", f.join(" ")))
    });
    let vw = proptest::collection::vec("(\\|[ab]?|[a-d]{1,2}(:[0-9.]{1,3})?)", 0..8).prop_flat_map(
        |w| "(-1|1|1 2|| 'tag)".prop_map(move |y| format!("{y} |a {}", w.join(" "))),
    );
    let csv = "(1|0|x|),(-?[0-9]{1,3}|a b|\"q,\"\"r\"|\"|),(nan|u|7|)";
    let json =
        "\\{\"label\": (1|0|true|\"1\"|null), \"(a|b)\": (\\{\"c\": 1\\}|2|\"t\"|\\[1, 2\\])\\}";
    let any = ".{0,20}";
    prop_oneof![svm, vw, csv, json, any]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(lines(), 0..40).prop_map(|l| l.join("\n"))
}

fn spaces() -> impl Strategy<Value = Option<Space>> {
    prop_oneof![Just(None), Just(Some(Space::Ids)), Just(Some(Space::Hashed { bits: 6 }))]
}

fn options() -> impl Strategy<Value = Options> {
    let labels = prop_oneof![
        Just(Labels::binary()),
        Just(Labels::Real),
        Just(Labels::Any),
        Just(Labels::Optional(Box::new(Labels::NonNegative))),
        Just(Labels::Classes(vec!["spam".into(), "1".into()])),
    ];
    let header = proptest::sample::select(vec![Header::Guess, Header::Present, Header::Absent]);
    (labels, header, spaces(), 0_u64..60, 1_usize..7, any::<bool>()).prop_map(
        |(labels, header, space, skip_bad, chunk_rows, crossing)| {
            let pair = vec![vec!["a".to_owned(), String::new()]];
            let interactions =
                if crossing && space != Some(Space::Ids) { pair } else { Vec::new() };
            Options {
                reading: Reading { labels, header, space, interactions, ..Reading::default() },
                bounds: Bounds { skip_bad, chunk_rows, ..Bounds::default() },
                ..Options::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        format in proptest::sample::select(Format::ALL.to_vec()),
        options in options(),
    ) {
        let forced = Options {
            reading: Reading {
                format: Some(format.0),
                interactions: Vec::new(),
                ..options.reading.clone()
            },
            ..options.clone()
        };
        let _ = read("x", &bytes, &forced);
        let _ = read("x", &bytes, &options);
    }

    #[test]
    fn any_text_is_read_or_refused(text in text(), format in text_format(), options in options()) {
        let (all, error) = read(
            "x",
            text.as_bytes(),
            &Options { reading: Reading { format: Some(format), ..options.reading }, ..options },
        );
        prop_assert!(all.rows.iter().flatten().all(|&(_, v)| v != 0.0 && v.is_finite()));
        if let Some(error) = error {
            prop_assert_eq!(error.lines().count(), 1, "{}", error);
        }
    }

    #[test]
    fn threads_change_nothing(text in text(), format in text_format(), options in options()) {
        let options =
            Options { reading: Reading { format: Some(format), ..options.reading }, ..options };
        let one = read("x", text.as_bytes(), &options);
        for threads in [2, 3] {
            let more = read(
                "x",
                text.as_bytes(),
                &Options { run: Run { threads, ..options.run.clone() }, ..options.clone() },
            );
            prop_assert_eq!(&more, &one);
        }
    }

    #[test]
    fn chunk_sizes_change_nothing(text in text(), format in text_format(), options in options()) {
        let options =
            Options { reading: Reading { format: Some(format), ..options.reading }, ..options };
        let big = Options {
            bounds: Bounds { chunk_rows: 1000, ..options.bounds.clone() },
            ..options.clone()
        };
        prop_assert_eq!(read("x", text.as_bytes(), &options), read("x", text.as_bytes(), &big));
    }

    #[test]
    fn compression_changes_nothing(text in text(), format in text_format(), options in options()) {
        let options =
            Options { reading: Reading { format: Some(format), ..options.reading }, ..options };
        let plain = read("x", text.as_bytes(), &options);
        for packed in [gzip(text.as_bytes()), zstd::encode_all(text.as_bytes(), 1).unwrap()] {
            prop_assert_eq!(&read("x", &packed, &options), &plain);
        }
    }

    #[test]
    fn a_cache_changes_nothing(text in text(), format in text_format(), space in spaces()) {
        // Where labels are optional, a table's first column is one only by name or number.
        let label_column = matches!(format, Format::Csv | Format::Tsv).then(|| "1".to_owned());
        let options = Options {
            reading: Reading {
                format: Some(format),
                labels: Labels::Any,
                space,
                label_column,
                ..Reading::default()
            },
            bounds: Bounds { skip_bad: 1000, ..Bounds::default() },
            ..Options::default()
        };
        let (direct, error) = read("x", text.as_bytes(), &options);
        prop_assume!(error.is_none() && !direct.rows.is_empty());
        let packed = cached(text.as_bytes(), &options);
        let plain = Options::from(Reading { labels: Labels::Any, ..Reading::default() });
        let (again, error) = read("x", &packed, &plain);
        prop_assert_eq!(error, None);
        // Texts of skipped rows are not in the cache.
        prop_assert!(again.texts.iter().all(|text| direct.texts.contains(text)));
        let (texts, direct_labels) = (again.texts.clone(), again.labels.clone());
        prop_assert_eq!(again, Rows { skipped: Vec::new(), texts, ..direct });
        // A missing label, refused in a CSV file, is one in a cache: the row can be predicted.
        prop_assume!(direct_labels.iter().all(Option::is_some));
        for labels in [Labels::Real, Labels::binary(), Labels::Optional(Box::new(Labels::binary()))] {
            let strict = Options {
                reading: Reading { labels, ..Reading::default() },
                bounds: Bounds { skip_bad: 1000, ..Bounds::default() },
                ..Options::default()
            };
            let (a, _) = read("x", &packed, &strict);
            let again = Options {
                reading: Reading { labels: strict.reading.labels, ..options.reading.clone() },
                ..options.clone()
            };
            let (b, _) = read("x", text.as_bytes(), &again);
            prop_assert_eq!((a.rows, a.labels, a.weights, a.tags), (b.rows, b.labels, b.weights, b.tags));
        }
    }

    #[test]
    fn a_damaged_cache_is_noticed(at in any::<proptest::sample::Index>(), bit in 0..8) {
        let text = b"1 |a x:0.5 y |b z\nspam 'tag|a x\n";
        let options = Options {
            reading: Reading { format: Some(Format::Vw), ..any_labels().reading },
            ..any_labels()
        };
        let mut packed = cached(text, &options);
        let at = at.index(packed.len());
        packed[at] ^= 1_u8 << bit;
        let (_, error) = read(
            "x",
            &packed,
            &Options {
                reading: Reading { format: Some(Format::Cache), ..any_labels().reading },
                ..any_labels()
            },
        );
        prop_assert!(error.is_some());
    }

    #[test]
    fn csv_equals_what_another_library_wrote(
        rows in proptest::collection::vec(["(?s).{0,6}", "[a\",\n\r ]{0,5}"], 1..20)
    ) {
        let style = csv::QuoteStyle::Always;
        let mut writer = csv::WriterBuilder::new().quote_style(style).from_writer(Vec::new());
        writer.write_record(["label", "a", "b"]).unwrap();
        for [a, b] in &rows {
            writer.write_record(["1", a, b]).unwrap();
        }
        let text = writer.into_inner().unwrap();
        let options = Options::from(Reading {
            format: Some(Format::Csv),
            categories: vec!["a".into(), "b".into()],
            ..Reading::default()
        });
        let (all, error) = read("x", &text, &options);
        prop_assert_eq!(error, None);
        prop_assert_eq!(all.rows.len(), rows.len());
        let mut expected: Vec<String> = rows
            .iter()
            .flat_map(|[a, b]| [("a", a), ("b", b)])
            .filter(|(_, cell)| !cell.is_empty())
            .map(|(column, cell)| format!("{column}={cell}"))
            .collect();
        let mut names: Vec<String> = all.names.into_iter().map(|(_, name)| name).collect();
        expected.sort();
        expected.dedup();
        names.sort();
        prop_assert_eq!(names, expected);
    }

    #[test]
    fn vowpal_wabbits_text_equals_a_naive_twin(text in text()) {
        let options = Options {
            reading: Reading {
                format: Some(Format::Vw),
                labels: Labels::Real,
                space: Some(Space::Hashed { bits: 31 }),
                ..Reading::default()
            },
            bounds: Bounds { skip_bad: 1000, ..Bounds::default() },
            ..Options::default()
        };
        let (all, _) = read("x", text.as_bytes(), &options);
        let twin: Vec<_> = text.split('\n').filter_map(naive_vw).collect();
        let ours: Vec<_> = all.labels.into_iter().zip(all.weights).zip(all.rows).collect();
        prop_assert_eq!(ours, twin);
    }

    #[test]
    fn svmlight_equals_a_naive_twin(text in text()) {
        let options = Options {
            reading: Reading {
                format: Some(Format::Svmlight),
                labels: Labels::Real,
                ..Reading::default()
            },
            bounds: Bounds { skip_bad: 1000, ..Bounds::default() },
            ..Options::default()
        };
        let (all, _) = read("x", text.as_bytes(), &options);
        let twin: Vec<_> = text.split('\n').filter_map(naive_svmlight).collect();
        prop_assert_eq!(all.labels.into_iter().flatten().zip(all.rows).collect::<Vec<_>>(), twin);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// svmlight as one would write it in an afternoon; `None` for lines that are blank or bad.
fn naive_svmlight(line: &str) -> Option<(f64, Vec<(u32, f64)>)> {
    let finite = |t: &str| t.parse::<f64>().ok().filter(|v| v.is_finite() && v.abs() <= 1e100);
    let mut words = line.split([' ', '\t', '\r']).filter(|w| !w.is_empty());
    let label = finite(words.next().filter(|w| !w.starts_with('#'))?)?;
    let mut row = std::collections::BTreeMap::new();
    for word in words {
        if word.starts_with('#') {
            break;
        }
        let (index, value) = word.split_once(':')?;
        let digits = index.bytes().all(|b| b.is_ascii_digit()).then_some(index)?;
        let index = digits.parse::<u32>().ok().filter(|&j| j <= Space::LARGEST_ID)?;
        if row.insert(index, finite(value)?).is_some() {
            return None;
        }
    }
    Some((label, row.into_iter().filter(|&(_, v)| v != 0.0).collect()))
}

type Twin = ((Option<f64>, f64), Vec<(u32, f64)>);

/// Vowpal Wabbit's text likewise.
fn naive_vw(line: &str) -> Option<Twin> {
    use parsimon_data::hash;
    let finite = |t: &str| t.parse::<f64>().ok().filter(|v| v.is_finite() && v.abs() <= 1e100);
    let blank = [' ', '\t', '\r'];
    let mut parts = line.split('|');
    let before = parts.next()?;
    let mut words: Vec<&str> = before.split(blank).filter(|w| !w.is_empty()).collect();
    let touching = !before.ends_with(blank);
    if words.last().is_some_and(|w| touching || w.starts_with('\'')) {
        words.pop();
    }
    let label = words.first().map(|w| finite(w)).map_or(Some(None), |y| y.map(Some))?;
    let weight = words.get(1).map_or(Some(1.0), |w| finite(w).filter(|&v| v >= 0.0))?;
    words.get(2).map_or(Some(0.0), |w| finite(w))?;
    if words.len() > 3 {
        return None;
    }
    let mut row = Vec::new();
    let mut bars = 0;
    for part in parts {
        bars += 1;
        let (head, rest) = part.split_once(blank).unwrap_or((part, ""));
        let (namespace, scale) = head.split_once(':').unwrap_or((head, "1"));
        let (scale, seed) = (finite(scale)?, hash::namespace(namespace.as_bytes()));
        for word in rest.split(blank).filter(|w| !w.is_empty()) {
            let (name, value) = word.split_once(':').unwrap_or((word, "1"));
            let value = Some(finite(value)? * scale).filter(|v| v.abs() <= 1e100)?;
            if name.is_empty() {
                return None;
            }
            row.push((hash::slot(hash::feature(seed, name.as_bytes()), 31), value));
        }
    }
    if bars == 0 {
        return None;
    }
    // Stable, so that repeated features add up in the order they stand in.
    row.sort_by_key(|&(slot, _)| slot);
    let mut sums: Vec<(u32, f64)> = Vec::new();
    for (slot, value) in row {
        match sums.last_mut() {
            Some(last) if last.0 == slot => last.1 += value,
            _ => sums.push((slot, value)),
        }
    }
    sums.retain(|&(_, v)| v != 0.0);
    Some(((label, weight), sums))
}

#[test]
fn many_blocks_and_threads_give_the_same_rows_names_and_errors() {
    let mut text = String::new();
    for i in 0..60_000_u32 {
        let h = i.wrapping_mul(2_654_435_761);
        writeln!(
            text,
            "{} |u id{} age:0.{} |a w{}",
            2 * (h >> 31) as i32 - 1,
            h >> 18,
            h & 0xff,
            h % 997
        )
        .unwrap();
        if i == 50_000 {
            text += "1 |a x:oops\n";
        }
    }
    assert!(text.len() > 4 << 18, "several blocks");
    for skip_bad in [0, 1] {
        let options = Options {
            bounds: Bounds { skip_bad, ..Bounds::default() },
            reading: Reading { space: Some(Space::Hashed { bits: 12 }), ..Reading::default() },
            ..Options::default()
        };
        let one = read("x.vw", text.as_bytes(), &options);
        assert_eq!(one.0.rows.len(), if skip_bad == 0 { 50_001 } else { 60_000 });
        for threads in [2, 3, 5] {
            assert!(
                read(
                    "x.vw",
                    text.as_bytes(),
                    &Options { run: Run { threads, ..options.run.clone() }, ..options.clone() }
                ) == one
            );
        }
    }
    let (_, error) = read("x.vw", text.as_bytes(), &Options::default());
    assert_eq!(error.unwrap(), "x.vw:50002:8: \"oops\" is not a number");
}

#[test]
fn several_inputs_are_one_stream() {
    let inputs = [bytes("a.svm", b"1 1:1\n"), bytes("b.svm", b"-1 2:1\n1 3:x\n")];
    for threads in [1, 2] {
        let options = Options::from(Run { threads, ..Run::default() });
        let (all, error) = read_inputs(&inputs, &options);
        assert_eq!(all.labels, [Some(1.0), Some(-1.0)]);
        assert_eq!(error.unwrap(), "b.svm:2:5: \"x\" is not a number");
        let mixed = [bytes("a.svm", b"1 1:1\n"), bytes("b.csv", b"y,a\n1,2\n")];
        let (all, error) = read_inputs(&mixed, &options);
        assert_eq!(all.rows.len(), 1);
        let words = "b.csv: is csv, but a.svm is svmlight: all inputs must be of one format";
        assert_eq!(error.unwrap(), words);
        let columns = [bytes("a.csv", b"y,a,b\n1,2,3\n"), bytes("b.csv", b"y,b,a\n1,2,3\n")];
        assert_eq!(read_inputs(&columns, &options).1, None);
        let ids = Options {
            reading: Reading { space: Some(Space::Ids), ..options.reading.clone() },
            ..options.clone()
        };
        assert_eq!(read_inputs(&columns, &ids).1.unwrap(), "b.csv: has other columns than a.csv");
        let second_empty = [bytes("a.svm", b"1 1:1\n"), bytes("b.svm", b"")];
        assert_eq!(read_inputs(&second_empty, &options).1.unwrap(), "b.svm: is empty: no rows");
    }
}

#[test]
fn a_truncated_gzip_gives_its_rows_and_then_an_error() {
    let text: String = (0..30_000).fold(String::new(), |mut text, i| {
        writeln!(text, "1 {i}:0.{i} {}:1", i + 40_000).unwrap();
        text
    });
    let packed = gzip(text.as_bytes());
    for threads in [1, 2] {
        let options = Options::from(Run { threads, ..Run::default() });
        let (all, error) = read("x.svm", &packed[..packed.len() / 2], &options);
        assert!(all.rows.len() > 1000 && all.rows.len() < 30_000);
        let error = error.unwrap();
        assert!(error.starts_with("x.svm: cannot read: "), "{error}");
    }
}

#[test]
fn a_reader_may_move_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<parsimon_data::Reader>();
    is_send::<parsimon_data::cache::Writer>();
}

#[test]
fn a_reader_may_be_dropped_at_any_time() {
    let text = "1 1:1 2:2\n".repeat(200_000);
    for threads in [1, 2, 3] {
        let options = Options::from(Run { threads, ..Run::default() });
        let mut reader =
            parsimon_data::Reader::open(&[bytes("x.svm", text.as_bytes())], &options).unwrap();
        let mut chunk = parsimon_core::Chunk::new();
        assert!(reader.read(&mut chunk).unwrap());
        let position = reader.position();
        assert_eq!(position.rows, chunk.len() as u64);
        assert_eq!(position.total, Some(text.len() as u64));
        assert!(position.bytes > 0 && position.bytes < text.len() as u64);
    }
}
