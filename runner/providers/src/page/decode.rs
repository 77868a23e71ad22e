//! The text of a page, by its byte order mark, its `Content-Type`, or what it says in a `meta`, in
//! this order, as the [Encoding Standard](https://encoding.spec.whatwg.org/) and HTML define.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// The number of bytes at a page's beginning in which it may name its encoding.
const HEAD: usize = 1024;

/// Returns a page as text.
pub(super) fn decode_page(bytes: &[u8], content_type: &str) -> String {
    let named = label_in(content_type).or_else(|| {
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]).to_ascii_lowercase();
        let meta = head.split("<meta").skip(1).find(|meta| meta.contains("charset"))?;
        label_in(meta.split('>').next().unwrap_or_default())
    });
    let fallback = if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 };
    named.unwrap_or(fallback).decode(bytes).0.into_owned()
}

/// Returns the encoding that follows `charset=` in a text.
fn label_in(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    let after = lower.split_once("charset")?.1.trim_start().strip_prefix('=')?.trim_start();
    let after = after.trim_start_matches(['"', '\'']);
    let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c)));
    Encoding::for_label(&after.as_bytes()[..end.unwrap_or(after.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_found_where_pages_name_them() {
        for (bytes, kind, text) in [
            (&b"caf\xc3\xa9"[..], "text/html", "café"),
            (b"caf\xe9", "text/html; charset=ISO-8859-1", "café"),
            (b"caf\xe9", "text/html", "café"),
            (b"<meta charset='shift_jis'>\x93\xfa", "text/html", "<meta charset='shift_jis'>日"),
            (
                b"<META http-equiv=x content=\"text/html; charset=windows-1251\">\xff",
                "text/html",
                "<META http-equiv=x content=\"text/html; charset=windows-1251\">я",
            ),
            (b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=latin1", "café"),
            (b"caf\xc3\xa9", "text/html; charset=nonsense", "café"),
        ] {
            assert_eq!(decode_page(bytes, kind), text, "{kind}");
        }
    }
}
