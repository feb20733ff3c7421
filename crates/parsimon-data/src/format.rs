//! Formats of examples.

use std::fmt;
use std::str::FromStr;

use crate::Space;

/// A format of examples.
///
/// ```
/// use parsimon_data::Format;
///
/// assert_eq!("libsvm".parse(), Ok(Format::Svmlight));
/// assert_eq!(Format::Jsonl.to_string(), "jsonl");
/// assert_eq!(
///     "xml".parse::<Format>().unwrap_err(),
///     "unknown format \"xml\": svmlight, vw, csv, tsv, jsonl, parquet, arrow or cache"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// `label index:value ...`, also known as libsvm and libfm.
    Svmlight,
    /// Vowpal Wabbit's text: `label importance 'tag|namespace feature:value ...`.
    Vw,
    /// Comma-separated values, RFC 4180.
    Csv,
    /// Tab-separated values, without quotes.
    Tsv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, file or stream.
    Arrow,
    /// This project's own binary cache.
    Cache,
}

impl Format {
    /// Every format with its name.
    pub const ALL: [(Format, &'static str); 8] = [
        (Format::Svmlight, "svmlight"),
        (Format::Vw, "vw"),
        (Format::Csv, "csv"),
        (Format::Tsv, "tsv"),
        (Format::Jsonl, "jsonl"),
        (Format::Parquet, "parquet"),
        (Format::Arrow, "arrow"),
        (Format::Cache, "cache"),
    ];

    /// The feature space of a format when none is asked for.
    ///
    /// A cache stores its own value, and this option is not used.
    pub fn default_space(self) -> Space {
        match self {
            Format::Svmlight | Format::Cache => Space::Ids,
            _ => Space::Hashed { bits: Space::DEFAULT_BITS },
        }
    }

    /// Whether rows are lines of text that can be cut into blocks.
    pub(crate) fn is_text(self) -> bool {
        !matches!(self, Format::Parquet | Format::Arrow | Format::Cache)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(format, _)| format == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "libsvm" | "libfm" | "svm" => Ok(Format::Svmlight),
            "json" | "ndjson" => Ok(Format::Jsonl),
            "ipc" | "feather" => Ok(Format::Arrow),
            _ => Self::ALL.iter().find(|(_, name)| *name == text).map(|&(format, _)| format).ok_or_else(|| {
                format!("unknown format {text:?}: svmlight, vw, csv, tsv, jsonl, parquet, arrow or cache")
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_formats_round_trip() {
        for (format, name) in Format::ALL {
            assert_eq!(name.parse(), Ok(format));
            assert_eq!(format.to_string(), name);
        }
        assert_eq!("ndjson".parse(), Ok(Format::Jsonl));
    }
}
