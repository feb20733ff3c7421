//! The reports of a run: console, notes, and the file of predictions.

use parsimon::job::{Decided, Events, Notice};
use parsimon::survey::{Guess, Opened};
use parsimon::train::{Outcome, Pass, Progress};
use parsimon::workspace::Position;
use parsimon::{Plan, Settings, Trainer};

use super::predictions::PredictionsFile;
use super::{guessed, report};
use crate::args::TrainArgs;
use crate::cmd::advice::Advisor;
use crate::cmd::columns;
use crate::console::{Console, note};
use crate::fault::Fault;

/// Follows a training job.
pub(super) struct Reporter<'a> {
    args: &'a TrainArgs,
    names_algorithm: bool,
    /// Console of the learner at work.
    console: Option<(Console, Advisor)>,
    file: Option<PredictionsFile>,
    /// The rows are learned again in random order: nothing is announced a second time.
    is_again: bool,
    /// The reason of a divergence, for the error that ends the run.
    pub(super) last_words: Option<String>,
    /// An output that could not be written.
    fault: Option<Fault>,
    /// For the report.
    pub(super) told: report::Told,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(args: &'a TrainArgs) -> Result<Self, Fault> {
        Ok(Self {
            args,
            names_algorithm: args.spec.names_algorithm()?,
            console: None,
            file: None,
            is_again: false,
            last_words: None,
            fault: None,
            told: report::Told::default(),
        })
    }

    /// Ends the console; an error if an output could not be written. The file has no name yet.
    pub(super) fn finish(&mut self) -> Result<Option<PredictionsFile>, Fault> {
        self.end_console();
        self.fault.take().map_or(Ok(()), Err)?;
        Ok(self.file.take())
    }

    fn end_console(&mut self) {
        if let Some((console, _)) = self.console.take() {
            console.finish();
        }
    }

    fn console(&mut self) -> Option<&mut Console> {
        self.console.as_mut().map(|(console, _)| console)
    }
}

impl Events for Reporter<'_> {
    fn opened(&mut self, opened: &Opened, guess: Option<Guess>, settings: &Settings) {
        if self.is_again {
            return;
        }
        let mut lines = columns::guesses(opened, &self.args.data);
        lines.extend(guess.map(|guess| guessed(guess, opened)));
        if let ([negative, positive], true) =
            (&opened.schema.found.classes[..], settings.may_find_two_classes())
        {
            lines.push(format!(
                "labels: two classes, {negative} and {positive}, learned as -1 and 1; use --loss {} to learn numbers",
                settings.loss_name()
            ));
        }
        if !self.args.quiet {
            lines.iter().for_each(|line| note(line));
        }
        self.told.guesses = lines.iter().map(|line| line.trim().to_owned()).collect();
    }

    fn decided(&mut self, decided: &Decided) {
        if !self.args.quiet && !self.is_again {
            note(&report::decided(decided));
        }
    }

    fn begin(&mut self, trainer: &Trainer, plan: &Plan) {
        if !self.args.quiet && !self.is_again {
            report::announce(trainer, plan);
        }
        let settings = trainer.settings();
        let classes = match settings.is_multiclass() {
            true => trainer.schema().found.classes.clone(),
            false => Vec::new(),
        };
        let before = trainer.progressive().rows();
        let mut console = Console::new(self.args.quiet, plan.passes, before, classes);
        console.measure_by(parsimon::job::measure_of(settings));
        self.console = Some((console, Advisor::new(settings, self.names_algorithm)));
        // The file of an attempt that has failed goes before there is another.
        self.file = None;
        let file = self.args.predictions.as_deref();
        match file.map(|path| PredictionsFile::create(path, trainer)).transpose() {
            Ok(file) => self.file = file,
            Err(fault) => self.fault = Some(fault),
        }
    }

    fn again(&mut self, outcome: &Outcome) {
        self.is_again = true;
        // The learned rows are kept until there is a better model.
        if let Some(path) = &self.args.output
            && let Err(error) = outcome.model.save(path)
        {
            self.fault = Some(error.into());
        }
    }

    fn notice(&mut self, notice: &Notice) {
        let (quiet, words) = (self.args.quiet, self.console.as_ref().map(|(_, a)| a.words(notice)));
        match (notice, &words) {
            (Notice::Widened(widening), _) => self.told.warn(&widening.to_string()),
            (_, Some(words)) => self.told.warn(words),
            (_, None) => {}
        }
        match (notice, words) {
            (Notice::Widened(widening), words) => {
                // A blank line separates the abandoned attempt from the next one.
                let end = if words.is_some() { "\n" } else { "" };
                self.end_console();
                if !quiet {
                    note(&format!("{widening}{end}"));
                }
            }
            (Notice::MoreLabels { .. }, Some(words)) => {
                self.end_console();
                if !quiet {
                    note(&format!("{words}\n"));
                }
            }
            (Notice::Forgotten { is_repeated, .. }, Some(words)) => {
                self.end_console();
                if !quiet || !is_repeated {
                    note(&words);
                }
            }
            (Notice::SeveralPasses(_) | Notice::Refitted(_), Some(words)) => {
                self.end_console();
                if !quiet {
                    note(&words);
                }
            }
            (Notice::Diverged { .. }, words) => self.last_words = words,
            (_, Some(words)) => self.console().into_iter().for_each(|console| console.say(&words)),
            (_, None) => {}
        }
    }

    fn progress(&mut self, line: &Progress) {
        self.console().into_iter().for_each(|console| console.progress(line));
    }
    fn loss(&mut self, average: f64) {
        self.console().into_iter().for_each(|console| console.loss(average));
    }
    fn position(&mut self, position: &Position) {
        self.console().into_iter().for_each(|console| console.position(position));
    }
    fn pass(&mut self, pass: &Pass) {
        self.console().into_iter().for_each(|console| console.pass(pass));
    }
    fn predicted(&mut self, margins: Option<&[f64]>) {
        if let Some(file) = &mut self.file {
            file.write(margins);
        }
    }
}
