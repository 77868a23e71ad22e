//! Files that well-known tools read, write and delete, found by a table of their options and the
//! roles of their operands. A tool that is not in the table has no files listed.

use crate::command::base_name;
use crate::options::{OptionLetters, SplitArguments, split_arguments};
use crate::report::{Access, CommandUse, FileUse, ScriptWord};

use Access::{Delete, Read, Write};

/// The role of a tool's operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Nothing,
    Each(Access),
    /// The first operand is not a file, unless one of these options is given.
    AfterFirst(&'static [&'static str], Access),
    /// All but the last are read, the last is written.
    Copy,
    /// All but the last are deleted, the last is written.
    Move,
    /// The last is written (created); the others are names only.
    Link,
    /// The first is read, the second written.
    Filter,
    /// The file is read and replaced by another, or only read if one of these options is given.
    Replace(&'static [&'static str]),
    Sed,
    Tar,
    Dd,
    Zip,
}

struct FileTool {
    names: &'static [&'static str],
    short: &'static str,
    long: &'static [&'static str],
    role: Role,
    /// Options whose value is a file.
    files: &'static [(&'static str, Access)],
}

const fn t(names: &'static [&'static str], short: &'static str, role: Role) -> FileTool {
    FileTool { names, short, long: &[], role, files: &[] }
}

const TOOLS: &[FileTool] = &[
    t(
        &[
            "b2sum",
            "base32",
            "base64",
            "basenc",
            "cat",
            "cksum",
            "cmp",
            "comm",
            "expand",
            "file",
            "fmt",
            "fold",
            "head",
            "hexdump",
            "join",
            "less",
            "ls",
            "md5sum",
            "more",
            "nl",
            "od",
            "paste",
            "pr",
            "readlink",
            "realpath",
            "rev",
            "sha1sum",
            "sha224sum",
            "sha256sum",
            "sha384sum",
            "sha512sum",
            "shasum",
            "stat",
            "strings",
            "sum",
            "tac",
            "tail",
            "unexpand",
            "wc",
            "xxd",
            "zcat",
            "bzcat",
            "xzcat",
            "zstdcat",
            "diff",
            "du",
            "cut",
            "tree",
        ],
        "",
        Role::Each(Read),
    ),
    t(&["rm", "rmdir", "unlink", "shred"], "ns", Role::Each(Delete)),
    FileTool {
        names: &["touch"],
        short: "dtr",
        long: &["date", "reference"],
        role: Role::Each(Write),
        files: &[("r", Read), ("reference", Read)],
    },
    t(&["tee", "mkfifo", "sync"], "", Role::Each(Write)),
    t(&["mkdir"], "m", Role::Each(Write)),
    t(&["truncate"], "sr", Role::Each(Write)),
    t(&["chmod", "chown", "chgrp"], "", Role::AfterFirst(&["reference"], Write)),
    FileTool {
        names: &["cp", "install"],
        short: "tSmog",
        long: &["target-directory", "suffix", "mode", "owner", "group"],
        role: Role::Copy,
        files: &[("t", Write), ("target-directory", Write)],
    },
    FileTool {
        names: &["mv"],
        short: "tS",
        long: &["target-directory", "suffix"],
        role: Role::Move,
        files: &[("t", Write), ("target-directory", Write)],
    },
    FileTool {
        names: &["ln"],
        short: "tS",
        long: &["target-directory", "suffix"],
        role: Role::Link,
        files: &[("t", Write), ("target-directory", Write)],
    },
    t(&["uniq"], "fsw", Role::Filter),
    FileTool {
        names: &["sort"],
        short: "ktoST",
        long: &["key", "field-separator", "output", "buffer-size", "temporary-directory"],
        role: Role::Each(Read),
        files: &[("o", Write), ("output", Write), ("files0-from", Read)],
    },
    FileTool {
        names: &["grep", "egrep", "fgrep", "zgrep", "rg"],
        short: "efmABCdD",
        long: &["regexp", "file", "max-count", "include", "exclude", "exclude-dir"],
        role: Role::AfterFirst(&["e", "f", "regexp", "file"], Read),
        files: &[("f", Read), ("file", Read)],
    },
    FileTool {
        names: &["awk", "gawk", "mawk", "nawk"],
        short: "Ffvei",
        long: &["field-separator", "file", "assign"],
        role: Role::AfterFirst(&["f", "file", "e"], Read),
        files: &[],
    },
    FileTool {
        names: &["sed"],
        short: "efl",
        long: &["expression", "file", "line-length"],
        role: Role::Sed,
        files: &[],
    },
    FileTool {
        names: &["jq"],
        short: "fL",
        long: &["from-file"],
        role: Role::AfterFirst(&["f", "from-file"], Read),
        files: &[("f", Read), ("from-file", Read), ("slurpfile", Read), ("rawfile", Read)],
    },
    FileTool {
        names: &["patch"],
        short: "pidoBDFgVY",
        long: &["input", "output", "directory", "strip"],
        role: Role::Each(Write),
        files: &[("i", Read), ("input", Read), ("o", Write), ("output", Write)],
    },
    t(
        &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd"],
        "S",
        Role::Replace(&["c", "stdout", "to-stdout", "l", "t", "list", "test"]),
    ),
    FileTool {
        names: &["tar"],
        short: "fCTXbKNVgHILF",
        long: &["file", "directory", "files-from", "exclude-from", "exclude", "transform"],
        role: Role::Tar,
        files: &[("T", Read), ("files-from", Read), ("X", Read), ("exclude-from", Read)],
    },
    t(&["dd"], "", Role::Dd),
    t(&["zip"], "xi", Role::Zip),
    t(&["unzip"], "dx", Role::Each(Read)),
    t(&["split", "csplit"], "abClnt", Role::Nothing),
    FileTool {
        names: &["curl"],
        short: "oTXHduAbceFmw",
        long: &["output", "upload-file", "request", "header", "data", "user"],
        role: Role::Nothing,
        files: &[("o", Write), ("output", Write), ("T", Read), ("upload-file", Read)],
    },
    FileTool {
        names: &["wget"],
        short: "OoPU",
        long: &["output-document", "output-file"],
        role: Role::Nothing,
        files: &[("O", Write), ("output-document", Write), ("o", Write), ("output-file", Write)],
    },
    FileTool {
        names: &["uudecode"],
        short: "o",
        long: &["output-file"],
        role: Role::Each(Read),
        files: &[("o", Write), ("output-file", Write)],
    },
    t(&["mktemp"], "p", Role::Nothing),
];

