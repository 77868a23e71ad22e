//! The command lines of `gzip` and its relatives: most options are common to all, a few belong to one format.

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use crate::codec::Format;

/// What may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flag {
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
    /// Accepted, without effect.
    Ignored,
}

/// The options of all of them, with those of one.
macro_rules! spec {
    ($($own:expr),* $(,)?) => {
        Spec::new(
            "[OPTION]... [FILE]...",
            "Compress or decompress FILEs in place (by default, standard input to standard output).",
            &[
                Opt::new(Flag::Stdout, 'c', "stdout").says("write to standard output, keep input files"),
                Opt::long(Flag::Stdout, "to-stdout").says("the same as --stdout"),
                Opt::new(Flag::Decompress, 'd', "decompress").says("decompress"),
                Opt::long(Flag::Decompress, "uncompress").says("the same as --decompress"),
                Opt::new(Flag::Compress, 'z', "compress").says("compress"),
                Opt::new(Flag::Force, 'f', "force").says("overwrite existing output, compress links"),
                Opt::new(Flag::Keep, 'k', "keep").says("keep input files"),
                Opt::new(Flag::List, 'l', "list").says("list compressed file contents"),
                Opt::new(Flag::Quiet, 'q', "quiet").says("suppress warnings"),
                Opt::new(Flag::Recursive, 'r', "recursive").says("operate recursively on directories"),
                Opt::new(Flag::Suffix, 'S', "suffix").takes("SUF", "use suffix SUF on compressed files"),
                Opt::new(Flag::Test, 't', "test").says("test compressed file integrity"),
                Opt::new(Flag::Verbose, 'v', "verbose").says("say what is done"),
                Opt::new(Flag::Level(2), '2', ""),
                Opt::new(Flag::Level(3), '3', ""),
                Opt::new(Flag::Level(4), '4', ""),
                Opt::new(Flag::Level(5), '5', ""),
                Opt::new(Flag::Level(6), '6', ""),
                Opt::new(Flag::Level(7), '7', ""),
                Opt::new(Flag::Level(8), '8', ""),
                $($own),*
            ],
        )
        .after("With no FILE, or when FILE is -, read standard input.")
    };
}

const GZIP: Spec<Flag> = spec![
    Opt::new(Flag::Level(1), '1', "fast").says("compress faster"),
    Opt::new(Flag::Level(9), '9', "best").says("compress better; -6 is the default"),
    Opt::new(Flag::Ignored, 'n', "no-name").says("do not save or restore name and time stamp"),
    Opt::new(Flag::Ignored, 'N', "name").says("accepted and ignored"),
    Opt::long(Flag::Ignored, "rsyncable").says("accepted and ignored"),
];
const BZIP2: Spec<Flag> = spec![
    Opt::new(Flag::Level(1), '1', "fast").says("blocks of 100 kB"),
    Opt::new(Flag::Level(9), '9', "best").says("blocks of 900 kB"),
    Opt::new(Flag::Ignored, 's', "small").says("accepted and ignored"),
];
const XZ: Spec<Flag> = spec![
    Opt::new(Flag::Level(0), '0', "").says("the fastest preset"),
    Opt::new(Flag::Level(1), '1', "fast").says("compress faster"),
    Opt::new(Flag::Level(9), '9', "best").says("compress better; -6 is the default"),
    Opt::new(Flag::Ignored, 'e', "extreme").says("accepted and ignored"),
    Opt::new(Flag::Format, 'F', "format").takes("FORMAT", "auto or xz"),
    Opt::new(Flag::Ignored, 'T', "threads").takes("NUM", "accepted and ignored"),
    Opt::new(Flag::Ignored, 'M', "memlimit").takes("LIMIT", "accepted and ignored"),
    Opt::new(Flag::Ignored, 'Q', "no-warn").says("warnings do not change the exit status"),
];
const ZSTD: Spec<Flag> = spec![
    Opt::new(Flag::Level(0), '0', ""),
    Opt::new(Flag::Level(1), '1', "").says("levels 1 to 22 are accepted; there is one"),
    Opt::new(Flag::Level(9), '9', ""),
    Opt::new(Flag::Output, 'o', "").takes("FILE", "write to FILE"),
    Opt::long(Flag::Remove, "rm").says("remove input files"),
    Opt::long(Flag::Ignored, "fast").may_take("NUM", "accepted and ignored"),
    Opt::long(Flag::Ignored, "ultra").says("accepted and ignored"),
    Opt::long(Flag::Ignored, "long").may_take("NUM", "accepted and ignored"),
    Opt::new(Flag::Ignored, 'T', "threads").takes("NUM", "accepted and ignored"),
    Opt::long(Flag::Ignored, "no-progress").says("accepted and ignored"),
];

/// What is to be done, from name and options.
pub(super) struct Job {
    pub format: Format,
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
    /// Where everything goes, instead of a file for each.
    pub output: Option<Vec<u8>>,
}

/// What the command's name and options ask for, and the operands, at least `-`; `Err` after a message or help.
pub(super) fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<(Job, Vec<Vec<u8>>), Exit> {
    let name = ctx.name.clone();
    let (format, spec) = match name.as_str() {
        "bzip2" | "bunzip2" | "bzcat" => (Format::Bzip2, BZIP2),
        "xz" | "unxz" | "xzcat" => (Format::Xz, XZ),
        "zstd" | "unzstd" | "zstdcat" => (Format::Zstd, ZSTD),
        _ => (Format::Gzip, GZIP),
    };
    let given = spec.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(other) = given.last(Flag::Format).filter(|f| !matches!(*f, b"auto" | b"xz")) {
        ctx.error_bytes(&[b"the format ", other, b" is not supported"]);
        return Err(Exit::FAILURE);
    }
    let cat = name.ends_with("cat");
    if format == Format::Gzip {
        // `gunzip` and `zcat` are scripts that call it.
        ctx.name = "gzip".into();
    }
    let (test, list) = (given.has(Flag::Test), given.has(Flag::List));
    let direction = given.choice(&[(Flag::Decompress, true), (Flag::Compress, false)]);
    let levels = given.options.iter().rev().filter_map(|(flag, _)| match flag {
        Flag::Level(level) => Some(*level),
        _ => None,
    });
    let job = Job {
        format,
        decompress: test || list || direction.unwrap_or(cat || name.contains("un")),
        to_stdout: cat || given.has(Flag::Stdout),
        test,
        list,
        // zstd keeps its input by default.
        keep: given.has(Flag::Keep) || format == Format::Zstd && !given.has(Flag::Remove),
        force: given.has(Flag::Force),
        quiet: given.has(Flag::Quiet),
        verbose: given.has(Flag::Verbose),
        recursive: given.has(Flag::Recursive),
        level: levels.into_iter().next().unwrap_or(6),
        output: given.last(Flag::Output).map(<[u8]>::to_vec),
        suffix: given.last(Flag::Suffix).map_or_else(|| format.suffix().into(), <[u8]>::to_vec),
    };
    let operands = if given.operands.is_empty() { vec![b"-".to_vec()] } else { given.operands };
    Ok((job, operands))
}
