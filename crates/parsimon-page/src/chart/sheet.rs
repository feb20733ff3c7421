//! Properties of every chart: a title, a subtitle, a width and a theme.

use maud::{PreEscaped, Render};

use crate::chart::header::Header;
use crate::chart::theme::Theme;
use crate::chart::{Bars, Figure, HeatMaps, Images, Scatter};

/// The part of a chart that does not depend on what is drawn.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) width: f64,
    pub(crate) theme: Theme,
}

impl Sheet {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), subtitle: String::new(), width: 720.0, theme: Theme::Auto }
    }

    pub(crate) fn header(&self) -> Header<'_> {
        Header::new(&self.title, &self.subtitle, self.width)
    }
}

/// The width of a chart for phones, in pixels. A chart made for a screen and scaled down to a phone could not be read.
const PHONE: u32 = 360;

/// A chart on a page: laid out twice, and the style sheet shows the one that fits the window.
pub(crate) fn on_page(buffer: &mut String, screen: &str, phone: &str) {
    let picture = maud::html! {
        div class="screen" { (PreEscaped(screen)) }
        div class="phone" { (PreEscaped(phone)) }
    };
    buffer.push_str(&picture.into_string());
}

/// The options that every chart has, and the chart as part of a page.
macro_rules! charts {
    ($($chart:ident),*) => {$(
        impl $chart {
            /// The width in pixels, 720 unless said otherwise. The height follows from what is drawn; both scale.
            #[must_use]
            pub fn width(mut self, pixels: u32) -> Self {
                self.sheet.width = f64::from(pixels.max(200));
                self
            }

            /// Fixes the theme instead of following the reader's.
            #[must_use]
            pub fn theme(mut self, theme: Theme) -> Self {
                self.sheet.theme = theme;
                self
            }

            /// Writes the chart as SVG, as wide as a phone.
            pub fn to_phone_svg(&self) -> String {
                self.clone().width(PHONE).to_svg()
            }
        }

        impl Render for $chart {
            fn render_to(&self, buffer: &mut String) {
                on_page(buffer, &self.to_svg(), &self.to_phone_svg());
            }
        }
    )*};
}

charts!(Bars, Figure, HeatMaps, Images, Scatter);
