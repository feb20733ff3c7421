//! Contributions of a row's features to its margin.

use std::borrow::Cow;

use parsimon_core::{Chunk, Head};
use parsimon_data::{Names, hash, knot_name};

use crate::model::Model;

/// The contribution of one feature to the margin of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// The feature.
    pub feature: u32,
    /// Its value in the row, in the units of the data.
    pub value: f64,
    /// The term of the margin: weight times value. For a standardized number column, the value is the distance from the mean of the
    /// column in standard deviations.
    pub contribution: f64,
}

impl Model {
    /// Fills `out` with the contributions of the features of row `i` to the margin of a head, the largest magnitude first. Features
    /// whose weight is zero are left out. What the knots of a curve contribute is added to their column. The bias plus all contributions is the margin, unless the prediction is clipped. `out` is
    /// empty if the model is not linear.
    ///
    /// ```
    /// use parsimon::rows::Chunk;
    /// use parsimon::data::{Input, Labels, Options, Reader, Reading};
    /// use parsimon::{InputSchema, LearnerOptions, Plan, Spec, Trainer, run};
    ///
    /// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1 3:2\n-1 2:1\n".repeat(100) };
    /// let settings = Spec::new("ftrl").resolve()?;
    /// let mut trainer = Trainer::new(settings, LearnerOptions::default(), InputSchema::default())?;
    /// let options = Options::from(Reading { labels: Labels::binary(), ..Reading::default() });
    /// let model = run(&mut trainer, &Plan::new(vec![input.clone()], options.clone()), &mut ())?.model;
    /// let (mut chunk, mut margins, mut parts) = (Chunk::new(), Vec::new(), Vec::new());
    /// Reader::open(&[input], &options)?.read(&mut chunk)?;
    /// model.scorer().margins(&chunk, &mut margins);
    /// model.contributions(&chunk, 0, 0, &mut parts);
    /// let sum: f64 = parts.iter().map(|part| part.contribution).sum();
    /// assert!(parts.len() == 2 && (model.heads()[0].bias() + sum - margins[0]).abs() < 1e-12);
    /// # Ok::<(), parsimon::Error>(())
    /// ```
    pub fn contributions(&self, chunk: &Chunk, i: usize, head: usize, out: &mut Vec<Contribution>) {
        out.clear();
        let Some(head) = self.heads().get(head) else { return };
        let row = chunk.row(i);
        out.extend(row.iter().map(|(feature, value)| Contribution {
            feature,
            value,
            contribution: head.weight(feature) * value,
        }));
        if !chunk.columns().is_empty() {
            for (k, (column, &value)) in chunk.columns().iter().zip(chunk.numbers(i)).enumerate() {
                if value.is_nan() {
                    continue;
                }
                let moments = self.columns();
                let usual = moments.get(k).filter(|m| m.key == column.key);
                let moments = usual.or_else(|| moments.iter().find(|m| m.key == column.key));
                let seen = match (self.settings().is_normalized(), moments) {
                    (true, Some(moments)) => moments.standardized(value),
                    (true, None) => 0.0,
                    (false, _) => value,
                };
                let contribution = head.weight(column.id) * seen;
                out.push(Contribution { feature: column.id, value, contribution });
            }
        }
        self.gather_curves(out);
        out.retain(|part| part.contribution != 0.0);
        out.sort_by(|a, b| {
            let by_size = b.contribution.abs().total_cmp(&a.contribution.abs());
            by_size.then(a.feature.cmp(&b.feature))
        });
    }

    /// Adds the contributions of the knots of a curve to the contribution of their column.
    fn gather_curves(&self, parts: &mut Vec<Contribution>) {
        let (Some(table), Some(bits)) = (&self.schema().table, self.schema().bits) else { return };
        let slot = |name: &str| hash::slot(hash::feature(0, name.as_bytes()), bits);
        for column in table.columns.iter().filter(|column| !column.knots.is_empty()) {
            let knots: Vec<u32> =
                column.knots.values().iter().map(|&k| slot(&knot_name(&column.name, k))).collect();
            let id = slot(&column.name);
            let Some(at) = parts.iter().position(|part| part.feature == id) else { continue };
            let bend: f64 = parts
                .iter()
                .filter(|part| knots.contains(&part.feature))
                .map(|part| part.contribution)
                .sum();
            parts[at].contribution += bend;
            parts.retain(|part| !knots.contains(&part.feature));
        }
    }

    /// The parts of a margin beside its `most` largest contributions, without those that are zero: `(others)`, the sum of the
    /// remaining contributions; `(bias)`, or `(bias at the means)` where number columns are standardized; `(base)`, the base value of the row; `(clipped)`, the change by clipping. Together with
    /// the largest contributions they add up to the margin, up to rounding.
    pub fn rest(
        &self,
        chunk: &Chunk,
        i: usize,
        head: usize,
        parts: &[Contribution],
        most: usize,
        margin: f64,
    ) -> Vec<(&'static str, f64)> {
        let bias = self.heads().get(head).map_or(0.0, Head::bias);
        let others: f64 = parts.iter().skip(most).map(|part| part.contribution).sum();
        let largest: f64 = parts.iter().take(most).map(|part| part.contribution).sum();
        let base = chunk.base(i);
        // Cells are shown by their distance from the mean, so this is not the bias in the units of the data.
        let bias_name = if self.columns().is_empty() { "(bias)" } else { "(bias at the means)" };
        let clipped = match self.range() {
            Some((low, high)) if margin - base == low || margin - base == high => {
                margin - (largest + others + bias + base)
            }
            _ => 0.0,
        };
        let rest =
            [("(others)", others), (bias_name, bias), ("(base)", base), ("(clipped)", clipped)];
        rest.into_iter().filter(|(_, x)| *x != 0.0).collect()
    }

    /// The name of a feature: from the model if it has names, otherwise from the data.
    pub fn name_in<'a>(&'a self, feature: u32, names: &'a Names) -> Cow<'a, str> {
        match (self.has_names(), names.name(feature)) {
            (false, Some(name)) => Cow::Borrowed(name),
            _ => self.name(feature),
        }
    }
}
