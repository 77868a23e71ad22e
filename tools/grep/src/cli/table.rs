//! Declares the options of grep.

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};

/// An option of grep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrepFlag {
    ExtendedRegexp,
    FixedStrings,
    BasicRegexp,
    PerlRegexp,
    Regexp,
    File,
    IgnoreCase,
    NoIgnoreCase,
    WordRegexp,
    LineRegexp,
    NullData,
    NoMessages,
    InvertMatch,
    Version,
    MaxCount,
    ByteOffset,
    LineNumber,
    LineBuffered,
    WithFilename,
    NoFilename,
    Label,
    OnlyMatching,
    Quiet,
    BinaryFiles,
    Text,
    WithoutMatch,
    Directories,
    Devices,
    Recursive,
    DereferenceRecursive,
    Include,
    Exclude,
    ExcludeFrom,
    ExcludeDir,
    FilesWithoutMatch,
    FilesWithMatches,
    Count,
    InitialTab,
    Null,
    BeforeContext,
    AfterContext,
    Context,
    GroupSeparator,
    NoGroupSeparator,
    Color,
    Binary,
}

pub(super) const SPEC: Spec<GrepFlag> = Spec::new(
    "[OPTION]... PATTERNS [FILE]...",
    "Print the lines that match any of PATTERNS, which newlines separate.",
    &[
        Opt::new(GrepFlag::ExtendedRegexp, 'E', "extended-regexp")
            .with_help("Read patterns as extended regular expressions: a+|b?"),
        Opt::new(GrepFlag::FixedStrings, 'F', "fixed-strings")
            .with_help("Read patterns as plain text"),
        Opt::new(GrepFlag::BasicRegexp, 'G', "basic-regexp")
            .with_help("Read patterns as basic regular expressions (default)"),
        Opt::new(GrepFlag::PerlRegexp, 'P', "perl-regexp")
            .with_help("Read patterns as regular expressions of Perl"),
        Opt::new(GrepFlag::Regexp, 'e', "regexp")
            .with_argument("PATTERNS", "Also search for PATTERNS, which may begin with -"),
        Opt::new(GrepFlag::File, 'f', "file")
            .with_argument("FILE", "Read patterns from FILE, one per line"),
        Opt::new(GrepFlag::IgnoreCase, 'i', "ignore-case")
            .with_help("Ignore differences between upper and lower case"),
        Opt::new(GrepFlag::IgnoreCase, 'y', "").with_help(words::SAME),
        Opt::long(GrepFlag::NoIgnoreCase, "no-ignore-case")
            .with_help("Distinguish upper and lower case (default)"),
        Opt::new(GrepFlag::WordRegexp, 'w', "word-regexp")
            .with_help("A match must consist of whole words"),
        Opt::new(GrepFlag::LineRegexp, 'x', "line-regexp")
            .with_help("A match must be a whole line"),
        Opt::new(GrepFlag::NullData, 'z', "null-data").with_help(words::NUL_LINES),
        Opt::new(GrepFlag::NoMessages, 's', "no-messages")
            .with_help("Do not complain about files that cannot be read"),
        Opt::new(GrepFlag::InvertMatch, 'v', "invert-match")
            .with_help("Print the lines that do not match"),
        Opt::new(GrepFlag::Version, 'V', "version").with_help(words::VERSION),
        Opt::new(GrepFlag::MaxCount, 'm', "max-count")
            .with_argument("NUM", "Stop reading a file after NUM lines"),
        Opt::new(GrepFlag::ByteOffset, 'b', "byte-offset")
            .with_help("Print the byte offset of each line"),
        Opt::new(GrepFlag::LineNumber, 'n', "line-number").with_help("Print the number of each line"),
        Opt::long(GrepFlag::LineBuffered, "line-buffered").with_help("Write each line at once"),
        Opt::new(GrepFlag::WithFilename, 'H', "with-filename")
            .with_help("Print the names of files, even of a single one"),
        Opt::new(GrepFlag::NoFilename, 'h', "no-filename").with_help("Print no names of files"),
        Opt::long(GrepFlag::Label, "label").with_argument("LABEL", "Call standard input LABEL"),
        Opt::new(GrepFlag::OnlyMatching, 'o', "only-matching")
            .with_help("Print only the matching text, each match on a line of its own"),
        Opt::new(GrepFlag::Quiet, 'q', "quiet")
            .with_help("Print nothing; end with status 0 at the first match"),
        Opt::long(GrepFlag::Quiet, "silent").with_help(words::SAME),
        Opt::long(GrepFlag::BinaryFiles, "binary-files")
            .with_argument("TYPE", "Treat binary files as binary (default), text or without-match"),
        Opt::new(GrepFlag::Text, 'a', "text").with_help("Search binary files as text"),
        Opt::new(GrepFlag::WithoutMatch, 'I', "").with_help("Skip binary files"),
        Opt::new(GrepFlag::Directories, 'd', "directories")
            .with_argument("ACTION", "What to do with directories: read, recurse or skip"),
        Opt::new(GrepFlag::Devices, 'D', "devices")
            .with_argument("ACTION", "What to do with devices: read or skip"),
        Opt::new(GrepFlag::Recursive, 'r', "recursive")
            .with_help("Search directories recursively"),
        Opt::new(GrepFlag::DereferenceRecursive, 'R', "dereference-recursive")
            .with_help("Like -r, following all symbolic links"),
        Opt::long(GrepFlag::Include, "include")
            .with_argument("GLOB", "Search only files whose name matches GLOB"),
        Opt::long(GrepFlag::Exclude, "exclude")
            .with_argument("GLOB", "Skip files whose name matches GLOB"),
        Opt::long(GrepFlag::ExcludeFrom, "exclude-from")
            .with_argument("FILE", "Skip files whose name matches a line of FILE"),
        Opt::long(GrepFlag::ExcludeDir, "exclude-dir")
            .with_argument("GLOB", "Skip directories whose name matches GLOB"),
        Opt::new(GrepFlag::FilesWithoutMatch, 'L', "files-without-match")
            .with_help("Print only names of files without a match"),
        Opt::new(GrepFlag::FilesWithMatches, 'l', "files-with-matches")
            .with_help("Print only names of files with a match"),
        Opt::new(GrepFlag::Count, 'c', "count")
            .with_help("Print only the number of matching lines in each file"),
        Opt::new(GrepFlag::InitialTab, 'T', "initial-tab")
            .with_help("Put a tab after the prefix, so that lines align"),
        Opt::new(GrepFlag::Null, 'Z', "null").with_help("Put a NUL byte after each file name"),
        Opt::new(GrepFlag::BeforeContext, 'B', "before-context")
            .with_argument("NUM", "Also print NUM lines before each match"),
        Opt::new(GrepFlag::AfterContext, 'A', "after-context")
            .with_argument("NUM", "Also print NUM lines after each match"),
        Opt::new(GrepFlag::Context, 'C', "context").with_argument(
            "NUM",
            "Print NUM lines before and after each match; -NUM means the same",
        ),
        Opt::long(GrepFlag::GroupSeparator, "group-separator")
            .with_argument("SEP", "Print SEP instead of -- between groups of lines"),
        Opt::long(GrepFlag::NoGroupSeparator, "no-group-separator")
            .with_help("Print nothing between groups of lines"),
        Opt::long(GrepFlag::Color, "color")
            .may_take("WHEN", "Color matches: always, never or auto"),
        Opt::long(GrepFlag::Color, "colour").may_take("WHEN", words::SAME),
        Opt::new(GrepFlag::Binary, 'U', "binary").with_help(words::IGNORED),
    ],
)
.with_examples(&[
    ("grep -rn TODO src", "Find a word in a tree, with line numbers"),
    ("grep -riE 'error|warn' --include='*.log' .", "Find either of two words, in log files only"),
    ("grep -c . FILE", "Count lines that are not empty"),
])
.with_footer(
    "Standard input is read for a FILE named -, and if there is no FILE; with -r the \
        current directory is searched instead. Exit status: 0 if a line matches, 1 if none does, 2 after an \
        error.",
);
