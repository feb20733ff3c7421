//! Axes: maps from values to positions, and round ticks.

use crate::chart::tick::{LogStyle, decimal, linear_label, log_label};

/// Scales: maps from values to positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AxisScale {
    Linear,
    Log,
}

/// A scale over an interval, `low < high`, both positive if logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Axis {
    scale: AxisScale,
    low: f64,
    high: f64,
}

/// A tick of an axis; ticks without a label are minor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisTick {
    pub(crate) at: f64,
    pub(crate) label: Option<String>,
}

impl Axis {
    /// The smallest axis that shows all values. Values that a scale cannot show are ignored; an axis of
    /// no values, or of one value, gets some room around it.
    pub(crate) fn fit(scale: AxisScale, values: impl IntoIterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.into_iter().filter(|&v| shows(scale, v)) {
            low = low.min(v);
            high = high.max(v);
        }
        let (low, high) = match scale {
            AxisScale::Linear if low > high => (0.0, 1.0),
            AxisScale::Log if low > high => (1.0, 10.0),
            AxisScale::Linear if low == high => {
                let room = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
                (low - room, high + room)
            }
            AxisScale::Log if low == high => (low / 2.0, high * 2.0),
            _ => (low, high),
        };
        // NUMERICS: near the ends of f64 the span itself would overflow or the steps vanish.
        let (low, high) = match scale {
            AxisScale::Linear => (low.max(-1e300), high.min(1e300)),
            AxisScale::Log => (low.max(1e-150), high.min(1e150)),
        };
        Self { scale, low, high }
    }

    /// Adds room at both ends, as a share of the length.
    pub(crate) fn padded(self, share: f64) -> Self {
        match self.scale {
            AxisScale::Linear => {
                let room = share * (self.high - self.low);
                Self { low: self.low - room, high: self.high + room, ..self }
            }
            AxisScale::Log => {
                let room = (self.high / self.low).powf(share);
                Self { low: self.low / room, high: self.high * room, ..self }
            }
        }
    }

    /// With a little room above and below, so that marks do not touch the frame, but never across zero:
    /// a count has nothing below it.
    pub(crate) fn airy(self) -> Self {
        let wide = self.padded(0.05);
        if self.scale == AxisScale::Log {
            return wide;
        }
        Self {
            low: if self.low >= 0.0 { wide.low.max(0.0) } else { wide.low },
            high: if self.high <= 0.0 { wide.high.min(0.0) } else { wide.high },
            ..self
        }
    }

    /// With these ends instead, if they make sense for the scale.
    pub(crate) fn limited(self, (low, high): (f64, f64)) -> Self {
        if low < high && shows(self.scale, low) && shows(self.scale, high) {
            Self { low, high, ..self }
        } else {
            self
        }
    }

    /// Returns the position of a value: 0 at the low end, 1 at the high end; `None` for a value that the scale cannot show.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        if !shows(self.scale, value) {
            return None;
        }
        let place = match self.scale {
            AxisScale::Linear => (value - self.low) / (self.high - self.low),
            // NUMERICS: a difference of logarithms, because the quotient may overflow.
            AxisScale::Log => {
                (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
            }
        };
        // Positions far outside a limited axis are clamped, because renderers fail on large numbers.
        Some(place.clamp(-1e4, 1e4))
    }

    /// Whether zero lies inside the axis and gets a line.
    pub(crate) fn has_zero_inside(&self) -> bool {
        self.scale == AxisScale::Linear && self.low < 0.0 && self.high > 0.0
    }

    /// About `room` labeled ticks, in steps of 1, 2 or 5.
    pub(crate) fn ticks(&self, room: usize) -> Vec<AxisTick> {
        let room = room.max(2);
        match self.scale {
            AxisScale::Linear => self.linear_ticks(room),
            AxisScale::Log => self.log_ticks(room),
        }
    }

    fn linear_ticks(&self, room: usize) -> Vec<AxisTick> {
        let step = step(self.high - self.low, room);
        // A tick that rounding has moved slightly outside is kept.
        let slack = 1e-9;
        let first = (self.low / step - slack).ceil() as i64;
        let last = (self.high / step + slack).floor() as i64;
        let largest = self.low.abs().max(self.high.abs());
        (first..=last)
            .map(|i| {
                let at = i as f64 * step;
                AxisTick { at, label: Some(linear_label(at, step, largest)) }
            })
            .collect()
    }

    fn log_ticks(&self, room: usize) -> Vec<AxisTick> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let slack = 1.0 + 1e-9;
        let inside = |at: f64| at * slack >= self.low && at <= self.high * slack;
        let of = |mantissas: &[u8]| -> Vec<(u8, i32)> {
            let all = (first..=last).flat_map(|k| mantissas.iter().map(move |&m| (m, k)));
            all.filter(|&(m, k)| inside(decimal(m, k))).collect()
        };
        let powers = of(&[1]);
        let fine = of(&[1, 2, 5]);
        let is_fine = fine.len() <= room;
        let labeled = if is_fine { fine } else { powers.clone() };
        if labeled.len() < 2 {
            // Less than a decade: a logarithmic axis is nearly linear there.
            return self.linear_ticks(room);
        }
        let is_plain = labeled.iter().all(|&(_, k)| (-3..=3).contains(&k));
        let style = if is_fine || is_plain { LogStyle::Plain } else { LogStyle::Power };
        // Too many decades for a label each: every second, third, ... of them, counted from 10^0.
        let stride = labeled.len().div_ceil(room).max(1) as i32;
        let is_labeled =
            |m: u8, k: i32| labeled.contains(&(m, k)) && (stride == 1 || k.rem_euclid(stride) == 0);
        let minor = if stride > 1 { powers } else { of(&[1, 2, 3, 4, 5, 6, 7, 8, 9]) };
        minor
            .into_iter()
            .map(|(m, k)| {
                let label = is_labeled(m, k).then(|| log_label(m, k, style));
                AxisTick { at: decimal(m, k), label }
            })
            .collect()
    }
}

