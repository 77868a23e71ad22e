//! The command line as written: groups of settings (`--next` begins one), each with its URLs,
//! outputs and uploads.

mod table;

use std::io::Write;

use box_applet::Ctx;
use box_applet::help::{HelpPage, HelpSection, words};

use crate::error::CurlUsageError;
use crate::form::FormField;
use crate::{config, data};
pub(crate) use table::{CurlOption, CurlOptionKind, OPTIONS};

/// The destination of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyOutput {
    /// `-o`, before `#1` is replaced; `-` is standard output.
    File(Vec<u8>),
    /// `-O`
    Remote,
}

/// The settings that apply to all groups.
#[derive(Debug, Default)]
pub(crate) struct Globals {
    pub(crate) silent: bool,
    pub(crate) show_error: bool,
    pub(crate) verbose: bool,
    pub(crate) bar: bool,
    pub(crate) no_meter: bool,
    pub(crate) fail_early: bool,
}

/// One group of settings.
#[derive(Debug, Default)]
pub(crate) struct CurlOperation {
    pub(crate) urls: Vec<Vec<u8>>,
    pub(crate) outs: Vec<BodyOutput>,
    pub(crate) uploads: Vec<Vec<u8>>,
    pub(crate) remote_name_all: bool,
    pub(crate) output_dir: Option<Vec<u8>>,
    pub(crate) create_dirs: bool,
    pub(crate) content_disposition: bool,
    pub(crate) remove_on_error: bool,
    pub(crate) method: Option<Vec<u8>>,
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) json: bool,
    pub(crate) get: bool,
    pub(crate) form: Vec<FormField>,
    pub(crate) query: Vec<Vec<u8>>,
    pub(crate) headers: Vec<Vec<u8>>,
    pub(crate) head: bool,
    pub(crate) include: bool,
    pub(crate) dump_header: Option<Vec<u8>>,
    pub(crate) follow: bool,
    pub(crate) trusted: bool,
    pub(crate) keep_post: [bool; 3],
    /// `Some(None)` stands for no limit.
    pub(crate) max_redirs: Option<Option<u64>>,
    pub(crate) fail: bool,
    pub(crate) fail_with_body: bool,
    pub(crate) user: Option<Vec<u8>>,
    pub(crate) bearer: Option<Vec<u8>>,
    pub(crate) cookies: Vec<Vec<u8>>,
    pub(crate) cookie_jar: Option<Vec<u8>>,
    pub(crate) junk_session: bool,
    pub(crate) agent: Option<Vec<u8>>,
    pub(crate) referer: Option<Vec<u8>>,
    pub(crate) range: Option<Vec<u8>>,
    pub(crate) resume: Option<Vec<u8>>,
    pub(crate) retry: u64,
    pub(crate) retry_delay: f64,
    pub(crate) retry_max_time: f64,
    pub(crate) retry_refused: bool,
    pub(crate) retry_all: bool,
    pub(crate) max_time: f64,
    pub(crate) connect_timeout: f64,
    pub(crate) max_size: u64,
    pub(crate) compressed: bool,
    pub(crate) write_out: Option<Vec<u8>>,
    pub(crate) globs_off: bool,
    /// Receives the value of options that are accepted but have no effect here.
    pub(crate) ignored: bool,
}

/// The parsed command line.
#[derive(Debug, Default)]
pub(crate) struct CurlRequest {
    pub(crate) globals: Globals,
    pub(crate) ops: Vec<CurlOperation>,
    pub(crate) help: bool,
    pub(crate) version: bool,
}

/// A parser of options, from the command line and from config files.
pub(crate) struct CurlParser<'a, 'c> {
    pub(crate) ctx: &'a mut Ctx<'c>,
    pub(crate) asked: CurlRequest,
    /// The number of config files that are being read, one named by the other.
    pub(crate) depth: usize,
    /// The current option, as written.
    pub(crate) shown: String,
}

