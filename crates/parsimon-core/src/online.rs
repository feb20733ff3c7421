//! The interface of all learners.

use std::ops::Range;

use crate::room::Coming;
use crate::share::{MergeRead, MergeWrite};
use crate::state::{StateError, StateWriter};
use crate::{Chunk, ColumnMoments, Frozen};

/// Something that learns chunk by chunk. One virtual call per chunk; behind it everything is monomorphic.
///
/// No method has a default body, so that a wrapper that forgets a method does not compile. A wrapper names the methods
/// that it forwards to the learner inside in `forward!`; learners that are no wrappers take their answers from `bare!`.
pub trait Online: Send + Sync {
    /// Predicts and then learns some rows of a chunk; appends the margins made before learning, one per row and
    /// class.
    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>);
    /// Predicts and then learns every row.
    fn learn(&mut self, chunk: &Chunk, margins: &mut Vec<f64>);
    /// Like [`learn_rows`](Online::learn_rows), with a multiple of the penalty for each row: a row's margin is made
    /// and the row is learned under `scale` times the penalty. The scale of a row that is only predicted is ignored.
    ///
    /// Only penalties in force once take a scale ([`Accrual::Once`](crate::rule::leader::Accrual::Once)); others are
    /// applied unchanged.
    fn learn_rows_scaled(
        &mut self,
        chunk: &Chunk,
        rows: Range<usize>,
        scales: &[f64],
        margins: &mut Vec<f64>,
    );
    /// Reads weights under `scale` times the penalty until the next row is learned, where penalties take a scale.
    ///
    /// A learner does not save its scale: after [`restore`](Online::restore) it has to be set again.
    fn scale_penalty(&mut self, scale: f64);
    /// Whether rows may have a [base value](Chunk::base), to which the margin is added and with which the row is learned.
    fn takes_bases(&self) -> bool;
    /// Whether the margin is linear in the row.
    fn is_linear(&self) -> bool;
    /// The moments of number columns, by which their cells are standardized; none where cells are not.
    fn columns(&self) -> &[ColumnMoments];
    /// The smallest and the largest prediction, if predictions are clipped to the labels learned.
    fn label_range(&self) -> Option<(f64, f64)>;
    /// Whether the learner takes the origin and the unit of its predictions from labels, and has learned none: its predictions are
    /// no estimate.
    fn lacks_labels(&self) -> bool {
        false
    }
    /// Prepares a learner at the origin to learn the change of a model instead of a model: number columns keep the moments of the model,
    /// to which its weights belong, and margins are not clipped, because only the sum with the model's margin approximates the label.
    fn learn_change_of(&mut self, columns: &[ColumnMoments]);
    /// Index of the setting that is read, if the learner is a race of settings.
    fn chosen(&self) -> Option<usize>;
    /// Ends a race of settings: the chosen one continues alone.
    fn decide(&mut self);
    /// Appends the current margins, one per row and class.
    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>);
    /// Appends the margins that learning would predict for the rows now, one per row and class. A race of settings reads the
    /// setting that leads since its last look, where [`predict`](Online::predict) chooses anew, which costs a pass over all
    /// weights.
    fn score(&self, chunk: &Chunk, margins: &mut Vec<f64>);
    /// Appends the weights that [`score`](Online::score) multiplies features with: for each index one per head. Nothing is
    /// appended where the margin is not linear.
    fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>);
    /// The number of nonzero weights. For a dictionary, the number of rows with a nonzero coefficient.
    fn nonzeros(&self) -> usize;
    /// The number of nonzero weights of a learner that has met the features `met` and no others, which are sorted and unique; features
    /// that are not `read` count as zero. `None` where it takes as long as [`nonzeros`](Online::nonzeros).
    fn nonzeros_among(&self, met: &[u32], read: &dyn Fn(u32) -> bool) -> Option<usize>;
    /// The number of nonzero weights of each head.
    fn nonzeros_by_head(&self) -> Vec<usize>;
    /// The current weights, one set per class, or the dictionary.
    fn freeze(&self) -> Frozen;
    /// The number of heads, each a set of weights: 1, or the number of classes.
    fn heads(&self) -> usize;
    /// The bytes that the learner takes once some rows are learned, at most. It is asked once per stretch of rows, before they are
    /// learned.
    fn room(&self, coming: Coming) -> u64;
    /// Appends everything that learning needs to continue, bit for bit.
    fn save(&self, out: &mut StateWriter);
    /// Restores what [`save`](Online::save) wrote. After an error the learner must not be used any more.
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError>;
    /// A feature that exceeds the dimension of the learner. It was ignored, and the caller should stop learning.
    fn overflow(&self) -> Option<u32>;
    /// A view of the coordinates of a learner that can be merged with others, or why it cannot.
    fn mergeable(&self) -> Result<Box<dyn MergeRead + '_>, &'static str>;
    /// Like [`mergeable`](Online::mergeable), to change the coordinates.
    fn mergeable_mut(&mut self) -> Result<Box<dyn MergeWrite + '_>, &'static str>;
}

