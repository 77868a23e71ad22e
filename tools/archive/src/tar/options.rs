//! The command line of `tar`: old style (`tar czf f.tgz x`), short and long options.

use box_text::time::Zone;
use std::io::{BufRead, Read, Write};

use box_applet::opts::{Arg, Opt, Spec, UsageError};
use box_applet::{Ctx, Exit};

use super::select::{Excludes, Names};
use crate::codec::Format;

/// Follows a usage error.
pub const HINT: &[u8] = b"Try 'tar --help' or 'tar --usage' for more information.\n";

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Create,
    Append,
    List,
    Extract,
}

/// How the archive is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    None,
    Is(Format),
    /// By the archive's name (`-a`).
    Auto,
}

/// A file operand or a change of directory, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    File(Vec<u8>),
    Directory(Vec<u8>),
}

/// The parsed command line.
pub struct Options {
    pub action: Action,
    pub archive: Vec<u8>,
    pub compression: Compression,
    pub items: Vec<Item>,
    pub excludes: Excludes,
    pub names: Names,
    pub verbose: usize,
    pub to_stdout: bool,
    pub keep_old: bool,
    pub keep_newer: bool,
    pub skip_old: bool,
    pub absolute: bool,
    pub dereference: bool,
    pub recursive: bool,
    pub preserve_mode: bool,
    pub touch: bool,
    pub ignore_zeros: bool,
    pub remove_files: bool,
    pub overwrite: bool,
    pub numeric_owner: bool,
    pub full_time: bool,
    /// For the times of a listing.
    pub zone: Zone,
    /// Seconds since the epoch for every member (`--mtime=@N`).
    pub mtime: Option<u64>,
    pub owner: Option<Vec<u8>>,
    pub group: Option<Vec<u8>>,
}

const SPEC: Spec = Spec {
    usage: "[OPTION...] [FILE]...",
    about: "Save many files in one archive, list them, and restore them from it.",
    options: &[
        Opt::flag('c', "create", "create a new archive"),
        Opt::flag('r', "append", "append files to the end of an archive"),
        Opt::flag('t', "list", "list the contents of an archive"),
        Opt::flag('x', "extract", "extract files from an archive"),
        Opt::flag('\u{1}', "get", "the same as --extract").long_only(),
        Opt::value(
            'f',
            "file",
            "ARCHIVE",
            "use archive file ARCHIVE (- for standard input or output)",
        ),
        Opt::value('C', "directory", "DIR", "change to directory DIR"),
        Opt::flag('z', "gzip", "filter the archive through gzip"),
        Opt::flag('\u{2}', "gunzip", "the same as --gzip").long_only(),
        Opt::flag('j', "bzip2", "filter the archive through bzip2"),
        Opt::flag('J', "xz", "filter the archive through xz"),
        Opt::flag('Z', "zstd", "filter the archive through zstd").long_only(),
        Opt::flag('a', "auto-compress", "use the archive suffix to determine the compression"),
        Opt::value('I', "use-compress-program", "PROG", "filter through gzip, bzip2, xz or zstd"),
        Opt::flag('v', "verbose", "list files processed"),
        Opt::value('e', "exclude", "PATTERN", "exclude files, given as a PATTERN").long_only(),
        Opt::value('X', "exclude-from", "FILE", "exclude patterns listed in FILE"),
        Opt::flag('\u{3}', "exclude-vcs", "exclude version control directories").long_only(),
        Opt::value('\u{4}', "strip-components", "N", "strip N leading components from file names")
            .long_only(),
        Opt::value('\u{5}', "transform", "EXPR", "replace names by a sed s/// expression")
            .long_only(),
        Opt::value('\u{6}', "xform", "EXPR", "the same as --transform").long_only(),
        Opt::flag('O', "to-stdout", "extract files to standard output"),
        Opt::flag('k', "keep-old-files", "do not replace existing files"),
        Opt::flag('\u{7}', "skip-old-files", "silently skip existing files").long_only(),
        Opt::flag('\u{8}', "keep-newer-files", "do not replace files newer than their copies")
            .long_only(),
        Opt::flag('\u{e}', "overwrite", "write into existing files instead of replacing them")
            .long_only(),
        Opt::flag('P', "absolute-names", "do not strip leading slashes"),
        Opt::flag('h', "dereference", "archive the files that symbolic links point to"),
        Opt::flag('\u{f}', "no-recursion", "do not descend into directories").long_only(),
        Opt::flag('\u{10}', "recursion", "descend into directories (default)").long_only(),
        Opt::flag('p', "preserve-permissions", "extract exact permissions"),
        Opt::flag('\u{11}', "same-permissions", "the same").long_only(),
        Opt::flag('m', "touch", "do not extract modification times"),
        Opt::flag('i', "ignore-zeros", "ignore zeroed blocks"),
        Opt::flag('\u{12}', "remove-files", "remove files after adding them").long_only(),
        Opt::value('T', "files-from", "FILE", "get names from FILE"),
        Opt::flag('\u{13}', "null", "names from -T end with NUL").long_only(),
        Opt::flag('\u{14}', "wildcards", "member names are patterns").long_only(),
        Opt::flag('\u{15}', "no-wildcards", "member names are literal").long_only(),
        Opt::flag('\u{16}', "numeric-owner", "use numbers for user and group names").long_only(),
        Opt::flag('\u{17}', "full-time", "print file time to its full resolution").long_only(),
        Opt::value('\u{18}', "mtime", "DATE", "set the time of added files: @SECONDS").long_only(),
        Opt::value('\u{19}', "owner", "NAME", "force NAME as owner of added files").long_only(),
        Opt::value('\u{1a}', "group", "NAME", "force NAME as group of added files").long_only(),
        Opt::value('\u{1b}', "sort", "ORDER", "accepted: names are sorted always").long_only(),
        Opt::value('H', "format", "FORMAT", "accepted: the format is gnu always"),
        Opt::flag('\u{1c}', "no-same-owner", "extract files as yourself (default)").long_only(),
        Opt::flag('\u{1d}', "same-owner", "accepted and ignored").long_only(),
        Opt::flag('\u{1e}', "no-same-permissions", "apply the umask (default)").long_only(),
        Opt::value('b', "blocking-factor", "N", "accepted and ignored"),
        Opt::optional('\u{1f}', "totals", "SIGNAL", "accepted and ignored").long_only(),
        Opt::value('\u{80}', "warning", "KEYWORD", "accepted and ignored").long_only(),
        Opt::flag('S', "sparse", "accepted and ignored"),
        Opt::flag('o', "old-archive", "accepted and ignored"),
        Opt::flag('w', "", "refused: there is no terminal to ask"),
    ],
    after: "",
    posix_order: true,
};