/// Parses the command line, after the user's config file unless `-q` is the first option.
pub(crate) fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<CurlRequest, CurlUsageError> {
    let asked = CurlRequest { ops: vec![CurlOperation::default()], ..CurlRequest::default() };
    let mut parser = CurlParser { ctx, asked, depth: 0, shown: String::new() };
    let quiet = |a: &Vec<u8>| a == b"--disable" || (a.starts_with(b"-q") && !a.starts_with(b"--"));
    if !args.first().is_some_and(quiet) {
        config::default(&mut parser)?;
    }
    parser.parse_arguments(args)?;
    for op in &parser.asked.ops {
        let bodies = [op.data.is_some() && !op.get, !op.form.is_empty(), !op.uploads.is_empty()];
        let bodies = bodies.iter().filter(|b| **b).count();
        if op.resume.is_some() && !op.uploads.is_empty() {
            let why = "uploads cannot be resumed here";
            return Err(CurlUsageError::Refused("--continue-at".into(), why));
        }
        if bodies > 1 || (op.head && bodies > 0) {
            return Err(CurlUsageError::Methods);
        }
    }
    Ok(parser.asked)
}

impl CurlParser<'_, '_> {
    pub(crate) fn current_op(&mut self) -> &mut CurlOperation {
        if self.asked.ops.is_empty() {
            self.asked.ops.push(CurlOperation::default());
        }
        let last = self.asked.ops.len() - 1;
        &mut self.asked.ops[last]
    }

    fn parse_arguments(&mut self, args: &[Vec<u8>]) -> Result<(), CurlUsageError> {
        let mut rest = args;
        let mut only_urls = false;
        while let Some((arg, behind)) = rest.split_first() {
            rest = behind;
            if only_urls || arg.first() != Some(&b'-') || arg.len() == 1 {
                self.current_op().urls.push(arg.clone());
            } else if arg == b"--" {
                only_urls = true;
            } else if self.parse_parameter(arg, behind.first().map(Vec::as_slice))? {
                rest = &behind[1..];
            }
            if self.asked.help || self.asked.version {
                break;
            }
        }
        Ok(())
    }

