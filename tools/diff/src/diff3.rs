//! `diff3` (GNU diffutils 3.8): three files compared, or merged.
//!
//! The other two files are compared with a base: the third file for the plain listing, the second
//! for scripts and merges. Changes whose places in the base are adjacent are one [`Block`].
//! `--diff-program` is absent, because the comparison is that of `diff`.

use std::io::{self, Write};
use std::ops::Range;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::diff::compare::{Equality, LineChange, find_changes, split_lines};

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Diff3Flag {
    ShowAll,
    Ed,
    ShowOverlap,
    EasyOnly,
    OverlapOnly,
    OldOverlapOnly,
    FinalWrite,
    Merge,
    Text,
    StripTrailingCr,
    InitialTab,
    Label,
}

const SPEC: Spec<Diff3Flag> = Spec::new(
    "[OPTION]... MINE OLD YOURS",
    "Show how three files differ, or merge two changes of an old one.",
    &[
        Opt::new(Diff3Flag::ShowAll, 'A', "show-all")
            .with_help("Print all changes as ed commands, with conflicts marked"),
        Opt::new(Diff3Flag::Ed, 'e', "ed")
            .with_help("Print ed commands for the changes from OLD to YOURS"),
        Opt::new(Diff3Flag::ShowOverlap, 'E', "show-overlap")
            .with_help("Like -e, with conflicts marked"),
        Opt::new(Diff3Flag::EasyOnly, '3', "easy-only").with_help("Like -e, without conflicts"),
        Opt::new(Diff3Flag::OverlapOnly, 'x', "overlap-only").with_help("Like -e, conflicts only"),
        Opt::new(Diff3Flag::OldOverlapOnly, 'X', "").with_help("Like -x, with conflicts marked"),
        Opt::new(Diff3Flag::FinalWrite, 'i', "")
            .with_help("Add commands that write the file and quit"),
        Opt::new(Diff3Flag::Merge, 'm', "merge").with_help(
            "Print the merged file, with conflicts marked unless another option is given",
        ),
        Opt::new(Diff3Flag::Text, 'a', "text")
            .with_help("Compare as text, whatever the files hold"),
        Opt::long(Diff3Flag::StripTrailingCr, "strip-trailing-cr")
            .with_help("Ignore a carriage return at the end of a line"),
        Opt::new(Diff3Flag::InitialTab, 'T', "initial-tab")
            .with_help("Begin lines with a tab, so that their tabs line up"),
        Opt::new(Diff3Flag::Label, 'L', "label")
            .with_argument("LABEL", "Print LABEL instead of a name; once for each file"),
    ],
)
.with_examples(&[("diff3 -m MINE OLD YOURS", "Merge two changes of one file")])
.with_footer(
    "Standard input is read for a FILE named -. Exit status: 0 if all went well, 1 if \
        there are conflicts, 2 after an error.",
);

/// Kinds of output, of which a run has one.
const KINDS: &[Diff3Flag] = &[
    Diff3Flag::ShowAll,
    Diff3Flag::Ed,
    Diff3Flag::ShowOverlap,
    Diff3Flag::EasyOnly,
    Diff3Flag::OverlapOnly,
    Diff3Flag::OldOverlapOnly,
];

/// The settings of a run.
struct Diff3Options {
    merge: bool,
    /// Whether an ed script is written, not a listing.
    script: bool,
    /// Whether conflicts are bracketed.
    brackets: bool,
    /// Whether conflicts show the old lines, and equal changes in both files are conflicts.
    old: bool,
    easy_only: bool,
    overlap_only: bool,
    final_write: bool,
    initial_tab: bool,
    equality: Equality,
}

/// The file whose lines differ from those of the other two.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OddFile {
    /// The index of the file: 0 mine, 1 old, 2 yours.
    File(usize),
    All,
}

/// A place where the three files differ, with the lines of each file.
struct Block {
    odd: OddFile,
    lines: [Range<usize>; 3],
}

type Lines<'a> = [Vec<&'a [u8]>; 3];

