//! What a program can read from an error: its kind, the file, the place, the token.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::ErrorKind;
use std::path::Path;

use parsimon_core::Chunk;
use parsimon_data::{DataError, DataErrorKind, Format, Input, Options, Reader, Reading};

fn error_of(inputs: &[Input], options: &Options) -> DataError {
    let read = |mut reader: Reader| {
        let mut chunk = Chunk::new();
        while reader.read(&mut chunk)? {}
        Ok(())
    };
    Reader::open(inputs, options).and_then(read).unwrap_err()
}

fn error_in(format: Format, text: &str) -> DataError {
    let input = Input::Bytes { name: "x".into(), bytes: text.as_bytes().to_vec() };
    error_of(&[input], &Options::from(Reading { format: Some(format), ..Reading::default() }))
}

#[test]
fn every_kind_of_bad_row_can_be_told() {
    use DataErrorKind::{Index, Label, Malformed, Number};
    for (format, text, kind, token, field) in [
        (Format::Svmlight, "1 3:x\n", Number, Some("x"), None),
        (Format::Svmlight, "1 3\n", Malformed, Some("3"), None),
        (Format::Svmlight, "1 a:1\n", Index, Some("a"), None),
        (Format::Svmlight, "1 3:1 3:2\n", Index, Some("3"), None),
        (Format::Svmlight, "7 3:1\n", Label, Some("7"), None),
        (Format::Svmlight, "3:1\n", Label, Some("3:1"), None),
        (Format::Vw, "1 2 3 4 5 | a\n", Malformed, Some("5"), None),
        (Format::Vw, "1 | a:1e999\n", Number, Some("1e999"), None),
        (Format::Csv, "y,age\n1,nan\n", Number, Some("nan"), Some("age")),
        (Format::Csv, "y,age\nmaybe,1\n", Label, Some("maybe"), Some("y")),
        (Format::Csv, "y,age\n,1\n", Label, None, Some("y")),
        (Format::Csv, "y,importance\n1,-3\n", Number, Some("-3"), Some("importance")),
        (Format::Csv, "y,age\n1\n", Malformed, None, Some("age")),
        (Format::Csv, "y,age\n1,2,3\n", Malformed, Some("3"), None),
        (Format::Jsonl, "{\"label\": 1, \"a\": 1e200}\n", Number, Some("1e+200"), Some("a")),
        (Format::Jsonl, "{\"label\": [1]}\n", Label, Some("[1]"), Some("label")),
        (Format::Jsonl, "{\"label\": 1 \"a\"}\n", Malformed, None, None),
    ] {
        let error = error_in(format, text);
        assert_eq!((error.kind(), error.token(), error.field()), (kind, token, field), "{error}");
        assert!(error.is_bad_row() && error.line().is_some() && error.path().is_none(), "{error}");
    }
}

#[test]
fn every_kind_of_bad_file_can_be_told() {
    use DataErrorKind::{Columns, Damaged, Empty};
    for (format, text, kind) in [
        (Format::Svmlight, "", Empty),
        (Format::Svmlight, "\n\n", Empty),
        (Format::Csv, "y,y\n1,2\n", Columns),
        (Format::Cache, "PSCACHE", Damaged),
        (Format::Parquet, "PAR1", Damaged),
    ] {
        let error = error_in(format, text);
        assert_eq!(error.kind(), kind, "{error}");
        assert!(!error.is_bad_row() && error.line().is_none(), "{error}");
    }
    let nothing = error_of(
        &[Input::Bytes { name: "x".into(), bytes: b"hello world\n".into() }],
        &Options::default(),
    );
    assert_eq!(nothing.kind(), DataErrorKind::Format);
    assert_eq!(error_of(&[], &Options::default()).kind(), DataErrorKind::Setting);
}

#[test]
fn a_file_has_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let (good, bad) = (folder.path().join("good.svm"), folder.path().join("bad.svm"));
    std::fs::write(&good, "1 3:1\n").unwrap();
    std::fs::write(&bad, "1 3:1\n-1 2:x\n").unwrap();
    let error = error_of(&[good.clone().into(), bad.clone().into()], &Options::default());
    assert_eq!((error.path(), error.line(), error.column()), (Some(&*bad), Some(2), Some(6)));

    let missing = folder.path().join("missing.svm");
    let error = error_of(&[good.into(), missing.clone().into()], &Options::default());
    assert_eq!(error.kind(), DataErrorKind::Io(ErrorKind::NotFound));
    assert_eq!(error.path(), Some(&*missing));
    assert_eq!(error.io_error().map(std::io::Error::kind), Some(ErrorKind::NotFound));

    let error = error_of(&[Input::Path(folder.path().into())], &Options::default());
    assert_eq!(error.kind(), DataErrorKind::Io(ErrorKind::IsADirectory));
    assert_eq!(error.path(), Some(Path::new(folder.path())));
}
