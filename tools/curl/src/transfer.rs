//! One URL: its hops, its retries, and the exit status, which follows from the response's status.

use std::io::Write;
use std::time::{Duration, Instant};

use box_applet::{Ctx, clock};
use box_sys::http::Response;

use crate::cookies::Jar;
use crate::data::RequestBody;
use crate::decode::ContentDecoder;
use crate::error::CurlError;
use crate::exchange::{self, OpenResponse};
use crate::head;
use crate::options::{CurlOperation, Globals};
use crate::output::{self, OutputFile};
use crate::progress::CurlMeter;
use crate::request::CurlHop;
use crate::url::Url;
use crate::world::TransferHost;

/// curl's limit if `--max-redirs` is not given.
const REDIRECTS: u64 = 50;

/// The objects that a transfer uses.
pub(crate) struct CurlTransfer<'a, 'c> {
    pub(crate) ctx: &'a mut Ctx<'c>,
    pub(crate) world: &'a mut dyn TransferHost,
    pub(crate) globals: &'a Globals,
    pub(crate) op: &'a CurlOperation,
    /// The cookie jar; `None` if cookies are not kept.
    pub(crate) jar: Option<&'a mut Jar>,
    /// The cookies given on the command line.
    pub(crate) literal: &'a [u8],
    pub(crate) target: OutputFile,
    pub(crate) stats: Stats,
}

/// The values that `-w` can print.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    pub(crate) given: Vec<u8>,
    pub(crate) number: usize,
    pub(crate) url: Vec<u8>,
    pub(crate) https: bool,
    pub(crate) method: Vec<u8>,
    pub(crate) referer: Option<Vec<u8>>,
    pub(crate) head: Option<Response>,
    pub(crate) redirects: u64,
    pub(crate) redirect_url: Option<Vec<u8>>,
    pub(crate) downloaded: u64,
    pub(crate) uploaded: u64,
    pub(crate) head_bytes: u64,
    pub(crate) request_bytes: u64,
    pub(crate) retries: u64,
    pub(crate) total: Duration,
    pub(crate) first_byte: Duration,
    pub(crate) redirecting: Duration,
    pub(crate) file: Vec<u8>,
    pub(crate) error: Option<CurlError>,
}

/// Runs the transfer, with the retries of `--retry`; reports the error of each attempt.
pub(crate) fn run(job: &mut CurlTransfer<'_, '_>, first: &CurlHop) -> Result<(), CurlError> {
    let begun = Instant::now();
    let mut left = job.op.retry;
    let mut wait = Duration::from_secs(1);
    loop {
        let done = attempt_transfer(job, first);
        let again = left > 0 && first.body.can_be_repeated() && may_help(job, &done);
        if !again {
            return done;
        }
        let pause = match job.op.retry_delay {
            0.0 => retry_after(&job.stats).unwrap_or(wait),
            seconds => Duration::from_secs_f64(seconds),
        };
        let most = job.op.retry_max_time;
        if most > 0.0 && (begun.elapsed() + pause).as_secs_f64() > most {
            return done;
        }
        report_retry(job, &done, pause, left);
        job.world.sleep(pause);
        wait = (wait * 2).min(Duration::from_secs(600));
        left -= 1;
        job.stats.retries += 1;
        job.target.begin_again();
    }
}

fn may_help(job: &CurlTransfer<'_, '_>, done: &Result<(), CurlError>) -> bool {
    let status = job.stats.head.as_ref().map_or(0, |h| h.status);
    match done {
        Err(CurlError::Denied(_) | CurlError::Closed | CurlError::Write) => false,
        Err(_) if job.op.retry_all => true,
        Ok(()) | Err(CurlError::Status(_)) => [408, 429, 500, 502, 503, 504].contains(&status),
        Err(CurlError::Host { code: 7, .. }) => job.op.retry_refused,
        Err(e) => [6, 28].contains(&e.code()),
    }
}

