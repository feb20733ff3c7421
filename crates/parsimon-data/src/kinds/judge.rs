//! The kind of one column, from its cells.

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::cell::{Spelling, boolean_pair, spelling, words};
use super::number_form::{COMMA, NumberForm, POINT, read_written};
use super::odd::Odd;
use super::{Kind, OddText, TimeForm};
use crate::number;

/// Fewer rows with different values are no proof of an identifier.
const LEAST_IDENTIFIED: usize = 100;
/// Number of rows from which integers that are all different are an identifier, regardless of the name of the column.
const SURELY_IDENTIFIED: usize = 1000;

/// Whether all cells so far agree in something.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Agreement<T> {
    Open,
    On(T),
    Broken,
}

impl<T: Copy + PartialEq> Agreement<T> {
    /// After one more cell, which may not have it at all.
    fn take(&mut self, cell: Option<T>) {
        *self = match (*self, cell) {
            (Agreement::Open, Some(value)) => Agreement::On(value),
            (Agreement::On(seen), Some(value)) if seen == value => Agreement::On(seen),
            _ => Agreement::Broken,
        };
    }

    fn is_on(self) -> bool {
        matches!(self, Agreement::On(_))
    }
}

/// Collects the cells of a column.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is what all cells, or one, have shown")]
pub(crate) struct Judge {
    values: usize,
    missing: usize,
    /// Whether all cells so far are plain numbers, and how they are spelled.
    are_plain: bool,
    has_decimals: bool,
    has_codes: bool,
    are_integers: bool,
    are_sorted: bool,
    last: f64,
    /// Whether all cells so far are numbers of the form, and their currency or percent sign.
    forms: [Agreement<Option<usize>>; 2],
    times: [bool; TimeForm::ALL.len()],
    /// Whether each number is one more than the one before.
    are_counted: bool,
    has_dots: bool,
    boolean: Agreement<usize>,
    has_blanks: bool,
    of_two_words: usize,
    of_three_words: usize,
    distinct: FxHashSet<u64>,
    has_repeats: bool,
    /// The first different values, as written.
    samples: Vec<String>,
    /// The first cell that is no plain number.
    odd: Option<String>,
    /// The column without a few texts among its numbers.
    few: Odd,
}

/// The kind that was found for a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) kind: Kind,
    pub(crate) form: Option<&'static str>,
    /// Kind of the column if the user keeps an identifier or a constant.
    pub(crate) kept: Kind,
    /// A cell that is no number, if one was seen.
    pub(crate) odd: Option<String>,
    /// The few texts of a number column, which are missing.
    pub(crate) few: Vec<OddText>,
    /// Whether whole numbers are codes, by the name of the column.
    pub(crate) is_code: bool,
}

impl Default for Judge {
    fn default() -> Self {
        Self {
            values: 0,
            missing: 0,
            are_plain: true,
            has_decimals: false,
            has_codes: false,
            are_integers: true,
            are_sorted: true,
            last: f64::NEG_INFINITY,
            forms: [Agreement::Open; 2],
            times: [true; TimeForm::ALL.len()],
            are_counted: true,
            has_dots: false,
            boolean: Agreement::Open,
            has_blanks: false,
            of_two_words: 0,
            of_three_words: 0,
            distinct: FxHashSet::default(),
            has_repeats: false,
            samples: Vec::new(),
            odd: None,
            few: Odd::default(),
        }
    }
}

impl Judge {
    /// Looks at a cell, which is missing by the usual list.
    #[cfg(test)]
    pub(crate) fn take(&mut self, cell: &[u8]) {
        let cell = cell.trim_ascii();
        if super::missing::is_missing(cell) { self.take_missing() } else { self.take_value(cell) }
    }

    /// Looks at a cell that has no value.
    pub(crate) fn take_missing(&mut self) {
        self.missing += 1;
        if let Some(numbers) = self.few.numbers() {
            numbers.take_missing();
        }
    }

