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
        Opt::new(TarFlag::Create, 'c', "create").says("create a new archive"),
        Opt::new(TarFlag::Append, 'r', "append").says("append files to the end of an archive"),
        Opt::new(TarFlag::List, 't', "list").says("list the contents of an archive"),
        Opt::new(TarFlag::Extract, 'x', "extract").says("extract files from an archive"),
        Opt::long(TarFlag::Extract, "get").says("the same as --extract"),
        Opt::new(TarFlag::File, 'f', "file")
            .takes("ARCHIVE", "use archive file ARCHIVE (- for standard input or output)"),
        Opt::new(TarFlag::Directory, 'C', "directory").takes("DIR", "change to directory DIR"),
        Opt::new(TarFlag::Gzip, 'z', "gzip").says("filter the archive through gzip"),
        Opt::long(TarFlag::Gzip, "gunzip").says("the same as --gzip"),
        Opt::new(TarFlag::Bzip2, 'j', "bzip2").says("filter the archive through bzip2"),
        Opt::new(TarFlag::Xz, 'J', "xz").says("filter the archive through xz"),
        Opt::long(TarFlag::Zstd, "zstd").says("filter the archive through zstd"),
        Opt::new(TarFlag::AutoCompress, 'a', "auto-compress")
            .says("use the archive suffix to determine the compression"),
        Opt::new(TarFlag::UseCompressProgram, 'I', "use-compress-program")
            .takes("PROG", "filter through gzip, bzip2, xz or zstd"),
        Opt::new(TarFlag::Verbose, 'v', "verbose").says("list files processed"),
        Opt::long(TarFlag::Exclude, "exclude")
            .takes("PATTERN", "exclude files, given as a PATTERN"),
        Opt::new(TarFlag::ExcludeFrom, 'X', "exclude-from")
            .takes("FILE", "exclude patterns listed in FILE"),
        Opt::long(TarFlag::ExcludeVcs, "exclude-vcs").says("exclude version control directories"),
        Opt::long(TarFlag::StripComponents, "strip-components")
            .takes("N", "strip N leading components from file names"),
        Opt::long(TarFlag::Transform, "transform")
            .takes("EXPR", "replace names by a sed s/// expression"),
        Opt::long(TarFlag::Transform, "xform").takes("EXPR", "the same as --transform"),
        Opt::new(TarFlag::ToStdout, 'O', "to-stdout").says("extract files to standard output"),
        Opt::new(TarFlag::KeepOldFiles, 'k', "keep-old-files")
            .says("do not replace existing files"),
        Opt::long(TarFlag::SkipOldFiles, "skip-old-files").says("silently skip existing files"),
        Opt::long(TarFlag::KeepNewerFiles, "keep-newer-files")
            .says("do not replace files newer than their copies"),
        Opt::long(TarFlag::Overwrite, "overwrite")
            .says("write into existing files instead of replacing them"),
        Opt::new(TarFlag::AbsoluteNames, 'P', "absolute-names")
            .says("do not strip leading slashes"),
        Opt::new(TarFlag::Dereference, 'h', "dereference")
            .says("archive the files that symbolic links point to"),
        Opt::long(TarFlag::NoRecursion, "no-recursion").says("do not descend into directories"),
        Opt::long(TarFlag::Recursion, "recursion").says("descend into directories (default)"),
        Opt::new(TarFlag::PreservePermissions, 'p', "preserve-permissions")
            .says("extract exact permissions"),
        Opt::long(TarFlag::PreservePermissions, "same-permissions").says("the same"),
        Opt::new(TarFlag::Touch, 'm', "touch").says("do not extract modification times"),
        Opt::new(TarFlag::IgnoreZeros, 'i', "ignore-zeros").says("ignore zeroed blocks"),
        Opt::long(TarFlag::RemoveFiles, "remove-files").says("remove files after adding them"),
        Opt::new(TarFlag::FilesFrom, 'T', "files-from").takes("FILE", "get names from FILE"),
        Opt::long(TarFlag::Null, "null").says("names from -T end with NUL"),
        Opt::long(TarFlag::Wildcards, "wildcards").says("member names are patterns"),
        Opt::long(TarFlag::NoWildcards, "no-wildcards").says("member names are literal"),
        Opt::long(TarFlag::NumericOwner, "numeric-owner")
            .says("use numbers for user and group names"),
        Opt::long(TarFlag::FullTime, "full-time").says("print file time to its full resolution"),
        Opt::long(TarFlag::Mtime, "mtime")
            .takes("DATE", "set the time of added files: a date, @SECONDS or a file's"),
        Opt::long(TarFlag::Owner, "owner").takes("NAME", "force NAME as owner of added files"),
        Opt::long(TarFlag::Group, "group").takes("NAME", "force NAME as group of added files"),
        Opt::long(TarFlag::Sort, "sort").takes("ORDER", "accepted: names are sorted always"),
        Opt::new(TarFlag::Format, 'H', "format")
            .takes("FORMAT", "accepted: the format is gnu always"),
        Opt::long(TarFlag::NoSameOwner, "no-same-owner")
            .says("extract files as yourself (default)"),
        Opt::long(TarFlag::SameOwner, "same-owner").says("accepted and ignored"),
        Opt::long(TarFlag::NoSamePermissions, "no-same-permissions")
            .says("apply the umask (default)"),
        Opt::new(TarFlag::BlockingFactor, 'b', "blocking-factor")
            .takes("N", "accepted and ignored"),
        Opt::long(TarFlag::Totals, "totals").may_take("SIGNAL", "accepted and ignored"),
        Opt::long(TarFlag::Warning, "warning").takes("KEYWORD", "accepted and ignored"),
        Opt::new(TarFlag::Sparse, 'S', "sparse").says("accepted and ignored"),
        Opt::new(TarFlag::OldArchive, 'o', "old-archive").says("accepted and ignored"),
        Opt::new(TarFlag::Interactive, 'w', "").says("refused: there is no terminal to ask"),
    ],
)
.posix_order();
