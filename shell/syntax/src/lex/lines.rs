//! The lines that commands report, in `LINENO`, `caller` and messages.
//!
//! As in bash, all words of a simple command are on the command's line, even if it is written on
//! several. That includes the commands of its substitutions: the first of them has the line of the
//! command around it, and those after it count from there. Test frameworks compare `$LINENO` with
//! the line that a substitution in a later line of the same command reports.

use super::CommandParser;

/// Where the lines of commands are counted from.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CommandLines {
    /// The line of the command whose words are being read, once it is known.
    of_words: Option<u32>,
    /// The line that the next command gets: the first one of a substitution.
    next: Option<u32>,
    /// The number of lines that commands have less than the source, modulo 2^32.
    shift: u32,
}

impl CommandParser<'_, '_> {
    /// Returns the line of a command that begins at this line of the source.
    pub fn first_command_line(&mut self, source_line: u32) -> u32 {
        let lines = &mut self.st.lines;
        if let Some(line) = lines.next.take() {
            lines.shift = source_line.wrapping_sub(line);
        }
        source_line.wrapping_sub(lines.shift)
    }

    /// Returns the line of the command being read, if it is the one of this line of the source.
    pub fn command_line(&self, source_line: u32) -> u32 {
        source_line.wrapping_sub(self.lines.shift)
    }

    /// Says that the words that follow belong to the command of this line, or to one whose line is
    /// not known yet. Returns the line of the words before, to be put back after the command.
    pub fn set_line_of_words(&mut self, line: Option<u32>) -> Option<u32> {
        std::mem::replace(&mut self.st.lines.of_words, line)
    }

    /// Returns the line of the command whose words are being read, at this line of the source.
    pub fn line_of_words(&self, source_line: u32) -> u32 {
        self.lines.of_words.unwrap_or_else(|| self.command_line(source_line))
    }

    /// Starts a substitution, whose first command is on the line of the command around it. Returns
    /// the state to pass to [`Self::leave_substitution_lines`].
    pub fn enter_substitution_lines(&mut self) -> CommandLines {
        let outer = self.lines;
        self.st.lines = CommandLines { of_words: None, next: outer.of_words, shift: outer.shift };
        outer
    }

    /// Ends a substitution.
    pub fn leave_substitution_lines(&mut self, outer: CommandLines) {
        self.st.lines = outer;
    }
}
