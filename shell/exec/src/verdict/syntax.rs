//! The consequences of a text that does not parse: one table from the text's place and the shell's
//! mode (POSIX XCU 2.8.1).

use super::Mode;

/// The place of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPlace {
    /// Commands that a user types.
    Prompt,
    /// The script's own commands, from a file, from `-c` or from standard input.
    Script,
    /// The text of `eval`, `.` or a substitution.
    Text,
    /// The action of a trap.
    Action,
}

/// The consequence of a syntax error. The status is 2 in each case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterSyntax {
    /// The line is dropped, and the next one read.
    Continue,
    /// The text ends.
    End,
    /// The shell ends.
    Exit,
}

/// Returns the verdict of the table.
pub(crate) fn syntax_verdict(place: TextPlace, mode: &Mode) -> AfterSyntax {
    match place {
        TextPlace::Prompt => AfterSyntax::Continue,
        TextPlace::Script | TextPlace::Action => AfterSyntax::End,
        // `eval` and `.` are special builtins.
        TextPlace::Text if mode.exits_here || mode.posix && !mode.interactive => AfterSyntax::Exit,
        TextPlace::Text => AfterSyntax::End,
    }
}
