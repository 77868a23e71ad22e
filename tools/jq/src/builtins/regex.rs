//! `match`, `test`, `sub` and relatives (jq manual, "Regular expressions").
//!
//! jq uses Oniguruma with Perl syntax. `fancy-regex` accepts nearly all of it, including
//! look-around and backreferences. `box_text::perl` rewrites what it reads differently (brackets,
//! escapes), and this file makes `$` also match before a final newline, as in Oniguruma.

use std::rc::Rc;

use box_text::perl::{PerlDialect, rewrite_pattern};

use super::{JqHost, Native, fail_with, natives, take_argument};
use crate::value::{Map, Result, Value, type_error};

/// A compiled pattern.
pub type Regex = fancy_regex::Regex;

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "_match"/2 => |h, v, a| find_matches(h, &v, &take_argument(a, 0), &take_argument(a, 1)),
    "_match"/1 => |h, v, a| {
        let (re, flags) = pattern_and_flags(take_argument(a, 0))?;
        find_matches(h, &v, &re, &flags)
    },
    "test"/2 => |h, v, a| test_match(h, &v, &take_argument(a, 0), &take_argument(a, 1)),
    "test"/1 => |h, v, a| {
        let (re, flags) = pattern_and_flags(take_argument(a, 0))?;
        test_match(h, &v, &re, &flags)
    },
    "_capture"/0 => |_, v, _| Ok(captures_object(&v)),
    "_edits"/2 => |h, v, a| match_edits(h, &v, &take_argument(a, 0), &take_argument(a, 1)),
    "split"/2 => |h, v, a| {
        let flags = match take_argument(a, 1) {
            Value::Str(f) => Value::str(format!("g{f}")),
            Value::Null => "g".into(),
            other => other,
        };
        let all = match_edits(h, &v, &take_argument(a, 0), &flags)?;
        let Value::Obj(all) = &all else { return Ok(Value::Null) };
        let gaps = all.get("edits").and_then(Value::as_arr).unwrap_or_default().iter();
        let gap = |e: &Value| match e {
            Value::Obj(o) => o.get("gap").cloned().unwrap_or(Value::Null),
            _ => Value::Null,
        };
        Ok(gaps.map(gap).chain(all.get("rest").cloned()).collect())
    },
};

/// Returns pattern and flags from a single argument: a pattern, or an array of both.
fn pattern_and_flags(v: Value) -> Result<(Value, Value)> {
    match &v {
        Value::Str(_) => Ok((v, Value::Null)),
        Value::Arr(a) if !a.is_empty() => {
            Ok((a[0].clone(), a.get(1).cloned().unwrap_or(Value::Null)))
        }
        other => fail_with(format!("{} not a string or array", other.type_name())),
    }
}

struct JqSearch<'t> {
    text: &'t str,
    regex: Rc<Regex>,
    global: bool,
    skip_empty: bool,
}

/// Checks arguments and compiles the pattern.
fn prepare_search<'t>(
    h: &mut JqHost<'_>,
    v: &'t Value,
    re: &Value,
    flags: &Value,
) -> Result<JqSearch<'t>> {
    let Value::Str(text) = v else {
        return Err(type_error(v, "cannot be matched, as it is not a string"));
    };
    let Value::Str(re) = re else {
        return Err(type_error(re, "cannot be matched, as it is not a string"));
    };
    let flags = match flags {
        Value::Null => "",
        Value::Str(f) => f.as_str(),
        other => return Err(type_error(other, "is not a string")),
    };
    let (mut global, mut skip_empty, mut inline) = (false, false, String::new());
    for c in flags.chars() {
        match c {
            'g' => global = true,
            'n' => skip_empty = true,
            'i' | 'x' => inline.push(c),
            'p' => inline.push('s'),
            // These have no effect: `^` and `$` always refer to the whole text, and matches are the
            // leftmost ones.
            's' | 'l' => {}
            _ => return fail_with(format!("{flags} is not a valid modifier string")),
        }
    }
    let before_newline = text.ends_with('\n');
    let key = (re.to_string(), inline, before_newline);
    let regex = match h.patterns.get(&key) {
        Some(r) => Rc::clone(r),
        None => {
            let regex = Rc::new(compile_pattern(re, &key.1, before_newline)?);
            // Programs with patterns from data must not use up the memory.
            if h.patterns.len() > 1000 {
                h.patterns.clear();
            }
            h.patterns.insert(key, Rc::clone(&regex));
            regex
        }
    };
    Ok(JqSearch { text, regex, global, skip_empty })
}

/// Compiles a pattern with inline flags. `before_newline` says that the text ends with a newline.
fn compile_pattern(re: &str, flags: &str, before_newline: bool) -> Result<Regex> {
    let failure = |text: String| Value::str(format!("Regex failure: {text}"));
    let flags = if flags.is_empty() { String::new() } else { format!("(?{flags})") };
    let source = rewrite_pattern(&format!("{flags}{re}"), PerlDialect::Oniguruma)
        .map_err(|e| failure(e.text(PerlDialect::Oniguruma)))?;
    let source = if before_newline { translate_dollars(&source) } else { source };
    Regex::new(&source).map_err(|e| failure(describe_error(&e)))
}

/// Returns Oniguruma's messages for common mistakes.
fn describe_error(e: &fancy_regex::Error) -> String {
    use fancy_regex::{CompileError, Error, ParseError};
    let backref = |e: &CompileError| matches!(e, CompileError::InvalidBackref(_));
    let text = match e {
        Error::ParseError(_, ParseError::UnclosedOpenParen) => {
            "end pattern with unmatched parenthesis"
        }
        Error::ParseError(_, ParseError::TargetNotRepeatable) => {
            "target of repeat operator is not specified"
        }
        Error::ParseError(_, ParseError::InvalidBackref) => "invalid backref number/name",
        Error::CompileError(e) if backref(e) => "invalid backref number/name",
        Error::ParseError(_, ParseError::InvalidRepeat) => {
            "upper is smaller than lower in repeat range"
        }
        other => return other.to_string(),
    };
    text.to_string()
}

