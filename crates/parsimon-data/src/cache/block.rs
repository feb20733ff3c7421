//! Rows to payloads and back.

use parsimon_core::{Chunk, Repeats};
use parsimon_files::checksum;

use super::{BlockHead, Contents, put_varint, take, take_u64, take_varint};
use crate::builder::Builder;
use crate::error::{Bad, DataError};
use crate::label::{Found, is_code};
use crate::{Space, hash};

const F32: u8 = 1;
const F64: u8 = 2;
const LABEL: u8 = 4;
const SMALL_LABEL: u8 = 8;
const WEIGHT: u8 = 16;
const TAG: u8 = 32;
const NUMBERS: u8 = 64;

/// Appends the rows of a chunk; `places` are the places of the table's number columns among those of the chunk.
pub(super) fn encode(out: &mut Vec<u8>, chunk: &Chunk, places: &[Option<usize>]) {
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
        let cells = chunk.numbers(i);
        let number = |place: &Option<usize>| {
            let cell = place.and_then(|place| cells.get(place).copied());
            cell.filter(|cell| !cell.is_nan())
        };
        flags |= if places.iter().any(|place| number(place).is_some()) { NUMBERS } else { 0 };
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
        row.indices().iter().for_each(|j| out.extend(j.to_le_bytes()));
        if flags & 3 != 0 {
            let mark = |eight: &[f64]| {
                let bit = |(k, v): (usize, &f64)| u8::from(*v != 1.0) << k;
                eight.iter().enumerate().map(bit).sum::<u8>()
            };
            out.extend(row.values().chunks(8).map(mark));
        }
        let others = row.values().iter().filter(|v| **v != 1.0);
        match flags & 3 {
            F32 => others.for_each(|&v| out.extend((v as f32).to_le_bytes())),
            F64 => others.for_each(|v| out.extend(v.to_le_bytes())),
            _ => {}
        }
        if flags & NUMBERS != 0 {
            out.extend(places.chunks(8).map(|eight| {
                let bit = |(k, place)| u8::from(number(place).is_some()) << k;
                eight.iter().enumerate().map(bit).sum::<u8>()
            }));
            places.iter().filter_map(number).for_each(|cell| out.extend(cell.to_le_bytes()));
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
        DataError::damaged(&contents.name, format!("is damaged: the block at byte {at} {words}"))
    };
    if checksum(payload) != block.checksum {
        return Err(damaged("does not match its checksum"));
    }
    let mut payload = payload;
    builder.begin_numbers(contents.numbers.iter().map(|name| (0, name.as_str())));
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
    let Some(row) = RawRow::take(payload, contents.numbers.len()) else { return Ok(None) };
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
            Space::Ids => Space::LARGEST_ID,
            Space::Hashed { bits } => (1 << bits) - 1,
        };
        let ids = row.indices.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let (ids, values) = builder.push_ones(ids);
        row.others.put(row.bits, values);
        let is_beyond = any_above(ids, largest);
        // The other values are 1.
        let is_too_large = row.others.any_above(max) || max < 1.0;
        let too_large =
            is_too_large.then(|| values.iter().find(|v| v.abs() > max).copied()).flatten();
        if is_beyond || too_large.is_some() {
            builder.abandon_row();
        }
        match too_large {
            _ if is_beyond => return Ok(None),
            Some(v) => return Err(crate::number::too_large(v.to_string().as_bytes(), 0, max)),
            None => {}
        }
        if !row.numbers.is_empty() {
            let max = builder.spec.max_cell;
            if let Some(v) =
                row.numbers().find(|(_, v)| v.is_nan() || v.abs() > max).map(|(_, v)| v)
            {
                builder.abandon_row();
                return Err(crate::number::too_large(v.to_string().as_bytes(), 0, max));
            }
            for (k, v) in row.numbers() {
                let Some(name) = contents.numbers.get(k) else { return Ok(None) };
                if builder.keeps_numbers_apart() {
                    builder.push_number(k, name.as_bytes(), v);
                } else {
                    builder
                        .push_id(hash::slot(hash::feature(0, name.as_bytes()), builder.bits()), v);
                }
            }
            let repeats = Repeats::Add;
            return Ok(builder.finish_tagged(label, row.weight, repeats, row.tag).ok());
        }
    }
    // The writer never writes infinite values or negative weights.
    if builder.finish_tagged(label, row.weight, Repeats::Refuse, row.tag).is_err() {
        return Ok(None);
    }
    Ok(Some(()))
}

