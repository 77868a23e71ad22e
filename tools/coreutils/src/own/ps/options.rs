//! Options of `ps` in three syntaxes: System V's with a dash, BSD's without one, and long options.

use box_sys::AccountNames;

use super::columns::PsColumn;

/// The reason why no processes are listed.
pub(super) enum PsAnswer {
    Help,
    Version,
    Error(String),
    /// An error in a word that, without its dash, may be valid in BSD's syntax.
    ErrorOrBsd(String),
}

/// A criterion that selects processes. A process is shown if it meets any of the criteria.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    All,
    NoLeaders,
    Running,
    Pid(u32),
    Parent(u32),
    Session(u32),
    User(u32),
    Group(u32),
    Command(String),
    /// Processes with a given terminal. No process has a terminal here.
    Terminal,
}

/// The way child processes are shown below their parents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forest {
    Indented,
    Drawn,
}

/// A sort key and its direction.
pub(super) struct SortKey {
    pub column: PsColumn,
    pub is_reverse: bool,
}

/// The settings of a run.
#[derive(Default)]
pub(super) struct PsOptions {
    pub selections: Vec<Selection>,
    pub is_negated: bool,
    /// The columns of `-o`.
    format: Vec<PsColumn>,
    /// The columns of `-O`.
    added: Vec<PsColumn>,
    /// The letters of the predefined formats; those of BSD's syntax are in upper case.
    formats: Vec<u8>,
    is_bsd: bool,
    /// Whether commands are shown by name (`ps axc`), and not with their arguments (`ps ax`).
    names_only: bool,
    threads: bool,
    spids: bool,
    no_address: bool,
    pub sort: Vec<SortKey>,
    pub forest: Option<Forest>,
    pub no_heading: bool,
    pub line_width: Option<usize>,
}

type Parsed<T> = Result<T, PsAnswer>;

fn usage_error<T>(text: impl Into<String>) -> Parsed<T> {
    Err(PsAnswer::Error(text.into()))
}

impl PsOptions {
    /// Parses the arguments. If a word with a dash has a letter that System V's syntax lacks, all
    /// words are read in BSD's syntax, as in `ps -aux`.
    ///
    /// # Errors
    /// Help or the version is asked for, or the arguments are wrong.
    pub(super) fn parse(args: &[Vec<u8>]) -> Parsed<PsOptions> {
        let texts: Vec<String> =
            args.iter().map(|arg| String::from_utf8_lossy(arg).into_owned()).collect();
        match PsReader::read(&texts, false) {
            Err(PsAnswer::ErrorOrBsd(why)) => {
                PsReader::read(&texts, true).map_err(|_| PsAnswer::Error(why))
            }
            answer => answer,
        }
    }

