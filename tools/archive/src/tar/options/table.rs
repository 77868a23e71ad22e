//! The options, once.

use box_applet::opts::{Opt, Spec};

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TarFlag {
    Create,
    Append,
    List,
    Extract,
    File,
    Directory,
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    AutoCompress,
    UseCompressProgram,
    Verbose,
    Exclude,
    ExcludeFrom,
    ExcludeVcs,
    StripComponents,
    Transform,
    ToStdout,
    KeepOldFiles,
    SkipOldFiles,
    KeepNewerFiles,
    Overwrite,
    AbsoluteNames,
    Dereference,
    NoRecursion,
    Recursion,
    PreservePermissions,
    Touch,
    IgnoreZeros,
    RemoveFiles,
    FilesFrom,
    Null,
    Wildcards,
    NoWildcards,
    NumericOwner,
    FullTime,
    Mtime,
    Owner,
    Group,
    Sort,
    Format,
    NoSameOwner,
    SameOwner,
    NoSamePermissions,
    BlockingFactor,
    Totals,
    Warning,
    Sparse,
    OldArchive,
    Interactive,
}

pub(super) const SPEC: Spec<TarFlag> = Spec::new(
    "[OPTION...] [FILE]...",
    "Save many files in one archive, list them, and restore them from it.",
    &[
        Opt::new(TarFlag::Create, 'c', "create").with_help("create a new archive"),
        Opt::new(TarFlag::Append, 'r', "append").with_help("append files to the end of an archive"),
        Opt::new(TarFlag::List, 't', "list").with_help("list the contents of an archive"),
        Opt::new(TarFlag::Extract, 'x', "extract").with_help("extract files from an archive"),
        Opt::long(TarFlag::Extract, "get").with_help("the same as --extract"),
        Opt::new(TarFlag::File, 'f', "file")
            .with_argument("ARCHIVE", "use archive file ARCHIVE (- for standard input or output)"),
        Opt::new(TarFlag::Directory, 'C', "directory")
            .with_argument("DIR", "change to directory DIR"),
        Opt::new(TarFlag::Gzip, 'z', "gzip").with_help("filter the archive through gzip"),
        Opt::long(TarFlag::Gzip, "gunzip").with_help("the same as --gzip"),
        Opt::new(TarFlag::Bzip2, 'j', "bzip2").with_help("filter the archive through bzip2"),
        Opt::new(TarFlag::Xz, 'J', "xz").with_help("filter the archive through xz"),
        Opt::long(TarFlag::Zstd, "zstd").with_help("filter the archive through zstd"),
        Opt::new(TarFlag::AutoCompress, 'a', "auto-compress")
            .with_help("use the archive suffix to determine the compression"),
        Opt::new(TarFlag::UseCompressProgram, 'I', "use-compress-program")
            .with_argument("PROG", "filter through gzip, bzip2, xz or zstd"),
        Opt::new(TarFlag::Verbose, 'v', "verbose").with_help("list files processed"),
        Opt::long(TarFlag::Exclude, "exclude")
            .with_argument("PATTERN", "exclude files, given as a PATTERN"),
        Opt::new(TarFlag::ExcludeFrom, 'X', "exclude-from")
            .with_argument("FILE", "exclude patterns listed in FILE"),
        Opt::long(TarFlag::ExcludeVcs, "exclude-vcs")
            .with_help("exclude version control directories"),
        Opt::long(TarFlag::StripComponents, "strip-components")
            .with_argument("N", "strip N leading components from file names"),
        Opt::long(TarFlag::Transform, "transform")
            .with_argument("EXPR", "replace names by a sed s/// expression"),
        Opt::long(TarFlag::Transform, "xform").with_argument("EXPR", "the same as --transform"),
        Opt::new(TarFlag::ToStdout, 'O', "to-stdout").with_help("extract files to standard output"),
        Opt::new(TarFlag::KeepOldFiles, 'k', "keep-old-files")
            .with_help("do not replace existing files"),
        Opt::long(TarFlag::SkipOldFiles, "skip-old-files")
            .with_help("silently skip existing files"),
        Opt::long(TarFlag::KeepNewerFiles, "keep-newer-files")
            .with_help("do not replace files newer than their copies"),
        Opt::long(TarFlag::Overwrite, "overwrite")
            .with_help("write into existing files instead of replacing them"),
        Opt::new(TarFlag::AbsoluteNames, 'P', "absolute-names")
            .with_help("do not strip leading slashes"),
        Opt::new(TarFlag::Dereference, 'h', "dereference")
            .with_help("archive the files that symbolic links point to"),
        Opt::long(TarFlag::NoRecursion, "no-recursion")
            .with_help("do not descend into directories"),
        Opt::long(TarFlag::Recursion, "recursion").with_help("descend into directories (default)"),
        Opt::new(TarFlag::PreservePermissions, 'p', "preserve-permissions")
            .with_help("extract exact permissions"),
        Opt::long(TarFlag::PreservePermissions, "same-permissions").with_help("the same"),
        Opt::new(TarFlag::Touch, 'm', "touch").with_help("do not extract modification times"),
        Opt::new(TarFlag::IgnoreZeros, 'i', "ignore-zeros").with_help("ignore zeroed blocks"),
        Opt::long(TarFlag::RemoveFiles, "remove-files").with_help("remove files after adding them"),
        Opt::new(TarFlag::FilesFrom, 'T', "files-from")
            .with_argument("FILE", "get names from FILE"),
        Opt::long(TarFlag::Null, "null").with_help("names from -T end with NUL"),
        Opt::long(TarFlag::Wildcards, "wildcards").with_help("member names are patterns"),
        Opt::long(TarFlag::NoWildcards, "no-wildcards").with_help("member names are literal"),
        Opt::long(TarFlag::NumericOwner, "numeric-owner")
            .with_help("use numbers for user and group names"),
        Opt::long(TarFlag::FullTime, "full-time")
            .with_help("print file time to its full resolution"),
        Opt::long(TarFlag::Mtime, "mtime")
            .with_argument("DATE", "set the time of added files: a date, @SECONDS or a file's"),
        Opt::long(TarFlag::Owner, "owner")
            .with_argument("NAME", "force NAME as owner of added files"),
        Opt::long(TarFlag::Group, "group")
            .with_argument("NAME", "force NAME as group of added files"),
        Opt::long(TarFlag::Sort, "sort")
            .with_argument("ORDER", "accepted: names are sorted always"),
        Opt::new(TarFlag::Format, 'H', "format")
            .with_argument("FORMAT", "accepted: the format is gnu always"),
        Opt::long(TarFlag::NoSameOwner, "no-same-owner")
            .with_help("extract files as yourself (default)"),
        Opt::long(TarFlag::SameOwner, "same-owner").with_help("accepted and ignored"),
        Opt::long(TarFlag::NoSamePermissions, "no-same-permissions")
            .with_help("apply the umask (default)"),
        Opt::new(TarFlag::BlockingFactor, 'b', "blocking-factor")
            .with_argument("N", "accepted and ignored"),
        Opt::long(TarFlag::Totals, "totals").may_take("SIGNAL", "accepted and ignored"),
        Opt::long(TarFlag::Warning, "warning").with_argument("KEYWORD", "accepted and ignored"),
        Opt::new(TarFlag::Sparse, 'S', "sparse").with_help("accepted and ignored"),
        Opt::new(TarFlag::OldArchive, 'o', "old-archive").with_help("accepted and ignored"),
        Opt::new(TarFlag::Interactive, 'w', "").with_help("refused: there is no terminal to ask"),
    ],
)
.posix_order();
