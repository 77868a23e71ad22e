//! Turns operands and directories into inputs; statuses and messages.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use box_applet::{Ctx, Exit, InputSource, OutputSink};
use box_sys::path;

use crate::config::{Directories, FileRule, GrepConfig, GrepMode};
use crate::output::{GrepPrinter, number_width};
use crate::pattern::GrepMatcher;
use crate::search::{SearchError, SearchOutcome, Searcher};

/// The maximum number of bytes of a file that claims to be empty, as those in `/proc` do.
const UNSIZED_LIMIT: u64 = 64 << 20;

struct GrepWalk<'c, 'a> {
    ctx: &'c mut Ctx<'a>,
    config: &'c GrepConfig,
    matcher: GrepMatcher,
    searcher: Searcher,
    line: Vec<u8>,
    names: bool,
    found: bool,
    failed: bool,
    /// Whether the search is over, because standard output failed or `-q` has a match.
    done: bool,
}

/// An entry of a directory still to be searched.
struct PendingEntry {
    /// The name as it is shown.
    name: Vec<u8>,
    path: PathBuf,
}

/// A directory being searched.
struct GrepLevel {
    /// The entries still to be searched, the next one last.
    pending: Vec<PendingEntry>,
    /// The device and inode, if loops are possible.
    id: Option<(u64, u64)>,
}

/// Searches all operands and returns the exit status.
pub fn search_all(
    ctx: &mut Ctx<'_>,
    config: &GrepConfig,
    matcher: GrepMatcher,
    operands: Vec<Vec<u8>>,
) -> Exit {
    let recurse = config.directories == Directories::Recurse;
    let names = config.with_filename.unwrap_or(operands.len() > 1);
    let mut walk = GrepWalk {
        ctx,
        config,
        matcher,
        searcher: Searcher::new(),
        line: Vec::new(),
        names,
        found: false,
        failed: false,
        done: false,
    };
    if operands.is_empty() && recurse {
        walk.names = config.with_filename.unwrap_or(true);
        let here = walk.ctx.cwd.clone();
        walk.search_directory(Vec::new(), here);
    } else if operands.is_empty() {
        walk.search_stdin();
    }
    for operand in &operands {
        if walk.done {
            break;
        }
        walk.search_operand(operand);
    }
    match (walk.found, walk.failed) {
        (true, true) if config.mode == GrepMode::Quiet => Exit::SUCCESS,
        (_, true) => Exit::USAGE,
        (true, _) => Exit::SUCCESS,
        (false, _) => Exit::FAILURE,
    }
}

impl GrepWalk<'_, '_> {
    fn search_operand(&mut self, operand: &[u8]) {
        if operand == b"-" {
            self.search_stdin();
            return;
        }
        let path = self.ctx.path(operand);
        let meta = match fs::metadata(&path) {
            Ok(meta) => meta,
            Err(e) => {
                self.report_error(operand, &e);
                return;
            }
        };
        if meta.is_dir() {
            let mut name = operand;
            while let [head @ .., b'/'] = name
                && !head.is_empty()
            {
                name = head;
            }
            if self.config.directories == Directories::Recurse
                && self
                    .config
                    .exclude_dirs
                    .iter()
                    .any(|p| name_suffixes(name).any(|s| p.is_match(s)))
            {
                return;
            }
            match self.config.directories {
                Directories::Skip => {}
                Directories::Read => {
                    let e = std::io::Error::from_raw_os_error(box_sys::errno::code::EISDIR);
                    self.report_error(operand, &e);
                }
                Directories::Recurse => {
                    if self.config.with_filename.is_none() {
                        self.names = true;
                    }
                    let name = if operand.ends_with(b"/") && name != b"/" {
                        [name, b"/"].concat()
                    } else {
                        operand.to_vec()
                    };
                    self.search_directory(name, path);
                }
            }
            return;
        }
        if self.excluded_file(operand, true) {
            return;
        }
        if !meta.is_file() && self.config.skip_devices == Some(true) {
            return;
        }
        self.search_file(operand, &path);
    }