/// Parses the command line; `Err` after a message or help.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<Options, Exit> {
    let args = modern(args);
    let (before, after) = match args.iter().position(|a| a == b"--") {
        Some(i) => (&args[..i], &args[i + 1..]),
        None => (&args[..], &args[..0]),
    };
    let mut given: Vec<(char, Option<Vec<u8>>)> = Vec::new();
    let mut items = Vec::new();
    let mut rest = before.to_vec();
    // Operands and -C act in order, so options are parsed up to each operand.
    loop {
        let parsed = match SPEC.parse(&rest) {
            Ok(p) => p,
            Err(UsageError::Message(m)) => {
                ctx.error(&m);
                let _ = ctx.stderr.write_all(HINT);
                return Err(Exit(super::USAGE));
            }
            Err(_) => {
                return Err(SPEC
                    .parse_or_exit(ctx, &rest, Exit(super::FAILED))
                    .err()
                    .unwrap_or(Exit::SUCCESS));
            }
        };
        for (id, value) in parsed.options {
            match (id, &value) {
                ('C', Some(dir)) => items.push(Item::Directory(dir.clone())),
                ('T', Some(file)) => {
                    items.extend(names_from(ctx, file, given.iter().any(|g| g.0 == '\u{13}'))?)
                }
                _ => given.push((id, value)),
            }
        }
        let mut operands = parsed.operands.into_iter();
        match operands.next() {
            Some(first) => items.push(Item::File(first)),
            None => break,
        }
        rest = operands.collect();
    }
    items.extend(after.iter().map(|a| Item::File(a.clone())));
    build(ctx, &given, items)
}

/// Old-style option letters as options: `tar cfz x.tgz dir` is `tar -c -f x.tgz -z dir`.
fn modern(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let Some((first, rest)) = args.split_first() else { return Vec::new() };
    if first.first().is_none_or(|c| *c == b'-') || first.contains(&b'/') {
        return args.to_vec();
    }
    let mut rest = rest.iter();
    let mut out = Vec::new();
    for &c in first {
        out.push(vec![b'-', c]);
        if let Some(Arg::Required(_)) = SPEC.argument_of(c) {
            out.extend(rest.next().cloned());
        }
    }
    out.extend(rest.cloned());
    out
}

fn names_from(ctx: &mut Ctx<'_>, file: &[u8], null: bool) -> Result<Vec<Item>, Exit> {
    let text = read_list(ctx, file)?;
    let end = if null { 0 } else { b'\n' };
    let lines = text.split(|&c| c == end).filter(|l| !l.is_empty());
    Ok(lines.map(|l| Item::File(l.to_vec())).collect())
}

fn read_list(ctx: &mut Ctx<'_>, file: &[u8]) -> Result<Vec<u8>, Exit> {
    let mut text = Vec::new();
    let read = if file == b"-" {
        ctx.stdin.fill_buf().map(drop).and_then(|()| ctx.stdin.read_to_end(&mut text)).map(drop)
    } else {
        std::fs::read(ctx.path(file)).map(|t| text = t)
    };
    match read {
        Ok(()) => Ok(text),
        Err(e) => {
            ctx.io_error(file, &e);
            Err(Exit(super::FAILED))
        }
    }
}

