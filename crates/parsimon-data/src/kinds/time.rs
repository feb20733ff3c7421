//! Dates and times of day in the usual forms.

/// Notations of the dates of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeForm {
    /// Year, month, day, as ISO 8601 has them.
    YearFirst,
    /// Day, month, year.
    DayFirst,
    /// Month, day, year.
    MonthFirst,
    /// A time of day alone.
    Clock,
    /// A time of day with dots.
    DottedClock,
    /// The name of a month, day, year.
    NamedMonthFirst,
    /// Day, the name of a month, year.
    NamedMonthSecond,
    /// The name of a month and a year.
    MonthOfYear,
    /// Year and month as numbers, in either order.
    YearMonth,
    /// Year, month, day, without separators.
    DigitsYearFirst,
    /// Month, day, year, without separators.
    DigitsMonthFirst,
    /// Day, month, year, without separators.
    DigitsDayFirst,
    /// Year, month, day, hour, minute, second, without separators.
    DigitsToSecond,
    /// Seconds since the first of January 1970.
    Seconds,
    /// Milliseconds since the first of January 1970.
    Milliseconds,
    /// Microseconds since the first of January 1970.
    Microseconds,
    /// Nanoseconds since the first of January 1970.
    Nanoseconds,
}

/// A date, a time of day, or both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Days since the first of January 1970.
    pub(crate) day: Option<i64>,
    /// Seconds since midnight.
    pub(crate) seconds: Option<f64>,
    /// Whether only the month is known: the day is its first.
    pub(crate) is_month: bool,
}

/// A place in the year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OfYear {
    /// The month, from 0.
    pub(crate) month: usize,
    /// The day of the month, from 1.
    pub(crate) day: usize,
    /// The day of the year, from 1.
    pub(crate) day_of_year: usize,
}

/// Cosine and sine of the angle of each day of the year, from basic arithmetic: the same bits on every machine.
const ANGLES: [(f64, f64); 366] = {
    // Of one day: cos(2 pi / 365.25) and sin(2 pi / 365.25).
    let (c, s) = (0.999_852_041_955_773_5, 0.017_201_575_418_260_506);
    let mut angles = [(1.0, 0.0); 366];
    let mut day = 1;
    while day < 366 {
        let (x, y) = angles[day - 1];
        angles[day] = (c * x - s * y, s * x + c * y);
        day += 1;
    }
    angles
};

impl OfYear {
    /// The first two harmonics of the year: cosine and sine of its angle, and of twice its angle.
    pub(crate) fn harmonics(self) -> [f64; 4] {
        let (c, s) = ANGLES[(self.day_of_year - 1).min(365)];
        [c, s, c * c - s * s, 2.0 * c * s]
    }

    /// The week of the year, from 1; the first has the first seven days.
    pub(crate) fn week(self) -> usize {
        (self.day_of_year - 1) / 7 + 1
    }
}

const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

