//! The command line of `rsync`.

use box_applet::Ctx;
use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};

use super::filter::Filter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Archive,
    Backup,
    Checksum,
    CopyLinks,
    Delete,
    DeleteExcluded,
    Devices,
    DryRun,
    Exclude,
    ExcludeFrom,
    Existing,
    Filter,
    Ignored,
    IgnoredValue,
    IgnoreExisting,
    IgnoreTimes,
    Include,
    IncludeFrom,
    Itemize,
    Links,
    MakePath,
    NoLinks,
    NoPerms,
    NoRecursive,
    NoTimes,
    OmitDirTimes,
    Perms,
    Quiet,
    Recursive,
    Refused,
    RefusedValue,
    RemoveSources,
    SizeOnly,
    Stats,
    Suffix,
    Times,
    Update,
    Verbose,
}

pub(super) const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... SOURCE... DESTINATION",
    "Copy files and folders to another place of this machine, but only what differs in size or \
        time. A slash at the end of SOURCE stands for the contents of the folder.",
    &[
        Opt::new(Flag::Archive, 'a', "archive").with_help("Copy everything as it is: -rlptgoD"),
        Opt::new(Flag::Recursive, 'r', "recursive").with_help("Copy folders with their contents"),
        Opt::new(Flag::Links, 'l', "links").with_help("Copy symbolic links as links"),
        Opt::new(Flag::CopyLinks, 'L', "copy-links").with_help("Copy what symbolic links name"),
        Opt::new(Flag::Perms, 'p', "perms").with_help("Keep permissions"),
        Opt::new(Flag::Times, 't', "times").with_help("Keep times"),
        Opt::new(Flag::OmitDirTimes, 'O', "omit-dir-times").with_help("With -t: not of folders"),
        Opt::new(Flag::DryRun, 'n', "dry-run").with_help("Change nothing"),
        Opt::new(Flag::Verbose, 'v', "verbose").with_help("Print what is copied"),
        Opt::new(Flag::Itemize, 'i', "itemize-changes").with_help("Print what differs"),
        Opt::new(Flag::Quiet, 'q', "quiet").with_help("Print errors only"),
        Opt::new(Flag::Update, 'u', "update").with_help("Keep files that are newer"),
        Opt::new(Flag::Checksum, 'c', "checksum").with_help("Compare contents, not times"),
        Opt::long(Flag::SizeOnly, "size-only").with_help("Compare sizes only"),
        Opt::new(Flag::IgnoreTimes, 'I', "ignore-times").with_help("Copy all files"),
        Opt::long(Flag::Existing, "existing").with_help("Create no new files"),
        Opt::long(Flag::IgnoreExisting, "ignore-existing").with_help("Keep files that exist"),
        Opt::long(Flag::Delete, "delete").with_help("Delete what SOURCE does not have"),
        Opt::long(Flag::Delete, "del"),
        Opt::long(Flag::Delete, "delete-before"),
        Opt::long(Flag::Delete, "delete-during"),
        Opt::long(Flag::Delete, "delete-delay"),
        Opt::long(Flag::Delete, "delete-after"),
        Opt::long(Flag::DeleteExcluded, "delete-excluded").with_help("Delete excluded files, too"),
        Opt::long(Flag::Exclude, "exclude").with_argument("PATTERN", "Leave out what matches"),
        Opt::long(Flag::Include, "include")
            .with_argument("PATTERN", "Do not leave out what matches"),
        Opt::long(Flag::ExcludeFrom, "exclude-from")
            .with_argument("FILE", "Read patterns for --exclude from FILE"),
        Opt::long(Flag::IncludeFrom, "include-from")
            .with_argument("FILE", "Read patterns for --include from FILE"),
        Opt::new(Flag::Filter, 'f', "filter").with_argument("RULE", "'- PATTERN' or '+ PATTERN'"),
        Opt::new(Flag::Backup, 'b', "backup").with_help("Keep files that are replaced, with a ~"),
        Opt::long(Flag::Suffix, "suffix").with_argument("TEXT", words::SUFFIX),
        Opt::long(Flag::RemoveSources, "remove-source-files")
            .with_help("Remove files that were copied"),
        Opt::long(Flag::MakePath, "mkpath").with_help("Create the folders above DESTINATION"),
        Opt::long(Flag::Stats, "stats").with_help("Print numbers at the end"),
        Opt::new(Flag::Devices, 'D', "").with_help("Copy named pipes"),
        Opt::long(Flag::Devices, "specials"),
        Opt::long(Flag::NoPerms, "no-perms"),
        Opt::long(Flag::NoPerms, "no-p"),
        Opt::long(Flag::NoTimes, "no-times"),
        Opt::long(Flag::NoTimes, "no-t"),
        Opt::long(Flag::NoLinks, "no-links"),
        Opt::long(Flag::NoLinks, "no-l"),
        Opt::long(Flag::NoRecursive, "no-recursive"),
        Opt::long(Flag::NoRecursive, "no-r"),
        Opt::new(Flag::Ignored, 'z', "compress").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'P', "").with_help(words::SAME),
        Opt::long(Flag::Ignored, "progress"),
        Opt::long(Flag::Ignored, "partial"),
        Opt::long(Flag::Ignored, "inplace"),
        Opt::long(Flag::Ignored, "devices"),
        Opt::long(Flag::Ignored, "no-owner"),
        Opt::long(Flag::Ignored, "no-o"),
        Opt::long(Flag::Ignored, "no-group"),
        Opt::long(Flag::Ignored, "no-g"),
        Opt::long(Flag::Ignored, "numeric-ids"),
        Opt::long(Flag::Ignored, "force"),
        Opt::long(Flag::Ignored, "fsync"),
        Opt::long(Flag::Ignored, "no-inc-recursive"),
        Opt::new(Flag::Ignored, 'o', "owner"),
        Opt::new(Flag::Ignored, 'g', "group"),
        Opt::new(Flag::Ignored, 'h', "human-readable"),
        Opt::new(Flag::Ignored, 'H', "hard-links"),
        Opt::new(Flag::Ignored, 'A', "acls"),
        Opt::new(Flag::Ignored, 'X', "xattrs"),
        Opt::new(Flag::Ignored, 'S', "sparse"),
        Opt::new(Flag::Ignored, 'W', "whole-file"),
        Opt::new(Flag::Ignored, 'x', "one-file-system"),
        Opt::new(Flag::IgnoredValue, 'e', "rsh").with_argument("COMMAND", ""),
        Opt::long(Flag::IgnoredValue, "info").with_argument("FLAGS", ""),
        Opt::long(Flag::IgnoredValue, "bwlimit").with_argument("RATE", ""),
        Opt::long(Flag::IgnoredValue, "timeout").with_argument("SECONDS", ""),
        Opt::new(Flag::Refused, 'R', "relative"),
        Opt::long(Flag::Refused, "list-only"),
        Opt::long(Flag::Refused, "daemon"),
        Opt::long(Flag::RefusedValue, "link-dest").with_argument("DIR", ""),
        Opt::long(Flag::RefusedValue, "compare-dest").with_argument("DIR", ""),
        Opt::long(Flag::RefusedValue, "files-from").with_argument("FILE", ""),
    ],
)
.with_examples(&[
    ("rsync -av --delete src/ copy/", "Make copy equal to src"),
    ("rsync -avn src copy", "See what would be copied to copy/src"),
]);

