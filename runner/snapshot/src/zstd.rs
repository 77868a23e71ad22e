//! Zstandard: the C library where it is available, and an implementation in Rust in browsers.

/// Level 1 is the fastest level that still halves text; docs/decisions.md has the figures.
#[cfg(not(target_family = "wasm"))]
const LEVEL: i32 = 1;

/// A pool of idle contexts, at most one for each core. Creating a context takes longer than
/// compressing most objects. A context per thread would save that time as well, but each takes half
/// a megabyte, and a server has many threads.
#[cfg(not(target_family = "wasm"))]
struct ContextPool<T>(std::sync::Mutex<Vec<T>>);

#[cfg(not(target_family = "wasm"))]
impl<T> ContextPool<T> {
    const fn new() -> ContextPool<T> {
        ContextPool(std::sync::Mutex::new(Vec::new()))
    }

    /// Runs `act` with a context of the pool, or with a new one.
    fn with_context<R>(
        &self,
        new: impl FnOnce() -> Option<T>,
        act: impl FnOnce(&mut T) -> Option<R>,
    ) -> Option<R> {
        static CORES: std::sync::LazyLock<usize> = std::sync::LazyLock::new(|| {
            std::thread::available_parallelism().map_or(1, usize::from)
        });
        let idle = self.lock_contexts().pop();
        let mut context = match idle {
            Some(context) => context,
            None => new()?,
        };
        let given = act(&mut context);
        let mut idle = self.lock_contexts();
        if idle.len() < *CORES {
            idle.push(context);
        }
        given
    }

    fn lock_contexts(&self) -> std::sync::MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Compresses bytes into a frame; `None` if the library fails.
#[cfg(not(target_family = "wasm"))]
pub fn compress_frame(bytes: &[u8]) -> Option<Vec<u8>> {
    static CONTEXTS: ContextPool<zstd::bulk::Compressor<'static>> = ContextPool::new();
    CONTEXTS.with_context(
        || zstd::bulk::Compressor::new(LEVEL).ok(),
        |context| context.compress(bytes).ok(),
    )
}

/// Decompresses a frame of at most `len` bytes; `None` if it is not a frame or has more bytes.
#[cfg(not(target_family = "wasm"))]
pub fn decompress_frame(frame: &[u8], len: usize) -> Option<Vec<u8>> {
    static CONTEXTS: ContextPool<zstd::bulk::Decompressor<'static>> = ContextPool::new();
    CONTEXTS.with_context(
        || zstd::bulk::Decompressor::new().ok(),
        |context| context.decompress(frame, len).ok(),
    )
}

/// A writer that compresses into one frame.
#[cfg(not(target_family = "wasm"))]
pub struct ZstdStream<W: std::io::Write>(zstd::Encoder<'static, W>);

#[cfg(not(target_family = "wasm"))]
impl<W: std::io::Write> ZstdStream<W> {
    /// Begins a frame.
    pub fn new(to: W) -> std::io::Result<ZstdStream<W>> {
        zstd::Encoder::new(to, LEVEL).map(ZstdStream)
    }

    /// Ends the frame.
    pub fn finish(self) -> std::io::Result<()> {
        self.0.finish()?.flush()
    }
}

#[cfg(not(target_family = "wasm"))]
impl<W: std::io::Write> std::io::Write for ZstdStream<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// A writer that compresses into consecutive frames, which readers treat as one. A frame is written
/// as soon as 1 MiB of data has been collected.
#[cfg(target_family = "wasm")]
pub struct ZstdStream<W: std::io::Write> {
    to: W,
    bytes: Vec<u8>,
}

#[cfg(target_family = "wasm")]
impl<W: std::io::Write> ZstdStream<W> {
    /// Begins a frame.
    pub fn new(to: W) -> std::io::Result<ZstdStream<W>> {
        Ok(ZstdStream { to, bytes: Vec::new() })
    }

    /// Ends the last frame.
    pub fn finish(mut self) -> std::io::Result<()> {
        self.write_frame()?;
        self.to.flush()
    }

    fn write_frame(&mut self) -> std::io::Result<()> {
        let frame = compress_frame(&std::mem::take(&mut self.bytes)).unwrap_or_default();
        self.to.write_all(&frame)
    }
}

#[cfg(target_family = "wasm")]
impl<W: std::io::Write> std::io::Write for ZstdStream<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= 1 << 20 {
            self.write_frame()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.to.flush()
    }
}

/// Compresses bytes into one frame.
#[cfg(target_family = "wasm")]
pub fn compress_frame(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest))
}

#[cfg(target_family = "wasm")]
pub use in_rust::decompress_frame;

#[cfg(any(target_family = "wasm", test))]
mod in_rust {
    use std::io::Read;

    /// Maximum window of a frame that is read, in bytes, which bounds the memory of the decoder. It
    /// is enough for every object, because none is larger than 1 MiB.
    const WINDOW: u64 = 8 << 20;

    /// Decompresses a frame; `None` if it is damaged or has more than `len` bytes.
    pub fn decompress_frame(frame: &[u8], len: usize) -> Option<Vec<u8>> {
        let decoder = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(frame, WINDOW);
        let mut decoder = decoder.ok()?;
        let mut out = Vec::with_capacity(len);
        decoder.by_ref().take(len as u64 + 1).read_to_end(&mut out).ok()?;
        (out.len() <= len).then_some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_libraries_read_what_both_write() {
        for text in [&b""[..], b"abcabcabcabc", &[7; 300_000]] {
            let of_c = compress_frame(text).unwrap();
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            let of_rust = ruzstd::encoding::compress_to_vec(text, level);
            for frame in [&of_c, &of_rust] {
                assert_eq!(decompress_frame(frame, text.len()).as_deref(), Some(text));
                assert_eq!(in_rust::decompress_frame(frame, text.len()).as_deref(), Some(text));
                if let Some(less) = text.len().checked_sub(1) {
                    assert_eq!(in_rust::decompress_frame(frame, less), None);
                    assert_eq!(decompress_frame(frame, less), None);
                }
            }
        }
    }
}