    /// Looks at a trimmed cell that has a value, and is at this place of the text. A few texts among numbers are missing.
    pub(crate) fn take_value_at(&mut self, cell: &[u8], place: usize) {
        let is_number = number_in(cell).is_some()
            || [POINT, COMMA].iter().any(|form| form.read(cell).is_some());
        match is_number {
            true => {
                if let Some(numbers) = self.few.numbers() {
                    numbers.take_value(cell);
                }
            }
            false if self.few.is_unused() => {
                let before = Box::new(self.clone());
                self.few.begin(before, cell, place);
            }
            false => self.few.take(cell, place),
        }
        self.take_value(cell);
    }

    /// The column without its few texts, if it is one of numbers then.
    fn without_few(&self, comma_decimals: bool) -> Option<(&Judge, &[OddText])> {
        let (numbers, texts) = self.few.found(self.values)?;
        (numbers.content("", comma_decimals).0 == Kind::Number).then_some((numbers, texts))
    }

    /// Looks at a trimmed cell that has a value.
    pub(crate) fn take_value(&mut self, cell: &[u8]) {
        self.values += 1;
        if self.are_plain {
            self.take_number(cell);
        }
        if !self.are_plain {
            self.take_text(cell);
        }
        // Measured numbers that repeat are only counted up to three.
        let is_counted = !self.are_plain || self.are_integers && !self.has_decimals;
        if is_counted || !self.has_repeats || self.distinct.len() <= 2 {
            let is_new = self.distinct.insert(xxh3_64(cell));
            self.has_repeats |= !is_new;
            if is_new && self.samples.len() < 3 {
                self.samples.push(String::from_utf8_lossy(cell).into_owned());
            }
        }
    }

    fn take_number(&mut self, cell: &[u8]) {
        let Some(value) = number_in(cell) else {
            self.are_plain = false;
            self.odd = Some(String::from_utf8_lossy(cell).into_owned());
            return;
        };
        let Spelling { is_decimal, is_code, is_integer } = spelling(cell);
        self.has_decimals |= is_decimal;
        self.has_codes |= is_code;
        self.are_integers &= is_integer;
        self.are_sorted &= value > self.last;
        self.are_counted &= value == self.last + 1.0 || self.last == f64::NEG_INFINITY;
        self.last = value;
        // Plain numbers fit these forms as well, should later cells have them.
        if is_integer {
            self.forms.iter_mut().for_each(|form| form.take(Some(None)));
        } else {
            self.take_forms(cell);
        }
        self.boolean = Agreement::Broken;
        self.take_times(cell);
    }

    fn take_times(&mut self, cell: &[u8]) {
        for (alive, (form, _)) in self.times.iter_mut().zip(TimeForm::ALL) {
            *alive = *alive && form.read(cell).is_some();
        }
    }

    fn take_forms(&mut self, cell: &[u8]) {
        for (agreed, form) in self.forms.iter_mut().zip([POINT, COMMA]) {
            if let (true, NumberForm::Written { decimal, thousands }) =
                (*agreed != Agreement::Broken, form)
            {
                agreed.take(read_written(cell, decimal, thousands).map(|(_, sign)| sign));
            }
        }
    }

    fn take_text(&mut self, cell: &[u8]) {
        self.take_forms(cell);
        self.take_times(cell);
        self.has_dots |= cell.contains(&b'.');
        self.boolean.take(boolean_pair(cell));
        let words = words(cell);
        self.has_blanks |= words > 1;
        self.of_two_words += usize::from(words > 1);
        self.of_three_words += usize::from(words > 2);
    }

    /// Whether no further number changes the verdict: there are decimals, and three values at least.
    #[cfg(feature = "columnar")]
    pub(crate) fn is_settled(&self) -> bool {
        self.are_plain && self.has_decimals && !self.are_integers && self.distinct.len() > 2
    }

    /// Whether all cells with a value are plain numbers.
    pub(crate) fn are_plain(&self) -> bool {
        self.are_plain
    }

    /// Number of cells that had a value.
    pub(crate) fn values(&self) -> usize {
        self.values
    }

    /// Whether all cells with a value were plain numbers, except for a few texts.
    pub(crate) fn are_numbers(&self) -> bool {
        let is_so = |judge: &Judge| judge.values > 0 && judge.are_plain;
        is_so(self) || self.few.found(self.values).is_some_and(|(numbers, _)| is_so(numbers))
    }

