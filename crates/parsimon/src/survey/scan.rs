//! One pass over the data that finds all needed facts.

use parsimon_core::Chunk;
use parsimon_data::{
    Ask, Bounds, DataError, Format, LabelCounter, Labels, Options, Reading, Space,
};

use super::{LabelNeed, Needs, Source};

/// Number of rows in which the labels are compared with the usual -1, 0 and 1.
const GLANCE: usize = 1000;
/// Largest number of classes; labels with more distinct values are numbers.
const MOST_CLASSES: usize = 10_000;

/// The result of one pass over the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// The labels; `None` if they were not looked for, or are numbers where two classes were looked for.
    pub labels: Option<SeenLabels>,
    /// The largest id, one more if there is an id 0; of hashed features, how many slots are in use. `None` if not
    /// looked for.
    pub dimension: Option<u32>,
    /// The number of rows, if it was looked for.
    pub rows: Option<u64>,
    /// The feature space.
    pub space: Space,
    /// The format of the first input.
    pub format: Format,
    /// Whether it is a table whose columns have kinds.
    pub is_table: bool,
}

/// The labels that were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeenLabels {
    /// The first rows have only -1, 0 and 1; later rows were not inspected.
    Usual {
        /// Whether 0 takes the place of -1.
        from_zero: bool,
    },
    /// All of them: numbers in order, then texts in order.
    All(Vec<String>),
    /// Too many different numbers, or fractions, to be classes; later rows were not inspected.
    Numbers,
}

/// Reads the data once, only as far as needed.
pub fn scan<S: Source + ?Sized>(
    source: &S,
    options: &Options,
    needs: Needs,
) -> Result<Scan, DataError> {
    let options = Options {
        reading: Reading { labels: Labels::Any, ..options.reading.clone() },
        ask: Ask { keep_names: false, ..options.ask.clone() },
        // The learner, which reads numbers later, decides which are too large.
        bounds: Bounds {
            max_value: options.bounds.max_value.max(Bounds::default().max_value),
            ..options.bounds.clone()
        },
        ..options.clone()
    };
    let mut reader = if needs.is_of_labels_only() {
        source.open_labels(&Options {
            reading: Reading { interactions: Vec::new(), ..options.reading.clone() },
            ..options.clone()
        })?
    } else {
        source.open(&options)?
    };
    let is_guessed = needs.labels == LabelNeed::Guess;
    let is_of_two = needs.labels == LabelNeed::Two;
    let may_glance = !options.ask.every_label;
    let mut glance =
        (may_glance && (needs.labels == LabelNeed::Unusual || is_guessed)).then(Glance::default);
    let most = if is_of_two { usize::MAX } else { MOST_CLASSES };
    let mut counter = (needs.labels != LabelNeed::Nothing).then(|| LabelCounter::new(most));
    let mut slots = needs.dimension.then(Slots::default);
    let (mut chunk, mut rows, mut are_numbers) = (Chunk::new(), 0u64, false);
    while reader.read(&mut chunk)? {
        rows += chunk.len() as u64;
        if let Some(counter) = &mut counter {
            counter.take(&chunk, &reader)?;
        }
        match (&mut slots, reader.space()) {
            (Some(slots), Space::Hashed { .. }) => slots.take(&chunk),
            (Some(slots), Space::Ids) => slots.take_zero(&chunk),
            (None, _) => {}
        }
        if is_guessed && !are_numbers && counter.as_ref().is_some_and(no_classes) {
            (are_numbers, counter, glance) = (true, None, None);
            if needs.is_of_labels_only() {
                break;
            }
        }
        // A third label: they are numbers.
        if is_of_two && counter.as_ref().is_some_and(|counter| counter.distinct() > 2) {
            counter = None;
            if needs.is_of_labels_only() {
                break;
            }
        }
        if let Some(look) = &mut glance {
            if !look.is_usual(&chunk) || is_guessed && look.zeros && look.minus_ones {
                glance = None;
            } else if look.is_enough() {
                counter = None;
                if needs.is_of_labels_only() {
                    break;
                }
            }
        }
    }
    let labels = match (glance, counter) {
        (Some(glance), _) => Some(SeenLabels::Usual { from_zero: glance.is_from_zero() }),
        (None, Some(counter)) if is_of_two && counter.distinct() < 2 => None,
        (None, Some(counter)) => {
            let labels = counter.finish(&reader).labels.into_iter().map(|(label, _)| label);
            Some(SeenLabels::All(labels.collect()))
        }
        (None, None) => are_numbers.then_some(SeenLabels::Numbers),
    };
    let space = reader.space();
    let dimension = slots.map(|slots| match space {
        Space::Ids => slots.ids(reader.largest_index()),
        Space::Hashed { .. } => slots.in_use(),
    });
    let (format, is_table) = (reader.format(), reader.table().is_some());
    Ok(Scan { labels, dimension, rows: needs.rows.then_some(rows), space, format, is_table })
}

/// Largest number of distinct numbers that are classes.
pub(super) const MOST_NUMBERED: usize = 20;

/// Whether labels are surely numbers to be predicted: fractions, or very many.
fn no_classes(counter: &LabelCounter) -> bool {
    counter.numbers().is_some_and(|numbers| {
        let is_fraction = |y: &f64| y.fract() != 0.0;
        let fractions = numbers.len() > 2 && numbers.iter().any(is_fraction);
        numbers.len() > MOST_NUMBERED || fractions
    })
}

/// The labels of the first rows.
#[derive(Default)]
struct Glance {
    rows: usize,
    ones: bool,
    zeros: bool,
    minus_ones: bool,
}

impl Glance {
    /// Looks at a chunk, unless enough rows were seen: whether its labels are -1, 0 and 1 alone.
    fn is_usual(&mut self, chunk: &Chunk) -> bool {
        if self.is_enough() {
            return true;
        }
        self.rows += chunk.len();
        for y in (0..chunk.len()).filter_map(|i| chunk.label(i)) {
            self.ones |= y == 1.0;
            self.zeros |= y == 0.0;
            self.minus_ones |= y == -1.0;
            if y != 1.0 && y != 0.0 && y != -1.0 {
                return false;
            }
        }
        true
    }

    /// Whether both classes and enough rows were seen, or no label at all: rows that are sorted by their label begin with one class.
    fn is_enough(&self) -> bool {
        let others = self.zeros || self.minus_ones;
        self.rows >= GLANCE && self.ones == others
    }

    fn is_from_zero(&self) -> bool {
        self.zeros && !self.minus_ones
    }
}

/// The features that rows have, one bit each.
#[derive(Default)]
struct Slots {
    bits: Vec<u64>,
}

impl Slots {
    fn take(&mut self, chunk: &Chunk) {
        for i in 0..chunk.len() {
            for &j in chunk.row(i).indices() {
                let word = (j / 64) as usize;
                if word >= self.bits.len() {
                    self.bits.resize(word + 1, 0);
                }
                self.bits[word] |= 1 << (j % 64);
            }
        }
    }

    /// Notes the id 0 separately; otherwise only the largest id matters.
    fn take_zero(&mut self, chunk: &Chunk) {
        let has_zero = (0..chunk.len()).any(|i| chunk.row(i).indices().first() == Some(&0));
        if has_zero {
            self.bits = vec![1];
        }
    }

    fn in_use(&self) -> u32 {
        self.bits.iter().map(|word| word.count_ones()).sum::<u32>().max(1)
    }

    fn ids(&self, largest: u32) -> u32 {
        let has_zero = self.bits.first().is_some_and(|word| word & 1 == 1);
        largest.saturating_add(u32::from(has_zero)).max(1)
    }
}