/// Runs `diff3`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    let labels: Vec<Vec<u8>> = parsed.all_values(Diff3Flag::Label).map(<[u8]>::to_vec).collect();
    if labels.len() > 3 {
        return Ok(report_usage(ctx, &[b"too many file label options"]));
    }
    let Some(options) = parse_options(&parsed, labels.len()) else {
        return Ok(report_usage(ctx, &[b"incompatible options"]));
    };
    let names = match parsed.operands.as_slice() {
        [mine, old, yours] => [mine, old, yours],
        [] => return Ok(report_usage(ctx, &[b"missing operand after 'diff3'"])),
        [_, _, _, extra, ..] => return Ok(report_usage(ctx, &[b"extra operand '", extra, b"'"])),
        [.., last] => return Ok(report_usage(ctx, &[b"missing operand after '", last, b"'"])),
    };
    let texts = read(ctx, names, parsed.has_option(Diff3Flag::Text))?;
    let label = |i: usize| labels.get(i).map_or(names[i].as_slice(), Vec::as_slice);
    let labels = [label(0), label(1), label(2)];
    let all = [split_lines(&texts[0]), split_lines(&texts[1]), split_lines(&texts[2])];
    let mut out = Vec::new();
    let base = if options.script || options.merge { 1 } else { 2 };
    let blocks = find_blocks(&all, base, options.equality);
    let conflicts = if options.merge {
        write_merge(&mut out, &options, &all, &blocks, &labels)
    } else if options.script {
        write_script(&mut out, &options, &all, &blocks, &labels)
    } else {
        write_listing(&mut out, &all, &blocks, options.initial_tab);
        false
    };
    Ok(match ctx.stdout.write_all(&out).and_then(|()| ctx.stdout.flush()) {
        Ok(()) if conflicts => Exit::FAILURE,
        Ok(()) => Exit::SUCCESS,
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Exit::SIGPIPE,
        Err(_) => Exit::USAGE,
    })
}

/// Reads the three texts; binary ones only if `as_text` is set.
fn read(ctx: &mut Ctx<'_>, names: [&Vec<u8>; 3], as_text: bool) -> Result<[Vec<u8>; 3], Exit> {
    if names.iter().filter(|n| n.as_slice() == b"-").count() > 1 {
        ctx.error("'-' specified for more than one input file");
        return Err(Exit::USAGE);
    }
    let mut texts = [Vec::new(), Vec::new(), Vec::new()];
    for (name, text) in names.iter().zip(&mut texts) {
        *text = ctx.read(name).map_err(|e| {
            ctx.io_error(name, &e);
            Exit::USAGE
        })?;
        if !as_text && text.contains(&0) {
            let [mine, old, yours] = names;
            ctx.error_bytes(&[b"Binary files ", mine, b", ", old, b" and ", yours, b" differ"]);
            return Err(Exit::USAGE);
        }
    }
    Ok(texts)
}

fn report_usage(ctx: &mut Ctx<'_>, message: &[&[u8]]) -> Exit {
    ctx.error_bytes(message);
    let _ = ctx.stderr.write_all(b"diff3: Try 'diff3 --help' for more information.\n");
    Exit::USAGE
}

/// Resolves the options; `None` if they contradict each other.
fn parse_options(parsed: &ParsedOptions<Diff3Flag>, labels: usize) -> Option<Diff3Options> {
    let given: usize = KINDS.iter().map(|flag| parsed.count_of(*flag)).sum();
    let (merge, final_write) =
        (parsed.has_option(Diff3Flag::Merge), parsed.has_option(Diff3Flag::FinalWrite));
    let all = parsed.has_option(Diff3Flag::ShowAll) || merge && given == 0;
    // The manual documents brackets for `-X`, but GNU diff3 writes none.
    let brackets = all || parsed.has_option(Diff3Flag::ShowOverlap);
    if given > 1 || merge && final_write || labels > 0 && !brackets {
        return None;
    }
    Some(Diff3Options {
        merge,
        script: given > 0 && !merge,
        brackets,
        old: all,
        easy_only: parsed.has_option(Diff3Flag::EasyOnly),
        overlap_only: parsed.has_option(Diff3Flag::OverlapOnly)
            || parsed.has_option(Diff3Flag::OldOverlapOnly),
        final_write,
        initial_tab: parsed.has_option(Diff3Flag::InitialTab),
        equality: Equality {
            carriage_return: parsed.has_option(Diff3Flag::StripTrailingCr),
            ..Equality::default()
        },
    })
}

