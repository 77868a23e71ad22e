//! Decoders of the Encoding Standard for `TextDecoder`, by encoding_rs. Node's library itself
//! decodes UTF-8 and encodings of one byte.

use super::{BufferArgument, TextArgument};
use encoding_rs::{Decoder, DecoderResult, Encoding};
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};
use std::cell::RefCell;

/// A decoder, and the options with which another one replaces it after the end of a stream.
struct TextStream {
    encoding: &'static Encoding,
    is_fatal: bool,
    keeps_bom: bool,
    decoder: Decoder,
}

thread_local! {
    /// The decoders in use, by number.
    static STREAMS: RefCell<Vec<Option<TextStream>>> = const { RefCell::new(Vec::new()) };
}

fn fresh_decoder(encoding: &'static Encoding, keeps_bom: bool) -> Decoder {
    if keeps_bom {
        encoding.new_decoder_without_bom_handling()
    } else {
        encoding.new_decoder_with_bom_removal()
    }
}

/// Makes a decoder, and returns its number; `None` if there is no such encoding.
fn open_decoder(label: TextArgument, is_fatal: bool, keeps_bom: bool) -> Option<usize> {
    let encoding = Encoding::for_label(label.0.as_bytes())?;
    let decoder = fresh_decoder(encoding, keeps_bom);
    let stream = TextStream { encoding, is_fatal, keeps_bom, decoder };
    Some(STREAMS.with_borrow_mut(|streams| {
        let free = streams.iter().position(Option::is_none).unwrap_or(streams.len());
        if free == streams.len() {
            streams.push(None);
        }
        streams[free] = Some(stream);
        free
    }))
}

/// Decodes bytes. `is_last` ends the stream. Returns nothing if the decoder is fatal and the bytes
/// are malformed.
fn decode_text(
    ctx: Ctx<'_>,
    number: usize,
    bytes: BufferArgument,
    is_last: bool,
) -> Result<Option<String>> {
    STREAMS.with_borrow_mut(|streams| {
        let Some(stream) = streams.get_mut(number).and_then(Option::as_mut) else {
            return Err(super::throw_text(&ctx, "EINVAL"));
        };
        let text = stream.decode(&bytes.0, is_last);
        if is_last || text.is_none() {
            stream.decoder = fresh_decoder(stream.encoding, stream.keeps_bom);
        }
        Ok(text)
    })
}

impl TextStream {
    fn decode(&mut self, bytes: &[u8], is_last: bool) -> Option<String> {
        let length = self.decoder.max_utf8_buffer_length(bytes.len())?;
        let mut text = String::with_capacity(length);
        if self.is_fatal {
            let (result, _) =
                self.decoder.decode_to_string_without_replacement(bytes, &mut text, is_last);
            // The text has room for the longest result, so its end is never reached.
            return (result == DecoderResult::InputEmpty).then_some(text);
        }
        let _ = self.decoder.decode_to_string(bytes, &mut text, is_last);
        Some(text)
    }
}

/// Frees a decoder.
fn close_decoder(number: usize) {
    STREAMS.with_borrow_mut(|streams| {
        if let Some(stream) = streams.get_mut(number) {
            *stream = None;
        }
    });
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("openDecoder", Func::from(open_decoder))?;
    native.set("decodeText", Func::from(decode_text))?;
    native.set("closeDecoder", Func::from(close_decoder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(label: &str, is_fatal: bool) -> TextStream {
        let encoding = Encoding::for_label(label.as_bytes()).unwrap();
        TextStream { encoding, is_fatal, keeps_bom: false, decoder: fresh_decoder(encoding, false) }
    }

    #[test]
    fn characters_are_split_between_chunks() {
        // The Encoding Standard's index jis0208 has あ at 0x82A0 of Shift_JIS.
        let mut shift_jis = stream("shift_jis", true);
        assert_eq!(shift_jis.decode(&[0x82], false).as_deref(), Some(""));
        assert_eq!(shift_jis.decode(&[0xa0], true).as_deref(), Some("あ"));
    }

    #[test]
    fn malformed_bytes_are_replaced_or_refused() {
        assert_eq!(stream("big5", false).decode(&[0xff, b'a'], true).as_deref(), Some("\u{fffd}a"));
        assert_eq!(stream("big5", true).decode(&[0xff, b'a'], true), None);
        assert_eq!(stream("utf-16le", true).decode(&[0x00], true), None);
    }
}