/// The short options that take a value, for each tool in the large row of [`TOOLS`] that only reads
/// files.
const READERS: &[(&str, &str)] = &[
    ("head", "nc"),
    ("tail", "ncs"),
    ("cut", "bcdf"),
    ("fold", "w"),
    ("fmt", "wp"),
    ("nl", "bdfhilnsvw"),
    ("od", "AjNStw"),
    ("join", "12aeijotv"),
    ("paste", "d"),
    ("pr", "DehilnNoSswW"),
    ("ls", "ITw"),
    ("diff", "CUFIWx"),
    ("du", "dBtX"),
    ("stat", "cf"),
    ("tac", "s"),
    ("base64", "w"),
    ("xxd", "clos"),
    ("shasum", "a"),
    ("strings", "nte"),
    ("expand", "t"),
    ("unexpand", "t"),
    ("cmp", "in"),
    ("hexdump", "efns"),
    ("tree", "LPIo"),
    ("wc", ""),
    ("comm", ""),
];

fn find_tool(name: &[u8]) -> Option<&'static FileTool> {
    TOOLS.iter().find(|t| t.names.iter().any(|n| n.as_bytes() == name))
}

/// Returns the options of a tool.
pub(crate) fn tool_options(name: &[u8]) -> OptionLetters {
    let reader = READERS.iter().find(|(n, _)| n.as_bytes() == name).map(|(_, s)| *s);
    match find_tool(name) {
        Some(t) => OptionLetters { short: reader.unwrap_or(t.short), long: t.long, ordered: false },
        None => OptionLetters::default(),
    }
}