impl TimeForm {
    pub(super) const ALL: [(TimeForm, &'static str); 17] = [
        (TimeForm::YearFirst, "2000-12-31"),
        (TimeForm::MonthFirst, "12/31/2000"),
        (TimeForm::DayFirst, "31/12/2000"),
        (TimeForm::Clock, "23:59"),
        (TimeForm::DottedClock, "23.59.00"),
        (TimeForm::NamedMonthFirst, "Dec 31, 2000"),
        (TimeForm::NamedMonthSecond, "31 Dec 2000"),
        (TimeForm::MonthOfYear, "December 2000"),
        (TimeForm::YearMonth, "2000-12"),
        (TimeForm::DigitsYearFirst, "20001231"),
        (TimeForm::DigitsMonthFirst, "12312000"),
        (TimeForm::DigitsDayFirst, "31122000"),
        (TimeForm::DigitsToSecond, "20001231235959"),
        (TimeForm::Seconds, "978307199"),
        (TimeForm::Milliseconds, "978307199000"),
        (TimeForm::Microseconds, "978307199000000"),
        (TimeForm::Nanoseconds, "978307199000000000"),
    ];

    /// Whether the cells of this form are numbers.
    pub(super) fn is_of_digits(self) -> bool {
        self.is_since_1970()
            || matches!(
                self,
                TimeForm::DigitsYearFirst
                    | TimeForm::DigitsMonthFirst
                    | TimeForm::DigitsDayFirst
                    | TimeForm::DigitsToSecond
            )
    }

    /// Whether the cells of this form count from 1970.
    pub(super) fn is_since_1970(self) -> bool {
        self.per_second().is_some()
    }

    /// The parts of a second that are counted from 1970.
    fn per_second(self) -> Option<i64> {
        match self {
            TimeForm::Seconds => Some(1),
            TimeForm::Milliseconds => Some(1000),
            TimeForm::Microseconds => Some(1_000_000),
            TimeForm::Nanoseconds => Some(1_000_000_000),
            _ => None,
        }
    }

    /// The form of an example.
    pub(crate) fn parse(example: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, text)| *text == example).map(|(form, _)| *form)
    }

    /// An example.
    pub(crate) fn example(self) -> Option<&'static str> {
        Self::ALL.iter().find(|(form, _)| *form == self).map(|(_, text)| *text)
    }

    /// The moment of a cell.
    pub(crate) fn read(self, cell: &[u8]) -> Option<Moment> {
        match self {
            TimeForm::Clock => return Some(Moment::of_clock(clock(cell, b':')?)),
            TimeForm::DottedClock => {
                // Two numbers with a dot between them are a decimal number.
                let has_seconds = cell.split(|b| *b == b'.').nth(2).is_some();
                return Some(Moment::of_clock(clock(cell, b'.').filter(|_| has_seconds)?));
            }
            TimeForm::NamedMonthFirst | TimeForm::NamedMonthSecond => return self.read_named(cell),
            TimeForm::MonthOfYear => return month_of_year(cell),
            TimeForm::YearMonth => return year_month(cell),
            form if form.is_of_digits() => return form.read_digits(cell),
            _ => {}
        }
        let mut rest = without_weekday(cell);
        let first = field(&mut rest)?;
        let separator = *rest.first().filter(|b| matches!(b, b'-' | b'/' | b'.'))?;
        rest = &rest[1..];
        let second = field(&mut rest)?;
        rest = rest.strip_prefix(&[separator])?;
        let third = field(&mut rest)?;
        let (year, month, day) = match self {
            TimeForm::YearFirst => (first, second, third),
            TimeForm::DayFirst => (third, second, first),
            _ => (third, first, second),
        };
        let day = day_number(year.year()?, month.month()?, day.day()?)?;
        Moment::of_day(day).at(rest)
    }

    /// A date with the name of its month, and perhaps a time of day behind it.
    fn read_named(self, cell: &[u8]) -> Option<Moment> {
        let (mut rest, mut month, mut day) = (without_weekday(cell), None, None);
        for is_month in [self == TimeForm::NamedMonthFirst, self != TimeForm::NamedMonthFirst] {
            if is_month {
                month = Some(name_of_month(&mut rest)?);
                rest = rest.strip_prefix(b".").unwrap_or(rest);
            } else {
                day = Some(number_of_day(&mut rest)?);
            }
            rest = rest.strip_prefix(b",").unwrap_or(rest);
            rest = rest.strip_prefix(b" ")?.trim_ascii_start();
        }
        // Programs in C write the year behind the time of day.
        let time = match memchr::memrchr(b' ', rest) {
            Some(blank) if rest.get(..blank).is_some_and(|time| time.contains(&b':')) => {
                let mut behind = &rest[blank + 1..];
                four_digits(&mut behind).filter(|_| behind.is_empty()).map(|_| &rest[..blank])
            }
            _ => None,
        };
        if let Some(time) = time {
            let mut year = &rest[time.len() + 1..];
            let day = day_number(four_digits(&mut year)?, month?, day?)?;
            let seconds = Some(clock(zone(time).trim_ascii(), b':')?);
            return Some(Moment { seconds, ..Moment::of_day(day) });
        }
        let year = four_digits(&mut rest)?;
        let day = day_number(year, month?, day?)?;
        Moment::of_day(day).at(rest)
    }

    /// A moment written as a number. Years are of the last century and of this one.
    fn read_digits(self, cell: &[u8]) -> Option<Moment> {
        /// From 1995 to the end of 2037.
        const SECONDS: std::ops::Range<i64> = 788_918_400..2_145_916_800;
        // Seconds may have a fraction.
        let point = (self == TimeForm::Seconds).then(|| memchr::memchr(b'.', cell)).flatten();
        let (cell, fraction) = cell.split_at(point.unwrap_or(cell.len()));
        if cell.is_empty() || cell.len() > 19 || !cell.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let number = cell
            .iter()
            .try_fold(0_i64, |v, b| v.checked_mul(10)?.checked_add(i64::from(b - b'0')))?;
        let fraction = if fraction.len() > 1 { crate::number::whole(fraction)? } else { 0.0 };
        let of_parts = |year, month, day| {
            let fits = (1900..=2100).contains(&year) && (1..=12).contains(&month) && day > 0;
            fits.then(|| day_number(year, month, day))?.map(Moment::of_day)
        };
        let of_seconds = |seconds: f64| {
            let day = (seconds / 86_400.0).floor();
            let within = seconds - 86_400.0 * day;
            Moment { seconds: Some(within), ..Moment::of_day(day as i64) }
        };
        match self {
            TimeForm::DigitsYearFirst if cell.len() == 8 => {
                of_parts(number / 10_000, number / 100 % 100, number % 100)
            }
            TimeForm::DigitsMonthFirst if matches!(cell.len(), 7 | 8) => {
                of_parts(number % 10_000, number / 1_000_000, number / 10_000 % 100)
            }
            TimeForm::DigitsDayFirst if matches!(cell.len(), 7 | 8) => {
                of_parts(number % 10_000, number / 10_000 % 100, number / 1_000_000)
            }
            TimeForm::DigitsToSecond if cell.len() == 14 => {
                let (day, time) = (number / 1_000_000, number % 1_000_000);
                let [hour, minute, second] = [time / 10_000, time / 100 % 100, time % 100];
                let seconds = (3600 * hour + 60 * minute + second) as f64;
                let is_time = hour < 24 && minute < 60 && second < 61;
                let day = of_parts(day / 10_000, day / 100 % 100, day % 100);
                day.filter(|_| is_time).map(|day| Moment { seconds: Some(seconds), ..day })
            }
            form => {
                let unit = form.per_second()?;
                let second = number / unit;
                let part = (number % unit) as f64 / unit as f64 + fraction;
                SECONDS.contains(&second).then(|| of_seconds(second as f64 + part))
            }
        }
    }
}

