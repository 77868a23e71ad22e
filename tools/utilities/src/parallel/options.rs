//! The command line of `parallel`.

use std::time::Duration;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_text::number;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    ArgFile,
    Block,
    Colsep,
    Context,
    Cores,
    Delay,
    Delimiter,
    DryRun,
    EndText,
    Halt,
    Header,
    Ignored,
    IgnoredValue,
    JobLog,
    Jobs,
    KeepOrder,
    Link,
    MaxArgs,
    Null,
    OneLine,
    Pipe,
    Quote,
    Refused,
    RefusedValue,
    Replace,
    Retries,
    SkipEmpty,
    Tag,
    TagString,
    Timeout,
    Trace,
    Trim,
    Ungroup,
    Verbose,
}

pub(super) const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [COMMAND [ARG]...] < LIST\n[OPTION]... [COMMAND [ARG]...] (::: ARG...|:::: FILE...)...\n\
     --pipe [OPTION]... COMMAND",
    "Run COMMAND by the shell for each argument, several at a time. Arguments are the lines \
        of standard input or of files, or the words after :::; several lists are combined. Without \
        COMMAND the arguments are commands. The output of each job stays together.",
    &[
        Opt::new(Flag::Jobs, 'j', "jobs")
            .with_argument("N", "Run N jobs at once: a number, 0 for all, N% or +N of the cores"),
        Opt::new(Flag::Jobs, 'P', "max-procs").with_argument("N", words::SAME),
        Opt::new(Flag::KeepOrder, 'k', "keep-order").with_help("Print the output in the order of the arguments"),
        Opt::long(Flag::DryRun, "dry-run").with_help("Print the commands, run none"),
        Opt::long(Flag::DryRun, "dryrun"),
        Opt::new(Flag::ArgFile, 'a', "arg-file").with_argument("FILE", "Take the arguments from FILE"),
        Opt::new(Flag::Null, '0', "null").with_help("Arguments end with a NUL byte"),
        Opt::new(Flag::Delimiter, 'd', "delimiter").with_argument("CHAR", "Arguments end with CHAR"),
        Opt::new(Flag::Colsep, 'C', "colsep")
            .with_argument("REGEX", "Split each argument by REGEX into {1}, {2} and so on"),
        Opt::long(Flag::Header, "header").with_argument("R", "With ':': the first argument of each list names it: {NAME}"),
        Opt::long(Flag::Link, "link").with_help("Take one argument of each list instead of all combinations"),
        Opt::long(Flag::Link, "xapply"),
        Opt::new(Flag::MaxArgs, 'n', "max-args").with_argument("N", "Give N arguments to each job"),
        Opt::new(Flag::MaxArgs, 'N', "max-replace-args").with_argument("N", words::SAME),
        Opt::new(Flag::MaxArgs, 'L', "max-lines").with_argument("N", words::SAME),
        Opt::new(Flag::OneLine, 'm', "").with_help("Give as many arguments as fit to each job"),
        Opt::new(Flag::Context, 'X', "").with_help("The same, and repeat the word that has the {}"),
        Opt::new(Flag::Replace, 'I', "").with_argument("TEXT", "Use TEXT instead of {}"),
        Opt::new(Flag::Quote, 'q', "quote").with_help("Quote the words of COMMAND, too"),
        Opt::new(Flag::SkipEmpty, 'r', "no-run-if-empty").with_help("Skip empty arguments"),
        Opt::long(Flag::Halt, "halt")
            .with_argument("WHEN", "End early: never, or soon or now and fail=N, success=N or done=N"),
        Opt::long(Flag::JobLog, "joblog").with_argument("FILE", "Write a line about each job to FILE"),
        Opt::long(Flag::Retries, "retries").with_argument("N", "Run a job that fails up to N times"),
        Opt::long(Flag::Timeout, "timeout").with_argument("SECONDS", "End a job that takes longer"),
        Opt::long(Flag::Delay, "delay").with_argument("SECONDS", "Wait before each further job"),
        Opt::long(Flag::Tag, "tag").with_help("Print the arguments before each line of output"),
        Opt::long(Flag::TagString, "tagstring").with_argument("TEXT", "Print TEXT before each line"),
        Opt::long(Flag::Trim, "trim").with_argument("HOW", "Remove blanks of arguments: n, l, r, lr"),
        Opt::new(Flag::EndText, 'E', "").with_argument("TEXT", "The argument TEXT ends the list"),
        Opt::new(Flag::Ungroup, 'u', "ungroup").with_help("Do not keep the output of a job together"),
        Opt::long(Flag::Ungroup, "line-buffer").with_help(words::SAME),
        Opt::long(Flag::Ungroup, "lb"),
        Opt::long(Flag::Ungroup, "linebuffer"),
        Opt::new(Flag::Verbose, 'v', "verbose").with_help("Print each command before its output"),
        Opt::new(Flag::Trace, 't', "").with_help("Print each command on standard error"),
        Opt::long(Flag::Pipe, "pipe").with_help("Give parts of standard input to jobs as their input"),
        Opt::long(Flag::Pipe, "spreadstdin"),
        Opt::long(Flag::Block, "block").with_argument("SIZE", "With --pipe: parts of SIZE bytes (1M); -N counts lines"),
        Opt::long(Flag::Cores, "number-of-cores").with_help("Print the number of cores"),
        Opt::long(Flag::Cores, "number-of-cpus"),
        Opt::long(Flag::Ignored, "will-cite").with_help(words::IGNORED),
        Opt::long(Flag::Ignored, "bar").with_help(words::SAME),
        Opt::long(Flag::Ignored, "progress"),
        Opt::long(Flag::Ignored, "eta"),
        Opt::long(Flag::Ignored, "group"),
        Opt::long(Flag::Ignored, "no-notice"),
        Opt::long(Flag::Ignored, "citation"),
        Opt::long(Flag::Ignored, "gnu"),
        Opt::long(Flag::Ignored, "shuf"),
        Opt::long(Flag::Ignored, "noswap"),
        Opt::new(Flag::Ignored, 'x', "exit"),
        Opt::long(Flag::IgnoredValue, "nice").with_argument("N", ""),
        Opt::long(Flag::IgnoredValue, "load").with_argument("N", ""),
        Opt::long(Flag::IgnoredValue, "memfree").with_argument("N", ""),
        Opt::new(Flag::IgnoredValue, 's', "max-chars").with_argument("N", ""),
        Opt::long(Flag::Refused, "resume"),
        Opt::long(Flag::Refused, "resume-failed"),
        Opt::long(Flag::Refused, "plus"),
        Opt::long(Flag::Refused, "pipepart"),
        Opt::long(Flag::Refused, "pipe-part"),
        Opt::long(Flag::Refused, "onall"),
        Opt::long(Flag::RefusedValue, "results").with_argument("DIR", ""),
        Opt::long(Flag::RefusedValue, "rpl").with_argument("TEXT", ""),
        Opt::long(Flag::RefusedValue, "env").with_argument("NAME", ""),
        Opt::new(Flag::RefusedValue, 'S', "sshlogin").with_argument("HOST", ""),
    ],
)
.with_footer(
    "Replacement strings: {} argument, {.} without suffix, {/} base name, {//} folder, {/.} \
        base name without suffix, {#} number of the job, {%} its slot, {2} {2.} {2/} {-1} the same \
        of one argument. :::+ and ::::+ take their arguments together with the list before.\n\
        The status is the number of jobs that failed, at most 101, or 255 after other errors.",
)
.with_examples(&[
    ("parallel -k gzip -9 {} ::: *.log", "Compress files"),
    ("parallel echo {1}-{2} ::: a b ::: 1 2", "All combinations of two lists"),
])
.posix_order();

