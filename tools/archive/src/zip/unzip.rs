//! `unzip` and `zipinfo`: selects members, and lists, tests, prints or extracts them.

mod options;

use std::fs::File;
use std::io::Write;

use box_applet::{Ctx, Ended, Exit};
use box_text::glob::GlobPattern;

use self::options::{UnzipAction, UnzipJob};
use super::data::{self, MemberProblem};
use super::format::{self, Directory, ZipEntry};
use super::{list, lossy_name, member_pattern, print_message};

/// Runs `unzip`.
pub fn run_unzip(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let job = options::parse_unzip(ctx, args)?;
    Ok(run(ctx, &job))
}

/// Runs `zipinfo`.
pub fn run_zipinfo(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let job = options::parse_zipinfo(ctx, args)?;
    Ok(run(ctx, &job))
}

fn run(ctx: &mut Ctx<'_>, job: &UnzipJob) -> Exit {
    let Some((shown, mut file)) = open_archive(ctx, &job.archive) else {
        let n = lossy_name(&job.archive);
        let who = &ctx.name;
        let text = format!("{who}:  cannot find or open {n}, {n}.zip or {n}.ZIP.\n");
        let _ = ctx.stderr.write_all(text.as_bytes());
        return Exit(9);
    };
    let name = lossy_name(&shown);
    let heading = match job.action {
        UnzipAction::Pipe(names) => names,
        UnzipAction::Names => false,
        UnzipAction::Info => job.only.is_empty(),
        _ => true,
    };
    if heading && job.quiet == 0 {
        let _ = writeln!(ctx.stdout, "Archive:  {name}");
    }
    let directory = match format::read(&mut file) {
        Ok(Some(d)) => d,
        Ok(None) => return no_archive(ctx, job),
        Err(e) => {
            ctx.error(format_args!(" cannot read {name}: {}", box_sys::error_text(&e)));
            return Exit(9);
        }
    };
    warn_of_extra(ctx, &directory, &name);
    let commented = !directory.comment.is_empty()
        && !matches!(job.action, UnzipAction::Comment | UnzipAction::Info);
    if commented && heading && job.quiet == 0 {
        let _ = ctx.stdout.write_all(&directory.comment);
        let _ = ctx.stdout.write_all(b"\n");
    }
    if directory.entries.is_empty() && job.action != UnzipAction::Comment {
        let text = format!("warning [{name}]:  zipfile is empty\n");
        print_message(ctx, &text);
        return Exit(1);
    }
    let (chosen, unmatched) = choose_entries(job, &directory.entries);
    let status = run_action(ctx, job, &mut file, &directory, &chosen, &name);
    for name in &unmatched {
        if !matches!(job.action, UnzipAction::List | UnzipAction::Verbose) {
            print_message(ctx, &format!("caution: filename not matched:  {}\n", lossy_name(name)));
        }
    }
    let missing = if unmatched.is_empty() { 0 } else { 11 };
    Exit(status.max(missing).max(u8::from(directory.extra > 0)))
}

/// Warns about bytes before the archive, such as those of a self-extracting program.
fn warn_of_extra(ctx: &mut Ctx<'_>, directory: &Directory, name: &str) {
    if directory.extra > 0 {
        let text = format!(
            "warning [{name}]:  {} extra byte{} at beginning or within zipfile\n  (attempting to process anyway)\n",
            directory.extra,
            if directory.extra == 1 { "" } else { "s" },
        );
        print_message(ctx, &text);
    }
}

/// Returns the entries that the job selects, and the operands that match no entry.
fn choose_entries<'d, 'j>(
    job: &'j UnzipJob,
    entries: &'d [ZipEntry],
) -> (Vec<&'d ZipEntry>, Vec<&'j [u8]>) {
    let patterns = |l: &[Vec<u8>]| -> Vec<GlobPattern> {
        l.iter().map(|p| member_pattern(p, job.ignore_case)).collect()
    };
    let (only, except) = (patterns(&job.only), patterns(&job.except));
    let mut used = vec![false; only.len()];
    let mut is_chosen = |e: &ZipEntry| {
        let hit = only.iter().position(|p| p.is_match(&e.name));
        if let Some(n) = hit {
            used[n] = true;
        }
        (only.is_empty() || hit.is_some()) && !except.iter().any(|p| p.is_match(&e.name))
    };
    let chosen = entries.iter().filter(|e| is_chosen(e)).collect();
    let names = job.only.iter().map(Vec::as_slice).zip(&used);
    (chosen, names.filter(|(_, used)| !**used).map(|(name, _)| name).collect())
}