    /// Returns the columns to show.
    pub(super) fn columns(&self) -> Vec<PsColumn> {
        if !self.format.is_empty() {
            return self.format.clone();
        }
        let has = |letter| self.formats.contains(&letter);
        let mut names: Vec<&str> = match self.formats.iter().rev().find(|l| **l != b'f') {
            _ if !self.added.is_empty() => vec!["pid", "s", "tname", "time", "command"],
            Some(b'U') => {
                "user pid pcpu pmem vsz rss tname stat start_time bsdtime args".split(' ').collect()
            }
            Some(b'L') => {
                "f uid pid ppid pri ni vsz rss wchan stat tname bsdtime args".split(' ').collect()
            }
            Some(b'J') => {
                "ppid pid pgid sid tname tpgid stat uid bsdtime args".split(' ').collect()
            }
            Some(b'V') => {
                "pid tname stat bsdtime maj_flt m_trs drs rss pmem args".split(' ').collect()
            }
            Some(b'S') => "uid pid pending blocked ignored caught stat tname bsdtime args"
                .split(' ')
                .collect(),
            Some(b'l') if self.no_address => {
                "s uid pid ppid c opri ni rss sz wchan tname time ucmd".split(' ').collect()
            }
            Some(b'l') => {
                "f s uid pid ppid c opri ni addr sz wchan tname time ucmd".split(' ').collect()
            }
            Some(b'F') => {
                "uid_hack pid ppid c sz rss psr stime tname time cmd".split(' ').collect()
            }
            Some(b'j') if has(b'f') => {
                "uid_hack pid ppid pgid sid c stime tname time cmd".split(' ').collect()
            }
            Some(b'j') => "pid pgid sid tname time ucmd".split(' ').collect(),
            _ if has(b'f') => "uid_hack pid ppid c stime tname time cmd".split(' ').collect(),
            _ if self.is_bsd => "pid tname stat bsdtime args".split(' ').collect(),
            _ => vec!["pid", "tname", "time", "ucmd"],
        };
        if self.threads {
            let at =
                names.iter().position(|n| *n == "ppid").or(names.iter().position(|n| *n == "pid"));
            let at = at.map_or(0, |at| at + 1);
            names.insert(at, "lwp");
            if let (true, Some(c)) = (has(b'f'), names.iter().position(|n| *n == "c")) {
                names.insert(c + 1, "nlwp");
            }
        }
        if self.spids {
            let at = names.iter().position(|n| *n == "pid").map_or(0, |at| at + 1);
            names.insert(at, "spid");
        }
        if self.names_only
            && let Some(last) = names.last_mut()
        {
            *last = "ucomm";
        }
        let mut columns: Vec<PsColumn> = names.into_iter().filter_map(PsColumn::parse).collect();
        columns.splice(1..1, self.added.iter().cloned());
        columns
    }
}

/// The arguments that are still to be read, and the settings made so far.
struct PsReader<'a> {
    rest: std::slice::Iter<'a, String>,
    made: PsOptions,
    names: AccountNames,
}

