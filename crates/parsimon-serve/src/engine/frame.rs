//! Records of a log on their way to a follower: each with its number, epoch, log time and a checksum.

use parsimon_log::{Content, Record};
use xxhash_rust::xxh3::xxh3_64;

/// Checksum, length, number, epoch, time, tag, kind, base.
const HEAD: usize = 8 + 4 + 8 + 4 + 8 + 1 + 1 + 8;

/// Appends a record. Returns its checksum.
pub(crate) fn encode(record: &Record<'_>, out: &mut Vec<u8>) -> u64 {
    let start = out.len();
    let (tag, kind, base, payload) = match record.content {
        Content::Data { kind, payload } => (0, kind, 0, payload),
        Content::Epoch { base, reason } => (1, 0, base, reason),
    };
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    out.extend_from_slice(&record.seq.to_le_bytes());
    out.extend_from_slice(&record.epoch.to_le_bytes());
    out.extend_from_slice(&record.time.to_le_bytes());
    out.extend_from_slice(&[tag, kind]);
    out.extend_from_slice(&u64::to_le_bytes(base));
    out.extend_from_slice(payload);
    let sum = xxh3_64(&out[start + 8..]);
    out[start..start + 8].copy_from_slice(&sum.to_le_bytes());
    sum
}

/// Reads the next record and its checksum. `None` if the bytes do not begin with a whole one.
pub(crate) fn decode<'a>(input: &mut &'a [u8]) -> Option<(Record<'a>, u64)> {
    let head = input.get(..HEAD)?;
    let u32_at = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let u64_at = |at: usize| Some(u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?));
    let (sum, length) = (u64_at(0)?, u32_at(8)? as usize);
    let frame = input.get(..HEAD.checked_add(length)?)?;
    if xxh3_64(&frame[8..]) != sum {
        return None;
    }
    let payload = &frame[HEAD..];
    let content = match head[32] {
        0 => Content::Data { kind: head[33], payload },
        1 => Content::Epoch { base: u64_at(34)?, reason: payload },
        _ => return None,
    };
    *input = &input[frame.len()..];
    Some((Record { seq: u64_at(12)?, epoch: u32_at(20)?, time: u64_at(24)?, content }, sum))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back_and_damage_is_found() {
        let data = Content::Data { kind: 3, payload: b"rows" };
        let epoch = Content::Epoch { base: 7, reason: b"why" };
        let records = [data, epoch].map(|content| Record { seq: 9, epoch: 2, time: 77, content });
        let mut bytes = Vec::new();
        let sums = records.map(|record| encode(&record, &mut bytes));
        let mut input = &bytes[..];
        assert_eq!(decode(&mut input), Some((records[0], sums[0])));
        assert_eq!(decode(&mut input), Some((records[1], sums[1])));
        assert_eq!((input.len(), decode(&mut input)), (0, None));
        let first = bytes.len() / 2;
        for at in 0..first {
            assert_eq!(decode(&mut &bytes[..at.min(HEAD)]), None);
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_ne!(decode(&mut &damaged[..]), Some((records[0], sums[0])), "byte {at}");
        }
    }
}