/// Adds the files of a command.
pub(crate) fn of_command(c: &CommandUse, out: &mut Vec<FileUse>) {
    let Some(name) = c.name.known_text() else { return };
    let name = base_name(name);
    let Some(tool) = find_tool(name) else { return };
    let mut s = split_arguments(&c.args, tool_options(name));
    if c.more_args {
        s.operands.push(ScriptWord { text: Vec::new(), dynamic: true, expands: false });
    }
    if s.has_any(&["help", "version"]) {
        return;
    }
    let mut put = |path: &ScriptWord, access: Access| {
        out.push(FileUse {
            path: path.clone(),
            access,
            by: name.to_vec(),
            line: c.line,
            context: c.context.clone(),
        });
    };
    for (option, access) in tool.files {
        s.option_values(&[option]).for_each(|v| put(v, *access));
    }
    let operands = s.operands.as_slice();
    match tool.role {
        Role::Nothing => {}
        Role::Each(a) => operands.iter().for_each(|o| put(o, a)),
        Role::AfterFirst(unless, a) => {
            let skip = usize::from(!s.has_any(unless));
            operands.iter().skip(skip).for_each(|o| put(o, a));
        }
        Role::Copy | Role::Move | Role::Link => copy_files(tool.role, name, &s, put),
        Role::Filter => {
            operands.iter().take(1).for_each(|o| put(o, Read));
            operands.iter().skip(1).for_each(|o| put(o, Write));
        }
        Role::Replace(only_read) => {
            let replaces = !s.has_any(only_read);
            let keeps = s.has_any(&["k", "keep"]);
            for o in operands {
                put(o, Read);
                if replaces {
                    put(o, if keeps { Write } else { Delete });
                }
            }
        }
        Role::Sed => sed_files(&s, operands, put),
        Role::Tar => tar_files(&c.args, &s, put),
        Role::Dd => dd_files(operands, put),
        Role::Zip => {
            operands.iter().take(1).for_each(|o| put(o, Write));
            operands.iter().skip(1).for_each(|o| put(o, Read));
        }
    }
}

/// Records the sources and the target of `cp`, `mv`, `ln` and `install`.
fn copy_files(
    role: Role,
    name: &[u8],
    s: &SplitArguments,
    mut put: impl FnMut(&ScriptWord, Access),
) {
    let operands = s.operands.as_slice();
    if s.has_any(&["t", "target-directory"]) {
        return source_files(role, operands, put);
    }
    if name == b"install" && s.has_any(&["d", "directory"]) {
        return operands.iter().for_each(|o| put(o, Write));
    }
    if let Some((last, rest)) = operands.split_last() {
        // `ln target` creates the link in the current directory.
        put(last, Write);
        source_files(role, rest, put);
    }
}

fn source_files(role: Role, operands: &[ScriptWord], mut put: impl FnMut(&ScriptWord, Access)) {
    let access = match role {
        Role::Move => Delete,
        Role::Copy => Read,
        _ => return,
    };
    operands.iter().for_each(|o| put(o, access));
}

/// Records `if=` and `of=`.
fn dd_files(operands: &[ScriptWord], mut put: impl FnMut(&ScriptWord, Access)) {
    for o in operands {
        for (key, access) in [(&b"if="[..], Read), (b"of=", Write)] {
            if o.starts_with(key) {
                put(&o.tail_from(3), access);
            }
        }
    }
}

fn sed_files(
    s: &SplitArguments,
    operands: &[ScriptWord],
    mut put: impl FnMut(&ScriptWord, Access),
) {
    let given = s.has_any(&["e", "f", "expression", "file"]);
    // `-i.bak` is split into letters, the first of which is `i`.
    let in_place = s.has_any(&["i", "in-place"]);
    for o in operands.iter().skip(usize::from(!given)) {
        put(o, Read);
        if in_place {
            put(o, Write);
        }
    }
    s.option_values(&["f", "file"]).for_each(|f| put(f, Read));
}

/// Records the files of `tar`, which takes its first word's letters as options even without a dash.
fn tar_files(args: &[ScriptWord], s: &SplitArguments, mut put: impl FnMut(&ScriptWord, Access)) {
    let mut old = None;
    if let Some(first) = args.first().filter(|a| !a.dynamic && !a.starts_with(b"-")) {
        old = Some(first.text.clone());
    }
    let has = |short: &str, long: &str| {
        let letter = short.as_bytes().first().copied().unwrap_or(0);
        s.has_any(&[short, long]) || old.as_ref().is_some_and(|o| o.contains(&letter))
    };
    let create = has("c", "create");
    let change = has("r", "append") || has("u", "update") || s.has_any(&["delete", "concatenate"]);
    let extract = has("x", "extract") || s.has_option("get");
    let mut operands = s.operands.iter().skip(usize::from(old.is_some()));
    let mut archive = s.option_values(&["f", "file"]).next();
    if archive.is_none() && old.as_ref().is_some_and(|o| o.contains(&b'f')) {
        archive = operands.next();
    }
    if let Some(f) = archive {
        put(f, if create || change { Write } else { Read });
    }
    if create || change {
        operands.for_each(|o| put(o, Read));
    } else if extract {
        let here = ScriptWord { text: b".".to_vec(), ..ScriptWord::default() };
        put(s.option_values(&["C", "directory"]).last().unwrap_or(&here), Write);
    }
}
