//! The tree as shell text, in the layout of bash's `declare -f`.
//!
//! Words, assignments and arithmetic print as they were spelled; all other text gets a new layout:
//! four blanks per level, `;` before a newline, here-document bodies after the line with their
//! operator. Printed text parses to the same tree. Where the text that bash prints does not (a
//! here-document in an `if` condition, `1<>file`, a word ending in `\&` before `then`), our text
//! differs from bash's.
//!
//! # Map
//! [`commands`]: lists, pipelines, simple commands; [`compound`]: the compound commands;
//! [`redirects`]: redirections and here-documents; [`conds`]: `[[ ]]`.

mod commands;
mod compound;
mod conds;
mod redirects;

use crate::ast::{
    ArrayElement, Command, CommandKind, CommandList, FunctionCommand, HereDoc, Subscript,
};

/// Returns a list as `jobs` shows it. Ends in a newline.
pub fn print_list(list: &CommandList) -> Vec<u8> {
    whole_list(list, false)
}

/// Returns a list as text that parses to the same tree.
pub fn list_kept(list: &CommandList) -> Vec<u8> {
    whole_list(list, true)
}

fn whole_list(list: &CommandList, reads_back: bool) -> Vec<u8> {
    let mut p = CommandPrinter { in_function: 1, reads_back, ..CommandPrinter::default() };
    p.print_list(list);
    p.put_docs(b"");
    if p.out.last() != Some(&b'\n') {
        p.out.push(b'\n');
    }
    p.out
}

/// Returns one command, without a final newline unless a here-document ends it.
pub fn print_command(command: &Command) -> Vec<u8> {
    let mut p = CommandPrinter { in_function: 1, ..CommandPrinter::default() };
    p.print_command(command);
    p.put_docs(b"");
    p.out
}

/// Returns one command as `BASH_COMMAND` shows a subshell: on one line.
pub fn command_line(command: &Command) -> Vec<u8> {
    let mut p = CommandPrinter::default();
    p.print_command(command);
    p.put_docs(b"");
    p.out
}

/// Returns a command as `BASH_COMMAND` names it: of `for`, `select` and `case` only the head.
pub fn command_head(command: &Command) -> Vec<u8> {
    let mut p = CommandPrinter { in_function: 1, ..CommandPrinter::default() };
    match &command.kind {
        CommandKind::For(f) => p.for_head(b"for ", f),
        CommandKind::Select(f) => p.for_head(b"select ", f),
        CommandKind::Case(c) => p.case_head(c),
        _ => p.print_command(command),
    }
    p.put_docs(b"");
    p.out
}

/// Returns a function as `declare -f name` and `type name` show it; both always add a newline.
pub fn print_function(function: &FunctionCommand) -> Vec<u8> {
    let mut p = CommandPrinter::default();
    p.function_text(function, false);
    p.out
}

/// Returns a function as a session stores it for later calls. Unlike in bash, a list that ends in a
/// lone `!` or `time` has a `;` before a parenthesis that follows.
pub fn function_kept(function: &FunctionCommand) -> Vec<u8> {
    let mut p = CommandPrinter { reads_back: true, ..CommandPrinter::default() };
    p.function_text(function, false);
    p.out
}

/// Returns a function as POSIX mode shows it, without the word `function` before functions within
/// it.
pub fn function_posix(function: &FunctionCommand) -> Vec<u8> {
    let mut p = CommandPrinter { posix: true, ..CommandPrinter::default() };
    p.function_text(function, false);
    p.out
}

/// Returns a function as bash exports it: from `()` on, almost without indentation.
pub fn exported_function(function: &FunctionCommand) -> Vec<u8> {
    let mut p = CommandPrinter { flat: true, indent: 1, ..CommandPrinter::default() };
    p.function_body(function);
    p.out
}

/// Prints the commands of `$(...)`, on one line where bash does.
pub fn print_substitution(out: &mut Vec<u8>, list: &CommandList) {
    let mut p =
        CommandPrinter { substitution: true, reads_back: true, ..CommandPrinter::default() };
    p.print_list(list);
    p.put_docs(b"");
    if compound::ends_in_not(list) {
        p.put_text(b";");
    }
    if p.out.first() == Some(&b'(') {
        // `$((` would be arithmetic.
        out.push(b' ');
    }
    out.extend_from_slice(&p.out);
}

/// Prints an element of a compound array value.
pub(crate) fn array_element(out: &mut Vec<u8>, e: &ArrayElement) {
    if let Some(key) = &e.key {
        out.push(b'[');
        match key {
            Subscript::At => out.push(b'@'),
            Subscript::Star => out.push(b'*'),
            Subscript::Expr(a) => out.extend_from_slice(&a.word.raw),
        }
        out.extend_from_slice(if e.append { b"]+=" } else { b"]=" });
    }
    out.extend_from_slice(&e.value.raw);
}

#[derive(Default)]
struct CommandPrinter<'t> {
    out: Vec<u8>,
    indent: usize,
    /// Whether nesting adds no indentation.
    flat: bool,
    posix: bool,
    /// Whether the list is one of `$(...)`.
    substitution: bool,
    /// Whether the text must parse to the same tree, even where bash prints it differently. This is
    /// true of every substitution, because its text is kept from when it is first read.
    reads_back: bool,
    /// The number of functions around this place; inside one, every command has its own line.
    in_function: u32,
    /// The here-documents announced on this line.
    docs: Vec<&'t HereDoc>,
    /// Whether a here-document ended the last line, so that no `;` is needed.
    after_doc: bool,
    /// Whether a `&` was printed last, so that no `;` is needed.
    after_amp: bool,
}

impl CommandPrinter<'_> {
    fn put_text(&mut self, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        self.after_amp = false;
        self.out.extend_from_slice(text);
    }

    /// Prints a newline and `text`, indented.
    fn put_line(&mut self, text: &[u8]) {
        self.put_text(b"\n");
        self.put_indentation();
        self.put_text(text);
    }

    fn indent_deeper(&mut self) {
        self.indent += if self.flat { 0 } else { 4 };
    }

    fn indent_less(&mut self) {
        self.indent -= if self.flat { 0 } else { 4 };
    }

    fn put_indentation(&mut self) {
        let n = self.out.len() + self.indent;
        self.out.resize(n, b' ');
    }

    /// Prints a `;` where the grammar needs one.
    fn put_semicolon(&mut self) {
        if !self.after_amp && self.out.last() != Some(&b'\n') {
            self.put_text(b";");
        }
    }

    /// Prints `text`, then the bodies of the here-documents announced on this line.
    fn put_docs(&mut self, text: &[u8]) {
        self.put_text(text);
        if self.docs.is_empty() {
            return;
        }
        self.put_text(b"\n");
        for doc in std::mem::take(&mut self.docs) {
            self.put_text(&doc.body.raw);
            if !doc.body.raw.is_empty() && doc.body.raw.last() != Some(&b'\n') {
                self.put_text(b"\n");
            }
            self.put_text(redirects::printed_delimiter(doc));
            self.put_text(b"\n");
        }
        if !text.is_empty() {
            self.put_text(b" ");
        }
        self.after_doc = true;
    }
}
