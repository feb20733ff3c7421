//! Rows to payloads and back.

use parsimon_core::{Chunk, Repeats};
use xxhash_rust::xxh3::xxh3_64;

use super::{BlockHead, Contents, put_varint, take, take_u64, take_varint};
use crate::Space;
use crate::builder::Builder;
use crate::error::{Bad, DataError};
use crate::label::{Found, is_code};

const F32: u8 = 1;
const F64: u8 = 2;
const LABEL: u8 = 4;
const SMALL_LABEL: u8 = 8;
const WEIGHT: u8 = 16;
const TAG: u8 = 32;

/// Appends the rows of a chunk.
pub(super) fn encode(out: &mut Vec<u8>, chunk: &Chunk) {
    for i in 0..chunk.len() {
        let (row, label, weight, tag) =
            (chunk.row(i), chunk.label(i), chunk.weight(i), chunk.tag(i));
        let mut flags = 0;
        if !row.values().iter().all(|&v| v == 1.0) {
            let fits = row.values().iter().all(|&v| f64::from(v as f32).to_bits() == v.to_bits());
            flags |= if fits { F32 } else { F64 };
        }
        let small = label.filter(|y| f64::from(*y as i8).to_bits() == y.to_bits());
        flags |= if label.is_some() { LABEL } else { 0 };
        flags |= if small.is_some() { SMALL_LABEL } else { 0 };
        flags |= if weight == 1.0 { 0 } else { WEIGHT };
        flags |= if tag.is_empty() { 0 } else { TAG };
        out.push(flags);
        match (small, label) {
            (Some(y), _) => out.push((y as i8).cast_unsigned()),
            (None, Some(y)) => out.extend_from_slice(&y.to_le_bytes()),
            (None, None) => {}
        }
        if flags & WEIGHT != 0 {
            out.extend_from_slice(&weight.to_le_bytes());
        }
        if flags & TAG != 0 {
            put_varint(out, tag.len() as u64);
            out.extend_from_slice(tag);
        }
        put_varint(out, row.len() as u64);
        let mut next = 0;
        for &j in row.indices() {
            put_varint(out, u64::from(j) - next);
            next = u64::from(j) + 1;
        }
        match flags & 3 {
            F32 => row.values().iter().for_each(|&v| out.extend((v as f32).to_le_bytes())),
            F64 => row.values().iter().for_each(|&v| out.extend(v.to_le_bytes())),
            _ => {}
        }
    }
}

/// Checks a block and builds its rows; damage is a failure of the file, not of a row.
pub(crate) fn decode(
    builder: &mut Builder,
    payload: &[u8],
    block: &BlockHead,
    contents: &Contents,
) -> Result<(), DataError> {
    let damaged = |words: &str| {
        let at = block.offset;
        DataError::file(&contents.name, format!("is damaged: the block at byte {at} {words}"))
    };
    if xxh3_64(payload) != block.checksum {
        return Err(damaged("does not match its checksum"));
    }
    let mut payload = payload;
    for line in 1..=block.rows {
        match decode_row(builder, &mut payload, contents) {
            Ok(Some(())) => {}
            Ok(None) => return Err(damaged("does not hold its rows")),
            Err(bad) => {
                if !builder.refuse(line, bad) {
                    builder.out.lines += block.rows;
                    return Ok(());
                }
            }
        }
    }
    if !payload.is_empty() {
        return Err(damaged("is longer than its rows"));
    }
    builder.out.lines += block.rows;
    Ok(())
}

/// One row. `None`: the bytes are not a row; an error: a row that may be skipped.
///
/// INVARIANT: the whole row is taken off `payload` before it is judged, so that one can be skipped.
fn decode_row(
    builder: &mut Builder,
    payload: &mut &[u8],
    contents: &Contents,
) -> Result<Option<()>, Bad> {
    let Some(row) = RawRow::take(payload) else { return Ok(None) };
    let max = builder.spec.max_value;
    let label = match row.label {
        None => None,
        Some(code) if is_code(code) => match contents.labels.text(code) {
            Some(text) => builder.label(Found::Text(text.as_bytes()), 0)?,
            None => return Ok(None),
        },
        Some(y) => builder.label(Found::Number(y), 0)?,
    };
    if !builder.spec.labels_only {
        let largest = match contents.space {
            Space::Ids => u64::from(Space::LARGEST_ID),
            Space::Hashed { bits } => (1 << bits) - 1,
        };
        let mut indices = row.indices;
        let mut next = 0_u64;
        for i in 0..row.len {
            let Some(delta) = take_varint(&mut indices) else { return Ok(None) };
            let j = next.saturating_add(delta);
            if j > largest {
                return Ok(None);
            }
            next = j + 1;
            let v = row.values.get(i);
            if v.abs() > max {
                let token = v.to_string();
                return Err(crate::number::too_large(token.as_bytes(), 0, max));
            }
            builder.push_id(j as u32, v);
        }
    }
    // Not finite, or a weight below zero: the writer never wrote that.
    if builder.finish_tagged(label, row.weight, Repeats::Refuse, row.tag).is_err() {
        return Ok(None);
    }
    Ok(Some(()))
}

struct RawRow<'a> {
    label: Option<f64>,
    weight: f64,
    tag: &'a [u8],
    len: usize,
    indices: &'a [u8],
    values: Values<'a>,
}

#[derive(Clone, Copy)]
enum Values<'a> {
    Ones,
    F32(&'a [u8]),
    F64(&'a [u8]),
}

impl Values<'_> {
    #[inline]
    fn get(self, i: usize) -> f64 {
        match self {
            Values::Ones => 1.0,
            Values::F32(bytes) => {
                let word = bytes[4 * i..4 * i + 4].try_into().unwrap_or_default();
                f64::from(f32::from_le_bytes(word))
            }
            Values::F64(bytes) => {
                f64::from_le_bytes(bytes[8 * i..8 * i + 8].try_into().unwrap_or_default())
            }
        }
    }
}

impl<'a> RawRow<'a> {
    fn take(payload: &mut &'a [u8]) -> Option<Self> {
        let flags = take(payload, 1)?[0];
        let label = match flags & (LABEL | SMALL_LABEL) {
            0 => None,
            LABEL => Some(f64::from_bits(take_u64(payload)?)).filter(|y| y.is_finite()),
            _ => Some(f64::from(take(payload, 1)?[0].cast_signed())),
        };
        let weight = if flags & WEIGHT == 0 { 1.0 } else { f64::from_bits(take_u64(payload)?) };
        let tag = if flags & TAG == 0 {
            &[]
        } else {
            let len = take_varint(payload)?;
            take(payload, usize::try_from(len).ok()?)?
        };
        let len = usize::try_from(take_varint(payload)?).ok()?;
        // Every index takes a byte or more: a forged count ends here.
        if len > payload.len() {
            return None;
        }
        let mut left = len;
        let mut used = 0;
        while left > 0 {
            left -= usize::from(*payload.get(used)? < 0x80);
            used += 1;
        }
        let indices = take(payload, used)?;
        let values = match flags & 3 {
            0 => Values::Ones,
            F32 => Values::F32(take(payload, len.checked_mul(4)?)?),
            F64 => Values::F64(take(payload, len.checked_mul(8)?)?),
            _ => return None,
        };
        Some(Self { label, weight, tag, len, indices, values })
    }
}
