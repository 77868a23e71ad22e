//! Values as jq 1.8 prints them.

use std::io::{self, Write};

use crate::value::{Str, Value, float_text};

/// The layout of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Indent {
    #[default]
    None,
    Spaces(usize),
    Tab,
}

/// The style in which values are printed.
pub struct JsonStyle {
    pub indent: Indent,
    pub sort_keys: bool,
    pub ascii: bool,
    pub colors: Option<JsonColors>,
}

/// Escape sequences by kind of value.
pub struct JsonColors {
    null: Vec<u8>,
    no: Vec<u8>,
    yes: Vec<u8>,
    number: Vec<u8>,
    string: Vec<u8>,
    array: Vec<u8>,
    object: Vec<u8>,
    key: Vec<u8>,
}

const RESET: &[u8] = b"\x1b[0m";

impl JsonColors {
    /// Returns jq 1.8's colours, changed by `JQ_COLORS` (fields separated by colons, in the order
    /// null, false, true, numbers, strings, arrays, objects, keys), and whether that variable is
    /// valid. It is ignored if its fields have anything but digits and semicolons.
    pub fn new(spec: &[u8]) -> (JsonColors, bool) {
        let esc = |code: &[u8]| [b"\x1b[", code, b"m"].concat();
        let mut all =
            [&b"0;90"[..], b"0;39", b"0;39", b"0;39", b"0;32", b"1;39", b"1;39", b"1;34"].map(esc);
        let valid = spec.iter().all(|b| matches!(b, b'0'..=b'9' | b';' | b':'));
        if valid && !spec.is_empty() {
            for (field, slot) in spec.split(|&b| b == b':').zip(&mut all) {
                *slot = esc(field);
            }
        }
        let [null, no, yes, number, string, array, object, key] = all;
        (JsonColors { null, no, yes, number, string, array, object, key }, valid)
    }

    fn color_of(&self, v: &Value) -> &[u8] {
        match v {
            Value::Null => &self.null,
            Value::Bool(false) => &self.no,
            Value::Bool(true) => &self.yes,
            Value::Num(_) | Value::Lit(_) => &self.number,
            Value::Str(_) => &self.string,
            Value::Arr(_) => &self.array,
            Value::Obj(_) => &self.object,
        }
    }
}

/// The maximum nesting that is written, as in jq.
const MAX_DEPTH: usize = 10_000;

const COMPACT: JsonStyle =
    JsonStyle { indent: Indent::None, sort_keys: false, ascii: false, colors: None };

/// Returns a value as compact JSON text.
pub fn to_text(v: &Value) -> String {
    let mut out = Vec::new();
    write_compact(&mut out, v);
    crate::value::text_from_bytes(out)
}

/// Appends a value as compact JSON.
pub fn write_compact(out: &mut Vec<u8>, v: &Value) {
    // Writing to memory cannot fail.
    let _ = write(out, v, &COMPACT);
}

/// A container that is being written.
enum WrittenContainer<'a> {
    Arr(&'a Value, std::slice::Iter<'a, Value>),
    Obj(&'a Value, Box<dyn Iterator<Item = (&'a Str, &'a Value)> + 'a>),
}

/// Writes one value without a newline. Nesting takes heap, not stack.
pub fn write<W: Write>(out: &mut W, v: &Value, style: &JsonStyle) -> io::Result<()> {
    let mut stack: Vec<WrittenContainer<'_>> = Vec::new();
    let mut item = Some(v);
    let mut first = true;
    loop {
        if let Some(v) = item.take() {
            if let Some(open) = begin_value(out, v, style, stack.len())? {
                stack.push(open);
                first = true;
            } else {
                first = false;
            }
        }
        let depth = stack.len();
        let Some(open) = stack.last_mut() else { return Ok(()) };
        let (container, key, next) = match open {
            WrittenContainer::Arr(c, items) => (*c, None, items.next()),
            WrittenContainer::Obj(c, items) => match items.next() {
                Some((k, v)) => (*c, Some(k), Some(v)),
                None => (*c, None, None),
            },
        };
        let Some(next) = next else {
            write_newline(out, style, depth - 1)?;
            let close = if matches!(container, Value::Arr(_)) { b"]" } else { b"}" };
            write_painted(out, style, container, close)?;
            stack.pop();
            first = false;
            continue;
        };
        if !first {
            write_painted(out, style, container, b",")?;
        }
        write_newline(out, style, depth)?;
        if let Some(key) = key {
            if let Some(c) = &style.colors {
                out.write_all(&c.key)?;
            }
            write_quoted(out, key, style.ascii)?;
            if style.colors.is_some() {
                out.write_all(RESET)?;
            }
            write_painted(out, style, container, b":")?;
            if style.indent != Indent::None {
                out.write_all(b" ")?;
            }
        }
        item = Some(next);
    }
}

