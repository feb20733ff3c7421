//! Where every format's rows end up: one piece of input becomes chunks, names and bad rows.

use std::sync::Arc;

use parsimon_core::{Chunk, NumberColumn, Repeats, RowError};
use parsimon_files::memory;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::carried::CarriedRow;
use crate::columns::{Columns, Role};
use crate::cross::Cross;
use crate::curves::{PairedRow, Shape};
use crate::error::{Bad, DataError, shown};
use crate::kinds::{Missing, NumberForm};
use crate::label::{Found, LabelReader, LabelTexts, is_code, trimmed};
use crate::names::News;
use crate::remedy::{Message, Remedy};
use crate::seen::{Recent, Seen};
use crate::separators::Separators;
use crate::{DataErrorKind, Options, Space, hash, row_sort};

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
    /// How the labels of a table are written.
    pub(crate) label_form: NumberForm,
    /// The longest run of words that is a feature of a text column.
    pub(crate) ngrams: usize,
    /// Only labels are wanted: features may be skipped.
    pub(crate) labels_only: bool,
    /// How many cells travel with each row.
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

/// Limit of the number of products of one row.
const FEW_CROSSES: u64 = 1 << 16;

/// What a product takes: slot, value and key, in vectors that double, here and in the rows.
const CROSS: u64 = 64;

/// Refuses more products than can be counted, or than there is memory for.
#[cold]
fn check_crosses(products: u64, most: u64) -> Result<(), Bad> {
    let words = match memory::check(products.saturating_mul(CROSS)) {
        _ if products > most => {
            format!("the row's interactions are {products} features, more than {most}").into()
        }
        Err(shortage) => {
            let what = format!("a row whose interactions are {products} features");
            let advice = Remedy::Advice("use fewer interactions".into());
            Message::shortage(&shortage, &what, &[advice])
        }
        Ok(()) => return Ok(()),
    };
    Err(Bad::new(DataErrorKind::TooLong, 0, words))
}

/// The columns of a table whose rows name their cells.
#[derive(Debug)]
pub(crate) struct NamedColumns {
    pub(crate) columns: Arc<Columns>,
    places: FxHashMap<String, usize>,
}

impl NamedColumns {
    fn new(columns: &Arc<Columns>) -> Self {
        let places = columns.columns.iter().zip(0..);
        let places = places.map(|(column, place)| (column.name.clone(), place)).collect();
        Self { columns: columns.clone(), places }
    }

    /// The place of a column.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Whether a field is read though the row has an object of features beside it.
    pub(crate) fn is_beside_features(&self, name: &str) -> bool {
        self.place(name).is_some_and(|place| {
            let column = &self.columns.columns[place];
            matches!(column.role, Role::Label | Role::Weight) || column.carried.is_some()
        })
    }
}

/// Maximum number of remembered fields that no schema knows.
const MOST_UNKNOWN: usize = 1000;

/// A row of hashed features before it is sorted.
#[derive(Debug, Default)]
struct HashedRow {
    slots: Vec<u32>,
    values: Vec<f64>,
    keys: Vec<u64>,
    buffers: Box<row_sort::SortBuffers>,
}

impl HashedRow {
    #[inline(always)]
    fn push(&mut self, slot: u32, value: f64) {
        self.slots.push(slot);
        self.values.push(value);
    }

    fn clear(&mut self) {
        self.slots.clear();
        self.values.clear();
    }

    /// Moves the row in the order of its slots, adds up features of one slot in the order they stand in, and forgets it.
    #[inline]
    fn move_into(&mut self, chunk: &mut Chunk) {
        let (slots, values) = (&self.slots[..], &self.values[..]);
        // PERF: slots come in no order, so every row must be sorted. Most rows are short and meet no slot twice.
        if !row_sort::push_distinct(slots, values, &mut self.buffers, chunk) {
            self.sort_into(chunk);
        }
        self.clear();
    }

