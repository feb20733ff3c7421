//! Checksums made good again after a mutation, so that what lies behind them is reached.

use parsimon_files::checksum;

fn put(bytes: &mut [u8], at: usize, number: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + number.len()) {
        place.copy_from_slice(number);
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// The last eight bytes become the checksum of those before.
pub(crate) fn seal(bytes: &mut [u8]) {
    if let Some(end) = bytes.len().checked_sub(8) {
        let sum = checksum(&bytes[..end]);
        put(bytes, end, &sum.to_le_bytes());
    }
}

/// The state of an echo canceller, whose last eight bytes are the checksum of those before.
pub(crate) fn canceller(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    seal(&mut bytes);
    bytes
}

/// A model, checkpoint or delta: the length of the header and the checksum. A header that grew or shrank keeps its sections.
pub(crate) fn container(bytes: &[u8]) -> Vec<u8> {
    const FIXED: usize = 24;
    let mut bytes = bytes.to_vec();
    if bytes.len() >= FIXED + 8 {
        let mut header = serde_json::Deserializer::from_slice(&bytes[FIXED..])
            .into_iter::<Box<serde_json::value::RawValue>>();
        if let Some(Ok(_)) = header.next() {
            let len = header.byte_offset();
            let stated = u64_at(&bytes, 16).unwrap_or(0) as usize;
            // The sections begin at multiples of eight: what a mutation moved goes back.
            let (was, is) =
                ((FIXED + stated).next_multiple_of(8), (FIXED + len).next_multiple_of(8));
            if len != stated && was.abs_diff(is) < 64 {
                put(&mut bytes, 16, &(len as u64).to_le_bytes());
            }
        }
    }
    seal(&mut bytes);
    bytes
}

/// A cache: the checksums of header, blocks, trailer and footer.
pub(crate) fn cache(bytes: &[u8]) -> Vec<u8> {
    const FOOTER: usize = 48;
    let mut bytes = bytes.to_vec();
    if bytes.len() < 24 + FOOTER {
        return bytes;
    }
    let sum = checksum(&bytes[..16]);
    put(&mut bytes, 16, &sum.to_le_bytes());
    let footer = bytes.len() - FOOTER;
    let trailer = u64_at(&bytes, footer + 8).unwrap_or(0) as usize;
    let mut at = 24;
    while at < trailer {
        let Some(len) = u64_at(&bytes, at) else { break };
        let payload = usize::try_from(len)
            .ok()
            .and_then(|len| bytes.get(at + 24..(at + 24).checked_add(len)?));
        let Some(payload) = payload else { break };
        let (sum, end) = (checksum(payload), at + 24 + payload.len());
        put(&mut bytes, at + 16, &sum.to_le_bytes());
        at = end;
    }
    if let Some(rest) = bytes.get(trailer..footer) {
        let sum = checksum(rest);
        put(&mut bytes, footer + 24, &sum.to_le_bytes());
    }
    let sum = checksum(&bytes[footer..footer + 40]);
    put(&mut bytes, footer + 40, &sum.to_le_bytes());
    bytes
}

/// A segment of a log: the checksum of its header, and the chain of its records.
pub(crate) fn segment(bytes: &[u8]) -> Vec<u8> {
    const START: usize = 512;
    const RECORD: usize = 40;
    let mut bytes = bytes.to_vec();
    if bytes.len() < START {
        return bytes;
    }
    let sum = crc32c::crc32c(&bytes[..START - 4]);
    put(&mut bytes, START - 4, &sum.to_le_bytes());
    let (mut at, mut before) = (START, u32_at(&bytes, 36).unwrap_or(0));
    while let Some(len) = u32_at(&bytes, at + 12) {
        let end = at + (RECORD + len as usize).next_multiple_of(8);
        if end > bytes.len() || bytes[at..at + 4] != *b"prec" {
            break;
        }
        put(&mut bytes, at + 8, &before.to_le_bytes());
        before = crc32c::crc32c(&bytes[at + 8..end]);
        put(&mut bytes, at + 4, &before.to_le_bytes());
        at = end;
    }
    bytes
}

/// A snapshot of a log: the length and the checksum at its end.
pub(crate) fn snapshot(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Some(end) = bytes.len().checked_sub(16).filter(|end| *end >= 64) {
        put(&mut bytes, end, &((end - 64) as u64).to_le_bytes());
        let sum = crc32c::crc32c(&bytes[..end + 8]);
        put(&mut bytes, end + 8, &sum.to_le_bytes());
    }
    bytes
}
