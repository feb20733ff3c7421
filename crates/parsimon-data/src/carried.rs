//! Cells that travel with a row as text, beside its features: for predictions that are written with an identifier or with
//! columns of the input, and for metrics by segment.
//!
//! They take the place of the row's tag in the [`Chunk`](parsimon_core::Chunk), so that whatever moves rows moves them. The
//! bytes are the tag of the row and then each cell in the order of [`Ask::carried`](crate::Options), every one with
//! its length before it.

/// The cells of the row under construction.
#[derive(Debug, Default)]
pub(crate) struct CarriedRow {
    text: Vec<u8>,
    /// Position of each cell in the text; `None` for a missing cell.
    cells: Vec<Option<(usize, usize)>>,
    encoded: Vec<u8>,
}

impl CarriedRow {
    /// Rows of `cells` cells.
    pub(crate) fn new(cells: usize) -> Self {
        Self { cells: vec![None; cells], ..Self::default() }
    }

    /// Whether rows carry cells at all.
    pub(crate) fn is_used(&self) -> bool {
        !self.cells.is_empty()
    }

    /// Processes a cell. An empty one is missing.
    pub(crate) fn put(&mut self, k: u32, content: &[u8]) {
        if let Some(cell) = self.cells.get_mut(k as usize)
            && !content.is_empty()
        {
            let start = self.text.len();
            self.text.extend_from_slice(content);
            *cell = Some((start, self.text.len()));
        }
    }

    /// Forgets the cells of the row.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.cells.fill(None);
    }

    /// The bytes for the row's tag; forgets the cells.
    pub(crate) fn take(&mut self, tag: &[u8]) -> &[u8] {
        self.encoded.clear();
        push(&mut self.encoded, (!tag.is_empty()).then_some(tag));
        for cell in &self.cells {
            push(&mut self.encoded, cell.map(|(start, end)| &self.text[start..end]));
        }
        self.clear();
        &self.encoded
    }
}

/// A length that counts from 1, because 0 is a missing cell, and the bytes.
fn push(out: &mut Vec<u8>, cell: Option<&[u8]>) {
    // INVARIANT: a line has at most 1 GiB.
    let len = cell.map_or(0, |cell| cell.len() as u32 + 1);
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(cell.unwrap_or_default());
}

/// The texts that a row carries under [`Ask::carried`](crate::Options): its tag first, then the cells in the order of
/// [`Reader::carried_columns`](crate::Reader::carried_columns).
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{Ask, Carried, Input, Options, Reader};
///
/// let bytes = b"id,city,y\n7,Paris,1\n8,,0\n".to_vec();
/// let options = Options::from(Ask { carried: vec!["city".into(), "id".into()], ..Ask::default() });
/// let input = Input::Bytes { name: "people.csv".into(), bytes };
/// let mut reader = Reader::open(&[input], &options).unwrap();
/// let mut chunk = Chunk::new();
/// reader.read(&mut chunk).unwrap();
/// assert_eq!(reader.carried_columns(), ["city", "id"]);
/// let cells = |i| Carried::new(chunk.tag(i)).collect::<Vec<_>>();
/// assert_eq!(cells(0), [None, Some(&b"Paris"[..]), Some(b"7")]);
/// assert_eq!(cells(1), [None, None, Some(&b"8"[..])]);
/// ```
#[derive(Clone, Debug)]
pub struct Carried<'a>(&'a [u8]);

impl<'a> Carried<'a> {
    /// From the tag of a row that was read with carried columns.
    pub fn new(tag: &'a [u8]) -> Self {
        Self(tag)
    }
}

impl<'a> Iterator for Carried<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let (len, rest) = self.0.split_first_chunk::<4>()?;
        let Some(len) = u32::from_le_bytes(*len).checked_sub(1) else {
            self.0 = rest;
            return Some(None);
        };
        let (cell, rest) = rest.split_at_checked(len as usize)?;
        self.0 = rest;
        Some(Some(cell))
    }
}
