//! Zstandard streams, by its own library. Their parameters are those of Node's
//! `zlib.constants.ZSTD_*`.

use super::ZlibStep;
use zstd_safe::zstd_sys::ZSTD_EndDirective as End;
use zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, Strategy};

/// The lowest state of [`ZlibStep`] that is an error. The library's number of the error is added to
/// it.
pub const ERRORS: usize = 1000;

pub enum Zstd {
    Compress(CCtx<'static>),
    Decompress(DCtx<'static>),
}

impl Zstd {
    /// Creates a stream. `parameters` has the number and the value of each parameter alternately.
    /// Returns `None` if one is refused.
    pub fn new(
        compress: bool,
        parameters: &[i32],
        pledged: Option<u64>,
        dictionary: &[u8],
    ) -> Option<Zstd> {
        let pairs = parameters.chunks_exact(2).map(|p| (p[0], p[1]));
        if compress {
            let mut context = CCtx::try_create()?;
            for (number, value) in pairs {
                context.set_parameter(find_parameter(number, value)?).ok()?;
            }
            if pledged.is_some() {
                context.set_pledged_src_size(pledged).ok()?;
            }
            context.load_dictionary(dictionary).ok()?;
            return Some(Zstd::Compress(context));
        }
        let mut context = DCtx::try_create()?;
        for (number, value) in pairs {
            let 100 = number else { return None };
            context.set_parameter(DParameter::WindowLogMax(value.try_into().ok()?)).ok()?;
        }
        context.load_dictionary(dictionary).ok()?;
        Some(Zstd::Decompress(context))
    }

    /// Runs one step. `flush` is 0 to continue, 1 to write all pending output, and 2 to end the
    /// frame.
    pub fn step(&mut self, input: &[u8], out: &mut [u8], flush: u8) -> ZlibStep {
        let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(out));
        let done = match self {
            Zstd::Compress(context) => {
                let end = match flush {
                    0 => End::ZSTD_e_continue,
                    1 => End::ZSTD_e_flush,
                    _ => End::ZSTD_e_end,
                };
                context.compress_stream2(&mut to, &mut from, end)
            }
            Zstd::Decompress(context) => context.decompress_stream(&mut to, &mut from),
        };
        let state = match (done, &self) {
            (Err(code), _) => ERRORS + 0usize.wrapping_sub(code),
            (Ok(0), Zstd::Decompress(_)) => 1,
            // Everything is written, and another call would begin a new frame.
            (Ok(0), Zstd::Compress(_)) if flush != 0 => 2,
            _ => 0,
        };
        ZlibStep { read: from.pos(), wrote: to.pos(), state }
    }
}

/// Returns the parameter that has a number in `zstd.h`, with a value; `None` if it is refused.
fn find_parameter(number: i32, value: i32) -> Option<CParameter> {
    use CParameter as P;
    let (size, flag) = (u32::try_from(value), value != 0);
    Some(match number {
        100 => P::CompressionLevel(value),
        101 => P::WindowLog(size.ok()?),
        102 => P::HashLog(size.ok()?),
        103 => P::ChainLog(size.ok()?),
        104 => P::SearchLog(size.ok()?),
        105 => P::MinMatch(size.ok()?),
        106 => P::TargetLength(size.ok()?),
        107 => P::Strategy(find_strategy(value)?),
        160 => P::EnableLongDistanceMatching(flag),
        161 => P::LdmHashLog(size.ok()?),
        162 => P::LdmMinMatch(size.ok()?),
        163 => P::LdmBucketSizeLog(size.ok()?),
        164 => P::LdmHashRateLog(size.ok()?),
        200 => P::ContentSizeFlag(flag),
        201 => P::ChecksumFlag(flag),
        202 => P::DictIdFlag(flag),
        // The numbers of worker threads: a library without threads refuses all but 0, too.
        400..=402 if value == 0 => P::NbWorkers(0),
        _ => return None,
    })
}

fn find_strategy(number: i32) -> Option<Strategy> {
    use Strategy as S;
    let all = [
        S::ZSTD_fast,
        S::ZSTD_dfast,
        S::ZSTD_greedy,
        S::ZSTD_lazy,
        S::ZSTD_lazy2,
        S::ZSTD_btlazy2,
        S::ZSTD_btopt,
        S::ZSTD_btultra,
        S::ZSTD_btultra2,
    ];
    all.get(usize::try_from(number).ok()?.checked_sub(1)?).copied()
}
