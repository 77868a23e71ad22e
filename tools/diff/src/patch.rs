//! `patch` (POSIX XCU patch; GNU patch 2.7): applies unified and normal diffs.
//!
//! Deviations: no context or ed diffs, no git binary patches, no version control.

use std::io::{self, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{FileKind, error_text, meta};

use self::read::{FilePatch, PatchHunk, is_epoch, parse};
use crate::diff::split_lines;

mod read;
mod save;

/// The options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatchFlag {
    Strip,
    Input,
    Fuzz,
    Reverse,
    Forward,
    Output,
    RejectFile,
    Directory,
    Backup,
    RemoveEmptyFiles,
    IgnoreWhitespace,
    Force,
    Batch,
    Quiet,
    Unified,
    Normal,
    DryRun,
    Verbose,
    Version,
    Posix,
    BackupIfMismatch,
    NoBackupIfMismatch,
}

const SPEC: Spec<PatchFlag> = Spec::new(
    "[OPTION]... [ORIGFILE [PATCHFILE]]",
    "Change files as a diff says.",
    &[
        Opt::new(PatchFlag::Strip, 'p', "strip")
            .with_argument("NUM", "Drop NUM leading parts of names"),
        Opt::new(PatchFlag::Input, 'i', "input").with_argument("FILE", "Read the diff from FILE"),
        Opt::new(PatchFlag::Fuzz, 'F', "fuzz")
            .with_argument("NUM", "Let NUM lines of context differ (2)"),
        Opt::new(PatchFlag::Reverse, 'R', "reverse").with_help("Apply the diff backwards"),
        Opt::new(PatchFlag::Forward, 'N', "forward")
            .with_help("Skip patches that seem to be applied already"),
        Opt::new(PatchFlag::Output, 'o', "output")
            .with_argument("FILE", "Write the result to FILE"),
        Opt::new(PatchFlag::RejectFile, 'r', "reject-file")
            .with_argument("FILE", "Write hunks that do not fit to FILE"),
        Opt::new(PatchFlag::Directory, 'd', "directory")
            .with_argument("DIR", "Change to DIR first"),
        Opt::new(PatchFlag::Backup, 'b', "backup")
            .with_help("Keep the original of each file as FILE.orig"),
        Opt::new(PatchFlag::RemoveEmptyFiles, 'E', "remove-empty-files")
            .with_help("Remove files that become empty"),
        Opt::new(PatchFlag::IgnoreWhitespace, 'l', "ignore-whitespace")
            .with_help("Take all runs of blanks as equal"),
        Opt::new(PatchFlag::Force, 'f', "force").with_help("Do what is asked, without questions"),
        Opt::new(PatchFlag::Batch, 't', "batch")
            .with_help("Ask nothing; skip patches that seem to be wrong"),
        Opt::new(PatchFlag::Quiet, 's', "quiet").with_help("Print nothing but errors"),
        Opt::new(PatchFlag::Unified, 'u', "unified").with_help("Read a unified diff"),
        Opt::new(PatchFlag::Normal, 'n', "normal").with_help("Read a diff without context"),
        Opt::long(PatchFlag::DryRun, "dry-run")
            .with_help("Change nothing; only say what would happen"),
        Opt::new(PatchFlag::Version, 'v', "").with_help(words::VERSION),
        Opt::long(PatchFlag::Verbose, "verbose").with_help(words::IGNORED),
        Opt::long(PatchFlag::Posix, "posix").with_help(words::IGNORED),
        Opt::long(PatchFlag::BackupIfMismatch, "backup-if-mismatch")
            .with_help("Keep originals where lines have moved (default)"),
        Opt::long(PatchFlag::NoBackupIfMismatch, "no-backup-if-mismatch")
            .with_help("Keep no originals where lines have moved"),
    ],
)
.with_examples(&[
    ("patch -p1 < FILE.patch", "Apply a patch of version control"),
    ("patch -R -p1 < FILE.patch", "Undo the patch"),
])
.with_footer("Exit status: 0 if all hunks were applied, 1 if some were not, 2 after an error.");

