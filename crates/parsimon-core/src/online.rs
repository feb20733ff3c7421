//! What all learners have in common.

use std::ops::Range;

use crate::room::Coming;
use crate::share::Mergeable;
use crate::state::{StateError, StateWriter};
use crate::{Chunk, ColumnMoments, Frozen};

/// Something that learns chunk by chunk. One virtual call per chunk; behind it everything is monomorphic.
pub trait Online: Send + Sync {
    /// Predicts and then learns some rows of a chunk; appends the margins made before learning, one per row and
    /// class.
    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>);
    /// Predicts and then learns every row.
    fn learn(&mut self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.learn_rows(chunk, 0..chunk.len(), margins);
    }
    /// As [`learn_rows`](Online::learn_rows), with a multiple of the penalty for each row: a row's margin is made
    /// and the row is learned under `scale` times the penalty. The scale of a row that is only predicted is ignored.
    ///
    /// Only penalties in force once take a scale ([`Accrual::Once`](crate::rule::leader::Accrual::Once)); others are
    /// applied as they are.
    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        _scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        self.learn_rows(chunk, rows, margins);
    }
    /// Reads weights under `scale` times the penalty until the next row is learned, where penalties take a scale.
    ///
    /// A learner does not save its scale: after [`restore`](Online::restore) it has to be set again.
    fn scale_penalty(&mut self, _scale: f64) {}
    /// Whether rows may have a [base value](Chunk::base), to which the margin is added and with which the row is learned.
    fn takes_bases(&self) -> bool {
        false
    }
    /// Whether the margin is linear in the row.
    fn is_linear(&self) -> bool {
        true
    }
    /// The moments of number columns, by which their cells are standardized.
    fn columns(&self) -> &[ColumnMoments] {
        &[]
    }
    /// The smallest and the largest prediction, if predictions are clipped to the labels learned.
    fn label_range(&self) -> Option<(f64, f64)> {
        None
    }
    /// Prepares a learner at the origin to learn the change of a model instead of a model: number columns keep the moments of the model,
    /// to which its weights belong, and margins are not clipped, because the label is only approached together with the model's.
    fn rest_on(&mut self, _columns: &[ColumnMoments]) {}
    /// Which of several settings is read, if the learner is a race of settings.
    fn chosen(&self) -> Option<usize> {
        None
    }
    /// Ends a race of settings: the chosen one continues alone.
    fn decide(&mut self) {}
    /// Appends the current margins, one per row and class.
    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>);
    /// Appends the margins that learning would predict for the rows now, one per row and class. A race of settings reads the
    /// setting that leads since its last look, where [`predict`](Online::predict) chooses anew, which costs a pass over all
    /// weights.
    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.predict(chunk, margins);
    }
    /// Appends the weights that [`score`](Online::score) multiplies features with: for each index one per head. Nothing is
    /// appended where the margin is not linear.
    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        let frozen = self.freeze();
        let of = |j: &u32| frozen.heads().iter().map(|head| head.weight(*j)).collect::<Vec<_>>();
        weights.extend(indices.iter().flat_map(of));
    }
    /// The number of nonzero weights. For a dictionary, the number of rows with a nonzero coefficient.
    fn nonzeros(&self) -> usize;
    /// The same of a learner that has met no other features than these, which are sorted and unique; `None` where it takes as long as
    /// [`nonzeros`](Online::nonzeros).
    fn nonzeros_among(&self, _indices: &[u32]) -> Option<usize> {
        None
    }
    /// The same for each set of weights.
    fn nonzeros_by_head(&self) -> Vec<usize> {
        match self.freeze() {
            Frozen::Linear(heads) => heads.iter().map(|head| head.indices().len()).collect(),
            Frozen::Kernel(_) => vec![self.nonzeros()],
        }
    }
    /// The current weights, one set per class, or the dictionary.
    fn freeze(&self) -> Frozen;
    /// How many sets of weights there are: 1, or the number of classes.
    fn heads(&self) -> usize {
        1
    }
    /// The bytes that the learner takes once some rows are learned, at most. It is asked once per stretch of rows, before they are
    /// learned.
    fn room(&self, coming: Coming) -> u64;
    /// Appends everything that learning needs to go on, bit for bit.
    fn save(&self, out: &mut StateWriter);
    /// Restores what [`save`](Online::save) wrote. After an error the learner must not be used any more.
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError>;
    /// A feature that exceeds the dimension of the learner. It was ignored, and the caller should stop learning.
    fn overflow(&self) -> Option<u32> {
        None
    }
    /// The side of a learner that can be merged with others, or why there is none.
    fn mergeable(&self) -> Result<&dyn Mergeable, &'static str> {
        Err("what it keeps is not a few numbers for each feature")
    }
    /// The same, to be changed.
    fn mergeable_mut(&mut self) -> Result<&mut dyn Mergeable, &'static str> {
        Err("what it keeps is not a few numbers for each feature")
    }
}

impl<O: Online + ?Sized> Online for Box<O> {
    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        (**self).learn_rows(chunk, rows, margins);
    }
    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    ) {
        (**self).learn_rows_scaled(chunk, rows, scales, margins);
    }
    fn scale_penalty(&mut self, scale: f64) {
        (**self).scale_penalty(scale);
    }
    fn takes_bases(&self) -> bool {
        (**self).takes_bases()
    }
    fn is_linear(&self) -> bool {
        (**self).is_linear()
    }
    fn columns(&self) -> &[ColumnMoments] {
        (**self).columns()
    }
    fn label_range(&self) -> Option<(f64, f64)> {
        (**self).label_range()
    }
    fn rest_on(&mut self, columns: &[ColumnMoments]) {
        (**self).rest_on(columns);
    }
    fn chosen(&self) -> Option<usize> {
        (**self).chosen()
    }
    fn decide(&mut self) {
        (**self).decide();
    }
    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        (**self).predict(chunk, margins);
    }
    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        (**self).score(chunk, margins);
    }
    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
        (**self).weights_of(indices, weights);
    }
    fn nonzeros_among(&self, indices: &[u32]) -> Option<usize> {
        (**self).nonzeros_among(indices)
    }
    fn nonzeros(&self) -> usize {
        (**self).nonzeros()
    }
    fn nonzeros_by_head(&self) -> Vec<usize> {
        (**self).nonzeros_by_head()
    }
    fn freeze(&self) -> Frozen {
        (**self).freeze()
    }
    fn heads(&self) -> usize {
        (**self).heads()
    }
    fn room(&self, coming: Coming) -> u64 {
        (**self).room(coming)
    }
    fn save(&self, out: &mut StateWriter) {
        (**self).save(out);
    }
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        (**self).restore(input)
    }
    fn overflow(&self) -> Option<u32> {
        (**self).overflow()
    }
    fn mergeable(&self) -> Result<&dyn Mergeable, &'static str> {
        (**self).mergeable()
    }
    fn mergeable_mut(&mut self) -> Result<&mut dyn Mergeable, &'static str> {
        (**self).mergeable_mut()
    }
}