/// Methods of [`Online`] that a learner leaves to the one inside: `forward!(self, self.inner; predict score)`.
macro_rules! forward {
    ($this:ident, $inner:expr; $($method:ident)+) => {
        $($crate::online::forward!(@$method $this $inner);)+
    };
    (@learn_rows $this:ident $inner:expr) => {
        fn learn_rows(&mut $this, chunk: &$crate::Chunk, rows: std::ops::Range<usize>, margins: &mut Vec<f64>) {
            $inner.learn_rows(chunk, rows, margins);
        }
    };
    (@learn $this:ident $inner:expr) => {
        fn learn(&mut $this, chunk: &$crate::Chunk, margins: &mut Vec<f64>) {
            $inner.learn(chunk, margins);
        }
    };
    (@learn_rows_scaled $this:ident $inner:expr) => {
        fn learn_rows_scaled(&mut $this, chunk: &$crate::Chunk, rows: std::ops::Range<usize>, scales: &[f64], margins: &mut Vec<f64>) {
            $inner.learn_rows_scaled(chunk, rows, scales, margins);
        }
    };
    (@scale_penalty $this:ident $inner:expr) => {
        fn scale_penalty(&mut $this, scale: f64) {
            $inner.scale_penalty(scale);
        }
    };
    (@takes_bases $this:ident $inner:expr) => {
        fn takes_bases(&$this) -> bool {
            $inner.takes_bases()
        }
    };
    (@is_linear $this:ident $inner:expr) => {
        fn is_linear(&$this) -> bool {
            $inner.is_linear()
        }
    };
    (@columns $this:ident $inner:expr) => {
        fn columns(&$this) -> &[$crate::ColumnMoments] {
            $inner.columns()
        }
    };
    (@label_range $this:ident $inner:expr) => {
        fn label_range(&$this) -> Option<(f64, f64)> {
            $inner.label_range()
        }
    };
    (@lacks_labels $this:ident $inner:expr) => {
        fn lacks_labels(&$this) -> bool {
            $inner.lacks_labels()
        }
    };
    (@learn_change_of $this:ident $inner:expr) => {
        fn learn_change_of(&mut $this, columns: &[$crate::ColumnMoments]) {
            $inner.learn_change_of(columns);
        }
    };
    (@chosen $this:ident $inner:expr) => {
        fn chosen(&$this) -> Option<usize> {
            $inner.chosen()
        }
    };
    (@decide $this:ident $inner:expr) => {
        fn decide(&mut $this) {
            $inner.decide();
        }
    };
    (@predict $this:ident $inner:expr) => {
        fn predict(&$this, chunk: &$crate::Chunk, margins: &mut Vec<f64>) {
            $inner.predict(chunk, margins);
        }
    };
    (@score $this:ident $inner:expr) => {
        fn score(&$this, chunk: &$crate::Chunk, margins: &mut Vec<f64>) {
            $inner.score(chunk, margins);
        }
    };
    (@weights_of $this:ident $inner:expr) => {
        fn weights_of(&$this, indices: &[u32], weights: &mut Vec<f64>) {
            $inner.weights_of(indices, weights);
        }
    };
    (@nonzeros $this:ident $inner:expr) => {
        fn nonzeros(&$this) -> usize {
            $inner.nonzeros()
        }
    };
    (@nonzeros_among $this:ident $inner:expr) => {
        fn nonzeros_among(&$this, met: &[u32], read: &dyn Fn(u32) -> bool) -> Option<usize> {
            $inner.nonzeros_among(met, read)
        }
    };
    (@nonzeros_by_head $this:ident $inner:expr) => {
        fn nonzeros_by_head(&$this) -> Vec<usize> {
            $inner.nonzeros_by_head()
        }
    };
    (@freeze $this:ident $inner:expr) => {
        fn freeze(&$this) -> $crate::Frozen {
            $inner.freeze()
        }
    };
    (@heads $this:ident $inner:expr) => {
        fn heads(&$this) -> usize {
            $inner.heads()
        }
    };
    (@room $this:ident $inner:expr) => {
        fn room(&$this, coming: $crate::room::Coming) -> u64 {
            $inner.room(coming)
        }
    };
    (@save $this:ident $inner:expr) => {
        fn save(&$this, out: &mut $crate::StateWriter) {
            $inner.save(out);
        }
    };
    (@restore $this:ident $inner:expr) => {
        fn restore(&mut $this, input: &mut &[u8]) -> Result<(), $crate::StateError> {
            $inner.restore(input)
        }
    };
    (@overflow $this:ident $inner:expr) => {
        fn overflow(&$this) -> Option<u32> {
            $inner.overflow()
        }
    };
    (@mergeable $this:ident $inner:expr) => {
        fn mergeable(&$this) -> Result<Box<dyn $crate::share::MergeRead + '_>, &'static str> {
            $inner.mergeable()
        }
    };
    (@mergeable_mut $this:ident $inner:expr) => {
        fn mergeable_mut(&mut $this) -> Result<Box<dyn $crate::share::MergeWrite + '_>, &'static str> {
            $inner.mergeable_mut()
        }
    };
}
pub(crate) use forward;