impl PsReader<'_> {
    /// Reads all arguments. With `only_bsd`, a word with one dash is read as if it had none.
    fn read(args: &[String], only_bsd: bool) -> Parsed<PsOptions> {
        let mut reader =
            PsReader { rest: args.iter(), made: PsOptions::default(), names: AccountNames::load() };
        while let Some(word) = reader.rest.next() {
            match word.strip_prefix('-') {
                Some(rest) if rest.starts_with('-') => reader.long(&rest[1..])?,
                Some("") => return usage_error("garbage option"),
                Some(letters) if only_bsd => reader.bsd(letters)?,
                Some(letters) => reader.system_v(letters)?,
                None if word.starts_with(|c: char| c.is_ascii_digit()) => reader.pids(word)?,
                None => reader.bsd(word)?,
            }
        }
        Ok(reader.made)
    }

    /// Parses the letters after a dash, in System V's syntax.
    fn system_v(&mut self, letters: &str) -> Parsed<()> {
        for (at, letter) in letters.char_indices() {
            let attached = &letters[at + letter.len_utf8()..];
            match letter {
                'A' | 'e' | 'a' => self.made.selections.push(Selection::All),
                'd' => self.made.selections.push(Selection::NoLeaders),
                'N' => self.made.is_negated = true,
                'f' | 'F' | 'l' | 'j' => self.made.formats.push(letter as u8),
                'y' => self.made.no_address = true,
                'c' | 'M' | 'P' | 'w' | 'm' => {}
                'L' => self.made.threads = true,
                'T' => self.made.spids = true,
                'H' => self.made.forest = Some(Forest::Indented),
                'V' => return Err(PsAnswer::Version),
                'p' | 'q' | 'C' | 'g' | 'G' | 's' | 't' | 'u' | 'U' | 'o' | 'O' => {
                    let value = self.value(attached, &format!("-{letter}"))?;
                    let is_maybe_bsd = letter == 'u' && !attached.is_empty();
                    return self.option(letter, &value).map_err(|answer| match answer {
                        PsAnswer::Error(why) if is_maybe_bsd => PsAnswer::ErrorOrBsd(why),
                        answer => answer,
                    });
                }
                _ => return Err(PsAnswer::ErrorOrBsd("unsupported SysV option".into())),
            }
        }
        Ok(())
    }

    /// Parses letters in BSD's syntax.
    fn bsd(&mut self, letters: &str) -> Parsed<()> {
        self.made.is_bsd = true;
        for (at, letter) in letters.char_indices() {
            let attached = &letters[at + letter.len_utf8()..];
            match letter {
                'a' | 'x' | 'g' | 'T' => self.made.selections.push(Selection::All),
                'r' => self.made.selections.push(Selection::Running),
                'u' | 'l' | 'j' | 'v' | 's' | 'X' => {
                    self.made.formats.push(letter.to_ascii_uppercase() as u8);
                }
                'f' => self.made.forest = Some(Forest::Drawn),
                'c' => self.made.names_only = true,
                'h' => self.made.no_heading = true,
                'e' | 'n' | 'S' | 'w' | 'H' | 'm' | 'L' | 'M' | 'Z' => {}
                'V' => return Err(PsAnswer::Version),
                't' if attached.is_empty() => self.made.selections.push(Selection::All),
                'k' => {
                    let value = self.value(attached, "k")?;
                    return self.sort(&value);
                }
                'p' | 'U' | 't' | 'o' | 'O' => {
                    let value = self.value(attached, &letter.to_string())?;
                    return self.option(letter, &value);
                }
                _ => return usage_error("unsupported option (BSD syntax)"),
            }
        }
        Ok(())
    }

    /// Parses a long option without its two dashes.
    fn long(&mut self, text: &str) -> Parsed<()> {
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (text, None),
        };
        const HEADINGS: [&str; 8] = [
            "no-header",
            "no-headers",
            "no-heading",
            "no-headings",
            "noheader",
            "noheaders",
            "noheading",
            "noheadings",
        ];
        const LETTERS: [(&str, char); 10] = [
            ("pid", 'p'),
            ("quick-pid", 'q'),
            ("ppid", 'P'),
            ("sid", 's'),
            ("tty", 't'),
            ("user", 'u'),
            ("User", 'U'),
            ("group", 'g'),
            ("Group", 'G'),
            ("format", 'o'),
        ];
        if HEADINGS.contains(&name) {
            self.made.no_heading = true;
            return Ok(());
        }
        let letter = LETTERS.iter().find(|(long, _)| *long == name).map(|(_, letter)| *letter);
        match name {
            "deselect" => self.made.is_negated = true,
            "forest" => self.made.forest = Some(Forest::Drawn),
            "header" | "headers" | "heading" | "headings" | "cumulative" | "context"
            | "signames" => {}
            "help" => return Err(PsAnswer::Help),
            "version" => return Err(PsAnswer::Version),
            "sort" | "cols" | "columns" | "width" | "lines" | "rows" => {
                let Some(value) = attached.or_else(|| self.rest.next().cloned()) else {
                    return usage_error(format!("must have an argument after --{name}"));
                };
                match (name, value.parse::<usize>()) {
                    ("sort", _) => self.sort(&value)?,
                    (_, Err(_) | Ok(0)) => {
                        return usage_error(format!("the --{name} option needs a number"));
                    }
                    ("lines" | "rows", _) => {}
                    (_, Ok(width)) => self.made.line_width = Some(width),
                }
            }
            _ => {
                let Some(letter) = letter else { return usage_error("unknown gnu long option") };
                let value = match attached {
                    Some(value) => value,
                    None => self.value("", &format!("--{name}"))?,
                };
                // `--group` always means the group of a process; `-g` may also mean a session.
                let letter = if letter == 'g' && name == "group" { 'G' } else { letter };
                self.option(letter, &value)?;
            }
        }
        Ok(())
    }

    /// Returns the value of an option: the rest of its word or the next word.
    fn value(&mut self, attached: &str, option: &str) -> Parsed<String> {
        if !attached.is_empty() {
            return Ok(attached.to_string());
        }
        if let Some(next) = self.rest.next() {
            return Ok(next.clone());
        }
        let subject = match option.trim_start_matches('-') {
            "p" | "q" | "pid" | "ppid" | "quick-pid" => "list of process IDs",
            "C" => "list of command names",
            "o" | "O" | "format" => "format specification",
            "s" | "sid" => "list of sessions",
            "t" | "tty" => "list of terminals",
            "u" | "U" | "user" | "User" => "list of users",
            "k" => "list of sort keys",
            _ => "list of groups",
        };
        usage_error(format!("{subject} must follow {option}"))
    }

    /// Applies an option with a value. The letter `P` means `--ppid`.
    fn option(&mut self, letter: char, value: &str) -> Parsed<()> {
        match letter {
            'o' => {
                self.made.format.extend(parse_columns(value)?);
                return Ok(());
            }
            'O' => {
                self.made.added.extend(parse_columns(value)?);
                return Ok(());
            }
            'p' => return self.pids(value),
            _ => {}
        }
        for item in split_items(value) {
            let selection = match letter {
                'q' => Selection::Pid(process_id(item)?),
                'P' => Selection::Parent(process_id(item)?),
                's' => Selection::Session(parse_session(item)?),
                'C' => Selection::Command(item.chars().take(15).collect()),
                't' => Selection::Terminal,
                'u' | 'U' => match item.parse().ok().or(self.names.user_id(item).map(|(id, _)| id))
                {
                    Some(id) => Selection::User(id),
                    None => return usage_error("user name does not exist"),
                },
                'g' if item.parse::<u32>().is_ok() => Selection::Session(parse_session(item)?),
                _ => match item.parse().ok().or(self.names.group_id(item)) {
                    Some(id) => Selection::Group(id),
                    None => return usage_error("group name does not exist"),
                },
            };
            self.made.selections.push(selection);
        }
        Ok(())
    }

    fn pids(&mut self, list: &str) -> Parsed<()> {
        for item in split_items(list) {
            self.made.selections.push(Selection::Pid(process_id(item)?));
        }
        if split_items(list).next().is_none() {
            return usage_error("process ID list syntax error");
        }
        Ok(())
    }

    /// Parses sort keys. Each is the name of a column, with an optional sign before it; a minus
    /// sign means descending order.
    fn sort(&mut self, keys: &str) -> Parsed<()> {
        for key in keys.split(',') {
            let (is_reverse, name) = match key.strip_prefix('-') {
                Some(name) => (true, name),
                None => (false, key.strip_prefix('+').unwrap_or(key)),
            };
            match PsColumn::parse(name).filter(|_| !name.contains([':', '='])) {
                Some(column) => self.made.sort.push(SortKey { column, is_reverse }),
                None => return usage_error("unknown sort specifier"),
            }
        }
        Ok(())
    }
}

