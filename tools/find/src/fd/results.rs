//! What happens with a file: it is printed, or commands are run for it.

use std::io::Write;

use box_applet::command::ChildCommand;
use box_applet::{Ctx, Exit};
use box_sys::meta::FileKind;

use super::options::FdOptions;
use super::template::{Template, with_separator};
use super::walk::FoundFile;
use super::{Fault, print_error};

/// The maximum length of one command's arguments in bytes.
const BATCH_BYTES: usize = 128 * 1024;

/// Whether the walk continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    More,
    Stop,
}

/// The words of one `-x` or `-X`.
pub(crate) struct CommandWords {
    batch: bool,
    words: Vec<Vec<u8>>,
}

/// Flags with one letter that may stand before `x` in a word, as in `-Hx`.
const FLAGS: &[u8] = b"HIusigFaLp0q1";

/// Splits the words of commands from the other arguments. A command ends at `;`.
pub(crate) fn split_commands(args: &[Vec<u8>]) -> Result<(Vec<Vec<u8>>, Vec<CommandWords>), Fault> {
    let (mut words, mut commands) = (Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let batch = match arg.as_slice() {
            b"--" => {
                words.push(arg.clone());
                words.extend(args.by_ref().cloned());
                break;
            }
            b"--exec" => false,
            b"--exec-batch" => true,
            [b'-', flags @ .., last @ (b'x' | b'X')] if flags.iter().all(|f| FLAGS.contains(f)) => {
                if !flags.is_empty() {
                    words.push([b"-", flags].concat());
                }
                *last == b'X'
            }
            _ => {
                words.push(arg.clone());
                continue;
            }
        };
        let list: Vec<Vec<u8>> = args.by_ref().take_while(|word| *word != b";").cloned().collect();
        if list.is_empty() {
            return Err(Fault("No executable provided for --exec or --exec-batch".to_string()));
        }
        commands.push(CommandWords { batch, words: list });
    }
    if commands.iter().any(|c| c.batch != commands[0].batch) {
        return Err(Fault("--exec cannot be used with --exec-batch".to_string()));
    }
    Ok((words, commands))
}

/// A command with its templates.
struct TemplateCommand {
    words: Vec<Template>,
}

/// The receiver of files.
pub(crate) struct Results {
    count: usize,
    failed: bool,
    batch: bool,
    commands: Vec<TemplateCommand>,
    /// Paths for the commands of `-X`.
    pending: Vec<Vec<u8>>,
    pending_bytes: usize,
}

impl Results {
    /// Makes a receiver.
    pub(crate) fn new(words: Vec<CommandWords>, options: &FdOptions) -> Result<Results, Fault> {
        let mut batch = words.first().is_some_and(|c| c.batch);
        let mut lists: Vec<Vec<Vec<u8>>> = words.into_iter().map(|c| c.words).collect();
        if options.lists {
            if !lists.is_empty() {
                return Err(Fault("--list-details cannot be used with --exec".to_string()));
            }
            let ls = ["ls", "-l", "-h", "-d", "--color=never"];
            lists.push(ls.iter().map(|word| word.as_bytes().to_vec()).collect());
            batch = true;
        }
        let mut commands = Vec::new();
        for list in lists {
            let mut words: Vec<Template> = list.iter().map(|word| Template::parse(word)).collect();
            let filled = words.iter().filter(|word| word.has_placeholder()).count();
            if batch && words[0].has_placeholder() {
                return Err(Fault(
                    "First argument of --exec-batch must be a fixed executable, not a placeholder"
                        .to_string(),
                ));
            }
            if batch && filled > 1 {
                return Err(Fault("Only one placeholder allowed for batch commands".to_string()));
            }
            if filled == 0 {
                words.push(Template::path());
            }
            commands.push(TemplateCommand { words });
        }
        Ok(Results {
            count: 0,
            failed: false,
            batch,
            commands,
            pending: Vec::new(),
            pending_bytes: 0,
        })
    }