    /// Finishes a row of any length by sorting its features.
    fn sort_into(&mut self, chunk: &mut Chunk) {
        // INVARIANT: a line of at most 1 GiB and at most 2^27 products are fewer than 2^32.
        let key = |(k, &slot): (usize, &u32)| u64::from(slot) << 32 | u64::from(k as u32);
        self.keys.clear();
        self.keys.extend(self.slots.iter().enumerate().map(key));
        self.keys.sort_unstable();
        let value =
            |key: u64| self.values.get((key & 0xffff_ffff) as usize).copied().unwrap_or(0.0);
        let mut keys = self.keys.iter().copied();
        if let Some(first) = keys.next() {
            let (mut slot, mut sum) = ((first >> 32) as u32, value(first));
            for key in keys {
                let next = (key >> 32) as u32;
                if next == slot {
                    sum += value(key);
                } else {
                    chunk.push_feature(slot, sum);
                    (slot, sum) = (next, value(key));
                }
            }
            chunk.push_feature(slot, sum);
        }
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
    /// Of the text being parsed, for parsers that want to know them.
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

    /// The columns, for rows that name their cells.
    pub(crate) fn named(&mut self, columns: &Arc<Columns>) -> Arc<NamedColumns> {
        match &self.named_columns {
            Some(named) if Arc::ptr_eq(&named.columns, columns) => named.clone(),
            _ => self.named_columns.insert(Arc::new(NamedColumns::new(columns))).clone(),
        }
    }

    /// Notes a field that is no column of the table.
    pub(crate) fn note_unknown(&mut self, field: &str) {
        if self.unknown.len() < MOST_UNKNOWN && !self.unknown.contains(field) {
            self.unknown.insert(field.into());
            self.out.unknown.push(field.into());
        }
    }

    /// Says which columns the table has whose numbers stay apart, before its first row.
    pub(crate) fn begin_table(&mut self, columns: &Columns) {
        self.begin_numbers(columns.numbers());
        self.shape = columns.shape.clone().filter(|_| !self.is_ids());
        self.paired.begin(self.shape.as_ref().map_or(0, |shape| shape.sides));
    }

    /// The same for a table whose features are made.
    pub(crate) fn begin_numbers<'a>(&mut self, names: impl Iterator<Item = (u32, &'a str)>) {
        self.shape = None;
        self.columns.clear();
        if self.spec.options.reading.numbers_apart {
            let bits = self.bits;
            let is_ids = self.is_ids();
            self.columns.extend(names.map(|(id, name)| match is_ids {
                true => NumberColumn { key: id.into(), id },
                false => {
                    let key = hash::feature(0, name.as_bytes());
                    NumberColumn { key, id: hash::slot(key, bits) }
                }
            }));
        }
        self.chunk.set_columns(&self.columns);
    }

    /// The number of columns whose numbers stay apart.
    #[cfg(feature = "columnar")]
    pub(crate) fn number_columns(&self) -> usize {
        self.columns.len()
    }

    /// Whether number columns have curves, or columns are paired.
    #[inline]
    pub(crate) fn is_shaped(&self) -> bool {
        self.shape.is_some()
    }

    /// Adds the features that the curve of the table's `k`-th number column has for a cell, and notes its bin.
    #[inline]
    pub(crate) fn push_shape(&mut self, k: usize, value: f64) {
        // PERF: moved out and back, not counted.
        if let Some(shape) = self.shape.take() {
            self.push_shaped(&shape, k, value);
            self.shape = Some(shape);
        }
    }

    fn push_shaped(&mut self, shape: &Shape, k: usize, value: f64) {
        if let Some(Some(curve)) = shape.curves.get(k) {
            for (hat, value) in curve.hats(value) {
                if value != 0.0 {
                    self.hashed.push(hash::slot(hat.hash, self.bits), value);
                    self.report_name(hat.hash, || (b"", &hat.name));
                }
            }
        }
        if let Some(Some((place, bins))) = shape.bins.get(k) {
            let bin = bins.of(value);
            self.paired.put(*place, bin.hash, &bin.name);
        }
    }

    /// Notes the category of a column, if it is in a pair.
    #[inline]
    pub(crate) fn note_category(&mut self, column: &str, name: &[u8]) {
        if let Some(shape) = &self.shape
            && let Some(&place) = shape.categories.get(column)
        {
            self.paired.put(place, hash::feature(0, name), name);
        }
    }

    /// Whether numbers of tables stay apart from the features.
    pub(crate) fn keeps_numbers_apart(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Adds a cell of the table's `k`-th number column, which stays apart. Interactions take it as it is.
    pub(crate) fn push_number(&mut self, k: usize, name: &[u8], value: f64) {
        self.chunk.open_numbers()[k] = value;
        self.report_number(k, name);
        let key = self.columns[k].key;
        if let Some(cross) = self.cross.as_mut().filter(|_| self.spec.space != Space::Ids) {
            cross.add(key, b"", name, value);
        }
    }

    /// Reports the table's `k`-th number column, of which there is a cell.
    pub(crate) fn report_number(&mut self, k: usize, name: &[u8]) {
        let NumberColumn { key, id } = self.columns[k];
        self.out.largest = self.out.largest.max(id);
        if !self.is_ids() {
            self.report_name(key, || (b"", name));
        }
    }

    /// Adds a row of features in the order of their slots, which are all different; those whose value is NaN are missing. Names are for
    /// the caller to report.
    pub(crate) fn push_in_order(
        &mut self,
        slots: &[u32],
        values: &[f64],
        label: Option<f64>,
    ) -> Result<(), Bad> {
        // PERF: most rows have all cells, and are copied in one piece.
        if values.iter().fold(false, |any, v| any | v.is_nan()) {
            for (&slot, &value) in slots.iter().zip(values).filter(|(_, v)| !v.is_nan()) {
                self.chunk.push_feature(slot, value);
            }
        } else {
            self.chunk.push_features(slots, values);
        }
        self.finish_adding(label, 1.0, b"")
    }

    /// Adds a row of nothing but numbers that stay apart, NaN where one is missing. Its columns are for the caller to report.
    pub(crate) fn push_cells(&mut self, cells: &[f64], label: Option<f64>) -> Result<(), Bad> {
        self.chunk.open_numbers().copy_from_slice(cells);
        self.finish_adding(label, 1.0, b"")
    }

    /// Adds rows of nothing but numbers that stay apart: for each column its place and its cells, NaN where one is missing, and so for
    /// labels. Columns are for the caller to report.
    #[cfg(feature = "columnar")]
    pub(crate) fn push_number_rows(&mut self, labels: &[f64], columns: &[(usize, &[f64])]) {
        let mut start = 0;
        while start < labels.len() {
            let room = self.spec.options.bounds.chunk_rows - self.chunk.len();
            let end = labels.len().min(start + room);
            let cells: Vec<_> = columns.iter().map(|&(k, all)| (k, &all[start..end])).collect();
            self.chunk.push_number_rows(&labels[start..end], &cells);
            self.out.rows += (end - start) as u64;
            if self.chunk.len() >= self.spec.options.bounds.chunk_rows {
                self.hand_over_chunk();
            }
            start = end;
        }
    }

    /// The logarithm of the number of slots.
    pub(crate) fn bits(&self) -> u8 {
        self.bits
    }

    /// Processes a cell that travels with the row.
    pub(crate) fn carry(&mut self, k: u32, content: &[u8]) {
        self.carried.put(k, content);
    }

    /// Whether features are ids.
    pub(crate) fn is_ids(&self) -> bool {
        self.spec.space == Space::Ids
    }

    /// Whether namespaces matter beyond hashing.
    pub(crate) fn is_crossing(&self) -> bool {
        self.cross.is_some()
    }

    /// Says which namespace the next features belong to, for interactions.
    pub(crate) fn enter(&mut self, namespace: &[u8]) {
        if let Some(cross) = &mut self.cross
            && cross.enter(namespace)
        {
            self.out.namespaces.push(String::from_utf8_lossy(namespace).into_owned());
        }
    }

    /// Adds a feature of the id space.
    #[inline]
    pub(crate) fn push_id(&mut self, id: u32, value: f64) {
        self.chunk.push_feature(id, value);
    }

    /// Notes an id whose digits are hashed, for [`repeated_id`](Builder::repeated_id).
    pub(crate) fn note_id(&mut self, id: u32) {
        self.noted_ids.push(id);
    }

    /// The least of the ids noted for this row that was noted twice.
    pub(crate) fn repeated_id(&mut self) -> Option<u32> {
        self.noted_ids.sort_unstable();
        let repeated =
            self.noted_ids.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        self.noted_ids.clear();
        repeated
    }

    /// Adds features of the id space.
    #[inline]
    pub(crate) fn push_ids(&mut self, ids: &[u32], values: &[f64]) {
        self.chunk.push_features(ids, values);
    }

    /// Adds features of value 1; the caller may replace the values.
    #[inline]
    pub(crate) fn push_ones(&mut self, ids: impl Iterator<Item = u32>) -> (&[u32], &mut [f64]) {
        self.chunk.push_ones(ids)
    }

    /// The seed of a namespace.
    #[inline(always)]
    pub(crate) fn seed(&self, namespace: &[u8]) -> u64 {
        match namespace {
            // PERF: most are called by one letter.
            &[letter] => self.letters[letter as usize].0,
            _ => hash::namespace(namespace),
        }
    }

    /// Adds a feature of the hashed space: `text` in a namespace and its seed.
    #[inline]
    pub(crate) fn push_named(&mut self, seed: u64, namespace: &[u8], text: &[u8], value: f64) {
        let h = hash::feature(seed, text);
        self.hashed.push(hash::slot(h, self.bits), value);
        self.report_name(h, || (namespace, text));
        if let Some(cross) = &mut self.cross {
            cross.add(h, namespace, text, value);
        }
    }

    /// Adds features of the hashed space by their slots, the last of their row or not; their names are for the caller to report, and they
    /// take part in no interaction.
    #[inline]
    pub(crate) fn push_slots(&mut self, slots: &[u32], values: &[f64], are_last: bool) {
        // PERF: a whole row need not be put together first.
        let Self { hashed, chunk, .. } = self;
        if are_last
            && hashed.slots.is_empty()
            && row_sort::push_distinct(slots, values, &mut hashed.buffers, chunk)
        {
            return;
        }
        self.hashed.slots.extend_from_slice(slots);
        self.hashed.values.extend_from_slice(values);
    }

    /// Whether names are kept.
    pub(crate) fn keeps_names(&self) -> bool {
        self.seen.is_some()
    }

    /// Says that a name will be reported soon.
    #[inline(always)]
    pub(crate) fn prefetch_name(&self, h: u64) {
        if let Some(seen) = &self.seen {
            seen.prefetch(h);
        }
    }

    /// Reports a name, namespace and text, if it is new.
    #[inline(always)]
    pub(crate) fn report_name<'a>(&mut self, h: u64, name: impl FnOnce() -> (&'a [u8], &'a [u8])) {
        if let Some(seen) = &mut self.seen
            && !self.recent.has(h)
        {
            self.recent.put(h);
            if seen.is_new(h) {
                let (namespace, text) = name();
                self.out.news.push(hash::slot(h, self.bits), namespace, text);
            }
        }
    }

    /// Returns the number that the loss receives for a label; under `Labels::Any` a text is remembered.
    #[inline]
    pub(crate) fn label(&mut self, found: Found<'_>, column: usize) -> Result<Option<f64>, Bad> {
        let found = match found {
            Found::Text(text) if self.spec.label_form != NumberForm::Plain => {
                self.spec.label_form.read(text.trim_ascii()).map_or(found, Found::Number)
            }
            found => found,
        };
        let y = self.spec.labels.read(found, column, self.spec.max_label)?;
        if let (Some(y), Found::Text(text)) = (y, found)
            && is_code(y)
        {
            self.remember_label(y, text);
        }
        Ok(y)
    }

    /// Reads a label that is true or false: one of these words where labels are words, else 1 or 0.
    pub(crate) fn truth_label(&mut self, truth: bool, column: usize) -> Result<Option<f64>, Bad> {
        let number = Found::Number(f64::from(truth));
        if self.spec.labels.are_numbers() {
            return self.label(number, column);
        }
        let word: &[u8] = if truth { b"true" } else { b"false" };
        match self.label(Found::Text(word), column) {
            Ok(Some(y)) => Ok(Some(y)),
            _ => self.label(number, column),
        }
    }

    /// Remembers the text of a label's code.
    pub(crate) fn remember_label(&mut self, code: f64, text: &[u8]) {
        if !self.label_texts.contains(code) {
            let text = trimmed(text);
            let text = String::from_utf8_lossy(text).into_owned();
            self.label_texts.remember(code, &text);
            self.out.label_news.push(text);
        }
    }

    /// A missing label, where a format must have one.
    pub(crate) fn no_label(&self, column: usize) -> Result<Option<f64>, Bad> {
        if self.spec.labels.may_be_missing() {
            Ok(None)
        } else {
            Err(Bad::new(
                DataErrorKind::Label,
                column,
                Message::new("the label is missing").or(Remedy::SkipBad),
            ))
        }
    }

    /// Gives the row under construction a base value; 0 is none.
    pub(crate) fn set_base(&mut self, token: &[u8], column: usize) -> Result<(), Bad> {
        let base = crate::number::bounded(token, column, self.spec.max_value)?;
        self.base = (base != 0.0).then_some(base);
        if self.base.is_some() && self.spec.labels.is_of_several_classes() {
            let words = format!(
                "base value {} is for one margin, and each of several classes has one; remove the number",
                shown(token)
            );
            return Err(Bad::new(DataErrorKind::Malformed, column, words).found(token));
        }
        Ok(())
    }

    /// Checks an importance weight.
    pub(crate) fn importance(&self, token: &[u8], column: usize) -> Result<f64, Bad> {
        let weight = crate::number::bounded(token, column, self.spec.max_value)?;
        if weight < 0.0 {
            let words = format!("importance weight {} is negative", shown(token));
            return Err(Bad::new(DataErrorKind::Number, column, words).found(token));
        }
        Ok(weight)
    }

    /// Finishes the row under construction; `explain` finds the place of what it is refused for.
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
        if let Some(cross) = &self.cross {
            let (products, most) = (cross.count(), self.spec.options.bounds.products);
            if products > FEW_CROSSES.min(most) {
                check_crosses(products, most)?;
            }
            self.push_crosses();
        }
        if let Some(shape) = self.shape.take() {
            self.push_pairs(&shape);
            self.shape = Some(shape);
        }
        if !self.hashed.slots.is_empty() {
            self.hashed.move_into(&mut self.chunk);
        }
        Ok(())
    }

    /// Adds the features of pairs of columns.
    fn push_pairs(&mut self, shape: &Shape) {
        let Self { bits, hashed, seen, recent, out, paired, .. } = self;
        paired.generate(&shape.pairs, |h, a, b| {
            let slot = hash::slot(h, *bits);
            hashed.push(slot, 1.0);
            if let Some(seen) = seen
                && !recent.has(h)
            {
                recent.put(h);
                if seen.is_new(h) {
                    out.news.push_with(slot, |text| {
                        text.extend_from_slice(a);
                        text.push(b'*');
                        text.extend_from_slice(b);
                    });
                }
            }
        });
    }

    fn push_crosses(&mut self) {
        let Some(cross) = &mut self.cross else { return };
        let (bits, hashed, seen, news) =
            (self.bits, &mut self.hashed, &mut self.seen, &mut self.out.news);
        let recent = &mut self.recent;
        cross.generate(|h, value, factors| {
            let slot = hash::slot(h, bits);
            hashed.push(slot, value);
            if let Some(seen) = seen
                && !recent.has(h)
            {
                recent.put(h);
                if seen.is_new(h) {
                    news.push_with(slot, |text| factors.write(text));
                }
            }
        });
    }

    /// Forgets which names were reported, so that all are new again.
    pub(crate) fn forget_names(&mut self) {
        if let Some(seen) = &mut self.seen {
            *seen = Seen::new(seen.most());
            self.recent = Recent::new();
        }
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
