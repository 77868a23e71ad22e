//! The command lines of `gzip` and its relatives. Most options are common to all of them, and a few
//! belong to one format.

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use crate::codec::CompressionFormat;

/// An option of `gzip` and its relatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CompressFlag {
    Stdout,
    Decompress,
    Compress,
    Force,
    Keep,
    List,
    Quiet,
    Recursive,
    Suffix,
    Test,
    Verbose,
    Level(u32),
    /// xz's `--format`.
    Format,
    /// zstd's `-o`.
    Output,
    /// zstd's `--rm`.
    Remove,
    /// gzip's `-n`.
    NoName,
    /// gzip's `-N`.
    Name,
    /// An option that is accepted without effect.
    Ignored,
}

/// Makes the specification of a command from the common options and its own.
macro_rules! spec {
    ($($own:expr),* $(,)?) => {
        Spec::new(
            "[OPTION]... [FILE]...",
            "Compress or decompress FILEs in place (by default, standard input to standard output).",
            &[
                Opt::new(CompressFlag::Stdout, 'c', "stdout").with_help("Write to standard output, keep input files"),
                Opt::long(CompressFlag::Stdout, "to-stdout").with_help("The same as --stdout"),
                Opt::new(CompressFlag::Decompress, 'd', "decompress").with_help("Decompress"),
                Opt::long(CompressFlag::Decompress, "uncompress").with_help("The same as --decompress"),
                Opt::new(CompressFlag::Compress, 'z', "compress").with_help("Compress"),
                Opt::new(CompressFlag::Force, 'f', "force").with_help("Overwrite existing output, compress links"),
                Opt::new(CompressFlag::Keep, 'k', "keep").with_help("Keep input files"),
                Opt::new(CompressFlag::List, 'l', "list").with_help("Print the sizes of compressed files"),
                Opt::new(CompressFlag::Quiet, 'q', "quiet").with_help("Suppress warnings"),
                Opt::new(CompressFlag::Recursive, 'r', "recursive").with_help("Work on all files below directories"),
                Opt::new(CompressFlag::Suffix, 'S', "suffix").with_argument("SUF", "End the names of compressed files with SUF"),
                Opt::new(CompressFlag::Test, 't', "test").with_help("Check the integrity of compressed files"),
                Opt::new(CompressFlag::Verbose, 'v', "verbose").with_help("Report each file that is handled"),
                Opt::new(CompressFlag::Level(2), '2', ""),
                Opt::new(CompressFlag::Level(3), '3', ""),
                Opt::new(CompressFlag::Level(4), '4', ""),
                Opt::new(CompressFlag::Level(5), '5', ""),
                Opt::new(CompressFlag::Level(6), '6', ""),
                Opt::new(CompressFlag::Level(7), '7', ""),
                Opt::new(CompressFlag::Level(8), '8', ""),
                $($own),*
            ],
        )
        .with_footer("Without FILE, or where FILE is -, standard input is read.")
    };
}

const GZIP: Spec<CompressFlag> = spec![
    Opt::new(CompressFlag::Level(1), '1', "fast").with_help("Compress faster"),
    Opt::new(CompressFlag::Level(9), '9', "best").with_help("Compress better; -6 is the default"),
    Opt::new(CompressFlag::NoName, 'n', "no-name")
        .with_help("Neither store nor restore a name and a time (always, except for -l)"),
    Opt::new(CompressFlag::Name, 'N', "name").with_help("With -l, show the stored name and time"),
    Opt::long(CompressFlag::Ignored, "rsyncable").with_help(words::IGNORED),
]
.with_examples(&[
    ("gzip FILE", "Compress FILE to FILE.gz"),
    ("gzip -dk FILE.gz", "Decompress, and keep FILE.gz"),
    ("gzip -dc FILE.gz | head", "Look at the contents"),
]);
const BZIP2: Spec<CompressFlag> = spec![
    Opt::new(CompressFlag::Level(1), '1', "fast").with_help("Blocks of 100 kB"),
    Opt::new(CompressFlag::Level(9), '9', "best").with_help("Blocks of 900 kB"),
    Opt::new(CompressFlag::Ignored, 's', "small").with_help(words::IGNORED),
]
.with_examples(&[
    ("bzip2 FILE", "Compress FILE to FILE.bz2"),
    ("bzip2 -dk FILE.bz2", "Decompress, and keep FILE.bz2"),
    ("bzip2 -dc FILE.bz2 | head", "Look at the contents"),
]);
const XZ: Spec<CompressFlag> = spec![
    Opt::new(CompressFlag::Level(0), '0', "").with_help("The fastest preset"),
    Opt::new(CompressFlag::Level(1), '1', "fast").with_help("Compress faster"),
    Opt::new(CompressFlag::Level(9), '9', "best").with_help("Compress better; -6 is the default"),
    Opt::new(CompressFlag::Ignored, 'e', "extreme").with_help(words::IGNORED),
    Opt::new(CompressFlag::Format, 'F', "format").with_argument("FORMAT", "auto or xz"),
    Opt::new(CompressFlag::Ignored, 'T', "threads").with_argument("NUM", words::IGNORED),
    Opt::new(CompressFlag::Ignored, 'M', "memlimit").with_argument("LIMIT", words::IGNORED),
    Opt::new(CompressFlag::Ignored, 'Q', "no-warn")
        .with_help("Warnings do not change the exit status"),
]
.with_examples(&[
    ("xz FILE", "Compress FILE to FILE.xz"),
    ("xz -dk FILE.xz", "Decompress, and keep FILE.xz"),
    ("xz -dc FILE.xz | head", "Look at the contents"),
]);
const ZSTD: Spec<CompressFlag> = spec![
    Opt::new(CompressFlag::Level(0), '0', ""),
    Opt::new(CompressFlag::Level(1), '1', "")
        .with_help("Levels 1 to 22 are accepted; all compress alike"),
    Opt::new(CompressFlag::Level(9), '9', ""),
    Opt::new(CompressFlag::Output, 'o', "").with_argument("FILE", "Write to FILE"),
    Opt::long(CompressFlag::Remove, "rm").with_help("Remove input files"),
    Opt::long(CompressFlag::Ignored, "fast").may_take("NUM", words::IGNORED),
    Opt::long(CompressFlag::Ignored, "ultra").with_help(words::IGNORED),
    Opt::long(CompressFlag::Ignored, "long").may_take("NUM", words::IGNORED),
    Opt::new(CompressFlag::Ignored, 'T', "threads").with_argument("NUM", words::IGNORED),
    Opt::long(CompressFlag::Ignored, "no-progress").with_help(words::IGNORED),
]
.with_examples(&[
    ("zstd FILE", "Compress FILE to FILE.zst, and keep FILE"),
    ("zstd -d FILE.zst", "Decompress to FILE"),
    ("zstd -dc FILE.zst | head", "Look at the contents"),
]);

