//! A cache opened: its space, its names and labels, and its blocks one by one.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use parsimon_files::{checksum, memory};

use super::{
    BLOCK_HEADER_LEN, FOOTER_LEN, FOOTER_MAGIC, HEADER_LEN, schema, take_u64, take_varint,
};
use crate::recognize::CACHE_MAGIC;
use crate::remedy::Message;
use crate::{DataError, LabelTexts, Names, Space, TableSchema};

/// Bytes that can be read from anywhere.
pub(crate) trait Seekable: Read + Seek + Send {}
impl<T: Read + Seek + Send> Seekable for T {}

/// Header of a cache.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) name: Arc<str>,
    pub(crate) space: Space,
    pub(crate) labels: LabelTexts,
    pub(crate) names: Names,
    /// The schema of the table, if columns have kinds, and its number columns.
    pub(crate) table: Option<Arc<TableSchema>>,
    pub(crate) numbers: Vec<String>,
}

/// The blocks of a cache, in order.
pub(crate) struct Blocks {
    name: Arc<str>,
    file: Box<dyn Seekable>,
    at: u64,
    end: u64,
}

/// A block's numbers; its payload is in the buffer it was read into.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockHead {
    pub(crate) len: usize,
    pub(crate) rows: u64,
    pub(crate) checksum: u64,
    pub(crate) offset: u64,
}

impl Blocks {
    /// Opens a cache, checking everything but the blocks.
    pub(crate) fn open(
        name: &Arc<str>,
        mut file: Box<dyn Seekable>,
    ) -> Result<(Self, Contents), DataError> {
        let cannot = |e| DataError::io(name, "cannot read", e);
        let refuse = |words: &str| DataError::damaged(name, words);
        let size = file.seek(SeekFrom::End(0)).map_err(cannot)?;
        if size < HEADER_LEN + FOOTER_LEN {
            return Err(refuse("is cut short: its writing did not end"));
        }
        let mut header = [0; HEADER_LEN as usize];
        file.rewind().and_then(|()| file.read_exact(&mut header)).map_err(cannot)?;
        let space = read_header(name, &header)?;
        let mut footer = [0; FOOTER_LEN as usize];
        file.seek(SeekFrom::Start(size - FOOTER_LEN))
            .and_then(|_| file.read_exact(&mut footer))
            .map_err(cannot)?;
        let (sealed, seal) = footer.split_at(FOOTER_LEN as usize - 8);
        let mut numbers = &sealed[8..];
        if &sealed[..8] != FOOTER_MAGIC {
            return Err(refuse("is cut short: its writing did not end"));
        }
        let damaged = || refuse("is damaged: the footer does not match its checksum");
        if checksum(sealed).to_le_bytes() != seal {
            return Err(damaged());
        }
        let mut number = || take_u64(&mut numbers).ok_or_else(damaged);
        let (offset, len, expected) = (number()?, number()?, number()?);
        // INVARIANT: nothing is allocated beyond the size of the file.
        if offset < HEADER_LEN || offset.checked_add(len) != Some(size - FOOTER_LEN) {
            return Err(damaged());
        }
        file.seek(SeekFrom::Start(offset)).map_err(cannot)?;
        let mut trailer = Vec::new();
        file.by_ref().take(len).read_to_end(&mut trailer).map_err(cannot)?;
        if checksum(&trailer) != expected {
            return Err(refuse("is damaged: the trailer does not match its checksum"));
        }
        let (labels, names, table) = read_trailer(&trailer)
            .ok_or_else(|| refuse("is damaged: the trailer does not hold its names"))?;
        file.seek(SeekFrom::Start(HEADER_LEN)).map_err(cannot)?;
        let blocks = Self { name: name.clone(), file, at: HEADER_LEN, end: offset };
        let numbers = table.as_ref().map(schema::numbers).unwrap_or_default();
        let table = table.map(Arc::new);
        Ok((blocks, Contents { name: name.clone(), space, labels, names, table, numbers }))
    }

