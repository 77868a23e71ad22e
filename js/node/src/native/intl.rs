//! What `Intl` needs from Rust: texts of the archive of locale data, offsets of time zones, and the
//! order of strings by ICU4X.

use super::TextArgument;
use crate::library::{self, NodeLibrary};
use box_text::time::zone::Zone;
use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_collator::preferences::{CollationCaseFirst, CollationNumericOrdering};
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};
use icu_locale_core::{Locale, extensions::unicode};
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result, String as JsString};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

thread_local! {
    /// The archive, once a script has used it. A process without locale data keeps the absence.
    static ARCHIVE: RefCell<Option<Option<NodeLibrary>>> = const { RefCell::new(None) };
    /// The zones that scripts have used.
    static ZONES: RefCell<HashMap<String, Option<Zone>>> = RefCell::default();
    /// The collators that scripts have made, by number, and their numbers.
    static COLLATORS: RefCell<CollatorTable> = RefCell::default();
}

/// Returns a text of the archive of locale data; `None` if the archive or the text is missing.
fn intl_source(name: TextArgument) -> Option<String> {
    ARCHIVE.with_borrow_mut(|archive| {
        let open = || NodeLibrary::open(&library::INTL).ok();
        archive.get_or_insert_with(open).as_ref()?.module_source(&name.0)
    })
}

/// The longest name of a zone that is looked up.
const LONGEST_ZONE: usize = 64;
/// The largest time of a `Date`, in seconds.
const LARGEST_TIME: f64 = 8.64e12;

/// Returns the offset from UTC in seconds of a zone of the database at a time in seconds since the
/// epoch; `None` if there is no such zone.
fn zone_offset(name: TextArgument, time: f64) -> Option<f64> {
    let TextArgument(name) = name;
    if name.len() > LONGEST_ZONE {
        return None;
    }
    ZONES.with_borrow_mut(|zones| {
        let zone = zones.entry(name).or_insert_with_key(|name| zone_by_name(name));
        let time = time.clamp(-LARGEST_TIME, LARGEST_TIME) as i64;
        zone.as_ref().map(|zone| zone.offset_at(time).0 as f64)
    })
}

/// Returns the zone with a name of the database, and not what POSIX reads into such a text.
fn zone_by_name(name: &str) -> Option<Zone> {
    if matches!(name, "UTC" | "Etc/UTC" | "GMT" | "Etc/GMT") {
        return Some(Zone::utc());
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '+' | '-');
    if name.starts_with('/') || !name.chars().all(plain) {
        return None;
    }
    std::fs::metadata(format!("/usr/share/zoneinfo/{name}")).ok().filter(|m| m.is_file())?;
    Some(Zone::from_env(Some(name.as_bytes()), |file| std::fs::read(file).ok()))
}

#[derive(Default)]
struct CollatorTable {
    made: Vec<CollatorBorrowed<'static>>,
    numbers: HashMap<[String; 6], usize>,
}

/// Returns the number of a collator for [`collate`]. `kind` is a collation of the locale or empty,
/// and `sensitivity` and `case_first` are values of ECMA-402.
fn collator(
    ctx: Ctx<'_>,
    locale: TextArgument,
    kind: TextArgument,
    sensitivity: TextArgument,
    ignores_punctuation: bool,
    is_numeric: bool,
    case_first: TextArgument,
) -> Result<usize> {
    let flag = |flag: bool| flag.to_string();
    let key = [
        locale.0,
        kind.0,
        sensitivity.0,
        flag(ignores_punctuation),
        flag(is_numeric),
        case_first.0,
    ];
    if let Some(number) = COLLATORS.with_borrow(|table| table.numbers.get(&key).copied()) {
        return Ok(number);
    }
    let made = make_collator(&key, ignores_punctuation, is_numeric)
        .ok_or_else(|| super::throw_text(&ctx, "EINVAL"))?;
    Ok(COLLATORS.with_borrow_mut(|table| {
        table.made.push(made);
        table.numbers.insert(key, table.made.len() - 1);
        table.made.len() - 1
    }))
}

fn make_collator(
    [locale, kind, sensitivity, _, _, case_first]: &[String; 6],
    ignores_punctuation: bool,
    is_numeric: bool,
) -> Option<CollatorBorrowed<'static>> {
    let mut locale: Locale = locale.parse().ok()?;
    if !kind.is_empty() {
        let value: unicode::Value = kind.parse().ok()?;
        locale.extensions.unicode.keywords.set(unicode::key!("co"), value);
    }
    let mut preferences = CollatorPreferences::from(&locale);
    preferences.numeric_ordering = Some(if is_numeric {
        CollationNumericOrdering::True
    } else {
        CollationNumericOrdering::False
    });
    preferences.case_first = Some(match case_first.as_str() {
        "upper" => CollationCaseFirst::Upper,
        "lower" => CollationCaseFirst::Lower,
        _ => CollationCaseFirst::False,
    });
    let mut options = CollatorOptions::default();
    options.strength = Some(match sensitivity.as_str() {
        "base" | "case" => Strength::Primary,
        "accent" => Strength::Secondary,
        _ => Strength::Tertiary,
    });
    options.case_level = Some(if sensitivity == "case" { CaseLevel::On } else { CaseLevel::Off });
    options.alternate_handling = Some(if ignores_punctuation {
        AlternateHandling::Shifted
    } else {
        AlternateHandling::NonIgnorable
    });
    Collator::try_new(preferences, options).ok()
}

/// Compares two strings by a collator; returns -1, 0 or 1.
fn collate(ctx: Ctx<'_>, number: usize, a: JsString<'_>, b: JsString<'_>) -> Result<i32> {
    let (a, b) = (js_engine::to_utf16(&a)?, js_engine::to_utf16(&b)?);
    let order = COLLATORS
        .with_borrow(|table| table.made.get(number).map(|collator| collator.compare_utf16(&a, &b)));
    match order {
        Some(Ordering::Less) => Ok(-1),
        Some(Ordering::Equal) => Ok(0),
        Some(Ordering::Greater) => Ok(1),
        None => Err(super::throw_text(&ctx, "EINVAL")),
    }
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("intlSource", Func::from(intl_source))?;
    native.set("zoneOffset", Func::from(zone_offset))?;
    native.set("collator", Func::from(collator))?;
    native.set("collate", Func::from(collate))
}
