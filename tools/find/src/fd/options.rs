//! The command line.

use std::path::PathBuf;

use box_applet::Ctx;
use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_sys::path;

use super::filter::FileFilter;
use super::template::Template;
use super::{Fault, print_error};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    Absolute,
    And,
    BaseDirectory,
    BatchSize,
    CaseSensitive,
    ChangedBefore,
    ChangedWithin,
    Exact,
    ExactDepth,
    Exclude,
    Extension,
    FixedStrings,
    Follow,
    Format,
    FullPath,
    Glob,
    Hidden,
    Ignored,
    IgnoredValue,
    IgnoreCase,
    IgnoreContain,
    IgnoreFile,
    List,
    MaxDepth,
    MaxResults,
    MinDepth,
    NoFollow,
    NoGlobalIgnore,
    NoHidden,
    NoIgnore,
    NoIgnoreParent,
    NoIgnoreVcs,
    NoRequireGit,
    One,
    OneFileSystem,
    Owner,
    PathSeparator,
    Print0,
    Prune,
    Quiet,
    Regex,
    Relative,
    RequireGit,
    SearchPath,
    ShowErrors,
    Size,
    Strip,
    Type,
    Unrestricted,
    UseIgnore,
    UseIgnoreParent,
    UseIgnoreVcs,
}

pub(crate) type WrittenOptions = ParsedOptions<Flag>;

