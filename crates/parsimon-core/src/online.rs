//! What all learners have in common.

use std::ops::Range;

use crate::share::Mergeable;
use crate::{Chunk, Frozen};

/// Something that learns chunk by chunk. One virtual call per chunk; behind it everything is monomorphic.
pub trait Online: Send {
    /// Predicts and then learns some rows of a chunk; appends the margins made before learning, one per row and
    /// class.
    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>);
    /// Predicts and then learns every row.
    fn learn(&mut self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.learn_rows(chunk, 0..chunk.len(), margins);
    }
    /// Appends the margins a user would be told now, one per row and class.
    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>);
    /// The nonzero weights, counted as a user would read them; of a dictionary, the rows that count.
    fn nonzeros(&self) -> usize;
    /// The same for each set of weights.
    fn nonzeros_by_head(&self) -> Vec<usize> {
        match self.freeze() {
            Frozen::Linear(heads) => heads.iter().map(|head| head.indices().len()).collect(),
            Frozen::Kernel(_) => vec![self.nonzeros()],
        }
    }
    /// What is left when learning is over: the weights, one set per class, or a dictionary.
    fn freeze(&self) -> Frozen;
    /// How many sets of weights there are: 1, or the number of classes.
    fn heads(&self) -> usize {
        1
    }
    /// Appends everything that learning needs to go on, bit for bit.
    fn save(&self, out: &mut Vec<u8>);
    /// Takes what [`save`](Online::save) wrote; `None` when it is not that.
    fn restore(&mut self, input: &mut &[u8]) -> Option<()>;
    /// A feature there was no place for, of a learner whose number of features is fixed. It was left out, and
    /// whoever learns should stop.
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
