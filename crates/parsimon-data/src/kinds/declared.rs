//! The kind of a column whose cells have types: in Parquet, Arrow and JSON.

use super::{Judge, Kind, Verdict};

/// Information from the type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    /// The kind, whatever the values are.
    Kind(Kind),
    /// A time, written in the form of this example.
    #[cfg_attr(not(feature = "columnar"), expect(dead_code, reason = "types of Arrow"))]
    Time(&'static str),
    /// Numbers that are not all whole.
    Reals,
    /// Integers: numbers, unless they are codes or an identifier.
    Integers,
    /// Texts: a category, unless they are sentences, dates, identifiers, or numbers that only texts can hold, such as `1,200`.
    Texts,
    /// Cells of several types: as in a file of text.
    Mixed,
}

/// Returns what a column is by its type and its cells, and whether all its texts are plain numbers.
pub(crate) fn typed_verdict(
    judge: &Judge,
    name: &str,
    declared: Declared,
    is_whole: bool,
) -> (Verdict, bool) {
    let by_cells = judge.verdict(name, is_whole, false);
    if declared == Declared::Mixed {
        return (by_cells, false);
    }
    let odd = by_cells.odd.filter(|_| declared == Declared::Texts);
    let (mut few, mut are_digits) = (Vec::new(), false);
    let (kept, form) = match (declared, by_cells.kept) {
        (Declared::Kind(kind), _) => (kind, None),
        (Declared::Reals, _) => (Kind::Number, None),
        (Declared::Time(form), _) => (Kind::Time, Some(form)),
        (Declared::Integers, kept) => (kept, by_cells.form),
        // Texts that are all plain numbers, codes and dates without separators among them.
        (Declared::Texts, kept)
            if kept == Kind::Number && by_cells.form.is_none()
                || kept == Kind::Time && judge.are_plain()
                || by_cells.is_code =>
        {
            are_digits = by_cells.kind != Kind::Constant;
            (Kind::Category, None)
        }
        (Declared::Texts | Declared::Mixed, kept) => {
            few = by_cells.few;
            (kept, by_cells.form)
        }
    };
    let kind = match by_cells.kind {
        left_out @ (Kind::Constant | Kind::Empty) => left_out,
        Kind::Identifier if by_cells.kept == kept || kept == Kind::Category => Kind::Identifier,
        _ => kept,
    };
    are_digits &= kind == Kind::Category;
    let form = if kind == kept { form } else { None };
    let is_code = by_cells.is_code && declared == Declared::Integers;
    (Verdict { kind, form, kept, odd, few, is_code }, are_digits)
}
