//! The text of `--help` and `man`, in one layout for all tools: usage, description, options in two
//! columns, notes and examples. Lines have at most 80 columns.
//!
//! A tool with a [`crate::opts::Spec`] gets its page from there. A tool whose options do not fit
//! one (`dd`, `find`, `test`) declares a [`HelpPage`].
//!
//! ```
//! use box_applet::help::{HelpPage, HelpSection};
//! const PAGE: HelpPage = HelpPage::new(
//!     "[FILE]...\n-s FILE",
//!     "Count sheep.",
//!     &[HelpSection::new("Options", &[("  -s, --sleep", "Fall asleep")])],
//! );
//! assert_eq!(
//!     PAGE.text("sheep"),
//!     "Usage: sheep [FILE]...\n   or: sheep -s FILE\n\nCount sheep.\n\nOptions:\n  \
//!      -s, --sleep    Fall asleep\n      --help     Show this help\n      \
//!      --version  Show the version\n"
//! );
//! ```

pub mod words;

/// The maximum length of a line, in characters.
const WIDTH: usize = 80;
/// The maximum length of a left cell that has its text beside it, in characters.
const LEFT: usize = 30;
/// Like [`LEFT`], for the list of examples, whose left cells are whole commands.
const COMMAND: usize = 44;
/// The heading of the section in which `--help` and `--version` are listed.
const OPTIONS: &str = "Options";

/// Rows of two cells under a heading.
#[derive(Clone, Copy, Debug)]
pub struct HelpSection<'a> {
    heading: &'a str,
    rows: &'a [(&'a str, &'a str)],
}

impl<'a> HelpSection<'a> {
    /// Declares a section: a heading without a colon, and rows of a text to type and its effect.
    /// The left cells begin with their indentation.
    pub const fn new(heading: &'a str, rows: &'a [(&'a str, &'a str)]) -> HelpSection<'a> {
        HelpSection { heading, rows }
    }
}

/// The contents of a command's help.
#[derive(Clone, Copy, Debug)]
pub struct HelpPage<'a> {
    usage: &'a str,
    about: &'a str,
    sections: &'a [HelpSection<'a>],
    notes: &'a str,
    reads_standard_input: bool,
    has_common_options: bool,
    examples: &'a [(&'a str, &'a str)],
}

impl<'a> HelpPage<'a> {
    /// Declares a page: the ways to call the command, one a line and without its name, a sentence
    /// about what it does, and its sections. `--help` and `--version` are added unless a section
    /// has them.
    pub const fn new(
        usage: &'a str,
        about: &'a str,
        sections: &'a [HelpSection<'a>],
    ) -> HelpPage<'a> {
        HelpPage {
            usage,
            about,
            sections,
            notes: "",
            reads_standard_input: false,
            has_common_options: true,
            examples: &[],
        }
    }

    /// Adds paragraphs after the sections, one a line. Lines that begin with a space stay as they
    /// are.
    pub const fn with_notes(self, notes: &'a str) -> HelpPage<'a> {
        HelpPage { notes, ..self }
    }

    /// Leaves `--help` and `--version` out of the page, unless one of its sections lists them.
    pub const fn without_common_options(self) -> HelpPage<'a> {
        HelpPage { has_common_options: false, ..self }
    }

    /// Adds the note that standard input is read without operands and for `-`.
    pub const fn reads_standard_input(self) -> HelpPage<'a> {
        HelpPage { reads_standard_input: true, ..self }
    }

    /// Adds the note of [`HelpPage::reads_standard_input`] if `reads` is true.
    pub(crate) const fn with_standard_input(self, reads: bool) -> HelpPage<'a> {
        HelpPage { reads_standard_input: reads, ..self }
    }

    /// Adds examples: commands and their effects.
    pub const fn with_examples(self, examples: &'a [(&'a str, &'a str)]) -> HelpPage<'a> {
        HelpPage { examples, ..self }
    }

    /// Returns the text of the page for a command with this name.
    pub fn text(&self, name: &str) -> String {
        let mut text = String::new();
        for (n, line) in self.usage.split('\n').enumerate() {
            let start = if n == 0 { "Usage:" } else { "   or:" };
            text.push_str(format!("{start} {name} {line}").trim_end());
            text.push('\n');
        }
        push_paragraphs(&mut text, self.about);
        self.push_sections(&mut text);
        push_paragraphs(&mut text, self.notes);
        if self.reads_standard_input {
            push_paragraphs(&mut text, words::STANDARD_INPUT);
        }
        if !self.examples.is_empty() {
            text.push_str("\nExamples:\n");
            let rows: Vec<_> =
                self.examples.iter().map(|(left, right)| (format!("  {left}"), *right)).collect();
            let rows: Vec<_> = rows.iter().map(|(left, right)| (left.as_str(), *right)).collect();
            push_rows(&mut text, &rows, column_of(&rows, COMMAND));
        }
        text
    }

    fn push_sections(&self, text: &mut String) {
        let mut sections: Vec<(&str, Vec<(&str, &str)>)> =
            self.sections.iter().map(|s| (s.heading, s.rows.to_vec())).collect();
        let common = [("      --help", words::HELP), ("      --version", words::VERSION)];
        let has_option = |name: &str| {
            let mut lefts = self.sections.iter().flat_map(|s| s.rows).map(|(left, _)| left);
            lefts.any(|left| left.split([' ', ',']).any(|word| word == name))
        };
        let missing = common.into_iter().filter(|(left, _)| !has_option(left.trim()));
        let missing: Vec<_> = missing.filter(|_| self.has_common_options).collect();
        match sections.last_mut() {
            Some((OPTIONS, rows)) => rows.extend(missing),
            _ if missing.is_empty() => {}
            _ => sections.push((OPTIONS, missing)),
        }
        let all: Vec<_> = sections.iter().flat_map(|(_, rows)| rows).copied().collect();
        let column = column_of(&all, LEFT);
        for (heading, rows) in sections {
            text.push_str(&format!("\n{heading}:\n"));
            push_rows(text, &rows, column);
        }
    }
}

