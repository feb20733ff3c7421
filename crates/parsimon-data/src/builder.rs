//! Builder of rows for every format: one piece of input becomes chunks, names and bad rows.

mod features;
mod generated;
mod hashed_row;
mod labels;
mod table;

use std::sync::Arc;

use parsimon_core::{Chunk, NumberColumn, Repeats, RowError};
use rustc_hash::FxHashSet;

use self::hashed_row::HashedRow;
pub(crate) use self::table::NamedColumns;
use crate::carried::CarriedRow;
use crate::cross::Cross;
use crate::curves::{PairedRow, Shape};
use crate::error::{Bad, DataError};
use crate::kinds::{Missing, NumberForm};
use crate::label::{LabelReader, LabelTexts};
use crate::names::News;
use crate::seen::{Recent, Seen};
use crate::separators::Separators;
use crate::{DataErrorKind, Options, Space, hash};

/// The options, checked and made ready; shared by all parser threads.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) space: Space,
    pub(crate) labels: LabelReader,
    pub(crate) max_value: f64,
    /// The largest magnitude of a cell in a number column, and of a label.
    pub(crate) max_cell: f64,
    pub(crate) max_label: f64,
    pub(crate) options: Options,
    /// Which cells of a table have no value.
    pub(crate) missing: Missing,
    /// Number form of the labels of a table.
    pub(crate) label_form: NumberForm,
    /// The longest run of words that is a feature of a text column.
    pub(crate) ngrams: usize,
    /// Only labels are wanted: features may be skipped.
    pub(crate) labels_only: bool,
    /// Number of cells that are carried with each row.
    pub(crate) carried: usize,
}

/// The result of parsing one piece of input.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// The chunks with rows in them come first; `len` says how many. The rest are spare buffers.
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) len: usize,
    pub(crate) rows: u64,
    /// Bad rows: how many good ones of this piece came before, the line within the piece, the words.
    pub(crate) bad: Vec<(u64, u64, Bad)>,
    pub(crate) news: News,
    pub(crate) label_news: Vec<String>,
    /// Namespaces met for the first time, where there are interactions.
    pub(crate) namespaces: Vec<String>,
    /// Fields met for the first time that are no columns of the table.
    pub(crate) unknown: Vec<Box<str>>,
    /// Lines in this piece.
    pub(crate) lines: u64,
    pub(crate) largest: u32,
    /// Cells taken for missing because they contradict the kind of their column.
    pub(crate) unfit: u64,
    pub(crate) failure: Option<DataError>,
}

impl Parsed {
    pub(crate) fn clear(&mut self) {
        self.chunks.iter_mut().for_each(Chunk::clear);
        self.len = 0;
        self.rows = 0;
        self.bad.clear();
        self.news.clear();
        self.label_news.clear();
        self.namespaces.clear();
        self.unknown.clear();
        self.lines = 0;
        self.largest = 0;
        self.unfit = 0;
        self.failure = None;
    }
}

/// Maximum number of remembered names where only some are wanted.
const MOST_SEEN: usize = 1 << 20;

/// Builds rows. One per parser thread; it remembers which names it has reported.
#[derive(Debug)]
pub(crate) struct Builder {
    pub(crate) spec: Arc<Spec>,
    pub(crate) out: Parsed,
    chunk: Chunk,
    bits: u8,
    /// The seeds of namespaces of one letter.
    pub(crate) letters: &'static [(u64, hash::Seed); 256],
    hashed: HashedRow,
    /// The ids of a row whose digits are hashed, where they may repeat.
    noted_ids: Vec<u32>,
    seen: Option<Seen>,
    /// Empty where names are not kept.
    pub(crate) recent: Recent,
    cross: Option<Box<Cross>>,
    label_texts: LabelTexts,
    carried: CarriedRow,
    /// The base value of the row under construction.
    base: Option<f64>,
    /// The columns whose numbers stay apart, in the piece being parsed.
    columns: Vec<NumberColumn>,
    /// The columns of rows that name their cells.
    named_columns: Option<Arc<NamedColumns>>,
    /// The fields of such rows that are no columns.
    unknown: FxHashSet<Box<str>>,
    /// The curves and pairs of the table.
    shape: Option<Arc<Shape>>,
    paired: PairedRow,
    /// The separators of the text being parsed, for parsers that use them.
    pub(crate) separators: Separators,
}

impl Builder {
    pub(crate) fn new(spec: Arc<Spec>) -> Self {
        let (bits, seen) = match spec.space {
            Space::Ids => (0, None),
            Space::Hashed { bits } => {
                let keep = spec.options.ask.keep_names && !spec.labels_only;
                let most = match spec.options.ask.named_slots {
                    None => usize::MAX,
                    Some(_) => MOST_SEEN,
                };
                (bits, keep.then(|| Seen::new(most)))
            }
        };
        let recent = seen.as_ref().map_or_else(Recent::default, |_| Recent::new());
        let cross = Cross::new(&spec.options.reading.interactions).map(Box::new);
        let label_texts = LabelTexts::default();
        let (out, chunk, hashed) = (Parsed::default(), Chunk::new(), HashedRow::default());
        let separators = Separators::default();
        let letters = hash::letters();
        let columns = Vec::new();
        let carried = CarriedRow::new(spec.carried);
        Self {
            spec,
            out,
            chunk,
            bits,
            letters,
            hashed,
            noted_ids: Vec::new(),
            seen,
            recent,
            cross,
            label_texts,
            carried,
            base: None,
            columns,
            named_columns: None,
            unknown: FxHashSet::default(),
            shape: None,
            paired: PairedRow::default(),
            separators,
        }
    }