    /// Parses one argument that begins with `-`; returns whether it used the next argument as well.
    pub(crate) fn parse_parameter(
        &mut self,
        arg: &[u8],
        next: Option<&[u8]>,
    ) -> Result<bool, CurlUsageError> {
        if let Some(name) = arg.strip_prefix(b"--") {
            self.shown = String::from_utf8_lossy(arg).into_owned();
            return self.parse_long(name, next);
        }
        let mut letters = &arg[1..];
        while let Some((letter, behind)) = letters.split_first() {
            self.shown = format!("-{}", char::from(*letter));
            let unknown = || CurlUsageError::Unknown(String::from_utf8_lossy(arg).into_owned());
            let found = OPTIONS.iter().find(|o| o.short == Some(char::from(*letter)));
            let opt = found.ok_or_else(unknown)?;
            if !opt.kind.takes_value() {
                self.apply_option(opt, true, b"")?;
                letters = behind;
                continue;
            }
            if !behind.is_empty() {
                self.apply_option(opt, true, behind)?;
                return Ok(false);
            }
            let value = next.ok_or_else(|| CurlUsageError::Parameter(self.shown.clone()))?;
            self.apply_option(opt, true, value)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn parse_long(&mut self, name: &[u8], next: Option<&[u8]>) -> Result<bool, CurlUsageError> {
        let named = |n: &[u8]| OPTIONS.iter().find(|o| o.long.as_bytes() == n);
        let reversed = || Some((named(name.strip_prefix(b"no-")?)?, false));
        let found = named(name).map(|o| (o, true)).or_else(reversed);
        let (opt, on) = found.ok_or_else(|| CurlUsageError::Unknown(self.shown.clone()))?;
        if !on && !opt.kind.is_flag() {
            return Err(CurlUsageError::Reversed(self.shown.clone()));
        }
        if !opt.kind.takes_value() {
            self.apply_option(opt, on, b"")?;
            return Ok(false);
        }
        let value = next.ok_or_else(|| CurlUsageError::Parameter(self.shown.clone()))?;
        self.apply_option(opt, on, value)?;
        Ok(true)
    }

    fn apply_option(
        &mut self,
        opt: &CurlOption,
        on: bool,
        value: &[u8],
    ) -> Result<(), CurlUsageError> {
        let number = || CurlUsageError::Number(self.shown.clone());
        match opt.kind {
            CurlOptionKind::Global(flag) => *flag(&mut self.asked.globals) = on,
            CurlOptionKind::Flag(flag) => *flag(self.current_op()) = on,
            CurlOptionKind::Text(text) => *text(self.current_op()) = Some(value.to_vec()),
            CurlOptionKind::List(list) => list(self.current_op()).push(value.to_vec()),
            CurlOptionKind::Count(field) => {
                let n = std::str::from_utf8(value).ok().and_then(|v| v.parse().ok());
                let n = n.ok_or_else(number)?;
                *field(self.current_op()) = n;
            }
            CurlOptionKind::Seconds(field) => {
                let n = std::str::from_utf8(value).ok().and_then(|v| v.parse::<f64>().ok());
                let n = n.filter(|n| (0.0..1e9).contains(n)).ok_or_else(number)?;
                *field(self.current_op()) = n;
            }
            CurlOptionKind::Do(_, run) => run(self, value)?,
            CurlOptionKind::IgnoreValue => {}
            CurlOptionKind::Refused(_, why) if on => {
                return Err(CurlUsageError::Refused(self.shown.clone(), why));
            }
            CurlOptionKind::Refused(..) => {}
        }
        Ok(())
    }

    pub(crate) fn print_warning(&mut self, text: &[u8]) {
        if !self.asked.globals.silent {
            let _ = self.ctx.stderr.write_all(&[b"Warning: ", text, b"\n"].concat());
        }
    }

    pub(crate) fn bad_parameter(&self) -> CurlUsageError {
        CurlUsageError::Bad(self.shown.clone())
    }

    pub(crate) fn no_file(&self) -> CurlUsageError {
        CurlUsageError::File(self.shown.clone())
    }

    /// Reads all of a file, or of standard input for `-`.
    pub(crate) fn read(&mut self, name: &[u8]) -> Result<Vec<u8>, CurlUsageError> {
        self.ctx.read(name).map_err(|_| self.no_file())
    }

    /// Appends more data of `-d`, after an `&`.
    pub(crate) fn add_data(&mut self, more: &[u8], separated: bool) {
        let data = self.current_op().data.get_or_insert_default();
        if separated && !data.is_empty() {
            data.push(b'&');
        }
        data.extend(more);
    }

    /// Returns the data of `-d`, `--data-binary` or `--json`: a text, or the contents of `@FILE`.
    pub(crate) fn text_or_file(
        &mut self,
        value: &[u8],
        ascii: bool,
    ) -> Result<Vec<u8>, CurlUsageError> {
        let Some(name) = value.strip_prefix(b"@") else { return Ok(value.to_vec()) };
        let bytes = self.read(name)?;
        Ok(if ascii { data::without_line_ends(bytes) } else { bytes })
    }
}

/// Returns the text of `--help`.
pub(crate) fn help_text(name: &str) -> String {
    let mut rows: Vec<(String, &str)> = Vec::new();
    for opt in OPTIONS.iter().filter(|o| !o.help.is_empty()) {
        let short = opt.short.map_or("    ".to_string(), |c| format!("-{c}, "));
        let left = format!("  {short}--{} {}", opt.long, opt.kind.value());
        match rows.last_mut() {
            Some((row, _)) if opt.help == words::SAME => {
                *row = format!("{row}, {}", left.trim());
            }
            _ => rows.push((left.trim_end().to_string(), opt.help)),
        }
    }
    let rows: Vec<_> = rows.iter().map(|(left, right)| (left.as_str(), *right)).collect();
    HelpPage::new(
        "[OPTION]... URL...",
        "Fetch URLs, or send data to them.",
        &[HelpSection::new("Options", &rows)],
    )
    .with_examples(&[
        ("curl -fsSL -o FILE URL", "Download, following redirects"),
        ("curl --json '{\"a\":1}' URL", "Send JSON"),
        ("curl -s -w '%{http_code}\\n' -o /dev/null URL", "Only the status"),
    ])
    .text(name)
}
