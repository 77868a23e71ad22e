//! The table of compressed files that `gzip -l` prints. Its header is printed before the first row.

use std::io::Write;

use box_applet::Ctx;
use box_text::time::strftime::format_strftime;

use super::convert::FileConversion;
use super::options::CompressJob;
use super::report::saved_ratio;

/// The number of rows so far, and the sums of the sizes.
#[derive(Default)]
pub(super) struct SizeTable {
    rows: usize,
    packed: u64,
    plain: u64,
    data: u64,
    /// The number of bytes of the last file that are not compressed data. gzip subtracts them from
    /// the sum, too.
    overhead: u64,
}

impl SizeTable {
    /// Adds the length of a file's data to the sum.
    pub(super) fn add_plain(&mut self, sizes: &FileConversion) {
        self.data += sizes.plain;
    }

    /// Notes that the last file was not compressed.
    pub(super) fn skip_row(&mut self) {
        self.overhead = 0;
    }

    /// Returns the length of the data of all files, in bytes.
    pub(super) fn data_size(&self) -> u64 {
        self.data
    }

    /// Prints the row of a file. `mtime` is the time of its last change in seconds since the epoch.
    pub(super) fn print_row(
        &mut self,
        ctx: &mut Ctx<'_>,
        job: &CompressJob,
        shown: &[u8],
        sizes: &FileConversion,
        mtime: i64,
    ) {
        let details = job.verbose && !job.quiet;
        if self.rows == 0 && !job.quiet {
            let before = if details { "method  crc     date  time  " } else { "" };
            let _ = writeln!(
                ctx.stdout,
                "{before}         compressed        uncompressed  ratio uncompressed_name"
            );
        }
        let member = &sizes.member;
        self.rows += 1;
        self.packed += sizes.packed;
        self.plain += member.size;
        self.overhead = member.overhead;
        if details {
            let seconds = match (job.use_name, member.mtime) {
                (true, stored @ 1..) => i64::from(stored),
                _ => mtime,
            };
            let time = format_strftime(b"%b %e %H:%M", &ctx.zone().to_civil(seconds, 0));
            let _ = write!(ctx.stdout, "defla {:08x} ", member.crc);
            let _ = ctx.stdout.write_all(&time);
            let _ = ctx.stdout.write_all(b" ");
        }
        let ratio = saved_ratio(sizes.packed, member.size, member.overhead);
        let _ = write!(ctx.stdout, "{:>19} {:>19} {ratio:>5.1}% ", sizes.packed, member.size);
        let name = match &member.name {
            Some(name) if job.use_name => name,
            _ => [&job.suffix[..], b".gz"]
                .into_iter()
                .find_map(|suffix| shown.strip_suffix(suffix))
                .unwrap_or(shown),
        };
        let _ = ctx.stdout.write_all(name);
        let _ = ctx.stdout.write_all(b"\n");
    }

    /// Prints the sums of all rows.
    pub(super) fn print_totals(&self, ctx: &mut Ctx<'_>, job: &CompressJob) {
        if job.quiet || self.rows == 0 {
            return;
        }
        let (packed, plain) = (self.packed, self.plain);
        let indent = if job.verbose { " ".repeat(28) } else { String::new() };
        let ratio = saved_ratio(packed, plain, self.overhead);
        let _ = writeln!(ctx.stdout, "{indent}{packed:>19} {plain:>19} {ratio:>5.1}% (totals)");
    }
}
