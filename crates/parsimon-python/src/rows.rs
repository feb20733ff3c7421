//! Arrays of Python seen as rows, without a copy of them: what a learner needs is converted block by block.
//!
//! Column `j` is the feature `j + 1`, as in svmlight files counted from 1, so that models are shared with the program.

use std::ops::Range;

use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use parsimon::Settings;
use parsimon::predict::Scorer;
use parsimon::rows::{Chunk, Repeats};
use parsimon::workspace::NumberColumn;
use parsimon::workspace::{ArrayIndex, ArrayValue, ColumnMoments, NumberScorer, SparseRows};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::BadInput;

/// A matrix whose rows can be copied into a chunk.
pub(crate) trait Rows: Sync {
    /// The number of rows.
    fn len(&self) -> usize;
    /// Whether every value is a number up to `limit` and every index in its place; else what is wrong, and where.
    fn check(&self, limit: f64) -> Result<(), BadInput> {
        self.check_form()?;
        self.check_rows(0..self.len(), limit)
    }
    /// Whether the arrays belong together.
    fn check_form(&self) -> Result<(), BadInput>;
    /// Whether the entries of some rows are numbers up to `limit`, and in their places.
    fn check_rows(&self, rows: Range<usize>, limit: f64) -> Result<(), BadInput>;
    /// Appends row `i` to the row under construction.
    fn push(&self, i: usize, chunk: &mut Chunk);
    /// The number of columns.
    fn columns(&self) -> usize;
    /// Whether every cell is there, zeros included.
    fn is_dense(&self) -> bool;
    /// The cells that are there, for an estimate of memory.
    fn cells(&self) -> usize;
    /// Adds the cells of row `i` to those of all columns.
    fn fill(&self, i: usize, cells: &mut [f64]);
    /// Calls `found` with each column of row `i` whose cell is missing.
    fn missing(&self, _i: usize, _found: &mut dyn FnMut(usize)) {}
    /// Appends the cells of rows, row after row.
    fn copy_cells(&self, rows: Range<usize>, cells: &mut Vec<f64>) {
        let start = cells.len();
        cells.resize(start + rows.len() * self.columns(), 0.0);
        let each = cells[start..].chunks_exact_mut(self.columns().max(1));
        rows.zip(each).for_each(|(i, row)| self.fill(i, row));
    }
    /// The number of entries.
    fn entries(&self) -> usize;
    /// Appends the margins of rows of a matrix of good form, as they are for their copies in a chunk, up to a row that must be
    /// checked or put in order first. Returns the number of rows scored.
    fn score(
        &self,
        rows: Range<usize>,
        scorer: &Scorer,
        spare: &mut Spare,
        margins: &mut Vec<f64>,
    ) -> usize;
}

/// Room for the cells of a row that are not zero, and their columns.
#[derive(Default)]
pub(crate) struct Spare {
    columns: Vec<i32>,
    values: Vec<f64>,
}

/// The margins of some rows of a matrix of good form, by weights that are laid out.
pub(crate) fn score_rows(
    rows: &dyn Rows,
    block: Range<usize>,
    limit: f64,
    scorer: &Scorer,
    margins: &mut Vec<f64>,
) -> Result<(), BadInput> {
    let (mut spare, mut chunk) = (Spare::default(), Chunk::new());
    let Range { mut start, end } = block;
    loop {
        // PERF: nearly all rows are in order; what is wrong with the others comes second.
        start += rows.score(start..end, scorer, &mut spare, margins);
        if start == end {
            return Ok(());
        }
        rows.check_rows(start..start + 1, limit)?;
        chunk.clear();
        copy_row(rows, start, None, 1.0, &mut chunk)?;
        scorer.margins(&chunk, margins);
        start += 1;
    }
}

/// A model laid out for arrays of one kind.
pub(crate) enum ArrayScorer {
    /// Rows whose cells are features.
    Features(Box<Scorer>),
    /// Rows whose cells are number columns, and their number.
    Numbers(NumberScorer, usize),
}

impl ArrayScorer {
    /// Lays a model out; `None` if rows have to be copied into a chunk first.
    pub(crate) fn new(scorer: Scorer, cells: Cells, rows: &dyn Rows) -> Option<Self> {
        match cells {
            Cells::Features => scorer.is_linear().then(|| Self::Features(Box::new(scorer))),
            Cells::Columns => scorer
                .for_numbers(&number_columns(rows))
                .map(|scorer| Self::Numbers(scorer, rows.columns())),
        }
    }

