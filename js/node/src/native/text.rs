//! Converts between bytes and strings in the encodings of Node's buffers, and parses URLs.

use super::{BufferArgument, TextArgument};
use rquickjs::function::Func;
use rquickjs::{ArrayBuffer, Ctx, Object, Result, Value};

/// Returns `buffer[start..end]` as a string.
fn decode<'js>(
    ctx: Ctx<'js>,
    buffer: Value<'js>,
    encoding: TextArgument,
    start: usize,
    end: usize,
) -> Result<Value<'js>> {
    use rquickjs::IntoJs;
    let bytes = js_engine::copy_bytes(&buffer, start, end).unwrap_or_default();
    match encoding.0.as_str() {
        "utf8" => String::from_utf8_lossy(&bytes).as_ref().into_js(&ctx),
        "latin1" => bytes.iter().map(|b| *b as char).collect::<String>().into_js(&ctx),
        "ascii" => bytes.iter().map(|b| (*b & 0x7f) as char).collect::<String>().into_js(&ctx),
        "ucs2" => {
            let units: Vec<u16> =
                bytes.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]])).collect();
            js_engine::from_utf16(&ctx, &units)
        }
        "hex" => hex(&bytes).into_js(&ctx),
        "base64" => base64(&bytes, STANDARD, true).into_js(&ctx),
        "base64url" => base64(&bytes, URL_SAFE, false).into_js(&ctx),
        _ => Err(super::throw_text(&ctx, "EINVAL")),
    }
}

/// Encodes a string as bytes.
fn encode<'js>(
    ctx: Ctx<'js>,
    text: rquickjs::String<'js>,
    encoding: TextArgument,
) -> Result<ArrayBuffer<'js>> {
    let bytes = match encoding.0.as_str() {
        "utf8" => js_engine::to_utf8(&text)?.into_bytes(),
        "latin1" => js_engine::to_utf16(&text)?.into_iter().map(|u| u as u8).collect(),
        "ucs2" => js_engine::to_utf16(&text)?.into_iter().flat_map(u16::to_le_bytes).collect(),
        "hex" => from_hex(js_engine::to_utf8(&text)?.as_bytes()),
        "base64" => from_base64(js_engine::to_utf8(&text)?.as_bytes()),
        _ => return Err(super::throw_text(&ctx, "EINVAL")),
    };
    ArrayBuffer::new(ctx, bytes)
}

fn utf8_length(text: TextArgument) -> usize {
    text.0.len()
}

fn is_utf8(bytes: BufferArgument) -> bool {
    std::str::from_utf8(&bytes.0).is_ok()
}

/// Returns the first position of `needle` at or after `from`; -1 if there is none.
fn find(bytes: BufferArgument, needle: Value<'_>, from: usize) -> f64 {
    let needle = match js_engine::all_bytes(&needle) {
        Some(needle) => needle,
        None => needle.get::<Vec<u8>>().unwrap_or_default(),
    };
    let rest = bytes.0.get(from..).unwrap_or_default();
    memchr::memmem::find(rest, &needle).map_or(-1.0, |at| (at + from) as f64)
}

/// The number of bytes that [`differences`] compares at once.
const COMPARED: usize = 1 << 16;

/// Returns the ranges in which two buffers of the same length differ: the start and the end of each,
/// one after the other.
fn differences<'js>(a: Value<'js>, b: Value<'js>) -> Vec<usize> {
    let length = js_engine::byte_length(&a).unwrap_or(0);
    let part = |value, at| js_engine::copy_bytes(value, at, at + COMPARED).unwrap_or_default();
    let mut ranges: Vec<usize> = Vec::new();
    for block in (0..length).step_by(COMPARED) {
        let (a, b) = (part(&a, block), part(&b, block));
        if a == b {
            continue;
        }
        for at in (0..a.len().min(b.len())).filter(|at| a[*at] != b[*at]) {
            let at = block + at;
            match ranges.last_mut() {
                Some(end) if *end == at => *end += 1,
                _ => ranges.extend([at, at + 1]),
            }
        }
    }
    ranges
}

/// Compares two buffers byte by byte; returns -1, 0 or 1.
fn compare(a: BufferArgument, b: BufferArgument) -> i32 {
    a.0.cmp(&b.0) as i32
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|n| DIGITS[usize::from(n)] as char).collect()
}