/// The number of arguments that a job gets.
pub(super) enum Grouping {
    /// One of each list.
    One,
    /// A number of them.
    Count(usize),
    /// As many as fit into this number of bytes.
    All(usize),
}

/// The occasion on which `--halt` ends the run.
pub(super) struct Halt {
    pub at_once: bool,
    pub outcome: HaltOutcome,
    pub count: usize,
}

/// The end of a job that `--halt` counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum HaltOutcome {
    Failed,
    Succeeded,
    Done,
}

/// The meaning of the options.
pub(super) struct Plan {
    pub command: Vec<Vec<u8>>,
    pub slots: usize,
    pub keeps_order: bool,
    pub dry_run: bool,
    pub verbose: bool,
    pub trace: bool,
    pub grouping: Grouping,
    pub max_arguments: Option<usize>,
    pub repeats_context: bool,
    pub replacement: Vec<u8>,
    pub quotes_command: bool,
    pub skips_empty: bool,
    pub links: bool,
    pub has_header: bool,
    pub delimiter: u8,
    pub files: Vec<Vec<u8>>,
    pub colsep: Option<fancy_regex::Regex>,
    pub trim: (bool, bool),
    pub end_text: Option<Vec<u8>>,
    pub tag: Option<Vec<Vec<u8>>>,
    pub grouped: bool,
    pub halt: Option<Halt>,
    pub log: Option<Vec<u8>>,
    pub tries: usize,
    pub timeout: Option<Duration>,
    pub delay: Duration,
    pub pipe: bool,
    pub block: usize,
}

