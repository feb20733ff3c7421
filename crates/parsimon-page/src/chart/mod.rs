//! Small charts as SVG.
//!
//! | Chart | Made with |
//! | --- | --- |
//! | lines, points with a Pareto front, stems, bars, bands | [`Figure`] of [`Panel`]s of [`Series`] |
//! | learning curve | [`learning_curve`] |
//! | reliability diagram | [`reliability`] |
//! | images of weights | [`Images`] |
//! | spectrograms and other heat maps with axes | [`HeatMaps`] |
//! | a few named values | [`Bars`] |
//! | points of the plane in ten classes | [`Scatter`] |
//!
//! They are written here, without a plotting library, for three reasons. A chart must follow the theme of
//! the page it is read on, light or dark, as one file. It must be readable offline: no script, no font to
//! load, no link. And it must be the same to the last byte when nothing has changed, so that a report can be
//! compared with `diff` and a chart can be a test. Numbers have two decimals of a pixel, nothing depends on
//! a clock or a hash order, and no element has an id, so that any number of charts can share a page.
//!
//! Out of scope: interaction, animation, zoom, and the exact width of a text in the reader's font.
//!
//! ```
//! use parsimon_page::chart::{Figure, Panel, Series};
//!
//! let taps = [0.0, 0.9, 0.0, -0.4, 0.0, 0.0, 0.1].into_iter();
//! let svg = Figure::new("A sparse impulse response")
//!     .panel(Panel::new("tap", "weight").series(Series::stems("w", (0..).map(f64::from).zip(taps))))
//!     .to_svg();
//! assert!(svg.ends_with("</svg>\n"));
//! ```

mod axis;
mod bars;
mod ends;
mod figure;
mod header;
mod heat;
mod images;
mod labels;
mod learning_curve;
mod legend;
mod marks;
mod panel;
mod reliability;
mod scatter;
mod series;
mod sheet;
mod slot;
mod svg;
mod theme;
mod tick;
mod wrap;

pub use bars::Bars;
pub use figure::Figure;
pub use heat::HeatMaps;
pub use images::Images;
pub use learning_curve::{learning_curve, settled};
pub use panel::Panel;
pub use reliability::{reliability, reliability_of};
pub use scatter::Scatter;
pub use series::{Better, Series};
pub use theme::Theme;
