//! Page elements: tables, lists of facts, figures, text with inline code.

use maud::{Markup, Render, html};

/// A table with a heading for every column. A body is the rows of one `tbody`.
///
/// ```
/// use maud::html;
///
/// let table = parsimon_page::table(Some("runs"), &["a < b"], [html! { tr { td { "yes" } } }]);
/// assert!(table.into_string().contains("<th scope=\"col\">a &lt; b</th>"));
/// ```
pub fn table<T: AsRef<str>>(
    class: Option<&str>,
    header: &[T],
    bodies: impl IntoIterator<Item = Markup>,
) -> Markup {
    html! {
        table class=[class] {
            "\n"
            thead { tr { @for name in header { th scope="col" { (name.as_ref()) } } } } "\n"
            @for rows in bodies { tbody { "\n" (rows) } "\n" }
        }
        "\n"
    }
}

/// A box for a table that may be wider than the window: the table scrolls, with the keyboard as well, and the page does not.
pub fn wide(table: Markup) -> Markup {
    html! { div class="wide" tabindex="0" { (table) } "\n" }
}

/// Names and values in two columns, one below the other in narrow windows. A name may have several values.
///
/// ```
/// use maud::html;
///
/// let list = parsimon_page::facts([("rows", vec![html! { "1,000" }])]);
/// assert!(list.into_string().contains("<dt>rows</dt><dd>1,000</dd>"));
/// ```
pub fn facts<'a>(facts: impl IntoIterator<Item = (&'a str, Vec<Markup>)>) -> Markup {
    html! {
        dl class="facts" {
            "\n"
            @for (name, values) in facts {
                @if let Some((first, others)) = values.split_first() {
                    dt { (name) } dd { (first) @for value in others { br; (value) } } "\n"
                }
            }
        }
        "\n"
    }
}

/// A chart, or another picture, with a caption below it.
pub fn figure(picture: &impl Render, caption: Option<Markup>) -> Markup {
    html! {
        figure {
            (picture)
            @if let Some(caption) = caption { figcaption { (caption) } }
        }
        "\n"
    }
}

/// Text in which the parts between backticks are code.
///
/// ```
/// let markup = parsimon_page::with_code("run `a < b`");
/// assert_eq!(markup.into_string(), "run <code>a &lt; b</code>");
/// ```
pub fn with_code(text: &str) -> Markup {
    html! {
        @for (k, part) in text.split('`').enumerate() {
            @if k % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// A name that may be broken after its punctuation.
///
/// ```
/// let markup = parsimon_page::breakable("ftrl:rate=0.1");
/// assert_eq!(markup.into_string(), "ftrl:<wbr>rate=<wbr>0.1");
/// ```
pub fn breakable(name: &str) -> Markup {
    html! {
        @for (k, part) in name.split_inclusive([':', ',', '=']).enumerate() {
            @if k > 0 { wbr; }
            (part)
        }
    }
}
