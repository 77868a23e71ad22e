//! The loop of an interactive shell: prompt, line, history, command (bash manual 6.3, 9.3).
//!
//! A line comes from the editor that the shell was given ([`LineReader`]), or without one as the
//! terminal delivers it. The parser asks for lines while it reads a command. An empty line and
//! Ctrl-C end its input early, because both lead to a new prompt; the parser begins again then.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;

use sh_expand::{Str, VarValue};
use sh_syntax::ast::{CommandKind, CommandList, CommandWord};
use sh_syntax::parse::{ParseOptions, Parser, SourceInput};

use crate::Shell;
use crate::history::expand::expand_line;
use crate::io::DescriptorTarget;
use crate::run::{AliasView, SourceText, TextKind, print_to};
use crate::shell::{Flow, Unwind};
use crate::state::options::SetOpt;
use crate::verdict::syntax::TextPlace;

/// Reads lines that a user edits.
pub trait LineReader {
    /// Reads one line.
    ///
    /// # Errors
    /// Fails if the terminal does.
    fn read_line(&mut self, request: &LineRequest<'_>) -> io::Result<LineEnd>;
}

/// The purpose for which a line is read.
#[derive(Debug)]
pub struct LineRequest<'r> {
    /// The prompt. The bytes 1 and 2 are around parts that take no room, as in readline.
    pub prompt: &'r [u8],
    pub history: &'r [Vec<u8>],
    pub names: &'r CompletionNames,
    pub input: &'r File,
    pub out: &'r File,
}

/// How the editing of a line ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// The line without its newline; it may contain others.
    Line(Vec<u8>),
    End,
    /// By Ctrl-C.
    Interrupted,
    /// A signal arrived, on which the shell acts.
    Signal,
}

/// The candidates for the words of a line.
#[derive(Clone, Debug, Default)]
pub struct CompletionNames {
    /// Builtins, reserved words, functions and aliases.
    pub commands: Vec<String>,
    pub variables: Vec<String>,
    /// The value of PATH.
    pub path: Vec<u8>,
    pub cwd: PathBuf,
    pub home: Vec<u8>,
}

/// How the input of one command ended before the command did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum InputEnd {
    /// It has not, or the input itself has ended.
    #[default]
    Nothing,
    /// The line holds no command.
    Blank,
    /// By Ctrl-C.
    Interrupted,
}

/// The state that the reader of lines and the loop share.
#[derive(Default)]
struct Prompting {
    editor: Option<Box<dyn LineReader>>,
    names: CompletionNames,
    history: Vec<Vec<u8>>,
    first: Vec<u8>,
    more: Vec<u8>,
    input: Option<DescriptorTarget>,
    out: Option<DescriptorTarget>,
    /// The beginning of messages.
    name: Vec<u8>,
    /// Whether `!` stands for the history.
    expands_history: bool,
    /// Whether each line is shown again (`set -v`).
    is_verbose: bool,
    end: InputEnd,
    /// The lines of the present command.
    lines: Vec<Vec<u8>>,
}

/// The parser's source of lines.
#[derive(Clone)]
struct PromptInput(Rc<RefCell<Prompting>>);

impl SourceInput for PromptInput {
    fn read_line(&mut self, buf: &mut Vec<u8>, continuation: bool) -> bool {
        let mut p = self.0.borrow_mut();
        if p.end != InputEnd::Nothing {
            return false;
        }
        let Some(line) = p.read_any(continuation).and_then(|line| p.expand_history(line)) else {
            return false;
        };
        if p.is_verbose {
            print_to(&p.out, &line);
        }
        if !continuation && line.trim_ascii().is_empty() {
            p.end = InputEnd::Blank;
            return false;
        }
        buf.extend_from_slice(&line);
        p.lines.push(line);
        true
    }
}

impl Prompting {
    /// Prints the prompt and reads a line; `None` at the end, and after signals.
    fn read_any(&mut self, continuation: bool) -> Option<Vec<u8>> {
        let files = match (&self.input, &self.out) {
            (Some(DescriptorTarget::File(input)), Some(DescriptorTarget::File(out))) => {
                Some((input.file().clone(), out.file().clone()))
            }
            _ => None,
        };
        let Some(((input, out), editor)) = files.zip(self.editor.as_mut()) else {
            return self.read_plain(continuation);
        };
        let read = editor.read_line(&LineRequest {
            prompt: if continuation { &self.more } else { &self.first },
            history: &self.history,
            names: &self.names,
            input: &input,
            out: &out,
        });
        match read {
            Ok(LineEnd::Line(mut line)) => {
                line.push(b'\n');
                Some(line)
            }
            Ok(LineEnd::Interrupted) => {
                self.end = InputEnd::Interrupted;
                None
            }
            Ok(LineEnd::Signal) => {
                self.end = InputEnd::Blank;
                None
            }
            Ok(LineEnd::End) => None,
            // Its input is no terminal any more.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(_) => self.read_plain(continuation),
        }
    }