/// Writes a scalar or an empty container, or opens a container.
fn begin_value<'a, W: Write>(
    out: &mut W,
    v: &'a Value,
    style: &JsonStyle,
    depth: usize,
) -> io::Result<Option<WrittenContainer<'a>>> {
    if depth > MAX_DEPTH {
        write_painted(out, style, v, b"<skipped: too deep>")?;
        return Ok(None);
    }
    match v {
        Value::Null => write_painted(out, style, v, b"null")?,
        Value::Bool(true) => write_painted(out, style, v, b"true")?,
        Value::Bool(false) => write_painted(out, style, v, b"false")?,
        Value::Num(n) => write_painted(out, style, v, float_text(*n).as_bytes())?,
        Value::Lit(l) => write_painted(out, style, v, l.to_string().as_bytes())?,
        Value::Str(s) => {
            if let Some(c) = &style.colors {
                out.write_all(c.color_of(v))?;
            }
            write_quoted(out, s, style.ascii)?;
            if style.colors.is_some() {
                out.write_all(RESET)?;
            }
        }
        Value::Arr(a) if a.is_empty() => write_painted(out, style, v, b"[]")?,
        Value::Obj(o) if o.is_empty() => write_painted(out, style, v, b"{}")?,
        Value::Arr(a) => {
            write_painted(out, style, v, b"[")?;
            return Ok(Some(WrittenContainer::Arr(v, a.iter())));
        }
        Value::Obj(o) => {
            write_painted(out, style, v, b"{")?;
            return Ok(Some(WrittenContainer::Obj(
                v,
                if style.sort_keys {
                    Box::new(o.sorted_entries().into_iter())
                } else {
                    Box::new(o.iter())
                },
            )));
        }
    }
    Ok(None)
}

fn write_painted<W: Write>(
    out: &mut W,
    style: &JsonStyle,
    v: &Value,
    text: &[u8],
) -> io::Result<()> {
    match &style.colors {
        None => out.write_all(text),
        Some(c) => {
            out.write_all(c.color_of(v))?;
            out.write_all(text)?;
            out.write_all(RESET)
        }
    }
}

fn write_newline<W: Write>(out: &mut W, style: &JsonStyle, depth: usize) -> io::Result<()> {
    const BLANKS: [u8; 64] = [b' '; 64];
    const TABS: [u8; 64] = [b'\t'; 64];
    let (blanks, mut count) = match style.indent {
        Indent::None => return Ok(()),
        Indent::Spaces(n) => (&BLANKS, n * depth),
        Indent::Tab => (&TABS, depth),
    };
    out.write_all(b"\n")?;
    while count > 0 {
        let n = count.min(blanks.len());
        out.write_all(&blanks[..n])?;
        count -= n;
    }
    Ok(())
}

/// Writes a JSON string.
pub fn write_quoted<W: Write>(out: &mut W, s: &str, ascii: bool) -> io::Result<()> {
    out.write_all(b"\"")?;
    let b = s.as_bytes();
    let mut plain = 0;
    let mut at = 0;
    while let Some(&c) = b.get(at) {
        let short = match c {
            b'"' => b'"',
            b'\\' => b'\\',
            b'\n' => b'n',
            b'\t' => b't',
            b'\r' => b'r',
            8 => b'b',
            12 => b'f',
            0..0x20 | 0x7f => 0,
            0x80.. if ascii => 0,
            _ => {
                at += 1;
                continue;
            }
        };
        out.write_all(&b[plain..at])?;
        let mut size = 1;
        if short != 0 {
            out.write_all(&[b'\\', short])?;
        } else if let Some(c) = s[at..].chars().next() {
            size = c.len_utf8();
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
        }
        at += size;
        plain = at;
    }
    out.write_all(&b[plain..])?;
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, style: &JsonStyle) -> String {
        let v = super::super::parse_one(text.as_bytes()).expect("test JSON");
        let mut out = Vec::new();
        write(&mut out, &v, style).expect("memory");
        String::from_utf8(out).expect("text").replace('\x1b', "E")
    }

    /// The expected values are those of `jq .`, `jq -S --tab .` and `jq -ac .` in jq 1.6.
    #[test]
    fn layout() {
        let text = r#"{"b":[1,{"c":[]}],"a":{},"d":"\u007f\né😀"}"#;
        let pretty = JsonStyle { indent: Indent::Spaces(2), ..COMPACT };
        assert_eq!(
            shown(text, &pretty),
            "{\n  \"b\": [\n    1,\n    {\n      \"c\": []\n    }\n  ],\n  \"a\": {},\n  \"d\": \"\\u007f\\né😀\"\n}"
        );
        let tab = JsonStyle { indent: Indent::Tab, sort_keys: true, ..COMPACT };
        assert_eq!(shown(r#"{"b":1,"a":[2]}"#, &tab), "{\n\t\"a\": [\n\t\t2\n\t],\n\t\"b\": 1\n}");
        let ascii = JsonStyle { ascii: true, ..COMPACT };
        assert_eq!(shown(r#"["é😀"]"#, &ascii), r#"["\u00e9\ud83d\ude00"]"#);
    }

    /// The expected value has the layout of colours that the tests of jq 1.8.1 expect.
    #[test]
    fn colors() {
        let style = JsonStyle { colors: Some(JsonColors::new(b"").0), ..COMPACT };
        assert_eq!(
            shown(r#"{"a":[1,null]}"#, &style),
            "E[1;39m{E[0mE[1;34m\"a\"E[0mE[1;39m:E[0mE[1;39m[E[0mE[0;39m1E[0mE[1;39m,E[0m\
             E[0;90mnullE[0mE[1;39m]E[0mE[1;39m}E[0m"
        );
    }
}
