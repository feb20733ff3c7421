//! A page that opens offline: one file, light and dark, wide and narrow.

const STYLE: &str = include_str!("page.css");

/// A whole page around a body of HTML.
///
/// ```
/// let page = parsimon_lab::page::page("a < b", "<h1>Less</h1>\n");
/// assert!(page.starts_with("<!doctype html>") && page.contains("<title>a &lt; b</title>"));
/// ```
pub fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n{body}</html>\n",
        escape(title)
    )
}

/// Text as HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text as HTML, with what stands between backticks as code.
///
/// ```
/// assert_eq!(parsimon_lab::page::code("run `a < b`"), "run <code>a &lt; b</code>");
/// ```
pub fn code(text: &str) -> String {
    let part = |(k, part): (usize, &str)| match k % 2 {
        0 => escape(part),
        _ => format!("<code>{}</code>", escape(part)),
    };
    text.split('`').enumerate().map(part).collect()
}
