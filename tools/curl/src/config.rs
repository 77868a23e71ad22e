//! Config files (curl(1), `-K`): a line consists of an option, with or without its dashes, then
//! blanks, `=` or `:`, and a value, which is in quotes if it contains blanks.

use std::fs;

use crate::error::CurlUsageError;
use crate::options::CurlParser;

/// The maximum nesting, which ends files that name each other.
const DEEPEST: usize = 16;

/// Reads the file of `-K FILE`.
pub(crate) fn read_config(p: &mut CurlParser<'_, '_>, name: &[u8]) -> Result<(), CurlUsageError> {
    if p.depth == DEEPEST {
        return Err(p.no_file());
    }
    let text = p.read(name)?;
    p.depth += 1;
    let done = text.split(|b| *b == b'\n').try_for_each(|line| self::parse_line(p, line));
    p.depth -= 1;
    done
}

/// Reads the user's own config file, which is the first of the usual ones that exists.
pub(crate) fn default(p: &mut CurlParser<'_, '_>) -> Result<(), CurlUsageError> {
    for (variable, name) in
        [("CURL_HOME", ".curlrc"), ("XDG_CONFIG_HOME", "curlrc"), ("HOME", ".curlrc")]
    {
        let Some(folder) = p.ctx.env.get(variable.as_bytes()).filter(|f| !f.is_empty()) else {
            continue;
        };
        let file = [folder, b"/", name.as_bytes()].concat();
        if fs::metadata(p.ctx.path(&file)).is_ok_and(|m| m.is_file()) {
            return read_config(p, &file);
        }
    }
    Ok(())
}

fn parse_line(p: &mut CurlParser<'_, '_>, line: &[u8]) -> Result<(), CurlUsageError> {
    let line = line.trim_ascii();
    if line.is_empty() || line[0] == b'#' {
        return Ok(());
    }
    let end = line.iter().position(|b| b" \t=:".contains(b)).unwrap_or(line.len());
    // The short form of --next is a colon.
    let end = if line.starts_with(b"-:") { 2 } else { end };
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_ascii_start();
    let rest = rest.strip_prefix(b"=").or(rest.strip_prefix(b":")).unwrap_or(rest);
    let value = parse_value(rest.trim_ascii_start());
    let name = if name.starts_with(b"-") { name.to_vec() } else { [b"--", name].concat() };
    p.parse_parameter(&name, value.as_deref())?;
    Ok(())
}

/// Parses the value after an option; `None` if there is none.
fn parse_value(text: &[u8]) -> Option<Vec<u8>> {
    let Some(quoted) = text.strip_prefix(b"\"") else {
        let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
        return (!word.is_empty()).then(|| word.to_vec());
    };
    let mut out = Vec::new();
    let mut bytes = quoted.iter();
    while let Some(b) = bytes.next() {
        match b {
            b'"' => break,
            b'\\' => out.extend(bytes.next().map(|b| match b {
                b't' => b'\t',
                b'n' => b'\n',
                b'r' => b'\r',
                b'v' => 0x0b,
                other => *other,
            })),
            other => out.push(*other),
        }
    }
    Some(out)
}
