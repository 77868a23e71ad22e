//! `-F`: forms as multipart/form-data (RFC 7578), quoted as curl and browsers do.

use std::fs;

use box_applet::Ctx;

use crate::data::{BodyPiece, RequestBody};
use crate::error::{CurlError, CurlUsageError};
use crate::options::CurlParser;

/// One `-F`, with its meaning resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FormField {
    name: Vec<u8>,
    content: FormContent,
    kind: Option<Vec<u8>>,
    file_name: Option<Vec<u8>>,
    headers: Vec<Vec<u8>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum FormContent {
    Bytes(Vec<u8>),
    /// The name of a file that is opened when the request is made.
    File(Vec<u8>),
}

/// Parses `--form-string NAME=TEXT`.
pub(crate) fn literal_field(value: &[u8]) -> Option<FormField> {
    let at = value.iter().position(|b| *b == b'=')?;
    let content = FormContent::Bytes(value[at + 1..].to_vec());
    let name = value[..at].to_vec();
    Some(FormField { name, content, kind: None, file_name: None, headers: Vec::new() })
}

/// Parses `-F NAME=TEXT`, `NAME=@FILE`, `NAME=<FILE`, with `;type=`, `;filename=`, `;headers=`.
pub(crate) fn parse_field(
    p: &mut CurlParser<'_, '_>,
    value: &[u8],
) -> Result<FormField, CurlUsageError> {
    let at = value.iter().position(|b| *b == b'=').ok_or_else(|| p.bad_parameter())?;
    let (name, rest) = (value[..at].to_vec(), &value[at + 1..]);
    let (sign, rest) = match rest.split_first() {
        Some((b'@' | b'<', rest)) => (value[at + 1], rest),
        _ => (b'=', rest),
    };
    let (main, mut rest) = parse_word(rest, false);
    let content = match sign {
        b'=' => FormContent::Bytes(main.clone()),
        b'<' => FormContent::Bytes(p.read(&main)?),
        _ if main == b"-" => FormContent::Bytes(p.read(&main)?),
        _ => FormContent::File(main.clone()),
    };
    let file_name = (sign == b'@').then(|| base_name(&main).to_vec());
    let mut field = FormField { name, content, kind: None, file_name, headers: Vec::new() };
    while let Some(parameter) = rest.strip_prefix(b";") {
        let parameter = parameter.trim_ascii_start();
        let end = parameter.iter().position(|b| b"=;".contains(b)).unwrap_or(parameter.len());
        let (name, value) = parameter.split_at(end);
        let value = value.strip_prefix(b"=").unwrap_or(value);
        let (text, behind) = parse_word(value, name == b"type");
        match name {
            b"type" => field.kind = Some(text),
            b"filename" => field.file_name = Some(text),
            b"headers" => field.headers.push(text),
            // curl only warns of these.
            _ => p.print_warning(&[b"skip unknown form field: ", name].concat()),
        }
        rest = behind;
    }
    Ok(field)
}

/// Parses a word up to `;`, or in quotes with `\` before `"` and `\`. A media type has parameters
/// of its own, so in a type a `;` ends the word only before a parameter of `-F`.
fn parse_word(text: &[u8], is_type: bool) -> (Vec<u8>, &[u8]) {
    if let Some(found) = text.strip_prefix(b"\"").and_then(quoted_word) {
        return found;
    }
    let ends = |at: &usize| !is_type || begins_parameter(&text[at + 1..]);
    let semicolons = text.iter().enumerate().filter(|(_, b)| **b == b';').map(|(at, _)| at);
    let end = semicolons.into_iter().find(ends).unwrap_or(text.len());
    (text[..end].to_vec(), &text[end..])
}

/// Parses a word in quotes; `None` if the second quote is missing.
fn quoted_word(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (mut out, mut at) = (Vec::new(), 0);
    loop {
        match (text.get(at)?, text.get(at + 1)) {
            (b'"', _) => return Some((out, text[at + 1..].trim_ascii_start())),
            (b'\\', Some(next @ (b'"' | b'\\'))) => {
                out.push(*next);
                at += 2;
            }
            (b, _) => {
                out.push(*b);
                at += 1;
            }
        }
    }
}

fn begins_parameter(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    [&b"type="[..], b"filename=", b"headers="].iter().any(|p| text.starts_with(p))
}

fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|b| *b == b'/').next().unwrap_or(path)
}

/// Returns the media type that curl assumes for the file name's extension.
fn type_of(name: &[u8]) -> &'static [u8] {
    let lower = name.to_ascii_lowercase();
    let known: [(&str, &[u8]); 10] = [
        (".gif", b"image/gif"),
        (".jpg", b"image/jpeg"),
        (".jpeg", b"image/jpeg"),
        (".png", b"image/png"),
        (".svg", b"image/svg+xml"),
        (".txt", b"text/plain"),
        (".htm", b"text/html"),
        (".html", b"text/html"),
        (".pdf", b"application/pdf"),
        (".xml", b"application/xml"),
    ];
    let found = known.iter().find(|(end, _)| lower.ends_with(end.as_bytes()));
    found.map_or(b"application/octet-stream", |(_, kind)| kind)
}

fn quote_name(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for b in text {
        match b {
            b'"' => out.extend(b"%22"),
            b'\r' => out.extend(b"%0D"),
            b'\n' => out.extend(b"%0A"),
            other => out.push(*other),
        }
    }
    out.push(b'"');
    out
}

/// Returns the body of a form; its files must exist.
pub(crate) fn form_body(
    ctx: &Ctx<'_>,
    fields: &[FormField],
    boundary: &str,
) -> Result<RequestBody, CurlError> {
    let mut pieces = Vec::new();
    for field in fields {
        let mut head =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=").into_bytes();
        head.extend(quote_name(&field.name));
        if let Some(name) = &field.file_name {
            head.extend(b"; filename=");
            head.extend(quote_name(name));
        }
        head.extend(b"\r\n");
        let by_name = field.file_name.as_ref().map(|name| type_of(name).to_vec());
        if let Some(kind) = field.kind.clone().or(by_name) {
            head.extend([b"Content-Type: ", kind.as_slice(), b"\r\n"].concat());
        }
        for line in &field.headers {
            head.extend([line, &b"\r\n"[..]].concat());
        }
        head.extend(b"\r\n");
        pieces.push(BodyPiece::Bytes(head));
        pieces.push(content_piece(ctx, &field.content)?);
        pieces.push(BodyPiece::Bytes(b"\r\n".to_vec()));
    }
    pieces.push(BodyPiece::Bytes(format!("--{boundary}--\r\n").into_bytes()));
    Ok(RequestBody::Pieces(pieces))
}

fn content_piece(ctx: &Ctx<'_>, content: &FormContent) -> Result<BodyPiece, CurlError> {
    let name = match content {
        FormContent::Bytes(bytes) => return Ok(BodyPiece::Bytes(bytes.clone())),
        FormContent::File(name) => name,
    };
    let path = ctx.path(name);
    let data = fs::metadata(&path).map_err(|_| CurlError::Read)?;
    if data.is_file() {
        return Ok(BodyPiece::File(path, data.len()));
    }
    // The length of a pipe is unknown, so all of it is read.
    fs::read(&path).map(BodyPiece::Bytes).map_err(|_| CurlError::Read)
}
