//! The compiled script: commands in a row, blocks and branches as jumps.

use std::rc::Rc;

use box_text::regex::Regex;

/// A pattern; an empty one means the last one used.
#[derive(Clone, Debug)]
pub enum SedPattern {
    Last,
    Regex(Rc<Regex>),
}

/// One address.
#[derive(Clone, Debug)]
pub enum SedAddress {
    Line(u64),
    /// `first~step`.
    Step(u64, u64),
    /// `$`.
    Last,
    Regex(SedPattern),
    /// `0`, only as the first of two with a pattern as the second.
    Zero,
}

/// The end of a range.
#[derive(Clone, Debug)]
pub enum RangeEnd {
    Line(u64),
    Last,
    Regex(SedPattern),
    /// `+N`.
    Count(u64),
    /// `~N`.
    Multiple(u64),
    /// `first~step` as second address.
    Step(u64, u64),
}

/// The lines to which a command applies.
#[derive(Clone, Debug)]
pub enum Select {
    All,
    One(SedAddress),
    /// A range and the number of its state.
    Range(SedAddress, RangeEnd, usize),
}

/// A command with its addresses.
#[derive(Clone, Debug)]
pub struct SedCommand {
    pub select: Select,
    pub negate: bool,
    pub action: SedAction,
}

/// Place of an output file in the machine's list.
pub type OutputId = usize;

/// The action of a command.
#[derive(Clone, Debug)]
pub enum SedAction {
    /// `{`: jump here if not selected.
    Block(usize),
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    /// To this command; past the end ends the cycle.
    Branch(usize),
    /// `t`, `T`.
    BranchIf(usize),
    BranchUnless(usize),
    Delete,
    DeleteFirst,
    /// `e`, `e command`.
    Execute(Option<Vec<u8>>),
    FileName,
    Get,
    GetAppend,
    Hold,
    HoldAppend,
    List(Option<usize>),
    Next,
    NextAppend,
    Print,
    PrintFirst,
    Quit(u8),
    QuitSilent(u8),
    ReadFile(Vec<u8>),
    ReadLine(Vec<u8>),
    Substitute(Box<SedSubstitute>),
    Write(OutputId),
    WriteFirst(OutputId),
    Exchange,
    Translate(Box<Translate>),
    Zap,
    LineNumber,
}

/// Case changes in a replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseChange {
    /// `\E`.
    Off,
    /// `\U`, `\L`.
    Upper,
    Lower,
    /// `\u`, `\l`: the next character only.
    UpperOne,
    LowerOne,
}

/// A piece of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SedPart {
    Text(Vec<u8>),
    /// `&` is group 0.
    Group(usize),
    Case(CaseChange),
}

/// `s`.
#[derive(Clone, Debug)]
pub struct SedSubstitute {
    pub pattern: SedPattern,
    pub parts: Vec<SedPart>,
    pub global: bool,
    /// The match to begin with, from 1.
    pub number: usize,
    /// Whether to print the pattern space: `p`.
    pub print: bool,
    pub print_before_execute: bool,
    pub execute: bool,
    pub write: Option<OutputId>,
    /// Groups above 0 are needed, or cases change.
    pub groups: bool,
    pub cases: bool,
}

/// `y`.
#[derive(Clone, Debug)]
pub enum Translate {
    Bytes(Box<[u8; 256]>),
    Characters(std::collections::HashMap<Vec<u8>, Vec<u8>>),
}

/// A whole script.
#[derive(Clone, Debug, Default)]
pub struct SedScript {
    pub commands: Vec<SedCommand>,
    /// Number of range states.
    pub ranges: usize,
    /// Range states that are active from the start (`0,/re/`).
    pub active: Vec<usize>,
    /// Files named by `w`.
    pub outputs: Vec<Vec<u8>>,
    /// The first line begins with `#n` (GNU sed 4.9 ignores the rest of that line).
    pub quiet: bool,
}