    /// Searches all files below a directory. `name` is its shown name; it is empty if there are no
    /// operands, so that `.` is implied.
    fn search_directory(&mut self, name: Vec<u8>, path: PathBuf) {
        let mut levels: Vec<GrepLevel> = Vec::new();
        self.enter_dir(&name, &path, &mut levels);
        while let Some(level) = levels.last_mut() {
            if self.done {
                return;
            }
            let Some(entry) = level.pending.pop() else {
                levels.pop();
                continue;
            };
            self.search_entry(entry, &mut levels);
        }
    }

    fn search_entry(&mut self, entry: PendingEntry, levels: &mut Vec<GrepLevel>) {
        let base = entry.name.rsplit(|&b| b == b'/').next().unwrap_or_default().to_vec();
        let meta = match fs::symlink_metadata(&entry.path) {
            Ok(m) if m.is_symlink() && !self.config.follow => return,
            Ok(m) if m.is_symlink() => fs::metadata(&entry.path),
            other => other,
        };
        let meta = match meta {
            Ok(m) => m,
            Err(e) => {
                self.report_error(&entry.name, &e);
                return;
            }
        };
        if meta.is_dir() {
            if self.config.exclude_dirs.iter().any(|p| p.is_match(&base)) {
                return;
            }
            self.enter_dir(&entry.name, &entry.path, levels);
        } else if !self.excluded_file(&base, false)
            && (meta.is_file() || self.config.skip_devices == Some(false))
        {
            self.search_file(&entry.name, &entry.path);
        }
    }

