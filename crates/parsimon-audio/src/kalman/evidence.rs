//! Evidence about the echo path: whether it is moving, and whether there is an echo at all.
//!
//! A changed path and near-end speech both make the error loud, so its energy does not tell them apart. A comparison of two
//! predictions does. Let `E` be the error of the old prediction and `D` what the new prediction removes beyond it. If the old
//! prediction is right, `E` is the near end and does not correlate with `D`; if the new prediction is right, `E` contains `D`.
//! With the weights of `mismatch.rs`, the new prediction leaves less than the old one if its *advantage*
//!
//! ```text
//! sum Re(E conj(D)) - |D|^2 / 2
//! ```
//!
//! is positive, and this is certain if the advantage is a multiple of its standard deviation `sqrt(sum |E|^2 |D|^2)`, that of
//! an error that has nothing to do with `D`.
//!
//! Two comparisons are made. The filter against a copy of itself that is up to half a second old: the path moves, or is still
//! being found, where the filter has become better. The filter against no filter: there is an echo where the filter is better.

use super::{LEAST, Lanes, Row, WIDTH};
use crate::AudioError;
use crate::state::{Reader, Writer};

/// Seconds over which the filter is compared with its copy, and after which the copy is renewed.
pub(super) const MOVING_SECONDS: f32 = 0.1;
pub(super) const RENEW_SECONDS: f32 = 0.5;
/// The path is static up to the first of these advantages in standard deviations, and certainly moves from the second on.
const MOVING: [f32; 2] = [4.0, 7.0];
/// Seconds over which the filter is compared with no filter.
pub(super) const ECHO_SECONDS: f32 = 0.3;
/// The echo is proven above the first of these advantages in standard deviations, and refuted below the second. Vowels of two voices resemble each other
/// for a tenth of a second, so chance exceeds 4 and rarely 8.
const ECHO: [f32; 2] = [8.0, 0.0];
/// Both advantages while an echo is expected at the start, and after a certain proof: the microphone is not to pass while the filter finds its path.
const FIRST_ECHO: [f32; 2] = [1.0, -3.0];
const EXPECTED_ECHO: [f32; 2] = [1.0, -8.0];
/// The seconds for which an echo is expected at the start, and after an advantage of [`CERTAIN`] standard deviations.
pub(super) const EXPECT_SECONDS: [f32; 2] = [1.0, 20.0];
const CERTAIN: f32 = 10.0;

#[derive(Clone, Debug)]
struct Comparison {
    keep: f32,
    advantage: f32,
    variance: f32,
}

impl Comparison {
    fn new(keep: f32) -> Self {
        Self { keep, advantage: 0.0, variance: 0.0 }
    }

    /// Processes a block; returns the advantage in standard deviations.
    fn observe(&mut self, advantage: f32, variance: f32) -> f32 {
        self.advantage = self.keep * self.advantage + advantage;
        self.variance = self.keep * self.keep * self.variance + variance;
        self.advantage / (self.variance + LEAST).sqrt()
    }

    fn clear(&mut self) {
        (self.advantage, self.variance) = (0.0, 0.0);
    }
}

#[derive(Clone, Debug)]
pub(super) struct Evidence {
    moving: Comparison,
    echo: Comparison,
    /// Blocks after which the copy is renewed, and blocks since it was.
    renew: u64,
    since: u64,
    /// From 0 (the path is static) to 1 (it moves).
    movement: f32,
    proven: bool,
    /// Whether there was a certain proof that was not refuted since.
    certain: bool,
    /// Blocks for which an echo is expected: at the start, after a certain proof, and from now on.
    expect: [u64; 2],
    expected: u64,
}