pub(crate) const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... [PATTERN [PATH]...]",
    "Find files whose names match PATTERN, a regular expression, below PATH or the working folder. \
        Hidden files and what .gitignore names are left out. Letter case counts if PATTERN has a \
        capital.",
    &[
        Opt::new(Flag::Hidden, 'H', "hidden").with_help("Find hidden files, too"),
        Opt::new(Flag::NoIgnore, 'I', "no-ignore")
            .with_help("Find what .gitignore, .ignore and .fdignore name, too"),
        Opt::long(Flag::NoIgnoreVcs, "no-ignore-vcs").with_help("Do not read .gitignore"),
        Opt::long(Flag::NoIgnoreParent, "no-ignore-parent")
            .with_help("Read no such files above the folder"),
        Opt::long(Flag::NoGlobalIgnore, "no-global-ignore-file")
            .with_help("Do not read the user's file of ignored names"),
        Opt::long(Flag::NoRequireGit, "no-require-git")
            .with_help("Read .gitignore outside repositories, too"),
        Opt::new(Flag::Unrestricted, 'u', "unrestricted").with_help("The same as -HI"),
        Opt::new(Flag::CaseSensitive, 's', "case-sensitive").with_help("Letter case counts"),
        Opt::new(Flag::IgnoreCase, 'i', "ignore-case").with_help("Letter case does not count"),
        Opt::new(Flag::Glob, 'g', "glob").with_help("PATTERN is a shell pattern for whole names"),
        Opt::long(Flag::Regex, "regex").with_help("PATTERN is a regular expression (the default)"),
        Opt::new(Flag::FixedStrings, 'F', "fixed-strings").with_help("PATTERN is a text"),
        Opt::long(Flag::Exact, "exact").with_help("PATTERN is a whole name"),
        Opt::long(Flag::And, "and").with_argument("PATTERN", "PATTERN has to match, too"),
        Opt::new(Flag::Absolute, 'a', "absolute-path").with_help("Print absolute paths"),
        Opt::new(Flag::List, 'l', "list-details").with_help("Print files as ls -l does"),
        Opt::new(Flag::Follow, 'L', "follow").with_help("Follow symbolic links"),
        Opt::new(Flag::FullPath, 'p', "full-path").with_help("Match the absolute path"),
        Opt::new(Flag::Print0, '0', "print0").with_help("End each result by NUL"),
        Opt::new(Flag::MaxDepth, 'd', "max-depth").with_argument("N", "Descend at most N levels"),
        Opt::long(Flag::MaxDepth, "maxdepth").with_argument("N", words::SAME),
        Opt::long(Flag::MinDepth, "min-depth").with_argument("N", "Begin at level N"),
        Opt::long(Flag::MinDepth, "mindepth").with_argument("N", words::SAME),
        Opt::long(Flag::ExactDepth, "exact-depth").with_argument("N", "Only level N"),
        Opt::new(Flag::Exclude, 'E', "exclude")
            .with_argument("GLOB", "Leave out what GLOB matches"),
        Opt::long(Flag::Prune, "prune").with_help("Do not descend into folders that match"),
        Opt::new(Flag::Type, 't', "type").with_argument(
            "TYPE",
            "Only files (f), folders (d), links (l), executable (x), empty (e), sockets (s), pipes \
             (p), devices (b, c)",
        ),
        Opt::new(Flag::Extension, 'e', "extension").with_argument("EXT", "Only names with .EXT"),
        Opt::new(Flag::Size, 'S', "size")
            .with_argument("SIZE", "Only files of this size: +10k at least, -1Mi at most, 5b"),
        Opt::long(Flag::ChangedWithin, "changed-within")
            .with_argument("TIME", "Only what has changed since a date or within 2d, 10min"),
        Opt::long(Flag::ChangedWithin, "newer").with_argument("TIME", words::SAME),
        Opt::long(Flag::ChangedWithin, "change-newer-than").with_argument("TIME", words::SAME),
        Opt::long(Flag::ChangedWithin, "changed-after").with_argument("TIME", words::SAME),
        Opt::long(Flag::ChangedBefore, "changed-before")
            .with_argument("TIME", "Only what has not changed since then"),
        Opt::long(Flag::ChangedBefore, "older").with_argument("TIME", words::SAME),
        Opt::long(Flag::ChangedBefore, "change-older-than").with_argument("TIME", words::SAME),
        Opt::new(Flag::Owner, 'o', "owner")
            .with_argument("USER:GROUP", "Only files of USER and GROUP; ! before one excludes it"),
        Opt::long(Flag::Format, "format")
            .with_argument("TEXT", "Print TEXT with {}, {/}, {//}, {.}, {/.} filled in"),
        // These take the words up to `;`, which are split off before the others are parsed.
        Opt::new(Flag::Ignored, 'x', "exec").with_help("Run the words up to ; for each result"),
        Opt::new(Flag::Ignored, 'X', "exec-batch").with_help("Run them once for all results"),
        Opt::long(Flag::BatchSize, "batch-size")
            .with_argument("N", "At most N results for each -X"),
        Opt::long(Flag::IgnoreFile, "ignore-file")
            .with_argument("FILE", "Leave out what FILE names, in the form of .gitignore"),
        Opt::long(Flag::IgnoreContain, "ignore-contain")
            .with_argument("NAME", "Leave out folders that hold NAME"),
        Opt::new(Flag::IgnoredValue, 'c', "color").with_argument("WHEN", words::IGNORED),
        Opt::new(Flag::IgnoredValue, 'j', "threads").with_argument("N", words::IGNORED),
        Opt::long(Flag::IgnoredValue, "max-buffer-time").with_argument("MS", words::IGNORED),
        Opt::long(Flag::Ignored, "hyperlink").may_take("WHEN", words::IGNORED),
        Opt::long(Flag::MaxResults, "max-results").with_argument("N", "Stop after N results"),
        Opt::new(Flag::One, '1', "").with_help("Stop after one result"),
        Opt::new(Flag::Quiet, 'q', "quiet").with_help("Print nothing; fail if there is no result"),
        Opt::long(Flag::ShowErrors, "show-errors").with_help("Print what cannot be read"),
        Opt::new(Flag::BaseDirectory, 'C', "base-directory")
            .with_argument("DIR", "Work in DIR, also for commands"),
        Opt::long(Flag::PathSeparator, "path-separator")
            .with_argument("TEXT", "Print TEXT instead of /"),
        Opt::long(Flag::SearchPath, "search-path")
            .with_argument("PATH", "Search PATH, instead of operands after PATTERN"),
        Opt::long(Flag::Strip, "strip-cwd-prefix")
            .may_take("WHEN", "Print no ./ before results: always (without WHEN), never or auto"),
        Opt::long(Flag::OneFileSystem, "one-file-system").with_help("Stay on one file system"),
        Opt::long(Flag::OneFileSystem, "mount").with_help(words::SAME),
        Opt::long(Flag::OneFileSystem, "xdev").with_help(words::SAME),
        Opt::long(Flag::NoHidden, "no-hidden"),
        Opt::long(Flag::UseIgnore, "ignore"),
        Opt::long(Flag::UseIgnoreVcs, "ignore-vcs"),
        Opt::long(Flag::UseIgnoreParent, "ignore-parent"),
        Opt::long(Flag::RequireGit, "require-git"),
        Opt::long(Flag::Relative, "relative-path"),
        Opt::long(Flag::NoFollow, "no-follow"),
        Opt::long(Flag::Follow, "dereference"),
        Opt::long(Flag::FixedStrings, "literal"),
        Opt::long(Flag::Quiet, "has-results"),
    ],
)
.with_examples(&[
    ("fd -e py", "All files that end in .py"),
    ("fd -H '^\\.env' src", "Hidden files in a folder"),
    ("fd -g '*.test.js' -x wc -l", "Run a command for each result"),
]);

