//! The text formats.

use parsimon::data::{
    Bounds, DataErrorKind as Unknown, Format, Kinds, Labels, Options, Reading, Run, Space,
};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon::settings::Storage;
use parsimon::survey::open_guessing;
use parsimon::{Error, LearnerOptions, Spec, Trainer};

use crate::rows::{self, input};
use crate::{Outcome, learned};

const SMALL: Space = Space::Hashed { bits: 8 };

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) fn svmlight_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "1 3:0.5 9:1 # comment\n-1 4:1 70000:2.5e-3\n\n0 1:1\n",
        "+1 1:1 2:1 3:1 4:1 5:0.25 6:1 7:1 8:1 9:1 10:1 11:-1.5\r\n-1 2:1 12345678:1 4294967294:0.125\n",
        "spam 1:1\nham 2:1\n2 17:3 5:1\n",
        &"1 1:1 10:1 100:1 1000:1 10000:1 100000:1 1000000:1 20000000:1\n".repeat(12),
    ])
}

pub(crate) fn vw_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "1 2 'tag|a:2 b:1 c|d e\n-1 |a b\n",
        "1 0.5 0.25 tag| x:1.5 y z:-2e-3 |name:0.5 w\n| only features\n0 |\n",
        "-1 |a x:1 y:2 |b z\n1 |b z x:0.125 |a y\n",
    ])
}

pub(crate) fn csv_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "label,a,\"b\"\"c\"\n1,2,x\n0,,\"y\nz\"\n",
        "id;price;city;label\n1;2,5;Paris;yes\n2;3,0;Lyon;no\n3;;Nice;yes\n",
        "click,hour,site,words,when,flag\n1,14,007,a b c,2024-01-02 03:04:05,true\n0,15,012,d e f,2024-01-03,false\n1,9,007,,,true\n",
        "1,0.5,x\n0,1.5,y\n1,NA,z\n",
        "\u{feff}y,x1,x2\r\n1,1e3,-4\r\n0,0.1,5\r\n",
    ])
}

pub(crate) fn tsv_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "label\ta\tb\n1\t2\tx\n0\t\ty z\n",
        "0\t1\t\t3\tabc\n1\t-2\t5\t\tdef\n",
        "target\tn\tname\nyes\t1\tAnne\nno\t2\tBob\n",
    ])
}

pub(crate) fn jsonl_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "{\"label\":1,\"a\":\"b\",\"n\":2.5,\"list\":[1,\"t\"],\"deep\":{\"x\":1}}\n{\"label\":0,\"a\":null,\"f\":true}\n",
        "{\"label\":1,\"features\":{\"indices\":[1,5],\"values\":[2,0.5]}}\n{\"label\":-1,\"features\":{\"indices\":[3],\"values\":[1]}}\n",
        "{\"id\":\"q\",\"label\":\"yes\",\"weight\":2,\"\\u00e9\\ud83d\\ude00\":\"\\n\"}\n{\"label\":\"no\",\"x\":1e-5}\n",
    ])
}