impl Evidence {
    /// `keep`: the shares of the averages that survive a block. The copy is renewed after `renew` blocks;
    /// `expect`: [`EXPECT_SECONDS`] in blocks.
    pub(super) fn new(keep: [f32; 2], renew: u64, expect: [u64; 2]) -> Self {
        Self {
            moving: Comparison::new(keep[0]),
            echo: Comparison::new(keep[1]),
            renew,
            since: 0,
            movement: 1.0,
            proven: true,
            certain: false,
            expect,
            expected: expect[0],
        }
    }

    /// Processes a block: the spectra of the error in lane 0, of the prediction in lane 2 and of the error of the copy in
    /// lane 3, and the weights of the bins. Returns whether the copy is to be renewed.
    pub(super) fn observe(&mut self, re: &[Lanes], im: &[Lanes], weights: &[Row]) -> bool {
        let mut sums = [0.0f32; 4];
        for (k, (re, im)) in re.iter().zip(im).enumerate() {
            let w = weights[k / WIDTH][k % WIDTH];
            let copy = compare((re[3], im[3]), (re[3] - re[0], im[3] - im[0]), w);
            let nothing = compare((re[0] + re[2], im[0] + im[2]), (re[2], im[2]), w);
            for (sum, v) in sums.iter_mut().zip([copy.0, copy.1, nothing.0, nothing.1]) {
                *sum += v;
            }
        }
        let sure = self.moving.observe(sums[0], sums[1]);
        self.movement = ((sure - MOVING[0]) / (MOVING[1] - MOVING[0])).clamp(0.0, 1.0);
        let sure = self.echo.observe(sums[2], sums[3]);
        self.expected =
            if sure > CERTAIN { self.expect[1] } else { self.expected.saturating_sub(1) };
        self.certain |= sure > CERTAIN;
        let limits = match (self.expected > 0, self.certain) {
            (true, true) => EXPECTED_ECHO,
            (true, false) => FIRST_ECHO,
            (false, _) => ECHO,
        };
        self.proven = sure > limits[usize::from(self.proven)];
        self.certain &= self.proven;
        self.since += 1;
        let renew = self.since >= self.renew;
        if renew {
            self.since = 0;
        }
        renew
    }

    /// From 0 (the path is static) to 1 (the path moves, or is still being found).
    pub(super) fn movement(&self) -> f32 {
        self.movement
    }

    /// Whether the microphone is known to hold an echo that the filter predicts.
    pub(super) fn is_echo_proven(&self) -> bool {
        self.proven
    }

    /// The filter and its copy are the same again.
    pub(super) fn start_again(&mut self) {
        self.moving.clear();
        (self.since, self.movement) = (0, 1.0);
    }

    pub(super) fn clear(&mut self) {
        self.start_again();
        self.echo.clear();
        (self.proven, self.certain) = (true, false);
        self.expected = self.expect[0];
    }

    pub(super) fn save(&self, to: &mut Writer) {
        for comparison in [&self.moving, &self.echo] {
            to.number(comparison.advantage);
            to.number(comparison.variance);
        }
        to.number(self.movement);
        to.count(self.since);
        to.count(self.proven.into());
        to.count(self.certain.into());
        to.count(self.expected);
    }

    pub(super) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        for comparison in [&mut self.moving, &mut self.echo] {
            comparison.advantage = from.number()?;
            comparison.variance = from.number()?.max(0.0);
        }
        self.movement = from.number()?.clamp(0.0, 1.0);
        self.since = from.count()?.min(self.renew);
        self.proven = from.count()? != 0;
        self.certain = from.count()? != 0;
        self.expected = from.count()?.min(self.expect[1]);
        Ok(())
    }
}

/// The weighted advantage of a bin with the error `e` and the difference `d`, and its variance.
fn compare(e: (f32, f32), d: (f32, f32), weight: f32) -> (f32, f32) {
    let difference = weight * (d.0 * d.0 + d.1 * d.1);
    let error = weight * (e.0 * e.0 + e.1 * e.1);
    (weight * (e.0 * d.0 + e.1 * d.1) - 0.5 * difference, error * difference)
}
