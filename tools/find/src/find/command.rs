//! The actions `-exec`, `-execdir`, `-ok` and `-okdir`, which run a command for each file or each
//! batch.

use std::io::{BufRead, Write};
use std::path::PathBuf;

use box_applet::Ctx;
use box_applet::command::{ChildCommand, ChildStream};

use super::entry::{FindEntry, quote_name};
use super::parse::{Message, WordCursor};

/// Maximum length of the arguments of one batch in bytes, the limit of findutils.
const BATCH: usize = 128 * 1024;

/// A command that is run for files (`-exec` and similar actions).
pub struct FindExec {
    words: Vec<Vec<u8>>,
    /// `{} +`
    batch: bool,
    /// Whether the command runs in the file's directory.
    in_dir: bool,
    /// Whether the user is asked before each run.
    ask: bool,
    pending: Vec<Vec<u8>>,
    pending_bytes: usize,
    pending_dir: Option<PathBuf>,
}

impl FindExec {
    /// Parses the words up to `;` or `{} +`.
    pub fn parse(word: &[u8], words: &mut WordCursor<'_>) -> Result<FindExec, Message> {
        let missing = || [b"missing argument to `".as_slice(), word, b"'"].concat();
        let ask = word.starts_with(b"-ok");
        let mut list: Vec<Vec<u8>> = Vec::new();
        let mut batch = false;
        loop {
            match words.next().ok_or_else(missing)? {
                b";" => break,
                b"+" if !ask && list.last().is_some_and(|w| w == b"{}") => {
                    batch = true;
                    list.pop();
                    break;
                }
                b"+" if !ask && list.last().is_some_and(|w| has_braces(w)) => {
                    let last = list.last().cloned().unwrap_or_default();
                    return Err([
                        b"In ".as_slice(),
                        &quote_name(&[word, b" ... {} +"].concat()),
                        b" the ",
                        &quote_name(b"{}"),
                        b" must appear by itself, but you specified ",
                        &quote_name(&last),
                    ]
                    .concat());
                }
                other => list.push(other.to_vec()),
            }
        }
        if list.is_empty() {
            return Err([b"invalid argument `;' to `".as_slice(), word, b"'"].concat());
        }
        if batch && list.iter().any(|w| has_braces(w)) {
            return Err([
                b"Only one instance of {} is supported with ".as_slice(),
                word,
                b" ... +",
            ]
            .concat());
        }
        Ok(FindExec {
            words: list,
            batch,
            in_dir: word.ends_with(b"dir"),
            ask,
            pending: Vec::new(),
            pending_bytes: 0,
            pending_dir: None,
        })
    }

    /// Runs the command for an entry, or adds the entry to the batch. Returns the action's value.
    pub fn run_for(&mut self, ctx: &mut Ctx<'_>, entry: &FindEntry, failed: &mut bool) -> bool {
        let name = if self.in_dir {
            match entry.base() {
                b"/" => b"/".to_vec(),
                base => [b"./", base].concat(),
            }
        } else {
            entry.shown.clone()
        };
        let dir = self.in_dir.then(|| match entry.dir() {
            b"" => PathBuf::from("/"),
            dir => ctx.path(dir),
        });
        if self.batch {
            let full =
                self.pending_bytes + name.len() + 1 > BATCH - self.fixed_bytes().min(BATCH / 2);
            if full || self.in_dir && self.pending_dir != dir {
                self.run_rest(ctx, failed);
            }
            self.pending_dir = dir;
            self.pending_bytes += name.len() + 1;
            self.pending.push(name);
            return true;
        }
        let argv: Vec<Vec<u8>> = self.words.iter().map(|w| substitute_braces(w, &name)).collect();
        if self.ask && !is_confirmed(ctx, &self.words, entry) {
            return false;
        }
        let stdin = if self.ask { ChildStream::Null } else { ChildStream::Inherit };
        run(ctx, ChildCommand { argv, cwd: dir, stdin, ..ChildCommand::default() })
    }

    /// Runs the rest of a batch. A command that fails makes find fail.
    pub fn run_rest(&mut self, ctx: &mut Ctx<'_>, failed: &mut bool) {
        if self.pending.is_empty() {
            return;
        }
        let mut argv = self.words.clone();
        argv.append(&mut self.pending);
        self.pending_bytes = 0;
        let cwd = self.pending_dir.take();
        if !run(ctx, ChildCommand { argv, cwd, ..ChildCommand::default() }) {
            *failed = true;
        }
    }

    fn fixed_bytes(&self) -> usize {
        self.words.iter().map(|w| w.len() + 1).sum()
    }
}

fn run(ctx: &mut Ctx<'_>, command: ChildCommand) -> bool {
    match command.start(ctx) {
        Ok(child) => child.wait(ctx).is_ok_and(|status| status.shell_status() == 0),
        Err(e) => {
            let name = quote_name(command.argv.first().map(Vec::as_slice).unwrap_or_default());
            ctx.error_bytes(&[&name, b": ", e.message.as_bytes()]);
            false
        }
    }
}

fn is_confirmed(ctx: &mut Ctx<'_>, words: &[Vec<u8>], entry: &FindEntry) -> bool {
    let _ = ctx.stdout.flush();
    let name = words.first().map(Vec::as_slice).unwrap_or_default();
    let prompt = [b"< ".as_slice(), name, b" ... ", &entry.shown, b" > ? "].concat();
    let _ = ctx.stderr.write_all(&prompt);
    let mut answer = Vec::new();
    let _ = ctx.stdin.read_until(b'\n', &mut answer);
    matches!(answer.first(), Some(b'y' | b'Y'))
}

fn has_braces(word: &[u8]) -> bool {
    word.windows(2).any(|w| w == b"{}")
}

/// Replaces every `{}`.
fn substitute_braces(word: &[u8], name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(word.len() + name.len());
    let mut rest = word;
    while let Some(at) = memchr::memmem::find(rest, b"{}") {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(name);
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
    out
}
