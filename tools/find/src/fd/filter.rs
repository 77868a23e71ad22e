//! Filters by type, extension, size, time and owner.

use box_applet::{Ctx, clock};
use box_sys::meta::{FileKind, Stat};
use box_sys::{AccountNames, meta, path};
use box_text::time;

use super::Fault;
use super::options::{Flag, WrittenOptions};
use super::walk::FoundFile;

/// All filters of a command line; a file has to pass each.
#[derive(Default)]
pub(crate) struct FileFilter {
    types: Option<FileTypes>,
    extensions: Vec<Vec<u8>>,
    sizes: Vec<SizeLimit>,
    /// In nanoseconds since the epoch.
    changed_after: Option<i128>,
    changed_before: Option<i128>,
    owner: [IdChoice; 2],
}

#[derive(Default)]
struct FileTypes {
    kinds: Vec<FileKind>,
    executable: bool,
    empty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SizeLimit {
    AtLeast(u64),
    AtMost(u64),
    Equal(u64),
}

/// Which owners or groups pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum IdChoice {
    #[default]
    All,
    Only(u32),
    Not(u32),
}

impl FileFilter {
    /// Reads the options.
    pub(crate) fn read(ctx: &Ctx<'_>, p: &WrittenOptions) -> Result<FileFilter, Fault> {
        let bad = |value: &[u8], what: &str| {
            Fault(format!(
                "'{}' is not a valid {what}. See 'fd --help'.",
                String::from_utf8_lossy(value)
            ))
        };
        let mut filter = FileFilter::default();
        for value in p.all_values(Flag::Type) {
            let types = filter.types.get_or_insert_default();
            types.add(value).ok_or_else(|| bad(value, "type"))?;
        }
        if let Some(types) = &mut filter.types
            && types.empty
            && !types.kinds.iter().any(|k| [FileKind::File, FileKind::Dir].contains(k))
        {
            types.kinds.extend([FileKind::File, FileKind::Dir]);
        }
        for value in p.all_values(Flag::Extension) {
            let dots = value.iter().take_while(|b| **b == b'.').count();
            filter.extensions.push(value[dots..].to_ascii_lowercase());
        }
        for value in p.all_values(Flag::Size) {
            filter
                .sizes
                .push(SizeLimit::parse(value).ok_or_else(|| bad(value, "size constraint"))?);
        }
        let point = |flag: Flag| {
            let read = |value| parse_time(ctx, value).ok_or_else(|| bad(value, "date or duration"));
            p.last_value(flag).map(read).transpose()
        };
        filter.changed_after = point(Flag::ChangedWithin)?;
        filter.changed_before = point(Flag::ChangedBefore)?;
        if let Some(value) = p.last_value(Flag::Owner) {
            filter.owner = parse_owner(value)?;
        }
        Ok(filter)
    }

    /// Returns whether a file passes. Its metadata are read only if a filter needs them.
    pub(crate) fn accepts(&self, file: &FoundFile<'_>) -> bool {
        if !self.extensions.is_empty()
            && !self.extensions.iter().any(|e| has_extension(file.name, e))
        {
            return false;
        }
        if let Some(types) = &self.types
            && !types.accept(file)
        {
            return false;
        }
        let timed = self.changed_after.is_some() || self.changed_before.is_some();
        if self.owner == [IdChoice::All; 2] && self.sizes.is_empty() && !timed {
            return true;
        }
        let Ok(stat) = meta::stat(file.path, file.follow) else { return false };
        self.accepts_owner(&stat) && self.accepts_size(file, &stat) && self.accepts_time(&stat)
    }

    fn accepts_owner(&self, stat: &Stat) -> bool {
        self.owner[0].accepts(stat.uid) && self.owner[1].accepts(stat.gid)
    }

    fn accepts_size(&self, file: &FoundFile<'_>, stat: &Stat) -> bool {
        self.sizes.is_empty()
            || file.path.is_file() && self.sizes.iter().all(|limit| limit.accepts(stat.size))
    }

    fn accepts_time(&self, stat: &Stat) -> bool {
        let changed = i128::from(stat.mtime);
        self.changed_after.is_none_or(|point| changed > point)
            && self.changed_before.is_none_or(|point| changed < point)
    }
}