/// Returns the error in an option's number, if there is one.
fn number_fault(text: &[u8]) -> Option<&'static str> {
    let n = box_text::number::parse_integer(text, 10);
    match n {
        _ if n.len == 0 || n.len < text.len() => Some("not a number"),
        _ if n.negative && n.magnitude > 0 => Some("negative"),
        _ if n.overflow || i32::try_from(n.magnitude).is_err() => Some("too large"),
        _ => None,
    }
}

/// Runs `patch`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let parsed = SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    if parsed.has_option(PatchFlag::Version) {
        return Ok(ctx.print(&ctx.version()));
    }
    for (flag, noun) in [(PatchFlag::Strip, "strip count"), (PatchFlag::Fuzz, "fuzz factor")] {
        for text in parsed.all_values(flag) {
            if let Some(fault) = number_fault(text) {
                let shown = String::from_utf8_lossy(text);
                ctx.error(format_args!("**** {noun} {shown} is {fault}"));
                return Ok(Exit::USAGE);
            }
        }
    }
    if let Some(dir) = parsed.last_value(PatchFlag::Directory) {
        let target = ctx.path(dir);
        if let Err(e) = std::fs::read_dir(&target) {
            let text = error_text(&e);
            ctx.error_bytes(&[b"**** Can't change to directory ", dir, b" : ", text.as_bytes()]);
            return Ok(Exit::USAGE);
        }
        ctx.cwd = target;
    }
    let mut patches = read(ctx, &parsed)?;
    if parsed.has_option(PatchFlag::Reverse) {
        patches.iter_mut().for_each(FilePatch::reverse);
    }
    let number = |flag: PatchFlag| {
        parsed.last_value(flag).and_then(|t| std::str::from_utf8(t).ok()?.parse().ok())
    };
    let job = PatchJob {
        strip: number(PatchFlag::Strip),
        fuzz: number(PatchFlag::Fuzz).unwrap_or(2),
        force: parsed.has_option(PatchFlag::Force),
        output: parsed.last_value(PatchFlag::Output).map(<[u8]>::to_vec),
        reject: parsed.last_value(PatchFlag::RejectFile).map(<[u8]>::to_vec),
        backup: parsed.has_option(PatchFlag::Backup),
        backup_if_mismatch: parsed
            .last_choice(&[
                (PatchFlag::BackupIfMismatch, true),
                (PatchFlag::NoBackupIfMismatch, false),
            ])
            .unwrap_or(ctx.env.get(b"POSIXLY_CORRECT").is_none()),
        remove_empty: parsed.has_option(PatchFlag::RemoveEmptyFiles),
        loose: parsed.has_option(PatchFlag::IgnoreWhitespace),
        quiet: parsed.has_option(PatchFlag::Quiet),
        dry: parsed.has_option(PatchFlag::DryRun),
    };
    let target = parsed.operands.first().map(Vec::as_slice);
    let mut status = 0;
    for p in &patches {
        match patch_file(ctx, &job, p, target) {
            Ok(ok) => status = status.max(u8::from(!ok)),
            Err(e) => {
                let text = error_text(&e);
                ctx.error(format_args!("**** {text}"));
                return Ok(Exit::USAGE);
            }
        }
    }
    Ok(Exit(status))
}

/// Reads the patches of the input. The error is the status to end with.
fn read(ctx: &mut Ctx<'_>, parsed: &ParsedOptions<PatchFlag>) -> Result<Vec<FilePatch>, Exit> {
    let operand = parsed.operands.get(1).map(Vec::as_slice);
    let input = parsed.last_value(PatchFlag::Input).or(operand).unwrap_or(b"-");
    let text = ctx.read(input).map_err(|e| {
        let why = error_text(&e);
        ctx.error_bytes(&[b"**** Can't open patch file ", input, b" : ", why.as_bytes()]);
        Exit::USAGE
    })?;
    match parse(&text) {
        Ok(p) if !p.is_empty() => Ok(p),
        Ok(_) if text.is_empty() => Err(Exit::SUCCESS),
        Ok(_) => {
            ctx.error("**** Only garbage was found in the patch input.");
            Err(Exit::USAGE)
        }
        Err(message) => {
            ctx.error(format_args!("**** {message}"));
            Err(Exit::USAGE)
        }
    }
}

