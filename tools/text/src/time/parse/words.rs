//! Names of months, days, units and zones in date strings.

use crate::time::civil::{DAYS, MONTHS};

/// What a word means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Word {
    Am,
    Pm,
    /// 1 to 12.
    Month(i64),
    /// Sunday is 0.
    Day(i64),
    Unit(Unit),
    /// How many of a unit: `next` is 1, `last` -1, `third` 3.
    Ordinal(i64),
    /// `tomorrow` 1, `today` 0.
    DayShift(i64),
    /// `ago` -1, `hence` 1.
    Ago(i64),
    /// Minutes east of UTC.
    Zone(i64),
    /// A zone name that says it is daylight saving time: minutes east without the hour.
    DayZone(i64),
    /// A name of the local zone, by its place in the list of names.
    LocalZone(usize),
    Dst,
    /// `T` between date and time; also a military zone.
    T,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    Year,
    Month,
    /// Days.
    Day(i64),
    Hour,
    Minute,
    Second,
}

const UNITS: [(&str, Unit); 10] = [
    ("YEAR", Unit::Year),
    ("MONTH", Unit::Month),
    ("FORTNIGHT", Unit::Day(14)),
    ("WEEK", Unit::Day(7)),
    ("DAY", Unit::Day(1)),
    ("HOUR", Unit::Hour),
    ("MINUTE", Unit::Minute),
    ("MIN", Unit::Minute),
    ("SECOND", Unit::Second),
    ("SEC", Unit::Second),
];

const RELATIVE: [(&str, Word); 20] = [
    ("TOMORROW", Word::DayShift(1)),
    ("YESTERDAY", Word::DayShift(-1)),
    ("TODAY", Word::DayShift(0)),
    ("NOW", Word::DayShift(0)),
    ("LAST", Word::Ordinal(-1)),
    ("THIS", Word::Ordinal(0)),
    ("NEXT", Word::Ordinal(1)),
    ("FIRST", Word::Ordinal(1)),
    ("THIRD", Word::Ordinal(3)),
    ("FOURTH", Word::Ordinal(4)),
    ("FIFTH", Word::Ordinal(5)),
    ("SIXTH", Word::Ordinal(6)),
    ("SEVENTH", Word::Ordinal(7)),
    ("EIGHTH", Word::Ordinal(8)),
    ("NINTH", Word::Ordinal(9)),
    ("TENTH", Word::Ordinal(10)),
    ("ELEVENTH", Word::Ordinal(11)),
    ("TWELFTH", Word::Ordinal(12)),
    ("AGO", Word::Ago(-1)),
    ("HENCE", Word::Ago(1)),
];

/// Hours times 60 east of UTC; daylight saving names without their extra hour.
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

fn month_or_day(word: &str) -> Option<Word> {
    // Three letters suffice, with or without a period.
    let short = word.len() == 3 || word.len() == 4 && word.ends_with('.');
    let is_word = |name: &&str| match short {
        true => name[..3].eq_ignore_ascii_case(&word[..3]),
        false => name.eq_ignore_ascii_case(word),
    };
    let find = |names: &[&str]| names.iter().position(is_word);
    if let Some(i) = find(&MONTHS) {
        return Some(Word::Month(i as i64 + 1));
    }
    if let Some(i) = find(&DAYS) {
        return Some(Word::Day(i as i64));
    }
    Some(match word {
        "SEPT" => Word::Month(9),
        "TUES" => Word::Day(2),
        "WEDNES" => Word::Day(3),
        "THUR" | "THURS" => Word::Day(4),
        _ => return None,
    })
}

fn unit(word: &str) -> Option<Word> {
    UNITS.iter().find(|(n, _)| *n == word).map(|(_, u)| Word::Unit(*u))
}

/// The meaning of an upper-case word. `local` holds the names of the zone in force.
pub(super) fn lookup(word: &str, local: &[String]) -> Option<Word> {
    match word {
        "AM" | "A.M." => return Some(Word::Am),
        "PM" | "P.M." => return Some(Word::Pm),
        "DST" => return Some(Word::Dst),
        _ => {}
    }
    if let Some(w) = month_or_day(word) {
        return Some(w);
    }
    let zone = |word: &str| {
        if matches!(word, "GMT" | "UT" | "UTC") {
            return Some(Word::Zone(0));
        }
        if let Some(i) = local.iter().position(|l| l.eq_ignore_ascii_case(word)) {
            return Some(Word::LocalZone(i));
        }
        ZONES
            .iter()
            .find(|(n, _, _)| *n == word)
            .map(|(_, m, dst)| if *dst { Word::DayZone(*m) } else { Word::Zone(*m) })
    };
    if let Some(w) = zone(word) {
        return Some(w);
    }
    if let Some(w) = unit(word).or_else(|| unit(word.strip_suffix('S')?)) {
        return Some(w);
    }
    if let Some((_, w)) = RELATIVE.iter().find(|(n, _)| *n == word) {
        return Some(*w);
    }
    if let [c] = word.as_bytes() {
        return match c {
            b'T' => Some(Word::T),
            b'Z' => Some(Word::Zone(0)),
            b'A'..=b'I' => Some(Word::Zone(i64::from(c - b'A' + 1) * 60)),
            b'K'..=b'M' => Some(Word::Zone(i64::from(c - b'A') * 60)),
            b'N'..=b'Y' => Some(Word::Zone(-i64::from(c - b'N' + 1) * 60)),
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