    /// Whether the numbers are too different to be codes or classes: there are decimals, or at least `distinct` values.
    pub(super) fn are_measured(&self, distinct: usize) -> bool {
        self.has_decimals || self.distinct.len() >= distinct
    }

    /// Whether the column has two values that may be classes: fractions are measured.
    pub(crate) fn has_two_classes(&self) -> bool {
        let is_fraction =
            |cell: &String| number_in(cell.as_bytes()).is_some_and(|value| value.fract() != 0.0);
        self.distinct.len() == 2 && !self.samples.iter().any(is_fraction)
    }

    /// Whether a cell has been seen.
    pub(crate) fn has_seen(&self, cell: &[u8]) -> bool {
        self.distinct.contains(&xxh3_64(cell))
    }

    /// The kind. `is_whole` says that all rows of the table were looked at, `comma_decimals` that a decimal comma is
    /// likelier than a separator of thousands.
    pub(crate) fn verdict(&self, name: &str, is_whole: bool, comma_decimals: bool) -> Verdict {
        if let Some((numbers, texts)) = self.without_few(comma_decimals) {
            let few = texts.to_vec();
            return Verdict { few, ..numbers.verdict(name, is_whole, comma_decimals) };
        }
        let (kept, form) = self.content(name, comma_decimals);
        let is_code = kept == Kind::Number && self.are_codes(name);
        let kept = if is_code { Kind::Category } else { kept };
        let kind = if self.values == 0 {
            Kind::Empty
        } else if is_whole && self.distinct.len() == 1 && self.missing == 0 && self.values > 1 {
            Kind::Constant
        } else if self.is_identifier(name, kept) {
            Kind::Identifier
        } else {
            kept
        };
        let odd = self.odd.clone().filter(|_| kept != Kind::Number);
        let form = if kind == kept { form } else { None };
        Verdict { kind, form, kept, odd, few: Vec::new(), is_code }
    }

    fn content(&self, name: &str, comma_decimals: bool) -> (Kind, Option<&'static str>) {
        if self.values == 0 {
            return (Kind::Category, None);
        }
        if self.are_plain {
            if let Some(form) = self.time_of_digits(name) {
                return (Kind::Time, form.example());
            }
            let is_code = self.has_codes && !self.has_decimals;
            return (if is_code { Kind::Category } else { Kind::Number }, None);
        }
        let alive = |k: usize| self.forms[k].is_on();
        // Between commas, `1,200` is more likely a thousand.
        let order =
            if comma_decimals { [(1, COMMA), (0, POINT)] } else { [(0, POINT), (1, COMMA)] };
        if let Some((_, form)) = order.iter().find(|(k, _)| alive(*k)) {
            return (Kind::Number, form.example());
        }
        if let Some(form) = self.time() {
            return (Kind::Time, form.example());
        }
        if self.boolean.is_on() {
            return (Kind::Boolean, None);
        }
        let are_sentences = 2 * self.of_three_words > self.values
            && 10 * self.distinct.len() > self.values
            || 2 * self.of_two_words > self.values && 2 * self.distinct.len() > self.values;
        (if are_sentences { Kind::Text } else { Kind::Category }, None)
    }

    /// Whether these are whole numbers that repeat, in a column that is called like one of codes: a distance between two of them means
    /// nothing. Measured in `record/codes.md`.
    fn are_codes(&self, name: &str) -> bool {
        let are_whole = self.are_plain && self.are_integers && !self.has_decimals;
        let distinct = self.distinct.len();
        are_whole && distinct > 2 && 2 * distinct <= self.values && is_called_code(name)
    }

    fn time(&self) -> Option<TimeForm> {
        let alive = |form: TimeForm| {
            TimeForm::ALL.iter().zip(self.times).any(|((f, _), alive)| *f == form && alive)
        };
        let months = [TimeForm::MonthFirst, TimeForm::DayFirst];
        // Where dots are between them, the day comes first.
        let [first, second] = if self.has_dots { [months[1], months[0]] } else { months };
        let others = [
            TimeForm::NamedMonthFirst,
            TimeForm::NamedMonthSecond,
            TimeForm::MonthOfYear,
            TimeForm::YearMonth,
            TimeForm::Clock,
            TimeForm::DottedClock,
        ];
        [TimeForm::YearFirst, first, second].into_iter().chain(others).find(|f| alive(*f))
    }

