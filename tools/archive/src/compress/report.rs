//! The messages about a file, with the wording of each program.

use std::io::{self, Write};

use box_applet::Ctx;

use super::convert::FileConversion;
use super::options::CompressJob;
use crate::codec::{CodecFault, CompressionFormat};

/// Reports the error of a file; returns its exit status. A closed pipe is not reported here,
/// because the caller of the applet handles it.
pub(super) fn report_error(
    ctx: &mut Ctx<'_>,
    job: &CompressJob,
    shown: &[u8],
    e: &io::Error,
) -> u8 {
    if e.kind() == io::ErrorKind::BrokenPipe {
        return 0;
    }
    let Some(fault) = CodecFault::of(e) else {
        ctx.io_error(shown, e);
        return 1;
    };
    match job.format {
        CompressionFormat::Gzip => {
            let text: &[u8] = match fault {
                CodecFault::NoData | CodecFault::Truncated => b": unexpected end of file",
                CodecFault::OtherFormat => b": not in gzip format",
                CodecFault::Checksum => b": invalid compressed data--crc error",
                CodecFault::Damaged => b": invalid compressed data--format violated",
                CodecFault::TrailingGarbage => return report_garbage(ctx, job, shown),
            };
            let _ = ctx.stderr.write_all(b"\n");
            ctx.error_bytes(&[shown, text]);
            1
        }
        CompressionFormat::Bzip2 => report_bzip2(ctx, job, shown, fault),
        CompressionFormat::Xz => {
            let text: &[u8] = match fault {
                CodecFault::Truncated => b": Unexpected end of input",
                CodecFault::OtherFormat => b": File format not recognized",
                _ => b": Compressed data is corrupt",
            };
            ctx.error_bytes(&[shown, text]);
            1
        }
        CompressionFormat::Zstd => {
            match fault {
                CodecFault::NoData => ctx.error_bytes(&[shown, b": unexpected end of file "]),
                CodecFault::OtherFormat => ctx.error_bytes(&[shown, b": unsupported format "]),
                other => {
                    let text: &[u8] = match other {
                        CodecFault::Truncated => b" : Read error (39) : premature end \n",
                        CodecFault::Checksum => {
                            b" : Decoding error (36) : Restored data doesn't match checksum \n"
                        }
                        _ => b" : Decoding error (36) : Data corruption detected \n",
                    };
                    let _ = ctx.stderr.write_all(&[shown, text].concat());
                }
            }
            1
        }
    }
}

/// Reports a fault as bzip2 does; returns bzip2's exit status for it. bzip2's advice to try
/// `bzip2recover` is left out, because there is no such program here.
fn report_bzip2(ctx: &mut Ctx<'_>, job: &CompressJob, shown: &[u8], fault: CodecFault) -> u8 {
    let text: &[u8] = match fault {
        CodecFault::NoData | CodecFault::Truncated if job.test => b"file ends unexpectedly",
        CodecFault::NoData | CodecFault::Truncated => {
            b"Compressed file ends unexpectedly;\n\tperhaps it is corrupted?"
        }
        CodecFault::OtherFormat if job.test => b"bad magic number (file not created by bzip2)",
        CodecFault::OtherFormat => {
            ctx.error_bytes(&[shown, b" is not a bzip2 file."]);
            return 2;
        }
        CodecFault::TrailingGarbage => return report_garbage(ctx, job, shown),
        _ if job.test => b"data integrity (CRC) error in data",
        _ => b"Data integrity error when decompressing.",
    };
    if !job.test {
        if !job.quiet {
            let _ = ctx.stderr.write_all(b"\n");
            ctx.error_bytes(&[text]);
            let files = [&b"\tInput file = "[..], shown, b", output file = (stdout)\n"].concat();
            if job.to_stdout {
                let _ = ctx.stderr.write_all(&files);
            }
        }
    } else if job.verbose {
        let _ = ctx.stderr.write_all(&[text, b"\n"].concat());
    } else {
        ctx.error_bytes(&[shown, b": ", text]);
    }
    2
}

/// Reports that garbage follows the data; returns the exit status.
pub(super) fn report_garbage(ctx: &mut Ctx<'_>, job: &CompressJob, shown: &[u8]) -> u8 {
    let is_gzip = job.format == CompressionFormat::Gzip;
    let is_said = is_gzip || job.test || job.to_stdout;
    if !job.quiet && is_said {
        let text: &[u8] = match job.format {
            CompressionFormat::Gzip => b": decompression OK, trailing garbage ignored",
            _ => b": trailing garbage after EOF ignored",
        };
        if !is_gzip && job.test && job.verbose {
            let _ = ctx.stderr.write_all(&[&text[2..], b"\n"].concat());
            return 0;
        }
        if is_gzip || !job.test {
            let _ = ctx.stderr.write_all(b"\n");
        }
        ctx.error_bytes(&[shown, text]);
    }
    if is_gzip { 2 } else { 0 }
}