/// Returns whether a name ends in `.EXT` after at least one byte; letter case does not count.
fn has_extension(name: &[u8], extension: &[u8]) -> bool {
    let Some(dot) = name.len().checked_sub(extension.len() + 1) else { return false };
    dot > 0 && name[dot] == b'.' && name[dot + 1..].eq_ignore_ascii_case(extension)
}

impl FileTypes {
    fn add(&mut self, word: &[u8]) -> Option<()> {
        match word {
            b"f" | b"file" => self.kinds.push(FileKind::File),
            b"d" | b"dir" | b"directory" => self.kinds.push(FileKind::Dir),
            b"l" | b"symlink" => self.kinds.push(FileKind::Symlink),
            b"b" | b"block-device" => self.kinds.push(FileKind::BlockDevice),
            b"c" | b"char-device" => self.kinds.push(FileKind::CharDevice),
            b"s" | b"socket" => self.kinds.push(FileKind::Socket),
            b"p" | b"pipe" => self.kinds.push(FileKind::Fifo),
            b"x" | b"executable" => {
                self.executable = true;
                self.kinds.push(FileKind::File);
            }
            b"e" | b"empty" => self.empty = true,
            _ => return None,
        }
        Some(())
    }

    fn accept(&self, file: &FoundFile<'_>) -> bool {
        self.kinds.contains(&file.kind)
            && (!self.executable || is_executable(file))
            && (!self.empty || is_empty(file))
    }
}

fn is_executable(file: &FoundFile<'_>) -> bool {
    const EXECUTE: u16 = 1;
    meta::stat(file.path, true).is_ok_and(|stat| meta::may_access(&stat, EXECUTE))
}

fn is_empty(file: &FoundFile<'_>) -> bool {
    match file.kind {
        FileKind::Dir => path::names_in(file.path).is_ok_and(|names| names.is_empty()),
        FileKind::File => meta::stat(file.path, true).is_ok_and(|stat| stat.size == 0),
        _ => false,
    }
}

impl SizeLimit {
    /// Parses `+10k`, `-1Mi`, `5b`.
    fn parse(word: &[u8]) -> Option<SizeLimit> {
        let (sign, rest) = match word {
            [sign @ (b'+' | b'-'), rest @ ..] => (Some(*sign), rest),
            _ => (None, word),
        };
        let end = rest.iter().position(|b| !b.is_ascii_digit())?;
        let number: u64 = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
        let factor: u64 = match rest[end..].to_ascii_lowercase().as_slice() {
            b"b" => 1,
            b"k" | b"kb" => 1000,
            b"m" | b"mb" => 1000_u64.pow(2),
            b"g" | b"gb" => 1000_u64.pow(3),
            b"t" | b"tb" => 1000_u64.pow(4),
            b"ki" | b"kib" => 1 << 10,
            b"mi" | b"mib" => 1 << 20,
            b"gi" | b"gib" => 1 << 30,
            b"ti" | b"tib" => 1 << 40,
            _ => return None,
        };
        let size = number.checked_mul(factor)?;
        Some(match sign {
            Some(b'+') => SizeLimit::AtLeast(size),
            Some(_) => SizeLimit::AtMost(size),
            None => SizeLimit::Equal(size),
        })
    }

    fn accepts(self, size: u64) -> bool {
        match self {
            SizeLimit::AtLeast(limit) => size >= limit,
            SizeLimit::AtMost(limit) => size <= limit,
            SizeLimit::Equal(limit) => size == limit,
        }
    }
}

/// Units of durations and their seconds; a month and a year have their mean length.
const UNITS: &[(&[&str], i128)] = &[
    (&["s", "sec", "secs", "second", "seconds"], 1),
    (&["m", "min", "mins", "minute", "minutes"], 60),
    (&["h", "hr", "hrs", "hour", "hours"], 3600),
    (&["d", "day", "days"], 86_400),
    (&["w", "week", "weeks"], 604_800),
    (&["mo", "month", "months"], 2_630_016),
    (&["y", "yr", "yrs", "year", "years"], 31_557_600),
];

