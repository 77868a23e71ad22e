//! The compiled script: a list of commands, in which blocks and branches are jumps.

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
    /// `0`, which is allowed only before a pattern as the second address.
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

/// The index of an output file in the machine's list.
pub type OutputId = usize;

/// The action of a command.
#[derive(Clone, Debug)]
pub enum SedAction {
    /// `{`: the command to jump to if the line is not selected.
    Block(usize),
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    /// `b`: the command to jump to; one past the end ends the cycle.
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

/// A change of case in a replacement.
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
    /// The number of the first match to replace, from 1.
    pub number: usize,
    /// Whether to print the pattern space: `p`.
    pub print: bool,
    pub print_before_execute: bool,
    pub execute: bool,
    pub write: Option<OutputId>,
    /// Whether the replacement needs groups above 0 or changes case.
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
    /// The number of range states.
    pub ranges: usize,
    /// The range states that are active from the start (`0,/re/`).
    pub active: Vec<usize>,
    /// The files that `w` names.
    pub outputs: Vec<Vec<u8>>,
    /// Whether the first line begins with `#n` (GNU sed 4.9 ignores the rest of that line).
    pub quiet: bool,
}
