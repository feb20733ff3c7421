//! Recognition of a single cell.

/// Facts from the spelling of a plain number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Spelling {
    /// A decimal point or a signed exponent: surely a measured or computed number.
    pub(super) is_decimal: bool,
    /// Leading zeros, a bare exponent or more than 15 digits: a code, unless the column has decimals.
    pub(super) is_code: bool,
    pub(super) is_integer: bool,
}

/// Looks at how a number is spelled.
pub(super) fn spelling(cell: &[u8]) -> Spelling {
    let is_signed = matches!(cell.first(), Some(b'+' | b'-'));
    let digits = if is_signed { &cell[1..] } else { cell };
    let whole = digits.iter().take_while(|b| b.is_ascii_digit()).count();
    let exponent = digits.iter().position(|b| matches!(b, b'e' | b'E'));
    let has_signed_exponent =
        exponent.is_some_and(|e| matches!(digits.get(e + 1), Some(b'+' | b'-')));
    let has_point = digits.contains(&b'.');
    Spelling {
        is_decimal: has_point || has_signed_exponent,
        is_code: (whole > 1 && digits[0] == b'0' && !has_point)
            || (exponent.is_some() && !has_signed_exponent)
            || whole > 15,
        is_integer: whole == digits.len() && whole > 0,
    }
}

/// Counts the words, separated by blanks.
pub(super) fn words(cell: &[u8]) -> usize {
    cell.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count()
}

/// Pairs of words for yes and no.
const BOOLEANS: [(&[u8], &[u8]); 4] =
    [(b"true", b"false"), (b"yes", b"no"), (b"t", b"f"), (b"y", b"n")];

/// The pair that a cell belongs to.
pub(super) fn boolean_pair(cell: &[u8]) -> Option<usize> {
    BOOLEANS
        .iter()
        .position(|(yes, no)| cell.eq_ignore_ascii_case(yes) || cell.eq_ignore_ascii_case(no))
}