/// The length of `(stdin)`, which is the minimum width of names in bzip2's messages.
const BZIP2_STDIN: usize = 7;

/// The settings that follow from the command's name and options.
pub(super) struct CompressJob {
    pub format: CompressionFormat,
    pub decompress: bool,
    pub to_stdout: bool,
    pub test: bool,
    pub list: bool,
    pub keep: bool,
    pub force: bool,
    pub quiet: bool,
    pub verbose: bool,
    pub recursive: bool,
    pub level: u32,
    pub suffix: Vec<u8>,
    /// Whether `gzip -l` shows the stored name and time.
    pub use_name: bool,
    pub operands: usize,
    /// The length of the longest operand, to which bzip2 pads the names that `-v` prints.
    pub name_width: usize,
    /// The single output file that replaces a file for each input.
    pub output: Option<Vec<u8>>,
}

impl CompressJob {
    /// Returns whether zstd prints the sizes of decompressed files even without `-v`.
    pub fn is_zstd_summary(&self) -> bool {
        self.format == CompressionFormat::Zstd
            && self.decompress
            && !self.quiet
            && !(self.to_stdout || self.list)
    }

    /// Returns whether the sizes of each file are printed without `-v`.
    pub fn has_summary(&self) -> bool {
        self.is_zstd_summary() && self.operands == 1
    }
}

/// Returns the settings that follow from the command's name and options, and the operands, which
/// are `-` if none are given.
///
/// # Errors
/// The command line is wrong, or it asks for help. The error is the exit status; the text has been
/// printed.
pub(super) fn parse(
    ctx: &mut Ctx<'_>,
    args: &[Vec<u8>],
) -> Result<(CompressJob, Vec<Vec<u8>>), Exit> {
    let name = ctx.name.clone();
    let (format, spec) = match name.as_str() {
        "bzip2" | "bunzip2" | "bzcat" => (CompressionFormat::Bzip2, BZIP2),
        "xz" | "unxz" | "xzcat" => (CompressionFormat::Xz, XZ),
        "zstd" | "unzstd" | "zstdcat" => (CompressionFormat::Zstd, ZSTD),
        _ => (CompressionFormat::Gzip, GZIP),
    };
    let given = spec.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(other) =
        given.last_value(CompressFlag::Format).filter(|f| !matches!(*f, b"auto" | b"xz"))
    {
        ctx.error_bytes(&[b"the format ", other, b" is not supported"]);
        return Err(Exit::FAILURE);
    }
    let cat = name.ends_with("cat");
    if format == CompressionFormat::Gzip {
        // The original `gunzip` and `zcat` are scripts that call gzip, so messages have its name.
        ctx.name = "gzip".into();
    }
    let (test, list) = (given.has_option(CompressFlag::Test), given.has_option(CompressFlag::List));
    let direction =
        given.last_choice(&[(CompressFlag::Decompress, true), (CompressFlag::Compress, false)]);
    let levels = given.options.iter().rev().filter_map(|(flag, _)| match flag {
        CompressFlag::Level(level) => Some(*level),
        _ => None,
    });
    let operands =
        if given.operands.is_empty() { vec![b"-".to_vec()] } else { given.operands.clone() };
    let job = CompressJob {
        format,
        decompress: test || list || direction.unwrap_or(cat || name.contains("un")),
        to_stdout: cat || given.has_option(CompressFlag::Stdout),
        test,
        list,
        // zstd keeps its input by default.
        keep: given.has_option(CompressFlag::Keep)
            || format == CompressionFormat::Zstd && !given.has_option(CompressFlag::Remove),
        force: given.has_option(CompressFlag::Force),
        quiet: given.has_option(CompressFlag::Quiet),
        verbose: given.has_option(CompressFlag::Verbose),
        recursive: given.has_option(CompressFlag::Recursive),
        level: levels.into_iter().next().unwrap_or(format.default_level()),
        output: given.last_value(CompressFlag::Output).map(<[u8]>::to_vec),
        use_name: given
            .last_choice(&[(CompressFlag::Name, true), (CompressFlag::NoName, false)])
            .unwrap_or(false),
        operands: operands.len(),
        name_width: operands.iter().map(Vec::len).max().unwrap_or(0).max(BZIP2_STDIN),
        suffix: given
            .last_value(CompressFlag::Suffix)
            .map_or_else(|| format.suffix().into(), <[u8]>::to_vec),
    };
    Ok((job, operands))
}
