//! `ed` (POSIX XCU ed; GNU ed 1.19): the line editor of scripts.
//!
//! | file | contents |
//! |---|---|
//! | `address` | addresses and ranges |
//! | `command` | the commands |
//! | `substitute` | `s` |
//! | `file` | reading and writing files and commands' output |
//!
//! Deliberately absent: the interactive `G` and `V`, the cut buffer (`x`, `y`).

mod address;
mod command;
mod file;
mod substitute;

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, Write};
use std::rc::Rc;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_text::regex::{Regex, RegexOptions, RegexSyntax};

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EdFlag {
    ExtendedRegexp,
    Traditional,
    LooseExitStatus,
    Prompt,
    Quiet,
    Script,
    Verbose,
}

const SPEC: Spec<EdFlag> = Spec::new(
    "[OPTION]... [FILE]",
    "Edit a file by commands of standard input, line by line.",
    &[
        Opt::new(EdFlag::ExtendedRegexp, 'E', "extended-regexp")
            .with_help("Take patterns as extended regular expressions"),
        Opt::new(EdFlag::ExtendedRegexp, 'r', "").with_help(words::SAME),
        Opt::new(EdFlag::Traditional, 'G', "traditional").with_help(words::IGNORED),
        Opt::new(EdFlag::LooseExitStatus, 'l', "loose-exit-status")
            .with_help("End with status 0 even if a command fails"),
        Opt::new(EdFlag::Prompt, 'p', "prompt")
            .with_argument("STRING", "Print STRING before each command is read"),
        Opt::new(EdFlag::Quiet, 'q', "quiet").with_help("Print no messages on standard error"),
        Opt::long(EdFlag::Quiet, "silent").with_help(words::SAME),
        Opt::new(EdFlag::Script, 's', "script")
            .with_help("Print no byte counts and no ! after commands"),
        Opt::new(EdFlag::Verbose, 'v', "verbose")
            .with_help("Explain errors, as the command H does"),
    ],
)
.with_footer("A FILE that begins with ! is a command whose output is edited.");

/// The result of a command; the error is its message.
type Result<T> = std::result::Result<T, String>;

fn fail_with<T>(why: &str) -> Result<T> {
    Err(why.to_string())
}

/// A line with a number that it keeps when it moves, by which marks and `g` refer to it.
#[derive(Clone)]
struct EdLine {
    id: u64,
    text: Rc<Vec<u8>>,
}

/// The state that `u` restores.
#[derive(Clone, Default)]
struct UndoState {
    lines: Vec<EdLine>,
    current: usize,
    modified: bool,
}

struct Editor<'c, 'a> {
    ctx: &'c mut Ctx<'a>,
    lines: Vec<EdLine>,
    /// The current line, from 1; 0 for an empty buffer.
    current: usize,
    next_id: u64,
    marks: HashMap<u8, u64>,
    modified: bool,
    undo: Option<UndoState>,
    name: Vec<u8>,
    pattern: Option<Rc<Regex>>,
    last_substitute: Option<substitute::EdSubstitute>,
    last_shell: Vec<u8>,
    /// The commands of a `g`, which are read before standard input.
    feed: Option<VecDeque<Vec<u8>>>,
    /// The text of the last error, for `h`.
    error: String,
    verbose: bool,
    /// Whether the previous command warned of unsaved changes.
    warned: bool,
    failed: bool,
    counts: bool,
    quiet: bool,
    extended: bool,
    prompt: Option<Vec<u8>>,
    prompting: bool,
    /// The number of lines that `z` prints.
    window: usize,
}

/// The effect of a command on the run.
#[derive(PartialEq)]
enum RunStep {
    Go,
    Quit,
}