    /// Reads a line as the terminal delivers it.
    fn read_plain(&mut self, continuation: bool) -> Option<Vec<u8>> {
        print_to(&self.out, if continuation { &self.more } else { &self.first });
        let mut line = Vec::new();
        while let Err(e) = self.input.as_ref()?.read_until(Some(b'\n'), usize::MAX, &mut line)
            && e.kind() == io::ErrorKind::Interrupted
        {
            if box_sys::events::forget_pending(box_sys::signal::INT) {
                print_to(&self.out, b"\n");
                self.end = InputEnd::Interrupted;
                return None;
            }
            if box_sys::events::has_pending() {
                // The shell acts on other signals first.
                self.end = InputEnd::Blank;
                return None;
            }
        }
        (!line.is_empty()).then_some(line)
    }

    /// Expands `!`, and shows a line that has changed; `None` if it must not run.
    fn expand_history(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        if !self.expands_history || !line.contains(&b'!') && line.first() != Some(&b'^') {
            return Some(line);
        }
        match expand_line(&line, &self.history) {
            Ok(found) => {
                if found.has_changed {
                    print_to(&self.out, &found.text);
                }
                if found.only_shows {
                    self.lines.push(found.text);
                    self.end = InputEnd::Blank;
                    return None;
                }
                Some(found.text)
            }
            Err(fault) => {
                let message = [&self.name[..], fault.to_string().as_bytes(), b"\n"].concat();
                print_to(&self.out, &message);
                self.end = InputEnd::Blank;
                self.lines.clear();
                None
            }
        }
    }
}