/// The maximum number of jobs at once; the machine has room for 128 processes.
const MOST_SLOTS: usize = 64;
/// The maximum number of bytes of the arguments of `-m` and `-X`.
const LINE: usize = 100_000;

/// Returns the number of processors.
pub(super) fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

impl Plan {
    /// Returns the meaning of the options; `Err` is a message.
    pub(super) fn new(p: &ParsedOptions<Flag>) -> Result<Plan, String> {
        if p.has_option(Flag::Refused) || p.has_option(Flag::RefusedValue) {
            let known = "other hosts, --results, --resume, --plus, --rpl, --env, --pipepart";
            return Err(format!("an option is not supported ({known})"));
        }
        let max_arguments = p.last_value(Flag::MaxArgs).map(parse_count).transpose()?;
        let fills = p.has_option(Flag::OneLine) || p.has_option(Flag::Context);
        let grouping = match (fills, max_arguments) {
            (true, _) => Grouping::All(LINE),
            (false, Some(n)) => Grouping::Count(n),
            (false, None) => Grouping::One,
        };
        let colsep = p.last_value(Flag::Colsep).map(parse_regex).transpose()?;
        let trim = match p.last_value(Flag::Trim) {
            None | Some(b"n") => (false, false),
            Some(b"l") => (true, false),
            Some(b"r") => (false, true),
            Some(b"lr" | b"rl") => (true, true),
            Some(_) => return Err("--trim must be one of: r l rl lr.".to_string()),
        };
        let tag = match p.last_value(Flag::TagString) {
            Some(text) => Some(vec![text.to_vec()]),
            None => p.has_option(Flag::Tag).then(|| vec![b"{}".to_vec()]),
        };
        Ok(Plan {
            command: p.operands.clone(),
            slots: p
                .last_value(Flag::Jobs)
                .map_or(Ok(core_count()), parse_jobs)?
                .clamp(1, MOST_SLOTS),
            keeps_order: p.has_option(Flag::KeepOrder),
            dry_run: p.has_option(Flag::DryRun),
            verbose: p.has_option(Flag::Verbose),
            trace: p.has_option(Flag::Trace),
            grouping,
            max_arguments,
            repeats_context: p.has_option(Flag::Context),
            replacement: p.last_value(Flag::Replace).unwrap_or(b"{}").to_vec(),
            quotes_command: p.has_option(Flag::Quote),
            skips_empty: p.has_option(Flag::SkipEmpty),
            links: p.has_option(Flag::Link),
            has_header: p.has_option(Flag::Header),
            delimiter: parse_delimiter(p)?,
            files: p.all_values(Flag::ArgFile).map(<[u8]>::to_vec).collect(),
            colsep,
            trim,
            end_text: p.last_value(Flag::EndText).map(<[u8]>::to_vec),
            tag,
            grouped: !p.has_option(Flag::Ungroup),
            halt: p.last_value(Flag::Halt).map_or(Ok(None), parse_halt)?,
            log: p.last_value(Flag::JobLog).map(<[u8]>::to_vec),
            tries: p.last_value(Flag::Retries).map_or(Ok(1), parse_count)?.max(1),
            timeout: p.last_value(Flag::Timeout).map(parse_seconds).transpose()?,
            delay: p.last_value(Flag::Delay).map_or(Ok(Duration::ZERO), parse_seconds)?,
            pipe: p.has_option(Flag::Pipe),
            block: p.last_value(Flag::Block).map_or(Ok(1 << 20), parse_block)?,
        })
    }
}