/// Splits a list at commas and blanks.
fn split_items(list: &str) -> impl Iterator<Item = &str> {
    list.split([',', ' ', '\t']).filter(|item| !item.is_empty())
}

fn process_id(text: &str) -> Parsed<u32> {
    match text.parse::<u32>() {
        Ok(pid) if pid > 0 && i32::try_from(pid).is_ok() => Ok(pid),
        Ok(_) => usage_error("process ID out of range"),
        Err(e) if *e.kind() == std::num::IntErrorKind::PosOverflow => {
            usage_error("process ID out of range")
        }
        Err(_) => usage_error("process ID list syntax error"),
    }
}

fn parse_session(text: &str) -> Parsed<u32> {
    text.parse().or_else(|_| usage_error("session ID list syntax error"))
}

/// Parses the columns of a user-defined format.
fn parse_columns(list: &str) -> Parsed<Vec<PsColumn>> {
    let parse = |item: &str| match PsColumn::parse(item) {
        Some(column) => Ok(column),
        None => {
            let name = item.split(['=', ':']).next().unwrap_or_default();
            usage_error(format!("unknown user-defined format specifier \"{name}\""))
        }
    };
    let made = split_items(list).map(parse).collect::<Parsed<Vec<PsColumn>>>()?;
    if made.is_empty() {
        return usage_error("format specification must follow -o");
    }
    Ok(made)
}