struct PatchJob {
    strip: Option<usize>,
    fuzz: usize,
    force: bool,
    output: Option<Vec<u8>>,
    reject: Option<Vec<u8>>,
    backup: bool,
    /// Whether the original is kept where a hunk has moved, needed fuzz or failed.
    backup_if_mismatch: bool,
    remove_empty: bool,
    loose: bool,
    quiet: bool,
    dry: bool,
}

/// Returns a name after stripping: without its first N components for `-pN`, and only the last
/// component without `-p`.
fn strip_name(name: &[u8], strip: Option<usize>) -> Option<Vec<u8>> {
    if name == b"/dev/null" || name.is_empty() {
        return None;
    }
    let Some(n) = strip else { return name.rsplit(|c| *c == b'/').next().map(<[u8]>::to_vec) };
    let mut rest = name;
    for _ in 0..n {
        let slash = rest.iter().position(|c| *c == b'/')?;
        rest = &rest[slash..];
        while let Some(r) = rest.strip_prefix(b"/") {
            rest = r;
        }
    }
    Some(rest.to_vec())
}

/// Applies one file's patch; returns whether all hunks applied.
fn patch_file(
    ctx: &mut Ctx<'_>,
    job: &PatchJob,
    p: &FilePatch,
    target: Option<&[u8]>,
) -> io::Result<bool> {
    let name = match target {
        Some(t) => t.to_vec(),
        None => {
            let names = [strip_name(&p.old_name, job.strip), strip_name(&p.new_name, job.strip)];
            let existing =
                names.iter().flatten().filter(|n| meta::stat(&ctx.path(n), true).is_ok());
            let depth = |n: &&Vec<u8>| (n.iter().filter(|c| **c == b'/').count(), n.len());
            match existing.min_by_key(depth).or(names[1].as_ref()).or(names[0].as_ref()) {
                Some(n) => n.clone(),
                None => {
                    ctx.error("**** can't find file to patch");
                    return Ok(false);
                }
            }
        }
    };
    if name.split(|c| *c == b'/').any(|c| c == b"..")
        || (target.is_none() && name.starts_with(b"/"))
    {
        ctx.stdout.write_all(
            &[b"Ignoring potentially dangerous file name ", &name[..], b"\n"].concat(),
        )?;
        return Ok(false);
    }
    let file = ctx.path(&name);
    let stat = meta::stat(&file, true).ok();
    let creates = !p.hunks.is_empty() && p.hunks.iter().all(|h| h.old.is_empty());
    if stat.is_none() && !creates {
        ctx.error_bytes(&[b"**** Can't find file to patch: ", &name]);
        return Ok(false);
    }
    if meta::stat(&file, false).is_ok_and(|s| s.kind != FileKind::File) {
        let text = [b"File ", &name[..], b" is not a regular file -- refusing to patch\n"].concat();
        ctx.stdout.write_all(&text)?;
        let all: Vec<usize> = (0..p.hunks.len()).collect();
        reject_hunks(ctx, job, p, &name, &all, "ignored")?;
        return Ok(false);
    }
    let data = if stat.is_some() { std::fs::read(&file)? } else { Vec::new() };
    let shown = job.output.as_ref().unwrap_or(&name);
    if stat.as_ref().is_some_and(|s| !meta::may_access(s, 2)) {
        let text = [b"File ", &name[..], b" is read-only; trying to patch anyway\n"].concat();
        ctx.stdout.write_all(&text)?;
    }
    if !job.quiet {
        let verb: &[u8] = if job.dry { b"checking file " } else { b"patching file " };
        ctx.stdout.write_all(&[verb, shown, b"\n"].concat())?;
    }
    let old = split_lines(&data);
    if already_applied(job, p, &old) {
        ctx.stdout
            .write_all(b"Reversed (or previously applied) patch detected!  Skipping patch.\n")?;
        let all: Vec<usize> = (0..p.hunks.len()).collect();
        reject_hunks(ctx, job, p, &name, &all, "ignored")?;
        return Ok(false);
    }
    let ApplyResult { lines: new, failed, mismatch } = apply_hunks(ctx, job, p, &old)?;
    if !failed.is_empty() {
        reject_hunks(ctx, job, p, &name, &failed, "FAILED")?;
    }
    if job.dry {
        return Ok(failed.is_empty());
    }
    let out = new.concat();
    let absent = p.new_name == b"/dev/null" || is_epoch(&p.headers[1]);
    let removes = out.is_empty() && (job.remove_empty || absent) && failed.is_empty();
    if removes && job.output.is_none() {
        std::fs::remove_file(&file)?;
        return Ok(true);
    }
    let backup = ctx.path(&[&name[..], b".orig"].concat());
    let backed_up = (job.backup || job.backup_if_mismatch && mismatch)
        && stat.is_some()
        && job.output.is_none();
    let destination = job.output.as_ref().map_or(file, |o| ctx.path(o));
    let save = save::SavedFile {
        destination: &destination,
        old: stat.as_ref(),
        mode: p.new_mode,
        backup: backed_up.then_some(backup.as_path()),
    };
    save.write(ctx, &out)?;
    Ok(failed.is_empty())
}

