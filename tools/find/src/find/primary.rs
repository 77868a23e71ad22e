//! Tests, actions and options by name.

use std::rc::Rc;

use box_applet::{Ctx, clock};
use box_sys::{FileKind, Stat, meta};
use box_text::glob::{self, GlobPattern};
use box_text::regex::{self, MatchBound, Regex, RegexSyntax};
use box_text::time;

use super::command::FindExec;
use super::entry::quote_name;
use super::expr::{
    FindAction, FindExpr, FindFollow, FindSettings, NumberTest, Question, Test, TimeOf,
};
use super::format::FindFormat;
use super::parse::{Message, WordCursor};
use super::sinks::SinkId;
use super::{expr, number, perm};

/// The tests whose argument may be a pattern that the shell has expanded by mistake.
const PATTERNS: &[&[u8]] =
    &[b"-name", b"-iname", b"-path", b"-ipath", b"-wholename", b"-lname", b"-ilname"];

const DAY: i128 = 86400 * 1_000_000_000;
const MINUTE: i128 = 60 * 1_000_000_000;

/// The parser of primaries, with the state that it keeps from one to the next.
pub struct Primaries<'p, 'c> {
    ctx: &'p mut Ctx<'c>,
    settings: &'p mut FindSettings,
    syntax: RegexSyntax,
    /// The time from which ages are counted: now, or the end of the day with `-daystart`.
    day_end: i128,
    /// The last primary, for a hint.
    last: Vec<u8>,
    /// Whether an action makes `-print` unnecessary.
    pub acts: bool,
    prunes: bool,
    deletes: bool,
    depth_given: bool,
}

/// Returns the message about `-prune` with `-delete`, which visits children first, so that `-prune`
/// comes too late.
pub fn find_contradiction(p: &Primaries<'_, '_>) -> Option<Message> {
    (p.deletes && p.prunes && !p.depth_given).then(|| {
        b"The -delete action automatically turns on -depth, but -prune does nothing when -depth \
          is in effect.  If you want to carry on anyway, just explicitly use the -depth option."
            .to_vec()
    })
}

impl<'p, 'c> Primaries<'p, 'c> {
    /// Creates a parser of primaries; options among them change `settings`.
    pub fn new(ctx: &'p mut Ctx<'c>, settings: &'p mut FindSettings) -> Primaries<'p, 'c> {
        let day_end = settings.now;
        Primaries {
            ctx,
            settings,
            syntax: RegexSyntax::Emacs,
            day_end,
            last: Vec::new(),
            acts: false,
            prunes: false,
            deletes: false,
            depth_given: false,
        }
    }

    /// Parses the primary `word`, and consumes its arguments from `words`.
    pub fn parse(&mut self, word: &[u8], words: &mut WordCursor<'_>) -> Result<FindExpr, Message> {
        let Some(name) = word.strip_prefix(b"-").filter(|n| !n.is_empty()) else {
            let mut message = [b"paths must precede expression: `".as_slice(), word, b"'"].concat();
            if PATTERNS.contains(&self.last.as_slice()) && self.ctx.path(word).exists() {
                message.extend_from_slice(b"\nfind: possible unquoted pattern after predicate `");
                message.extend_from_slice(&self.last);
                message.extend_from_slice(b"'?");
            }
            return Err(message);
        };
        // GNU also accepts two dashes.
        let name = name.strip_prefix(b"-").unwrap_or(name);
        self.last = word.to_vec();
        if let b"help" | b"version" = name {
            let is_help = name == b"help";
            self.settings.question = Some(if is_help { Question::Help } else { Question::Version });
            return Err(Message::new());
        }
        if let Some(expr) = self.parse_option(name, word, words)? {
            return Ok(expr);
        }
        if let Some(test) = self.parse_test(name, word, words)? {
            return Ok(FindExpr::Test(test));
        }
        if let Some(action) = self.parse_action(name, word, words)? {
            return Ok(FindExpr::Action(action));
        }
        Err([b"unknown predicate `".as_slice(), word, b"'"].concat())
    }