    /// Whether it was laid out for arrays of this width.
    pub(crate) fn fits(&self, rows: &dyn Rows) -> bool {
        matches!(self, Self::Features(_))
            || matches!(self, Self::Numbers(_, columns) if *columns == rows.columns())
    }

    /// Appends the margins of rows of a matrix of good form.
    pub(crate) fn margins(
        &self,
        rows: &dyn Rows,
        block: Range<usize>,
        limit: f64,
        margins: &mut Vec<f64>,
    ) -> Result<(), BadInput> {
        match self {
            Self::Features(scorer) => score_rows(rows, block, limit, scorer, margins),
            Self::Numbers(scorer, _) => {
                rows.check_rows(block.clone(), limit)?;
                let mut cells = Vec::with_capacity(block.len() * rows.columns());
                rows.copy_cells(block, &mut cells);
                scorer.margins(&cells, margins);
                Ok(())
            }
        }
    }
}

/// The columns of an array as number columns.
pub(crate) fn number_columns(x: &dyn Rows) -> Vec<NumberColumn> {
    let column = |j: usize| NumberColumn { key: j as u64 + 1, id: j as u32 + 1 };
    (0..x.columns()).map(column).collect()
}

/// Conversions of the cells of an array to features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cells {
    /// Each by itself; zeros are none.
    Features,
    /// As number columns, which the learner standardizes: zero is a value.
    Columns,
}

impl Cells {
    /// Dense arrays are number columns for a learner that normalizes. A learner that began with one kind of array stays with
    /// what it began with, so that a sparse matrix means what the same dense one means.
    pub(crate) fn of(
        settings: &Settings,
        columns: &[ColumnMoments],
        rows: u64,
        x: &dyn Rows,
    ) -> Self {
        let begins = if rows == 0 { x.is_dense() } else { !columns.is_empty() };
        if settings.is_normalized() && begins { Cells::Columns } else { Cells::Features }
    }

    /// Lays an empty chunk out for rows of an array.
    pub(crate) fn begin(self, x: &dyn Rows, chunk: &mut Chunk) {
        chunk.clear();
        if self == Cells::Columns {
            chunk.set_columns(&number_columns(x));
        }
    }
}

/// A value of an array.
trait Value: Element + ArrayValue {}
impl<V: Element + ArrayValue> Value for V {}

/// An index of an array.
trait Index: Element + ArrayIndex {}
impl<I: Element + ArrayIndex> Index for I {}

/// The first value that is no finite number up to `limit`. NaN is one only if it stands for a missing cell.
fn find_bad<V: Value>(values: &[V], limit: f64, may_be_missing: bool) -> Option<usize> {
    // NaN is not within any limit.
    let is_good = |v: &V| v.wide().abs() <= limit;
    // PERF: the usual answer, none, is found without a branch per value.
    let good = values.chunks(1024).all(|c| c.iter().fold(true, |g, v| g & is_good(v)));
    let is_bad = |v: &V| !(is_good(v) || may_be_missing && v.wide().is_nan());
    if good { None } else { values.iter().position(is_bad) }
}

fn complaint(value: f64, row: usize, column: usize, limit: f64) -> BadInput {
    if value.is_finite() {
        let words = format!(
            "X has {value} at row {row}, column {column}: too large, the limit is {limit:e}"
        );
        return BadInput::new(words).at(row, column);
    }
    let what = if value.is_nan() { "NaN" } else { "infinity (inf)" };
    BadInput::new(format!("X contains {what} at row {row}, column {column}")).at(row, column)
}

struct Dense<'a, V> {
    values: &'a [V],
    rows: usize,
    columns: usize,
    /// Whether NaN stands for a missing cell, as in a frame.
    may_be_missing: bool,
}