impl Moment {
    fn of_clock(seconds: f64) -> Self {
        Self { day: None, seconds: Some(seconds), is_month: false }
    }

    fn of_day(day: i64) -> Self {
        Self { day: Some(day), seconds: None, is_month: false }
    }

    /// The day with the time of day that a text behind it has, if there is one.
    fn at(self, text: &[u8]) -> Option<Self> {
        if text.is_empty() {
            return Some(self);
        }
        let is_sign = |b: &u8| matches!(b, b'T' | b' ' | b':' | b',');
        let sign = text.first().filter(|b| is_sign(b))?;
        let text = text[1..].strip_prefix(b" ").filter(|_| *sign == b',').unwrap_or(&text[1..]);
        Some(Self { seconds: Some(clock(zone(text).trim_ascii(), b':')?), ..self })
    }

    /// The hour of day, 0 to 23.
    pub(crate) fn hour(self) -> Option<u32> {
        self.seconds.map(|s| (s / 3600.0) as u32 % 24)
    }

    /// The day of the week, 0 for Monday.
    pub(crate) fn weekday(self) -> Option<usize> {
        // The first of January 1970 was a Thursday.
        self.day.map(|day| (day + 3).rem_euclid(7) as usize)
    }

    /// The month, from 0, and the days of the month and of the year, from 1.
    pub(crate) fn of_year(self) -> Option<OfYear> {
        // The inverse of `day_number`: years begin in March there.
        let days = self.day? + 719_468;
        let of_era = days.rem_euclid(146_097);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let since_march = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * since_march + 2) / 153;
        let day = since_march - (153 * month + 2) / 5 + 1;
        let year = year + 400 * days.div_euclid(146_097) + i64::from(month >= 10);
        let month = if month < 10 { month + 2 } else { month - 10 };
        let first = day_number(year, 1, 1)?;
        let (month, day) = (month as usize, day as usize);
        Some(OfYear { month, day, day_of_year: (self.day? - first) as usize + 1 })
    }

    /// Years since 2000: a number of moderate size that grows slowly.
    pub(crate) fn years(self) -> Option<f64> {
        const FIRST: i64 = 10_957;
        let day = (self.day? - FIRST) as f64 + self.seconds.unwrap_or(0.0) / 86_400.0;
        Some(day / 365.25)
    }
}

