//! Character sets: names, decoding of bytes to characters, encoding of characters to bytes.
//!
//! `encoding_rs` follows the web, which takes ISO-8859-1 for windows-1252, so this module corrects
//! bytes 80 to 9F of the ISO sets.

use encoding_rs::{DecoderResult, Encoding};

/// A character set.
#[derive(Clone, Copy)]
pub(super) enum Charset {
    Utf8,
    Ascii,
    Latin1,
    /// Units of 16 bits. The flags say whether the low byte is first and whether a byte order mark
    /// overrides that.
    Utf16 {
        little: bool,
        marked: bool,
    },
    Utf32 {
        little: bool,
        marked: bool,
    },
    /// A set of `encoding_rs`. The flag says whether bytes 80 to 9F are control characters.
    Web(&'static Encoding, bool),
}

/// The names of each set, the main name first.
pub(super) const NAMES: &[&[&str]] = &[
    &["UTF-8", "UTF8"],
    &["US-ASCII", "ASCII", "ANSI_X3.4-1968", "646", "US"],
    &["UTF-16", "UTF16"],
    &["UTF-16LE", "UTF16LE"],
    &["UTF-16BE", "UTF16BE"],
    &["UCS-2", "UCS2"],
    &["UCS-2LE", "UCS2LE"],
    &["UCS-2BE", "UCS2BE"],
    &["UTF-32", "UTF32"],
    &["UTF-32LE", "UTF32LE"],
    &["UTF-32BE", "UTF32BE"],
    &["UCS-4", "UCS4"],
    &["UCS-4LE", "UCS4LE"],
    &["UCS-4BE", "UCS4BE"],
    &["ISO-8859-1", "ISO8859-1", "LATIN1", "L1"],
    &["ISO-8859-2", "ISO8859-2", "LATIN2", "L2"],
    &["ISO-8859-3", "ISO8859-3", "LATIN3", "L3"],
    &["ISO-8859-4", "ISO8859-4", "LATIN4", "L4"],
    &["ISO-8859-5", "ISO8859-5", "CYRILLIC"],
    &["ISO-8859-6", "ISO8859-6", "ARABIC"],
    &["ISO-8859-7", "ISO8859-7", "GREEK"],
    &["ISO-8859-8", "ISO8859-8", "HEBREW"],
    &["ISO-8859-9", "ISO8859-9", "LATIN5", "L5"],
    &["ISO-8859-10", "ISO8859-10", "LATIN6", "L6"],
    &["ISO-8859-13", "ISO8859-13", "LATIN7", "L7"],
    &["ISO-8859-14", "ISO8859-14", "LATIN8", "L8"],
    &["ISO-8859-15", "ISO8859-15", "LATIN9", "LATIN-9"],
    &["ISO-8859-16", "ISO8859-16", "LATIN10", "L10"],
    &["CP1250", "WINDOWS-1250", "MS-EE"],
    &["CP1251", "WINDOWS-1251", "MS-CYRL"],
    &["CP1252", "WINDOWS-1252", "MS-ANSI"],
    &["CP1253", "WINDOWS-1253", "MS-GREEK"],
    &["CP1254", "WINDOWS-1254", "MS-TURK"],
    &["CP1255", "WINDOWS-1255", "MS-HEBR"],
    &["CP1256", "WINDOWS-1256", "MS-ARAB"],
    &["CP1257", "WINDOWS-1257", "WINBALTRIM"],
    &["CP1258", "WINDOWS-1258"],
    &["CP874", "WINDOWS-874", "TIS-620", "TIS620"],
    &["IBM866", "CP866", "866"],
    &["KOI8-R"],
    &["KOI8-U"],
    &["MACINTOSH", "MAC"],
    &["SHIFT_JIS", "SHIFT-JIS", "SJIS", "MS_KANJI", "CP932", "WINDOWS-31J"],
    &["EUC-JP", "EUCJP", "UJIS"],
    &["ISO-2022-JP", "ISO2022JP"],
    &["EUC-KR", "EUCKR", "UHC", "CP949"],
    &["GB2312", "GBK", "CP936", "EUC-CN", "EUCCN"],
    &["GB18030"],
    &["BIG5", "BIG-5", "CP950", "BIG5-HKSCS"],
];

/// Returns the set with a name, whose suffixes after slashes are ignored. An empty name selects the
/// locale's set, UTF-8.
pub(super) fn find_charset(name: &str) -> Option<Charset> {
    let name = name.split('/').next().unwrap_or_default().to_ascii_uppercase();
    if name.is_empty() || name == "CHAR" {
        return Some(Charset::Utf8);
    }
    let main = NAMES.iter().find(|names| names.contains(&name.as_str()))?[0];
    let iso = main.starts_with("ISO-8859") || main == "CP874";
    Some(match main {
        "UTF-8" => Charset::Utf8,
        "US-ASCII" => Charset::Ascii,
        "ISO-8859-1" => Charset::Latin1,
        "UTF-16" => Charset::Utf16 { little: true, marked: true },
        "UTF-16LE" | "UCS-2" | "UCS-2LE" => Charset::Utf16 { little: true, marked: false },
        "UTF-16BE" | "UCS-2BE" => Charset::Utf16 { little: false, marked: false },
        "UTF-32" => Charset::Utf32 { little: true, marked: true },
        "UTF-32LE" | "UCS-4LE" => Charset::Utf32 { little: true, marked: false },
        "UTF-32BE" | "UCS-4" | "UCS-4BE" => Charset::Utf32 { little: false, marked: false },
        _ => {
            let label = match main {
                "GB2312" => "gbk".to_string(),
                other => other
                    .to_ascii_lowercase()
                    .replace("cp125", "windows-125")
                    .replace("cp874", "windows-874"),
            };
            Charset::Web(Encoding::for_label(label.as_bytes())?, iso && main != "CP874")
        }
    })
}

/// The next item of the input.
pub(super) enum DecodedChar {
    Char(char),
    Invalid,
    /// The input ends within a character.
    Incomplete,
    End,
}

/// A decoder of bytes to characters.
pub(super) struct CharDecoder<'a> {
    data: &'a [u8],
    at: usize,
    set: Charset,
    /// Characters that were decoded together with the last one returned.
    ready: std::collections::VecDeque<char>,
    web: Option<encoding_rs::Decoder>,
}