    /// Starts a piece; `shell` lends its buffers.
    pub(crate) fn begin(&mut self, shell: Parsed) {
        self.out = shell;
        self.out.clear();
        self.chunk.clear();
        self.columns.clear();
    }

    /// Ends the piece.
    pub(crate) fn end(&mut self) -> Parsed {
        self.chunk.abandon_row();
        self.hashed.clear();
        if !self.chunk.is_empty() {
            self.hand_over_chunk();
        }
        std::mem::take(&mut self.out)
    }

    fn hand_over_chunk(&mut self) {
        let len = self.out.len;
        if len == self.out.chunks.len() {
            self.out.chunks.push(Chunk::new());
        }
        std::mem::swap(&mut self.out.chunks[len], &mut self.chunk);
        self.chunk.clear();
        self.chunk.set_columns(&self.columns);
        self.out.len += 1;
    }

    /// Processes a cell that travels with the row.
    pub(crate) fn carry(&mut self, k: u32, content: &[u8]) {
        self.carried.put(k, content);
    }

    /// Finishes the row under construction; `explain` finds the place of the fault for which it is refused.
    #[inline]
    pub(crate) fn finish(
        &mut self,
        label: Option<f64>,
        weight: f64,
        repeats: Repeats,
        explain: impl FnOnce(RowError) -> Bad,
    ) -> Result<(), Bad> {
        self.settle()?;
        self.chunk.finish_row(label, weight, repeats).map_err(explain)?;
        self.tag_row(b"");
        self.count_row();
        Ok(())
    }

    /// Finishes a row that may have a tag and takes part in no interaction.
    pub(crate) fn finish_tagged(
        &mut self,
        label: Option<f64>,
        weight: f64,
        repeats: Repeats,
        tag: &[u8],
    ) -> Result<(), RowError> {
        self.chunk.finish_row(label, weight, repeats)?;
        if !tag.is_empty() {
            self.chunk.tag_last(tag);
        }
        self.count_row();
        Ok(())
    }

    /// Finishes a row of a format where only the sum of repeated features can be refused.
    pub(crate) fn finish_adding(
        &mut self,
        label: Option<f64>,
        weight: f64,
        tag: &[u8],
    ) -> Result<(), Bad> {
        self.settle()?;
        self.chunk
            .finish_row(label, weight, Repeats::Add)
            .map_err(|e| Bad::new(DataErrorKind::Number, 0, e.to_string()))?;
        self.tag_row(tag);
        if let Some(base) = self.base.take() {
            self.chunk.base_last(base);
        }
        self.count_row();
        Ok(())
    }

    /// Gives the row just finished its tag, with the cells that travel with it.
    #[inline]
    fn tag_row(&mut self, tag: &[u8]) {
        if self.carried.is_used() {
            self.chunk.tag_last(self.carried.take(tag));
        } else if !tag.is_empty() {
            self.chunk.tag_last(tag);
        }
    }

    #[inline]
    fn count_row(&mut self) {
        let last = self.chunk.len() - 1;
        if let Some(&j) = self.chunk.row(last).indices().last() {
            self.out.largest = self.out.largest.max(j);
        }
        self.out.rows += 1;
        if self.chunk.len() >= self.spec.options.bounds.chunk_rows {
            self.hand_over_chunk();
        }
    }

    /// Multiplies namespaces, and moves hashed features in order into the row under construction.
    #[inline]
    fn settle(&mut self) -> Result<(), Bad> {
        self.push_products()?;
        if let Some(shape) = self.shape.take() {
            self.push_pairs(&shape);
            self.shape = Some(shape);
        }
        if !self.hashed.slots.is_empty() {
            self.hashed.move_into(&mut self.chunk);
        }
        Ok(())
    }

    /// Throws the row under construction away.
    pub(crate) fn abandon_row(&mut self) {
        self.base = None;
        self.abandon_features();
    }

    /// Throws the features of the row under construction away.
    pub(crate) fn abandon_features(&mut self) {
        self.chunk.abandon_row();
        self.carried.clear();
        self.hashed.clear();
        self.noted_ids.clear();
        if let Some(cross) = &mut self.cross {
            cross.clear();
        }
        if self.is_shaped() {
            self.paired.clear();
        }
    }

    /// Notes a bad row at a line of this piece; false when that was one too many to continue.
    #[cold]
    pub(crate) fn refuse(&mut self, line: u64, bad: Bad) -> bool {
        self.abandon_row();
        self.out.bad.push((self.out.rows, line, bad));
        self.out.bad.len() as u64 <= self.spec.options.bounds.skip_bad
    }
}