fn retry_after(stats: &Stats) -> Option<Duration> {
    let value = head::header_value(stats.head.as_ref()?, "retry-after")?;
    let seconds: u64 = std::str::from_utf8(value).ok()?.trim().parse().ok()?;
    (seconds > 0).then(|| Duration::from_secs(seconds.min(6 * 3600)))
}

fn report_retry(
    job: &mut CurlTransfer<'_, '_>,
    done: &Result<(), CurlError>,
    pause: Duration,
    left: u64,
) {
    let why = match done {
        Err(e) => {
            report_error(job.ctx, job.globals, e);
            if matches!(e, CurlError::Status(_)) { "HTTP error" } else { "transient error" }
        }
        Ok(()) => "HTTP error",
    };
    let many = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let seconds = many(pause.as_secs(), "second");
    let retries = left.to_string() + if left == 1 { " retry" } else { " retries" };
    print_warning(
        job.ctx,
        job.globals,
        &format!("Problem: {why}. Will retry in {seconds}. {retries} left."),
    );
}

/// Prints `curl: (CODE) TEXT`, unless `-s` is given without `-S`.
pub(crate) fn report_error(ctx: &mut Ctx<'_>, globals: &Globals, e: &CurlError) {
    if *e != CurlError::Closed && (!globals.silent || globals.show_error) {
        ctx.error(format_args!("({}) {e}", e.code()));
    }
}

pub(crate) fn print_warning(ctx: &mut Ctx<'_>, globals: &Globals, text: &str) {
    if !globals.silent {
        let _ = ctx.stdout.flush();
        let _ = writeln!(ctx.stderr, "Warning: {text}");
    }
}

fn attempt_transfer(job: &mut CurlTransfer<'_, '_>, first: &CurlHop) -> Result<(), CurlError> {
    let begun = Instant::now();
    let (given, number, retries) =
        (std::mem::take(&mut job.stats.given), job.stats.number, job.stats.retries);
    job.stats = Stats { given, number, retries, ..Stats::default() };
    job.target.start = resume_at(job)?;
    let done = follow_hops(job, first.clone(), begun);
    job.stats.total = begun.elapsed();
    job.stats.file = job.target.name().to_vec();
    if let Some(why) = job.target.why.take() {
        print_warning(job.ctx, job.globals, &why);
    }
    done
}

fn resume_at(job: &CurlTransfer<'_, '_>) -> Result<u64, CurlError> {
    match job.op.resume.as_deref() {
        None => Ok(0),
        Some(b"-") => Ok(job.target.len()),
        Some(at) => {
            std::str::from_utf8(at).ok().and_then(|at| at.parse().ok()).ok_or(CurlError::Range)
        }
    }
}

fn follow_hops(
    job: &mut CurlTransfer<'_, '_>,
    mut hop: CurlHop,
    begun: Instant,
) -> Result<(), CurlError> {
    let limit = job.op.max_redirs.unwrap_or(Some(REDIRECTS));
    loop {
        let exchange = send_hop(job, &hop, begun)?;
        let next = receive_head(job, &hop, &exchange, begun);
        let next = match next {
            Ok(Some(next)) if job.op.follow => Ok(Some(next)),
            Ok(_) => deliver_body(job, &hop, &exchange, begun).map(|()| None),
            Err(e) => Err(e),
        };
        exchange.close(job.world);
        let Some(url) = next? else { return Ok(()) };
        if let Some(most) = limit.filter(|most| job.stats.redirects >= *most) {
            return Err(CurlError::Redirects(most));
        }
        job.stats.redirects += 1;
        job.stats.redirecting = begun.elapsed();
        job.stats.redirect_url = None;
        let text = String::from_utf8_lossy(&url.text()).into_owned();
        print_note(job, &format!("Issue another request to this URL: '{text}'"));
        hop = hop.follow_redirect(job.op, exchange.head.status, url);
        if !hop.body.can_be_repeated() {
            return Err(CurlError::Rewind);
        }
    }
}

