//! The frame of every page: one file that loads nothing, light and dark, wide and narrow.

use maud::{Markup, PreEscaped, html};

const STYLE: &str = include_str!("page.css");

/// A whole page around a body.
///
/// ```
/// let page = parsimon_page::document("a < b", maud::html! { h1 { "Less" } });
/// assert!(page.contains("<title>a &lt; b</title>") && page.contains("<h1>Less</h1>"));
/// ```
pub fn document(title: &str, body: Markup) -> String {
    // Lines end where a reader of the source, or `diff`, would have them end.
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            "\n"
            head {
                "\n"
                meta charset="utf-8"; "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                // A browser requests an icon from the server unless the page contains one.
                link rel="icon" href="data:,"; "\n"
                title { (title) } "\n"
                style { "\n" (PreEscaped(STYLE)) } "\n"
            }
            "\n"
            body { "\n" (body) }
        }
        "\n"
    };
    page.into_string()
}