impl<V: Value> Rows for Dense<'_, V> {
    fn len(&self) -> usize {
        self.rows
    }
    fn check_form(&self) -> Result<(), BadInput> {
        Ok(())
    }
    fn check_rows(&self, rows: Range<usize>, limit: f64) -> Result<(), BadInput> {
        let start = rows.start * self.columns;
        let values = &self.values[start..rows.end * self.columns];
        match find_bad(values, limit, self.may_be_missing) {
            None => Ok(()),
            Some(k) => {
                let k = start + k;
                let (row, column) = (k / self.columns, k % self.columns);
                Err(complaint(self.values[k].wide(), row, column, limit))
            }
        }
    }
    fn push(&self, i: usize, chunk: &mut Chunk) {
        let row = &self.values[i * self.columns..(i + 1) * self.columns];
        // Zeros are dropped when the row is finished. A missing cell is no feature.
        let cell = |v: &V| if v.wide().is_nan() { 0.0 } else { v.wide() };
        chunk.extend_row((1..).take(row.len()), row.iter().map(cell));
    }
    fn missing(&self, i: usize, found: &mut dyn FnMut(usize)) {
        if self.may_be_missing {
            let row = &self.values[i * self.columns..(i + 1) * self.columns];
            (0..).zip(row).filter(|(_, v)| v.wide().is_nan()).for_each(|(j, _)| found(j));
        }
    }
    fn columns(&self) -> usize {
        self.columns
    }
    fn is_dense(&self) -> bool {
        true
    }
    fn cells(&self) -> usize {
        self.values.len()
    }
    fn fill(&self, i: usize, cells: &mut [f64]) {
        let row = &self.values[i * self.columns..(i + 1) * self.columns];
        cells.iter_mut().zip(row).for_each(|(cell, v)| *cell = v.wide());
    }
    fn copy_cells(&self, rows: Range<usize>, cells: &mut Vec<f64>) {
        let values = &self.values[rows.start * self.columns..rows.end * self.columns];
        cells.extend(values.iter().map(|v| v.wide()));
    }
    fn entries(&self) -> usize {
        self.values.len()
    }
    fn score(
        &self,
        rows: Range<usize>,
        scorer: &Scorer,
        spare: &mut Spare,
        margins: &mut Vec<f64>,
    ) -> usize {
        let mut i = rows.start;
        loop {
            let cells = &self.values[i * self.columns..rows.end * self.columns];
            i += scorer.margins_of_dense(cells, self.columns, margins);
            if i == rows.end || !self.score_sparse(i, scorer, spare, margins) {
                return i - rows.start;
            }
            i += 1;
        }
    }
}

impl<V: Value> Dense<'_, V> {
    /// Scores a row with zeros; `false` if it must be checked first.
    fn score_sparse(
        &self,
        i: usize,
        scorer: &Scorer,
        spare: &mut Spare,
        margins: &mut Vec<f64>,
    ) -> bool {
        let row = &self.values[i * self.columns..(i + 1) * self.columns];
        let Spare { columns, values } = spare;
        columns.clear();
        values.clear();
        let is_cell = |v: f64| v != 0.0 && !(self.may_be_missing && v.is_nan());
        for (j, v) in (0..).zip(row).filter(|(_, v)| is_cell(v.wide())) {
            columns.push(j);
            values.push(v.wide());
        }
        let starts = [0, columns.len() as i32];
        let rows = SparseRows { starts: &starts, indices: columns, values, columns: self.columns };
        scorer.margins_of_sparse(&rows, margins) == 1
    }
}

struct Csr<'a, I, V> {
    indptr: &'a [I],
    indices: &'a [I],
    data: &'a [V],
    columns: usize,
}

impl<I: Index, V: Value> Rows for Csr<'_, I, V> {
    fn len(&self) -> usize {
        self.indptr.len().saturating_sub(1)
    }
    fn check_form(&self) -> Result<(), BadInput> {
        let ordered = self.indptr.windows(2).fold(true, |g, p| g & (p[0] <= p[1]));
        let start = self.indptr.first().map_or(0, |p| p.place());
        let end = self.indptr.last().map_or(0, |p| p.place());
        if !ordered || start > end || end > self.data.len() || end > self.indices.len() {
            let words = "X is no CSR matrix: indptr does not fit indices and data";
            return Err(BadInput::new(words));
        }
        Ok(())
    }
    fn check_rows(&self, rows: Range<usize>, limit: f64) -> Result<(), BadInput> {
        let (start, end) = (self.indptr[rows.start].place(), self.indptr[rows.end].place());
        let columns = self.columns;
        let inside = self.indices[start..end].iter().fold(true, |g, j| g & j.is_below(columns));
        if !inside {
            let words = format!("X is no CSR matrix: an index is not below {columns} columns");
            return Err(BadInput::new(words));
        }
        match find_bad(&self.data[start..end], limit, false) {
            None => Ok(()),
            Some(k) => {
                let k = start + k;
                let row = self.indptr.partition_point(|p| p.place() <= k) - 1;
                Err(complaint(self.data[k].wide(), row, self.indices[k].place(), limit))
            }
        }
    }
    fn push(&self, i: usize, chunk: &mut Chunk) {
        let (a, b) = (self.indptr[i].place(), self.indptr[i + 1].place());
        // A zero that is spelled out is dropped when the row is finished.
        let ids = self.indices[a..b].iter().map(|j| j.id());
        chunk.extend_row(ids, self.data[a..b].iter().map(|v| v.wide()));
    }
    fn columns(&self) -> usize {
        self.columns
    }
    fn is_dense(&self) -> bool {
        false
    }
    fn cells(&self) -> usize {
        self.data.len()
    }
    fn fill(&self, i: usize, cells: &mut [f64]) {
        let (a, b) = (self.indptr[i].place(), self.indptr[i + 1].place());
        for (j, v) in self.indices[a..b].iter().zip(&self.data[a..b]) {
            cells[j.place()] += v.wide();
        }
    }
    fn entries(&self) -> usize {
        self.indices.len()
    }
    fn score(
        &self,
        rows: Range<usize>,
        scorer: &Scorer,
        _: &mut Spare,
        margins: &mut Vec<f64>,
    ) -> usize {
        let Self { indptr, indices, data, columns } = *self;
        let starts = &indptr[rows.start..=rows.end];
        scorer.margins_of_sparse(&SparseRows { starts, indices, values: data, columns }, margins)
    }
}