/// A part of a date.
#[derive(Clone, Copy)]
enum Part {
    Digits(i64, usize),
    Month(i64),
}

impl Part {
    fn year(self) -> Option<i64> {
        match self {
            Part::Digits(year, 4) => Some(year),
            // The century is a guess; a trend is not changed by it.
            Part::Digits(year, 2) => Some(if year < 70 { 2000 + year } else { 1900 + year }),
            _ => None,
        }
    }

    fn month(self) -> Option<i64> {
        match self {
            Part::Month(month) => Some(month),
            Part::Digits(month, 1 | 2) => (1..=12).contains(&month).then_some(month),
            Part::Digits(..) => None,
        }
    }

    fn day(self) -> Option<i64> {
        match self {
            Part::Digits(day, 1 | 2) => (1..=31).contains(&day).then_some(day),
            _ => None,
        }
    }
}

/// Takes digits or the three letters of a month from the front.
fn field(rest: &mut &[u8]) -> Option<Part> {
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if (1..=4).contains(&digits) {
        let value = rest[..digits].iter().fold(0, |v, b| 10 * v + i64::from(b - b'0'));
        *rest = &rest[digits..];
        return Some(Part::Digits(value, digits));
    }
    let letters = rest.first_chunk::<3>()?;
    let month = MONTHS.iter().position(|m| m.eq_ignore_ascii_case(letters))?;
    *rest = &rest[3..];
    Some(Part::Month(month as i64 + 1))
}

/// The text without the zone at its end: hours are in local time.
fn zone(text: &[u8]) -> &[u8] {
    if let Some(text) = text.strip_suffix(b"Z") {
        return text;
    }
    // A zone by name, such as UTC or CEST.
    if let Some(blank) = memchr::memrchr(b' ', text)
        && (3..=4).contains(&(text.len() - blank - 1))
        && text[blank + 1..].iter().all(u8::is_ascii_uppercase)
    {
        return &text[..blank];
    }
    let sign = text.iter().rposition(|b| matches!(b, b'+' | b'-'));
    match sign {
        Some(at) if text[at + 1..].iter().all(|b| b.is_ascii_digit() || *b == b':') => &text[..at],
        _ => text,
    }
}

/// The full names of the months, in lower case.
const MONTH_NAMES: [&[u8]; 12] = [
    b"january",
    b"february",
    b"march",
    b"april",
    b"may",
    b"june",
    b"july",
    b"august",
    b"september",
    b"october",
    b"november",
    b"december",
];

/// Takes the name of a month, whole or its first three letters (or `Sept`), from the front.
fn name_of_month(rest: &mut &[u8]) -> Option<i64> {
    let letters = rest.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let (name, behind) = rest.split_at(letters);
    let is_it = |full: &&[u8]| {
        name.eq_ignore_ascii_case(full)
            || name.eq_ignore_ascii_case(&full[..3])
            || name.eq_ignore_ascii_case(b"sept") && full.starts_with(b"sept")
    };
    let month = MONTH_NAMES.iter().position(is_it)?;
    *rest = behind;
    Some(month as i64 + 1)
}

/// Takes the day of a month, with or without the letters of an ordinal number, from the front.
fn number_of_day(rest: &mut &[u8]) -> Option<i64> {
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if !(1..=2).contains(&digits) {
        return None;
    }
    let day = rest[..digits].iter().fold(0, |v, b| 10 * v + i64::from(b - b'0'));
    *rest = &rest[digits..];
    let is_ordinal = rest.get(..2).is_some_and(|end| {
        [b"st", b"nd", b"rd", b"th"].iter().any(|ordinal| end.eq_ignore_ascii_case(*ordinal))
    });
    if is_ordinal {
        *rest = &rest[2..];
    }
    (1..=31).contains(&day).then_some(day)
}

