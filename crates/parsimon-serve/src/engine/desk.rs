//! Where a request is worked on: parsers and buffers, kept from one request to the next.

use std::sync::{Mutex, PoisonError};

use parsimon::data::{Format, Header, Labels, Options};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon::{InputSchema, Settings, Trainer};

use crate::content::Content;
use crate::engine::Limits;
use crate::error::Refusal;

/// Rows that a replica is read for at most before it is let go.
pub(crate) const AT_ONCE: usize = 256;

/// How the rows of a model are read.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    score: Options,
    learn: Options,
}

impl Reading {
    pub(crate) fn new(settings: &Settings, schema: &InputSchema, max_value: f64) -> Self {
        let base = Options {
            header: Header::Present,
            id_field: Some("id".into()),
            chunk_rows: AT_ONCE,
            ..Options::default()
        };
        // The bound of the precision is put in below.
        let learn = schema.options(settings, parsimon::settings::Precision::F64, &base);
        let learn = Options { max_value, ..learn };
        let score = Options {
            labels: Labels::Optional(Box::new(learn.labels.clone())),
            unfit_is_missing: true,
            keep_names: false,
            ..learn.clone()
        };
        Self { score, learn }
    }

    /// How the rows of a learner are read.
    pub(crate) fn of(trainer: &Trainer) -> Self {
        let max_value = trainer.frame().precision.max_value();
        Self::new(trainer.settings(), trainer.schema(), max_value)
    }

    /// Options for rows to be learned.
    pub(crate) fn learning(&self) -> &Options {
        &self.learn
    }
}

/// Buffers of one request at a time.
#[derive(Default)]
pub(crate) struct Desk {
    parsers: Vec<(Format, RowParser)>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) margins: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

impl Desk {
    /// Parses the rows of a request into `chunks`.
    pub(crate) fn parse(
        &mut self,
        content: &Content<'_>,
        options: &Options,
        limits: &Limits,
    ) -> Result<&mut RowParser, Refusal> {
        let place = self.parsers.iter().position(|(format, _)| *format == content.format);
        let place = match place {
            Some(place) => place,
            None => {
                let parser = RowParser::new("body", content.format, options)?;
                self.parsers.push((content.format, parser));
                self.parsers.len() - 1
            }
        };
        let parser = &mut self.parsers[place].1;
        parser.parse(&content.text, &mut self.chunks)?;
        limits.check(&self.chunks)?;
        Ok(parser)
    }
}

impl Desk {
    /// Makes all names new again.
    pub(crate) fn forget_names(&mut self) {
        self.parsers.iter_mut().for_each(|(_, parser)| parser.forget_names());
    }
}

/// Desks that are free.
pub(crate) struct Desks {
    options: Options,
    free: Mutex<Vec<Desk>>,
}

impl Desks {
    /// Desks for scoring.
    pub(crate) fn for_scores(reading: &Reading) -> Self {
        Self { options: reading.score.clone(), free: Mutex::default() }
    }

    /// Desks for learning. The label is not guessed; logs of earlier versions may have rows whose label was.
    pub(crate) fn for_learning(reading: &Reading) -> Self {
        let options = Options { needs_label: true, ..reading.learn.clone() };
        Self { options, free: Mutex::default() }
    }

    /// Desks for scores that are explained: the names of features are kept.
    pub(crate) fn options_with_names(&self) -> Options {
        Options { keep_names: true, ..self.options.clone() }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Works at a free desk.
    pub(crate) fn at<R>(&self, work: impl FnOnce(&mut Desk) -> R) -> R {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut desk = free.unwrap_or_default();
        let done = work(&mut desk);
        // The buffers of a huge request are not worth keeping.
        if desk.margins.capacity() <= 1 << 16 {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(desk);
        }
        done
    }
}