/// Whether an id is above the largest.
///
/// PERF: no id is above the bits of all together, which cost an instruction each; a maximum costs five on every x86-64.
#[inline]
fn any_above(ids: &[u32], largest: u32) -> bool {
    let bits = ids.iter().fold(0, |bits, id| bits | id);
    bits > largest && ids.iter().any(|&id| id > largest)
}

struct RawRow<'a> {
    label: Option<f64>,
    weight: f64,
    tag: &'a [u8],
    indices: &'a [u8],
    /// A bit for every value that is not 1; none where all are.
    bits: &'a [u8],
    others: Others<'a>,
    /// A bit for every number column whose cell has a value, and the values.
    number_bits: &'a [u8],
    numbers: &'a [[u8; 8]],
}

/// The values that are not 1.
#[derive(Clone, Copy)]
enum Others<'a> {
    None,
    F32(&'a [[u8; 4]]),
    F64(&'a [[u8; 8]]),
}

impl Others<'_> {
    /// Whether the size of one is above the largest.
    ///
    /// PERF: a loop without exits goes into wide registers.
    #[inline]
    fn any_above(self, max: f64) -> bool {
        let above = |any: bool, v: f64| any | (v.abs() > max);
        match self {
            Others::None => false,
            Others::F32(others) => {
                others.iter().fold(false, |any, b| above(any, f32::from_le_bytes(*b).into()))
            }
            Others::F64(others) => {
                others.iter().fold(false, |any, b| above(any, f64::from_le_bytes(*b)))
            }
        }
    }

    /// Puts the values where their bits are.
    #[inline]
    fn put(self, bits: &[u8], values: &mut [f64]) {
        match self {
            Others::None => {}
            Others::F32(others) => put(bits, others, values, |b| f32::from_le_bytes(b).into()),
            Others::F64(others) => put(bits, others, values, f64::from_le_bytes),
        }
    }
}

#[inline(always)]
fn put<const N: usize>(
    bits: &[u8],
    others: &[[u8; N]],
    values: &mut [f64],
    read: impl Fn([u8; N]) -> f64,
) {
    // PERF: rows of nothing but numbers need no bits.
    if others.len() == values.len() {
        values.iter_mut().zip(others).for_each(|(value, other)| *value = read(*other));
        return;
    }
    let mut others = others.iter();
    for (block, bits) in bits.chunks(8).enumerate() {
        let mut word = [0; 8];
        word[..bits.len()].copy_from_slice(bits);
        let mut marks = u64::from_le_bytes(word);
        while marks != 0 {
            let k = 64 * block + marks.trailing_zeros() as usize;
            marks &= marks - 1;
            if let (Some(value), Some(other)) = (values.get_mut(k), others.next()) {
                *value = read(*other);
            }
        }
    }
}

impl<'a> RawRow<'a> {
    /// The cells of number columns, each with the place of its column.
    fn numbers(&self) -> impl Iterator<Item = (usize, f64)> {
        let bits = self.number_bits;
        let is_set = move |k: &usize| bits[k / 8] >> (k % 8) & 1 == 1;
        let places = (0..8 * bits.len()).filter(is_set);
        places.zip(self.numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)))
    }

    /// Reads a row of a table with `columns` number columns.
    fn take(payload: &mut &'a [u8], width: usize) -> Option<Self> {
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
        let indices = take(payload, len.checked_mul(4)?)?;
        let bits = match flags & 3 {
            0 => &[][..],
            _ => take(payload, len.div_ceil(8))?,
        };
        let count = bits.iter().map(|b| b.count_ones() as usize).sum::<usize>();
        let others = match flags & 3 {
            0 => Others::None,
            F32 => Others::F32(take(payload, count.checked_mul(4)?)?.as_chunks().0),
            F64 => Others::F64(take(payload, count.checked_mul(8)?)?.as_chunks().0),
            _ => return None,
        };
        let number_bits =
            if flags & NUMBERS == 0 { &[][..] } else { take(payload, width.div_ceil(8))? };
        let count = number_bits.iter().map(|b| b.count_ones() as usize).sum::<usize>();
        let numbers = take(payload, count.checked_mul(8)?)?.as_chunks().0;
        Some(Self { label, weight, tag, indices, bits, others, number_bits, numbers })
    }
}
