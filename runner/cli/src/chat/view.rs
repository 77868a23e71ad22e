//! The chat on a terminal, or for scripts.

use serde_json::{Map, Value};
use std::io::{BufRead, IsTerminal, Write};
use wasibox::terminal::Filter;
use wasibox_chat::{CallReport, ChatView};

/// The maximum number of characters of a call's arguments, and of lines of its result, that are
/// shown.
const SHOWN_ARGUMENTS: usize = 200;
const SHOWN_LINES: usize = 6;
/// The sequences for dim text and for the end of it (ECMA-48, SGR).
const DIM: (&str, &str) = ("\x1b[2m", "\x1b[m");

/// A view that prints. What a model writes is filtered as a guest's output is.
pub struct TerminalView {
    /// Whether the text of the model is printed as it comes.
    shows_text: bool,
    has_colours: bool,
    filter: Filter,
    /// Whether the last line of text is not complete.
    is_within_line: bool,
}

impl TerminalView {
    /// Makes the view of a chat with a person.
    pub fn for_people() -> TerminalView {
        TerminalView {
            shows_text: true,
            has_colours: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            filter: Filter::default(),
            is_within_line: false,
        }
    }

    /// Makes the view for `--print`: calls on standard error, and no text.
    pub fn for_scripts() -> TerminalView {
        TerminalView { shows_text: false, has_colours: false, ..TerminalView::for_people() }
    }

    /// Prints a line of the chat itself.
    pub fn say(&mut self, text: &str) {
        self.end_line();
        let (dim, plain) = if self.has_colours { DIM } else { ("", "") };
        let text = shown(text);
        // The output of a chat that nobody reads any more is lost.
        let _ = if self.shows_text {
            writeln!(std::io::stdout(), "{dim}{text}{plain}")
        } else {
            writeln!(std::io::stderr(), "{text}")
        };
    }

    /// Prints the result of a command of the user.
    pub fn print_result(&mut self, text: &str) {
        self.end_line();
        let _ = writeln!(std::io::stdout(), "{}", shown(text.trim_end()));
    }

    /// Ends the text of a turn.
    pub fn end_turn(&mut self) {
        self.end_line();
        self.filter = Filter::default();
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.is_within_line) {
            let _ = writeln!(std::io::stdout());
        }
    }
}

impl ChatView for TerminalView {
    fn show_text(&mut self, text: &str) {
        if !self.shows_text {
            return;
        }
        let bytes = self.filter.filter_bytes(text.as_bytes());
        if let Some(last) = bytes.last() {
            self.is_within_line = *last != b'\n';
        }
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(&bytes).and_then(|()| out.flush());
    }

    fn begin_call(&mut self, name: &str, arguments: &Map<String, Value>) {
        self.say(&format!("* {name} {}", arguments_text(arguments)));
    }

    fn end_call(&mut self, report: &CallReport<'_>) {
        let lines: Vec<&str> = report.text.lines().collect();
        for line in lines.iter().take(SHOWN_LINES) {
            self.say(&format!("  {line}"));
        }
        let left = lines.len().saturating_sub(SHOWN_LINES);
        let more = if left > 0 { format!("{left} more lines, ") } else { String::new() };
        let status = match (report.is_done, report.status) {
            (true, Some(status)) => format!("status {status}, "),
            (true, None) => String::new(),
            (false, _) => "refused, ".into(),
        };
        self.say(&format!("  ({more}{status}{:.1} s)", report.duration.as_secs_f64()));
    }

    fn approve(&mut self, name: &str, arguments: &Map<String, Value>) -> bool {
        if !std::io::stdin().is_terminal() {
            self.say(&format!("* {name} is not approved: there is nobody to ask"));
            return false;
        }
        let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
        self.say(&format!("* {name} {text}"));
        let _ = write!(std::io::stdout(), "Run it? [y/N] ");
        let _ = std::io::stdout().flush();
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
    }
}

/// Returns the arguments on one line: a single text as it is, others as JSON.
fn arguments_text(arguments: &Map<String, Value>) -> String {
    let text = match arguments.values().next() {
        Some(Value::String(text)) if arguments.len() == 1 => text.clone(),
        _ => Value::Object(arguments.clone()).to_string(),
    };
    let line = text.replace('\n', " ");
    match line.char_indices().nth(SHOWN_ARGUMENTS) {
        Some((at, _)) => format!("{}...", &line[..at]),
        None => line,
    }
}

/// Returns text without sequences that act on a terminal.
fn shown(text: &str) -> String {
    String::from_utf8_lossy(&Filter::default().filter_bytes(text.as_bytes())).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_are_shown_on_one_line() {
        let text = |value: Value| arguments_text(value.as_object().expect("an object"));
        assert_eq!(text(json!({ "command": "ls\nwc" })), "ls wc");
        assert_eq!(text(json!({ "path": "a", "offset": 2 })), r#"{"offset":2,"path":"a"}"#);
        assert_eq!(text(json!({ "x": "y".repeat(500) })).len(), SHOWN_ARGUMENTS + 3);
    }
}
