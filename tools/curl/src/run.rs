//! Runs the applet: parses the options, then transfers each URL of each group. The exit status is
//! the last transfer's.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;

use box_applet::{Ctx, Ended, Exit, clock};

use crate::cookies::Jar;
use crate::data::{BodyPiece, RequestBody};
use crate::error::{CurlError, CurlUsageError};
use crate::form;
use crate::glob::{Match, UrlGlob};
use crate::options::{self, CurlOperation, CurlRequest, Globals};
use crate::output::{self, OutputFile};
use crate::request::CurlHop;
use crate::transfer::{self, CurlTransfer, Stats, report_error};
use crate::url::{self, Url};
use crate::world::{HttpNode, TransferHost};
use crate::write_out;

/// The version of curl whose manual this crate follows.
pub(crate) const VERSION: &str = "8.11.1";

/// Runs `curl`.
pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    Ok(run_with(ctx, args, &mut HttpNode::default()))
}

/// Runs curl with any host.
pub(crate) fn run_with(ctx: &mut Ctx<'_>, args: &[Vec<u8>], world: &mut dyn TransferHost) -> Exit {
    if args.is_empty() {
        return report_usage(ctx, None);
    }
    let asked = match options::parse(ctx, args) {
        Ok(asked) => asked,
        Err(usage) => return report_usage(ctx, Some(&usage)),
    };
    if asked.help || asked.version {
        let _ = if asked.help {
            let text = options::help_text(&ctx.name);
            ctx.stdout.write_all(text.as_bytes())
        } else {
            print_version(ctx)
        };
        return Exit::SUCCESS;
    }
    match run_groups(ctx, world, &asked) {
        Ok(exit) => exit,
        Err(usage) => report_usage(ctx, Some(&usage)),
    }
}

fn print_version(ctx: &mut Ctx<'_>) -> std::io::Result<()> {
    write!(
        ctx.stdout,
        "curl {VERSION} (wasm32-wasip1) Wasibox, HTTP by the sandbox's host\n\
         Protocols: http https\nFeatures: HTTP2 IPv6 Largefile libz SSL\n"
    )
}

fn report_usage(ctx: &mut Ctx<'_>, usage: Option<&CurlUsageError>) -> Exit {
    if let Some(usage) = usage {
        ctx.error(usage);
    }
    ctx.error("try 'curl --help' for more information");
    Exit(usage.map_or(2, CurlUsageError::code))
}

fn run_groups(
    ctx: &mut Ctx<'_>,
    world: &mut dyn TransferHost,
    asked: &CurlRequest,
) -> Result<Exit, CurlUsageError> {
    let mut last = Ok(());
    for op in &asked.ops {
        if op.urls.is_empty() {
            return Err(CurlUsageError::NoUrl);
        }
        let mut cookies = Cookies::load_jar(ctx, op);
        last = run_group(ctx, world, &asked.globals, op, &mut cookies)?;
        if let (Some(name), Some(jar)) = (&op.cookie_jar, &cookies.jar)
            && output::save_file(ctx, name, &jar.file_text(), false).is_err()
        {
            let name = String::from_utf8_lossy(name).into_owned();
            transfer::print_warning(
                ctx,
                &asked.globals,
                &format!("failed to save cookies in {name}"),
            );
        }
        if last.is_err() && asked.globals.fail_early {
            break;
        }
    }
    Ok(Exit(last.err().map_or(0, |e: CurlError| e.code())))
}

/// The cookies of a group.
struct Cookies {
    jar: Option<Jar>,
    literal: Vec<u8>,
}

impl Cookies {
    fn load_jar(ctx: &mut Ctx<'_>, op: &CurlOperation) -> Cookies {
        let mut jar = op.cookie_jar.is_some().then(Jar::default);
        let mut literal = Vec::new();
        for text in &op.cookies {
            if text.contains(&b'=') {
                literal.push(text.clone());
                continue;
            }
            // A file that does not exist counts as an empty jar.
            let jar = jar.get_or_insert_default();
            let bytes = ctx.read(text).unwrap_or_default();
            jar.load_cookies(&bytes, op.junk_session, clock::current_time().0);
        }
        Cookies { jar, literal: literal.join(&b"; "[..]) }
    }
}