/// Returns the point in time that a duration before now, a date, or `@SECONDS` names.
fn parse_time(ctx: &Ctx<'_>, word: &[u8]) -> Option<i128> {
    const NANOS: i128 = 1_000_000_000;
    let now = clock::current_time();
    if let Some(seconds) = parse_duration(word) {
        return Some(i128::from(now.0) * NANOS + i128::from(now.1) - seconds * NANOS);
    }
    let begins = word.first().is_some_and(|b| b.is_ascii_digit() || *b == b'@');
    let plain: Vec<u8> = word.iter().map(|b| if *b == b'T' { b' ' } else { *b }).collect();
    let text = if word.ends_with(b"Z") { word } else { &plain };
    let point = time::parse::parse(text, now, &ctx.zone(), clock::read).filter(|_| begins);
    point.map(|(s, n)| i128::from(s) * NANOS + i128::from(n))
}

/// Returns the seconds of a text such as `2d`, `10 min` or `1h 30m`.
fn parse_duration(word: &[u8]) -> Option<i128> {
    let mut rest = std::str::from_utf8(word).ok()?.trim();
    let mut sum = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: i128 = rest[..end].parse().ok()?;
        rest = rest[end..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = UNITS.iter().find(|(names, _)| names.contains(&&rest[..end]))?;
        sum += number * unit.1;
        rest = rest[end..].trim_start();
    }
    (!word.is_empty()).then_some(sum)
}

/// Reads `USER:GROUP`, in which either may be missing, a number, or have `!` before it.
fn parse_owner(word: &[u8]) -> Result<[IdChoice; 2], Fault> {
    let text = String::from_utf8_lossy(word).into_owned();
    let mut parts = text.split(':');
    let (user, group) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if parts.next().is_some() {
        return Err(Fault(
            "more than one ':' present in owner string. See 'fd --help'.".to_string(),
        ));
    }
    let names = AccountNames::load();
    let choice = |word: &str, id: &dyn Fn(&str) -> Option<u32>, what: &str| {
        let (not, name) = word.strip_prefix('!').map_or((false, word), |name| (true, name));
        if name.is_empty() {
            return Ok(IdChoice::All);
        }
        let found = name.parse().ok().or_else(|| id(name));
        let found =
            found.ok_or_else(|| Fault(format!("'{name}' is not a recognized {what} name")))?;
        Ok(if not { IdChoice::Not(found) } else { IdChoice::Only(found) })
    };
    Ok([
        choice(user, &|name| names.user_id(name).map(|(id, _)| id), "user")?,
        choice(group, &|name| names.group_id(name), "group")?,
    ])
}

impl IdChoice {
    fn accepts(self, id: u32) -> bool {
        match self {
            IdChoice::All => true,
            IdChoice::Only(wanted) => id == wanted,
            IdChoice::Not(other) => id != other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fd's own tests of sizes, in its `src/filter/size.rs`.
    #[test]
    fn sizes() {
        for (word, expected) in [
            ("+1k", Some(SizeLimit::AtLeast(1000))),
            ("-2Kib", Some(SizeLimit::AtMost(2048))),
            ("1MiB", Some(SizeLimit::Equal(1 << 20))),
            ("+5B", Some(SizeLimit::AtLeast(5))),
            ("1", None),
            ("$10M", None),
            ("+kb", None),
            ("+1f", None),
        ] {
            assert_eq!(SizeLimit::parse(word.as_bytes()), expected, "{word}");
        }
    }

    #[test]
    fn durations() {
        for (word, expected) in [
            ("10min", Some(600)),
            ("2 weeks", Some(1_209_600)),
            ("1d 2h", Some(93_600)),
            ("10", None),
            ("2020-01-01", None),
            ("", None),
        ] {
            assert_eq!(parse_duration(word.as_bytes()), expected, "{word}");
        }
    }

    #[test]
    fn extensions_follow_a_name() {
        assert!(has_extension(b"a.FOO", b"foo") && has_extension(b"a.b.foo", b"b.foo"));
        assert!(!has_extension(b".foo", b"foo") && !has_extension(b"afoo", b"foo"));
    }
}
