//! `wget`: fetching files by HTTP as GNU's wget does it (manual: wget(1), GNU Wget 1.21), through
//! the host.
//!
//! It uses curl's code for URLs, bodies, cookies and the exchange with the host. Its own modules
//! are:
//!
//! | file | contents |
//! |---|---|
//! | `options` | the command line |
//! | `request` | method and headers of one hop |
//! | `fetch` | one URL: tries, redirects, handling of the status |
//! | `save` | the file: its name, the offset at which it continues, its time |
//! | `log` | GNU's messages; dots |
//!
//! The guest follows redirects; the host checks each one as a separate request. Deliberately
//! absent: following the links of a page (`-r`, `-m`, `-p`), which is refused with a hint to `-i`;
//! `.wgetrc`; FTP; WARC; resolved addresses in messages, because only the host knows them.

mod fetch;
mod log;
mod options;
mod request;
mod save;
#[cfg(test)]
mod tests;

use std::fs;
use std::io::Write;
use std::time::{Duration, Instant};

use box_applet::{Ctx, Ended, Exit, clock};

use crate::cookies::Jar;
use crate::world::{HttpNode, TransferHost};
use fetch::WgetRun;
use log::{WgetLog, human_size, plain_text, span_text, speed_text};
use options::WgetOptions;

/// The version of wget whose manual this module follows.
const VERSION: &str = "1.21.3";

/// The reason why a transfer ended; GNU's exit statuses (wget(1), EXIT STATUS).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Usage = 2,
    File = 3,
    Network = 4,
    Tls = 5,
    Auth = 6,
    Protocol = 7,
    Server = 8,
    /// The last variant, because any other fault is more specific.
    Other = 9,
}

impl Fault {
    fn exit(self) -> Exit {
        Exit(if self == Fault::Other { 1 } else { self as u8 })
    }
}

/// Runs `wget`.
pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    Ok(with(ctx, args, &mut HttpNode::default()))
}

/// Runs wget with any host.
pub(crate) fn with(ctx: &mut Ctx<'_>, args: &[Vec<u8>], world: &mut dyn TransferHost) -> Exit {
    let asked = match options::parse(args) {
        Ok(asked) => asked,
        Err(usage) => return wrong(ctx, &usage.to_string(), Fault::Usage),
    };
    if asked.help || asked.version {
        let _ = if asked.help {
            ctx.stdout.write_all(options::help_text(&ctx.name).as_bytes())
        } else {
            writeln!(
                ctx.stdout,
                "GNU Wget {VERSION} compatible: Wasibox, HTTP by the sandbox's host"
            )
        };
        return Exit::SUCCESS;
    }
    let urls = match urls(ctx, &asked) {
        Ok(urls) => urls,
        Err(why) => {
            ctx.error(why);
            return Fault::File.exit();
        }
    };
    if urls.is_empty() {
        return if asked.list.is_some() {
            let list = asked.list.as_deref().unwrap_or_default();
            ctx.error(format_args!("No URLs found in {}.", plain_text(list)));
            Exit::SUCCESS
        } else {
            wrong(ctx, "missing URL", Fault::Other)
        };
    }
    all(ctx, world, &asked, &urls)
}

fn wrong(ctx: &mut Ctx<'_>, why: &str, fault: Fault) -> Exit {
    ctx.error(why);
    let _ = ctx
        .stderr
        .write_all(b"Usage: wget [OPTION]... [URL]...\n\nTry `wget --help' for more options.\n");
    fault.exit()
}

/// Returns the URLs of the command line, then those of `-i`, one per line.
fn urls(ctx: &mut Ctx<'_>, asked: &WgetOptions) -> Result<Vec<Vec<u8>>, String> {
    let mut urls = asked.urls.clone();
    if let Some(name) = &asked.list {
        let failed = |e| format!("{}: {}", plain_text(name), box_sys::error_text(&e));
        let text = ctx.read(name).map_err(failed)?;
        let lines = text.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
        urls.extend(lines.filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
    }
    Ok(urls)
}

fn all(
    ctx: &mut Ctx<'_>,
    world: &mut dyn TransferHost,
    asked: &WgetOptions,
    urls: &[Vec<u8>],
) -> Exit {
    let log = match WgetLog::new(ctx, asked) {
        Ok(log) => log,
        Err(e) => {
            ctx.error(box_sys::error_text(&e));
            return Fault::File.exit();
        }
    };
    let mut jar = Jar::default();
    if let Some(name) = &asked.cookies {
        jar.load_cookies(
            &fs::read(ctx.path(name)).unwrap_or_default(),
            false,
            clock::current_time().0,
        );
    }
    let begun = Instant::now();
    let mut job = WgetRun::new(ctx, world, asked, log, jar);
    let mut worst: Option<Fault> = None;
    for (n, url) in urls.iter().enumerate() {
        if n > 0 && asked.wait > 0.0 {
            job.world.sleep(Duration::from_secs_f64(asked.wait));
        }
        let fault = job.fetch_url(url).err();
        worst = match (worst, fault) {
            (Some(old), Some(new)) => Some(old.min(new)),
            (old, new) => old.or(new),
        };
    }
    if urls.len() > 1 || (asked.list.is_some() && job.bytes > 0) {
        finished(&mut job, begun);
    }
    if let Some(name) = &asked.save_cookies {
        if !asked.session_cookies {
            job.jar.end_session();
        }
        let text = job.jar.file_text();
        if fs::write(job.ctx.path(name), text).is_err() {
            worst = worst.or(Some(Fault::File));
        }
    }
    worst.map_or(Exit::SUCCESS, Fault::exit)
}

fn finished(job: &mut WgetRun<'_, '_>, begun: Instant) {
    let now = job.log.time_stamp();
    let (files, bytes, time) = (job.files, job.bytes, job.time);
    let mut text =
        format!("FINISHED --{now}--\nTotal wall clock time: {}\n", span_text(begun.elapsed()));
    text += &format!(
        "Downloaded: {files} files, {} in {} ({})\n",
        human_size(bytes),
        span_text(time),
        speed_text(bytes, time)
    );
    job.log.say_always(job.ctx, &text);
}