/// The meaning of the options.
pub(super) struct Plan {
    pub recursive: bool,
    pub links: bool,
    pub copy_links: bool,
    pub perms: bool,
    pub times: bool,
    pub folder_times: bool,
    pub specials: bool,
    pub dry_run: bool,
    pub verbose: bool,
    pub itemize: bool,
    pub quiet: bool,
    pub update: bool,
    pub checksum: bool,
    pub size_only: bool,
    pub ignore_times: bool,
    pub existing: bool,
    pub ignore_existing: bool,
    pub deletes: bool,
    pub deletes_excluded: bool,
    pub backup: Option<Vec<u8>>,
    pub remove_sources: bool,
    pub make_path: bool,
    pub stats: bool,
    pub filter: Filter,
}

impl Plan {
    /// Returns the meaning of the options, after reading files of patterns; `Err` is a message.
    pub(super) fn new(ctx: &mut Ctx<'_>, p: &ParsedOptions<Flag>) -> Result<Plan, String> {
        // -a stands for its parts at the place where it is written.
        let has = |on: Flag, off: Flag| matches!(p.last_of(&[Flag::Archive, on, off]), Some(last) if last != off);
        let mut filter = Filter::default();
        for (flag, value) in &p.options {
            let text = value.as_deref().unwrap_or_default();
            match flag {
                Flag::Exclude => filter.add_rule(false, text),
                Flag::Include => filter.add_rule(true, text),
                Flag::Filter => filter.add_line(text)?,
                Flag::ExcludeFrom | Flag::IncludeFrom => {
                    let content = ctx.read(text).map_err(|e| {
                        let (name, reason) =
                            (String::from_utf8_lossy(text), box_sys::error_text(&e));
                        format!("failed to open exclude file {name}: {reason}")
                    })?;
                    filter.add_patterns(*flag == Flag::IncludeFrom, &content);
                }
                _ => {}
            }
        }
        let suffix = p.last_value(Flag::Suffix).unwrap_or(b"~").to_vec();
        Ok(Plan {
            recursive: has(Flag::Recursive, Flag::NoRecursive),
            links: has(Flag::Links, Flag::NoLinks),
            copy_links: p.has_option(Flag::CopyLinks),
            perms: has(Flag::Perms, Flag::NoPerms),
            times: has(Flag::Times, Flag::NoTimes),
            folder_times: !p.has_option(Flag::OmitDirTimes),
            specials: p.has_option(Flag::Archive) || p.has_option(Flag::Devices),
            dry_run: p.has_option(Flag::DryRun),
            verbose: p.has_option(Flag::Verbose),
            itemize: p.has_option(Flag::Itemize),
            quiet: p.has_option(Flag::Quiet),
            update: p.has_option(Flag::Update),
            checksum: p.has_option(Flag::Checksum),
            size_only: p.has_option(Flag::SizeOnly),
            ignore_times: p.has_option(Flag::IgnoreTimes),
            existing: p.has_option(Flag::Existing),
            ignore_existing: p.has_option(Flag::IgnoreExisting),
            deletes: p.has_option(Flag::Delete) || p.has_option(Flag::DeleteExcluded),
            deletes_excluded: p.has_option(Flag::DeleteExcluded),
            backup: p.has_option(Flag::Backup).then_some(suffix),
            remove_sources: p.has_option(Flag::RemoveSources),
            make_path: p.has_option(Flag::MakePath),
            stats: p.has_option(Flag::Stats),
            filter,
        })
    }
}