/// Returns the blocks, in order.
fn find_blocks(all: &Lines<'_>, base: usize, equality: Equality) -> Vec<Block> {
    let (one, two) = (0, 3 - base);
    let lists = [one, two].map(|file| find_changes(&all[base], &all[file], equality, false));
    let mut next = [0, 0];
    // The number of lines by which each file is ahead of the base.
    let mut shift = [0_isize, 0];
    let mut found = Vec::new();
    loop {
        let waiting = |next: [usize; 2], list: usize| lists[list].get(next[list]);
        let first = (0..2).filter_map(|l| waiting(next, l)).map(|c| c.old.start).min();
        let Some(start) = first else { return found };
        let mut end = start;
        let mut taken: [Vec<&LineChange>; 2] = [Vec::new(), Vec::new()];
        while let Some((list, change)) =
            (0..2).find_map(|l| waiting(next, l).filter(|c| c.old.start <= end).map(|c| (l, c)))
        {
            end = end.max(change.old.end);
            taken[list].push(change);
            next[list] += 1;
        }
        let mut lines = [start..end, start..end, start..end];
        for (list, file) in [one, two].into_iter().enumerate() {
            let from = start.saturating_add_signed(shift[list]);
            for change in &taken[list] {
                shift[list] += change.new.len() as isize - change.old.len() as isize;
            }
            lines[file] = from..end.saturating_add_signed(shift[list]);
        }
        let odd = match (taken[0].is_empty(), taken[1].is_empty()) {
            (_, true) => OddFile::File(one),
            (true, _) => OddFile::File(two),
            _ if all[one][lines[one].clone()] == all[two][lines[two].clone()] => {
                OddFile::File(base)
            }
            _ => OddFile::All,
        };
        found.push(Block { odd, lines });
    }
}

/// Writes the listing for people.
fn write_listing(out: &mut Vec<u8>, all: &Lines<'_>, blocks: &[Block], tab: bool) {
    for block in blocks {
        // Of two files that agree, the lines of the last one are shown.
        let (number, hidden) = match block.odd {
            OddFile::All => (String::new(), None),
            OddFile::File(odd) => ((odd + 1).to_string(), Some(usize::from(odd == 0))),
        };
        out.extend(format!("===={number}\n").bytes());
        // The order of the files; the odd one out may have to come last.
        let order = if block.odd == OddFile::File(1) { [0, 2, 1] } else { [0, 1, 2] };
        for file in order {
            let range = &block.lines[file];
            let place = match range.len() {
                0 => format!("{}a", range.start),
                1 => format!("{}c", range.end),
                _ => format!("{},{}c", range.start + 1, range.end),
            };
            out.extend(format!("{}:{place}\n", file + 1).bytes());
            if hidden == Some(file) {
                continue;
            }
            for line in &all[file][range.clone()] {
                out.extend_from_slice(if tab { b"\t" } else { b"  " });
                out.extend_from_slice(line);
                if !line.ends_with(b"\n") {
                    out.extend_from_slice(b"\n\\ No newline at end of file\n");
                }
            }
        }
    }
}

/// Returns whether a block that goes into the output is a conflict; `None` if it does not go into
/// the output.
fn block_decision(options: &Diff3Options, odd: OddFile) -> Option<bool> {
    match odd {
        OddFile::File(1) => options.old.then_some(true),
        OddFile::File(2) => (!options.overlap_only).then_some(false),
        OddFile::File(_) => None,
        OddFile::All => (!options.easy_only).then_some(options.brackets),
    }
}

