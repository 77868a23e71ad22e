//! Names of months, days, units and zones in date strings.

use crate::time::civil::{DAYS, MONTHS};

/// The meaning of a word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DateWord {
    Am,
    Pm,
    /// 1 to 12.
    Month(i64),
    /// Sunday is 0.
    Day(i64),
    Unit(DateUnit),
    /// A number of units: `next` is 1, `last` -1, `third` 3.
    Ordinal(i64),
    /// `tomorrow` 1, `today` 0.
    DayShift(i64),
    /// `ago` -1, `hence` 1.
    Ago(i64),
    /// Minutes east of UTC.
    Zone(i64),
    /// A zone name for daylight saving time: minutes east of UTC, without the extra hour.
    DayZone(i64),
    /// A name of the local zone, by its place in the list of names.
    LocalZone(usize),
    Dst,
    /// `T` between date and time; also a military zone.
    T,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DateUnit {
    Year,
    Month,
    /// Days.
    Day(i64),
    Hour,
    Minute,
    Second,
}

const UNITS: [(&str, DateUnit); 10] = [
    ("YEAR", DateUnit::Year),
    ("MONTH", DateUnit::Month),
    ("FORTNIGHT", DateUnit::Day(14)),
    ("WEEK", DateUnit::Day(7)),
    ("DAY", DateUnit::Day(1)),
    ("HOUR", DateUnit::Hour),
    ("MINUTE", DateUnit::Minute),
    ("MIN", DateUnit::Minute),
    ("SECOND", DateUnit::Second),
    ("SEC", DateUnit::Second),
];

const RELATIVE: [(&str, DateWord); 20] = [
    ("TOMORROW", DateWord::DayShift(1)),
    ("YESTERDAY", DateWord::DayShift(-1)),
    ("TODAY", DateWord::DayShift(0)),
    ("NOW", DateWord::DayShift(0)),
    ("LAST", DateWord::Ordinal(-1)),
    ("THIS", DateWord::Ordinal(0)),
    ("NEXT", DateWord::Ordinal(1)),
    ("FIRST", DateWord::Ordinal(1)),
    ("THIRD", DateWord::Ordinal(3)),
    ("FOURTH", DateWord::Ordinal(4)),
    ("FIFTH", DateWord::Ordinal(5)),
    ("SIXTH", DateWord::Ordinal(6)),
    ("SEVENTH", DateWord::Ordinal(7)),
    ("EIGHTH", DateWord::Ordinal(8)),
    ("NINTH", DateWord::Ordinal(9)),
    ("TENTH", DateWord::Ordinal(10)),
    ("ELEVENTH", DateWord::Ordinal(11)),
    ("TWELFTH", DateWord::Ordinal(12)),
    ("AGO", DateWord::Ago(-1)),
    ("HENCE", DateWord::Ago(1)),
];

/// Zone names with their minutes east of UTC; those of daylight saving time without the extra hour.
const ZONES: [(&str, i64, bool); 54] = [
    ("GMT", 0, false),
    ("UT", 0, false),
    ("UTC", 0, false),
    ("WET", 0, false),
    ("WEST", 0, true),
    ("BST", 0, true),
    ("ART", -180, false),
    ("BRT", -180, false),
    ("BRST", -180, true),
    ("NST", -210, false),
    ("NDT", -210, true),
    ("AST", -240, false),
    ("ADT", -240, true),
    ("CLT", -240, false),
    ("CLST", -240, true),
    ("EST", -300, false),
    ("EDT", -300, true),
    ("CST", -360, false),
    ("CDT", -360, true),
    ("MST", -420, false),
    ("MDT", -420, true),
    ("PST", -480, false),
    ("PDT", -480, true),
    ("AKST", -540, false),
    ("AKDT", -540, true),
    ("HST", -600, false),
    ("HAST", -600, false),
    ("HADT", -600, true),
    ("SST", -720, false),
    ("WAT", 60, false),
    ("CET", 60, false),
    ("CEST", 60, true),
    ("MET", 60, false),
    ("MEZ", 60, false),
    ("MEST", 60, true),
    ("MESZ", 60, true),
    ("EET", 120, false),
    ("EEST", 120, true),
    ("CAT", 120, false),
    ("SAST", 120, false),
    ("EAT", 180, false),
    ("MSK", 180, false),
    ("MSD", 180, true),
    ("IST", 330, false),
    ("SGT", 480, false),
    ("KST", 540, false),
    ("JST", 540, false),
    ("GST", 600, false),
    ("NZST", 720, false),
    ("NZDT", 720, true),
    ("AEST", 600, false),
    ("AEDT", 600, true),
    ("ACST", 570, false),
    ("AWST", 480, false),
];