fn run_action(
    ctx: &mut Ctx<'_>,
    job: &UnzipJob,
    file: &mut File,
    directory: &Directory,
    chosen: &[&ZipEntry],
    name: &str,
) -> u8 {
    let zone = ctx.zone();
    match job.action {
        UnzipAction::List => list::list_short(ctx, chosen, job.quiet, &zone),
        UnzipAction::Verbose => list::list_verbose(ctx, chosen, job.quiet, &zone),
        UnzipAction::Info => list::list_info(ctx, directory, chosen, job.only.is_empty(), &zone),
        UnzipAction::Names => list::list_names(ctx, chosen),
        UnzipAction::Comment => {
            let _ = ctx.stdout.write_all(&directory.comment);
            if !directory.comment.is_empty() {
                let _ = ctx.stdout.write_all(b"\n");
            }
        }
        UnzipAction::Test => return test_members(ctx, job, file, chosen, name),
        UnzipAction::Pipe(names) => return pipe_members(ctx, file, chosen, names),
        UnzipAction::Extract => return job.extract.run(ctx, file, chosen, &zone),
    }
    0
}

fn test_members(
    ctx: &mut Ctx<'_>,
    job: &UnzipJob,
    file: &mut File,
    chosen: &[&ZipEntry],
    name: &str,
) -> u8 {
    let mut status = 0;
    for e in chosen {
        let shown = lossy_name(&e.name);
        if let Err(p) = data::check_member(e) {
            status = status.max(refuse_member(ctx, e, p));
            continue;
        }
        if job.quiet == 0 {
            let _ = write!(ctx.stdout, "    testing: {shown:<22}  ");
        }
        match data::unpack_member(file, e, &mut std::io::sink()) {
            Ok(()) if job.quiet == 0 => drop(ctx.stdout.write_all(b" OK\n")),
            Ok(()) => {}
            Err(p) => status = status.max(refuse_member(ctx, e, p)),
        }
    }
    if job.quiet < 2 {
        let _ = match status {
            0 => writeln!(ctx.stdout, "No errors detected in compressed data of {name}."),
            _ => writeln!(ctx.stdout, "At least one error was detected in {name}."),
        };
    }
    status
}

fn pipe_members(ctx: &mut Ctx<'_>, file: &mut File, chosen: &[&ZipEntry], names: bool) -> u8 {
    let mut status = 0;
    for e in chosen.iter().filter(|e| !e.is_dir()) {
        if names {
            let what = if e.method == format::STORED { " extracting" } else { "  inflating" };
            let shown = String::from_utf8_lossy(&e.name);
            let _ = writeln!(ctx.stdout, "{what}: {shown:<22}  ");
        }
        if let Err(p) = data::check_member(e) {
            status = status.max(refuse_member(ctx, e, p));
            continue;
        }
        match data::unpack_member(file, e, &mut ctx.stdout) {
            Ok(()) => {}
            Err(MemberProblem::Output(_)) => return status,
            Err(p) => status = status.max(refuse_member(ctx, e, p)),
        }
        if names {
            let _ = ctx.stdout.write_all(b"\n");
        }
    }
    status
}

/// Prints why a member cannot be read or written; returns the exit status.
pub(super) fn refuse_member(ctx: &mut Ctx<'_>, e: &ZipEntry, problem: MemberProblem) -> u8 {
    let name = lossy_name(&e.name);
    let (text, status) = match problem {
        MemberProblem::Encrypted => {
            (format!("   skipping: {name:<22}  unable to get password\n"), 82)
        }
        MemberProblem::Method(m) => {
            (format!("   skipping: {name:<22}  unsupported compression method {m}\n"), 81)
        }
        MemberProblem::Version(n) => (
            format!(
                "   skipping: {name:<22}  need PK compat. v{}.{} (can do v4.6)\n",
                n / 10,
                n % 10
            ),
            81,
        ),
        // The member's name has already been printed.
        MemberProblem::Checksum(got) => {
            (format!(" bad CRC {got:08x}  (should be {:08x})\n", e.crc), 2)
        }
        MemberProblem::Invalid(why) => {
            (format!("\n  error:  invalid compressed data to inflate {name}: {why}\n"), 3)
        }
        MemberProblem::Directory(part) => (
            format!(
                "checkdir error:  {part} exists but is not directory\n                 \
                 unable to process {name}.\n"
            ),
            2,
        ),
        MemberProblem::Output(e) => {
            (format!("{name}:  write error: {}\n", box_sys::error_text(&e)), 50)
        }
    };
    print_message(ctx, &text);
    status
}

fn no_archive(ctx: &mut Ctx<'_>, job: &UnzipJob) -> Exit {
    let given = lossy_name(&job.archive);
    let who = ctx.name.clone();
    let text = format!(
        "  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it \
         constitutes one disk of a multi-part archive.  In the\n  latter case the central directory and \
         zipfile comment will be found on\n  the last disk(s) of this archive.\n{who}:  cannot find \
         zipfile directory in one of {given} or\n        {given}.zip, and cannot find {given}.ZIP, \
         period.\n"
    );
    print_message(ctx, &text);
    Exit(9)
}

/// Opens the archive with a name, or with `.zip` or `.ZIP` after the name. Returns the full name
/// and the file.
fn open_archive(ctx: &Ctx<'_>, name: &[u8]) -> Option<(Vec<u8>, File)> {
    [&b""[..], b".zip", b".ZIP"].iter().find_map(|suffix| {
        let full = [name, suffix].concat();
        let path = ctx.path(&full);
        let file = path.is_file().then(|| File::open(&path).ok()).flatten()?;
        Some((full, file))
    })
}
