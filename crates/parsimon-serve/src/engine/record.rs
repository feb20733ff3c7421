//! Contents of log records.
//!
//! Rows are kept as they came, so that replaying reads them with the readers that accepted them. A record of rows is
//!
//! ```text
//! byte 0     the format of the text
//! byte 1     where the rows come from
//! bytes 2..4 the length of the request's key, little endian
//! ...        the key and, if any, the hash of what the request had, in 8 bytes
//! ...        the text
//! ```

use parsimon::InputSchema;
use parsimon::data::Format;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::id_table::AsideRow;

/// Kinds of records.
pub(crate) mod kind {
    /// The first record: what the model is. See [`Start`](super::Start).
    pub(crate) const START: u8 = 1;
    /// Labelled rows, to be learned.
    pub(crate) const LEARN: u8 = 2;
    /// Rows that were scored and wait for their labels.
    pub(crate) const PENDING: u8 = 3;
    /// Rows that waited too long are forgotten. See [`Forget`](super::Forget).
    pub(crate) const FORGET: u8 = 4;
    /// Records of rows are not learned until learning is resumed. See [`Pause`](super::Pause).
    pub(crate) const PAUSE: u8 = 5;
    /// Learning continues. See [`Resume`](super::Resume).
    pub(crate) const RESUME: u8 = 6;
    /// A shadow takes the place of the model. See [`Promote`](super::Promote).
    pub(crate) const PROMOTE: u8 = 7;
    /// Rows cannot be learned and do not wait any longer. See [`SetAside`](super::SetAside).
    pub(crate) const SET_ASIDE: u8 = 8;
    /// The oldest waiting rows leave a table that is full. See [`Evict`](super::Evict).
    pub(crate) const EVICT: u8 = 9;
    /// The kinds of columns are known, and the rows before are learned with them. See [`Settle`](super::Settle).
    pub(crate) const SETTLE: u8 = 10;
    /// Changes nothing. A leader and its follower compare their states after it.
    pub(crate) const MARK: u8 = 11;
}

/// Description of a model: everything that learning depends on besides the rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) settings: Map<String, Value>,
    pub(crate) precision: String,
    pub(crate) bias: bool,
    pub(crate) schema: InputSchema,
    /// The checksum of the checkpoint that learning continues from. The checkpoint is the first snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checkpoint: Option<String>,
    /// The program that started the log.
    pub(crate) version: String,
    /// Source of the kinds of columns.
    #[serde(default, skip_serializing_if = "KindsFrom::is_start")]
    pub(crate) kinds: KindsFrom,
    /// The record that settled the kinds of columns. The record itself does not have its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settled: Option<u64>,
}

impl Start {
    /// Whether rows are collected until the kinds of their columns are known.
    pub(crate) fn is_warming(&self) -> bool {
        self.kinds == KindsFrom::Warming
    }
}

/// Source of the kinds of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindsFrom {
    /// From a schema or a checkpoint; or each cell is understood on its own.
    #[default]
    Start,
    /// From the first rows, which are still collected.
    Warming,
    /// From the first rows. A record has what they show.
    Rows,
}

impl KindsFrom {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_start(&self) -> bool {
        *self == Self::Start
    }
}

/// The kinds of columns, as the rows before this record show them. The model begins anew and learns these rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Settle {
    pub(crate) start: Start,
}

/// Rows scored up to a log time no longer wait for labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Forget {
    /// The log time in milliseconds.
    pub(crate) until: u64,
}

/// The oldest waiting rows no longer wait for labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Evict {
    /// The number of rows.
    pub(crate) oldest: u64,
}

/// Rows that cannot be learned with the labels that came, or with the default label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SetAside {
    pub(crate) rows: Vec<AsideRow>,
}

/// Learning is paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    /// Why.
    pub(crate) reason: String,
}

/// Learning has been paused since a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Paused {
    /// The record that paused it.
    pub(crate) since: u64,
    /// Why.
    pub(crate) reason: String,
}

/// Treatment of rows that were logged while learning was paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backlog {
    /// They are learned now.
    Learn,
    /// They are never learned. Their ids stay known.
    Skip,
}

