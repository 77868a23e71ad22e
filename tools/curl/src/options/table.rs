//! All options, each declared once; what one does is in its kind.

use super::{BodyOutput, CurlOperation, CurlParser, Globals};
use crate::error::CurlUsageError;
use crate::{config, data, form};

type Text = Option<Vec<u8>>;
type Run = fn(&mut CurlParser<'_, '_>, &[u8]) -> Result<(), CurlUsageError>;

/// What an option does.
#[derive(Clone, Copy)]
pub(crate) enum CurlOptionKind {
    Global(fn(&mut Globals) -> &mut bool),
    Flag(fn(&mut CurlOperation) -> &mut bool),
    Text(fn(&mut CurlOperation) -> &mut Text),
    List(fn(&mut CurlOperation) -> &mut Vec<Vec<u8>>),
    Count(fn(&mut CurlOperation) -> &mut u64),
    Seconds(fn(&mut CurlOperation) -> &mut f64),
    /// With the name of its value, empty for none.
    Do(&'static str, Run),
    IgnoreValue,
    /// Whether it has a value, and why it is refused.
    Refused(bool, &'static str),
}

impl CurlOptionKind {
    pub(crate) fn takes_value(self) -> bool {
        !self.value().is_empty()
    }

    pub(crate) fn is_flag(self) -> bool {
        matches!(
            self,
            CurlOptionKind::Global(_) | CurlOptionKind::Flag(_) | CurlOptionKind::Refused(false, _)
        )
    }

    /// What help calls the value.
    pub(crate) fn value(self) -> &'static str {
        match self {
            CurlOptionKind::Global(_)
            | CurlOptionKind::Flag(_)
            | CurlOptionKind::Refused(false, _) => "",
            CurlOptionKind::Text(_) | CurlOptionKind::List(_) => "<text>",
            CurlOptionKind::Count(_) => "<number>",
            CurlOptionKind::Seconds(_) => "<seconds>",
            CurlOptionKind::Do(value, _) => value,
            CurlOptionKind::IgnoreValue | CurlOptionKind::Refused(true, _) => "<value>",
        }
    }
}

/// One option; without help text it is not listed.
pub(crate) struct CurlOption {
    pub(crate) short: Option<char>,
    pub(crate) long: &'static str,
    pub(crate) kind: CurlOptionKind,
    pub(crate) help: &'static str,
}

const fn short(
    short: char,
    long: &'static str,
    kind: CurlOptionKind,
    help: &'static str,
) -> CurlOption {
    CurlOption { short: Some(short), long, kind, help }
}

const fn long(long: &'static str, kind: CurlOptionKind, help: &'static str) -> CurlOption {
    CurlOption { short: None, long, kind, help }
}

/// Taken and without meaning here.
const fn ignored(name: &'static str) -> CurlOption {
    long(name, CurlOptionKind::Flag(|o| &mut o.ignored), "")
}

const NO_PROXY: &str = "there are no proxies here: the sandbox's host makes the connections";
const CHECKED: &str = "certificates are always checked: the sandbox's host speaks TLS";
const BY_HOST: &str = "the sandbox's host makes the connections, as its policy says";
const NO_AUTH: &str = "only Basic and Bearer are supported here";

pub(crate) const OPTIONS: &[CurlOption] = &[
    long("basic", CurlOptionKind::Flag(|o| &mut o.ignored), "HTTP Basic Authentication"),
    long("compressed", CurlOptionKind::Flag(|o| &mut o.compressed), "Request compressed response"),
    short('K', "config", CurlOptionKind::Do("<file>", config::option), "Read config from a file"),
    long(
        "connect-timeout",
        CurlOptionKind::Seconds(|o| &mut o.connect_timeout),
        "Maximum time allowed to connect",
    ),
    short(
        'C',
        "continue-at",
        CurlOptionKind::Text(|o| &mut o.resume),
        "Resumed transfer offset, - for what is there",
    ),
    short(
        'b',
        "cookie",
        CurlOptionKind::List(|o| &mut o.cookies),
        "Send cookies from string/load from file",
    ),
    short(
        'c',
        "cookie-jar",
        CurlOptionKind::Text(|o| &mut o.cookie_jar),
        "Save cookies to <filename> after operation",
    ),
    long(
        "create-dirs",
        CurlOptionKind::Flag(|o| &mut o.create_dirs),
        "Create necessary local directory hierarchy",
    ),
    short('d', "data", CurlOptionKind::Do("<data>", data), "HTTP POST data"),
    long("data-ascii", CurlOptionKind::Do("<data>", data), "HTTP POST ASCII data"),
    long("data-binary", CurlOptionKind::Do("<data>", data_binary), "HTTP POST binary data"),
    long("data-raw", CurlOptionKind::Do("<data>", data_raw), "HTTP POST data, '@' allowed"),
    long(
        "data-urlencode",
        CurlOptionKind::Do("<data>", data_urlencode),
        "HTTP POST data URL encoded",
    ),
    short('q', "disable", CurlOptionKind::Flag(|o| &mut o.ignored), "Disable .curlrc"),
    short(
        'D',
        "dump-header",
        CurlOptionKind::Text(|o| &mut o.dump_header),
        "Write the received headers to <filename>",
    ),
    short(
        'f',
        "fail",
        CurlOptionKind::Flag(|o| &mut o.fail),
        "Fail fast with no output on HTTP errors",
    ),
    long(
        "fail-early",
        CurlOptionKind::Global(|g| &mut g.fail_early),
        "Fail on first transfer error",
    ),
    long(
        "fail-with-body",
        CurlOptionKind::Flag(|o| &mut o.fail_with_body),
        "Fail on HTTP errors but save the body",
    ),
    short(
        'F',
        "form",
        CurlOptionKind::Do("<name=content>", form_field),
        "Specify multipart MIME data",
    ),
    long(
        "form-string",
        CurlOptionKind::Do("<name=string>", form_string),
        "Specify multipart MIME data",
    ),
    short(
        'G',
        "get",
        CurlOptionKind::Flag(|o| &mut o.get),
        "Put the post data in the URL and use GET",
    ),
    short(
        'g',
        "globoff",
        CurlOptionKind::Flag(|o| &mut o.globs_off),
        "Disable URL globbing with {} and []",
    ),
    short('I', "head", CurlOptionKind::Flag(|o| &mut o.head), "Show document info only"),
    short(
        'H',
        "header",
        CurlOptionKind::Do("<header/@file>", header),
        "Pass custom header(s) to server",
    ),
    short(
        'h',
        "help",
        CurlOptionKind::Do("", |p, _| {
            p.asked.help = true;
            Ok(())
        }),
        "Get help for commands",
    ),
    short(
        'i',
        "include",
        CurlOptionKind::Flag(|o| &mut o.include),
        "Include response headers in output",
    ),
    long("show-headers", CurlOptionKind::Flag(|o| &mut o.include), ""),
    long("json", CurlOptionKind::Do("<data>", json), "HTTP POST JSON"),
    short(
        'j',
        "junk-session-cookies",
        CurlOptionKind::Flag(|o| &mut o.junk_session),
        "Ignore session cookies read from file",
    ),
    short('L', "location", CurlOptionKind::Flag(|o| &mut o.follow), "Follow redirects"),
    long("location-trusted", CurlOptionKind::Do("", trusted), "Same, and send auth to other hosts"),
    long(
        "max-filesize",
        CurlOptionKind::Count(|o| &mut o.max_size),
        "Maximum file size to download",
    ),
    long(
        "max-redirs",
        CurlOptionKind::Do("<num>", max_redirs),
        "Maximum number of redirects allowed",
    ),
    short(
        'm',
        "max-time",
        CurlOptionKind::Seconds(|o| &mut o.max_time),
        "Maximum time allowed for transfer",
    ),
    short(
        ':',
        "next",
        CurlOptionKind::Do("", next),
        "Make next URL use its separate set of options",
    ),
    long("oauth2-bearer", CurlOptionKind::Text(|o| &mut o.bearer), "OAuth 2 Bearer Token"),
    short('o', "output", CurlOptionKind::Do("<file>", output), "Write to file instead of stdout"),
    long("output-dir", CurlOptionKind::Text(|o| &mut o.output_dir), "Directory to save files in"),
    short(
        'Z',
        "parallel",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: transfers go one after another",
    ),
    long(
        "post301",
        CurlOptionKind::Flag(|o| &mut o.keep_post[0]),
        "Do not switch to GET after following a 301",
    ),
    long(
        "post302",
        CurlOptionKind::Flag(|o| &mut o.keep_post[1]),
        "Do not switch to GET after following a 302",
    ),
    long(
        "post303",
        CurlOptionKind::Flag(|o| &mut o.keep_post[2]),
        "Do not switch to GET after following a 303",
    ),
    short(
        '#',
        "progress-bar",
        CurlOptionKind::Global(|g| &mut g.bar),
        "Display transfer progress as a bar",
    ),
    long(
        "no-progress-meter",
        CurlOptionKind::Global(|g| &mut g.no_meter),
        "Do not show the progress meter",
    ),
    short(
        'r',
        "range",
        CurlOptionKind::Text(|o| &mut o.range),
        "Retrieve only the bytes within RANGE",
    ),
    short('e', "referer", CurlOptionKind::Text(|o| &mut o.referer), "Referrer URL"),
    short(
        'J',
        "remote-header-name",
        CurlOptionKind::Flag(|o| &mut o.content_disposition),
        "Use the header-provided filename",
    ),
    short(
        'O',
        "remote-name",
        CurlOptionKind::Do("", remote_name),
        "Write output to file named as remote file",
    ),
    long(
        "remote-name-all",
        CurlOptionKind::Flag(|o| &mut o.remote_name_all),
        "Use the remote file name for all URLs",
    ),
    long(
        "remove-on-error",
        CurlOptionKind::Flag(|o| &mut o.remove_on_error),
        "Remove output file on errors",
    ),
    short('X', "request", CurlOptionKind::Text(|o| &mut o.method), "Specify request method to use"),
    long(
        "retry",
        CurlOptionKind::Count(|o| &mut o.retry),
        "Retry request if transient problems occur",
    ),
    long(
        "retry-all-errors",
        CurlOptionKind::Flag(|o| &mut o.retry_all),
        "Retry all errors (with --retry)",
    ),
    long(
        "retry-connrefused",
        CurlOptionKind::Flag(|o| &mut o.retry_refused),
        "Retry on connection refused (with --retry)",
    ),
    long(
        "retry-delay",
        CurlOptionKind::Seconds(|o| &mut o.retry_delay),
        "Wait time between retries",
    ),
    long(
        "retry-max-time",
        CurlOptionKind::Seconds(|o| &mut o.retry_max_time),
        "Retry only within this period",
    ),
    short(
        'S',
        "show-error",
        CurlOptionKind::Global(|g| &mut g.show_error),
        "Show error even when -s is used",
    ),
    short('s', "silent", CurlOptionKind::Global(|g| &mut g.silent), "Silent mode"),
    short(
        'T',
        "upload-file",
        CurlOptionKind::List(|o| &mut o.uploads),
        "Transfer local FILE to destination",
    ),
    long("url", CurlOptionKind::List(|o| &mut o.urls), "URL to work with"),
    long("url-query", CurlOptionKind::Do("<data>", url_query), "Add a URL query part"),
    short('u', "user", CurlOptionKind::Text(|o| &mut o.user), "Server user and password"),
    short(
        'A',
        "user-agent",
        CurlOptionKind::Text(|o| &mut o.agent),
        "Send User-Agent <name> to server",
    ),
    short(
        'v',
        "verbose",
        CurlOptionKind::Global(|g| &mut g.verbose),
        "Make the operation more talkative",
    ),
    short(
        'V',
        "version",
        CurlOptionKind::Do("", |p, _| {
            p.asked.version = true;
            Ok(())
        }),
        "Show version number and quit",
    ),
    short(
        'w',
        "write-out",
        CurlOptionKind::Do("<format>", write_out),
        "Output FORMAT after completion",
    ),
    // The host decides about these, or they are so anyway.
    short('0', "http1.0", CurlOptionKind::Flag(|o| &mut o.ignored), ""),
    ignored("http1.1"),
    ignored("http2"),
    short(
        '4',
        "ipv4",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: the host resolves names",
    ),
    short(
        '6',
        "ipv6",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: the host resolves names",
    ),
    short(
        'N',
        "no-buffer",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: output is never held back",
    ),
    ignored("buffer"),
    ignored("keepalive"),
    ignored("sessionid"),
    ignored("tcp-nodelay"),
    ignored("styled-output"),
    ignored("parallel-immediate"),
    ignored("ssl-reqd"),
    ignored("tlsv1"),
    ignored("tlsv1.2"),
    long("parallel-max", CurlOptionKind::IgnoreValue, ""),
    long("keepalive-time", CurlOptionKind::IgnoreValue, ""),
    long("noproxy", CurlOptionKind::IgnoreValue, "Accepted: there are no proxies"),
    long("proto", CurlOptionKind::IgnoreValue, "Accepted: only http and https are spoken"),
    long("proto-default", CurlOptionKind::Refused(true, BY_HOST), ""),
    short('k', "insecure", CurlOptionKind::Refused(false, CHECKED), ""),
    short('x', "proxy", CurlOptionKind::Do("<proxy>", proxy), ""),
    short('U', "proxy-user", CurlOptionKind::Refused(true, NO_PROXY), ""),
    long("socks5", CurlOptionKind::Refused(true, NO_PROXY), ""),
    long("socks5-hostname", CurlOptionKind::Refused(true, NO_PROXY), ""),
    short('E', "cert", CurlOptionKind::Refused(true, BY_HOST), ""),
    long("key", CurlOptionKind::Refused(true, BY_HOST), ""),
    long("cacert", CurlOptionKind::Refused(true, CHECKED), ""),
    long("capath", CurlOptionKind::Refused(true, CHECKED), ""),
    long("resolve", CurlOptionKind::Refused(true, BY_HOST), ""),
    long("connect-to", CurlOptionKind::Refused(true, BY_HOST), ""),
    long("interface", CurlOptionKind::Refused(true, BY_HOST), ""),
    long("unix-socket", CurlOptionKind::Refused(true, BY_HOST), ""),
    long("doh-url", CurlOptionKind::Refused(true, BY_HOST), ""),
    long("limit-rate", CurlOptionKind::Refused(true, BY_HOST), ""),
    long("path-as-is", CurlOptionKind::Refused(false, BY_HOST), ""),
    long("digest", CurlOptionKind::Refused(false, NO_AUTH), ""),
    long("ntlm", CurlOptionKind::Refused(false, NO_AUTH), ""),
    long("negotiate", CurlOptionKind::Refused(false, NO_AUTH), ""),
    long("anyauth", CurlOptionKind::Refused(false, NO_AUTH), ""),
];

fn data(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let text = p.text_or_file(value, true)?;
    p.add_data(&text, true);
    Ok(())
}

fn data_binary(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let text = p.text_or_file(value, false)?;
    p.add_data(&text, true);
    Ok(())
}

fn data_raw(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    p.add_data(value, true);
    Ok(())
}

fn data_urlencode(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let text = data::encoded(p, value)?;
    p.add_data(&text, true);
    Ok(())
}

fn url_query(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let text = match value.strip_prefix(b"+") {
        Some(raw) => raw.to_vec(),
        None => data::encoded(p, value)?,
    };
    p.op().query.push(text);
    Ok(())
}

fn json(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let text = p.text_or_file(value, false)?;
    p.add_data(&text, false);
    p.op().json = true;
    Ok(())
}

fn form_field(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let field = form::field(p, value)?;
    p.op().form.push(field);
    Ok(())
}

fn form_string(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let field = form::literal(value).ok_or_else(|| p.bad())?;
    p.op().form.push(field);
    Ok(())
}

fn header(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let Some(name) = value.strip_prefix(b"@") else {
        p.op().headers.push(value.to_vec());
        return Ok(());
    };
    let text = p.read(name)?;
    let lines = text.split(|b| *b == b'\n').map(|l| l.strip_suffix(b"\r").unwrap_or(l));
    p.op().headers.extend(lines.filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
    Ok(())
}

fn trusted(p: &mut CurlParser<'_, '_>, _: &[u8]) -> Result<(), CurlUsageError> {
    p.op().follow = true;
    p.op().trusted = true;
    Ok(())
}

fn max_redirs(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let n = std::str::from_utf8(value).ok().and_then(|v| v.parse::<i64>().ok());
    let n = n.filter(|n| *n >= -1).ok_or_else(|| CurlUsageError::Number(p.shown.clone()))?;
    p.op().max_redirs = Some(u64::try_from(n).ok());
    Ok(())
}

fn next(p: &mut CurlParser<'_, '_>, _: &[u8]) -> Result<(), CurlUsageError> {
    if p.op().urls.is_empty() {
        return Err(CurlUsageError::NoUrl);
    }
    p.asked.ops.push(CurlOperation::default());
    Ok(())
}

fn output(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    p.op().outs.push(BodyOutput::File(value.to_vec()));
    Ok(())
}

fn remote_name(p: &mut CurlParser<'_, '_>, _: &[u8]) -> Result<(), CurlUsageError> {
    p.op().outs.push(BodyOutput::Remote);
    Ok(())
}

fn proxy(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    // An empty one means none.
    if value.is_empty() { Ok(()) } else { Err(CurlUsageError::Refused(p.shown.clone(), NO_PROXY)) }
}

fn write_out(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let format = p.text_or_file(value, true)?;
    p.op().write_out = Some(format);
    Ok(())
}
