//! All options, each declared once; an option's kind says how it is applied.

use super::{BodyOutput, CurlOperation, CurlParser, Globals};
use crate::error::CurlUsageError;
use crate::{config, data, form};

type Text = Option<Vec<u8>>;
type Run = fn(&mut CurlParser<'_, '_>, &[u8]) -> Result<(), CurlUsageError>;

/// The effect of an option.
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

    /// Returns the name of the option's value in the help text.
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

const fn short_option(
    short: char,
    long: &'static str,
    kind: CurlOptionKind,
    help: &'static str,
) -> CurlOption {
    CurlOption { short: Some(short), long, kind, help }
}

const fn long_option(long: &'static str, kind: CurlOptionKind, help: &'static str) -> CurlOption {
    CurlOption { short: None, long, kind, help }
}

/// Taken and without meaning here.
const fn ignored_option(name: &'static str) -> CurlOption {
    long_option(name, CurlOptionKind::Flag(|o| &mut o.ignored), "")
}

const NO_PROXY: &str = "there are no proxies here: the sandbox's host makes the connections";
const CHECKED: &str = "certificates are always checked: the sandbox's host speaks TLS";
const BY_HOST: &str = "the sandbox's host makes the connections, as its policy says";
const NO_AUTH: &str = "only Basic and Bearer are supported here";