/// Learning continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Resume {
    pub(crate) backlog: Backlog,
}

/// A shadow takes the place of the model: other settings, which learned the same records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Promote {
    /// The name of the shadow.
    pub(crate) shadow: String,
    /// New description of the model.
    pub(crate) start: Start,
    /// The record after which the shadow began, with nothing learned.
    pub(crate) after: u64,
}

/// Origin of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Origin: a request that learns rows with their labels, or a request that scores them.
    Sent,
    /// They waited, and a request had their labels.
    Labelled,
    /// Their window has ended, and they have the default label.
    Expired,
}

/// Rows, as a record holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoggedRows<'a> {
    pub(crate) format: Format,
    pub(crate) origin: Origin,
    /// Key of the request; empty if there is none.
    pub(crate) key: &'a [u8],
    /// The hash of all rows of the request, including known rows, which are left out here. 0 without a key.
    pub(crate) content: u64,
    pub(crate) text: &'a [u8],
}

/// The formats by their number in records. Numbers never change.
const FORMATS: [(u8, Format); 5] = [
    (1, Format::Svmlight),
    (2, Format::Vw),
    (3, Format::Csv),
    (4, Format::Tsv),
    (5, Format::Jsonl),
];

/// The longest key of a request.
pub(crate) const LONGEST_KEY: usize = 1024;

impl<'a> LoggedRows<'a> {
    /// Replaces what is in `out` by the bytes of a record.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let format = FORMATS.iter().find(|(_, format)| *format == self.format);
        let key = &self.key[..self.key.len().min(LONGEST_KEY)];
        out.clear();
        out.reserve(4 + key.len() + self.text.len());
        out.push(format.map_or(0, |(code, _)| *code));
        out.push(self.origin as u8);
        out.extend_from_slice(&(key.len() as u16).to_le_bytes());
        if !key.is_empty() {
            out.extend_from_slice(key);
            out.extend_from_slice(&self.content.to_le_bytes());
        }
        out.extend_from_slice(self.text);
    }

    /// Number of rows, not counting records of tables that have line breaks in cells.
    pub(crate) fn count(&self) -> u64 {
        let lines = self.text.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let header = matches!(self.format, Format::Csv | Format::Tsv);
        (lines.count() as u64).saturating_sub(header.into())
    }

    /// Reads the bytes of a record; `None` if they are not one.
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let (&[code, origin, low, high], rest) = bytes.split_first_chunk::<4>()?;
        let format = FORMATS.iter().find(|(known, _)| *known == code)?.1;
        let origin = match origin {
            0 => Origin::Sent,
            1 => Origin::Labelled,
            2 => Origin::Expired,
            _ => return None,
        };
        let (key, text) = rest.split_at_checked(usize::from(u16::from_le_bytes([low, high])))?;
        let (content, text) = match key {
            [] => (0, text),
            _ => {
                let (content, text) = text.split_first_chunk::<8>()?;
                (u64::from_le_bytes(*content), text)
            }
        };
        Some(Self { format, origin, key, content, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back() {
        let mut bytes = Vec::new();
        for (_, format) in FORMATS {
            for origin in [Origin::Sent, Origin::Labelled, Origin::Expired] {
                let rows = LoggedRows { format, origin, key: b"k7", content: 9, text: b"1 |a b\n" };
                rows.encode(&mut bytes);
                assert_eq!(LoggedRows::decode(&bytes), Some(rows));
            }
        }
        let bare = LoggedRows {
            format: Format::Vw,
            origin: Origin::Sent,
            key: b"",
            content: 0,
            text: b"x",
        };
        bare.encode(&mut bytes);
        assert_eq!(LoggedRows::decode(&bytes), Some(bare));
        for cut in 0..4 {
            assert_eq!(LoggedRows::decode(&bytes[..cut]), None);
        }
        assert_eq!(LoggedRows::decode(b"\x09\0\0\0x"), None);
        assert_eq!(LoggedRows::decode(b"\x01\x07\0\0x"), None);
    }
}