/// Sends the request of one hop.
fn send_hop(
    job: &mut CurlTransfer<'_, '_>,
    hop: &CurlHop,
    begun: Instant,
) -> Result<OpenResponse, CurlError> {
    let stored =
        job.jar.as_ref().and_then(|jar| jar.cookie_header(&hop.url, clock::current_time().0));
    let literal =
        (!job.literal.is_empty() && cookies_may_go(job, hop)).then(|| job.literal.to_vec());
    let cookies: Vec<Vec<u8>> = stored.into_iter().chain(literal).collect();
    let cookie = (!cookies.is_empty()).then(|| cookies.join(&b"; "[..]));
    let resumed = (job.target.start > 0).then(|| format!("{}-", job.target.start).into_bytes());
    let range = resumed.as_deref().or(job.op.range.as_deref());
    let mut request = hop.to_request(job.op, cookie, range);
    request.time = time_left(job, begun)?;
    request.connect_time = (job.op.connect_timeout * 1000.0) as u64;
    let text = hop.head_text(&request);
    let stats = &mut job.stats;
    stats.url = hop.url.text();
    stats.https = hop.url.https;
    stats.method.clone_from(&hop.method);
    let referer = request.headers.iter().find(|(n, _)| n == b"Referer");
    stats.referer = referer.map(|(_, v)| v.clone());
    stats.request_bytes += text.len() as u64;
    let place = format!("{}:{}", String::from_utf8_lossy(&hop.url.host), hop.url.port());
    print_note(job, &format!("Asking the sandbox's host for {place}"));
    print_head_lines(job, "> ", &text);
    let sent = exchange::open_exchange(job.world, job.ctx, request, &hop.body, &hop.url)?;
    job.stats.uploaded += sent.uploaded;
    job.stats.first_byte = begun.elapsed();
    Ok(sent)
}

/// Returns whether the cookies of `-b NAME=VALUE` may be sent: only to the host they were given
/// for.
fn cookies_may_go(job: &CurlTransfer<'_, '_>, hop: &CurlHop) -> bool {
    job.op.trusted || hop.is_at_home()
}

/// Returns the milliseconds of `--max-time` that are left; 0 if there is no limit.
fn time_left(job: &CurlTransfer<'_, '_>, begun: Instant) -> Result<u64, CurlError> {
    if job.op.max_time == 0.0 {
        return Ok(0);
    }
    let most = Duration::from_secs_f64(job.op.max_time);
    let left = most.checked_sub(begun.elapsed()).filter(|left| !left.is_zero());
    let left = left.ok_or(CurlError::Time(begun.elapsed().as_millis(), job.stats.downloaded))?;
    Ok((left.as_millis() as u64).max(1))
}

/// Handles a response's head: shows it, stores its cookies, and returns the redirect's target.
fn receive_head(
    job: &mut CurlTransfer<'_, '_>,
    hop: &CurlHop,
    exchange: &OpenResponse,
    begun: Instant,
) -> Result<Option<Url>, CurlError> {
    let response = &exchange.head;
    let text = head::head_text(response);
    print_head_lines(job, "< ", &text);
    job.stats.head_bytes += text.len() as u64;
    job.stats.head = Some(response.clone());
    if let Some(jar) = &mut job.jar {
        jar.keep_from(response, &hop.url, clock::current_time().0);
    }
    time_left(job, begun)?;
    if let Some(name) = &job.op.dump_header {
        output::save_file(job.ctx, name, &text, job.stats.head_bytes > text.len() as u64)?;
    }
    let is_redirect = matches!(response.status, 301 | 302 | 303 | 307 | 308);
    let location = head::header_value(response, "location").filter(|_| is_redirect);
    let next = location.map(|to| hop.url.join(to)).transpose();
    let next = if job.op.follow { next? } else { next.ok().flatten() };
    job.stats.redirect_url = next.as_ref().map(Url::text);
    let leads_on = next.is_some() && job.op.follow;
    if let Some(name) =
        head::file_name(response).filter(|_| job.op.content_disposition && !leads_on)
    {
        job.target.named_by_server(job.ctx, job.op, name);
    }
    if job.op.include || job.op.head {
        job.target.write(job.ctx, job.op, &text)?;
    }
    if response.status >= 400 && job.op.fail && !leads_on {
        return Err(CurlError::Status(response.status));
    }
    Ok(next)
}

