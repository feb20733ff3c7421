//! Four features `id:value` read at once, where the machine has AVX2.
//!
//! With the separators known beforehand ([`separators`](crate::separators)) four features are four equal lanes: the digits of an id are the
//! bytes before its colon, those of a fraction the bytes before its end. A digit alone (`1`, mostly) is a number with no digits
//! after its point, so there is no branch on what kind of number it is, which would be guessed wrong.

#![allow(unsafe_code)]

use std::arch::x86_64::{
    __m128i, __m256d, __m256i, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi64, _mm256_add_pd,
    _mm256_and_si256, _mm256_andnot_si256, _mm256_blendv_epi8, _mm256_castpd_si256,
    _mm256_castsi256_pd, _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_cmpeq_epi64,
    _mm256_cmpgt_epi32, _mm256_cvtepi32_pd, _mm256_div_pd, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_min_epu8, _mm256_min_epu32,
    _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_mul_pd, _mm256_or_si256, _mm256_packus_epi32,
    _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32, _mm256_set_m128i, _mm256_set1_epi8,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_set1_pd, _mm256_setr_epi32,
    _mm256_slli_epi64, _mm256_sllv_epi64, _mm256_srli_epi64, _mm256_srlv_epi64, _mm256_storeu_pd,
    _mm256_sub_epi32, _mm256_sub_epi64, _mm256_sub_pd, _mm256_unpackhi_epi64,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};

/// Values that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FourFeatures {
    /// Number of valid features of the four, before the first unusual one or the end of the row.
    pub(crate) count: usize,
    /// Whether the last of them is the row's last.
    pub(crate) ends_row: bool,
}

impl FourFeatures {
    const NOTHING: FourFeatures = FourFeatures { count: 0, ends_row: false };
}