/// Reports the number of hunks that did not apply, and saves these in a file.
fn reject_hunks(
    ctx: &mut Ctx<'_>,
    job: &PatchJob,
    p: &FilePatch,
    name: &[u8],
    hunks: &[usize],
    what: &str,
) -> io::Result<()> {
    let plural = if p.hunks.len() == 1 { "" } else { "s" };
    write!(ctx.stdout, "{} out of {} hunk{plural} {what}", hunks.len(), p.hunks.len())?;
    if job.dry {
        return ctx.stdout.write_all(b"\n");
    }
    let file = job.reject.clone().unwrap_or_else(|| [name, b".rej"].concat());
    ctx.stdout.write_all(&[b" -- saving rejects to file ", &file[..], b"\n"].concat())?;
    let mut text = [b"--- ", &p.headers[0][..], b"\n+++ ", &p.headers[1], b"\n"].concat();
    hunks.iter().for_each(|i| text.extend_from_slice(&p.hunks[*i].text));
    std::fs::write(ctx.path(&file), text)
}

/// Returns whether the first hunk does not fit but its reverse does. GNU patch asks the user then.
/// No user can be asked here, so the patch is skipped, as with `-N`, unless `--force` was given.
fn already_applied(job: &PatchJob, p: &FilePatch, old: &[&[u8]]) -> bool {
    let Some(first) = p.hunks.first() else { return false };
    let fits = |want: &[Vec<u8>]| {
        let search = PlaceSearch { old, guess: first.start.saturating_sub(1), least: 0, fuzz: 0 };
        search.find_hunk(first, want, job.loose).is_some()
    };
    !job.force && !first.new.is_empty() && !fits(&first.old) && fits(&first.new)
}

struct ApplyResult {
    lines: Vec<Vec<u8>>,
    /// The indices of the hunks that did not fit.
    failed: Vec<usize>,
    /// Whether a hunk has moved, needed fuzz or failed.
    mismatch: bool,
}

/// The lines in which a hunk is looked for, and how.
struct PlaceSearch<'a> {
    old: &'a [&'a [u8]],
    /// The line at which the hunk is expected.
    guess: usize,
    /// The first line that no earlier hunk has used.
    least: usize,
    /// Lines of context that may differ.
    fuzz: usize,
}