impl Shell<'_> {
    /// Runs commands that a user types, and returns the status to exit with.
    pub(crate) fn run_prompts(&mut self) -> i32 {
        let shared =
            Rc::new(RefCell::new(Prompting { editor: self.editor.take(), ..Prompting::default() }));
        self.mentions.commands = true;
        let mut parser = self.prompt_parser(&shared, 1);
        let r = loop {
            self.sync_output();
            self.show_notices();
            self.run_prompt_commands();
            self.prepare_prompt(&shared);
            let options = self.parse_options();
            *parser.options_mut() = options;
            let aliases = self.state.aliases.clone();
            let next = parser.next_command(&AliasView(&aliases));
            let (end, lines) = {
                let mut p = shared.borrow_mut();
                self.history.put_lines(std::mem::take(&mut p.history));
                (std::mem::take(&mut p.end), std::mem::take(&mut p.lines))
            };
            self.keep_in_history(&lines);
            match end {
                InputEnd::Nothing => self.parser_warnings(&mut parser),
                InputEnd::Blank => {}
                InputEnd::Interrupted => self.state.status = 128 + i32::from(box_sys::signal::INT),
            }
            if end != InputEnd::Nothing {
                parser = self.prompt_parser(&shared, parser.line());
                if let Err(Unwind::Exit(s) | Unwind::GiveUp(s)) = self.run_pending_traps() {
                    break Err(Unwind::Exit(s));
                }
                continue;
            }
            match next {
                Ok(None) => {
                    self.say_leaving();
                    if self.may_leave() {
                        break Ok(self.state.status);
                    }
                    // A terminal may send more after an end.
                    parser = self.prompt_parser(&shared, parser.line());
                }
                Ok(Some(list)) => match self.run_typed(&list) {
                    Ok(_) => {}
                    Err(Unwind::Discard(s)) => {
                        if self.signals.take_interrupted() {
                            self.write_err(b"\n");
                        }
                        self.state.status = s;
                    }
                    Err(u @ (Unwind::Exit(_) | Unwind::GiveUp(_))) => break Err(u),
                    Err(_) => {}
                },
                Err(e) => {
                    self.syntax_error(&e, None);
                    if let flow @ Err(_) = self.after_syntax_error(TextPlace::Prompt) {
                        break flow;
                    }
                }
            }
            if self.ends_after_command() {
                break Ok(self.state.status);
            }
        };
        self.finish(r)
    }

    /// Returns a parser of the lines that are typed. After the end of the input, which a terminal may
    /// send several times, only a new one reads on.
    fn prompt_parser(&self, shared: &Rc<RefCell<Prompting>>, line: u32) -> Parser<'static> {
        let options = ParseOptions { first_line: line.max(1), ..self.parse_options() };
        Parser::with_input(Box::new(PromptInput(shared.clone())), options)
    }

    /// Runs a list that was typed. Once the user was told about stopped jobs, only the next command
    /// may leave the shell.
    fn run_typed(&mut self, list: &CommandList) -> Flow {
        let before = std::mem::take(&mut self.leave_warned);
        self.leave_warned = before && simple_name(list).is_some_and(leaves_or_lists);
        let status = self.run_list(list)?;
        // A signal that arrived meanwhile is about this command.
        self.run_pending_traps()?;
        Ok(status)
    }

    /// Runs the commands of `PROMPT_COMMAND`, which may be an array (bash manual 5.2).
    fn run_prompt_commands(&mut self) {
        if self.state.vars.get(b"PROMPT_COMMAND").is_none() {
            return;
        }
        let commands: Vec<Str> =
            match self.state.vars.get(b"PROMPT_COMMAND").and_then(|v| v.value()) {
                Some(VarValue::Indexed(list)) => {
                    list.iter().map(|(_, text)| text.clone()).collect()
                }
                _ => self.variable_text(b"PROMPT_COMMAND").into_iter().collect(),
            };
        let status = self.state.status;
        for text in commands.iter().filter(|text| !text.is_empty()) {
            let line = self.state.line;
            // A failure only ends the command itself.
            let _ = self.run_text(SourceText { text, line, kind: TextKind::Commands });
            self.state.line = line;
            self.state.status = status;
        }
        self.sync_output();
    }

    fn prepare_prompt(&mut self, shared: &Rc<RefCell<Prompting>>) {
        let status = self.state.status;
        let ps1 = self.variable_text(b"PS1").unwrap_or_default();
        let ps2 = self.variable_text(b"PS2").unwrap_or_default();
        let has_editor = shared.borrow().editor.is_some();
        let first = self.expand_shown_prompt(&ps1, has_editor).unwrap_or_default();
        let more = self.expand_shown_prompt(&ps2, has_editor).unwrap_or_default();
        self.state.status = status;
        if has_editor {
            self.note_window_size();
        }
        let mut p = shared.borrow_mut();
        if has_editor {
            p.names = self.completion_names();
        }
        p.history = self.history.take_lines();
        p.name = self.message_prefix();
        p.expands_history = self.state.options.has_set(SetOpt::HistExpand);
        (p.first, p.more) = (first, more);
        p.input = self.state.fds.get(0).cloned();
        p.out = self.state.fds.get(2).cloned();
        p.is_verbose = self.state.options.has_set(SetOpt::Verbose);
    }

    /// Sets LINES and COLUMNS to the size of the terminal (`checkwinsize`).
    fn note_window_size(&mut self) {
        let Some(file) = self.terminal_file() else { return };
        let Ok(size) = box_sys::terminal::window_size(&file) else { return };
        if size.rows > 0 && size.columns > 0 {
            self.set_quietly(b"LINES", size.rows.to_string().as_bytes());
            self.set_quietly(b"COLUMNS", size.columns.to_string().as_bytes());
        }
    }

    fn completion_names(&mut self) -> CompletionNames {
        let text = |name: &[u8]| String::from_utf8(name.to_vec()).ok();
        let builtins = crate::builtin::TABLE.iter().map(|b| b.name.to_owned());
        let functions = self.state.functions.keys().filter_map(|name| text(name));
        let aliases = self.state.aliases.keys().filter_map(|name| text(name));
        let words = RESERVED.iter().map(|word| (*word).to_owned());
        let commands = builtins.chain(functions).chain(aliases).chain(words).collect();
        let mut variables: Vec<String> =
            self.state.vars.iter().filter_map(|(name, _)| text(name)).collect();
        variables.sort();
        CompletionNames {
            commands,
            variables,
            path: self.variable_text(b"PATH").unwrap_or_default().to_vec(),
            cwd: self.cwd().to_path_buf(),
            home: self.variable_text(b"HOME").unwrap_or_default().to_vec(),
        }
    }
}

/// Reserved words that people type.
const RESERVED: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

fn leaves_or_lists(word: &CommandWord) -> bool {
    match word {
        CommandWord::Word(w) => matches!(&*w.raw, b"exit" | b"logout" | b"jobs"),
        CommandWord::Assignment(_) => false,
    }
}

/// Returns the first word of a list that is one simple command.
fn simple_name(list: &CommandList) -> Option<&CommandWord> {
    let [item] = list.items.as_slice() else { return None };
    let [stage] = item.and_or.first.stages.as_slice() else { return None };
    match &stage.command.kind {
        CommandKind::Simple(s) if item.and_or.rest.is_empty() => s.words.first(),
        _ => None,
    }
}
