//! Finds a sparse echo path, block by block, as an audio callback would.
//!
//! `cargo run --example echo_path`

use parsimon::filter::Regularization;
use parsimon::{BuildError, Spec};

/// A loudspeaker is heard after 20 samples, and once more, fainter, after 45.
fn heard(played: &[f64], at: usize) -> f64 {
    let back = |lag: usize| at.checked_sub(lag).map_or(0.0, |at| played[at]);
    0.6 * back(20) - 0.25 * back(45)
}

pub(crate) fn main() -> Result<(), BuildError> {
    let mut state = 1_u64;
    let played: Vec<f64> = std::iter::repeat_with(|| {
        state = state * 16807 % 2_147_483_647;
        state as f64 / 1_073_741_823.5 - 1.0
    })
    .take(16_000)
    .collect();
    let microphone: Vec<f64> = (0..played.len()).map(|at| heard(&played, at)).collect();

    let settings = Spec::new("ipnlms").set("rate", 0.5).resolve()?;
    let mut filter = settings.filter::<f64>(64, Regularization { relative: 0.01 })?;
    for (reference, observed) in played.chunks(160).zip(microphone.chunks(160)) {
        let residual = filter.push(reference, observed);
        assert_eq!(residual.len(), observed.len());
    }
    let taps = filter.taps();
    let mut lags: Vec<usize> = (0..taps.len()).collect();
    lags.sort_by(|a, b| taps[*b].abs().total_cmp(&taps[*a].abs()));
    println!("lag {}: {:.3}, lag {}: {:.3}", lags[0], taps[lags[0]], lags[1], taps[lags[1]]);
    assert_eq!(lags[..2], [20, 45]);
    Ok(())
}
