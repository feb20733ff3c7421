//! Formulas between dollar signs, as MathML.

use anyhow::{Result, bail};
use parsimon_testing::markdown::prose;
use pulldown_latex::config::{DisplayMode, RenderConfig};
use pulldown_latex::{Parser, Storage, push_mathml};

/// The page with `$...$` and `$$...$$` outside of code replaced by MathML.
pub(super) fn rendered(page: &str) -> Result<String> {
    let outside = prose(page);
    let mut fresh = String::with_capacity(page.len());
    let mut at = 0;
    while let Some(offset) = outside[at..].find('$') {
        let start = at + offset;
        let mark = if outside[start..].starts_with("$$") { "$$" } else { "$" };
        let inside = start + mark.len();
        fresh.push_str(&page[at..start]);
        // An escaped dollar sign is one.
        if fresh.ends_with('\\') {
            fresh.pop();
            fresh.push('$');
            at = start + 1;
            continue;
        }
        let Some(length) = outside[inside..].find(mark) else {
            bail!("a formula without an end: {}", excerpt(&page[start..]));
        };
        let formula = &page[inside..inside + length];
        if formula.contains("\n\n") {
            bail!("a formula without an end: {}", excerpt(&page[start..]));
        }
        fresh.push_str(&mathml(formula.trim(), mark == "$$")?);
        at = inside + length + mark.len();
    }
    fresh.push_str(&page[at..]);
    Ok(fresh)
}

fn excerpt(text: &str) -> String {
    text.chars().take(60).collect()
}

/// One formula. What the renderer does not know is an error, not red text on a page.
fn mathml(formula: &str, is_display: bool) -> Result<String> {
    let display_mode = if is_display { DisplayMode::Block } else { DisplayMode::Inline };
    let config = RenderConfig { display_mode, ..RenderConfig::default() };
    let storage = Storage::new();
    if let Some(error) = Parser::new(formula, &storage).find_map(Result::err) {
        bail!("{formula}: {error}");
    }
    let storage = Storage::new();
    let mut html = String::new();
    push_mathml(&mut html, Parser::new(formula, &storage), config)?;
    // An empty line would end the HTML block in Markdown; a line break within MathML means nothing.
    let html: String = html.lines().map(str::trim).collect();
    // mdBook does not know the entity within MathML.
    let html = html.replace("&nbsp;", "\u{a0}");
    // The renderer leaves out the space after an attribute of large brackets.
    Ok(html.replace("\"minsize=", "\" minsize="))
}

#[cfg(test)]
mod tests {
    use super::rendered;

    #[test]
    fn formulas_become_mathml_and_code_stays() {
        let page = "Step $w_t$ and `$U/score`, \\$3.\n\n$$\nz = \\sum_s g_s\n$$\n";
        let fresh = rendered(page).unwrap();
        assert!(fresh.contains("<math"), "{fresh}");
        assert!(fresh.contains("`$U/score`, $3."), "{fresh}");
        assert!(fresh.contains("display=\"block\""), "{fresh}");
        assert!(!fresh.contains("$$"), "{fresh}");
    }

    #[test]
    fn large_brackets_are_valid_html() {
        let fresh = rendered("$\\Big(x\\Big)$").unwrap();
        assert!(fresh.contains(" minsize=") && !fresh.contains("\"minsize"), "{fresh}");
    }

    #[test]
    fn a_formula_that_cannot_be_read_is_refused() {
        assert!(rendered("a $\\nosuchcommand{x}$ b").is_err());
        assert!(rendered("a $x b").is_err());
    }
}
