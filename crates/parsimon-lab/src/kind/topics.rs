//! Documents with topics, one against all: the error on documents that were not learned, and the zeros, while learning.
//!
//! A document may have several topics. Every topic has a separate learner, whose label is whether the document has the topic.

use std::collections::BTreeMap;

use parsimon::LearnerOptions;
use parsimon::rows::{Chunk, Repeats};
use parsimon::survey::Found;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};
use crate::data::rows::{Documents, order, posts, stories_about};
use crate::experiment::{Method, PerEffort};

/// The documents, as in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Topics {
    /// The documents.
    corpus: Corpus,
    /// Upper bound on the number of documents, for training and evaluation together.
    documents: PerEffort,
    /// The share of the documents that are used for evaluation.
    validation: f64,
    /// Value of a word.
    #[serde(default)]
    value: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Value {
    /// Number of its occurrences.
    #[default]
    Count,
    /// Share of its occurrences among all words of the document.
    Share,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Corpus {
    /// The stories of `rcv1-text`, with the four topics at the top.
    Reuters,
    /// The posts of `20news`, with their groups.
    Newsgroups,
}

/// The documents of a trial, by their places.
struct TrialDocuments {
    documents: Documents,
    learn: Vec<usize>,
    judge: Vec<usize>,
    value: Value,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let topics: Topics = run.settings()?;
    let documents = match topics.corpus {
        Corpus::Reuters => stories_about(&["CCAT", "ECAT", "GCAT", "MCAT"], run.data),
        Corpus::Newsgroups => posts(run.data).map(|(documents, _)| documents),
    };
    let documents = documents.map_err(|e| e.to_string())?;
    let mut places = order(documents.rows.len(), run.seed);
    // A document without topics cannot be classified correctly.
    places.retain(|&i| documents.topics[i].contains(&true));
    places.truncate(topics.documents.at(run.effort) as usize);
    let held = (topics.validation * places.len() as f64) as usize;
    let learn = places.split_off(held);
    let split = TrialDocuments { documents, learn, judge: places, value: topics.value };
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        trial.curves.insert(method.name.clone(), split.play(method)?);
    }
    Ok(trial)
}

impl TrialDocuments {
    /// Measured when the documents have doubled, and at the end.
    fn play(&self, method: &Method) -> Result<BTreeMap<String, Curve>, String> {
        let topics = self.documents.topics.first().map_or(0, Vec::len);
        let marks = marks(self.learn.len());
        // By mark, then by document, then by topic.
        let mut margins = vec![vec![Vec::with_capacity(topics); self.judge.len()]; marks.len()];
        let mut nonzeros = vec![0; marks.len()];
        let judge = self.rows(&self.judge, 0);
        for topic in 0..topics {
            let settings = spec(method).resolve();
            let frame = LearnerOptions { bias: false, ..LearnerOptions::default() };
            let online = settings.and_then(|settings| settings.build(frame, &Found::default()));
            let mut online = online.map_err(|e| format!("{}: {e}", method.name))?;
            let learn = self.rows(&self.learn, topic);
            let (mut start, mut told) = (0, Vec::new());
            for (k, &mark) in marks.iter().enumerate() {
                told.clear();
                online.learn_rows(&learn, start..mark, &mut told);
                start = mark;
                told.clear();
                online.predict(&judge, &mut told);
                margins[k].iter_mut().zip(&told).for_each(|(all, margin)| all.push(*margin));
                nonzeros[k] += online.nonzeros();
            }
        }
        let all = (topics * self.documents.features as usize).max(1) as f64;
        let curve = |value: &dyn Fn(usize) -> f64| -> Curve {
            marks.iter().enumerate().map(|(k, &mark)| (mark as f64, value(k))).collect()
        };
        Ok(BTreeMap::from([
            ("error".to_owned(), curve(&|k| self.wrong_topics(&margins[k]))),
            ("label_error".to_owned(), curve(&|k| self.wrong_answers(&margins[k]))),
            ("zeros".to_owned(), curve(&|k| 100.0 * (1.0 - nonzeros[k] as f64 / all))),
        ]))
    }

    /// Returns the rows of some documents with the label 1 if they have the topic.
    fn rows(&self, places: &[usize], topic: usize) -> Chunk {
        let mut chunk = Chunk::new();
        for &i in places {
            let row = self.documents.rows.row(i);
            let all = match self.value {
                Value::Count => 1.0,
                Value::Share => row.values().iter().sum::<f64>().max(1.0),
            };
            for (word, times) in row.indices().iter().zip(row.values()) {
                chunk.push_feature(*word, times / all);
            }
            let label = if self.documents.topics[i][topic] { 1.0 } else { -1.0 };
            let finished = chunk.finish_row(Some(label), 1.0, Repeats::Refuse);
            finished.expect("it was a row before");
        }
        chunk
    }

    /// The documents whose likeliest topic is none of theirs, in percent.
    fn wrong_topics(&self, margins: &[Vec<f64>]) -> f64 {
        let wrong = self.judge.iter().zip(margins).filter(|(i, margins)| {
            let best = margins.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            best.is_none_or(|(topic, _)| !self.documents.topics[**i][topic])
        });
        100.0 * wrong.count() as f64 / self.judge.len().max(1) as f64
    }

    /// The answers, yes or no to every topic of every document, that are wrong, in percent.
    fn wrong_answers(&self, margins: &[Vec<f64>]) -> f64 {
        let answers = self.judge.iter().zip(margins).flat_map(|(&i, margins)| {
            margins.iter().zip(&self.documents.topics[i]).map(|(m, is)| (*m > 0.0) == *is)
        });
        let answers: Vec<bool> = answers.collect();
        let wrong = answers.iter().filter(|right| !**right).count();
        100.0 * wrong as f64 / answers.len().max(1) as f64
    }
}

/// Rounds 64, 128, 256 and so on, and the last one.
fn marks(count: usize) -> Vec<usize> {
    let mut marks: Vec<usize> =
        std::iter::successors(Some(64), |k| Some(2 * k)).take_while(|k| *k < count).collect();
    marks.push(count);
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_double_and_end_at_the_end() {
        assert_eq!(marks(300), [64, 128, 256, 300]);
        assert_eq!(marks(64), [64]);
        assert_eq!(marks(0), [0]);
    }

    #[test]
    fn errors_are_counted_per_document_and_per_answer() {
        let documents =
            Documents { topics: vec![vec![true, true], vec![false, true]], ..Documents::default() };
        let judge = vec![0, 1];
        let split = TrialDocuments { documents, learn: Vec::new(), judge, value: Value::Count };
        let margins = [vec![0.5, -0.5], vec![1.0, 0.5]];
        assert_eq!(split.wrong_topics(&margins), 50.0);
        assert_eq!(split.wrong_answers(&margins), 50.0);
    }
}