pub(crate) const OPTIONS: &[CurlOption] = &[
    long_option("basic", CurlOptionKind::Flag(|o| &mut o.ignored), "HTTP Basic Authentication"),
    long_option(
        "compressed",
        CurlOptionKind::Flag(|o| &mut o.compressed),
        "Request compressed response",
    ),
    short_option(
        'K',
        "config",
        CurlOptionKind::Do("<file>", config::read_config),
        "Read config from a file",
    ),
    long_option(
        "connect-timeout",
        CurlOptionKind::Seconds(|o| &mut o.connect_timeout),
        "Maximum time allowed to connect",
    ),
    short_option(
        'C',
        "continue-at",
        CurlOptionKind::Text(|o| &mut o.resume),
        "Resumed transfer offset, - for what is there",
    ),
    short_option(
        'b',
        "cookie",
        CurlOptionKind::List(|o| &mut o.cookies),
        "Send cookies from string/load from file",
    ),
    short_option(
        'c',
        "cookie-jar",
        CurlOptionKind::Text(|o| &mut o.cookie_jar),
        "Save cookies to <filename> after operation",
    ),
    long_option(
        "create-dirs",
        CurlOptionKind::Flag(|o| &mut o.create_dirs),
        "Create necessary local directory hierarchy",
    ),
    short_option('d', "data", CurlOptionKind::Do("<data>", add_body_data), "HTTP POST data"),
    long_option("data-ascii", CurlOptionKind::Do("<data>", add_body_data), "HTTP POST ASCII data"),
    long_option("data-binary", CurlOptionKind::Do("<data>", data_binary), "HTTP POST binary data"),
    long_option("data-raw", CurlOptionKind::Do("<data>", data_raw), "HTTP POST data, '@' allowed"),
    long_option(
        "data-urlencode",
        CurlOptionKind::Do("<data>", data_urlencode),
        "HTTP POST data URL encoded",
    ),
    short_option('q', "disable", CurlOptionKind::Flag(|o| &mut o.ignored), "Disable .curlrc"),
    short_option(
        'D',
        "dump-header",
        CurlOptionKind::Text(|o| &mut o.dump_header),
        "Write the received headers to <filename>",
    ),
    short_option(
        'f',
        "fail",
        CurlOptionKind::Flag(|o| &mut o.fail),
        "Fail fast with no output on HTTP errors",
    ),
    long_option(
        "fail-early",
        CurlOptionKind::Global(|g| &mut g.fail_early),
        "Fail on first transfer error",
    ),
    long_option(
        "fail-with-body",
        CurlOptionKind::Flag(|o| &mut o.fail_with_body),
        "Fail on HTTP errors but save the body",
    ),
    short_option(
        'F',
        "form",
        CurlOptionKind::Do("<name=content>", form_field),
        "Specify multipart MIME data",
    ),
    long_option(
        "form-string",
        CurlOptionKind::Do("<name=string>", form_string),
        "Specify multipart MIME data",
    ),
    short_option(
        'G',
        "get",
        CurlOptionKind::Flag(|o| &mut o.get),
        "Put the post data in the URL and use GET",
    ),
    short_option(
        'g',
        "globoff",
        CurlOptionKind::Flag(|o| &mut o.globs_off),
        "Disable URL globbing with {} and []",
    ),
    short_option('I', "head", CurlOptionKind::Flag(|o| &mut o.head), "Show document info only"),
    short_option(
        'H',
        "header",
        CurlOptionKind::Do("<header/@file>", add_header),
        "Pass custom header(s) to server",
    ),
    short_option(
        'h',
        "help",
        CurlOptionKind::Do("", |p, _| {
            p.asked.help = true;
            Ok(())
        }),
        "Get help for commands",
    ),
    short_option(
        'i',
        "include",
        CurlOptionKind::Flag(|o| &mut o.include),
        "Include response headers in output",
    ),
    long_option("show-headers", CurlOptionKind::Flag(|o| &mut o.include), ""),
    long_option("json", CurlOptionKind::Do("<data>", set_json), "HTTP POST JSON"),
    short_option(
        'j',
        "junk-session-cookies",
        CurlOptionKind::Flag(|o| &mut o.junk_session),
        "Ignore session cookies read from file",
    ),
    short_option('L', "location", CurlOptionKind::Flag(|o| &mut o.follow), "Follow redirects"),
    long_option(
        "location-trusted",
        CurlOptionKind::Do("", add_trusted),
        "Same, and send auth to other hosts",
    ),
    long_option(
        "max-filesize",
        CurlOptionKind::Count(|o| &mut o.max_size),
        "Maximum file size to download",
    ),
    long_option(
        "max-redirs",
        CurlOptionKind::Do("<num>", max_redirs),
        "Maximum number of redirects allowed",
    ),
    short_option(
        'm',
        "max-time",
        CurlOptionKind::Seconds(|o| &mut o.max_time),
        "Maximum time allowed for transfer",
    ),
    short_option(
        ':',
        "next",
        CurlOptionKind::Do("", next),
        "Make next URL use its separate set of options",
    ),
    long_option("oauth2-bearer", CurlOptionKind::Text(|o| &mut o.bearer), "OAuth 2 Bearer Token"),
    short_option(
        'o',
        "output",
        CurlOptionKind::Do("<file>", add_output),
        "Write to file instead of stdout",
    ),
    long_option(
        "output-dir",
        CurlOptionKind::Text(|o| &mut o.output_dir),
        "Directory to save files in",
    ),
    short_option(
        'Z',
        "parallel",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: transfers go one after another",
    ),
    long_option(
        "post301",
        CurlOptionKind::Flag(|o| &mut o.keep_post[0]),
        "Do not switch to GET after following a 301",
    ),
    long_option(
        "post302",
        CurlOptionKind::Flag(|o| &mut o.keep_post[1]),
        "Do not switch to GET after following a 302",
    ),
    long_option(
        "post303",
        CurlOptionKind::Flag(|o| &mut o.keep_post[2]),
        "Do not switch to GET after following a 303",
    ),
    short_option(
        '#',
        "progress-bar",
        CurlOptionKind::Global(|g| &mut g.bar),
        "Display transfer progress as a bar",
    ),
    long_option(
        "no-progress-meter",
        CurlOptionKind::Global(|g| &mut g.no_meter),
        "Do not show the progress meter",
    ),
    short_option(
        'r',
        "range",
        CurlOptionKind::Text(|o| &mut o.range),
        "Retrieve only the bytes within RANGE",
    ),
    short_option('e', "referer", CurlOptionKind::Text(|o| &mut o.referer), "Referrer URL"),
    short_option(
        'J',
        "remote-header-name",
        CurlOptionKind::Flag(|o| &mut o.content_disposition),
        "Use the header-provided filename",
    ),
    short_option(
        'O',
        "remote-name",
        CurlOptionKind::Do("", remote_name),
        "Write output to file named as remote file",
    ),
    long_option(
        "remote-name-all",
        CurlOptionKind::Flag(|o| &mut o.remote_name_all),
        "Use the remote file name for all URLs",
    ),
    long_option(
        "remove-on-error",
        CurlOptionKind::Flag(|o| &mut o.remove_on_error),
        "Remove output file on errors",
    ),
    short_option(
        'X',
        "request",
        CurlOptionKind::Text(|o| &mut o.method),
        "Specify request method to use",
    ),
    long_option(
        "retry",
        CurlOptionKind::Count(|o| &mut o.retry),
        "Retry request if transient problems occur",
    ),
    long_option(
        "retry-all-errors",
        CurlOptionKind::Flag(|o| &mut o.retry_all),
        "Retry all errors (with --retry)",
    ),
    long_option(
        "retry-connrefused",
        CurlOptionKind::Flag(|o| &mut o.retry_refused),
        "Retry on connection refused (with --retry)",
    ),
    long_option(
        "retry-delay",
        CurlOptionKind::Seconds(|o| &mut o.retry_delay),
        "Wait time between retries",
    ),
    long_option(
        "retry-max-time",
        CurlOptionKind::Seconds(|o| &mut o.retry_max_time),
        "Retry only within this period",
    ),
    short_option(
        'S',
        "show-error",
        CurlOptionKind::Global(|g| &mut g.show_error),
        "Show error even when -s is used",
    ),
    short_option('s', "silent", CurlOptionKind::Global(|g| &mut g.silent), "Silent mode"),
    short_option(
        'T',
        "upload-file",
        CurlOptionKind::List(|o| &mut o.uploads),
        "Transfer local FILE to destination",
    ),
    long_option("url", CurlOptionKind::List(|o| &mut o.urls), "URL to work with"),
    long_option("url-query", CurlOptionKind::Do("<data>", url_query), "Add a URL query part"),
    short_option('u', "user", CurlOptionKind::Text(|o| &mut o.user), "Server user and password"),
    short_option(
        'A',
        "user-agent",
        CurlOptionKind::Text(|o| &mut o.agent),
        "Send User-Agent <name> to server",
    ),
    short_option(
        'v',
        "verbose",
        CurlOptionKind::Global(|g| &mut g.verbose),
        "Make the operation more talkative",
    ),
    short_option(
        'V',
        "version",
        CurlOptionKind::Do("", |p, _| {
            p.asked.version = true;
            Ok(())
        }),
        "Show version number and quit",
    ),
    short_option(
        'w',
        "write-out",
        CurlOptionKind::Do("<format>", write_out),
        "Output FORMAT after completion",
    ),
    // The host decides about these, or they are so anyway.
    short_option('0', "http1.0", CurlOptionKind::Flag(|o| &mut o.ignored), ""),
    ignored_option("http1.1"),
    ignored_option("http2"),
    short_option(
        '4',
        "ipv4",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: the host resolves names",
    ),
    short_option(
        '6',
        "ipv6",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: the host resolves names",
    ),
    short_option(
        'N',
        "no-buffer",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: output is never held back",
    ),
    ignored_option("buffer"),
    ignored_option("keepalive"),
    ignored_option("sessionid"),
    ignored_option("tcp-nodelay"),
    ignored_option("styled-output"),
    ignored_option("parallel-immediate"),
    ignored_option("ssl-reqd"),
    ignored_option("tlsv1"),
    ignored_option("tlsv1.2"),
    long_option("parallel-max", CurlOptionKind::IgnoreValue, ""),
    long_option("keepalive-time", CurlOptionKind::IgnoreValue, ""),
    long_option("noproxy", CurlOptionKind::IgnoreValue, "Accepted: there are no proxies"),
    long_option("proto", CurlOptionKind::IgnoreValue, "Accepted: only http and https are spoken"),
    long_option("proto-default", CurlOptionKind::Refused(true, BY_HOST), ""),
    short_option('k', "insecure", CurlOptionKind::Refused(false, CHECKED), ""),
    short_option('x', "proxy", CurlOptionKind::Do("<proxy>", set_proxy), ""),
    short_option('U', "proxy-user", CurlOptionKind::Refused(true, NO_PROXY), ""),
    long_option("socks5", CurlOptionKind::Refused(true, NO_PROXY), ""),
    long_option("socks5-hostname", CurlOptionKind::Refused(true, NO_PROXY), ""),
    short_option('E', "cert", CurlOptionKind::Refused(true, BY_HOST), ""),
    long_option("key", CurlOptionKind::Refused(true, BY_HOST), ""),
    long_option("cacert", CurlOptionKind::Refused(true, CHECKED), ""),
    long_option("capath", CurlOptionKind::Refused(true, CHECKED), ""),
    long_option("resolve", CurlOptionKind::Refused(true, BY_HOST), ""),
    long_option("connect-to", CurlOptionKind::Refused(true, BY_HOST), ""),
    long_option("interface", CurlOptionKind::Refused(true, BY_HOST), ""),
    long_option("unix-socket", CurlOptionKind::Refused(true, BY_HOST), ""),
    long_option("doh-url", CurlOptionKind::Refused(true, BY_HOST), ""),
    long_option("limit-rate", CurlOptionKind::Refused(true, BY_HOST), ""),
    long_option("path-as-is", CurlOptionKind::Refused(false, BY_HOST), ""),
    long_option("digest", CurlOptionKind::Refused(false, NO_AUTH), ""),
    long_option("ntlm", CurlOptionKind::Refused(false, NO_AUTH), ""),
    long_option("negotiate", CurlOptionKind::Refused(false, NO_AUTH), ""),
    long_option("anyauth", CurlOptionKind::Refused(false, NO_AUTH), ""),
];