    /// The form of times that are numbers: dates without separators, or seconds and parts of them since 1970. Few numbers that
    /// could be such are only times if the column is called so.
    fn time_of_digits(&self, name: &str) -> Option<TimeForm> {
        /// One number of ten digits in seven is a second of these years.
        const ENOUGH: usize = 20;
        let (form, _) = TimeForm::ALL
            .iter()
            .zip(self.times)
            .find(|((form, _), alive)| *alive && form.is_of_digits())
            .map(|(found, _)| *found)?;
        let is_rare = form.is_since_1970() || form == TimeForm::DigitsDayFirst;
        let are_enough = self.distinct.len() >= if is_rare { ENOUGH } else { 2 };
        (!self.are_counted && (are_enough || is_called_time(name))).then_some(form)
    }

    fn is_identifier(&self, name: &str, kept: Kind) -> bool {
        let are_names = match kept {
            Kind::Category => !self.has_blanks,
            Kind::Number => {
                self.are_plain
                    && self.are_integers
                    && (self.values >= SURELY_IDENTIFIED || self.are_sorted || is_called_so(name))
            }
            _ => false,
        };
        are_names && self.missing == 0 && !self.has_repeats && self.values >= LEAST_IDENTIFIED
    }
}

/// A plain number. `inf` and `1e+400` are numbers gone wrong; they are refused when they are read.
fn number_in(cell: &[u8]) -> Option<f64> {
    number::whole(cell).or_else(|| {
        let value = std::str::from_utf8(cell).ok()?.parse::<f64>().ok()?;
        value.is_infinite().then_some(value)
    })
}

/// Things that have numbers, where the column is called by one of them alone.
const NUMBERED: [&str; 16] = [
    "user",
    "item",
    "movie",
    "product",
    "customer",
    "client",
    "provider",
    "store",
    "shop",
    "dept",
    "department",
    "county",
    "district",
    "merchant",
    "seller",
    "advertiser",
];

/// Whether a name says that the column has codes, such as those of users, items and places.
fn is_called_code(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let bare = lower.trim_end_matches("number").trim_end_matches("no").trim_end_matches(['_', ' ']);
    if NUMBERED.contains(&lower.trim()) || NUMBERED.contains(&bare) {
        return true;
    }
    let is_code = |word: &str| {
        matches!(word, "id" | "ids" | "zip" | "postal" | "fips" | "sku" | "ean" | "isbn")
            || word.ends_with("code")
            || word.starts_with("zip")
    };
    lower.split(|c: char| !c.is_ascii_alphanumeric()).any(is_code)
        || name.ends_with("Id")
        || name.ends_with("ID")
}

/// Whether a name says that the column has times.
fn is_called_time(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        matches!(
            word,
            "time" | "date" | "ts" | "epoch" | "unix" | "at" | "when" | "created" | "updated"
        ) || word.ends_with("timestamp")
            || word.ends_with("time")
            || word.ends_with("date")
    })
}