/// Answers of learners that are not around another one, by what they have nothing of.
macro_rules! bare {
    ($($what:ident)+) => {
        $($crate::online::bare!(@$what);)+
    };
    // Learning all rows is learning the rows from the first to the last.
    (@all_rows) => {
        fn learn(&mut self, chunk: &$crate::Chunk, margins: &mut Vec<f64>) {
            self.learn_rows(chunk, 0..chunk.len(), margins);
        }
    };
    // Weights are those of the features that rows have, without a separate scale.
    (@no_scales) => {
        fn columns(&self) -> &[$crate::ColumnMoments] {
            &[]
        }
        fn label_range(&self) -> Option<(f64, f64)> {
            None
        }
        fn learn_change_of(&mut self, _columns: &[$crate::ColumnMoments]) {}
    };
    // One setting, which is read whether rows are predicted or scored.
    (@no_race) => {
        fn chosen(&self) -> Option<usize> {
            None
        }
        fn decide(&mut self) {}
        fn score(&self, chunk: &$crate::Chunk, margins: &mut Vec<f64>) {
            self.predict(chunk, margins);
        }
    };
    // No penalty that is in force once, and rows without a base value.
    (@no_penalty_scale_or_base) => {
        fn learn_rows_scaled(
            &mut self,
            chunk: &$crate::Chunk,
            rows: std::ops::Range<usize>,
            _scales: &[f64],
            margins: &mut Vec<f64>,
        ) {
            self.learn_rows(chunk, rows, margins);
        }
        fn scale_penalty(&mut self, _scale: f64) {}
        fn takes_bases(&self) -> bool {
            false
        }
    };
    (@linear) => {
        fn is_linear(&self) -> bool {
            true
        }
    };
    (@one_head) => {
        fn heads(&self) -> usize {
            1
        }
    };
    // Weights are read off the frozen ones: a weight costs a pass over all of them.
    (@weights_of_frozen) => {
        fn weights_of(&self, indices: &[u32], weights: &mut Vec<f64>) {
            self.freeze().weights_of(indices, weights);
        }
        fn nonzeros_among(&self, _met: &[u32], _read: &dyn Fn(u32) -> bool) -> Option<usize> {
            None
        }
    };
    (@nonzeros_of_frozen) => {
        fn nonzeros_by_head(&self) -> Vec<usize> {
            self.freeze().nonzeros_by_head()
        }
    };
    // Features without a bound.
    (@unbounded) => {
        fn overflow(&self) -> Option<u32> {
            None
        }
    };
    (@unmergeable $why:expr) => {
        fn mergeable(&self) -> Result<Box<dyn $crate::share::MergeRead + '_>, &'static str> {
            Err($why)
        }
        fn mergeable_mut(
            &mut self,
        ) -> Result<Box<dyn $crate::share::MergeWrite + '_>, &'static str> {
            Err($why)
        }
    };
}
pub(crate) use bare;

impl<O: Online + ?Sized> Online for Box<O> {
    forward!(self, (**self);
        learn_rows learn learn_rows_scaled scale_penalty takes_bases is_linear columns label_range lacks_labels learn_change_of chosen decide predict score weights_of nonzeros nonzeros_among nonzeros_by_head freeze heads room save restore overflow mergeable mergeable_mut);
}