fn run_group(
    ctx: &mut Ctx<'_>,
    world: &mut dyn TransferHost,
    globals: &Globals,
    op: &CurlOperation,
    cookies: &mut Cookies,
) -> Result<Result<(), CurlError>, CurlUsageError> {
    let mut last = Ok(());
    let mut number = 0;
    for (index, url) in op.urls.iter().enumerate() {
        let pattern = if op.globs_off { Ok(UrlGlob::literal(url)) } else { UrlGlob::parse(url) };
        let pattern = match pattern {
            Ok(pattern) => pattern,
            Err(e) => {
                report_error(ctx, globals, &e);
                return Ok(Err(e));
            }
        };
        let upload =
            op.uploads.get(index).map(|name| RequestBody::from_file(ctx, name)).transpose()?;
        for m in pattern.all_matches() {
            let stats = Stats { given: m.url.clone(), number, ..Stats::default() };
            number += 1;
            let (jar, literal) = (cookies.jar.as_mut(), cookies.literal.as_slice());
            let target = OutputFile::default();
            let mut job = CurlTransfer {
                ctx: &mut *ctx,
                world: &mut *world,
                globals,
                op,
                jar,
                literal,
                target,
                stats,
            };
            last = run_transfer(&mut job, index, &m, upload.clone());
            report_transfer(&mut job, &last);
            let gone = last == Err(CurlError::Closed);
            if gone || (last.is_err() && globals.fail_early) {
                return Ok(last);
            }
        }
    }
    Ok(last)
}

fn run_transfer(
    job: &mut CurlTransfer<'_, '_>,
    index: usize,
    m: &Match,
    upload: Option<RequestBody>,
) -> Result<(), CurlError> {
    let hop = first_hop(job.ctx, job.op, index, m, upload)?;
    job.target = match OutputFile::new(job.ctx, job.op, index, m) {
        Ok(target) => target,
        Err(e) => {
            transfer::print_warning(job.ctx, job.globals, "Remote file name has no length");
            return Err(e);
        }
    };
    transfer::run(job, &hop)
}

/// Prints the reports after a transfer.
fn report_transfer(job: &mut CurlTransfer<'_, '_>, done: &Result<(), CurlError>) {
    if let Err(e) = done {
        job.stats.error = Some(e.clone());
        report_error(job.ctx, job.globals, e);
        if job.op.remove_on_error {
            job.target.remove();
        }
    }
    if let Some(format) = job.op.write_out.as_ref().filter(|_| *done != Err(CurlError::Closed)) {
        write_out::print_format(job.ctx, format, &job.stats);
    }
}

/// Returns the first request for a URL.
fn first_hop(
    ctx: &Ctx<'_>,
    op: &CurlOperation,
    index: usize,
    m: &Match,
    upload: Option<RequestBody>,
) -> Result<CurlHop, CurlError> {
    let mut url = Url::parse(&m.url)?;
    let kind = |text: &str| Some(text.as_bytes().to_vec());
    let (body, kind) = if let Some(body) = upload {
        name_upload(&mut url, &op.uploads[index]);
        (body, None)
    } else if !op.form.is_empty() {
        let boundary = form_boundary();
        let body = form::form_body(ctx, &op.form, &boundary)?;
        (body, kind(&format!("multipart/form-data; boundary={boundary}")))
    } else if let Some(data) = op.data.as_ref().filter(|_| !op.get) {
        let name = if op.json { "application/json" } else { "application/x-www-form-urlencoded" };
        (RequestBody::Pieces(vec![BodyPiece::Bytes(data.clone())]), kind(name))
    } else {
        (RequestBody::None, None)
    };
    Ok(transfer::make_first_hop(op, url, body, kind))
}

/// Appends the file's name to the URL of a folder, for `-T FILE`.
fn name_upload(url: &mut Url, file: &[u8]) {
    if url.path.ends_with(b"/") && url.query.is_none() && file != b"-" && file != b"." {
        let name = file.rsplit(|b| *b == b'/').next().unwrap_or(file);
        url.path.extend(url::percent_encode(name));
    }
}

/// Returns a boundary like curl's: 24 dashes, and digits that no content has by accident.
fn form_boundary() -> String {
    let random = |n: u64| RandomState::new().hash_one(n);
    format!("------------------------{:016x}{:06x}", random(1), random(2) & 0xff_ffff)
}
