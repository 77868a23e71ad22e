//! The progress meter, or the bar of `-#`. It is shown on standard error, if that is a terminal and
//! the body is written elsewhere.

use std::io::Write;
use std::time::{Duration, Instant};

use box_applet::{Ctx, OutputSink};

use crate::options::Globals;
use crate::output::OutputFile;

pub(crate) struct CurlMeter {
    /// Whether nothing is shown.
    off: bool,
    bar: bool,
    whole: Option<u64>,
    begun: Instant,
    shown: Option<Instant>,
}

impl CurlMeter {
    pub(crate) fn new(
        ctx: &Ctx<'_>,
        globals: &Globals,
        target: &OutputFile,
        whole: Option<u64>,
    ) -> CurlMeter {
        let terminal =
            |sink: &OutputSink| matches!(sink, OutputSink::File(f) if box_sys::is_terminal(f));
        let in_the_way = target.is_stdout() && terminal(ctx.stdout.sink());
        let off = globals.silent || globals.no_meter || in_the_way || !terminal(ctx.stderr.sink());
        CurlMeter { off, bar: globals.bar, whole, begun: Instant::now(), shown: None }
    }

    /// Shows the number of received bytes, at most twice a second.
    pub(crate) fn show_bytes(&mut self, ctx: &mut Ctx<'_>, bytes: u64) {
        let due = self.shown.is_none_or(|at| at.elapsed() > Duration::from_millis(500));
        if !self.off && due {
            self.shown = Some(Instant::now());
            let _ = ctx.stderr.write_all(self.format_line(bytes).as_bytes());
        }
    }

    pub(crate) fn end(&mut self, ctx: &mut Ctx<'_>, bytes: u64) {
        if !self.off {
            let _ = ctx.stderr.write_all((self.format_line(bytes) + "\n").as_bytes());
        }
    }

    fn format_line(&self, bytes: u64) -> String {
        let part = self.whole.filter(|w| *w > 0).map(|w| bytes as f64 / w as f64);
        if self.bar {
            let part = part.unwrap_or(0.0).min(1.0);
            let signs = "#".repeat((part * 70.0) as usize);
            return format!("\r{signs:<70} {:5.1}%", part * 100.0);
        }
        let percent = part.map_or("  -".into(), |p| format!("{:3.0}", p * 100.0));
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = bytes as f64 / seconds.max(0.001);
        let (h, m, s) = (seconds as u64 / 3600, seconds as u64 / 60 % 60, seconds as u64 % 60);
        format!("\r{percent}% received {bytes:>12} bytes, {rate:>12.0} bytes/s, {h}:{m:02}:{s:02}")
    }
}