/// Returns the column where right cells begin: two after the longest left cell that is not longer
/// than `most`.
fn column_of(rows: &[(&str, &str)], most: usize) -> usize {
    let widths = rows.iter().map(|(left, _)| width_of(left));
    widths.filter(|width| *width <= most).max().unwrap_or(0) + 2
}

fn width_of(text: &str) -> usize {
    text.chars().count()
}

fn push_rows(text: &mut String, rows: &[(&str, &str)], column: usize) {
    for (left, right) in rows {
        let lines = wrap_words(right, WIDTH - column);
        text.push_str(left);
        let mut at = width_of(left);
        if at + 2 > column && !lines.is_empty() {
            text.push('\n');
            at = 0;
        }
        for (n, line) in lines.iter().enumerate() {
            let gap = if n == 0 { column - at } else { column };
            text.push_str(&format!("{:gap$}{line}", ""));
            if n + 1 < lines.len() {
                text.push('\n');
            }
        }
        text.push('\n');
    }
}

/// Adds an empty line and paragraphs, one for each line of `paragraphs`.
fn push_paragraphs(text: &mut String, paragraphs: &str) {
    if paragraphs.is_empty() {
        return;
    }
    text.push('\n');
    for paragraph in paragraphs.trim_end().split('\n') {
        if paragraph.is_empty() || paragraph.starts_with(' ') {
            text.push_str(paragraph);
            text.push('\n');
            continue;
        }
        for line in wrap_words(paragraph, WIDTH) {
            text.push_str(&line);
            text.push('\n');
        }
    }
}

/// Splits a text into lines of at most `width` characters, between words.
fn wrap_words(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(line) + 1 + width_of(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{HelpPage, HelpSection};

    #[test]
    fn lays_out_two_columns() {
        const PAGE: HelpPage = HelpPage::new(
            "[OPTION]... FILE",
            "Do it.",
            &[HelpSection::new(
                "Options",
                &[
                    (
                        "  -a, --all",
                        "Do all of it, however long it takes and however many files there are to \
                         do it to",
                    ),
                    ("      --an-option-with-a-name=OF-SOME-LENGTH", "Do it so"),
                    ("  -V, --version", "Print the version"),
                ],
            )],
        )
        .with_notes("First.\n\n  kept   as it is\nLast.")
        .reads_standard_input()
        .with_examples(&[("it -a FILE", "All of it")]);
        let expected = "\
Usage: it [OPTION]... FILE

Do it.

Options:
  -a, --all      Do all of it, however long it takes and however many files
                 there are to do it to
      --an-option-with-a-name=OF-SOME-LENGTH
                 Do it so
  -V, --version  Print the version
      --help     Show this help

First.

  kept   as it is
Last.

Standard input is read if there is no FILE, and for a FILE named -.

Examples:
  it -a FILE  All of it
";
        assert_eq!(PAGE.text("it"), expected);
        assert!(PAGE.text("it").lines().all(|line| line.chars().count() <= 80));
    }
}