pub(crate) fn any_seeds() -> Vec<Vec<u8>> {
    let utf16 = |text: &str| -> Vec<u8> {
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    let mut all = [svmlight_seeds(), vw_seeds(), csv_seeds(), jsonl_seeds()].concat();
    // Without a name that ends in .csv, semicolons are not recognized.
    all.retain(|seed| seed.len() < 400 && !seed.starts_with(b"id;"));
    all.push(utf16("label,a,b\n1,2,x\n0,3,é\n"));
    all.push(b"label,a\n1,caf\xe9\n0,na\xefve\n".to_vec());
    all
}

pub(crate) fn svmlight(bytes: &[u8]) -> Outcome {
    lines(Format::Svmlight, bytes)
}

pub(crate) fn vw(bytes: &[u8]) -> Outcome {
    lines(Format::Vw, bytes)
}

pub(crate) fn csv(bytes: &[u8]) -> Outcome {
    by_kinds(Some(Format::Csv), bytes);
    lines(Format::Csv, bytes)
}

pub(crate) fn tsv(bytes: &[u8]) -> Outcome {
    by_kinds(Some(Format::Tsv), bytes);
    lines(Format::Tsv, bytes)
}

pub(crate) fn jsonl(bytes: &[u8]) -> Outcome {
    lines(Format::Jsonl, bytes)
}

pub(crate) fn any_format(bytes: &[u8]) -> Outcome {
    by_kinds(None, bytes)
}

/// Reads text in several ways that must agree.
fn lines(format: Format, bytes: &[u8]) -> Outcome {
    let strict =
        Options::from(Reading { format: Some(format), labels: Labels::Any, ..Reading::default() });
    let whole = rows::read(bytes, &strict, |_| {});
    whole.check();
    let small = rows::read(
        bytes,
        &Options { bounds: Bounds { chunk_rows: 2, ..strict.bounds.clone() }, ..strict.clone() },
        |_| {},
    );
    assert_eq!(small, whole, "the size of chunks");
    // Threads cost more than reading.
    if parsimon_files::checksum(bytes).is_multiple_of(16) {
        let threads = Options { run: Run { threads: 2, ..strict.run.clone() }, ..strict.clone() };
        assert_eq!(rows::read(bytes, &threads, |_| {}), whole, "threads");
    }
    hashed(format, bytes, &strict);
    if let Ok(mut parser) = RowParser::new("x", format, &strict) {
        let mut chunks = Vec::new();
        let first =
            parser.parse(bytes, &mut chunks).map(|()| chunks.iter().map(Chunk::len).sum::<usize>());
        let again =
            parser.parse(bytes, &mut chunks).map(|()| chunks.iter().map(Chunk::len).sum::<usize>());
        assert_eq!(
            first.map_err(|e| e.to_string()),
            again.map_err(|e| e.to_string()),
            "parsed twice"
        );
    }
    match (whole.is_open, &whole.error) {
        (false, _) => Outcome::Unrecognized,
        (true, Some(_)) => Outcome::Refused,
        (true, None) => Outcome::Accepted,
    }
}

/// Hashes names into few slots, skips bad rows and learns the others.
fn hashed(format: Format, bytes: &[u8], strict: &Options) {
    let pair = vec![vec!["a".to_owned(), String::new()]];
    let interactions = if format == Format::Vw { pair } else { Vec::new() };
    let options = Options {
        reading: Reading {
            space: Some(SMALL),
            labels: Labels::binary(),
            label_column: matches!(format, Format::Csv | Format::Tsv).then(|| "1".to_owned()),
            interactions,
            ..strict.reading.clone()
        },
        bounds: Bounds { skip_bad: 1000, chunk_rows: 7, ..strict.bounds.clone() },
        ..strict.clone()
    };
    let frame = LearnerOptions { storage: Storage::Slots(256), ..LearnerOptions::default() };
    let mut trainer = learned::trainer(Spec::new("ftrl"), frame);
    let mut has_diverged = false;
    let all = rows::read(bytes, &options, |chunk| {
        has_diverged = has_diverged || learned::learn(&mut trainer, chunk).is_err();
    });
    all.check();
    assert!(all.rows.iter().all(|(_, _, row, ..)| row.iter().all(|(slot, _)| *slot < 256)));
    assert!(has_diverged || learned::is_finite(&trainer), "weights are not finite");
}

/// Finds out format, kinds of columns and task, as the program does, and learns.
fn by_kinds(format: Option<Format>, bytes: &[u8]) -> Outcome {
    let options = Options {
        reading: Reading { format, space: Some(SMALL), kinds: Kinds::Found, ..Reading::default() },
        bounds: Bounds { chunk_rows: 5, ..Bounds::default() },
        ..Options::default()
    };
    let inputs = [input(bytes)];
    let guessed = match open_guessing(
        &Spec::new("sgd").set("normalize", true),
        &inputs[..],
        &options,
    ) {
        Ok(guessed) => guessed,
        Err(error) => {
            let words = error.to_string();
            assert!(!words.is_empty());
            let is_closed = matches!(&error, Error::Data(e) if matches!(e.kind(), Unknown::Format | Unknown::Empty | Unknown::Columns));
            return if is_closed { Outcome::Unrecognized } else { Outcome::Refused };
        }
    };
    let mut opened = guessed.opened;
    let frame = LearnerOptions { storage: opened.schema.storage(), ..LearnerOptions::default() };
    let Ok(mut trainer) = Trainer::new(guessed.settings, frame, opened.schema) else {
        return Outcome::Refused;
    };
    let mut chunk = Chunk::new();
    loop {
        match opened.reader.read(&mut chunk) {
            Ok(false) => break,
            Err(_) => return Outcome::Refused,
            Ok(true) => {
                if learned::learn(&mut trainer, &chunk).is_err() {
                    return Outcome::Refused;
                }
            }
        }
    }
    assert!(learned::is_finite(&trainer), "weights are not finite");
    learned::check_model(&trainer.model());
    Outcome::Accepted
}
