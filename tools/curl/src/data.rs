//! Request bodies: making those of `-d` and similar options, and sending any body in parts.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use box_applet::Ctx;
use box_sys::http::PART;

use crate::error::{CurlError, CurlUsageError};
use crate::options::CurlParser;
use crate::url::percent_encode;

/// Removes line ends, as `-d @FILE` does.
pub(crate) fn without_line_ends(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.retain(|b| !b"\r\n\0".contains(b));
    bytes
}

/// Encodes `--data-urlencode`: `CONTENT`, `=CONTENT`, `NAME=CONTENT`, `@FILE`, `NAME@FILE`.
pub(crate) fn urlencode_data(
    p: &mut CurlParser<'_, '_>,
    value: &[u8],
) -> Result<Vec<u8>, CurlUsageError> {
    let at = value.iter().position(|b| *b == b'=');
    let at = at.or_else(|| value.iter().position(|b| *b == b'@'));
    let (name, content) = match at {
        None => (&b""[..], value.to_vec()),
        Some(at) if value[at] == b'=' => (&value[..at], value[at + 1..].to_vec()),
        Some(at) => (&value[..at], p.read(&value[at + 1..])?),
    };
    let mut out = name.to_vec();
    if !name.is_empty() {
        out.push(b'=');
    }
    // A blank is encoded as a plus sign, as in forms.
    let words: Vec<Vec<u8>> = content.split(|b| *b == b' ').map(percent_encode).collect();
    out.extend(words.join(&b'+'));
    Ok(out)
}

/// A piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyPiece {
    Bytes(Vec<u8>),
    File(PathBuf, u64),
}

/// A body. All but standard input and pipes can be sent again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum RequestBody {
    #[default]
    None,
    Pieces(Vec<BodyPiece>),
    /// A file whose length is unknown until its end.
    Stream(PathBuf),
    Stdin,
}

impl RequestBody {
    /// Returns the file of `-T`.
    pub(crate) fn from_file(ctx: &Ctx<'_>, name: &[u8]) -> Result<RequestBody, CurlUsageError> {
        if name == b"-" || name == b"." {
            return Ok(RequestBody::Stdin);
        }
        let path = ctx.path(name);
        let missing = || CurlUsageError::Upload(String::from_utf8_lossy(name).into_owned());
        let file = File::open(&path).map_err(|_| missing())?;
        match file.metadata() {
            Ok(m) if m.is_file() => Ok(RequestBody::Pieces(vec![BodyPiece::File(path, m.len())])),
            Ok(m) if m.is_dir() => Err(missing()),
            _ => Ok(RequestBody::Stream(path)),
        }
    }

    /// Returns the length, if it is known; `Some(0)` if there is no body.
    pub(crate) fn len(&self) -> Option<u64> {
        match self {
            RequestBody::None => Some(0),
            RequestBody::Pieces(all) => Some(all.iter().map(BodyPiece::len).sum()),
            RequestBody::Stream(_) | RequestBody::Stdin => None,
        }
    }

    pub(crate) fn can_be_repeated(&self) -> bool {
        !matches!(self, RequestBody::Stream(_) | RequestBody::Stdin)
    }

    /// Passes the whole body to `part`, at most [`PART`] bytes at a time.
    pub(crate) fn send_parts(
        &self,
        ctx: &mut Ctx<'_>,
        part: &mut dyn FnMut(Vec<u8>) -> Result<(), CurlError>,
    ) -> Result<(), CurlError> {
        let open = |path: &PathBuf| File::open(path).map_err(|_| CurlError::Read);
        match self {
            RequestBody::None => Ok(()),
            RequestBody::Stdin => copy_parts(&mut ctx.stdin, u64::MAX, part).map(drop),
            RequestBody::Stream(path) => copy_parts(&mut open(path)?, u64::MAX, part).map(drop),
            RequestBody::Pieces(all) => all.iter().try_for_each(|piece| match piece {
                BodyPiece::Bytes(bytes) => bytes.chunks(PART).try_for_each(|b| part(b.to_vec())),
                BodyPiece::File(path, len) => match copy_parts(&mut open(path)?, *len, part)? {
                    n if n == *len => Ok(()),
                    // The file has become shorter.
                    _ => Err(CurlError::Read),
                },
            }),
        }
    }
}

impl BodyPiece {
    fn len(&self) -> u64 {
        match self {
            BodyPiece::Bytes(bytes) => bytes.len() as u64,
            BodyPiece::File(_, len) => *len,
        }
    }
}

fn copy_parts(
    from: &mut dyn Read,
    most: u64,
    part: &mut dyn FnMut(Vec<u8>) -> Result<(), CurlError>,
) -> Result<u64, CurlError> {
    let mut sent = 0;
    while sent < most {
        let mut buf = vec![0; PART.min(usize::try_from(most - sent).unwrap_or(PART))];
        let n = match from.read(&mut buf) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(_) => return Err(CurlError::Read),
        };
        buf.truncate(n);
        sent += n as u64;
        part(buf)?;
    }
    Ok(sent)
}