fn build(
    ctx: &mut Ctx<'_>,
    given: &[(char, Option<Vec<u8>>)],
    items: Vec<Item>,
) -> Result<Options, Exit> {
    let has = |id: char| given.iter().any(|g| g.0 == id);
    let last = |id: char| given.iter().rev().find(|g| g.0 == id).and_then(|g| g.1.clone());
    let actions: Vec<Action> = [
        ('c', Action::Create),
        ('r', Action::Append),
        ('t', Action::List),
        ('x', Action::Extract),
        ('\u{1}', Action::Extract),
    ]
    .into_iter()
    .filter(|(id, _)| has(*id))
    .map(|(_, a)| a)
    .collect();
    let action = match actions.as_slice() {
        [one] => *one,
        [] => {
            ctx.error(
                "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options",
            );
            let _ = ctx.stderr.write_all(HINT);
            return Err(Exit(super::FAILED));
        }
        _ => {
            ctx.error("You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option");
            let _ = ctx.stderr.write_all(HINT);
            return Err(Exit(super::FAILED));
        }
    };
    let archive = last('f').or_else(|| ctx.env.get(b"TAPE").map(<[u8]>::to_vec));
    let archive = archive.unwrap_or_else(|| b"-".to_vec());
    let program = last('I');
    let compression =
        match program.as_deref().map(|p| p.split(|c| *c == b' ').next().unwrap_or_default()) {
            Some(b"gzip" | b"pigz") => Compression::Is(Format::Gzip),
            Some(b"bzip2" | b"pbzip2") => Compression::Is(Format::Bzip2),
            Some(b"xz" | b"pixz") => Compression::Is(Format::Xz),
            Some(b"zstd" | b"zstdmt") => Compression::Is(Format::Zstd),
            Some(other) => {
                let other = String::from_utf8_lossy(other).into_owned();
                ctx.error(format_args!(
                    "{other}: Cannot exec: only gzip, bzip2, xz and zstd are built in"
                ));
                return Err(Exit(super::FAILED));
            }
            None if has('z') || has('\u{2}') => Compression::Is(Format::Gzip),
            None if has('j') => Compression::Is(Format::Bzip2),
            None if has('J') => Compression::Is(Format::Xz),
            None if has('Z') => Compression::Is(Format::Zstd),
            None if has('a') => Compression::Auto,
            None => Compression::None,
        };
    let number = |ctx: &mut Ctx<'_>, id: char, what: &str| -> Result<Option<u64>, Exit> {
        let Some(text) = last(id) else { return Ok(None) };
        let text = String::from_utf8_lossy(&text).into_owned();
        let digits = text.strip_prefix('@').unwrap_or(&text);
        digits.parse().map(Some).map_err(|_| {
            ctx.error(format_args!("{text}: Invalid {what}"));
            Exit(super::FAILED)
        })
    };
    let strip = number(ctx, '\u{4}', "number of elements")?.unwrap_or(0);
    let mtime = number(ctx, '\u{18}', "date: give @SECONDS")?;
    let mut excludes = Excludes::default();
    for (id, value) in given {
        match (id, value) {
            ('e', Some(p)) => excludes.add(p),
            ('X', Some(file)) => {
                for line in read_list(ctx, file)?.split(|c| *c == b'\n').filter(|l| !l.is_empty()) {
                    excludes.add(line);
                }
            }
            ('\u{3}', _) => {
                for name in [
                    ".git",
                    ".svn",
                    ".hg",
                    ".bzr",
                    "CVS",
                    ".gitignore",
                    ".gitmodules",
                    ".gitattributes",
                ] {
                    excludes.add(name.as_bytes());
                }
            }
            _ => {}
        }
    }
    let mut names = Names::default();
    names.strip = usize::try_from(strip).unwrap_or(usize::MAX);
    for (id, value) in given {
        if let ('\u{5}' | '\u{6}', Some(expression)) = (id, value)
            && let Err(message) = names.add_transform(expression)
        {
            ctx.error(message);
            return Err(Exit(super::FAILED));
        }
    }
    names.absolute = has('P');
    names.wildcards = has('\u{14}');
    Ok(Options {
        action,
        archive,
        compression,
        items,
        excludes,
        names,
        verbose: given.iter().filter(|g| g.0 == 'v').count(),
        to_stdout: has('O'),
        keep_old: has('k'),
        keep_newer: has('\u{8}'),
        overwrite: has('\u{e}'),
        skip_old: has('\u{7}'),
        absolute: has('P'),
        dereference: has('h'),
        recursive: !has('\u{f}'),
        preserve_mode: has('p') || has('\u{11}'),
        touch: has('m'),
        ignore_zeros: has('i'),
        remove_files: has('\u{12}'),
        numeric_owner: has('\u{16}'),
        full_time: has('\u{17}'),
        zone: Zone::from_env(ctx.env.get(b"TZ"), |path| std::fs::read(path).ok()),
        mtime,
        owner: last('\u{19}'),
        group: last('\u{1a}'),
    })
}
