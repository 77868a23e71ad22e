//! Functions that jaq lacks, and the data that running filters see.

use std::cell::RefCell;

use bytes::Bytes;
use jaq_core::native::{Fun, bome, run, unary, v};
use jaq_core::{DataT, Error, Exn, Lut, data};
use jaq_json::{Num, Val};
use jaq_std::input::{HasInputs, Inputs};

/// The kind of data that our filters run over.
pub struct Kind;

impl DataT for Kind {
    type V<'a> = Val;
    type Data<'a> = &'a Data<'a>;
}

/// What filters see beside their input.
pub struct Data<'a> {
    pub lut: &'a Lut<Kind>,
    pub inputs: Inputs<'a, Val>,
    /// Name of the file that the last input came from.
    pub filename: &'a RefCell<Val>,
    /// Messages of `debug`, `stderr` and `input_line_number`'s like, in order.
    pub stderr: &'a RefCell<Vec<u8>>,
}

impl<'a> data::HasLut<'a, Kind> for &'a Data<'a> {
    fn lut(&self) -> &'a Lut<Kind> {
        self.lut
    }
}

impl<'a> HasInputs<'a, Val> for &'a Data<'a> {
    fn inputs(&self) -> Inputs<'a, Val> {
        self.inputs
    }
}

/// All native functions, ours last so that they win.
pub fn all() -> impl Iterator<Item = Fun<Kind>> {
    let inputs = jaq_std::input::funs::<Kind>().into_vec().into_iter().map(run::<Kind>);
    jaq_core::funs::<Kind>()
        .chain(jaq_std::funs::<Kind>())
        .chain(jaq_json::funs::<Kind>())
        .chain(inputs)
        .chain(ours())
}

fn ours() -> impl Iterator<Item = Fun<Kind>> {
    let list: Vec<jaq_core::native::Filter<jaq_core::RunPtr<Kind>>> = vec![
        ("input_filename", v(0), |cv| bome(Ok(cv.0.data().filename.borrow().clone()))),
        ("debug_empty", v(0), |cv| {
            let text = [&b"[\"DEBUG:\","[..], &crate::output::compact(&cv.1), b"]\n"].concat();
            cv.0.data().stderr.borrow_mut().extend_from_slice(&text);
            Box::new(std::iter::empty())
        }),
        ("stderr_empty", v(0), |cv| {
            let text = match &cv.1 {
                Val::TStr(s) => s.to_vec(),
                other => crate::output::compact(other),
            };
            cv.0.data().stderr.borrow_mut().extend_from_slice(&text);
            Box::new(std::iter::empty())
        }),
        ("tojson", v(0), |cv| bome(Ok(Val::utf8_str(crate::output::compact(&cv.1))))),
        ("tostring", v(0), |cv| {
            bome(Ok(match cv.1 {
                s @ Val::TStr(_) => s,
                other => Val::utf8_str(crate::output::compact(&other)),
            }))
        }),
        ("tonumber", v(0), |cv| bome(to_number(cv.1))),
        ("utf8bytelength", v(0), |cv| {
            bome(match &cv.1 {
                Val::TStr(s) | Val::BStr(s) => Ok(Val::from(s.len())),
                other => Err(describe(other, "only strings have UTF-8 byte length")),
            })
        }),
        ("getpath", v(1), |cv| unary(cv, get_path)),
        ("halt_error", v(1), |mut cv| {
            let code = cv.0.pop_var();
            let text = match &cv.1 {
                Val::TStr(s) => s.to_vec(),
                other => [&crate::output::compact(other)[..], b"\n"].concat(),
            };
            cv.0.data().stderr.borrow_mut().extend_from_slice(&text);
            let code = match code {
                Val::Num(Num::Int(i)) => i32::try_from(i).unwrap_or(5),
                _ => 5,
            };
            Box::new(std::iter::once(Err(Exn::halt(code))))
        }),
        ("@base32", v(0), |cv| bome(base32(&cv.1))),
        ("@base32d", v(0), |cv| bome(base32_decode(&cv.1))),
        ("@csv", v(0), |cv| {
            bome(row(&cv.1, b",", "csv", |s| [&b"\""[..], &double_quotes(s), b"\""].concat()))
        }),
        ("@tsv", v(0), |cv| {
            bome(row(&cv.1, b"\t", "tsv", |s| {
                let mut out = Vec::with_capacity(s.len());
                for &c in s {
                    match c {
                        b'\t' => out.extend_from_slice(b"\\t"),
                        b'\n' => out.extend_from_slice(b"\\n"),
                        b'\r' => out.extend_from_slice(b"\\r"),
                        b'\\' => out.extend_from_slice(b"\\\\"),
                        c => out.push(c),
                    }
                }
                out
            }))
        }),
    ];
    list.into_iter().map(run::<Kind>)
}