fn month_or_day(word: &str) -> Option<DateWord> {
    // An abbreviation of three letters suffices, with or without a period.
    let short = word.len() == 3 || word.len() == 4 && word.ends_with('.');
    let is_word = |name: &&str| {
        if short {
            name[..3].eq_ignore_ascii_case(&word[..3])
        } else {
            name.eq_ignore_ascii_case(word)
        }
    };
    let find = |names: &[&str]| names.iter().position(is_word);
    if let Some(i) = find(&MONTHS) {
        return Some(DateWord::Month(i as i64 + 1));
    }
    if let Some(i) = find(&DAYS) {
        return Some(DateWord::Day(i as i64));
    }
    Some(match word {
        "SEPT" => DateWord::Month(9),
        "TUES" => DateWord::Day(2),
        "WEDNES" => DateWord::Day(3),
        "THUR" | "THURS" => DateWord::Day(4),
        _ => return None,
    })
}

fn find_unit(word: &str) -> Option<DateWord> {
    UNITS.iter().find(|(n, _)| *n == word).map(|(_, u)| DateWord::Unit(*u))
}

/// Returns the meaning of an upper-case word. `local` holds the names of the zone in force.
pub(super) fn find_word(word: &str, local: &[String]) -> Option<DateWord> {
    match word {
        "AM" | "A.M." => return Some(DateWord::Am),
        "PM" | "P.M." => return Some(DateWord::Pm),
        "DST" => return Some(DateWord::Dst),
        _ => {}
    }
    if let Some(w) = month_or_day(word) {
        return Some(w);
    }
    let zone = |word: &str| {
        if matches!(word, "GMT" | "UT" | "UTC") {
            return Some(DateWord::Zone(0));
        }
        if let Some(i) = local.iter().position(|l| l.eq_ignore_ascii_case(word)) {
            return Some(DateWord::LocalZone(i));
        }
        ZONES
            .iter()
            .find(|(n, _, _)| *n == word)
            .map(|(_, m, dst)| if *dst { DateWord::DayZone(*m) } else { DateWord::Zone(*m) })
    };
    if let Some(w) = zone(word) {
        return Some(w);
    }
    if let Some(w) = find_unit(word).or_else(|| find_unit(word.strip_suffix('S')?)) {
        return Some(w);
    }
    if let Some((_, w)) = RELATIVE.iter().find(|(n, _)| *n == word) {
        return Some(*w);
    }
    if let [c] = word.as_bytes() {
        return match c {
            b'T' => Some(DateWord::T),
            b'Z' => Some(DateWord::Zone(0)),
            b'A'..=b'I' => Some(DateWord::Zone(i64::from(c - b'A' + 1) * 60)),
            b'K'..=b'M' => Some(DateWord::Zone(i64::from(c - b'A') * 60)),
            b'N'..=b'Y' => Some(DateWord::Zone(-i64::from(c - b'N' + 1) * 60)),
            _ => None,
        };
    }
    // Abbreviations may have periods: `E.S.T.`.
    if word.contains('.') {
        let plain: String = word.chars().filter(|c| *c != '.').collect();
        return zone(&plain);
    }
    None
}
