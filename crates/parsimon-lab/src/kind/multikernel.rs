//! The function of Yukawa and Ishii, `exp(-20 (x - 0.1)^2) - 2 exp(-20 (x - 0.8)^2)`, learned by multikernel filters.

use std::collections::BTreeMap;

use parsimon::Frame;
use parsimon::core::kernel::Dictionary;
use parsimon::core::{Chunk, Repeats};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::{Curve, Run, Trial, spec};
use crate::experiment::PerEffort;

const FRESH: usize = 500;
const POINTS: usize = 25;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    samples: PerEffort,
    /// The variance of the noise.
    noise: f64,
}

pub(super) fn trial(run: &Run<'_>) -> Result<Trial, String> {
    let rows: Rows = run.settings()?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(run.seed);
    let learn = draw(rows.samples.at(run.effort) as usize, rows.noise, &mut random);
    let fresh = draw(FRESH, rows.noise, &mut random);
    let mut trial = Trial::default();
    for method in run.experiment.methods_of(run.variant) {
        // A.34: variances a 10^b, a from 1 to 10, b from -4 to 1.
        let variances: Vec<f64> =
            (-4..=1).flat_map(|b| (1..=10).map(move |a| f64::from(a) * 10f64.powi(b))).collect();
        let settings = spec(method).set("variances", variances).resolve();
        let online = settings.and_then(|settings| settings.build(Frame::default()));
        let mut online = online.map_err(|e| format!("{}: {e}", method.name))?;
        let (mut mse, mut dictionary, mut margins) = (Curve::new(), Curve::new(), Vec::new());
        let every = learn.len().div_ceil(POINTS).max(1);
        for start in (0..learn.len()).step_by(every) {
            let end = learn.len().min(start + every);
            online.learn_rows(&learn, start..end, &mut margins);
            margins.clear();
            online.predict(&fresh, &mut margins);
            let off = |(i, p): (usize, &f64)| (p - fresh.label(i).unwrap_or(0.0)).powi(2);
            let error = margins.iter().enumerate().map(off).sum::<f64>() / FRESH as f64;
            margins.clear();
            mse.push((end as f64, error));
            let size = online.freeze().dictionary().map_or(0, Dictionary::len);
            dictionary.push((end as f64, size as f64));
        }
        let measures = [("mse".to_owned(), mse), ("dictionary".to_owned(), dictionary)];
        trial.curves.insert(method.name.clone(), BTreeMap::from(measures));
    }
    Ok(trial)
}

fn draw(count: usize, noise: f64, random: &mut Xoshiro256PlusPlus) -> Chunk {
    let mut chunk = Chunk::new();
    for _ in 0..count {
        let x: f64 = random.random();
        let bump = |at: f64| (-20.0 * (x - at) * (x - at)).exp();
        let rough: f64 = StandardNormal.sample(random);
        chunk.push_feature(1, x);
        let y = bump(0.1) - 2.0 * bump(0.8) + noise.sqrt() * rough;
        if chunk.finish_row(Some(y), 1.0, Repeats::Refuse).is_err() {
            unreachable!("generated rows are finite");
        }
    }
    chunk
}