    /// Makes fd fail at its end.
    pub(crate) fn fail(&mut self) {
        self.failed = true;
    }

    /// Takes a file.
    pub(crate) fn take(
        &mut self,
        ctx: &mut Ctx<'_>,
        options: &FdOptions,
        file: &FoundFile<'_>,
    ) -> Continuation {
        self.count += 1;
        if options.quiet {
            return Continuation::Stop;
        }
        let mut shown = file.shown;
        if options.strips {
            shown = shown.strip_prefix(b"./").unwrap_or(shown);
        }
        if self.commands.is_empty() {
            if print_file(ctx, options, file.kind, shown).is_err() {
                return Continuation::Stop;
            }
        } else if self.batch {
            self.pending_bytes += shown.len() + 1;
            let full = options.batch_size > 0 && self.pending.len() >= options.batch_size;
            if full || self.pending_bytes > BATCH_BYTES {
                self.run_batch(ctx, options);
                self.pending_bytes = shown.len() + 1;
            }
            self.pending.push(shown.to_vec());
        } else {
            self.run_each(ctx, options, shown);
        }
        match options.max_results {
            Some(most) if self.count >= most => Continuation::Stop,
            _ => Continuation::More,
        }
    }

    /// Runs the commands of `-x` for one path; after one that fails, the others do not run.
    fn run_each(&mut self, ctx: &mut Ctx<'_>, options: &FdOptions, path: &[u8]) {
        let separator = options.separator.as_deref();
        for n in 0..self.commands.len() {
            let words = &self.commands[n].words;
            let argv = words.iter().map(|word| word.fill(path, separator)).collect();
            let fine = run_command(ctx, argv);
            if options.print0 {
                let _ = ctx.stdout.write_all(b"\0");
            }
            if !fine {
                self.failed = true;
                return;
            }
        }
    }

    fn run_batch(&mut self, ctx: &mut Ctx<'_>, options: &FdOptions) {
        let paths = std::mem::take(&mut self.pending);
        let separator = options.separator.as_deref();
        for command in &self.commands {
            let mut argv = Vec::new();
            for word in &command.words {
                if word.has_placeholder() {
                    argv.extend(paths.iter().map(|path| word.fill(path, separator)));
                } else {
                    argv.push(word.fill(b"", None));
                }
            }
            self.failed |= !run_command(ctx, argv);
        }
    }

    /// Runs what is left, and returns the exit status.
    pub(crate) fn finish(mut self, ctx: &mut Ctx<'_>, options: &FdOptions) -> Exit {
        if !self.pending.is_empty() {
            self.run_batch(ctx, options);
        }
        if self.failed || (options.quiet && self.count == 0) {
            return Exit::FAILURE;
        }
        Exit::SUCCESS
    }
}

/// Runs a command; returns whether it succeeded.
fn run_command(ctx: &mut Ctx<'_>, argv: Vec<Vec<u8>>) -> bool {
    let command = ChildCommand::new(argv);
    match command.start(ctx) {
        Ok(child) => child.wait(ctx).is_ok_and(|status| status.shell_status() == 0),
        Err(e) => {
            let name = String::from_utf8_lossy(&command.argv[0]).into_owned();
            if e.status == 127 {
                print_error(ctx, &format!("Command not found: {name}"));
            } else {
                print_error(ctx, &format!("Problem while executing command: {}", e.message));
            }
            false
        }
    }
}

fn print_file(
    ctx: &mut Ctx<'_>,
    options: &FdOptions,
    kind: FileKind,
    shown: &[u8],
) -> std::io::Result<()> {
    let separator = options.separator.as_deref();
    let mut line = match &options.template {
        Some(template) => template.fill(shown, separator),
        None => with_separator(shown, separator),
    };
    if options.template.is_none() && kind == FileKind::Dir {
        line.extend_from_slice(separator.unwrap_or(b"/"));
    }
    line.push(if options.print0 { 0 } else { b'\n' });
    ctx.stdout.write_all(&line)
}