/// Takes a year of four digits from the front.
fn four_digits(rest: &mut &[u8]) -> Option<i64> {
    let (digits, behind) = rest.split_at_checked(4)?;
    let is_year =
        digits.iter().all(u8::is_ascii_digit) && !behind.first().is_some_and(u8::is_ascii_digit);
    *rest = behind;
    is_year.then(|| digits.iter().fold(0, |v, b| 10 * v + i64::from(b - b'0')))
}

/// The names of the days of the week, in lower case.
const WEEKDAYS: [&[u8]; 7] =
    [b"monday", b"tuesday", b"wednesday", b"thursday", b"friday", b"saturday", b"sunday"];

/// The text behind the name of a day of the week, whole or its first three letters, if it begins with one.
fn without_weekday(text: &[u8]) -> &[u8] {
    let letters = text.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    if letters < 3 {
        return text;
    }
    let (name, rest) = text.split_at(letters);
    let is_it =
        |day: &&[u8]| name.eq_ignore_ascii_case(day) || name.eq_ignore_ascii_case(&day[..3]);
    let rest = rest.strip_prefix(b",").or_else(|| rest.strip_prefix(b".")).unwrap_or(rest);
    match rest.strip_prefix(b" ") {
        Some(rest) if WEEKDAYS.iter().any(is_it) => rest.trim_ascii_start(),
        _ => text,
    }
}

/// Takes digits or a quarter from the front: `Q2` is its first month. Returns as well whether it was a quarter.
fn month_or_year(rest: &mut &[u8]) -> Option<(Part, bool)> {
    match *rest {
        [b'Q' | b'q', quarter @ b'1'..=b'4', behind @ ..] => {
            *rest = behind;
            Some((Part::Digits(3 * i64::from(quarter - b'1') + 1, 1), true))
        }
        _ => field(rest).map(|part| (part, false)),
    }
}

/// The first day of a month such as `2005-01` or `01/2005`, or of a quarter such as `2005Q1`.
fn year_month(cell: &[u8]) -> Option<Moment> {
    let mut rest = cell;
    let first = month_or_year(&mut rest)?;
    let sign = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"/"));
    // A quarter may follow at once.
    rest = match sign {
        Some(rest) => rest,
        None if first.1 || rest.iter().any(|b| matches!(b, b'Q' | b'q')) => rest.trim_ascii_start(),
        None => return None,
    };
    let second = month_or_year(&mut rest).filter(|_| rest.is_empty())?;
    let (year, month) = match first.0 {
        Part::Digits(_, 4) => (first.0, second.0),
        _ => (second.0, first.0),
    };
    let (Part::Digits(year, 4), Part::Digits(..)) = (year, month) else { return None };
    let fits = (1000..=2999).contains(&year);
    let day = fits.then(|| day_number(year, month.month()?, 1)).flatten()?;
    Some(Moment { is_month: true, ..Moment::of_day(day) })
}

/// The first day of a month such as `January-2005`.
fn month_of_year(cell: &[u8]) -> Option<Moment> {
    let mut rest = cell;
    let month = name_of_month(&mut rest)?;
    let separators =
        rest.iter().take_while(|b| matches!(b, b' ' | b'-' | b'/' | b',' | b'.')).count();
    rest = &rest[separators..];
    let year = four_digits(&mut rest).filter(|_| separators > 0 && rest.is_empty())?;
    Some(Moment { is_month: true, ..Moment::of_day(day_number(year, month, 1)?) })
}

/// Seconds since midnight of `14:05`, `14:05:59.5` or `2:05 PM`, with this sign between the parts.
fn clock(text: &[u8], sign: u8) -> Option<f64> {
    let half = |suffix: &[u8]| {
        let at = text.len().checked_sub(2)?;
        text[at..].eq_ignore_ascii_case(suffix).then(|| text[..at].trim_ascii())
    };
    let (text, shift) = match (half(b"am"), half(b"pm")) {
        (Some(text), _) => (text, Some(0)),
        (_, Some(text)) => (text, Some(12)),
        _ => (text, None),
    };
    let mut parts = text.split(|b| *b == sign);
    let two = |part: &[u8]| {
        let is_short = (1..=2).contains(&part.len()) && part.iter().all(u8::is_ascii_digit);
        is_short.then(|| part.iter().fold(0, |v, b| 10 * v + u32::from(b - b'0')))
    };
    let (hour, minute) = (two(parts.next()?)?, two(parts.next()?)?);
    let second = match parts.next() {
        None => 0.0,
        Some(part) => {
            let starts = part.first().is_some_and(u8::is_ascii_digit);
            starts.then(|| crate::number::whole(part))??
        }
    };
    let hour = match shift {
        Some(shift) => (1..=12).contains(&hour).then_some(hour % 12 + shift)?,
        None => hour,
    };
    let is_right = parts.next().is_none() && hour < 24 && minute < 60 && second < 61.0;
    is_right.then(|| f64::from(3600 * hour + 60 * minute) + second)
}