/// Reads the features between nine separators, the first of which stands before the first feature: ids of one to eight digits, values
/// of one digit, or of one digit, a point and up to eight more, or up to four and an exponent such as `e-02`, with or without a
/// minus; a blank or a newline behind them.
///
/// Values are those of `str::parse`: a mantissa below 2^53 and a power of ten up to 10^8 are exact, and the division rounds once.
#[target_feature(enable = "avx2")]
#[inline]
pub(crate) fn read(
    text: &[u8],
    places: &[u32; 9],
    ids: &mut [u32; 4],
    values: &mut [f64; 4],
) -> FourFeatures {
    // SAFETY: eight places from 0 and from 1 are inside of the nine.
    let (before, after) = unsafe {
        let at = places.as_ptr();
        (_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.add(1).cast()))
    };
    let ascends = _mm256_movemask_epi8(_mm256_cmpgt_epi32(after, before)) == -1;
    let (first, last) = (places[1].cast_signed(), places[8] as usize);
    if !ascends || first < 8 || last + 8 > text.len() {
        return FourFeatures::NOTHING;
    }
    #[expect(clippy::cast_ptr_alignment, reason = "the load needs no alignment")]
    let around = |place: u32| {
        // SAFETY: places ascend from at least 8 to `last`, behind which there are eight bytes.
        unsafe { _mm_loadu_si128(text.as_ptr().add(place as usize - 8).cast::<__m128i>()) }
    };
    // The eight bytes before each place, and those that follow.
    let eights = |k: usize| {
        let low = _mm256_set_m128i(around(places[k + 4]), around(places[k]));
        let high = _mm256_set_m128i(around(places[k + 6]), around(places[k + 2]));
        (_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high))
    };
    let (id_digits, head) = eights(1);
    let (fraction, tail) = eights(2);
    let each = |n: i64| _mm256_set1_epi64x(n);
    let is = |a: __m256i, b: i64| _mm256_cmpeq_epi64(a, each(b));
    let byte = |a: __m256i| _mm256_and_si256(a, each(0xff));
    // Whether 64-bit numbers are in 0..=most.
    let at_most = |a: __m256i, most: i64| _mm256_cmpeq_epi64(_mm256_min_epu32(a, each(most)), a);

    let lengths = _mm256_sub_epi32(_mm256_sub_epi32(after, before), _mm256_set1_epi32(1));
    let id_len = _mm256_and_si256(lengths, each(0xffff_ffff));
    let len = _mm256_srli_epi64(lengths, 32);
    let colon = is(byte(head), i64::from(b':'));
    // A minus moves what follows, and is no part of the number's length.
    let minus = _mm256_cmpeq_epi64(_mm256_and_si256(head, each(0xff00)), each(0x2d00));
    let head = _mm256_srlv_epi64(head, _mm256_and_si256(minus, each(8)));
    let len = _mm256_add_epi64(len, minus);
    let lone = is(len, 1);
    let point = _mm256_or_si256(lone, is(_mm256_and_si256(head, each(0xff_0000)), 0x2e_0000));
    let first = _mm256_sub_epi64(byte(_mm256_srli_epi64(head, 8)), each(0x30));
    let count = _mm256_andnot_si256(lone, _mm256_sub_epi64(len, each(2)));
    // So does an exponent `e-0d` what stands before it; its digit joins those behind the point in the power that divides.
    let mark = i64::from(u32::from_le_bytes(*b"e-0\0"));
    let scaled = is(_mm256_and_si256(_mm256_srli_epi64(fraction, 32), each(0xff_ffff)), mark);
    let exponent = _mm256_sub_epi64(_mm256_srli_epi64(fraction, 56), each(0x30));
    let exponent = _mm256_and_si256(scaled, exponent);
    let fraction = _mm256_sllv_epi64(fraction, _mm256_and_si256(scaled, each(32)));
    let count = _mm256_add_epi64(count, _mm256_and_si256(scaled, each(-4)));
    let decimals = _mm256_add_epi64(count, exponent);
    // The last `n` bytes of eight, as digits.
    let digits = |bytes: __m256i, count: __m256i| {
        let shift = _mm256_sub_epi64(each(64), _mm256_slli_epi64(count, 3));
        let mask = _mm256_sllv_epi64(each(-1), shift);
        _mm256_and_si256(_mm256_xor_si256(bytes, _mm256_set1_epi8(0x30)), mask)
    };
    let (a, b) = (digits(id_digits, id_len), digits(fraction, count));
    let small = |a: __m256i| _mm256_cmpeq_epi8(_mm256_min_epu8(a, _mm256_set1_epi8(9)), a);
    let blank = is(byte(tail), i64::from(b' '));
    let newline = is(byte(tail), i64::from(b'\n'));
    let both = |a: __m256i, b: __m256i| _mm256_and_si256(a, b);
    let numbers = is(both(small(a), small(b)), -1);
    let ids_fit = at_most(_mm256_sub_epi64(id_len, each(1)), 7);
    let lens = both(ids_fit, both(at_most(exponent, 9), at_most(decimals, 8)));
    let marks = both(both(colon, point), both(at_most(first, 9), _mm256_or_si256(blank, newline)));
    let good = _mm256_movemask_pd(_mm256_castsi256_pd(both(both(numbers, lens), marks)));
    let goes_on = _mm256_movemask_pd(_mm256_castsi256_pd(blank));
    let (good, row) = (good.trailing_ones() as usize, goes_on.trailing_ones() as usize + 1);

    // Tens and ones, hundreds and ones, ten thousands and ones: 8, 4, 2 parts of each number.
    let fours = |a: __m256i| {
        let pairs = _mm256_maddubs_epi16(a, _mm256_set1_epi16(0x010a));
        _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0001_0064))
    };
    let fours = _mm256_packus_epi32(fours(a), fours(b));
    let whole = _mm256_madd_epi16(fours, _mm256_set1_epi32(0x0001_2710));
    // Every half has two ids and two fractions: group the ids, and group the fractions.
    let whole = _mm256_permute4x64_epi64::<0b11_01_10_00>(whole);
    let fraction = _mm256_cvtepi32_pd(_mm256_extracti128_si256::<1>(whole));
    // A small integer in the low bits of 2^52 is a number of that size.
    let two_52 = 0x4330_0000_0000_0000;
    let first = _mm256_castsi256_pd(_mm256_or_si256(first, each(two_52)));
    let first = _mm256_sub_pd(first, _mm256_set1_pd(4_503_599_627_370_496.0));
    let mantissa = _mm256_add_pd(_mm256_mul_pd(first, power(count)), fraction);
    let value = _mm256_div_pd(mantissa, power(decimals));
    let sign = _mm256_slli_epi64(minus, 63);
    let value = _mm256_or_si256(_mm256_castpd_si256(value), sign);
    // SAFETY: four ids and four values.
    unsafe {
        _mm_storeu_si128(ids.as_mut_ptr().cast(), _mm256_castsi256_si128(whole));
        _mm256_storeu_pd(values.as_mut_ptr(), _mm256_castsi256_pd(value));
    }
    FourFeatures { count: good.min(row), ends_row: row <= good }
}