/// Row `i` of a matrix into a chunk. The matrix has been checked; repeated entries add up, as SciPy means them.
pub(crate) fn copy_row(
    rows: &dyn Rows,
    i: usize,
    label: Option<f64>,
    weight: f64,
    chunk: &mut Chunk,
) -> Result<(), BadInput> {
    if chunk.columns().is_empty() {
        rows.push(i, chunk);
    } else {
        let cells = chunk.open_numbers();
        cells.fill(0.0);
        rows.fill(i, cells);
    }
    let refused = |e| BadInput::new(format!("row {i}: {e}")).at_row(i);
    chunk.finish_row(label, weight, Repeats::Add).map_err(refused)
}

/// The arrays of a CSR matrix and the number of its columns.
type Parts<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize);

/// Hands the rows of a C-ordered array of two dimensions, or of a tuple `(indptr, indices, data, columns)`, to `work`. In a tuple
/// `(array,)` NaN stands for a missing cell.
pub(crate) fn with_rows<'py, R>(
    x: &Bound<'py, PyAny>,
    work: impl FnOnce(&dyn Rows) -> PyResult<R>,
) -> PyResult<R> {
    let frame = x.extract::<(Bound<'py, PyAny>,)>().ok();
    let (array, may_be_missing) = frame.as_ref().map_or((x, false), |(array,)| (array, true));
    if let Ok(array) = array.extract::<PyReadonlyArray2<'py, f64>>() {
        return with_dense(&array, may_be_missing, work);
    }
    if let Ok(array) = array.extract::<PyReadonlyArray2<'py, f32>>() {
        return with_dense(&array, may_be_missing, work);
    }
    let Ok((indptr, indices, data, columns)) = x.extract::<Parts<'py>>() else {
        return Err(PyTypeError::new_err(
            "X must be an array of float32 or float64, or (indptr, indices, data, columns)",
        ));
    };
    if columns >= u32::MAX as usize {
        return Err(PyValueError::new_err("X has more columns than there are feature ids"));
    }
    match indices.extract::<PyReadonlyArray1<'py, i32>>() {
        Ok(indices) => with_csr(&indptr, &indices, &data, columns, work),
        Err(_) => with_csr(
            &indptr,
            &indices.extract::<PyReadonlyArray1<'py, i64>>()?,
            &data,
            columns,
            work,
        ),
    }
}

fn with_dense<V: Value, R>(
    array: &PyReadonlyArray2<'_, V>,
    may_be_missing: bool,
    work: impl FnOnce(&dyn Rows) -> PyResult<R>,
) -> PyResult<R> {
    let (rows, columns) = array.as_array().dim();
    if !array.is_c_contiguous() {
        return Err(PyTypeError::new_err("X must be in C order"));
    }
    work(&Dense { values: array.as_slice()?, rows, columns, may_be_missing })
}

fn with_csr<'py, I: Index, R>(
    indptr: &Bound<'py, PyAny>,
    indices: &PyReadonlyArray1<'py, I>,
    data: &Bound<'py, PyAny>,
    columns: usize,
    work: impl FnOnce(&dyn Rows) -> PyResult<R>,
) -> PyResult<R> {
    let indptr = indptr.extract::<PyReadonlyArray1<'py, I>>()?;
    let (indptr, indices) = (indptr.as_slice()?, indices.as_slice()?);
    if let Ok(data) = data.extract::<PyReadonlyArray1<'py, f64>>() {
        return work(&Csr { indptr, indices, data: data.as_slice()?, columns });
    }
    let data = data.extract::<PyReadonlyArray1<'py, f32>>()?;
    work(&Csr { indptr, indices, data: data.as_slice()?, columns })
}