fn text_of(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

fn parse_count(word: &[u8]) -> Result<usize, String> {
    let n: Option<usize> = std::str::from_utf8(word).ok().and_then(|t| t.parse().ok());
    n.filter(|n| *n > 0).ok_or_else(|| format!("'{}' is not a number above 0", text_of(word)))
}

/// Parses the number of jobs: `4`, `0`, `50%`, `+1`, `-1`.
fn parse_jobs(word: &[u8]) -> Result<usize, String> {
    let bad = || "Parsing of --jobs/-j/--max-procs/-P failed.".to_string();
    let text = std::str::from_utf8(word).map_err(|_| bad())?;
    let number = |t: &str| t.parse::<usize>().map_err(|_| bad());
    let cores = core_count();
    if let Some(percent) = text.strip_suffix('%') {
        return Ok(cores.saturating_mul(number(percent)?).div_ceil(100));
    }
    if let Some(more) = text.strip_prefix('+') {
        return Ok(cores.saturating_add(number(more)?));
    }
    if let Some(less) = text.strip_prefix('-') {
        return Ok(cores.saturating_sub(number(less)?));
    }
    Ok(match number(text)? {
        0 => MOST_SLOTS,
        n => n,
    })
}

fn parse_regex(word: &[u8]) -> Result<fancy_regex::Regex, String> {
    use box_text::perl::{PerlDialect, rewrite_pattern};
    let text = text_of(word);
    let pattern =
        rewrite_pattern(&text, PerlDialect::Pcre2).map_err(|e| format!("'{text}': {e}"))?;
    fancy_regex::Regex::new(&pattern).map_err(|e| format!("'{text}': {e}"))
}

fn parse_delimiter(p: &ParsedOptions<Flag>) -> Result<u8, String> {
    let last = p.last_of(&[Flag::Null, Flag::Delimiter]);
    match (last, p.last_value(Flag::Delimiter)) {
        (Some(Flag::Delimiter), Some(b"\\n")) => Ok(b'\n'),
        (Some(Flag::Delimiter), Some(b"\\t")) => Ok(b'\t'),
        (Some(Flag::Delimiter), Some(b"\\0")) => Ok(0),
        (Some(Flag::Delimiter), Some(&[c])) => Ok(c),
        (Some(Flag::Delimiter), _) => Err("-d must have one character".to_string()),
        (Some(_), _) => Ok(0),
        (None, _) => Ok(b'\n'),
    }
}

fn parse_seconds(word: &[u8]) -> Result<Duration, String> {
    let (value, used) = number::parse_float(word);
    let factor = match word.get(used..).unwrap_or_default() {
        b"" | b"s" => 1.0,
        b"m" => 60.0,
        b"h" => 3600.0,
        b"d" => 86_400.0,
        _ => return Err(format!("'{}' is not a time", text_of(word))),
    };
    Duration::try_from_secs_f64(value * factor)
        .ok()
        .filter(|_| used > 0)
        .ok_or_else(|| format!("'{}' is not a time", text_of(word)))
}

fn parse_block(word: &[u8]) -> Result<usize, String> {
    let (value, used) = number::parse_float(word);
    let factor = match word.get(used..).unwrap_or_default() {
        b"" => 1.0,
        b"k" | b"K" => 1024.0,
        b"m" | b"M" => 1024.0 * 1024.0,
        b"g" | b"G" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err(format!("'{}' is not a size", text_of(word))),
    };
    if used == 0 || value * factor < 1.0 {
        return Err(format!("'{}' is not a size", text_of(word)));
    }
    Ok((value * factor) as usize)
}

/// Parses `--halt`: `never`, `now,fail=1`, `soon,success=3`, and the old 0, 1 and 2.
fn parse_halt(word: &[u8]) -> Result<Option<Halt>, String> {
    let text = text_of(word);
    let halt = |at_once, outcome, count| Some(Halt { at_once, outcome, count });
    let bad = || {
        format!("--halt must be never, or soon or now, and fail=N, success=N or done=N: '{text}'")
    };
    match text.as_str() {
        "never" | "0" => return Ok(None),
        "1" => return Ok(halt(false, HaltOutcome::Failed, 1)),
        "2" => return Ok(halt(true, HaltOutcome::Failed, 1)),
        _ => {}
    }
    let (when, what) = text.split_once(',').ok_or_else(bad)?;
    let at_once = match when {
        "now" => true,
        "soon" => false,
        _ => return Err(bad()),
    };
    let (outcome, count) = what.split_once('=').ok_or_else(bad)?;
    let outcome = match outcome {
        "fail" => HaltOutcome::Failed,
        "success" => HaltOutcome::Succeeded,
        "done" => HaltOutcome::Done,
        _ => return Err(bad()),
    };
    let count = count.parse().ok().filter(|n: &usize| *n > 0).ok_or_else(bad)?;
    Ok(halt(at_once, outcome, count))
}