impl Charset {
    pub(super) fn decoder(self, data: &[u8]) -> CharDecoder<'_> {
        let (mut set, mut at) = (self, 0);
        // A byte order mark determines the byte order and is not part of the text.
        match self {
            Charset::Utf16 { marked: true, .. } if data.starts_with(b"\xfe\xff") => {
                (set, at) = (Charset::Utf16 { little: false, marked: true }, 2);
            }
            Charset::Utf16 { marked: true, .. } if data.starts_with(b"\xff\xfe") => at = 2,
            Charset::Utf32 { marked: true, .. } if data.starts_with(b"\0\0\xfe\xff") => {
                (set, at) = (Charset::Utf32 { little: false, marked: true }, 4);
            }
            Charset::Utf32 { marked: true, .. } if data.starts_with(b"\xff\xfe\0\0") => at = 4,
            _ => {}
        }
        let web = match set {
            Charset::Web(encoding, _) => Some(encoding.new_decoder_without_bom_handling()),
            _ => None,
        };
        CharDecoder { data, at, set, ready: std::collections::VecDeque::new(), web }
    }

    pub(super) fn encoder(self, first: bool, out: &mut Vec<u8>) -> CharEncoder {
        match self {
            Charset::Utf16 { marked: true, .. } if first => out.extend_from_slice(b"\xff\xfe"),
            Charset::Utf32 { marked: true, .. } if first => out.extend_from_slice(b"\xff\xfe\0\0"),
            _ => {}
        }
        let web = match self {
            Charset::Web(encoding, _) => Some(encoding.new_encoder()),
            _ => None,
        };
        CharEncoder { set: self, web }
    }
}

