//! Which format is it? The name's ending tells, else the first bytes do.

use std::path::Path;

use memchr::memchr;

use crate::remedy::{Message, Remedy, Setting};
use crate::{Format, foreign, number};

/// The first bytes of a cache, the last of which is its version.
pub(crate) const CACHE_MAGIC: &[u8; 8] = b"PARSIMC\x01";

/// The format a file's name promises, looking through a compression's ending.
pub(crate) fn by_name(name: &str) -> Option<Format> {
    let mut path = Path::new(name);
    if path.extension().is_some_and(|e| ["gz", "zst", "zstd", "bz2"].iter().any(|c| e == *c)) {
        path = Path::new(path.file_stem()?);
    }
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "svm" | "svmlight" | "libsvm" | "libfm" => Some(Format::Svmlight),
        "vw" => Some(Format::Vw),
        "csv" => Some(Format::Csv),
        "tsv" => Some(Format::Tsv),
        "json" | "jsonl" | "ndjson" => Some(Format::Jsonl),
        "parquet" => Some(Format::Parquet),
        "arrow" | "feather" | "ipc" | "arrows" => Some(Format::Arrow),
        "psc" => Some(Format::Cache),
        _ => None,
    }
}

/// The format the first bytes look like, or what they look like instead.
///
/// `head` is the start of the decompressed bytes, not empty.
pub(crate) fn by_bytes(head: &[u8]) -> Result<Format, Message> {
    for (magic, format) in [
        (&b"PAR1"[..], Format::Parquet),
        (b"ARROW1", Format::Arrow),
        (b"\xff\xff\xff\xff", Format::Arrow),
        (&CACHE_MAGIC[..7], Format::Cache),
    ] {
        if head.starts_with(magic) {
            return Ok(format);
        }
    }
    if foreign::is_binary(head) {
        return Err("is a binary file of an unknown format; the formats are svmlight, vw, csv, tsv, json, parquet, arrow and cache".into());
    }
    let lines = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let Some(line) = lines.into_iter().find(|l| !l.is_empty() && l[0] != b'#') else {
        return Err(
            Message::new("has no rows in its first lines").or(Remedy::Pass(Setting::Format, None))
        );
    };
    if matches!(line[0], b'{' | b'[') {
        return Ok(Format::Jsonl);
    }
    if memchr(b'|', line).is_some() {
        return Ok(Format::Vw);
    }
    if is_svmlight(line) {
        return Ok(Format::Svmlight);
    }
    if memchr(b'\t', line).is_some() {
        return Ok(Format::Tsv);
    }
    if memchr(b',', line).is_some() {
        return Ok(Format::Csv);
    }
    Err(Message::new("is of no format that its first line shows").or(Remedy::NameFormat))
}

/// `label index:value ...`, or one number alone: a row without features.
fn is_svmlight(line: &[u8]) -> bool {
    let mut tokens = line.split(|&b| b == b' ' || b == b'\t').filter(|t| !t.is_empty());
    let first = tokens.next().unwrap_or_default();
    let pair = |token: &[u8]| {
        let mut parts = token.splitn(2, |&b| b == b':');
        let (index, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        (index == b"qid" || (!index.is_empty() && index.iter().all(u8::is_ascii_digit)))
            && number::whole(value).is_some()
    };
    match tokens.next() {
        Some(second) => second[0] == b'#' || pair(second),
        None => number::whole(first).is_some() || pair(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_through_compression() {
        assert_eq!(by_name("a/b.svm"), Some(Format::Svmlight));
        assert_eq!(by_name("a/b.CSV.gz"), Some(Format::Csv));
        assert_eq!(by_name("b.vw.zst"), Some(Format::Vw));
        assert_eq!(by_name("b.parquet"), Some(Format::Parquet));
        for name in ["a9a.gz", "a9a", "a9a.t", "x.dat", "svm", ".gz", ""] {
            assert_eq!(by_name(name), None, "{name}");
        }
    }

    #[test]
    fn first_bytes_tell() {
        for (head, format) in [
            (&b"-1 |f 9:6.2e-02"[..], Format::Vw),
            (b"| a b\n", Format::Vw),
            (b"{\"label\": 1", Format::Jsonl),
            (b"[\n {\"label\": 1", Format::Jsonl),
            (b"# made by x\n\n+1 3:1 7:2.5\n", Format::Svmlight),
            (b"spam qid:3 3:1", Format::Svmlight),
            (b"1\n-1 3:1\n", Format::Svmlight),
            (b"0\t1\t\t68fd1e64\n", Format::Tsv),
            (b"id,click,hour\n", Format::Csv),
            (b"PAR1....", Format::Parquet),
            (b"ARROW1\0\0", Format::Arrow),
            (b"\xff\xff\xff\xff\x10", Format::Arrow),
        ] {
            assert_eq!(by_bytes(head), Ok(format), "{}", String::from_utf8_lossy(head));
        }
    }

    #[test]
    fn rubbish_is_no_format() {
        assert_eq!(
            by_bytes(b"\x00\x01\x02").unwrap_err().to_string(),
            "is a binary file of an unknown format; the formats are svmlight, vw, csv, tsv, json, parquet, arrow and cache"
        );
        assert_eq!(
            by_bytes(b"hello world\n").unwrap_err().to_string(),
            "is of no format that its first line shows; pass format svmlight, vw, csv, tsv or json"
        );
        assert_eq!(
            by_bytes(b"\n\n").unwrap_err().to_string(),
            "has no rows in its first lines; pass format"
        );
    }
}
