//! Deflate, Brotli and Zstandard, for `zlib`. Each stream has a state of its own.

mod brotli;
mod zstd;

use super::throw_text;
use brotli::Brotli;
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use rquickjs::function::Func;
use rquickjs::{Ctx, Function, Object, Result, Value};
use std::cell::RefCell;
use zstd::Zstd;

/// A stream of zlib.
enum ZlibStream {
    Deflate(Compress),
    Inflate(Decompress),
}

/// The result of one step.
struct ZlibStep {
    /// The number of bytes of input that were used.
    read: usize,
    /// The number of bytes of output.
    wrote: usize,
    /// 0: continue; 1: end of the stream; 2: no progress (Zstandard: nothing more to write); 3: a
    /// dictionary is needed; 4: damaged; [`zstd::ERRORS`] and above: an error of the library.
    state: usize,
}

impl ZlibStream {
    /// Creates a stream. `wrap` is `raw`, `zlib` or `gzip`; other values return `None`. A negative
    /// `level` is the default.
    fn new(deflate: bool, wrap: &str, level: i32, bits: u8) -> Option<ZlibStream> {
        let level = match u32::try_from(level) {
            Ok(level) => Compression::new(level.min(9)),
            Err(_) => Compression::default(),
        };
        // flate2 refuses windows smaller than 2^9; zlib itself raises them to 2^9.
        let bits = bits.clamp(9, 15);
        Some(match (deflate, wrap) {
            (true, "raw") => {
                ZlibStream::Deflate(Compress::new_with_window_bits(level, false, bits))
            }
            (true, "zlib") => {
                ZlibStream::Deflate(Compress::new_with_window_bits(level, true, bits))
            }
            (true, "gzip") => ZlibStream::Deflate(Compress::new_gzip(level, bits)),
            (false, "raw") => ZlibStream::Inflate(Decompress::new_with_window_bits(false, bits)),
            (false, "zlib") => ZlibStream::Inflate(Decompress::new_with_window_bits(true, bits)),
            (false, "gzip") => ZlibStream::Inflate(Decompress::new_gzip(bits)),
            _ => return None,
        })
    }

    fn step(&mut self, input: &[u8], out: &mut [u8], flush: u8) -> ZlibStep {
        let totals = |s: &ZlibStream| match s {
            ZlibStream::Deflate(c) => (c.total_in(), c.total_out()),
            ZlibStream::Inflate(d) => (d.total_in(), d.total_out()),
        };
        let before = totals(self);
        let status = match self {
            ZlibStream::Deflate(c) => {
                let flush = match flush {
                    1 => FlushCompress::Partial,
                    2 => FlushCompress::Sync,
                    3 => FlushCompress::Full,
                    4 => FlushCompress::Finish,
                    _ => FlushCompress::None,
                };
                c.compress(input, out, flush).map_err(|_| 4)
            }
            ZlibStream::Inflate(d) => {
                let flush =
                    if flush == 4 { FlushDecompress::Finish } else { FlushDecompress::None };
                let done = d.decompress(input, out, flush);
                done.map_err(|e| if e.needs_dictionary().is_some() { 3 } else { 4 })
            }
        };
        let after = totals(self);
        let state = match status {
            Ok(Status::Ok) => 0,
            Ok(Status::StreamEnd) => 1,
            Ok(Status::BufError) => 2,
            Err(state) => state,
        };
        ZlibStep {
            read: (after.0 - before.0) as usize,
            wrote: (after.1 - before.1) as usize,
            state,
        }
    }

    fn set_dictionary(&mut self, dictionary: &[u8]) -> bool {
        match self {
            ZlibStream::Deflate(c) => c.set_dictionary(dictionary).is_ok(),
            ZlibStream::Inflate(d) => d.set_dictionary(dictionary).is_ok(),
        }
    }
}

/// The arguments of a stream's function: the input and its range, the output and its range, and
/// the flush mode. A range is a start and a length.
type Given<'js> = (Value<'js>, Vec<usize>, Value<'js>, Vec<usize>, u8);