    fn enter_dir(&mut self, name: &[u8], path: &Path, levels: &mut Vec<GrepLevel>) {
        let id = if self.config.follow {
            box_sys::meta::stat(path, true).ok().map(|s| (s.dev, s.ino))
        } else {
            None
        };
        if id.is_some() && levels.iter().any(|level| level.id == id) {
            if !self.config.no_messages {
                self.ctx.error_bytes(&[b"warning: ", name, b": recursive directory loop"]);
            }
            return;
        }
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(e) => {
                self.report_error(name, &e);
                return;
            }
        };
        let mut list = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => {
                    let file_name = entry.file_name();
                    let base = path::os_bytes(&file_name);
                    let shown = match name {
                        [] => base.to_vec(),
                        [.., b'/'] => [name, base].concat(),
                        _ => [name, b"/", base].concat(),
                    };
                    list.push(PendingEntry { name: shown, path: path.join(&file_name) });
                }
                Err(e) => {
                    self.report_error(name, &e);
                    break;
                }
            }
        }
        list.reverse();
        levels.push(GrepLevel { pending: list, id });
    }

    fn search_file(&mut self, name: &[u8], path: &Path) {
        let mut file = match File::open(path) {
            Ok(f) => f,
            Err(e) => {
                self.report_error(name, &e);
                return;
            }
        };
        if self.is_output(name, &file) {
            return;
        }
        let size = file.metadata().ok().filter(fs::Metadata::is_file).map(|m| m.len());
        let limit = match size {
            Some(0) => UNSIZED_LIMIT,
            Some(size) => size,
            None => u64::MAX,
        };
        let mut printer = GrepPrinter {
            config: self.config,
            matcher: &self.matcher,
            out: &mut self.ctx.stdout,
            name: self.names.then_some(name),
            width: number_width(self.config, size),
            buffer: std::mem::take(&mut self.line),
        };
        let result = self.searcher.search_input(&mut file, limit, &mut printer);
        self.line = std::mem::take(&mut printer.buffer);
        self.report_result(name, result);
    }

    fn search_stdin(&mut self) {
        let mut input = self.ctx.stdin.detach_stream();
        if let InputSource::File(f) = input.source()
            && self.is_output(&self.config.label, f)
        {
            self.ctx.stdin = input;
            return;
        }
        let size = match input.source() {
            InputSource::File(f) => {
                f.metadata().ok().filter(fs::Metadata::is_file).map(|m| m.len())
            }
            _ => None,
        };
        let mut printer = GrepPrinter {
            config: self.config,
            matcher: &self.matcher,
            out: &mut self.ctx.stdout,
            name: self.names.then_some(&self.config.label),
            width: number_width(self.config, size),
            buffer: std::mem::take(&mut self.line),
        };
        let result = self.searcher.search_input(&mut input, u64::MAX, &mut printer);
        self.line = std::mem::take(&mut printer.buffer);
        // With `-m`, the next reader of the descriptor continues after the last selected line.
        if let Ok(SearchOutcome { unread: Some(n), .. }) = &result
            && let InputSource::File(f) = input.source()
            && let Ok(n) = i64::try_from(*n)
        {
            let _ = (&**f).seek(SeekFrom::Current(-n));
        }
        self.ctx.stdin = input;
        let label = self.config.label.clone();
        self.report_result(&label, result);
    }

    fn report_result(&mut self, name: &[u8], result: Result<SearchOutcome, SearchError>) {
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(SearchError::Read(e)) => {
                self.report_error(name, &e);
                return;
            }
            Err(SearchError::Write) => {
                self.done = true;
                return;
            }
        };
        if let Some(text) = self.matcher.take_trouble() {
            self.failed = true;
            if !self.config.no_messages {
                self.ctx.error_bytes(&[name, b": ", text.as_bytes()]);
            }
        }
        let selected = outcome.selected > 0;
        self.found |= selected;
        let mut printer = GrepPrinter {
            config: self.config,
            matcher: &self.matcher,
            out: &mut self.ctx.stdout,
            name: self.names.then_some(name),
            width: 0,
            buffer: std::mem::take(&mut self.line),
        };
        let written = match self.config.mode {
            GrepMode::Count => printer.print_count(outcome.selected),
            GrepMode::FilesWith if selected => printer.print_file(name),
            GrepMode::FilesWithout if !selected => printer.print_file(name),
            _ => Ok(()),
        };
        self.line = std::mem::take(&mut printer.buffer);
        if written.is_err() || self.config.mode == GrepMode::Quiet && selected {
            self.done = true;
        }
        if outcome.binary {
            self.ctx.error_bytes(&[name, b": binary file matches"]);
        }
    }

    /// Refuses an input to which the selected lines are written, as GNU grep does.
    fn is_output(&mut self, name: &[u8], input: &File) -> bool {
        let config = self.config;
        let OutputSink::File(out) = self.ctx.stdout.sink() else { return false };
        let lines = config.mode == GrepMode::Lines && config.max_count.is_none_or(|n| n > 1);
        if !lines || !box_sys::meta::same_file(input, out) {
            return false;
        }
        self.failed = true;
        if !config.no_messages {
            self.ctx.error_bytes(&[name, b": input file is also the output"]);
        }
        true
    }

    fn report_error(&mut self, name: &[u8], e: &std::io::Error) {
        self.failed = true;
        if !self.config.no_messages {
            self.ctx.io_error(name, e);
        }
    }

    /// Returns whether `--include` and `--exclude` exclude a file. The last rule that matches
    /// decides; without one, files are searched unless the first rule is an `--include`.
    fn excluded_file(&self, name: &[u8], operand: bool) -> bool {
        let rules = &self.config.file_rules;
        let Some(first) = rules.first() else { return false };
        let matches = |rule: &&FileRule| {
            if operand {
                name_suffixes(name).any(|s| rule.pattern.is_match(s))
            } else {
                rule.pattern.is_match(name)
            }
        };
        match rules.iter().rev().find(matches) {
            Some(rule) => !rule.include,
            None => first.include,
        }
    }
}

/// Returns the whole name and every part after a slash.
fn name_suffixes(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parts = memchr::memchr_iter(b'/', name).map(|i| &name[i + 1..]);
    std::iter::once(name).chain(parts.filter(|p| !p.is_empty() && p[0] != b'/'))
}