/// Writes the merged file; returns whether there were conflicts.
fn write_merge(
    out: &mut Vec<u8>,
    options: &Diff3Options,
    all: &Lines<'_>,
    blocks: &[Block],
    labels: &[&[u8]; 3],
) -> bool {
    let mut at = 0;
    let mut conflicts = false;
    for block in blocks {
        let Some(conflict) = block_decision(options, block.odd) else { continue };
        let part = |file: usize| all[file][block.lines[file].clone()].concat();
        out.extend(all[0][at..block.lines[0].start].concat());
        if conflict {
            conflicts = true;
            if block.odd == OddFile::All {
                write_bracket(out, b"<<<<<<< ", labels[0]);
                out.extend(part(0));
            }
            if options.old {
                let sign: &[u8] = if block.odd == OddFile::All { b"||||||| " } else { b"<<<<<<< " };
                write_bracket(out, sign, labels[1]);
                out.extend(part(1));
            }
            out.extend_from_slice(b"=======\n");
        }
        out.extend(part(2));
        if conflict {
            write_bracket(out, b">>>>>>> ", labels[2]);
        }
        at = block.lines[0].end;
    }
    out.extend(all[0][at..].concat());
    conflicts
}

fn write_bracket(out: &mut Vec<u8>, sign: &[u8], label: &[u8]) {
    out.extend([sign, label, b"\n"].concat());
}

/// Writes an ed script, from the last block to the first; returns whether there were conflicts.
fn write_script(
    out: &mut Vec<u8>,
    options: &Diff3Options,
    all: &Lines<'_>,
    blocks: &[Block],
    labels: &[&[u8]; 3],
) -> bool {
    let mut conflicts = false;
    for block in blocks.iter().rev() {
        let Some(conflict) = block_decision(options, block.odd) else { continue };
        let part = |file: usize| &all[file][block.lines[file].clone()];
        let Range { start, end } = block.lines[0].clone();
        if conflict {
            conflicts = true;
            let mut dots = false;
            out.extend(format!("{end}a\n").bytes());
            if block.odd == OddFile::All {
                if options.old {
                    write_bracket(out, b"||||||| ", labels[1]);
                    dots |= write_dotted(out, part(1));
                }
                out.extend_from_slice(b"=======\n");
                dots |= write_dotted(out, part(2));
            }
            write_bracket(out, b">>>>>>> ", labels[2]);
            out.extend_from_slice(b".\n");
            write_undot(out, dots, end + 2, part(1).len() + part(2).len() + 1);
            let label = labels[usize::from(block.odd != OddFile::All)];
            out.extend(format!("{start}a\n").bytes());
            write_bracket(out, b"<<<<<<< ", label);
            let mut dots = false;
            if block.odd != OddFile::All {
                dots = write_dotted(out, part(1));
                out.extend_from_slice(b"=======\n");
            }
            out.extend_from_slice(b".\n");
            write_undot(out, dots, start + 2, part(1).len());
            continue;
        }
        let new = part(2);
        let place = match (end - start, new.is_empty()) {
            (0, _) => format!("{end}a\n"),
            (1, empty) => format!("{end}{}\n", if empty { 'd' } else { 'c' }),
            (_, empty) => format!("{},{end}{}\n", start + 1, if empty { 'd' } else { 'c' }),
        };
        out.extend(place.bytes());
        if !new.is_empty() {
            let dots = write_dotted(out, new);
            out.extend_from_slice(b".\n");
            write_undot(out, dots, start + 1, new.len());
        }
    }
    if options.final_write {
        out.extend_from_slice(b"w\nq\n");
    }
    conflicts
}

/// Writes the lines of an `a` or `c` command. A line that begins with a dot gets a second one,
/// because a lone dot would end them.
fn write_dotted(out: &mut Vec<u8>, lines: &[&[u8]]) -> bool {
    let mut any = false;
    for line in lines {
        if line.starts_with(b".") {
            any = true;
            out.push(b'.');
        }
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.push(b'\n');
        }
    }
    any
}

/// Writes the command that removes the second dots.
fn write_undot(out: &mut Vec<u8>, dots: bool, first: usize, count: usize) {
    if !dots {
        return;
    }
    let place = match count {
        1 => first.to_string(),
        _ => format!("{first},{}", first + count - 1),
    };
    out.extend(format!("{place}s/^\\.//\n").bytes());
}