fn shows(scale: AxisScale, value: f64) -> bool {
    value.is_finite() && (scale == AxisScale::Linear || value > 0.0)
}

/// The step of 1, 2 or 5 times a power of ten that cuts `span` into at most `room` pieces.
fn step(span: f64, room: usize) -> f64 {
    let least = span / room.max(1) as f64;
    let k = least.log10().floor() as i32;
    // Rounding may have put the power one off; 10 is the 1 of the next decade.
    [1, 2, 5, 10]
        .map(|m| decimal(m, k))
        .into_iter()
        .find(|s| *s >= least * (1.0 - 1e-9))
        .unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis, room: usize) -> Vec<String> {
        axis.ticks(room).into_iter().filter_map(|tick| tick.label).collect()
    }

    fn linear(low: f64, high: f64) -> Axis {
        Axis::fit(AxisScale::Linear, [low, high])
    }

    fn log(low: f64, high: f64) -> Axis {
        Axis::fit(AxisScale::Log, [low, high])
    }

    #[test]
    fn linear_steps_are_one_two_five() {
        assert_eq!(labels(linear(0.0, 1.0), 5), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(linear(0.31, 0.52), 5), ["0.35", "0.40", "0.45", "0.50"]);
        assert_eq!(labels(linear(-3.0, 7.0), 5), ["−2", "0", "2", "4", "6"]);
        assert_eq!(labels(linear(0.0, 52_000.0), 6), ["0", "10k", "20k", "30k", "40k", "50k"]);
        assert_eq!(labels(linear(0.0, 2.5e6), 5), ["0", "0.5M", "1.0M", "1.5M", "2.0M", "2.5M"]);
        assert_eq!(labels(linear(0.0, 4e-5), 4), ["0", "1×10⁻⁵", "2×10⁻⁵", "3×10⁻⁵", "4×10⁻⁵"]);
    }

    #[test]
    fn log_labels_are_powers_of_ten() {
        assert_eq!(labels(log(1.0, 1e6), 8), ["10⁰", "10¹", "10²", "10³", "10⁴", "10⁵", "10⁶"]);
        assert_eq!(labels(log(1.0, 1e12), 7), ["10⁰", "10²", "10⁴", "10⁶", "10⁸", "10¹⁰", "10¹²"]);
        assert_eq!(labels(log(0.1, 100.0), 5), ["0.1", "1", "10", "100"]);
        assert_eq!(labels(log(8.0, 120.0), 6), ["10", "20", "50", "100"]);
        assert_eq!(labels(log(1e4, 1e5), 6), ["10k", "20k", "50k", "100k"]);
        assert_eq!(labels(log(1e-6, 1e-5), 6), ["10⁻⁶", "2×10⁻⁶", "5×10⁻⁶", "10⁻⁵"]);
        assert_eq!(labels(log(0.42, 0.47), 5), ["0.42", "0.43", "0.44", "0.45", "0.46", "0.47"]);
    }

    #[test]
    fn the_ends_lie_at_zero_and_one() {
        for axis in [linear(-2.0, 8.0), log(1e-3, 50.0), linear(5.0, 5.0), log(7.0, 7.0)] {
            assert!(axis.place(axis.low).unwrap().abs() < 1e-15);
            assert!((axis.place(axis.high).unwrap() - 1.0).abs() < 1e-15);
        }
        assert_eq!(log(1.0, 100.0).place(10.0), Some(0.5));
    }

    #[test]
    fn what_cannot_be_shown_has_no_place() {
        assert_eq!(linear(0.0, 1.0).place(f64::NAN), None);
        assert_eq!(log(1.0, 10.0).place(0.0), None);
        let axis = Axis::fit(AxisScale::Log, [-1.0, 0.0, f64::INFINITY, 3.0, 30.0]);
        assert_eq!((axis.low, axis.high), (3.0, 30.0));
    }

    #[test]
    fn any_interval_has_a_handful_of_ticks() {
        for low in [-1e300, -1e9, -1.0, 0.0, 1e-300, 1e-9, 1.0, 1e9] {
            for high in [-1e-8, 0.0, 1e-290, 1e-3, 7.0, 1e12, 1e300, f64::MAX] {
                for scale in [AxisScale::Linear, AxisScale::Log] {
                    let axis = Axis::fit(scale, [low, high]).airy();
                    let len = axis.ticks(5).iter().filter(|t| t.label.is_some()).count();
                    assert!((1..=11).contains(&len), "{scale:?} {low} {high}: {len}");
                }
            }
        }
    }
}