/// `VALUE (TYPE) MESSAGE` with long values cut, as jq words its errors.
pub fn describe(v: &Val, message: &str) -> Error<Val> {
    Error::new(Val::utf8_str(format!("{} {message}", named(v))))
}

/// `TYPE (VALUE)` with long values cut.
pub fn named(v: &Val) -> String {
    const LONGEST: usize = 11;
    let text = String::from_utf8_lossy(&crate::output::compact(v)).into_owned();
    let shown = if text.len() > LONGEST {
        let mut end = LONGEST - 1;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        format!("{}...", &text[..end])
    } else {
        text
    };
    format!("{} ({shown})", type_name(v))
}

/// The type's name as `type` gives it.
pub fn type_name(v: &Val) -> &'static str {
    match v {
        Val::Null => "null",
        Val::Bool(_) => "boolean",
        Val::Num(_) => "number",
        Val::TStr(_) | Val::BStr(_) => "string",
        Val::Arr(_) => "array",
        Val::Obj(_) => "object",
    }
}

fn to_number(v: Val) -> Result<Val, Error<Val>> {
    match v {
        Val::Num(_) => Ok(v),
        Val::TStr(ref s) => {
            let text = s.as_ref();
            let plain =
                text.first().is_some_and(|c| c.is_ascii_digit() || matches!(c, b'-' | b'.'));
            let parsed = plain.then(|| jaq_json::read::parse_single(text).ok()).flatten();
            match parsed {
                Some(n @ Val::Num(_)) => Ok(n),
                _ => Err(describe(&v, "cannot be parsed as a number")),
            }
        }
        other => Err(describe(&other, "cannot be parsed as a number")),
    }
}

/// `getpath`: null below null.
fn get_path(mut v: Val, path: Val) -> Result<Val, Error<Val>> {
    let Val::Arr(path) = path else {
        return Err(Error::new(Val::utf8_str("Path must be specified as an array")));
    };
    for key in path.iter() {
        if matches!(v, Val::Null) {
            return Ok(Val::Null);
        }
        v = jaq_core::ValT::index(v, key)?;
    }
    Ok(v)
}

fn double_quotes(s: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(s.len());
    for &c in s {
        if c == b'"' {
            out.push(c);
        }
        out.push(c);
    }
    out
}

fn row(
    v: &Val,
    separator: &[u8],
    name: &str,
    quote: impl Fn(&[u8]) -> Vec<u8>,
) -> Result<Val, Error<Val>> {
    let Val::Arr(items) = v else {
        return Err(describe(v, &format!("cannot be {name}-formatted, only an array can be")));
    };
    let mut out = Vec::new();
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.extend_from_slice(separator);
        }
        match item {
            Val::Null => {}
            Val::Bool(_) | Val::Num(_) => out.extend_from_slice(&crate::output::compact(item)),
            Val::TStr(s) | Val::BStr(s) => out.extend_from_slice(&quote(s)),
            other => return Err(describe(other, &format!("is not valid in a {name} row"))),
        }
    }
    Ok(Val::utf8_str(out))
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The text of a value: a string itself, anything else as JSON.
fn text(v: &Val) -> Vec<u8> {
    match v {
        Val::TStr(s) | Val::BStr(s) => s.to_vec(),
        other => crate::output::compact(other),
    }
}

fn base32(v: &Val) -> Result<Val, Error<Val>> {
    let mut out = Vec::new();
    for chunk in text(v).chunks(5) {
        let mut block = [0u8; 8];
        block[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(block);
        let used = (chunk.len() * 8).div_ceil(5);
        for i in 0..8 {
            let digit = (bits >> (35 - 5 * i) & 31) as usize;
            out.push(if i < used { BASE32[digit] } else { b'=' });
        }
    }
    Ok(Val::utf8_str(out))
}

fn base32_decode(v: &Val) -> Result<Val, Error<Val>> {
    let data = text(v);
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for &c in data.iter().take_while(|c| **c != b'=') {
        let Some(digit) = BASE32.iter().position(|b| *b == c) else {
            return Err(describe(v, "is not valid base32 data"));
        };
        bits = (bits << 5 | digit as u32) & 0xfff;
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xff) as u8);
        }
    }
    Ok(Val::utf8_str(Bytes::from(String::from_utf8_lossy(&out).into_owned())))
}
