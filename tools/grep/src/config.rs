//! The settings from the command line.

use box_text::glob::GlobPattern;

use crate::colors::GrepColors;

/// The syntax of patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrepSyntax {
    #[default]
    Basic,
    Extended,
    Fixed,
    Perl,
}

/// The treatment of binary input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BinaryMode {
    /// Only a message that the input matches.
    #[default]
    Report,
    Text,
    WithoutMatch,
}

/// The treatment of a directory, be it an operand or found in the walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directories {
    #[default]
    Read,
    Skip,
    Recurse,
}

/// The output for an input: lines, or a summary in their place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrepMode {
    #[default]
    Lines,
    Count,
    /// `-l`
    FilesWith,
    /// `-L`
    FilesWithout,
    Quiet,
}

/// A rule about file names, in the order given.
#[derive(Clone, Debug)]
pub struct FileRule {
    pub pattern: GlobPattern,
    pub include: bool,
}

/// The settings from the command line, except for patterns and files.
#[derive(Clone, Debug, Default)]
pub struct GrepConfig {
    pub syntax: GrepSyntax,
    pub ignore_case: bool,
    pub words: bool,
    pub whole_lines: bool,
    /// The line terminator: a newline, or NUL with `-z`.
    pub end: u8,
    pub utf8: bool,
    pub invert: bool,
    pub max_count: Option<u64>,
    pub mode: GrepMode,
    pub only_matching: bool,
    pub byte_offset: bool,
    pub line_number: bool,
    /// `-H` or `-h`; with `None`, the number of operands decides.
    pub with_filename: Option<bool>,
    pub null_after_name: bool,
    pub initial_tab: bool,
    pub label: Vec<u8>,
    pub before: u64,
    pub after: u64,
    pub context_given: bool,
    /// The separator between groups; `None` for `--no-group-separator`.
    pub separator: Option<Vec<u8>>,
    pub colors: Option<GrepColors>,
    pub binary: BinaryMode,
    pub directories: Directories,
    pub skip_devices: Option<bool>,
    /// `-R`: whether symbolic links in directories are followed.
    pub follow: bool,
    pub no_messages: bool,
    pub line_buffered: bool,
    pub file_rules: Vec<FileRule>,
    pub exclude_dirs: Vec<GlobPattern>,
}