/// A folder to search.
pub(crate) struct SearchRoot {
    /// Its absolute path.
    pub path: PathBuf,
    /// The path that results begin with.
    pub shown: Vec<u8>,
}

/// Options as they are meant.
pub(crate) struct FdOptions {
    pub patterns: Vec<String>,
    pub kind: PatternKind,
    /// `None` if the patterns decide.
    pub case_sensitive: Option<bool>,
    pub full_path: bool,
    pub roots: Vec<SearchRoot>,
    pub hidden: bool,
    pub reads_ignore: bool,
    pub reads_vcs: bool,
    pub reads_parents: bool,
    pub reads_global: bool,
    pub needs_git: bool,
    pub ignore_files: Vec<PathBuf>,
    pub excludes: Vec<String>,
    pub ignore_contain: Vec<Vec<u8>>,
    pub follow: bool,
    pub one_file_system: bool,
    pub max_depth: Option<usize>,
    pub min_depth: usize,
    pub prune: bool,
    pub filter: FileFilter,
    pub template: Option<Template>,
    pub lists: bool,
    pub batch_size: usize,
    pub max_results: Option<usize>,
    pub quiet: bool,
    pub print0: bool,
    pub shows_errors: bool,
    pub separator: Option<Vec<u8>>,
    /// Whether `./` is left out before results.
    pub strips: bool,
}

/// What a pattern is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternKind {
    Regex,
    Glob,
    Text,
    Name,
}