fn add_body_data(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
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
    let text = data::urlencode_data(p, value)?;
    p.add_data(&text, true);
    Ok(())
}

fn url_query(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let text = match value.strip_prefix(b"+") {
        Some(raw) => raw.to_vec(),
        None => data::urlencode_data(p, value)?,
    };
    p.current_op().query.push(text);
    Ok(())
}

fn set_json(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let text = p.text_or_file(value, false)?;
    p.add_data(&text, false);
    p.current_op().json = true;
    Ok(())
}

fn form_field(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let field = form::parse_field(p, value)?;
    p.current_op().form.push(field);
    Ok(())
}

fn form_string(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let field = form::literal_field(value).ok_or_else(|| p.bad_parameter())?;
    p.current_op().form.push(field);
    Ok(())
}

fn add_header(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let Some(name) = value.strip_prefix(b"@") else {
        p.current_op().headers.push(value.to_vec());
        return Ok(());
    };
    let text = p.read(name)?;
    let lines = text.split(|b| *b == b'\n').map(|l| l.strip_suffix(b"\r").unwrap_or(l));
    p.current_op().headers.extend(lines.filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
    Ok(())
}

fn add_trusted(p: &mut CurlParser<'_, '_>, _: &[u8]) -> Result<(), CurlUsageError> {
    p.current_op().follow = true;
    p.current_op().trusted = true;
    Ok(())
}

fn max_redirs(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let n = std::str::from_utf8(value).ok().and_then(|v| v.parse::<i64>().ok());
    let n = n.filter(|n| *n >= -1).ok_or_else(|| CurlUsageError::Number(p.shown.clone()))?;
    p.current_op().max_redirs = Some(u64::try_from(n).ok());
    Ok(())
}

fn next(p: &mut CurlParser<'_, '_>, _: &[u8]) -> Result<(), CurlUsageError> {
    if p.current_op().urls.is_empty() {
        return Err(CurlUsageError::NoUrl);
    }
    p.asked.ops.push(CurlOperation::default());
    Ok(())
}

fn add_output(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    p.current_op().outs.push(BodyOutput::File(value.to_vec()));
    Ok(())
}

fn remote_name(p: &mut CurlParser<'_, '_>, _: &[u8]) -> Result<(), CurlUsageError> {
    p.current_op().outs.push(BodyOutput::Remote);
    Ok(())
}

fn set_proxy(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    // An empty one means none.
    if value.is_empty() { Ok(()) } else { Err(CurlUsageError::Refused(p.shown.clone(), NO_PROXY)) }
}

fn write_out(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let format = p.text_or_file(value, true)?;
    p.current_op().write_out = Some(format);
    Ok(())
}
