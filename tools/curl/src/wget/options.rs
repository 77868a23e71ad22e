//! The command line (wget(1)): options may appear anywhere, long ones may be abbreviated.

use box_applet::help::{HelpPage, HelpSection, words};
use thiserror::Error;

/// The parsed command line.
#[derive(Debug, Default)]
pub(super) struct WgetOptions {
    pub(super) urls: Vec<Vec<u8>>,
    pub(super) help: bool,
    pub(super) version: bool,
    pub(super) quiet: bool,
    pub(super) terse: bool,
    pub(super) verbose: bool,
    pub(super) document: Option<Vec<u8>>,
    pub(super) log: Option<Vec<u8>>,
    pub(super) log_more: Option<Vec<u8>>,
    pub(super) list: Option<Vec<u8>>,
    pub(super) prefix: Option<Vec<u8>>,
    pub(super) resume: bool,
    pub(super) newer: bool,
    pub(super) no_clobber: bool,
    pub(super) headers: Vec<Vec<u8>>,
    pub(super) method: Option<Vec<u8>>,
    pub(super) body: Option<Vec<u8>>,
    pub(super) body_file: Option<Vec<u8>>,
    pub(super) post: Option<Vec<u8>>,
    pub(super) post_file: Option<Vec<u8>>,
    pub(super) agent: Option<Vec<u8>>,
    pub(super) referer: Option<Vec<u8>>,
    pub(super) user: Option<Vec<u8>>,
    pub(super) password: Option<Vec<u8>>,
    pub(super) no_challenge: bool,
    pub(super) show_head: bool,
    pub(super) save_head: bool,
    pub(super) on_error: bool,
    pub(super) spider: bool,
    pub(super) disposition: bool,
    pub(super) trust_names: bool,
    pub(super) refused_too: bool,
    pub(super) no_times: bool,
    pub(super) tries: Option<f64>,
    pub(super) timeout: f64,
    pub(super) connect_timeout: f64,
    pub(super) wait: f64,
    pub(super) wait_retry: Option<f64>,
    pub(super) redirects: Option<f64>,
    pub(super) cookies: Option<Vec<u8>>,
    pub(super) save_cookies: Option<Vec<u8>>,
    pub(super) session_cookies: bool,
    ignored: bool,
}