/// Days since 1970 of a day of the Gregorian calendar.
fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (day <= length).then_some(())?;
    // Years begin in March, so that the leap day is the last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(days + (153 * month + 2) / 5 + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_forms_are_read() {
        let day = |form: TimeForm, cell: &str| form.read(cell.as_bytes()).and_then(|m| m.day);
        assert_eq!(day(TimeForm::YearFirst, "1970-01-01"), Some(0));
        assert_eq!(day(TimeForm::YearFirst, "2000-03-01"), Some(11_017));
        assert_eq!(day(TimeForm::YearFirst, "2023-02-29"), None);
        assert_eq!(day(TimeForm::DayFirst, "01.03.2000"), Some(11_017));
        assert_eq!(day(TimeForm::DayFirst, "1-Mar-2000"), Some(11_017));
        assert_eq!(day(TimeForm::MonthFirst, "03/01/00"), Some(11_017));
        assert_eq!(day(TimeForm::MonthFirst, "13/01/2000"), None);
        for cell in ["2015-06-01T14:05:59Z", "2015/06/01 14:05", "2015-06-01 14:05:00.25+02:00"] {
            let moment = TimeForm::YearFirst.read(cell.as_bytes()).unwrap();
            assert_eq!((moment.hour(), moment.weekday()), (Some(14), Some(0)), "{cell}");
        }
        assert_eq!(TimeForm::Clock.read(b"2:05 PM").unwrap().hour(), Some(14));
        assert_eq!(TimeForm::Clock.read(b"12:00am").unwrap().hour(), Some(0));
        assert_eq!(TimeForm::DottedClock.read(b"18.00.00").unwrap().hour(), Some(18));
        assert_eq!(TimeForm::DottedClock.read(b"18.00"), None);
        for cell in ["24:00", "1:60", "1", "1:2:3:4", "a:b", "1:02:x"] {
            assert_eq!(TimeForm::Clock.read(cell.as_bytes()), None, "{cell}");
        }
    }

    #[test]
    fn dates_with_names_and_dates_of_digits_are_read() {
        let day = |form: TimeForm, cell: &str| form.read(cell.as_bytes()).and_then(|m| m.day);
        for cell in ["Nov 16, 2004", "November 16, 2004", "NOV 16 2004", "Nov. 16th, 2004"] {
            assert_eq!(day(TimeForm::NamedMonthFirst, cell), Some(12_738), "{cell}");
        }
        for cell in ["16 Nov 2004", "16th November, 2004"] {
            assert_eq!(day(TimeForm::NamedMonthSecond, cell), Some(12_738), "{cell}");
        }
        for cell in ["Nove 16, 2004", "Nov16, 2004", "Nov 31, 2004", "Nov 16, 04", "Nov 16, 20045"]
        {
            assert_eq!(day(TimeForm::NamedMonthFirst, cell), None, "{cell}");
        }
        for (form, cell) in [
            (TimeForm::NamedMonthFirst, "April 4th, 2015 2:05 PM"),
            (TimeForm::NamedMonthFirst, "Saturday, April 4, 2015, 14:05"),
            (TimeForm::NamedMonthFirst, "Sat Apr  4 14:05:59 2015"),
            (TimeForm::NamedMonthFirst, "Sat Apr 04 14:05:59 +0000 2015"),
            (TimeForm::NamedMonthSecond, "Sat, 4 Apr 2015 14:05:00 GMT"),
            (TimeForm::DayFirst, "04/Apr/2015:14:05:59 +0000"),
            (TimeForm::DayFirst, "Sat 04/04/2015 14:05 CEST"),
            (TimeForm::MonthFirst, "4/4/15, 2:05 PM"),
        ] {
            let at = form.read(cell.as_bytes()).unwrap();
            assert_eq!((at.day, at.hour()), (Some(16_529), Some(14)), "{cell}");
        }
        for cell in ["2005-01", "2005/1", "01/2005"] {
            let month = TimeForm::YearMonth.read(cell.as_bytes()).unwrap();
            assert_eq!((month.day, month.is_month), (Some(12_784), true), "{cell}");
        }
        for cell in ["2005Q3", "2005-Q3", "2005 Q3", "Q3 2005", "q3/2005"] {
            let month = TimeForm::YearMonth.read(cell.as_bytes()).unwrap();
            assert_eq!((month.day, month.is_month), (Some(12_965), true), "{cell}");
        }
        for cell in ["2005-13", "2005Q5", "2005 7", "05-2005-1", "12-05", "2005-01-", "Jan-2005"] {
            assert_eq!(TimeForm::YearMonth.read(cell.as_bytes()), None, "{cell}");
        }
        for cell in ["January-2005", "Jan 2005", "jan, 2005"] {
            let month = TimeForm::MonthOfYear.read(cell.as_bytes()).unwrap();
            assert_eq!((month.day, month.is_month), (Some(12_784), true), "{cell}");
        }
        assert_eq!(day(TimeForm::DigitsMonthFirst, "10142018"), Some(17_818));
        assert_eq!(day(TimeForm::DigitsMonthFirst, "1052018"), Some(17_536));
        assert_eq!(day(TimeForm::DigitsMonthFirst, "14102018"), None);
        assert_eq!(day(TimeForm::DigitsYearFirst, "20181014"), Some(17_818));
        let at = TimeForm::Seconds.read(b"978307199").unwrap();
        assert_eq!((at.day, at.seconds), (Some(11_322), Some(86_399.0)));
        let at = TimeForm::Milliseconds.read(b"978307199500").unwrap();
        assert_eq!((at.day, at.seconds), (Some(11_322), Some(86_399.5)));
        assert_eq!(TimeForm::Seconds.read(b"42"), None);
        for (form, cell) in [
            (TimeForm::Seconds, "978307199.5"),
            (TimeForm::Microseconds, "978307199500000"),
            (TimeForm::Nanoseconds, "978307199500000000"),
        ] {
            let at = form.read(cell.as_bytes()).unwrap();
            assert_eq!((at.day, at.seconds), (Some(11_322), Some(86_399.5)), "{cell}");
        }
        assert_eq!(TimeForm::Nanoseconds.read(b"99999999999999999999"), None);
        assert_eq!(TimeForm::Seconds.read(b"978307199.x"), None);
        assert_eq!(day(TimeForm::DigitsDayFirst, "14102018"), Some(17_818));
        let at = TimeForm::DigitsToSecond.read(b"20181014140500").unwrap();
        assert_eq!((at.day, at.hour()), (Some(17_818), Some(14)));
        assert_eq!(TimeForm::DigitsToSecond.read(b"20181014246000"), None);
        for (form, example) in TimeForm::ALL {
            assert!(form.read(example.as_bytes()).is_some(), "{example}");
        }
    }

    #[test]
    fn the_place_in_the_year_is_that_of_the_calendar() {
        let mut day = day_number(1896, 1, 1).unwrap();
        for year in 1896..2105 {
            let mut of_year = 0;
            for month in 1..=12 {
                for of_month in 1..=31 {
                    let Some(expected) = day_number(year, month, of_month) else { continue };
                    of_year += 1;
                    assert_eq!(day, expected);
                    let found = Moment::of_day(day).of_year().unwrap();
                    let place = OfYear {
                        month: month as usize - 1,
                        day: of_month as usize,
                        day_of_year: of_year,
                    };
                    assert_eq!(found, place, "{year}-{month}-{of_month}");
                    let angle = std::f64::consts::TAU * (of_year - 1) as f64 / 365.25;
                    let expected =
                        [angle.cos(), angle.sin(), (2.0 * angle).cos(), (2.0 * angle).sin()];
                    for (x, y) in found.harmonics().iter().zip(expected) {
                        assert!((x - y).abs() < 1e-12, "{x} {y}");
                    }
                    day += 1;
                }
            }
        }
    }
}