    fn parse_option(
        &mut self,
        name: &[u8],
        word: &[u8],
        words: &mut WordCursor<'_>,
    ) -> Result<Option<FindExpr>, Message> {
        match name {
            b"depth" | b"d" => {
                self.settings.depth_first = true;
                self.depth_given = true;
            }
            b"maxdepth" => {
                self.settings.max_depth = Some(parse_level(take_argument(word, words)?, word)?)
            }
            b"mindepth" => {
                self.settings.min_depth = parse_level(take_argument(word, words)?, word)?
            }
            b"xdev" | b"mount" => self.settings.one_device = true,
            b"follow" => self.settings.follow = FindFollow::Always,
            b"files0-from" => {
                self.settings.files_from = Some(take_argument(word, words)?.to_vec());
            }
            b"daystart" => {
                let c = self.settings.local_time(self.settings.now);
                let of_day = i128::from(c.hour * 3600 + c.minute * 60 + c.second) * 1_000_000_000
                    + i128::from(c.nanos);
                self.day_end = self.settings.now - of_day + DAY;
            }
            b"regextype" => {
                let arg = take_argument(word, words)?;
                self.syntax = find_syntax(arg).ok_or_else(|| {
                    let valid: Vec<Vec<u8>> =
                        REGEX_TYPES.iter().map(|(n, _)| quote_name(n.as_bytes())).collect();
                    [
                        b"Unknown regular expression type ".as_slice(),
                        &quote_name(arg),
                        b"; valid types are ",
                        &valid.join(b", ".as_slice()),
                        b".",
                    ]
                    .concat()
                })?;
            }
            b"noleaf" | b"warn" | b"nowarn" | b"ignore_readdir_race" | b"noignore_readdir_race" => {
            }
            _ => return Ok(None),
        }
        Ok(Some(FindExpr::Test(Test::Const(true))))
    }

    /// Parses a test, or `None` if no test has that name.
    fn parse_test(
        &mut self,
        name: &[u8],
        word: &[u8],
        words: &mut WordCursor<'_>,
    ) -> Result<Option<Test>, Message> {
        if let Some(test) = self.of_name(name, word, words)? {
            return Ok(Some(test));
        }
        if let Some(test) = self.of_time(name, word, words)? {
            return Ok(Some(test));
        }
        Ok(Some(match name {
            b"true" => Test::Const(true),
            b"false" => Test::Const(false),
            b"type" | b"xtype" => {
                Test::Type(parse_kinds(word, take_argument(word, words)?)?, name == b"xtype")
            }
            b"size" => parse_size(take_argument(word, words)?)?,
            b"empty" => Test::Empty,
            b"perm" => {
                let arg = take_argument(word, words)?;
                let test = perm::parse(arg);
                Test::Perm(
                    test.ok_or_else(|| [b"invalid mode ".as_slice(), &quote_name(arg)].concat())?,
                )
            }
            b"user" => self.parse_owner(word, words, true)?,
            b"group" => self.parse_owner(word, words, false)?,
            b"uid" => Test::User(parse_count(word, words)?),
            b"gid" => Test::Group(parse_count(word, words)?),
            b"nouser" => Test::NoUser,
            b"nogroup" => Test::NoGroup,
            b"links" => Test::Links(parse_count(word, words)?),
            b"inum" => Test::Inode(parse_count(word, words)?),
            b"samefile" => {
                let stat = self.stat_of(take_argument(word, words)?)?;
                Test::Same(stat.dev, stat.ino)
            }
            b"readable" => Test::Access(4),
            b"writable" => Test::Access(2),
            b"executable" => Test::Access(1),
            b"fstype" => Test::FsType(take_argument(word, words)?.to_vec()),
            b"context" => {
                take_argument(word, words)?;
                return Err(b"invalid predicate -context: SELinux is not enabled.".to_vec());
            }
            _ => return Ok(None),
        }))
    }

    /// Returns a test of names, by patterns and regular expressions.
    fn of_name(
        &mut self,
        name: &[u8],
        word: &[u8],
        words: &mut WordCursor<'_>,
    ) -> Result<Option<Test>, Message> {
        let utf8 = self.settings.utf8;
        let mut glob = |icase: bool| {
            let options =
                glob::GlobOptions { ignore_case: icase, utf8, ..glob::GlobOptions::default() };
            take_argument(word, words).map(|a| GlobPattern::new(a, options))
        };
        Ok(Some(match name {
            b"name" => Test::Name(glob(false)?),
            b"iname" => Test::Name(glob(true)?),
            b"path" | b"wholename" => Test::Path(glob(false)?),
            b"ipath" | b"iwholename" => Test::Path(glob(true)?),
            b"lname" => Test::LinkTarget(glob(false)?),
            b"ilname" => Test::LinkTarget(glob(true)?),
            b"regex" | b"iregex" => {
                self.parse_regex(name == b"iregex", take_argument(word, words)?)?
            }
            _ => return Ok(None),
        }))
    }

