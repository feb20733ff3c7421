//! The echo paths of ITU-T G.168, Annex D: impulse responses of hybrids, at 8 kHz.
//!
//! Two forms are read: the C header of spandsp, where `line_model_d2_coeffs[]` holds integers and `LINE_MODEL_D2_GAIN` their factor, and
//! tab-separated text with a name, a gain and the integers on a line. Both give the same numbers. Whatever else they hold (test signals,
//! filters) is skipped.

use std::io::Read;
use std::path::Path;

use super::ReadError;

const LARGEST: u64 = 1 << 20;

/// The echo paths of a file, named `d2` to `d9`, in its order: `h[k] = gain * coefficient[k]`.
pub fn paths(file: &Path) -> Result<Vec<(String, Vec<f64>)>, ReadError> {
    let mut bytes = Vec::new();
    let opened = parsimon_files::InputFile::open(file).map_err(|e| ReadError::io(file, e))?;
    opened.take(LARGEST).read_to_end(&mut bytes).map_err(|e| ReadError::io(file, e))?;
    parse(&String::from_utf8_lossy(&bytes)).map_err(|what| ReadError::content(file, what))
}

/// The echo paths of a text.
pub fn parse(text: &str) -> Result<Vec<(String, Vec<f64>)>, String> {
    let found = if text.contains("_coeffs[]") { from_header(text)? } else { from_table(text)? };
    if found.is_empty() {
        return Err("no echo path in it: expected line_model_d2_coeffs[] or lines of line_model_d2, gain, coefficients".into());
    }
    Ok(found)
}

fn from_table(text: &str) -> Result<Vec<(String, Vec<f64>)>, String> {
    let mut paths = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let Some(rest) = line.strip_prefix("line_model_") else { continue };
        let at = |what: String| format!("line {number}: {what}");
        let fields: Vec<&str> = rest.split('\t').collect();
        let &[name, gain, numbers] = fields.as_slice() else {
            return Err(at(format!("{} fields, expected name, gain, coefficients", fields.len())));
        };
        let path = scaled(gain, numbers.split_whitespace()).map_err(at)?;
        paths.push((name.to_owned(), path));
    }
    Ok(paths)
}

fn from_header(text: &str) -> Result<Vec<(String, Vec<f64>)>, String> {
    let text = without_comments(text);
    let mut paths = Vec::new();
    for (at, start) in text.match_indices("line_model_") {
        let Some((name, rest)) = text[at + start.len()..].split_once("_coeffs[]") else { continue };
        if !name.bytes().all(|b| b.is_ascii_alphanumeric()) {
            continue;
        }
        let inside = |what: &str| format!("line_model_{name}_coeffs: {what}");
        let list = rest.trim_start().strip_prefix('=').map(str::trim_start);
        let list =
            list.and_then(|rest| rest.strip_prefix('{')).and_then(|rest| rest.split_once('}'));
        let Some((list, _)) = list else { return Err(inside("expected = { ... }")) };
        let define = format!("#define LINE_MODEL_{}_GAIN", name.to_ascii_uppercase());
        let gain = text.lines().find_map(|line| line.strip_prefix(&define)).map(str::trim);
        let Some(gain) = gain else { return Err(inside("its gain is not defined")) };
        let numbers = list.split(',').map(str::trim).filter(|n| !n.is_empty());
        let path =
            scaled(gain.trim_end_matches(['f', 'F']), numbers).map_err(|what| inside(&what))?;
        paths.push((name.to_owned(), path));
    }
    Ok(paths)
}

fn scaled<'a>(gain: &str, numbers: impl Iterator<Item = &'a str>) -> Result<Vec<f64>, String> {
    let factor: Option<f64> = gain.parse().ok().filter(|g: &f64| g.is_finite());
    let factor = factor.ok_or_else(|| format!("the gain is {gain:?}, expected a number"))?;
    let tap = |n: &str| {
        let n: i32 = n.parse().map_err(|_| format!("coefficient {n:?}, expected an integer"))?;
        Some(factor * f64::from(n))
            .filter(|h| h.is_finite())
            .ok_or_else(|| format!("the gain {gain} is too large"))
    };
    let path: Vec<f64> = numbers.map(tap).collect::<Result<_, _>>()?;
    if path.is_empty() { Err("no coefficients".into()) } else { Ok(path) }
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        kept.push(' ');
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER: &str = "/* line_model_d9_coeffs[] is not here */\n\
        const int32_t line_model_d2_coeffs[] =\n{\n  -436, 829,\n   7 /* last */\n};\n#define LINE_MODEL_D2_GAIN      1.39E-5f\n\
        const float level_coeffs[] = { 1.0f };\nconst int css_c1[] = { 1, 2 };\n";
    const TABLE: &str =
        "# name, gain, coefficients\nline_model_d2\t1.39E-5\t-436 829 7\ncss_c1\t1\t1 2\n";

    #[test]
    fn both_forms_give_the_same_numbers() {
        let expected =
            vec![("d2".to_owned(), vec![-436.0 * 1.39e-5, 829.0 * 1.39e-5, 7.0 * 1.39e-5])];
        assert_eq!(parse(HEADER), Ok(expected.clone()));
        assert_eq!(parse(TABLE), Ok(expected));
    }

    #[test]
    fn each_fault_has_its_place() {
        let cases = [
            ("", "no echo path in it"),
            ("line_model_d2\t1.39E-5", "line 1: 2 fields"),
            ("\nline_model_d2\tx\t1 2", "line 2: the gain is \"x\""),
            ("line_model_d2\t1\t1 2.5", "line 1: coefficient \"2.5\""),
            ("line_model_d2\t1\t", "line 1: no coefficients"),
            ("line_model_d2\t1e308\t100", "line 1: the gain 1e308 is too large"),
            (
                "int line_model_d2_coeffs[] = { 1 };",
                "line_model_d2_coeffs: its gain is not defined",
            ),
            ("int line_model_d2_coeffs[] = 1", "line_model_d2_coeffs: expected = { ... }"),
        ];
        for (text, error) in cases {
            assert!(parse(text).unwrap_err().starts_with(error), "{text:?}: {:?}", parse(text));
        }
    }

    proptest! {
        #[test]
        fn a_changed_text_is_read_or_refused(
            header in any::<bool>(),
            at in any::<prop::sample::Index>(),
            with in ".{0,3}",
        ) {
            let text = if header { HEADER } else { TABLE };
            let at = at.index(text.len());
            let changed = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            if let Ok(paths) = parse(&changed) {
                prop_assert!(paths.iter().all(|(_, h)| h.iter().all(|x| x.is_finite())));
            }
        }
    }
}