impl CharDecoder<'_> {
    /// Returns the offset of the next character.
    pub(super) fn current_offset(&self) -> usize {
        self.at
    }

    pub(super) fn next(&mut self) -> DecodedChar {
        if let Some(c) = self.ready.pop_front() {
            return DecodedChar::Char(c);
        }
        let rest = &self.data[self.at..];
        let Some(&lead) = rest.first() else { return DecodedChar::End };
        match self.set {
            Charset::Utf8 => self.decode_utf8(),
            Charset::Ascii | Charset::Latin1 => {
                self.at += 1;
                match self.set {
                    Charset::Ascii if lead >= 0x80 => DecodedChar::Invalid,
                    _ => DecodedChar::Char(char::from(lead)),
                }
            }
            Charset::Utf16 { little, .. } => self.decode_utf16(little),
            Charset::Utf32 { little, .. } => {
                let Some(bytes) = rest.first_chunk::<4>() else { return DecodedChar::Incomplete };
                self.at += 4;
                let code =
                    if little { u32::from_le_bytes(*bytes) } else { u32::from_be_bytes(*bytes) };
                char::from_u32(code).map_or(DecodedChar::Invalid, DecodedChar::Char)
            }
            Charset::Web(_, true) if (0x80..0xa0).contains(&lead) => {
                self.at += 1;
                DecodedChar::Char(char::from(lead))
            }
            Charset::Web(..) => self.by_web(),
        }
    }

    fn decode_utf8(&mut self) -> DecodedChar {
        let rest = &self.data[self.at..];
        let head = &rest[..rest.len().min(4)];
        let (valid, bad) = match std::str::from_utf8(head) {
            Ok(text) => (text, None),
            Err(e) => {
                let valid = std::str::from_utf8(&head[..e.valid_up_to()]).unwrap_or_default();
                (valid, Some(e.error_len()))
            }
        };
        match (valid.chars().next(), bad) {
            (Some(c), _) => {
                self.at += c.len_utf8();
                DecodedChar::Char(c)
            }
            (None, Some(None)) if rest.len() < 4 => DecodedChar::Incomplete,
            (None, bad) => {
                self.at += bad.flatten().unwrap_or(1);
                DecodedChar::Invalid
            }
        }
    }

    fn decode_utf16(&mut self, little: bool) -> DecodedChar {
        let unit = |at: usize| -> Option<u16> {
            let bytes = self.data.get(at..)?.first_chunk::<2>()?;
            Some(if little { u16::from_le_bytes(*bytes) } else { u16::from_be_bytes(*bytes) })
        };
        let Some(first) = unit(self.at) else { return DecodedChar::Incomplete };
        if !(0xd800..0xe000).contains(&first) {
            self.at += 2;
            return char::from_u32(first.into()).map_or(DecodedChar::Invalid, DecodedChar::Char);
        }
        let Some(second) = unit(self.at + 2) else { return DecodedChar::Incomplete };
        match char::decode_utf16([first, second]).next() {
            Some(Ok(c)) => {
                self.at += 4;
                DecodedChar::Char(c)
            }
            _ => {
                self.at += 2;
                DecodedChar::Invalid
            }
        }
    }

    /// Decodes byte by byte until a character is complete.
    fn by_web(&mut self) -> DecodedChar {
        let Some(decoder) = &mut self.web else { return DecodedChar::End };
        let start = self.at;
        let mut text = [0u8; 16];
        while self.at < self.data.len() {
            let byte = &self.data[self.at..=self.at];
            let (result, read, written) =
                decoder.decode_to_utf8_without_replacement(byte, &mut text, false);
            self.at += read;
            match result {
                DecoderResult::Malformed(..) => {
                    // A byte that was not consumed is read again.
                    self.at = self.at.max(start + 1);
                    return DecodedChar::Invalid;
                }
                _ if written > 0 => {
                    let text = std::str::from_utf8(&text[..written]).unwrap_or_default();
                    self.ready.extend(text.chars());
                    return self.ready.pop_front().map_or(DecodedChar::Invalid, DecodedChar::Char);
                }
                _ => {}
            }
        }
        let (result, _, written) = decoder.decode_to_utf8_without_replacement(b"", &mut text, true);
        self.web = None;
        match result {
            DecoderResult::Malformed(..) => DecodedChar::Incomplete,
            _ => {
                let text = std::str::from_utf8(&text[..written]).unwrap_or_default();
                self.ready.extend(text.chars());
                self.ready.pop_front().map_or(DecodedChar::End, DecodedChar::Char)
            }
        }
    }
}

/// An encoder of characters to bytes.
pub(super) struct CharEncoder {
    set: Charset,
    web: Option<encoding_rs::Encoder>,
}

impl CharEncoder {
    /// Writes a character; returns false if the set does not have it.
    pub(super) fn put(&mut self, c: char, out: &mut Vec<u8>) -> bool {
        let code = u32::from(c);
        match self.set {
            Charset::Utf8 => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            Charset::Ascii if code < 0x80 => out.push(code as u8),
            Charset::Latin1 if code < 0x100 => out.push(code as u8),
            Charset::Ascii | Charset::Latin1 => return false,
            Charset::Utf16 { little, .. } => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.extend(if little { unit.to_le_bytes() } else { unit.to_be_bytes() });
                }
            }
            Charset::Utf32 { little, .. } => {
                out.extend(if little { code.to_le_bytes() } else { code.to_be_bytes() });
            }
            Charset::Web(_, true) if (0x80..0xa0).contains(&code) => out.push(code as u8),
            Charset::Web(_, iso) => {
                let Some(encoder) = &mut self.web else { return false };
                let mut bytes = [0u8; 16];
                let mut utf8 = [0; 4];
                let text = &*c.encode_utf8(&mut utf8);
                let (result, _, n) =
                    encoder.encode_from_utf8_without_replacement(text, &mut bytes, false);
                let control = iso && n == 1 && (0x80..0xa0).contains(&bytes[0]);
                if control {
                    return false;
                }
                if matches!(result, encoding_rs::EncoderResult::Unmappable(_)) {
                    // The way back to ASCII, which ISO-2022-JP takes then.
                    out.extend_from_slice(&bytes[..n]);
                    return false;
                }
                out.extend_from_slice(&bytes[..n]);
            }
        }
        true
    }

    /// Writes the sequence that returns to the initial state (ISO-2022-JP).
    pub(super) fn end_encoding(&mut self, out: &mut Vec<u8>) {
        if let Some(encoder) = &mut self.web {
            let mut bytes = [0u8; 16];
            let (_, _, n) = encoder.encode_from_utf8_without_replacement("", &mut bytes, true);
            out.extend_from_slice(&bytes[..n]);
        }
        self.web = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known() {
        for name in NAMES.iter().flat_map(|n| n.iter()) {
            assert!(find_charset(name).is_some(), "{name}");
        }
    }
}
