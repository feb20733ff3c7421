//! Pictures of a trial beside its curves. They carry no number that is judged.

use parsimon_page::chart::{Figure, Images, Panel, Scatter, Series};
use serde::{Deserialize, Serialize};

/// A picture, stored with its trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Picture {
    /// Values as images, on one scale.
    Images {
        /// Title of the picture.
        title: String,
        /// Origin of the picture.
        subtitle: String,
        /// Pixels in a line.
        width: usize,
        /// Captions and pixels.
        images: Vec<(String, Vec<f32>)>,
    },
    /// Lines over one axis: a signal, an impulse response.
    Lines {
        /// Title of the picture.
        title: String,
        /// Origin of the picture.
        subtitle: String,
        /// Title of the axis.
        across: String,
        /// Meaning of the values.
        up: String,
        /// Names and points.
        lines: Vec<(String, Vec<(f64, f64)>)>,
    },
    /// Points of the plane.
    Scatter {
        /// Title of the picture.
        title: String,
        /// Origin of the picture.
        subtitle: String,
        /// The points.
        dots: Vec<Dot>,
    },
}

/// A point of the plane, drawn as its class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dot {
    /// Across.
    pub x: f32,
    /// Up.
    pub y: f32,
    /// Its digit, from 0 to 9.
    pub class: u8,
    /// Whether it was misclassified; such a point is circled.
    pub wrong: bool,
}

impl Picture {
    /// Draws the picture as SVG, once as wide as a screen and once as wide as a phone.
    ///
    /// ```
    /// use parsimon_lab::picture::{Dot, Picture};
    ///
    /// let dots = vec![Dot { x: 0.0, y: 1.0, class: 7, wrong: true }, Dot { x: 2.0, y: 0.0, class: 1, wrong: false }];
    /// let picture = Picture::Scatter { title: "Two".into(), subtitle: String::new(), dots };
    /// assert!(picture.to_svgs().iter().all(|svg| svg.matches(">7</text>").count() == 1));
    /// ```
    pub fn to_svgs(&self) -> [String; 2] {
        match self {
            Picture::Images { title, subtitle, width, images } => {
                let chart = Images::new(title).subtitle(subtitle).columns(5);
                let add = |chart: Images, (caption, values): &(String, Vec<f32>)| {
                    chart.image(caption, *width, values.iter().map(|v| f64::from(*v)))
                };
                let chart = images.iter().fold(chart, add);
                [chart.to_svg(), chart.to_phone_svg()]
            }
            Picture::Lines { title, subtitle, across, up, lines } => {
                let add = |panel: Panel, (name, points): &(String, Vec<(f64, f64)>)| {
                    panel.series(Series::line(name, points.iter().copied()))
                };
                let panel = lines.iter().fold(Panel::new(across, up), add);
                let chart = Figure::new(title).subtitle(subtitle.clone()).panel(panel);
                [chart.to_svg(), chart.to_phone_svg()]
            }
            Picture::Scatter { title, subtitle, dots } => {
                let add = |chart: Scatter, dot: &Dot| {
                    let chart = chart.point((dot.x, dot.y), dot.class);
                    if dot.wrong { chart.circled() } else { chart }
                };
                let chart = dots.iter().fold(Scatter::new(title, subtitle), add);
                [chart.to_svg(), chart.to_phone_svg()]
            }
        }
    }
}