    /// Returns a test of times.
    fn of_time(
        &mut self,
        name: &[u8],
        word: &[u8],
        words: &mut WordCursor<'_>,
    ) -> Result<Option<Test>, Message> {
        Ok(Some(match name {
            b"amin" => self.parse_minutes(TimeOf::Access, word, words)?,
            b"cmin" => self.parse_minutes(TimeOf::Change, word, words)?,
            b"mmin" => self.parse_minutes(TimeOf::Modify, word, words)?,
            b"atime" => self.parse_days(TimeOf::Access, word, words)?,
            b"ctime" => self.parse_days(TimeOf::Change, word, words)?,
            b"mtime" => self.parse_days(TimeOf::Modify, word, words)?,
            b"newer" => {
                self.parse_newer(TimeOf::Modify, TimeOf::Modify, take_argument(word, words)?)?
            }
            b"anewer" => {
                self.parse_newer(TimeOf::Access, TimeOf::Modify, take_argument(word, words)?)?
            }
            b"cnewer" => {
                self.parse_newer(TimeOf::Change, TimeOf::Modify, take_argument(word, words)?)?
            }
            b"used" => {
                let arg = take_argument(word, words)?;
                Test::Used(number::parse_decimal(arg).ok_or_else(|| invalid_argument(arg, word))?)
            }
            [b'n', b'e', b'w', b'e', b'r', x, b't'] => match time_of(*x) {
                Some(of) => Test::Newer(of, self.point_in_time(take_argument(word, words)?)?),
                None => return Ok(None),
            },
            [b'n', b'e', b'w', b'e', b'r', x, y] => match (time_of(*x), time_of(*y)) {
                (Some(of), Some(from)) => {
                    self.parse_newer(of, from, take_argument(word, words)?)?
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    /// Returns the time of a date (`-newermt`), in nanoseconds since the epoch.
    fn point_in_time(&self, arg: &[u8]) -> Result<i128, Message> {
        let now = expr::split_nanos(self.settings.now);
        let at = time::parse::parse(arg, now, &self.settings.zone, clock::read);
        at.map(|(s, n)| i128::from(s) * 1_000_000_000 + i128::from(n)).ok_or_else(|| {
            let what = b"I cannot figure out how to interpret ".as_slice();
            [what, &quote_name(arg), b" as a date or time"].concat()
        })
    }

    fn parse_action(
        &mut self,
        name: &[u8],
        word: &[u8],
        words: &mut WordCursor<'_>,
    ) -> Result<Option<FindAction>, Message> {
        let action = match name {
            b"prune" => {
                self.prunes = true;
                return Ok(Some(FindAction::Prune));
            }
            b"quit" => return Ok(Some(FindAction::Quit)),
            b"print" => FindAction::Print(SinkId::Stdout, b'\n'),
            b"print0" => FindAction::Print(SinkId::Stdout, 0),
            b"fprint" => FindAction::Print(self.open_sink(take_argument(word, words)?)?, b'\n'),
            b"fprint0" => FindAction::Print(self.open_sink(take_argument(word, words)?)?, 0),
            b"printf" => {
                FindAction::Printf(SinkId::Stdout, self.parse_format(take_argument(word, words)?)?)
            }
            b"fprintf" => {
                let sink = self.open_sink(take_argument(word, words)?)?;
                FindAction::Printf(sink, self.parse_format(take_argument(word, words)?)?)
            }
            b"ls" => FindAction::List(SinkId::Stdout),
            b"fls" => FindAction::List(self.open_sink(take_argument(word, words)?)?),
            b"delete" => {
                self.settings.depth_first = true;
                self.deletes = true;
                FindAction::Delete
            }
            b"exec" | b"ok" | b"execdir" | b"okdir" => {
                FindAction::Exec(Box::new(FindExec::parse(word, words)?))
            }
            _ => return Ok(None),
        };
        self.acts = true;
        Ok(Some(action))
    }

    fn parse_regex(&self, icase: bool, text: &[u8]) -> Result<Test, Message> {
        let options = regex::RegexOptions::new(self.syntax)
            .icase(icase)
            .utf8(self.settings.utf8)
            .bound(MatchBound::Line);
        match Regex::new(text, &options) {
            Ok(regex) => Ok(Test::Regex(Box::new(regex))),
            Err(e) => Err([
                b"failed to compile regular expression '".as_slice(),
                text,
                b"': ",
                e.to_string().as_bytes(),
            ]
            .concat()),
        }
    }

    /// Parses an age in minutes; exactly N means between N-1 and N.
    fn parse_minutes(
        &self,
        of: TimeOf,
        word: &[u8],
        words: &mut WordCursor<'_>,
    ) -> Result<Test, Message> {
        let arg = take_argument(word, words)?;
        let cmp = number::parse_decimal(arg).ok_or_else(|| invalid_argument(arg, word))?;
        let at = |n: f64| self.day_end - (n * MINUTE as f64) as i128;
        Ok(match cmp {
            NumberTest::Less(n) => Test::Newer(of, at(n)),
            NumberTest::More(n) => Test::Older(of, at(n)),
            NumberTest::Equal(n) => Test::Between(of, at(n), at(n) + MINUTE),
        })
    }

    /// Parses an age in whole days; exactly N means at least N and less than N+1.
    fn parse_days(
        &self,
        of: TimeOf,
        word: &[u8],
        words: &mut WordCursor<'_>,
    ) -> Result<Test, Message> {
        let arg = take_argument(word, words)?;
        let cmp = number::parse_decimal(arg).ok_or_else(|| invalid_argument(arg, word))?;
        let at = |n: f64| self.day_end - (n * DAY as f64) as i128;
        Ok(match cmp {
            NumberTest::Less(n) => Test::Newer(of, at(n)),
            NumberTest::More(n) => Test::Older(of, at(n + 1.0)),
            NumberTest::Equal(n) => Test::Between(of, at(n + 1.0), at(n)),
        })
    }

    fn parse_newer(&self, of: TimeOf, from: TimeOf, file: &[u8]) -> Result<Test, Message> {
        let stat = self.stat_of(file)?;
        Ok(Test::Newer(of, file_time(&stat, from)))
    }

    /// Returns the metadata of a file that a test names.
    fn stat_of(&self, file: &[u8]) -> Result<Stat, Message> {
        let path = self.ctx.path(file);
        let follow = self.settings.follow != FindFollow::Never;
        meta::stat(&path, follow).or_else(|_| meta::stat(&path, false)).map_err(|e| {
            [&quote_name(file), b": ".as_slice(), box_sys::error_text(&e).as_bytes()].concat()
        })
    }

    fn parse_owner(
        &self,
        word: &[u8],
        words: &mut WordCursor<'_>,
        user: bool,
    ) -> Result<Test, Message> {
        let arg = take_argument(word, words)?;
        let names = &self.settings.names;
        let id = std::str::from_utf8(arg).ok().and_then(|name| {
            if user { names.user_id(name).map(|(id, _)| id) } else { names.group_id(name) }
        });
        let Some(id) = id.map(u64::from).or_else(|| number::parse_digits(arg)) else {
            let what: &[u8] = if user { b" user" } else { b" group" };
            let article: &[u8] = if user {
                b" is not the name of a known"
            } else {
                b" is not the name of an existing"
            };
            return Err([&quote_name(arg), article, what].concat());
        };
        Ok(if user {
            Test::User(NumberTest::Equal(id))
        } else {
            Test::Group(NumberTest::Equal(id))
        })
    }

    fn open_sink(&mut self, file: &[u8]) -> Result<SinkId, Message> {
        let path = self.ctx.path(file);
        self.settings.sinks.open(path).map_err(|e| {
            [&quote_name(file), b": ".as_slice(), box_sys::error_text(&e).as_bytes()].concat()
        })
    }

    fn parse_format(&mut self, text: &[u8]) -> Result<Rc<FindFormat>, Message> {
        let (format, warnings) = FindFormat::parse(text)?;
        for warning in warnings {
            self.ctx.error_bytes(&[b"warning: ", &warning]);
        }
        Ok(Rc::new(format))
    }
}

/// Consumes and returns the argument of a primary.
pub fn take_argument<'w>(word: &[u8], words: &mut WordCursor<'w>) -> Result<&'w [u8], Message> {
    words.next().ok_or_else(|| [b"missing argument to `".as_slice(), word, b"'"].concat())
}

fn invalid_argument(arg: &[u8], word: &[u8]) -> Message {
    [b"invalid argument `".as_slice(), arg, b"' to `", word, b"'"].concat()
}

/// Parses a depth, which fits in C's `int`.
fn parse_level(arg: &[u8], word: &[u8]) -> Result<u64, Message> {
    if arg.is_empty() || !arg.iter().all(u8::is_ascii_digit) {
        return Err([
            b"Expected a positive decimal integer argument to ".as_slice(),
            word,
            b", but got ",
            &quote_name(arg),
        ]
        .concat());
    }
    let level = number::parse_digits(arg).filter(|n| i32::try_from(*n).is_ok());
    level.ok_or_else(|| [arg, b": Numerical result out of range"].concat())
}

fn parse_count(word: &[u8], words: &mut WordCursor<'_>) -> Result<NumberTest<u64>, Message> {
    let arg = take_argument(word, words)?;
    number::parse_integer(arg).ok_or_else(|| invalid_argument(arg, word))
}

fn parse_size(arg: &[u8]) -> Result<Test, Message> {
    let (digits, unit) = match arg {
        [head @ .., suffix] if !suffix.is_ascii_digit() => {
            let unit = match suffix {
                b'b' => 512,
                b'c' => 1,
                b'w' => 2,
                b'k' => 1 << 10,
                b'M' => 1 << 20,
                b'G' => 1 << 30,
                b'T' => 1 << 40,
                b'P' => 1 << 50,
                _ => return Err([b"invalid -size type `".as_slice(), &[*suffix], b"'"].concat()),
            };
            (head, unit)
        }
        _ => (arg, 512),
    };
    let cmp = number::parse_integer(digits)
        .ok_or_else(|| [b"Invalid argument `".as_slice(), arg, b"' to -size"].concat())?;
    Ok(Test::Size { cmp, unit })
}

fn parse_kinds(word: &[u8], arg: &[u8]) -> Result<Vec<FileKind>, Message> {
    let mut all = Vec::new();
    let mut rest = arg;
    if arg.is_empty() {
        return Err(
            [b"Arguments to ".as_slice(), word, b" should contain at least one letter"].concat()
        );
    }
    while let [letter, tail @ ..] = rest {
        let kind = match letter {
            b'b' => FileKind::BlockDevice,
            b'c' => FileKind::CharDevice,
            b'd' => FileKind::Dir,
            b'f' => FileKind::File,
            b'l' => FileKind::Symlink,
            b'p' => FileKind::Fifo,
            b's' => FileKind::Socket,
            _ => {
                return Err([b"Unknown argument to ".as_slice(), word, b": ", &[*letter]].concat());
            }
        };
        if all.contains(&kind) {
            return Err([
                b"Duplicate file type '".as_slice(),
                &[*letter],
                b"' in the argument list to ",
                word,
                b".",
            ]
            .concat());
        }
        all.push(kind);
        rest = match tail {
            [] => tail,
            [b','] => {
                return Err([
                    b"Last file type in list argument to ".as_slice(),
                    word,
                    b" is missing, i.e., list is ending on: ','",
                ]
                .concat());
            }
            [b',', tail @ ..] => tail,
            _ => {
                return Err([
                    b"Must separate multiple arguments to ".as_slice(),
                    word,
                    b" using: ','",
                ]
                .concat());
            }
        };
    }
    Ok(all)
}

fn time_of(letter: u8) -> Option<TimeOf> {
    match letter {
        b'a' => Some(TimeOf::Access),
        b'c' => Some(TimeOf::Change),
        b'm' => Some(TimeOf::Modify),
        _ => None,
    }
}

/// Returns a time of a file in nanoseconds.
pub fn file_time(stat: &Stat, of: TimeOf) -> i128 {
    i128::from(match of {
        TimeOf::Access => stat.atime,
        TimeOf::Change => stat.ctime,
        TimeOf::Modify => stat.mtime,
    })
}

const REGEX_TYPES: &[(&str, RegexSyntax)] = &[
    ("findutils-default", RegexSyntax::Emacs),
    ("ed", RegexSyntax::Bre),
    ("emacs", RegexSyntax::Emacs),
    ("gnu-awk", RegexSyntax::PosixAwk),
    ("grep", RegexSyntax::Grep),
    ("posix-awk", RegexSyntax::PosixAwk),
    ("awk", RegexSyntax::PosixAwk),
    ("posix-basic", RegexSyntax::Bre),
    ("posix-egrep", RegexSyntax::Egrep),
    ("egrep", RegexSyntax::Egrep),
    ("posix-extended", RegexSyntax::EreRegcomp),
    ("posix-minimal-basic", RegexSyntax::MinimalBre),
    ("sed", RegexSyntax::Bre),
];

fn find_syntax(name: &[u8]) -> Option<RegexSyntax> {
    REGEX_TYPES.iter().find(|(n, _)| n.as_bytes() == name).map(|(_, s)| *s)
}