/// `10^n` for `n` from 0 to 8, in 64 bits each.
#[target_feature(enable = "avx2")]
#[inline]
fn power(n: __m256i) -> __m256d {
    const fn high(power: f64) -> i32 {
        // The lower half is zero: 5^8 has 19 bits.
        (power.to_bits() >> 32) as i32
    }
    let table = _mm256_setr_epi32(
        high(1e0),
        high(1e1),
        high(1e2),
        high(1e3),
        high(1e4),
        high(1e5),
        high(1e6),
        high(1e7),
    );
    let eight = _mm256_cmpeq_epi64(n, _mm256_set1_epi64x(8));
    let power = _mm256_permutevar8x32_epi32(table, n);
    let power = _mm256_blendv_epi8(power, _mm256_set1_epi32(high(1e8)), eight);
    _mm256_castsi256_pd(_mm256_slli_epi64(power, 32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads the features between nine separators one by one.
    fn one_by_one(text: &str, places: &[u32; 9]) -> (FourFeatures, Vec<(u32, f64)>) {
        let token = |k: usize| &text[places[k] as usize + 1..places[k + 1] as usize];
        let byte = |k: usize| text.as_bytes()[places[k] as usize];
        let mut features = Vec::new();
        for k in (0..8).step_by(2) {
            let (id, value) = (token(k), token(k + 1));
            let number = value.strip_prefix('-').unwrap_or(value);
            let (number, exponent) = match number.split_once("e-0") {
                Some((number, digit)) => {
                    (number, digit.parse::<u8>().ok().filter(|_| digit.len() == 1))
                }
                None => (number, Some(0)),
            };
            let is_scaled = value.contains('e');
            let number = number.as_bytes();
            let common = (1..=8).contains(&id.len())
                && id.bytes().all(|b| b.is_ascii_digit())
                && number.len() <= 10
                && number
                    .iter()
                    .enumerate()
                    .all(|(k, b)| if k == 1 { *b == b'.' } else { b.is_ascii_digit() })
                && !number.is_empty()
                && exponent.is_some_and(|e| {
                    !is_scaled
                        || (number.len() >= 2
                            && number.len() <= 6
                            && usize::from(e) + number.len() <= 10)
                })
                && byte(k + 1) == b':'
                && matches!(byte(k + 2), b' ' | b'\n');
            if !common {
                break;
            }
            features.push((id.parse().unwrap(), value.parse().unwrap()));
            if byte(k + 2) == b'\n' {
                return (FourFeatures { count: features.len(), ends_row: true }, features);
            }
        }
        (FourFeatures { count: features.len(), ends_row: false }, features)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn four_are_read_as_one_by_one(
            ids in proptest::array::uniform4("[0-9]{1,8}|[0-9]{0,9}|[0-9x]{3}"),
            values in proptest::array::uniform4("1|-?[0-9]([.][0-9]{0,8})?|-?[0-9.-]{0,4}|[0-9]{0,2}[.][0-9]{0,9}|-?[0-9][.]?[0-9]{0,6}e[-+][01]?[0-9]?"),
            ends in proptest::array::uniform4("[ ]{12}\n|[ ]{12}:"),
            at in 0usize..8,
        ) {
            if !std::arch::is_x86_feature_detected!("avx2") {
                return Ok(());
            }
            let (mut text, mut places) = ("-1 2:0.25".to_owned() + " ", vec![9]);
            for (id, (value, end)) in ids.iter().zip(values.iter().zip(&ends)) {
                text.push_str(id);
                places.push(text.len() as u32);
                text.push(':');
                text.push_str(value);
                places.push(text.len() as u32);
                text.push(end.as_bytes()[(at * 7) % end.len()].into());
            }
            text.push_str("12345678");
            let places: [u32; 9] = places.try_into().unwrap();
            let (mut found_ids, mut found_values) = ([0; 4], [0.0; 4]);
            // SAFETY: the machine has what was asked for just now.
            let found = unsafe { read(text.as_bytes(), &places, &mut found_ids, &mut found_values) };
            let (expected, features) = one_by_one(&text, &places);
            prop_assert_eq!(found, expected, "{}", text);
            for (k, (id, value)) in features.into_iter().enumerate() {
                prop_assert_eq!((found_ids[k], found_values[k].to_bits()), (id, value.to_bits()));
            }
        }

        #[test]
        fn no_bytes_and_no_places_do_harm(
            text in proptest::collection::vec(any::<u8>(), 0..64),
            places in proptest::array::uniform9(any::<u32>()),
            small in any::<bool>(),
        ) {
            if !std::arch::is_x86_feature_detected!("avx2") {
                return Ok(());
            }
            let mut places = places.map(|p| if small { p % 70 } else { p });
            places.sort_unstable();
            // SAFETY: the machine has what was asked for just now.
            let found = unsafe { read(&text, &places, &mut [0; 4], &mut [0.0; 4]) };
            prop_assert!(found.count <= 4);
        }
    }
}
