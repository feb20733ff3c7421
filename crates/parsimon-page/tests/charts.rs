//! Every chart of the gallery: well-formed, self-contained, without a number that is none, and the same
//! bytes each time.

#[expect(dead_code, reason = "the page is for the browser")]
#[path = "../examples/gallery/figures.rs"]
mod figures;

use parsimon_page::chart::{Figure, HeatMaps, Images, Panel, Series};

/// Checks that tags balance, attributes are quoted and text is escaped. Returns the first offense.
fn well_formed(svg: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        entities(&rest[..start])?;
        let end = rest[start..].find('>').ok_or("a tag does not end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            match open.pop() {
                Some(top) if top == name => {}
                top => return Err(format!("</{name}> closes {top:?}")),
            }
            continue;
        }
        let body = tag.strip_suffix('/').unwrap_or(tag);
        let name = body.split(' ').next().unwrap_or_default();
        attributes(&body[name.len()..])?;
        if body.len() == tag.len() {
            open.push(name);
        }
    }
    entities(rest)?;
    if open.is_empty() { Ok(()) } else { Err(format!("never closed: {open:?}")) }
}

fn attributes(mut text: &str) -> Result<(), String> {
    while !text.trim().is_empty() {
        let (name, after) = text.split_once("=\"").ok_or(format!("no value: {text}"))?;
        let (value, after) = after.split_once('"').ok_or(format!("no closing quote: {text}"))?;
        if name.trim().is_empty() || name.trim().contains([' ', '"']) {
            return Err(format!("not an attribute: {name:?}"));
        }
        entities(value)?;
        text = after;
    }
    Ok(())
}

fn entities(text: &str) -> Result<(), String> {
    for (at, _) in text.match_indices('&') {
        let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#39;"];
        if !known.iter().any(|entity| text[at..].starts_with(entity)) {
            return Err(format!("a bare ampersand: {}", &text[at..]));
        }
    }
    if text.contains('>') { Err(format!("a bare >: {text}")) } else { Ok(()) }
}

#[test]
fn the_checker_can_tell() {
    assert_eq!(well_formed("<a x=\"1\"><b/>t &amp; u</a>"), Ok(()));
    for bad in ["<a>", "<a></b>", "<a x=1/>", "a & b", "<a x=\"1/>", "</a>", "<a>></a>"] {
        assert!(well_formed(bad).is_err(), "{bad}");
    }
}

#[test]
fn every_chart_is_well_formed() {
    for (name, svg) in figures::all() {
        assert_eq!(well_formed(&svg), Ok(()), "{name}");
    }
}

#[test]
fn every_chart_stands_alone() {
    for (name, svg) in figures::all() {
        for foreign in [" id=", "href", "url(", "@import", "<script", "@font-face"] {
            assert!(!svg.contains(foreign), "{name} contains {foreign}");
        }
        let is_auto = name.ends_with("-auto");
        assert_eq!(svg.contains("prefers-color-scheme:dark"), is_auto, "{name}");
    }
}

#[test]
fn no_coordinate_is_not_a_number() {
    for (name, svg) in figures::all() {
        let shapes = svg.split("</style>").nth(1).unwrap_or_default();
        for word in ["NaN", "inf"] {
            let found = shapes.lines().find(|line| !line.contains("<text") && line.contains(word));
            assert_eq!(found, None, "{name}");
        }
    }
}

#[test]
fn the_same_figure_gives_the_same_bytes() {
    assert_eq!(figures::all(), figures::all());
}

#[test]
fn hostile_numbers_and_names_make_no_bad_chart() {
    let values =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 5e-324, 0.0, -0.0];
    let points = || values.iter().flat_map(|&x| values.iter().map(move |&y| (x, y)));
    let triples = || points().map(|(x, y)| (x, y, -y));
    let name = "]]><script>&\u{0}\n'\"";
    let panel = || {
        Panel::new(name, name)
            .series(Series::line(name, points()).with_markers())
            .series(Series::points("p", points()).labels([name; 64]))
            .series(Series::stems("s", points()))
            .series(Series::bars("b", triples()))
            .series(Series::band("d", triples()))
            .series(Series::reference("r", points()))
    };
    let limited = panel().limit_x(5.0, -5.0).limit_y(f64::NAN, 1.0);
    for panel in [panel(), panel().log_x(), panel().log_y(), panel().log_x().log_y(), limited] {
        let svg = Figure::new(name).subtitle(name).panel(panel).to_svg();
        assert_eq!(well_formed(&svg), Ok(()));
        assert!(!svg.contains("NaN") && !svg.contains("\"inf"), "{svg}");
    }
    let svg = Images::new(name).image(name, 0, values).image("", 3, []).to_svg();
    assert_eq!(well_formed(&svg), Ok(()));
    assert_eq!(well_formed(&Images::new("none").to_svg()), Ok(()));
    for (low, high) in points() {
        let maps = HeatMaps::new(name).subtitle(name).x(name, low, high).y(name, high, low);
        let svg = maps.scale(name, low, high).map(name, 0, values).map("", 3, []).to_svg();
        assert_eq!(well_formed(&svg), Ok(()));
        assert!(!svg.contains("=\"NaN") && !svg.contains("\"inf"), "{svg}");
    }
    assert_eq!(well_formed(&HeatMaps::new("none").to_svg()), Ok(()));
    assert_eq!(well_formed(&Figure::new("none").to_svg()), Ok(()));
}
