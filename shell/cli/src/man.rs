//! `man`, `apropos` and `whatis` (man-db 2.11). A command's page is the text of its `--help`, a
//! builtin's that of `help`; all are in section 1.

use std::io::Write;

use box_applet::command::ChildCommand;
use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Applet, AppletRun, AppletTable, Ctx, Ended, Exit};
use box_text::regex::{Regex, RegexOptions, RegexSyntax};
use sh_exec::builtin::{TABLE, find_builtin};

/// The status if there is no page.
const NOT_FOUND: Exit = Exit(16);

/// An option of `man`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ManFlag {
    Apropos,
    Whatis,
    Section,
    Ignored,
}

const MAN: Spec<ManFlag> = Spec::new(
    "[OPTION]... [SECTION] NAME...\n-k WORD...\n-f NAME...",
    "Show the help of a command, or of a builtin of the shell.",
    &[
        Opt::new(ManFlag::Apropos, 'k', "apropos").with_help("List commands, as apropos does"),
        Opt::new(ManFlag::Whatis, 'f', "whatis").with_help("Describe commands, as whatis does"),
        Opt::new(ManFlag::Section, 's', "sections").with_argument("LIST", "Look in these sections"),
        Opt::new(ManFlag::Section, 'S', "").with_argument("LIST", words::SAME),
        Opt::new(ManFlag::Ignored, 'a', "all").with_help(words::IGNORED),
        Opt::new(ManFlag::Ignored, 'P', "pager").with_argument("PAGER", words::IGNORED),
    ],
)
.with_footer("All pages are in section 1. Exit status: 16 if there is no page.")
.with_examples(&[
    ("man sort", "What sort --help prints"),
    ("man cd", "What help cd prints"),
    ("man -k compress", "Commands that concern compression"),
]);

/// An option of `apropos`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AproposFlag {
    And,
    Exact,
    Regex,
}

const APROPOS: Spec<AproposFlag> = Spec::new(
    "[OPTION]... WORD...",
    "List the commands whose name or description matches a regular expression.",
    &[
        Opt::new(AproposFlag::And, 'a', "and").with_help("List only those that match all WORDs"),
        Opt::new(AproposFlag::Exact, 'e', "exact").with_help("Match whole words of text"),
        Opt::new(AproposFlag::Regex, 'r', "regex").with_help("Match regular expressions (default)"),
    ],
)
.with_footer("Exit status: 16 if nothing matches.");

const WHATIS: Spec = Spec::new("NAME...", "Describe commands in one line each.", &[])
    .with_footer("Exit status: 16 if there is none of these names.");

/// The text of a command's page.
enum ManualPage {
    /// An applet prints it.
    Applet(&'static Applet),
    Text(String),
    /// A separate program prints it.
    Program,
}

pub(crate) fn run_man(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = MAN.parse_or_exit(ctx, args, Exit::USAGE)?;
    let mut names = parsed.operands.as_slice();
    if parsed.has_option(ManFlag::Apropos) {
        return list_matches(ctx, names, &|patterns, entry| {
            patterns.iter().any(|pattern| pattern.is_in(entry))
        });
    }
    if parsed.has_option(ManFlag::Whatis) {
        return describe_names(ctx, names);
    }
    let mut section = None;
    if let [first, rest @ ..] = names
        && matches!(first.as_slice(), [b'0'..=b'9' | b'n' | b'l'])
        && !rest.is_empty()
    {
        (section, names) = (Some(first.as_slice()), rest);
    }
    if names.is_empty() {
        let text = b"What manual page do you want?\nFor example, try 'man man'.\n";
        let _ = ctx.stderr.write_all(text);
        return Ok(Exit::FAILURE);
    }
    let sections = section.or(parsed.last_value(ManFlag::Section));
    let is_first = sections
        .is_none_or(|list| list.split(|c| matches!(c, b',' | b':')).any(|section| section == b"1"));
    let mut exit = Exit::SUCCESS;
    for name in names {
        match find_page(ctx.table, name).filter(|_| is_first) {
            Some(page) => print_page(ctx, name, page)?,
            None => {
                report_missing(ctx, name, section);
                exit = NOT_FOUND;
            }
        }
    }
    Ok(exit)
}

pub(crate) fn run_apropos(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = APROPOS.parse_or_exit(ctx, args, Exit::USAGE)?;
    let (all, exact) = (parsed.has_option(AproposFlag::And), parsed.has_option(AproposFlag::Exact));
    list_matches(ctx, &parsed.operands, &|patterns, entry| {
        let matches = |pattern: &WordPattern<'_>| {
            if exact { pattern.is_word_of(entry) } else { pattern.is_in(entry) }
        };
        if all { patterns.iter().all(matches) } else { patterns.iter().any(matches) }
    })
}

pub(crate) fn run_whatis(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = WHATIS.parse_or_exit(ctx, args, Exit::USAGE)?;
    describe_names(ctx, &parsed.operands)
}

fn find_page(table: &AppletTable, name: &[u8]) -> Option<ManualPage> {
    // `test` takes no options.
    let applet = table.find(if name == b"test" { b"[" } else { name });
    match applet {
        Some(Applet { help: Some(help), .. }) => Some(ManualPage::Text(help())),
        Some(applet) => Some(ManualPage::Applet(applet)),
        None => match find_builtin(name) {
            Some(builtin) => Some(ManualPage::Text(builtin.help_text(false))),
            None => table.is_program(name).then_some(ManualPage::Program),
        },
    }
}