impl FdOptions {
    /// Reads the options; `executes` says whether there are commands.
    pub(crate) fn read(
        ctx: &mut Ctx<'_>,
        p: &WrittenOptions,
        executes: bool,
    ) -> Result<FdOptions, Fault> {
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let on = |yes: Flag, no: Flag| p.last_choice(&[(yes, true), (no, false)]);
        if let Some(dir) = p.last_value(Flag::BaseDirectory) {
            let base = ctx.path(dir);
            if !base.is_dir() {
                let name = text(dir);
                return Err(Fault(format!(
                    "The '--base-directory' path '{name}' is not a directory."
                )));
            }
            ctx.cwd = base;
        }
        let free = p.has_option(Flag::Unrestricted);
        let no_ignore = free || on(Flag::NoIgnore, Flag::UseIgnore).unwrap_or(false);
        let reads_vcs = !no_ignore && !on(Flag::NoIgnoreVcs, Flag::UseIgnoreVcs).unwrap_or(false);
        let absolute = on(Flag::Absolute, Flag::Relative).unwrap_or(false);
        let mut operands = p.operands.iter();
        let first = operands.next().map_or_else(String::new, |word| text(word));
        let given: Vec<&[u8]> =
            p.all_values(Flag::SearchPath).chain(operands.map(Vec::as_slice)).collect();
        let roots = read_roots(ctx, &given, absolute)?;
        let kind = p.last_choice(&[
            (Flag::Glob, PatternKind::Glob),
            (Flag::Regex, PatternKind::Regex),
            (Flag::FixedStrings, PatternKind::Text),
            (Flag::Exact, PatternKind::Name),
        ]);
        let exact = read_number(p, Flag::ExactDepth)?;
        let strips = match p.last_value(Flag::Strip) {
            Some(b"never") => false,
            Some(b"auto") => given.is_empty() && !p.has_option(Flag::Print0) && !executes,
            Some(_) => true,
            None if p.has_option(Flag::Strip) => true,
            None => given.is_empty() && !p.has_option(Flag::Print0) && !executes,
        };
        let lists = p.has_option(Flag::List);
        Ok(FdOptions {
            patterns: p.all_values(Flag::And).map(text).chain([first]).collect(),
            kind: kind.unwrap_or(PatternKind::Regex),
            case_sensitive: on(Flag::CaseSensitive, Flag::IgnoreCase),
            full_path: p.has_option(Flag::FullPath),
            roots,
            hidden: free || on(Flag::Hidden, Flag::NoHidden).unwrap_or(false),
            reads_ignore: !no_ignore,
            reads_vcs,
            reads_parents: !on(Flag::NoIgnoreParent, Flag::UseIgnoreParent).unwrap_or(false),
            reads_global: !no_ignore && !p.has_option(Flag::NoGlobalIgnore),
            needs_git: !on(Flag::NoRequireGit, Flag::RequireGit).unwrap_or(false),
            ignore_files: p.all_values(Flag::IgnoreFile).map(|f| ctx.path(f)).collect(),
            excludes: p.all_values(Flag::Exclude).map(text).collect(),
            ignore_contain: p.all_values(Flag::IgnoreContain).map(<[u8]>::to_vec).collect(),
            follow: on(Flag::Follow, Flag::NoFollow).unwrap_or(false),
            one_file_system: p.has_option(Flag::OneFileSystem),
            max_depth: exact.or(read_number(p, Flag::MaxDepth)?),
            min_depth: exact.or(read_number(p, Flag::MinDepth)?).unwrap_or(0),
            prune: p.has_option(Flag::Prune),
            filter: FileFilter::read(ctx, p)?,
            template: p.last_value(Flag::Format).map(Template::parse),
            lists,
            batch_size: read_number(p, Flag::BatchSize)?.unwrap_or(0),
            max_results: match p.last_of(&[Flag::MaxResults, Flag::One]) {
                Some(Flag::One) => Some(1),
                _ => read_number(p, Flag::MaxResults)?.filter(|n| *n > 0),
            },
            quiet: p.has_option(Flag::Quiet),
            print0: p.has_option(Flag::Print0),
            shows_errors: p.has_option(Flag::ShowErrors),
            separator: p.last_value(Flag::PathSeparator).map(<[u8]>::to_vec),
            strips: strips && !(lists && p.last_value(Flag::Strip).is_none()),
        })
    }
}

fn read_number(p: &WrittenOptions, flag: Flag) -> Result<Option<usize>, Fault> {
    let Some(value) = p.last_value(flag) else { return Ok(None) };
    let text = String::from_utf8_lossy(value);
    text.parse().map(Some).map_err(|_| Fault(format!("'{text}' is not a number")))
}

/// Returns the folders to search, and says which paths are none.
fn read_roots(
    ctx: &mut Ctx<'_>,
    given: &[&[u8]],
    absolute: bool,
) -> Result<Vec<SearchRoot>, Fault> {
    let default: &[&[u8]] = &[b"."];
    let mut roots = Vec::new();
    for word in if given.is_empty() { default } else { given } {
        let path = ctx.path(word);
        if !path.is_dir() {
            let name = String::from_utf8_lossy(word).into_owned();
            print_error(ctx, &format!("Search path '{name}' is not a directory."));
            continue;
        }
        let shown = if absolute {
            let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
            path::to_bytes(&whole).to_vec()
        } else if *word == b"." {
            b"./".to_vec()
        } else {
            word.to_vec()
        };
        roots.push(SearchRoot { path, shown });
    }
    if roots.is_empty() {
        return Err(Fault("No valid search paths given.".to_string()));
    }
    Ok(roots)
}
