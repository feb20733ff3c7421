//! Chunks to a cache file.

use std::path::Path;
use std::sync::Arc;

use parsimon_core::Chunk;
use parsimon_files::{OutputFile, checksum, is_special};

use super::{FOOTER_MAGIC, HEADER_LEN, block, put_varint, schema};
use crate::recognize::CACHE_MAGIC;
use crate::{DataError, LabelTexts, Names, Space, TableSchema, hash};

/// Writes a cache: rows chunk by chunk, then names, and the file appears whole or not at all.
///
/// Read the rows with [`Labels::Any`](crate::Labels::Any), so that labels stay what they are.
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{Input, Labels, Options, Reader, Reading, cache::Writer};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("mail.psc");
///
/// let bytes = b"spam |w money:2 now\nham |w hello\n".to_vec();
/// let any = Options::from(Reading { labels: Labels::Any, ..Reading::default() });
/// let mut reader = Reader::open(&[Input::Bytes { name: "mail.vw".into(), bytes }], &any).unwrap();
/// let mut writer = Writer::create(&path, reader.space()).unwrap();
/// let mut chunk = Chunk::new();
/// while reader.read(&mut chunk).unwrap() {
///     writer.write(&chunk).unwrap();
/// }
/// writer.names(reader.names());
/// writer.label_texts(reader.label_texts());
/// writer.finish().unwrap();
///
/// let labels = Labels::Binary { negative: "ham".into(), positive: "spam".into() };
/// let again = Options::from(Reading { labels, ..Reading::default() });
/// let mut reader = Reader::open(&[path.into()], &again).unwrap();
/// reader.read(&mut chunk).unwrap();
/// assert_eq!((chunk.label(0), chunk.label(1)), (Some(1.0), Some(-1.0)));
/// assert!(reader.names().iter().any(|(_, name)| name == "w^money"));
/// ```
pub struct Writer {
    name: Arc<str>,
    file: OutputFile,
    pending: Vec<u8>,
    pending_rows: u64,
    rows: u64,
    offset: u64,
    names: Vec<u8>,
    labels: Vec<u8>,
    table: Option<TableSchema>,
    /// The keys of the table's number columns.
    numbers: Vec<u64>,
}

/// A block is written when its payload has grown to this.
const BLOCK: usize = 256 << 10;

impl Writer {
    /// Starts a cache of this feature space beside `path`; it takes its name when finished.
    pub fn create(path: impl AsRef<Path>, space: Space) -> Result<Self, DataError> {
        Self::begin(path.as_ref(), space, None)
    }

    /// Like the method above, for a table whose columns have kinds and hashed features: rows are read with
    /// [`Reading::numbers_apart`](crate::Reading::numbers_apart). The cache is then read as the table is.
    pub fn create_table(
        path: impl AsRef<Path>,
        space: Space,
        table: &TableSchema,
    ) -> Result<Self, DataError> {
        let table = (space != Space::Ids).then(|| table.clone());
        Self::begin(path.as_ref(), space, table)
    }

    fn begin(path: &Path, space: Space, table: Option<TableSchema>) -> Result<Self, DataError> {
        space.check()?;
        let name: Arc<str> = Arc::from(path.display().to_string());
        // A device or a pipe could not be read as a cache, whose end is read first.
        if is_special(path) {
            return Err(DataError::file(&name, "is not a file: a cache cannot be written there"));
        }
        let file = OutputFile::create(path).map_err(|e| refused(&name, e))?;
        let mut header = CACHE_MAGIC.to_vec();
        let names = table.as_ref().map(schema::numbers).unwrap_or_default();
        let numbers = names.iter().map(|name| hash::feature(0, name.as_bytes())).collect();
        header.extend(match space {
            Space::Ids => [0, 0],
            Space::Hashed { bits } => [1, bits],
        });
        header.extend([0; 6]);
        header.extend(checksum(&header).to_le_bytes());
        let mut empty = Vec::new();
        put_varint(&mut empty, 0);
        let mut writer = Self {
            name,
            file,
            pending: Vec::new(),
            pending_rows: 0,
            rows: 0,
            offset: HEADER_LEN,
            names: empty.clone(),
            labels: empty,
            table,
            numbers,
        };
        writer.put(&header)?;
        Ok(writer)
    }

    /// Adds the rows of a chunk.
    pub fn write(&mut self, chunk: &Chunk) -> Result<(), DataError> {
        if chunk.has_bases() {
            return Err(DataError::file(
                &self.name,
                "cannot hold base values (the third number before the bar of VW text); train on the text",
            ));
        }
        if self.table.is_none() && !chunk.columns().is_empty() {
            block::encode(&mut self.pending, &chunk.with_plain_numbers(), &[]);
        } else {
            let columns = chunk.columns();
            let place = |key: &u64| columns.iter().position(|column| column.key == *key);
            let places: Vec<_> = self.numbers.iter().map(place).collect();
            block::encode(&mut self.pending, chunk, &places);
        }
        self.pending_rows += chunk.len() as u64;
        if self.pending.len() >= BLOCK { self.write_block() } else { Ok(()) }
    }

    /// Sets the names of the slots.
    pub fn names(&mut self, names: &Names) {
        self.names.clear();
        put_varint(&mut self.names, names.len() as u64);
        let mut previous = 0;
        for (slot, name) in names.iter() {
            put_varint(&mut self.names, u64::from(slot - previous));
            previous = slot;
            put_varint(&mut self.names, name.len() as u64);
            self.names.extend_from_slice(name.as_bytes());
        }
    }

    /// Writes the texts of the codes of labels.
    pub fn label_texts(&mut self, texts: &LabelTexts) {
        self.labels.clear();
        put_varint(&mut self.labels, texts.len() as u64);
        for (code, text) in texts.iter() {
            self.labels.extend(code.to_le_bytes());
            put_varint(&mut self.labels, text.len() as u64);
            self.labels.extend_from_slice(text.as_bytes());
        }
    }

    /// Writes what is left, waits for the disk, and gives the file its name. Returns the row count.
    pub fn finish(mut self) -> Result<u64, DataError> {
        if self.pending_rows > 0 {
            self.write_block()?;
        }
        let mut trailer = std::mem::take(&mut self.labels);
        trailer.append(&mut self.names);
        put_varint(&mut trailer, u64::from(self.table.is_some()));
        if let Some(table) = &self.table {
            schema::put(&mut trailer, table);
        }
        let mut footer = FOOTER_MAGIC.to_vec();
        for number in [self.offset, trailer.len() as u64, checksum(&trailer), self.rows] {
            footer.extend(number.to_le_bytes());
        }
        footer.extend(checksum(&footer).to_le_bytes());
        self.put(&trailer)?;
        self.put(&footer)?;
        self.file.commit().map_err(|e| refused(&self.name, e))?;
        Ok(self.rows)
    }

    fn write_block(&mut self) -> Result<(), DataError> {
        let payload = std::mem::take(&mut self.pending);
        for number in [payload.len() as u64, self.pending_rows, checksum(&payload)] {
            self.put(&number.to_le_bytes())?;
        }
        self.put(&payload)?;
        self.offset += super::BLOCK_HEADER_LEN + payload.len() as u64;
        self.rows += self.pending_rows;
        self.pending_rows = 0;
        self.pending = payload;
        self.pending.clear();
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.file.put(bytes).map_err(|e| refused(&self.name, e))
    }
}

/// Keeps the kind of the system's error.
fn refused(name: &Arc<str>, error: parsimon_files::Error) -> DataError {
    DataError::io(name, error.doing(), error.into_io_error())
}