fn print_page(ctx: &mut Ctx<'_>, name: &[u8], page: ManualPage) -> Result<(), Exit> {
    let help = b"--help".to_vec();
    match page {
        ManualPage::Text(text) => drop(ctx.print(&text)),
        ManualPage::Applet(applet) => {
            let AppletRun::Ctx(run) = applet.run else { return Ok(()) };
            let own = (ctx.name.clone(), ctx.applet);
            (ctx.name, ctx.applet) = (applet.name.to_string(), applet.name);
            // The status does not matter: `false --help` prints its help and returns 1.
            let _ = run(ctx, &[help]);
            (ctx.name, ctx.applet) = own;
        }
        ManualPage::Program => {
            let command = ChildCommand::new(vec![name.to_vec(), help]);
            let status = command.run(ctx);
            if status != 0 {
                return Err(Exit(status));
            }
        }
    }
    Ok(())
}

fn report_missing(ctx: &mut Ctx<'_>, name: &[u8], section: Option<&[u8]>) {
    let mut line = [b"No manual entry for ", name].concat();
    if let Some(section) = section {
        line.extend([b" in section ", section].concat());
    }
    line.push(b'\n');
    let _ = ctx.stdout.flush();
    let _ = ctx.stderr.write_all(&line);
}

/// A command's name and what it does, for lists.
struct IndexEntry {
    name: &'static str,
    summary: String,
}

/// Returns an entry for each command and builtin, by name.
fn index_entries(table: &AppletTable) -> Vec<IndexEntry> {
    let commands = table.applets().iter().map(|a| (a.name, a.summary.to_string()));
    let programs = table.programs().iter().map(|(name, summary)| (*name, summary.to_string()));
    let builtins = TABLE.iter().filter(|b| table.find(b.name.as_bytes()).is_none());
    let builtins = builtins.map(|b| (b.name, b.list_summary()));
    let all = commands.chain(programs).chain(builtins);
    let mut entries: Vec<_> = all.map(|(name, summary)| IndexEntry { name, summary }).collect();
    entries.sort_by_key(|entry| entry.name);
    entries
}

fn print_entry(ctx: &mut Ctx<'_>, entry: &IndexEntry) {
    let name = format!("{} (1)", entry.name);
    ctx.print(&format!("{name:<20} - {}\n", entry.summary));
}

/// A word that `apropos` searches for.
struct WordPattern<'w> {
    word: &'w [u8],
    regex: Option<Regex>,
}

impl WordPattern<'_> {
    fn new(word: &[u8]) -> WordPattern<'_> {
        let options = RegexOptions { icase: true, ..RegexOptions::new(RegexSyntax::Ere) };
        // An invalid regular expression is searched for as literal text.
        WordPattern { word, regex: Regex::new(word, &options).ok() }
    }

    fn is_in(&self, entry: &IndexEntry) -> bool {
        let matches = |text: &str| match &self.regex {
            Some(regex) => regex.is_match(text.as_bytes()),
            None => text.as_bytes().windows(self.word.len()).any(|part| part == self.word),
        };
        matches(entry.name) || matches(&entry.summary)
    }

    fn is_word_of(&self, entry: &IndexEntry) -> bool {
        let mut words = entry.summary.split(|c: char| !c.is_alphanumeric());
        let is_word = |text: &str| text.as_bytes().eq_ignore_ascii_case(self.word);
        is_word(entry.name) || words.any(is_word)
    }
}

/// Lists the entries for which `is_match` returns true; the status is 16 if there are none.
fn list_matches(
    ctx: &mut Ctx<'_>,
    words: &[Vec<u8>],
    is_match: &dyn Fn(&[WordPattern<'_>], &IndexEntry) -> bool,
) -> Ended {
    if words.is_empty() {
        let _ = ctx.stdout.write_all(b"apropos what?\n");
        return Ok(Exit::FAILURE);
    }
    let patterns: Vec<_> = words.iter().map(|word| WordPattern::new(word)).collect();
    let entries = index_entries(ctx.table);
    let mut found = entries.iter().filter(|entry| is_match(&patterns, entry)).peekable();
    if found.peek().is_none() {
        for word in words {
            report_nothing(ctx, word);
        }
        return Ok(NOT_FOUND);
    }
    found.for_each(|entry| print_entry(ctx, entry));
    Ok(Exit::SUCCESS)
}

/// Lists the entries of these names; the status is 16 if there are none.
fn describe_names(ctx: &mut Ctx<'_>, names: &[Vec<u8>]) -> Ended {
    if names.is_empty() {
        let _ = ctx.stdout.write_all(b"whatis what?\n");
        return Ok(Exit::FAILURE);
    }
    let entries = index_entries(ctx.table);
    let mut exit = NOT_FOUND;
    for name in names {
        match entries.iter().find(|entry| entry.name.as_bytes() == name) {
            Some(entry) => {
                print_entry(ctx, entry);
                exit = Exit::SUCCESS;
            }
            None => report_nothing(ctx, name),
        }
    }
    Ok(exit)
}

fn report_nothing(ctx: &mut Ctx<'_>, word: &[u8]) {
    let _ = ctx.stdout.flush();
    let _ = ctx.stderr.write_all(&[word, b": nothing appropriate.\n"].concat());
}