/// Prints the part of `-v`'s report that precedes the work. As all of the report, it goes to
/// standard error.
pub(super) fn print_beginning(ctx: &mut Ctx<'_>, job: &CompressJob, shown: &[u8]) {
    if !job.verbose || job.list {
        return;
    }
    let line = match job.format {
        CompressionFormat::Gzip if shown == b"stdin" => Vec::new(),
        CompressionFormat::Gzip => [shown, b":\t"].concat(),
        CompressionFormat::Bzip2 => {
            let pad = job.name_width.saturating_sub(shown.len()) + 1;
            [b"  ", shown, b": ", " ".repeat(pad - 1).as_bytes()].concat()
        }
        _ => Vec::new(),
    };
    let _ = ctx.stderr.write_all(&line);
}

/// Prints the part of `-v`'s report that follows the work. `target` is the name of the new file.
pub(super) fn print_end(
    ctx: &mut Ctx<'_>,
    job: &CompressJob,
    shown: &[u8],
    target: Option<&[u8]>,
    sizes: &FileConversion,
) {
    if job.list || !job.verbose && !job.has_summary() {
        return;
    }
    let line = match job.format {
        CompressionFormat::Gzip => gzip_end(job, shown, target, sizes),
        CompressionFormat::Bzip2 => bzip2_end(job, sizes).into_bytes(),
        CompressionFormat::Xz => [shown, xz_end(sizes).as_bytes()].concat(),
        CompressionFormat::Zstd if job.decompress => {
            let name = String::from_utf8_lossy(shown);
            format!("{name:<20.20}: {} bytes \n", sizes.plain).into_bytes()
        }
        CompressionFormat::Zstd => return,
    };
    let _ = ctx.stderr.write_all(&line);
}

/// Prints the total size of all files, as zstd does when it decompresses several.
pub(super) fn print_sum(ctx: &mut Ctx<'_>, job: &CompressJob, plain: u64) {
    if job.operands > 1 && job.is_zstd_summary() {
        let line = format!("{} files decompressed : {plain:>6} bytes total \n", job.operands);
        let _ = ctx.stderr.write_all(line.as_bytes());
    }
}

fn gzip_end(
    job: &CompressJob,
    shown: &[u8],
    target: Option<&[u8]>,
    sizes: &FileConversion,
) -> Vec<u8> {
    if job.test {
        return b" OK\n".to_vec();
    }
    let ratio = saved_ratio(sizes.packed, sizes.plain, sizes.member.overhead);
    let ratio = format!("{ratio:>5.1}%");
    if shown == b"stdin" {
        return format!("{ratio}\n").into_bytes();
    }
    let word = if job.keep && target.is_some() { "created" } else { "replaced with" };
    let target = target.unwrap_or(b"stdout");
    [ratio.as_bytes(), b" -- ", word.as_bytes(), b" ", target, b"\n"].concat()
}

fn bzip2_end(job: &CompressJob, sizes: &FileConversion) -> String {
    match (job.test, job.decompress) {
        (true, _) => return "ok\n".into(),
        (_, true) => return "done\n".into(),
        _ if sizes.plain == 0 => return " no data compressed.\n".into(),
        _ => {}
    }
    let (plain, packed) = (sizes.plain as f64, sizes.packed as f64);
    format!(
        "{:>6.3}:1, {:>6.3} bits/byte, {:>5.2}% saved, {} in, {} out.\n",
        plain / packed,
        8.0 * packed / plain,
        100.0 * (1.0 - packed / plain),
        sizes.plain,
        sizes.packed
    )
}

fn xz_end(sizes: &FileConversion) -> String {
    let ratio = sizes.packed as f64 / sizes.plain as f64;
    let ratio =
        if ratio > 9.999 || sizes.plain == 0 { "> 9.999".into() } else { format!("= {ratio:.3}") };
    format!(": {} / {} {ratio}\n", size_text(sizes.packed), size_text(sizes.plain))
}

/// Returns a size as xz prints it: at most 9999 of a unit, with a decimal place from KiB on.
fn size_text(bytes: u64) -> String {
    if bytes <= 9999 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64;
    let mut units = ["KiB", "MiB", "GiB", "TiB"].into_iter().peekable();
    while let Some(unit) = units.next() {
        size /= 1024.0;
        if size <= 9999.9 || units.peek().is_none() {
            return format!("{size:.1} {unit}");
        }
    }
    String::new()
}

/// Returns the reduction in size in percent. `overhead` is the number of compressed bytes that gzip
/// does not count as data.
pub(super) fn saved_ratio(packed: u64, plain: u64, overhead: u64) -> f64 {
    if plain == 0 {
        return 0.0;
    }
    let (packed, plain) = (packed as f64 - overhead as f64, plain as f64);
    100.0 * (plain - packed) / plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `xz -v` of XZ Utils 5.4.1.
    #[test]
    fn xz_sizes() {
        assert_eq!(size_text(0), "0 B");
        assert_eq!(size_text(9999), "9999 B");
        assert_eq!(size_text(23_893), "23.3 KiB");
    }

    /// Expected values: `gzip -l` of gzip 1.12.
    #[test]
    fn gzip_ratios() {
        assert_eq!(format!("{:.1}", saved_ratio(11_117, 23_893, 20)), "53.6");
        assert_eq!(format!("{:.1}", saved_ratio(123, 100, 18)), "-5.0");
        assert_eq!(format!("{:.1}", saved_ratio(22, 0, 20)), "0.0");
    }
}