impl PlaceSearch<'_> {
    /// Returns the place of a hunk, whose lines are `lines`, and the numbers of lines at its start
    /// and at its end that are not compared.
    ///
    /// A hunk with less context at its start than at its end matches only at the start of the file,
    /// if its line number says so. A hunk with less context at its end matches only at the end of
    /// the file (GNU patch's manual, "patch Options").
    fn find_hunk(
        &self,
        h: &PatchHunk,
        lines: &[Vec<u8>],
        loose: bool,
    ) -> Option<(usize, usize, usize)> {
        let context = h.before.max(h.after);
        let starts_file = self.fuzz + h.before < context && h.start <= 1;
        let ends_file = self.fuzz + h.after < context;
        let cut = (self.fuzz + h.before).saturating_sub(context);
        let end = (self.fuzz + h.after).saturating_sub(context);
        let want = lines.get(cut..lines.len().checked_sub(end)?)?;
        let (guess, least, old) = (self.guess + cut, self.least, self.old);
        let place = match (starts_file, ends_file) {
            _ if want.is_empty() => find_place(old, want, guess, least, loose)?,
            (false, false) => find_place(old, want, guess, least, loose)?,
            (true, true) if want.len() != old.len() => return None,
            (true, _) => find_place(old.get(..want.len())?, want, 0, least, loose)?,
            (false, true) => {
                let last = old.len().checked_sub(want.len())?;
                last + find_place(&old[last..], want, 0, least.saturating_sub(last), loose)?
            }
        };
        Some((place, cut, end))
    }
}

fn apply_hunks(
    ctx: &mut Ctx<'_>,
    job: &PatchJob,
    p: &FilePatch,
    old: &[&[u8]],
) -> io::Result<ApplyResult> {
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut failed = Vec::new();
    let mut mismatch = false;
    let mut at = 0;
    let mut offset = 0isize;
    for (i, h) in p.hunks.iter().enumerate() {
        let guess = (h.start.saturating_sub(1) as isize + offset)
            .clamp(at as isize, old.len() as isize) as usize;
        let found = (0..=job.fuzz.min(h.before.max(h.after))).find_map(|fuzz| {
            let search = PlaceSearch { old, guess, least: at, fuzz };
            let (place, cut, end) = search.find_hunk(h, &h.old, job.loose)?;
            Some((place, cut, end, fuzz))
        });
        let Some((place, cut, end, fuzz)) = found else {
            writeln!(ctx.stdout, "Hunk #{} FAILED at {}.", i + 1, h.start.max(1))?;
            failed.push(i);
            mismatch = true;
            continue;
        };
        let drift = place as isize - (h.start.saturating_sub(1) + cut) as isize;
        mismatch |= fuzz > 0 || drift != 0;
        if (fuzz > 0 || drift != 0) && !job.quiet {
            let mut text =
                format!("Hunk #{} succeeded at {}", i + 1, place as isize - cut as isize + 1);
            if fuzz > 0 {
                text.push_str(&format!(" with fuzz {fuzz}"));
            }
            if drift != 0 {
                let lines = drift.unsigned_abs();
                let sign = if drift < 0 { "-" } else { "" };
                text.push_str(&format!(
                    " (offset {sign}{lines} line{})",
                    if lines == 1 { "" } else { "s" }
                ));
            }
            text.push_str(".\n");
            ctx.stdout.write_all(text.as_bytes())?;
        }
        offset = drift;
        out.extend(old[at..place].iter().map(|l| l.to_vec()));
        out.extend(h.new[cut..h.new.len() - end].iter().cloned());
        at = place + h.old.len() - cut - end;
    }
    out.extend(old[at.min(old.len())..].iter().map(|l| l.to_vec()));
    Ok(ApplyResult { lines: out, failed, mismatch })
}

/// Returns the position of `want` in `old`, from `least` on, that is nearest to `guess`.
fn find_place(
    old: &[&[u8]],
    want: &[Vec<u8>],
    guess: usize,
    least: usize,
    loose: bool,
) -> Option<usize> {
    fn split_words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
        text.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty())
    }
    let equal = |a: &[u8], b: &[u8]| a == b || loose && split_words(a).eq(split_words(b));
    let fits = |at: usize| {
        at >= least
            && at + want.len() <= old.len()
            && want.iter().zip(&old[at..]).all(|(w, o)| equal(w, o))
    };
    let last = old.len().checked_sub(want.len())?;
    (0..=old.len()).find_map(|d| {
        let up = guess.checked_add(d).filter(|a| *a <= last && fits(*a));
        up.or_else(|| guess.checked_sub(d).filter(|a| d > 0 && fits(*a)))
    })
}
