//! Whether the lengths in an Arrow IPC file or stream are ones it can have.
//!
//! The Arrow library allocates what a message asks for before reading it, and a failed allocation ends the
//! process. So no length is believed that goes beyond the input's end.

use std::io::{Read, Seek, SeekFrom};

use parsimon_files::memory;

use crate::arrow::ipc::{CompressionType, Endianness, Message, root_as_footer, root_as_message};

/// Distinguishes file and stream, and checks every length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IpcLayout {
    File,
    Stream,
}

const MAGIC: &[u8; 6] = b"ARROW1";
const BEYOND: &str = "a length goes beyond its end";

/// Checks an input and goes back to its start.
pub(crate) fn check(input: &mut (impl Read + Seek)) -> Result<IpcLayout, String> {
    let size = input.seek(SeekFrom::End(0)).map_err(|e| e.to_string())?;
    input.rewind().map_err(|e| e.to_string())?;
    let mut start = Vec::new();
    input.by_ref().take(6).read_to_end(&mut start).map_err(|e| e.to_string())?;
    let kind = if start == MAGIC {
        check_file(input, size)?;
        IpcLayout::File
    } else if start.starts_with(&[0xff; 4]) {
        check_stream(input, size)?;
        IpcLayout::Stream
    } else {
        // Streams from before 2019 begin with a length, as any four bytes do.
        return Err("it begins neither like a file nor like a stream".to_owned());
    };
    input.rewind().map_err(|e| e.to_string())?;
    Ok(kind)
}

/// The footer lists where the messages are.
fn check_file(input: &mut (impl Read + Seek), size: u64) -> Result<(), String> {
    let tail = size.checked_sub(10).ok_or("it is cut short")?;
    let end = read_at(input, tail, 10)?;
    let (len, magic) = end.split_at(4);
    if magic != MAGIC {
        return Err("it is cut short".to_owned());
    }
    let len = u64::from(u32::from_le_bytes(len.try_into().unwrap_or_default()));
    let start = tail.checked_sub(len).ok_or(BEYOND)?;
    let footer = read_at(input, start, len)?;
    let footer = root_as_footer(&footer).map_err(|_| "its footer is broken".to_owned())?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for block in blocks {
        let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
        let end =
            parts.iter().try_fold(0_u64, |sum, &part| sum.checked_add(u64::try_from(part).ok()?));
        if end.is_none_or(|end| end > size) {
            return Err(BEYOND.to_owned());
        }
        let [start, metadata] = [parts[0], parts[1]].map(|part| u64::try_from(part).unwrap_or(0));
        let message = read_at(input, start, metadata)?;
        // The length stands before the message, in newer files behind a marker.
        let skipped = if message.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let Some(Ok(message)) = message.get(skipped..).map(root_as_message) else {
            return Err("a message is broken".to_owned());
        };
        check_body(input, &message, start + metadata, size)?;
    }
    Ok(())
}

/// Checks the lengths after decompression that the buffers of a batch name.
fn check_body(
    input: &mut (impl Read + Seek),
    message: &Message<'_>,
    body: u64,
    size: u64,
) -> Result<(), String> {
    let of_dictionary = message.header_as_dictionary_batch().and_then(|batch| batch.data());
    let Some(batch) = message.header_as_record_batch().or(of_dictionary) else { return Ok(()) };
    let (Some(compression), Some(buffers)) = (batch.compression(), batch.buffers()) else {
        return Ok(());
    };
    // The most bytes that one compressed byte can stand for.
    let ratio = if compression.codec() == CompressionType::LZ4_FRAME { 255 } else { 1 << 16 };
    let mut all = 0_u64;
    for buffer in buffers {
        let [offset, len] = [buffer.offset(), buffer.length()].map(u64::try_from);
        let (Ok(offset), Ok(len)) = (offset, len) else { return Err(BEYOND.to_owned()) };
        if len == 0 {
            continue;
        }
        let start = body.checked_add(offset).filter(|start| *start <= size).ok_or(BEYOND)?;
        let prefix = read_at(input, start, 8.min(size - start))?;
        let prefix = prefix.try_into().map_err(|_| BEYOND)?;
        // -1 stands before bytes that are not compressed.
        match u64::try_from(i64::from_le_bytes(prefix)) {
            Ok(after) if after > len.saturating_mul(ratio) => {
                return Err(format!("{len} bytes are said to be {after} when decompressed"));
            }
            Ok(after) => all = all.saturating_add(after),
            Err(_) => {}
        }
    }
    memory::check(all).map_err(|shortage| format!("decompressing a batch takes {shortage}"))
}

/// Messages follow one another: a marker, a length, the message, and the body it announces.
fn check_stream(input: &mut (impl Read + Seek), size: u64) -> Result<(), String> {
    let mut at = 0;
    while at < size {
        let head = read_at(input, at, 8.min(size - at))?;
        let (marker, len) = head.split_at_checked(4).ok_or("it is cut short")?;
        let len = u32::from_le_bytes(len.try_into().map_err(|_| "it is cut short")?);
        if marker != [0xff; 4] {
            return Err("a message does not begin like one".to_owned());
        }
        if len == 0 {
            break;
        }
        let body = at + 8 + u64::from(len);
        if body > size {
            return Err(BEYOND.to_owned());
        }
        let message = read_at(input, at + 8, u64::from(len))?;
        let message = root_as_message(&message).map_err(|_| "a message is broken".to_owned())?;
        if message
            .header_as_schema()
            .is_some_and(|schema| schema.endianness() != Endianness::Little)
        {
            return Err(
                "its numbers are big-endian; write it on a little-endian machine, or as Parquet"
                    .into(),
            );
        }
        check_body(input, &message, body, size)?;
        let len = u64::try_from(message.bodyLength()).map_err(|_| BEYOND)?;
        at = body.checked_add(len).filter(|&end| end <= size).ok_or(BEYOND)?;
    }
    Ok(())
}

/// INVARIANT: callers have compared `len` with the size of the input.
fn read_at(input: &mut (impl Read + Seek), at: u64, len: u64) -> Result<Vec<u8>, String> {
    input.seek(SeekFrom::Start(at)).map_err(|e| e.to_string())?;
    let mut bytes = Vec::new();
    input.by_ref().take(len).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}