    /// Number of bytes that have been passed.
    pub(crate) fn position(&self) -> u64 {
        self.at
    }

    /// Reads the next block's payload into `buffer[..len]`.
    pub(crate) fn next(&mut self, buffer: &mut Vec<u8>) -> Result<Option<BlockHead>, DataError> {
        if self.at == self.end {
            return Ok(None);
        }
        let damaged = |at| {
            let words = format!("is damaged: the block at byte {at} goes beyond the rows' end");
            DataError::damaged(&self.name, words)
        };
        let left = self.end - self.at;
        let mut head = [0; BLOCK_HEADER_LEN as usize];
        if left < BLOCK_HEADER_LEN {
            return Err(damaged(self.at));
        }
        let cannot = |e| DataError::io(&self.name, "cannot read", e);
        self.file.read_exact(&mut head).map_err(cannot)?;
        let mut numbers = &head[..];
        let mut number = || take_u64(&mut numbers).unwrap_or_default();
        let (len, rows, checksum) = (number(), number(), number());
        // A row is two bytes or more: flags and a count.
        if len > left - BLOCK_HEADER_LEN || rows > len / 2 {
            return Err(damaged(self.at));
        }
        let block = BlockHead { len: len as usize, rows, checksum, offset: self.at };
        if len > LARGE_BLOCK {
            // Rows are unpacked from it: two bytes of a block may be one feature.
            memory::check(len.saturating_mul(16)).map_err(|shortage| {
                DataError::memory(
                    &self.name,
                    Message::shortage(&shortage, &format!("a block of {len} bytes"), &[]),
                )
            })?;
        }
        if buffer.len() < block.len {
            buffer.resize(block.len, 0);
        }
        self.file.read_exact(&mut buffer[..block.len]).map_err(cannot)?;
        self.at += BLOCK_HEADER_LEN + len;
        Ok(Some(block))
    }
}

/// Blocks of more bytes than this are weighed against the memory budget.
const LARGE_BLOCK: u64 = 4 << 20;

fn read_header(name: &Arc<str>, header: &[u8; HEADER_LEN as usize]) -> Result<Space, DataError> {
    if header[..7] != CACHE_MAGIC[..7] {
        return Err(DataError::format(name, "is not a cache"));
    }
    let (found, known) = (header[7], CACHE_MAGIC[7]);
    if found != known {
        let words = format!(
            "is a cache of version {found}, and this program reads version {known}; \
             make the cache again from its source"
        );
        return Err(DataError::version(name, words));
    }
    if checksum(&header[..16]).to_le_bytes() != header[16..] {
        return Err(DataError::damaged(name, "is damaged: the header does not match its checksum"));
    }
    match (header[8], header[9]) {
        (0, _) => Ok(Space::Ids),
        (1, bits @ 1..=31) => Ok(Space::Hashed { bits }),
        _ => Err(DataError::damaged(name, "is damaged: the header names no feature space")),
    }
}

fn read_trailer(mut bytes: &[u8]) -> Option<(LabelTexts, Names, Option<TableSchema>)> {
    let bytes = &mut bytes;
    let mut labels = LabelTexts::default();
    for _ in 0..take_varint(bytes)? {
        let code = f64::from_bits(take_u64(bytes)?);
        labels.remember(code, &schema::take_text(bytes)?);
    }
    let mut names = Names::default();
    let mut slot = 0_u32;
    for _ in 0..take_varint(bytes)? {
        slot = slot.checked_add(u32::try_from(take_varint(bytes)?).ok()?)?;
        // In the order of slots, so each goes to the end.
        names.insert(slot, &schema::take_text(bytes)?);
    }
    let table = match take_varint(bytes)? {
        0 => None,
        1 => Some(schema::take_schema(bytes)?),
        _ => return None,
    };
    bytes.is_empty().then_some((labels, names, table))
}