/// The effect of an option.
#[derive(Clone, Copy)]
enum WgetOptionKind {
    Flag(fn(&mut WgetOptions) -> &mut bool),
    Text(fn(&mut WgetOptions) -> &mut Option<Vec<u8>>),
    Header,
    Seconds(fn(&mut WgetOptions) -> &mut f64),
    /// A number; `inf` counts as 0.
    Number(fn(&mut WgetOptions) -> &mut Option<f64>),
    /// Accepted without effect; the flag says whether it takes a value.
    Ignored(bool),
    Refused(bool, &'static str),
}

struct WgetOption {
    /// The letter; `nv` stands for `-nv`.
    short: &'static str,
    long: &'static str,
    kind: WgetOptionKind,
    help: &'static str,
}

const fn new_option(
    short: &'static str,
    long: &'static str,
    kind: WgetOptionKind,
    help: &'static str,
) -> WgetOption {
    WgetOption { short, long, kind, help }
}

const CHECKED: &str = "certificates are always checked: the sandbox's host speaks TLS";
const FILES: &str =
    "what a page needs or links to is not fetched; give the URLs, with -i from a list";
const BY_HOST: &str = "the sandbox's host makes the connections, as its policy says";
const NOT_HERE: &str = "it is not supported here";

const OPTIONS: &[WgetOption] = &[
    new_option("V", "version", WgetOptionKind::Flag(|o| &mut o.version), words::VERSION),
    new_option("h", "help", WgetOptionKind::Flag(|o| &mut o.help), words::HELP),
    new_option(
        "o",
        "output-file",
        WgetOptionKind::Text(|o| &mut o.log),
        "Write messages to the file TEXT",
    ),
    new_option(
        "a",
        "append-output",
        WgetOptionKind::Text(|o| &mut o.log_more),
        "Append messages to the file TEXT",
    ),
    new_option("q", "quiet", WgetOptionKind::Flag(|o| &mut o.quiet), "Write no messages"),
    new_option(
        "v",
        "verbose",
        WgetOptionKind::Flag(|o| &mut o.verbose),
        "Write all messages (the default)",
    ),
    new_option(
        "nv",
        "no-verbose",
        WgetOptionKind::Flag(|o| &mut o.terse),
        "Write one line for a file",
    ),
    new_option(
        "i",
        "input-file",
        WgetOptionKind::Text(|o| &mut o.list),
        "Read URLs from the file TEXT, or - for standard input",
    ),
    new_option(
        "t",
        "tries",
        WgetOptionKind::Number(|o| &mut o.tries),
        "Try at most N times (20); 0 sets no limit",
    ),
    new_option(
        "",
        "retry-connrefused",
        WgetOptionKind::Flag(|o| &mut o.refused_too),
        "Retry also if the connection is refused",
    ),
    new_option(
        "O",
        "output-document",
        WgetOptionKind::Text(|o| &mut o.document),
        "Write all documents to the file TEXT",
    ),
    new_option(
        "nc",
        "no-clobber",
        WgetOptionKind::Flag(|o| &mut o.no_clobber),
        "Do not fetch files that exist",
    ),
    new_option(
        "c",
        "continue",
        WgetOptionKind::Flag(|o| &mut o.resume),
        "Fetch the rest of incomplete files",
    ),
    new_option(
        "N",
        "timestamping",
        WgetOptionKind::Flag(|o| &mut o.newer),
        "Fetch only what is newer than the file",
    ),
    new_option(
        "",
        "no-use-server-timestamps",
        WgetOptionKind::Flag(|o| &mut o.no_times),
        "Do not set files' times to the server's",
    ),
    new_option(
        "S",
        "server-response",
        WgetOptionKind::Flag(|o| &mut o.show_head),
        "Show the response's head",
    ),
    new_option(
        "",
        "spider",
        WgetOptionKind::Flag(|o| &mut o.spider),
        "Check that URLs exist; fetch nothing",
    ),
    new_option(
        "T",
        "timeout",
        WgetOptionKind::Seconds(|o| &mut o.timeout),
        "Give a connection N seconds",
    ),
    new_option("", "read-timeout", WgetOptionKind::Seconds(|o| &mut o.timeout), ""),
    new_option("", "dns-timeout", WgetOptionKind::Seconds(|o| &mut o.connect_timeout), ""),
    new_option("", "connect-timeout", WgetOptionKind::Seconds(|o| &mut o.connect_timeout), ""),
    new_option("w", "wait", WgetOptionKind::Seconds(|o| &mut o.wait), "Wait between files"),
    new_option(
        "",
        "waitretry",
        WgetOptionKind::Number(|o| &mut o.wait_retry),
        "Wait 1 to N seconds before tries",
    ),
    new_option(
        "P",
        "directory-prefix",
        WgetOptionKind::Text(|o| &mut o.prefix),
        "Put files into the directory TEXT",
    ),
    new_option("", "user", WgetOptionKind::Text(|o| &mut o.user), "Send this name"),
    new_option("", "http-user", WgetOptionKind::Text(|o| &mut o.user), ""),
    new_option("", "password", WgetOptionKind::Text(|o| &mut o.password), "Send this password"),
    new_option("", "http-password", WgetOptionKind::Text(|o| &mut o.password), ""),
    new_option(
        "",
        "auth-no-challenge",
        WgetOptionKind::Flag(|o| &mut o.no_challenge),
        "Send this user name",
    ),
    new_option("", "header", WgetOptionKind::Header, "Send a header, as in 'Accept: text/plain'"),
    new_option(
        "",
        "max-redirect",
        WgetOptionKind::Number(|o| &mut o.redirects),
        "Follow N redirects (20)",
    ),
    new_option("", "referer", WgetOptionKind::Text(|o| &mut o.referer), "Send a Referer"),
    new_option(
        "",
        "save-headers",
        WgetOptionKind::Flag(|o| &mut o.save_head),
        "Write the response's head into the file",
    ),
    new_option(
        "U",
        "user-agent",
        WgetOptionKind::Text(|o| &mut o.agent),
        "Send another User-Agent",
    ),
    new_option(
        "",
        "load-cookies",
        WgetOptionKind::Text(|o| &mut o.cookies),
        "Read cookies from the file TEXT",
    ),
    new_option(
        "",
        "save-cookies",
        WgetOptionKind::Text(|o| &mut o.save_cookies),
        "Write cookies to the file TEXT",
    ),
    new_option(
        "",
        "keep-session-cookies",
        WgetOptionKind::Flag(|o| &mut o.session_cookies),
        "Write cookies without an end, too",
    ),
    new_option("", "post-data", WgetOptionKind::Text(|o| &mut o.post), "Send TEXT by POST"),
    new_option(
        "",
        "post-file",
        WgetOptionKind::Text(|o| &mut o.post_file),
        "Send the file TEXT by POST",
    ),
    new_option("", "method", WgetOptionKind::Text(|o| &mut o.method), "Use another method"),
    new_option(
        "",
        "body-data",
        WgetOptionKind::Text(|o| &mut o.body),
        "With --method: send a text",
    ),
    new_option(
        "",
        "body-file",
        WgetOptionKind::Text(|o| &mut o.body_file),
        "With --method: send a file",
    ),
    new_option(
        "",
        "content-disposition",
        WgetOptionKind::Flag(|o| &mut o.disposition),
        "Take the name that the server gives",
    ),
    new_option(
        "",
        "content-on-error",
        WgetOptionKind::Flag(|o| &mut o.on_error),
        "Write the body of an error response, too",
    ),
    new_option(
        "",
        "trust-server-names",
        WgetOptionKind::Flag(|o| &mut o.trust_names),
        "Name files after the last redirect's URL",
    ),
    new_option("", "no-check-certificate", WgetOptionKind::Refused(false, CHECKED), ""),
    new_option("", "check-certificate", WgetOptionKind::Ignored(true), ""),
    new_option("", "ca-certificate", WgetOptionKind::Refused(true, CHECKED), ""),
    new_option("", "certificate", WgetOptionKind::Refused(true, BY_HOST), ""),
    new_option("r", "recursive", WgetOptionKind::Refused(false, FILES), ""),
    new_option("m", "mirror", WgetOptionKind::Refused(false, FILES), ""),
    new_option("p", "page-requisites", WgetOptionKind::Refused(false, FILES), ""),
    new_option(
        "b",
        "background",
        WgetOptionKind::Refused(false, "end the command with & instead"),
        "",
    ),
    new_option("", "limit-rate", WgetOptionKind::Refused(true, NOT_HERE), ""),
    new_option("Q", "quota", WgetOptionKind::Refused(true, NOT_HERE), ""),
    new_option("", "proxy-user", WgetOptionKind::Refused(true, BY_HOST), ""),
    new_option("", "bind-address", WgetOptionKind::Refused(true, BY_HOST), ""),
    new_option("", "no-proxy", WgetOptionKind::Ignored(false), ""),
    new_option("", "no-hsts", WgetOptionKind::Ignored(false), ""),
    new_option("", "no-cache", WgetOptionKind::Ignored(false), ""),
    new_option("", "no-cookies", WgetOptionKind::Ignored(false), ""),
    new_option("", "no-dns-cache", WgetOptionKind::Ignored(false), ""),
    new_option("", "no-http-keep-alive", WgetOptionKind::Ignored(false), ""),
    new_option("nd", "no-directories", WgetOptionKind::Ignored(false), ""),
    new_option("nH", "no-host-directories", WgetOptionKind::Ignored(false), ""),
    new_option("np", "no-parent", WgetOptionKind::Ignored(false), ""),
    new_option("4", "inet4-only", WgetOptionKind::Flag(|o| &mut o.ignored), ""),
    new_option("6", "inet6-only", WgetOptionKind::Flag(|o| &mut o.ignored), ""),
    new_option("", "progress", WgetOptionKind::Ignored(true), ""),
    new_option("", "show-progress", WgetOptionKind::Ignored(false), ""),
    new_option("", "secure-protocol", WgetOptionKind::Ignored(true), ""),
    new_option("", "no-config", WgetOptionKind::Ignored(false), ""),
];

/// A command line that is not valid, with GNU's message.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum WgetUsageError {
    #[error("unrecognized option '{0}'")]
    Unknown(String),
    #[error("option '{0}' is ambiguous")]
    Ambiguous(String),
    #[error("invalid option -- '{0}'")]
    Letter(char),
    #[error("option '{0}' requires an argument")]
    Value(String),
    #[error("option '{0}' doesn't allow an argument")]
    NoValue(String),
    #[error("{0}: Invalid number '{1}'.")]
    Number(&'static str, String),
    #[error("{0}: Invalid header '{1}'.")]
    Header(&'static str, String),
    #[error("{0}: {1}")]
    Refused(String, &'static str),
    #[error("{0}")]
    Conflict(&'static str),
}

impl WgetOptionKind {
    fn takes_value(self) -> bool {
        !matches!(
            self,
            WgetOptionKind::Flag(_)
                | WgetOptionKind::Ignored(false)
                | WgetOptionKind::Refused(false, _)
        )
    }
}

fn shown_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Parses the arguments.
pub(super) fn parse(args: &[Vec<u8>]) -> Result<WgetOptions, WgetUsageError> {
    let mut asked = WgetOptions::default();
    let mut rest = args.iter().map(Vec::as_slice);
    while let Some(arg) = rest.next() {
        match arg {
            b"--" => asked.urls.extend(rest.by_ref().map(<[u8]>::to_vec)),
            [b'-', b'-', name @ ..] => parse_long(&mut asked, name, &mut rest)?,
            [b'-', letters @ ..] if !letters.is_empty() => {
                parse_short(&mut asked, letters, &mut rest)?
            }
            url => asked.urls.push(url.to_vec()),
        }
    }
    asked.check()?;
    Ok(asked)
}

type Rest<'a, 'r> = &'r mut dyn Iterator<Item = &'a [u8]>;

fn parse_long<'a>(
    asked: &mut WgetOptions,
    text: &'a [u8],
    rest: Rest<'a, '_>,
) -> Result<(), WgetUsageError> {
    let (name, value) = match text.iter().position(|b| *b == b'=') {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let name = shown_text(name);
    let written = format!("--{name}");
    let exact = OPTIONS.iter().find(|o| o.long == name);
    let mut begun = OPTIONS.iter().filter(|o| o.long.starts_with(&name));
    let opt = match (exact, begun.next(), begun.next()) {
        (Some(opt), ..) | (None, Some(opt), None) => opt,
        (None, None, _) => return Err(WgetUsageError::Unknown(written)),
        (None, Some(_), Some(_)) => return Err(WgetUsageError::Ambiguous(written)),
    };
    let value = match (opt.kind.takes_value(), value) {
        (false, None) => &b""[..],
        (false, Some(_)) => return Err(WgetUsageError::NoValue(format!("--{}", opt.long))),
        (true, Some(value)) => value,
        (true, None) => {
            rest.next().ok_or_else(|| WgetUsageError::Value(format!("--{}", opt.long)))?
        }
    };
    apply_option(asked, opt, &format!("--{}", opt.long), value)
}

fn parse_short<'a>(
    asked: &mut WgetOptions,
    letters: &'a [u8],
    rest: Rest<'a, '_>,
) -> Result<(), WgetUsageError> {
    let mut letters = letters;
    while let Some(first) = letters.first() {
        // `-nv` and similar options have two letters.
        let size = if *first == b'n' { 2 } else { 1 };
        let name = letters.get(..size).unwrap_or(letters);
        let found = OPTIONS.iter().find(|o| !o.short.is_empty() && o.short.as_bytes() == name);
        let opt = found.ok_or(WgetUsageError::Letter(char::from(*name.last().unwrap_or(first))))?;
        letters = &letters[name.len()..];
        let written = format!("-{}", opt.short);
        if !opt.kind.takes_value() {
            apply_option(asked, opt, &written, b"")?;
            continue;
        }
        let value = if letters.is_empty() { rest.next() } else { Some(letters) };
        let value = value.ok_or_else(|| WgetUsageError::Value(opt.short.to_owned()))?;
        return apply_option(asked, opt, &written, value);
    }
    Ok(())
}

fn apply_option(
    asked: &mut WgetOptions,
    opt: &'static WgetOption,
    written: &str,
    value: &[u8],
) -> Result<(), WgetUsageError> {
    let number = || WgetUsageError::Number(opt.long, shown_text(value));
    let parsed = || std::str::from_utf8(value).ok().and_then(|v| v.parse::<f64>().ok());
    let parsed = || parsed().filter(|n| (0.0..1e9).contains(n));
    match opt.kind {
        WgetOptionKind::Flag(flag) => *flag(asked) = true,
        WgetOptionKind::Text(text) => *text(asked) = Some(value.to_vec()),
        WgetOptionKind::Seconds(field) => *field(asked) = parsed().ok_or_else(number)?,
        WgetOptionKind::Number(field) if value == b"inf" => *field(asked) = Some(0.0),
        WgetOptionKind::Number(field) => *field(asked) = Some(parsed().ok_or_else(number)?),
        WgetOptionKind::Header if value.is_empty() => asked.headers.clear(),
        WgetOptionKind::Header if value.contains(&b':') => asked.headers.push(value.to_vec()),
        WgetOptionKind::Header => return Err(WgetUsageError::Header(opt.long, shown_text(value))),
        WgetOptionKind::Ignored(_) => {}
        WgetOptionKind::Refused(_, why) => {
            return Err(WgetUsageError::Refused(written.to_owned(), why));
        }
    }
    Ok(())
}

impl WgetOptions {
    /// Checks for options that GNU's wget does not accept together.
    fn check(&self) -> Result<(), WgetUsageError> {
        let conflict = |why| Err(WgetUsageError::Conflict(why));
        let posts = self.post.is_some() || self.post_file.is_some();
        let bodies = self.body.is_some() || self.body_file.is_some();
        if self.newer && self.no_clobber {
            return conflict("Can't timestamp and not clobber old files at the same time.");
        }
        if self.document.is_some() && self.no_clobber && self.urls.len() > 1 {
            return conflict("Cannot specify both -nc and -O with several URLs.");
        }
        if self.post.is_some() && self.post_file.is_some() {
            return conflict("You cannot specify both --post-data and --post-file.");
        }
        if self.method.is_some() && posts {
            return conflict(
                "You cannot use --post-data or --post-file along with --method. --method \
                             expects data through --body-data and --body-file options",
            );
        }
        if self.method.is_none() && bodies {
            return conflict(
                "You must specify a method through --method=HTTPMethod to use with \
                             --body-data or --body-file.",
            );
        }
        if self.body.is_some() && self.body_file.is_some() {
            return conflict("You cannot specify both --body-data and --body-file.");
        }
        Ok(())
    }
}

/// Returns the text of `--help`.
pub(super) fn help_text(name: &str) -> String {
    let left_cell = |opt: &WgetOption| {
        let short = match opt.short {
            "" => "    ".to_string(),
            short if short.len() > 1 => format!("-{short},"),
            short => format!("-{short}, "),
        };
        let value = match opt.kind {
            WgetOptionKind::Text(_) => "=TEXT",
            WgetOptionKind::Header => "=HEADER",
            WgetOptionKind::Seconds(_) => "=SECONDS",
            WgetOptionKind::Number(_) => "=NUMBER",
            WgetOptionKind::Flag(_) | WgetOptionKind::Ignored(_) | WgetOptionKind::Refused(..) => {
                ""
            }
        };
        format!("  {short}--{}{value}", opt.long)
    };
    let listed = OPTIONS.iter().filter(|o| !o.help.is_empty());
    let rows: Vec<_> = listed.map(|opt| (left_cell(opt), opt.help)).collect();
    let rows: Vec<_> = rows.iter().map(|(left, right)| (left.as_str(), *right)).collect();
    HelpPage::new(
        "[OPTION]... URL...",
        "Fetch URLs into files named as they are.",
        &[HelpSection::new("Options", &rows)],
    )
    .with_examples(&[("wget URL", "Download to a file"), ("wget -qO- URL", "Print the document")])
    .text(name)
}