/// Writes the body to its destination.
fn deliver_body(
    job: &mut CurlTransfer<'_, '_>,
    hop: &CurlHop,
    exchange: &OpenResponse,
    begun: Instant,
) -> Result<(), CurlError> {
    let status = exchange.head.status;
    if job.target.start > 0 && status != 206 && status < 400 && hop.method == b"GET" {
        return Err(CurlError::Range);
    }
    let whole = head::header_value(&exchange.head, "content-length");
    let whole: Option<u64> = whole.and_then(|v| std::str::from_utf8(v).ok()?.parse().ok());
    let most = job.op.max_size;
    if most > 0 && whole.is_some_and(|n| n > most) {
        return Err(CurlError::Size);
    }
    let skip = job.target.start > 0 && status == 416;
    let encoding =
        head::header_value(&exchange.head, "content-encoding").filter(|_| job.op.compressed);
    let mut decoder = ContentDecoder::new(encoding)?;
    let mut meter = CurlMeter::new(job.ctx, job.globals, &job.target, whole);
    if !job.op.head {
        while let Some(part) = exchange.read(job.world, &hop.url)? {
            time_left(job, begun)?;
            job.stats.downloaded += part.len() as u64;
            if most > 0 && job.stats.downloaded > most {
                return Err(CurlError::Size);
            }
            meter.show_bytes(job.ctx, job.stats.downloaded);
            if !skip {
                let (ctx, target) = (&mut *job.ctx, &mut job.target);
                decoder.feed_bytes(&part, &mut |bytes| {
                    put_bytes(ctx, job.globals, job.op, target, bytes)
                })?;
            }
        }
        let (ctx, target) = (&mut *job.ctx, &mut job.target);
        if job.stats.downloaded > 0 {
            decoder.end_body(&mut |bytes| put_bytes(ctx, job.globals, job.op, target, bytes))?;
        }
    }
    meter.end(job.ctx, job.stats.downloaded);
    job.target.end(job.op)?;
    print_note(job, "Request completely sent off, response complete");
    match status {
        400.. if job.op.fail_with_body => Err(CurlError::Status(status)),
        _ => Ok(()),
    }
}

fn put_bytes(
    ctx: &mut Ctx<'_>,
    globals: &Globals,
    op: &CurlOperation,
    target: &mut OutputFile,
    bytes: &[u8],
) -> Result<(), CurlError> {
    if target.would_garble(ctx, bytes) {
        let text = "Binary output can mess up your terminal. Use \"--output -\" to tell curl to output it to \
                    your terminal anyway, or consider \"--output <FILE>\" to save to a file.";
        print_warning(ctx, globals, text);
        return Err(CurlError::Write);
    }
    target.write(ctx, op, bytes)
}

fn print_note(job: &mut CurlTransfer<'_, '_>, text: &str) {
    if job.globals.verbose {
        let _ = writeln!(job.ctx.stderr, "* {text}");
    }
}

/// Prints a head line by line (`-v`).
fn print_head_lines(job: &mut CurlTransfer<'_, '_>, sign: &str, text: &[u8]) {
    if !job.globals.verbose {
        return;
    }
    let mut out = Vec::new();
    for line in text.split_inclusive(|b| *b == b'\n') {
        out.extend(sign.as_bytes());
        out.extend(line);
    }
    let _ = job.ctx.stderr.write_all(&out);
}

/// Returns the first hop of a URL.
pub(crate) fn make_first_hop(
    op: &CurlOperation,
    mut url: Url,
    body: RequestBody,
    kind: Option<Vec<u8>>,
) -> CurlHop {
    if let Some(data) = op.data.as_ref().filter(|_| op.get) {
        url.add_query(data);
    }
    op.query.iter().for_each(|more| url.add_query(more));
    CurlHop::first(op, url, body, kind)
}