/// Runs one step of a stream with copies of its buffers. Returns the fields of [`ZlibStep`].
fn stepped(
    (input, range, out, place, flush): Given<'_>,
    step: impl FnOnce(&[u8], &mut [u8], u8) -> ZlibStep,
) -> Vec<usize> {
    let (&[at, length], &[out_at, room]) = (&range[..], &place[..]) else { return Vec::new() };
    let input = js_engine::copy_bytes(&input, at, at.saturating_add(length)).unwrap_or_default();
    let mut piece = vec![0; room.min(js_engine::byte_length(&out).unwrap_or(0))];
    let step = step(&input, &mut piece, flush);
    js_engine::write(&out, out_at, &piece[..step.wrote]);
    vec![step.read, step.wrote, step.state]
}

/// Returns a stream of Brotli. A negative quality makes one that decompresses; `window` is the
/// binary logarithm of the window's size.
fn brotli_stream(ctx: Ctx<'_>, quality: i32, window: u32) -> Result<Function<'_>> {
    let stream = u32::try_from(quality);
    let stream = stream.map_or_else(|_| Brotli::decompress(), |q| Brotli::compress(q, window));
    let stream = RefCell::new(stream);
    Function::new(ctx, move |input, range, out, place, flush| {
        stepped((input, range, out, place, flush), |i, o, f| stream.borrow_mut().step(i, o, f))
    })
}

/// Returns a stream of Zstandard, or nothing if a parameter is refused.
fn zstd_stream<'js>(
    ctx: Ctx<'js>,
    compress: bool,
    parameters: Vec<i32>,
    pledged: Option<f64>,
    dictionary: super::BufferArgument,
) -> Result<Option<Function<'js>>> {
    let pledged = pledged.map(|n| n as u64);
    let Some(stream) = Zstd::new(compress, &parameters, pledged, &dictionary.0) else {
        return Ok(None);
    };
    let stream = RefCell::new(stream);
    let made = Function::new(ctx, move |input, range, out, place, flush| {
        stepped((input, range, out, place, flush), |i, o, f| stream.borrow_mut().step(i, o, f))
    });
    made.map(Some)
}

/// Returns a stream of zlib as a function with the arguments [`Given`], which returns the fields of
/// [`ZlibStep`]. With the flush mode 255 the input is the dictionary; the function then returns
/// whether it was accepted.
fn deflate_stream<'js>(
    ctx: Ctx<'js>,
    deflate: bool,
    wrap: String,
    level: i32,
    bits: u8,
) -> Result<Function<'js>> {
    let stream =
        ZlibStream::new(deflate, &wrap, level, bits).ok_or_else(|| throw_text(&ctx, "EINVAL"))?;
    let stream = RefCell::new(stream);
    Function::new(
        ctx,
        move |input: Value<'js>,
              range: Vec<usize>,
              out: Value<'js>,
              place: Vec<usize>,
              flush: u8|
              -> Vec<usize> {
            let [at, length, out_at, room] = [&range, &range, &place, &place]
                .into_iter()
                .zip([0, 1, 0, 1])
                .map(|(v, i)| v.get(i).copied().unwrap_or(0))
                .collect::<Vec<_>>()[..]
            else {
                return Vec::new();
            };
            let input =
                js_engine::copy_bytes(&input, at, at.saturating_add(length)).unwrap_or_default();
            if flush == u8::MAX {
                return vec![usize::from(stream.borrow_mut().set_dictionary(&input))];
            }
            let mut piece = vec![0; room.min(js_engine::byte_length(&out).unwrap_or(0))];
            let step = stream.borrow_mut().step(&input, &mut piece, flush);
            js_engine::write(&out, out_at, &piece[..step.wrote]);
            vec![step.read, step.wrote, step.state]
        },
    )
}

fn crc32(data: super::BufferArgument, seed: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(seed);
    hasher.update(&data.0);
    hasher.finalize()
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("deflateStream", Func::from(deflate_stream))?;
    native.set("brotliStream", Func::from(brotli_stream))?;
    native.set("zstdStream", Func::from(zstd_stream))?;
    native.set("crc32", Func::from(crc32))
}
