//! All options, each declared once. An option's kind says how it is applied.

use box_applet::help::words;

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
    /// Calls a function. The text is the name of the option's value, or empty if it takes none.
    Do(&'static str, Run),
    IgnoreValue,
    /// Whether the option takes a value, and the reason why the option is refused.
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

/// One option; it is not listed in the help if it has no help text.
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

/// Declares an option that is accepted without effect.
const fn ignored_option(name: &'static str) -> CurlOption {
    long_option(name, CurlOptionKind::Flag(|o| &mut o.ignored), "")
}

const NO_PROXY: &str = "there are no proxies here: the sandbox's host makes the connections";
const CHECKED: &str = "certificates are always checked: the sandbox's host speaks TLS";
const BY_HOST: &str = "the sandbox's host makes the connections, as its policy says";
const NO_AUTH: &str = "only Basic and Bearer are supported here";

pub(crate) const OPTIONS: &[CurlOption] = &[
    long_option(
        "basic",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: -u always uses Basic authentication",
    ),
    long_option(
        "compressed",
        CurlOptionKind::Flag(|o| &mut o.compressed),
        "Ask for a compressed response, and decompress it",
    ),
    short_option(
        'K',
        "config",
        CurlOptionKind::Do("<file>", config::read_config),
        "Read options from a file",
    ),
    long_option(
        "connect-timeout",
        CurlOptionKind::Seconds(|o| &mut o.connect_timeout),
        "Give up after SECONDS without a connection",
    ),
    short_option(
        'C',
        "continue-at",
        CurlOptionKind::Text(|o| &mut o.resume),
        "Continue at this offset; - means the size of the file",
    ),
    short_option(
        'b',
        "cookie",
        CurlOptionKind::List(|o| &mut o.cookies),
        "Send cookies: 'a=1; b=2', or those of a file",
    ),
    short_option(
        'c',
        "cookie-jar",
        CurlOptionKind::Text(|o| &mut o.cookie_jar),
        "Write cookies to a file at the end",
    ),
    long_option(
        "create-dirs",
        CurlOptionKind::Flag(|o| &mut o.create_dirs),
        "Make the directories of output files",
    ),
    short_option(
        'd',
        "data",
        CurlOptionKind::Do("<data>", add_body_data),
        "Send a body by POST; @FILE reads it from a file, without newlines",
    ),
    long_option("data-ascii", CurlOptionKind::Do("<data>", add_body_data), words::SAME),
    long_option(
        "data-binary",
        CurlOptionKind::Do("<data>", data_binary),
        "Like -d, and @FILE as it is",
    ),
    long_option(
        "data-raw",
        CurlOptionKind::Do("<data>", data_raw),
        "Like -d, and @ is an ordinary character",
    ),
    long_option(
        "data-urlencode",
        CurlOptionKind::Do("<data>", data_urlencode),
        "Like -d, and encode what is special in forms",
    ),
    short_option(
        'q',
        "disable",
        CurlOptionKind::Flag(|o| &mut o.ignored),
        "Accepted: there is no .curlrc",
    ),
    short_option(
        'D',
        "dump-header",
        CurlOptionKind::Text(|o| &mut o.dump_header),
        "Write the response's headers to a file",
    ),
    short_option(
        'f',
        "fail",
        CurlOptionKind::Flag(|o| &mut o.fail),
        "For status 400 and above, print no body and end with status 22",
    ),
    long_option(
        "fail-early",
        CurlOptionKind::Global(|g| &mut g.fail_early),
        "End at the first transfer that fails",
    ),
    long_option(
        "fail-with-body",
        CurlOptionKind::Flag(|o| &mut o.fail_with_body),
        "Like -f, and print the body",
    ),
    short_option(
        'F',
        "form",
        CurlOptionKind::Do("<name=content>", form_field),
        "Send a form: name=value, name=@FILE, name=<FILE",
    ),
    long_option(
        "form-string",
        CurlOptionKind::Do("<name=string>", form_string),
        "Like -F, and @ and < are ordinary characters",
    ),
    short_option(
        'G',
        "get",
        CurlOptionKind::Flag(|o| &mut o.get),
        "Send the data of -d in the URL, by GET",
    ),
    short_option(
        'g',
        "globoff",
        CurlOptionKind::Flag(|o| &mut o.globs_off),
        "Take {} and [] in URLs as they are",
    ),
    short_option('I', "head", CurlOptionKind::Flag(|o| &mut o.head), "Ask for headers only (HEAD)"),
    short_option(
        'H',
        "header",
        CurlOptionKind::Do("<header/@file>", add_header),
        "Send a header: 'Name: value'; @FILE has several",
    ),
    short_option(
        'h',
        "help",
        CurlOptionKind::Do("", |p, _| {
            p.asked.help = true;
            Ok(())
        }),
        words::HELP,
    ),
    short_option(
        'i',
        "include",
        CurlOptionKind::Flag(|o| &mut o.include),
        "Print the response's headers, too",
    ),
    long_option("show-headers", CurlOptionKind::Flag(|o| &mut o.include), ""),
    long_option(
        "json",
        CurlOptionKind::Do("<data>", set_json),
        "Send JSON by POST; @FILE reads it from a file",
    ),
    short_option(
        'j',
        "junk-session-cookies",
        CurlOptionKind::Flag(|o| &mut o.junk_session),
        "With -b: leave out cookies without an end",
    ),
    short_option('L', "location", CurlOptionKind::Flag(|o| &mut o.follow), "Follow redirects"),
    long_option(
        "location-trusted",
        CurlOptionKind::Do("", add_trusted),
        "Like -L, and send the password to other hosts, too",
    ),
    long_option(
        "max-filesize",
        CurlOptionKind::Count(|o| &mut o.max_size),
        "Refuse bodies of more bytes",
    ),
    long_option(
        "max-redirs",
        CurlOptionKind::Do("<num>", max_redirs),
        "Follow at most N redirects (50); -1 sets no limit",
    ),
    short_option(
        'm',
        "max-time",
        CurlOptionKind::Seconds(|o| &mut o.max_time),
        "Give up after SECONDS",
    ),
    short_option(
        ':',
        "next",
        CurlOptionKind::Do("", next),
        "Begin the options of another transfer",
    ),
    long_option(
        "oauth2-bearer",
        CurlOptionKind::Text(|o| &mut o.bearer),
        "Send a token: 'Authorization: Bearer ...'",
    ),
    short_option(
        'o',
        "output",
        CurlOptionKind::Do("<file>", add_output),
        "Write the body to a file",
    ),
    long_option(
        "output-dir",
        CurlOptionKind::Text(|o| &mut o.output_dir),
        "Put the files of -o and -O into a directory",
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
        "Keep the method POST after status 301",
    ),
    long_option(
        "post302",
        CurlOptionKind::Flag(|o| &mut o.keep_post[1]),
        "Stay with POST after status 302",
    ),
    long_option(
        "post303",
        CurlOptionKind::Flag(|o| &mut o.keep_post[2]),
        "Stay with POST after status 303",
    ),
    short_option(
        '#',
        "progress-bar",
        CurlOptionKind::Global(|g| &mut g.bar),
        "Show progress as a bar",
    ),
    long_option(
        "no-progress-meter",
        CurlOptionKind::Global(|g| &mut g.no_meter),
        "Show no progress",
    ),
    short_option(
        'r',
        "range",
        CurlOptionKind::Text(|o| &mut o.range),
        "Ask for these bytes: 0-99, -100",
    ),
    short_option(
        'e',
        "referer",
        CurlOptionKind::Text(|o| &mut o.referer),
        "Send this as the referring page",
    ),
    short_option(
        'J',
        "remote-header-name",
        CurlOptionKind::Flag(|o| &mut o.content_disposition),
        "With -O: take the name that the server gives",
    ),
    short_option(
        'O',
        "remote-name",
        CurlOptionKind::Do("", remote_name),
        "Write the body to a file named as in the URL",
    ),
    long_option(
        "remote-name-all",
        CurlOptionKind::Flag(|o| &mut o.remote_name_all),
        "Do so for all URLs",
    ),
    long_option(
        "remove-on-error",
        CurlOptionKind::Flag(|o| &mut o.remove_on_error),
        "Remove the file if the transfer fails",
    ),
    short_option(
        'X',
        "request",
        CurlOptionKind::Text(|o| &mut o.method),
        "Use this method: PUT, DELETE, ...",
    ),
    long_option(
        "retry",
        CurlOptionKind::Count(|o| &mut o.retry),
        "Retry up to N times after transient errors",
    ),
    long_option(
        "retry-all-errors",
        CurlOptionKind::Flag(|o| &mut o.retry_all),
        "With --retry: retry after any error",
    ),
    long_option(
        "retry-connrefused",
        CurlOptionKind::Flag(|o| &mut o.retry_refused),
        "With --retry: retry also if the connection is refused",
    ),
    long_option(
        "retry-delay",
        CurlOptionKind::Seconds(|o| &mut o.retry_delay),
        "Wait so many seconds between tries",
    ),
    long_option(
        "retry-max-time",
        CurlOptionKind::Seconds(|o| &mut o.retry_max_time),
        "Stop trying after so many seconds",
    ),
    short_option(
        'S',
        "show-error",
        CurlOptionKind::Global(|g| &mut g.show_error),
        "With -s: print error messages",
    ),
    short_option(
        's',
        "silent",
        CurlOptionKind::Global(|g| &mut g.silent),
        "Print no progress and no error messages",
    ),
    short_option(
        'T',
        "upload-file",
        CurlOptionKind::List(|o| &mut o.uploads),
        "Send a file by PUT; - is standard input",
    ),
    long_option("url", CurlOptionKind::List(|o| &mut o.urls), "A URL, like an operand"),
    long_option(
        "url-query",
        CurlOptionKind::Do("<data>", url_query),
        "Add name=value to the URL, encoded",
    ),
    short_option('u', "user", CurlOptionKind::Text(|o| &mut o.user), "Send name:password"),
    short_option(
        'A',
        "user-agent",
        CurlOptionKind::Text(|o| &mut o.agent),
        "Send this as the program's name",
    ),
    short_option(
        'v',
        "verbose",
        CurlOptionKind::Global(|g| &mut g.verbose),
        "Print what is sent and received",
    ),
    short_option(
        'V',
        "version",
        CurlOptionKind::Do("", |p, _| {
            p.asked.version = true;
            Ok(())
        }),
        words::VERSION,
    ),
    short_option(
        'w',
        "write-out",
        CurlOptionKind::Do("<format>", write_out),
        "Print figures by a format at the end: '%{http_code}\\n'",
    ),
    // The host decides about these, or they are always in effect.
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
    // An empty value selects no proxy.
    if value.is_empty() { Ok(()) } else { Err(CurlUsageError::Refused(p.shown.clone(), NO_PROXY)) }
}

fn write_out(p: &mut CurlParser<'_, '_>, value: &[u8]) -> Result<(), CurlUsageError> {
    let format = p.text_or_file(value, true)?;
    p.current_op().write_out = Some(format);
    Ok(())
}