/// Runs `ed`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    // `-` is an old spelling of `-s`.
    let silent = p.has_option(EdFlag::Script) || p.operands.first().is_some_and(|o| o == b"-");
    let operand = p.operands.iter().find(|o| *o != b"-").cloned();
    let mut editor = Editor {
        ctx,
        lines: Vec::new(),
        current: 0,
        next_id: 0,
        marks: HashMap::new(),
        modified: false,
        undo: None,
        name: Vec::new(),
        pattern: None,
        last_substitute: None,
        last_shell: Vec::new(),
        feed: None,
        error: String::new(),
        verbose: p.has_option(EdFlag::Verbose),
        warned: false,
        failed: false,
        counts: !silent,
        quiet: p.has_option(EdFlag::Quiet),
        extended: p.has_option(EdFlag::ExtendedRegexp),
        prompt: p.last_value(EdFlag::Prompt).map(<[u8]>::to_vec),
        prompting: p.has_option(EdFlag::Prompt),
        window: 22,
    };
    if let Some(name) = operand {
        if !name.starts_with(b"!") {
            editor.name = name.clone();
        }
        if let Err(why) = editor.read(&name, 0) {
            // A file that does not exist is not a failure, because it may be new.
            editor.error = why;
        }
        editor.modified = false;
        editor.undo = None;
    }
    let status = editor.run_all();
    let failed = editor.failed && !p.has_option(EdFlag::LooseExitStatus);
    Ok(if status == 0 && failed { Exit::FAILURE } else { Exit(status) })
}

impl Editor<'_, '_> {
    /// Runs all commands of standard input.
    fn run_all(&mut self) -> u8 {
        loop {
            if self.prompting {
                let prompt = self.prompt.clone().unwrap_or_else(|| b"*".to_vec());
                let _ = self.ctx.stdout.write_all(&prompt);
            }
            let _ = self.ctx.stdout.flush();
            let Some(line) = self.next_line() else {
                // The end of input acts like `q`, which fails if there are unsaved changes without
                // a warning yet.
                if self.modified && !self.warned {
                    self.print_complaint("Warning: buffer modified");
                    return 2;
                }
                return 0;
            };
            let warned = std::mem::take(&mut self.warned);
            match self.run_command(&line, warned) {
                Ok(RunStep::Go) => {}
                Ok(RunStep::Quit) => return 0,
                Err(why) => {
                    self.feed = None;
                    self.print_complaint(&why);
                }
            }
        }
    }

    fn print_complaint(&mut self, why: &str) {
        self.error = why.to_string();
        self.failed = true;
        let _ = self.ctx.stdout.write_all(b"?\n");
        if self.verbose {
            let _ = self.ctx.stdout.write_all(&[why.as_bytes(), b"\n"].concat());
        }
    }

    /// Returns the next line of commands or text, without its newline.
    fn next_line(&mut self) -> Option<Vec<u8>> {
        if let Some(feed) = &mut self.feed {
            return feed.pop_front();
        }
        let mut line = Vec::new();
        let n = self.ctx.stdin.read_until(b'\n', &mut line).unwrap_or(0);
        if line.ends_with(b"\n") {
            line.pop();
        }
        (n > 0).then_some(line)
    }

    fn new_line(&mut self, text: Vec<u8>) -> EdLine {
        self.next_id += 1;
        EdLine { id: self.next_id, text: Rc::new(text) }
    }

    /// Saves the current state for `u`; a `g` counts as one change.
    fn remember_undo(&mut self) {
        if self.feed.is_none() {
            let (lines, current) = (self.lines.clone(), self.current);
            self.undo = Some(UndoState { lines, current, modified: self.modified });
        }
    }

    /// Inserts lines after line `at`, and makes the last one the current line.
    fn insert_lines(&mut self, at: usize, texts: Vec<Vec<u8>>) {
        let n = texts.len();
        let new: Vec<EdLine> = texts.into_iter().map(|t| self.new_line(t)).collect();
        self.lines.splice(at..at, new);
        self.current = at + n;
        self.modified |= n > 0;
    }

    /// Compiles a pattern; an empty one means the last pattern used.
    fn compile_regex(&mut self, text: &[u8], ignore_case: bool) -> Result<Rc<Regex>> {
        if text.is_empty() {
            return self.pattern.clone().ok_or_else(|| "No previous pattern".to_string());
        }
        let syntax = if self.extended { RegexSyntax::Ere } else { RegexSyntax::Bre };
        let options = RegexOptions::new(syntax).icase(ignore_case);
        let regex = Regex::new(text, &options).map_err(|e| e.to_string())?;
        let regex = Rc::new(regex);
        self.pattern = Some(regex.clone());
        Ok(regex)
    }
}