/// Decodes pairs of hexadecimal digits up to the first that is invalid (Node's
/// `buf.write(string, 'hex')`).
fn from_hex(text: &[u8]) -> Vec<u8> {
    let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
    text.chunks_exact(2).map_while(|c| Some(digit(c[0])? << 4 | digit(c[1])?)).collect()
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn base64(bytes: &[u8], alphabet: &[u8; 64], padded: bool) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let group = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            if i <= chunk.len() {
                out.push(alphabet[(group >> (18 - 6 * i) & 63) as usize] as char);
            } else if padded {
                out.push('=');
            }
        }
    }
    out
}

/// Decodes base64 in either alphabet. As Node documents, other characters are skipped, and `=` ends
/// the text.
fn from_base64(text: &[u8]) -> Vec<u8> {
    let (mut out, mut group, mut bits) = (Vec::with_capacity(text.len() / 4 * 3), 0u32, 0);
    for &c in text {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => continue,
        };
        group = group << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((group >> bits) as u8);
        }
    }
    out
}

/// Parses a URL, relative to `base` if that is given, and returns its parts; `None` if it is
/// invalid.
fn parse_url(text: TextArgument, base: Option<TextArgument>) -> Option<Vec<String>> {
    let base = match base {
        Some(base) => Some(url::Url::parse(&base.0).ok()?),
        None => None,
    };
    let url = url::Url::options().base_url(base.as_ref()).parse(&text.0).ok()?;
    Some(parts(&url))
}

/// Returns the whole text, then protocol, user, password, hostname, port, path, search, hash.
fn parts(url: &url::Url) -> Vec<String> {
    use url::quirks;
    [
        quirks::href(url),
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ]
    .map(str::to_string)
    .into()
}

/// Sets one part of a URL and returns all parts (URL Standard, "URL class"); `None` if the part is
/// unknown or the whole URL becomes invalid.
fn update_url(href: TextArgument, part: TextArgument, value: TextArgument) -> Option<Vec<String>> {
    use url::quirks;
    let mut url = url::Url::parse(&href.0).ok()?;
    let value = value.0.as_str();
    // A refused part leaves the URL as it is; only a whole new URL can fail.
    match part.0.as_str() {
        "href" => url = url::Url::parse(value).ok()?,
        "protocol" => drop(quirks::set_protocol(&mut url, value)),
        "username" => drop(quirks::set_username(&mut url, value)),
        "password" => drop(quirks::set_password(&mut url, value)),
        "host" => drop(quirks::set_host(&mut url, value)),
        "hostname" => drop(quirks::set_hostname(&mut url, value)),
        "port" => drop(quirks::set_port(&mut url, value)),
        "pathname" => quirks::set_pathname(&mut url, value),
        "search" => quirks::set_search(&mut url, value),
        "hash" => quirks::set_hash(&mut url, value),
        _ => return None,
    }
    Some(parts(&url))
}

/// Returns a host name or address in ASCII, as a URL contains it; empty if it is invalid.
fn domain_to_ascii(domain: TextArgument) -> String {
    url::Host::parse(&domain.0).map_or_else(|_| String::new(), |host| host.to_string())
}

fn domain_to_unicode(domain: TextArgument) -> String {
    url::quirks::domain_to_unicode(&domain.0)
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("decode", Func::from(decode))?;
    native.set("encode", Func::from(encode))?;
    native.set("utf8Length", Func::from(utf8_length))?;
    native.set("isUtf8", Func::from(is_utf8))?;
    native.set("find", Func::from(find))?;
    native.set("compare", Func::from(compare))?;
    native.set("differences", Func::from(differences))?;
    native.set("parseUrl", Func::from(parse_url))?;
    native.set("updateUrl", Func::from(update_url))?;
    native.set("domainToASCII", Func::from(domain_to_ascii))?;
    native.set("domainToUnicode", Func::from(domain_to_unicode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_both_ways() {
        // RFC 4648, section 10.
        let vectors =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (plain, coded) in vectors {
            assert_eq!(base64(plain.as_bytes(), STANDARD, true), coded);
            assert_eq!(from_base64(coded.as_bytes()), plain.as_bytes());
        }
        assert_eq!(base64(&[0xfb, 0xff], URL_SAFE, false), "-_8");
        assert_eq!(from_base64(b"-_ 8\n"), [0xfb, 0xff]);
    }

    #[test]
    fn hex_both_ways() {
        assert_eq!(hex(&[0, 0xab, 0xff]), "00abff");
        assert_eq!(from_hex(b"00ABfg12"), [0, 0xab]);
        assert_eq!(from_hex(b"abc"), [0xab]);
    }
}
