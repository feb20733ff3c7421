//! Round trips, and every way to break a file.

use parsimon_core::Chunk;
use proptest::prelude::*;

use super::Writer;
use crate::testing::{Rows, error, read, rows};
use crate::{Bounds, Format, Input, Labels, Options, Reader, Reading, Space};

fn anything() -> Options {
    Options::from(Reading { labels: Labels::Any, ..Reading::default() })
}

/// The cache of some text.
fn cached(text: &[u8], format: Format, space: Option<Space>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.psc");
    let options = Options {
        reading: Reading { format: Some(format), space, ..anything().reading },
        ..anything()
    };
    let input = Input::Bytes { name: "x".into(), bytes: text.to_vec() };
    let mut reader = Reader::open(&[input], &options).unwrap();
    let mut writer = Writer::create(&path, reader.space()).unwrap();
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk).unwrap() {
        writer.write(&chunk).unwrap();
    }
    writer.names(reader.names());
    writer.label_texts(reader.label_texts());
    assert_eq!(writer.finish().unwrap(), reader.position().rows);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    std::fs::read(&path).unwrap()
}

const VW: &[u8] = b"1 2.5 'tag|a x:0.1 y |b z:-3 w:0.5\nspam | a\n| b c:1e-30\n-7.25 | x\n300 |\n";

fn direct(options: &Options) -> Rows {
    rows(
        VW,
        &Options {
            reading: Reading { format: Some(Format::Vw), ..options.reading.clone() },
            ..options.clone()
        },
    )
    .unwrap()
}

#[test]
fn a_cache_gives_back_what_was_read() {
    let bytes = cached(VW, Format::Vw, None);
    assert_eq!(rows(&bytes, &anything()).unwrap(), direct(&anything()));
    let classes = ["spam", "1", "-7.25", "300"].map(str::to_owned).to_vec();
    let options = Options::from(Reading { labels: Labels::Classes(classes), ..Reading::default() });
    assert_eq!(rows(&bytes, &options).unwrap(), direct(&options));
    let optional = Options::from(Reading {
        labels: Labels::Optional(Box::new(Labels::Real)),
        ..Reading::default()
    });
    assert_eq!(rows(&bytes, &optional).unwrap(), direct(&optional));
    let skipping = Options {
        reading: Reading { labels: Labels::Real, ..Reading::default() },
        bounds: Bounds { skip_bad: 1, ..Bounds::default() },
        ..Options::default()
    };
    let all = rows(&bytes, &skipping).unwrap();
    assert_eq!(all.rows, direct(&skipping).rows);
    assert_eq!(all.skipped, ["x:2: label \"spam\" is not a number"]);
}

#[test]
fn a_cache_is_of_one_space() {
    let bytes = cached(b"1 3:1 4294967294:2\n", Format::Svmlight, None);
    let all = rows(&bytes, &Options::default()).unwrap();
    assert_eq!((all.rows[0].len(), all.largest), (2, 4_294_967_294));
    let hashed =
        Options::from(Reading { space: Some(Space::Hashed { bits: 20 }), ..Reading::default() });
    assert_eq!(
        error(&bytes, &hashed),
        "x: was recorded with features ids, not hashed into 2^20 slots"
    );
    let interactions = vec![vec!["a".into(), "b".into()]];
    assert_eq!(
        error(&bytes, &Options::from(Reading { interactions, ..Reading::default() })),
        "interactions are made when a cache is written, not when it is read"
    );
}

#[test]
fn a_file_without_its_end_is_refused() {
    let bytes = cached(VW, Format::Vw, None);
    let forced = Options {
        reading: Reading { format: Some(Format::Cache), ..anything().reading },
        ..anything()
    };
    for cut in 1..bytes.len() {
        let words = error(&bytes[..cut], &forced);
        assert!(
            words.contains("is cut short") || words.contains("is not a cache"),
            "{cut}: {words}"
        );
    }
    for version in [0, 2, 9] {
        let mut other = bytes.clone();
        other[7] = version;
        let words = format!(
            "x: is a cache of version {version}, and this program reads version 1; \
             make the cache again from its source"
        );
        assert_eq!(error(&other, &forced), words);
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = cached(VW, Format::Vw, None);
    let forced = Options {
        reading: Reading { format: Some(Format::Cache), ..anything().reading },
        bounds: Bounds { skip_bad: 100, ..anything().bounds },
        ..anything()
    };
    for at in 0..bytes.len() {
        for bit in [1, 0x80] {
            let mut broken = bytes.clone();
            broken[at] ^= bit;
            let words = error(&broken, &forced);
            assert!(words.starts_with("x: is "), "byte {at}: {words}");
        }
    }
}

#[test]
fn an_unfinished_cache_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(folder.path().join("x.psc"), Space::Ids).unwrap();
    writer.write(&Chunk::new()).unwrap();
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let refused = Writer::create(folder.path().join("no/such/x.psc"), Space::Ids);
    assert!(refused.is_err_and(|e| e.is_io()));
}

proptest! {
    #[test]
    fn forged_payloads_never_panic(payload in proptest::collection::vec(any::<u8>(), 2..80), n in 1_u64..9) {
        // A block with an honest checksum over rubbish, in an otherwise good file.
        let good = cached(b"1 |\n", Format::Vw, None);
        let mut bytes = good[..24].to_vec();
        for number in [payload.len() as u64, n, parsimon_files::checksum(&payload)] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(&payload);
        let offset = bytes.len() as u64;
        bytes.extend([0, 0, 0]);
        let mut footer = super::FOOTER_MAGIC.to_vec();
        for number in [offset, 3, parsimon_files::checksum(&[0, 0, 0]), n] {
            footer.extend(number.to_le_bytes());
        }
        footer.extend(parsimon_files::checksum(&footer).to_le_bytes());
        bytes.extend(footer);
        let _ = read(&bytes, &anything());
    }
}