/// Returns a pattern whose `$` also matches before a final newline.
fn translate_dollars(re: &str) -> String {
    let mut out = String::with_capacity(re.len() + 8);
    let (mut class, mut chars) = (0, re.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                out.push(c);
                out.extend(chars.next());
                continue;
            }
            '[' => class += 1,
            ']' if class > 0 => class -= 1,
            '$' if class == 0 => {
                out.push_str("(?=\\n?\\z)");
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

impl JqSearch<'_> {
    /// Calls `f` for each match. The search continues at the end of a match, or a character further
    /// after an empty one.
    fn for_each_match(&self, mut f: impl FnMut(&fancy_regex::Captures<'_, str>)) -> Result<()> {
        let mut at = 0;
        while at <= self.text.len() {
            let found = self
                .regex
                .captures_from_pos(self.text, at)
                .map_err(|e| Value::str(format!("Regex failure: {e}")))?;
            let Some(found) = found else { break };
            let Some(whole) = found.get(0) else { break };
            at = whole.end();
            let empty = whole.start() == whole.end();
            if empty {
                at += self.text[at..].chars().next().map_or(1, char::len_utf8);
            }
            if empty && self.skip_empty {
                continue;
            }
            f(&found);
            if !self.global {
                break;
            }
        }
        Ok(())
    }
}

fn test_match(h: &mut JqHost<'_>, v: &Value, re: &Value, flags: &Value) -> Result<Value> {
    let s = prepare_search(h, v, re, flags)?;
    let mut found = false;
    s.for_each_match(|_| found = true)?;
    Ok(found.into())
}

/// A converter from byte offsets to codepoint offsets, which counts from each offset to the next.
struct Offsets<'t> {
    text: &'t str,
    byte: usize,
    count: usize,
}

impl Offsets<'_> {
    fn char_offset(&mut self, byte: usize) -> usize {
        if byte < self.byte {
            (self.byte, self.count) = (0, 0);
        }
        self.count += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.count
    }
}

fn make_object(pairs: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::obj(pairs.into_iter().map(|(k, v)| (Rc::new(k.to_string()), v)).collect::<Map>())
}

fn find_matches(h: &mut JqHost<'_>, v: &Value, re: &Value, flags: &Value) -> Result<Value> {
    let s = prepare_search(h, v, re, flags)?;
    let names: Vec<Option<String>> =
        s.regex.capture_names().map(|n| n.map(str::to_string)).collect();
    let mut offsets = Offsets { text: s.text, byte: 0, count: 0 };
    let mut out = Vec::new();
    s.for_each_match(|found| {
        let Some(whole) = found.get(0) else { return };
        let start = offsets.char_offset(whole.start());
        let mut captures = Vec::new();
        for (i, name) in names.iter().enumerate().skip(1) {
            let name = name.as_deref().map_or(Value::Null, Value::from);
            captures.push(match found.get(i) {
                None => make_object([
                    ("offset", Value::Num(-1.0)),
                    ("string", Value::Null),
                    ("length", Value::Num(0.0)),
                    ("name", name),
                ]),
                Some(m) if m.start() == m.end() => make_object([
                    ("offset", Value::int(offsets.char_offset(m.start()))),
                    ("string", "".into()),
                    ("length", Value::Num(0.0)),
                    ("name", name),
                ]),
                Some(m) => make_object([
                    ("offset", Value::int(offsets.char_offset(m.start()))),
                    ("length", Value::int(m.as_str().chars().count())),
                    ("string", m.as_str().into()),
                    ("name", name),
                ]),
            });
        }
        out.push(make_object([
            ("offset", Value::int(start)),
            ("length", Value::int(whole.as_str().chars().count())),
            ("string", whole.as_str().into()),
            ("captures", Value::arr(captures)),
        ]));
    })?;
    Ok(Value::arr(out))
}

/// Returns the named captures of a match as an object.
fn captures_object(m: &Value) -> Value {
    let mut out = Map::default();
    if let Value::Obj(m) = m {
        for c in m.get("captures").and_then(Value::as_arr).unwrap_or_default() {
            if let Value::Obj(c) = c
                && let Some(Value::Str(name)) = c.get("name")
            {
                out.insert(name.clone(), c.get("string").cloned().unwrap_or(Value::Null));
            }
        }
    }
    Value::obj(out)
}

/// Returns the data for `sub` and `split`: the text before each match with its named captures, and
/// the rest.
fn match_edits(h: &mut JqHost<'_>, v: &Value, re: &Value, flags: &Value) -> Result<Value> {
    let s = prepare_search(h, v, re, flags)?;
    let names: Vec<Option<String>> =
        s.regex.capture_names().map(|n| n.map(str::to_string)).collect();
    let mut at = 0;
    let mut edits = Vec::new();
    s.for_each_match(|found| {
        let Some(whole) = found.get(0) else { return };
        let mut captures = Map::default();
        for (i, name) in names.iter().enumerate() {
            if let Some(name) = name {
                let text = found.get(i).map_or(Value::Null, |m| m.as_str().into());
                captures.insert(Rc::new(name.clone()), text);
            }
        }
        edits.push(make_object([
            ("gap", s.text[at..whole.start()].into()),
            ("captures", Value::obj(captures)),
        ]));
        at = whole.end();
    })?;
    Ok(make_object([("edits", Value::arr(edits)), ("rest", s.text[at..].into())]))
}
