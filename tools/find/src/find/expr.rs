//! The expression as a tree, and the settings of the whole run.

use std::cell::LazyCell;
use std::rc::Rc;

use box_applet::{Ctx, clock};
use box_sys::{AccountNames, FileKind};
use box_text::glob::GlobPattern;
use box_text::regex::Regex;
use box_text::time::{CivilTime, Zone};

use super::command::FindExec;
use super::format::FindFormat;
use super::perm::PermTest;
use super::sinks::{SinkId, Sinks};

/// A node. Operators hold all their operands, so that long chains are not deep trees.
pub enum FindExpr {
    /// Evaluated from left to right, until one is false.
    And(Vec<FindExpr>),
    /// Evaluated from left to right, until one is true.
    Or(Vec<FindExpr>),
    /// All are evaluated; the value is that of the last one.
    List(Vec<FindExpr>),
    Not(Box<FindExpr>),
    Test(Test),
    Action(FindAction),
}

/// A number with its comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberTest<T> {
    Less(T),
    Equal(T),
    More(T),
}

impl<T: PartialOrd> NumberTest<T> {
    /// Returns whether a value passes the comparison.
    pub fn holds(&self, value: T) -> bool {
        match self {
            NumberTest::Less(n) => value < *n,
            NumberTest::Equal(n) => value == *n,
            NumberTest::More(n) => value > *n,
        }
    }
}

/// One of the times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeOf {
    Access,
    Change,
    Modify,
}

/// A condition on a file.
pub enum Test {
    Const(bool),
    Name(GlobPattern),
    Path(GlobPattern),
    LinkTarget(GlobPattern),
    Regex(Box<Regex>),
    /// The kinds of files; the flag is true for `-xtype`.
    Type(Vec<FileKind>, bool),
    Size {
        cmp: NumberTest<u64>,
        unit: u64,
    },
    Empty,
    /// Whether the file's time is after this instant, in nanoseconds.
    Newer(TimeOf, i128),
    /// Whether the file's time is in `(from, to]`, in nanoseconds.
    Between(TimeOf, i128, i128),
    /// Whether the file's time is before this instant, in nanoseconds.
    Older(TimeOf, i128),
    Used(NumberTest<f64>),
    Perm(PermTest),
    User(NumberTest<u64>),
    Group(NumberTest<u64>),
    NoUser,
    NoGroup,
    Links(NumberTest<u64>),
    Inode(NumberTest<u64>),
    Same(u64, u64),
    /// `access(2)`: 4, 2 or 1.
    Access(u16),
    FsType(Vec<u8>),
}

/// An action on a file.
pub enum FindAction {
    Print(SinkId, u8),
    Printf(SinkId, Rc<FindFormat>),
    List(SinkId),
    Prune,
    Quit,
    Delete,
    Exec(Box<FindExec>),
}

/// The rule by which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindFollow {
    Never,
    /// Starting points only.
    Points,
    Always,
}

/// Splits nanoseconds since the epoch into seconds and nanoseconds.
pub fn split_nanos(nanos: i128) -> (i64, u32) {
    const SECOND: i128 = 1_000_000_000;
    let seconds = nanos.div_euclid(SECOND).clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    (seconds as i64, nanos.rem_euclid(SECOND) as u32)
}

/// An option of the expression that prints information instead of searching.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Help,
    Version,
}

/// The settings of the whole run: options, and values that tests share.
pub struct FindSettings {
    /// A request for information, instead of a search.
    pub question: Option<Question>,
    pub follow: FindFollow,
    pub depth_first: bool,
    pub max_depth: Option<u64>,
    pub min_depth: u64,
    pub one_device: bool,
    pub files_from: Option<Vec<u8>>,
    /// The current time in nanoseconds since the epoch.
    pub now: i128,
    pub zone: Zone,
    /// The names of users and groups, which are read on first use.
    pub names: LazyCell<AccountNames>,
    pub sinks: Sinks,
    pub utf8: bool,
}

impl FindSettings {
    /// Returns the settings before any option is parsed.
    pub fn new(ctx: &Ctx<'_>) -> FindSettings {
        let (seconds, nanos) = clock::current_time();
        FindSettings {
            question: None,
            follow: FindFollow::Never,
            depth_first: false,
            max_depth: None,
            min_depth: 0,
            one_device: false,
            files_from: None,
            now: i128::from(seconds) * 1_000_000_000 + i128::from(nanos),
            zone: ctx.zone(),
            names: LazyCell::new(AccountNames::load),
            sinks: Sinks::default(),
            utf8: ctx.env.is_utf8(),
        }
    }

    /// Returns an instant in nanoseconds since the epoch, broken down in the local zone.
    pub fn local_time(&self, nanos: i128) -> CivilTime {
        let (seconds, nanos) = split_nanos(nanos);
        self.zone.to_civil(seconds, nanos)
    }

    /// Applies `-H`, `-L`, `-P` by letter.
    pub fn set_follow(&mut self, letter: u8) {
        self.follow = match letter {
            b'H' => FindFollow::Points,
            b'L' => FindFollow::Always,
            _ => FindFollow::Never,
        };
    }

    /// Returns whether a link at this depth is followed.
    pub fn follows_at(&self, depth: usize) -> bool {
        match self.follow {
            FindFollow::Always => true,
            FindFollow::Points => depth == 0,
            FindFollow::Never => false,
        }
    }
}