/// Whether a name says that the column identifies rows.
fn is_called_so(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| {
        matches!(word, "id" | "key" | "index" | "uuid" | "unnamed" | "row" | "number" | "nr" | "no")
    }) || name.ends_with("Id")
        || name.ends_with("ID")
        || name.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(cells: &[&str]) -> (Kind, Option<&'static str>) {
        let mut judge = Judge::default();
        cells.iter().for_each(|cell| judge.take(cell.as_bytes()));
        let verdict = judge.verdict("x", true, false);
        (verdict.kind, verdict.form)
    }

    #[test]
    fn cells_decide_the_kind() {
        for (cells, kind) in [
            (&["1", "2.5", "", "NA", "-3e-5"][..], Kind::Number),
            (&["1", "2", "x"], Kind::Category),
            (&["007", "012", "100"], Kind::Category),
            (&["01.5", "2", "3"], Kind::Number),
            (&["12e34", "17", "99"], Kind::Category),
            (&["2e+05", "17", "1e-05"], Kind::Number),
            (&["1234567890123456", "2"], Kind::Category),
            (&["623049e6", "85f751fd"], Kind::Category),
            (&["yes", "no", "yes"], Kind::Boolean),
            (&["True", "False"], Kind::Boolean),
            (&["T", "f", "t", "F"], Kind::Boolean),
            (&["T", "no"], Kind::Category),
            (&["5", "5", "5"], Kind::Constant),
            (&["", "NA", "?"], Kind::Empty),
            (&["2020-01-05", "2021-03-01"], Kind::Time),
            (&["14:05", "3:59"], Kind::Time),
            (&["how are you", "fine and you", "so so"], Kind::Text),
            (&["New York", "Paris", "Rome", "Paris"], Kind::Category),
            (&["1,200", "300", "4,000,000.5"], Kind::Number),
            (&["$5", "$7.50"], Kind::Number),
            (&["$5", "7.50"], Kind::Category),
            (&["5%", "7.5%"], Kind::Number),
            (&["1,5", "2,25"], Kind::Number),
            (&["1,2", "1,2,3"], Kind::Category),
            (&["10142018", "1052018"], Kind::Time),
            (&["20181014", "20181015", "20189999"], Kind::Number),
            (&["Nov 16, 2004", "August 14, 2020"], Kind::Time),
            (&["April 4th, 2015", "May 22nd, 2015"], Kind::Time),
            (&["January-2005", "March-2006"], Kind::Time),
            (&["18.00.00", "09.30.15"], Kind::Time),
        ] {
            assert_eq!(judged(cells).0, kind, "{cells:?}");
        }
        assert_eq!(judged(&["31/12/2000", "1/2/2000"]).1, Some("31/12/2000"));
        assert_eq!(judged(&["12/31/2000", "1/2/2000"]).1, Some("12/31/2000"));
        assert_eq!(judged(&["1.2.2000", "3.4.2000"]).1, Some("31/12/2000"));
    }

    #[test]
    fn seconds_since_1970_are_times() {
        let kind = |name: &str, count: i64, second: &dyn Fn(i64) -> i64| {
            let mut judge = Judge::default();
            (0..count).for_each(|i| judge.take(second(i).to_string().as_bytes()));
            let verdict = judge.verdict(name, true, false);
            (verdict.kind, verdict.form)
        };
        let seconds = (Kind::Time, Some("978307199"));
        assert_eq!(kind("x", 20, &|i| 1_400_000_000 + 3600 * i), seconds);
        assert_eq!(kind("x", 19, &|i| 1_400_000_000 + 3600 * i).0, Kind::Number);
        assert_eq!(kind("created_at", 3, &|i| 1_400_000_000 + 3600 * i), seconds);
        let milliseconds = (Kind::Time, Some("978307199000"));
        assert_eq!(kind("x", 40, &|i| 1_400_000_000_123 + 7919 * i), milliseconds);
        // A running number, and numbers that no clock has shown.
        assert_eq!(kind("x", 200, &|i| 1_400_000_000 + i).0, Kind::Identifier);
        assert_eq!(kind("x", 40, &|i| 7_000_000 * i).0, Kind::Number);
    }

    #[test]
    fn a_few_texts_among_numbers_are_missing() {
        let judged = |numbers: usize, texts: &[&str]| {
            let mut judge = Judge::default();
            (0..numbers).for_each(|i| judge.take_value_at(format!("{}.5", i % 7).as_bytes(), i));
            texts.iter().for_each(|text| judge.take_value_at(text.as_bytes(), 1000));
            let verdict = judge.verdict("x", true, false);
            (verdict.kind, verdict.few.iter().map(|odd| odd.text.clone()).collect::<Vec<_>>())
        };
        let number = |few: &[&str]| (Kind::Number, few.iter().map(|&f| f.to_owned()).collect());
        assert_eq!(judged(100, &["unknown"]), number(&["unknown"]));
        assert_eq!(judged(99, &["unknown"]).0, Kind::Category);
        assert_eq!(judged(198, &["-", "-"]), number(&["-"]));
        assert_eq!(judged(1000, &["a", "b", "c", "a"]), number(&["a", "b", "c"]));
        // Among measured numbers they may be many; marks also among few.
        assert_eq!(judged(100, &["none"; 100]), number(&["none"]));
        assert_eq!(judged(100, &["none"; 101]).0, Kind::Category);
        for mark in ["-", ".", "--", "#DIV/0!", "#N/A!", "<NA>", "***"] {
            assert_eq!(judged(20, &[mark; 20]), number(&[mark]));
            assert_eq!(judged(19, &[mark]).0, Kind::Category);
        }
        // A few whole numbers may be names of floors, and others are not.
        let floors = |distinct: usize| {
            let mut judge = Judge::default();
            (0..200).for_each(|i| judge.take_value_at((i % distinct).to_string().as_bytes(), i));
            (0..20).for_each(|i| judge.take_value_at(b"ground", i));
            judge.verdict("x", true, false).kind
        };
        assert_eq!((floors(49), floors(50)), (Kind::Category, Kind::Number));
        assert_eq!(judged(1000, &["a", "b", "c", "d"]).0, Kind::Category);
        // What looks like a number is none of these texts.
        assert_eq!(judged(1000, &["inf"]), number(&[]));
        assert_eq!(judged(1000, &["1,200"]), number(&[]));
        // Before the numbers as well as behind them, and not among codes.
        let mut judge = Judge::default();
        judge.take_value_at(b"unknown", 0);
        (0..200).for_each(|i| judge.take_value_at(format!("{}", i % 9).as_bytes(), i));
        assert_eq!(judge.verdict("x", true, false).kind, Kind::Number);
        let mut judge = Judge::default();
        (0..200).for_each(|i| judge.take_value_at(format!("00{}", i % 9).as_bytes(), i));
        judge.take_value_at(b"unknown", 0);
        assert_eq!(judge.verdict("x", true, false).kind, Kind::Category);
    }

    #[test]
    fn codes_are_told_by_their_name_and_their_repetition() {
        let kind = |name: &str, distinct: usize| {
            let mut judge = Judge::default();
            (0..200).for_each(|i| judge.take((100 + i * 7 % distinct).to_string().as_bytes()));
            let verdict = judge.verdict(name, true, false);
            (verdict.kind, verdict.is_code)
        };
        for name in ["user_id", "movieId", "zip", "Zip Code", "county_fips", "item.id", "storeID"] {
            assert_eq!(kind(name, 20), (Kind::Category, true), "{name}");
            assert_eq!(kind(name, 2), (Kind::Number, false), "{name}");
            assert_eq!(kind(name, 150), (Kind::Number, false), "{name}");
        }
        for name in ["user", "Item", "Store", "Dept", "provider_number", "County", "customer no"] {
            assert_eq!(kind(name, 20), (Kind::Category, true), "{name}");
        }
        for name in
            ["age", "width", "paid", "decoded", "humidity", "number", "users", "no", "items"]
        {
            assert_eq!(kind(name, 20), (Kind::Number, false), "{name}");
        }
    }

    #[test]
    fn identifiers_are_told_from_measurements() {
        let all = |name: &str, cell: &dyn Fn(usize) -> String, rows: usize| {
            let mut judge = Judge::default();
            (0..rows).for_each(|i| judge.take(cell(i).as_bytes()));
            judge.verdict(name, true, false).kind
        };
        let scattered = |i: usize| (i * 7919 % 10_007).to_string();
        assert_eq!(all("x", &|i| i.to_string(), 100), Kind::Identifier);
        assert_eq!(all("x", &|i| i.to_string(), 99), Kind::Number);
        assert_eq!(all("price", &scattered, 200), Kind::Number);
        assert_eq!(all("price", &scattered, 2000), Kind::Identifier);
        assert_eq!(all("user_id", &scattered, 200), Kind::Identifier);
        assert_eq!(all("x", &|i| format!("a{i}"), 200), Kind::Identifier);
        assert_eq!(all("x", &|i| format!("{i}.5"), 2000), Kind::Number);
    }
}
