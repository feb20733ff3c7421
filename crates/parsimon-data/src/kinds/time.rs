//! Dates and times of day in the usual forms.

/// How the dates of a column are written.
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
}

/// A date, a time of day, or both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Days since the first of January 1970.
    pub(crate) day: Option<i64>,
    /// Seconds since midnight.
    pub(crate) seconds: Option<f64>,
}

const MONTHS: [&[u8; 3]; 12] = [
    b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec",
];

impl TimeForm {
    pub(super) const ALL: [(TimeForm, &'static str); 4] = [
        (TimeForm::YearFirst, "2000-12-31"),
        (TimeForm::MonthFirst, "12/31/2000"),
        (TimeForm::DayFirst, "31/12/2000"),
        (TimeForm::Clock, "23:59"),
    ];

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
        if self == TimeForm::Clock {
            return Some(Moment { day: None, seconds: Some(clock(cell)?) });
        }
        let mut rest = cell;
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
        if rest.is_empty() {
            return Some(Moment { day: Some(day), seconds: None });
        }
        let rest = rest.strip_prefix(b"T").or_else(|| rest.strip_prefix(b" "))?;
        Some(Moment { day: Some(day), seconds: Some(clock(zone(rest).trim_ascii())?) })
    }
}

impl Moment {
    /// The hour of day, 0 to 23.
    pub(crate) fn hour(self) -> Option<u32> {
        self.seconds.map(|s| (s / 3600.0) as u32 % 24)
    }

    /// The day of the week, 0 for Monday.
    pub(crate) fn weekday(self) -> Option<usize> {
        // The first of January 1970 was a Thursday.
        self.day.map(|day| (day + 3).rem_euclid(7) as usize)
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

/// Without the zone at the end: hours are those of the place.
fn zone(text: &[u8]) -> &[u8] {
    if let Some(text) = text.strip_suffix(b"Z").or_else(|| text.strip_suffix(b" UTC")) {
        return text;
    }
    let sign = text.iter().rposition(|b| matches!(b, b'+' | b'-'));
    match sign {
        Some(at) if text[at + 1..].iter().all(|b| b.is_ascii_digit() || *b == b':') => &text[..at],
        _ => text,
    }
}

/// Seconds since midnight of `14:05`, `14:05:59.5` or `2:05 PM`.
fn clock(text: &[u8]) -> Option<f64> {
    let half = |suffix: &[u8]| {
        let at = text.len().checked_sub(2)?;
        text[at..].eq_ignore_ascii_case(suffix).then(|| text[..at].trim_ascii())
    };
    let (text, shift) = match (half(b"am"), half(b"pm")) {
        (Some(text), _) => (text, Some(0)),
        (_, Some(text)) => (text, Some(12)),
        _ => (text, None),
    };
    let mut parts = text.split(|b| *b == b':');
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
        for cell in ["24:00", "1:60", "1", "1:2:3:4", "a:b", "1:02:x"] {
            assert_eq!(TimeForm::Clock.read(cell.as_bytes()), None, "{cell}");
        }
    }
}
