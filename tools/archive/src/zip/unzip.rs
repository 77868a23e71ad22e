//! `unzip` and `zipinfo`: the command line, and which members it means.

use std::fs::File;
use std::io::Write;

use box_applet::{Ctx, Exit};
use box_text::glob::Pattern;
use box_text::time::Zone;

use super::data::{self, Problem};
use super::extract::{Extract, Overwrite};
use super::format::{self, Directory, Entry};
use super::{list, pattern};

const HELP: &str = "\
Usage: unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]
  Default action is to extract files in list, except those in xlist, to exdir;
  file[.zip] may be a wildcard.  -Z => ZipInfo mode.

  -p  extract files to pipe, no messages     -l  list files (short format)
  -f  freshen existing files, create none    -t  test compressed archive data
  -u  update files, create if necessary      -z  display archive comment only
  -v  list verbosely                         -c  extract files to pipe, with names
  -x  exclude files that follow (in xlist)   -d  extract files into exdir
modifiers:
  -n  never overwrite existing files         -q  quiet mode (-qq => quieter)
  -o  overwrite files WITHOUT prompting      -j  junk paths (do not make directories)
  -C  match filenames case-insensitively     -L  make names lowercase
  -a  auto-convert any text files            -K  keep setuid/setgid/tacky permissions
";

/// What is to be done.
#[derive(Clone, Copy, PartialEq)]
enum Action {
    Extract,
    /// To standard output; with names.
    Pipe(bool),
    Test,
    List,
    Verbose,
    Comment,
    Info,
    /// `zipinfo -1`.
    Names,
}

struct Job {
    action: Action,
    quiet: usize,
    ignore_case: bool,
    archive: Vec<u8>,
    only: Vec<Vec<u8>>,
    except: Vec<Vec<u8>>,
    extract: Extract,
}

/// Runs `unzip`.
pub fn unzip(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    run(ctx, args, Action::Extract)
}

/// Runs `zipinfo`.
pub fn zipinfo(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    run(ctx, args, Action::Info)
}

fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>], action: Action) -> Exit {
    let job = match parse(ctx, args, action) {
        Ok(job) => job,
        Err(exit) => return exit,
    };
    let Some((shown, mut file)) = open(ctx, &job.archive) else {
        let n = String::from_utf8_lossy(&job.archive).into_owned();
        let who = &ctx.name;
        let text = format!("{who}:  cannot find or open {n}, {n}.zip or {n}.ZIP.\n");
        let _ = ctx.stderr.write_all(text.as_bytes());
        return Exit(9);
    };
    let name = String::from_utf8_lossy(&shown).into_owned();
    let heading = match job.action {
        Action::Pipe(names) => names,
        Action::Names => false,
        Action::Info => job.only.is_empty(),
        _ => true,
    };
    if heading && job.quiet == 0 {
        let _ = writeln!(ctx.stdout, "Archive:  {name}");
    }
    let directory = match format::read(&mut file) {
        Ok(Some(d)) => d,
        Ok(None) => return no_archive(ctx, &job, &name),
        Err(e) => {
            ctx.error(format_args!(" cannot read {name}: {}", box_sys::strerror(&e)));
            return Exit(9);
        }
    };
    warn_of_extra(ctx, &directory, &name);
    let commented =
        !directory.comment.is_empty() && !matches!(job.action, Action::Comment | Action::Info);
    if commented && heading && job.quiet == 0 {
        let _ = ctx.stdout.write_all(&directory.comment);
        let _ = ctx.stdout.write_all(b"\n");
    }
    if directory.entries.is_empty() && job.action != Action::Comment {
        let text = format!("warning [{name}]:  zipfile is empty\n");
        let _ = ctx.stdout.flush();
        let _ = ctx.stderr.write_all(text.as_bytes());
        return Exit(1);
    }
    let (chosen, unmatched) = choose(&job, &directory.entries);
    let status = act(ctx, &job, &mut file, &directory, &chosen, &name);
    for name in &unmatched {
        if !matches!(job.action, Action::List | Action::Verbose) {
            let shown = String::from_utf8_lossy(name);
            let _ = ctx.stdout.flush();
            let _ = writeln!(ctx.stderr, "caution: filename not matched:  {shown}");
        }
    }
    let missing = if unmatched.is_empty() { 0 } else { 11 };
    Exit(status.max(missing).max(u8::from(directory.extra > 0)))
}

/// Bytes that belong to no entry, as those of a program that unpacks itself.
fn warn_of_extra(ctx: &mut Ctx<'_>, directory: &Directory, name: &str) {
    if directory.extra > 0 {
        let text = format!(
            "warning [{name}]:  {} extra byte{} at beginning or within zipfile\n  (attempting to process anyway)\n",
            directory.extra,
            if directory.extra == 1 { "" } else { "s" },
        );
        let _ = ctx.stdout.flush();
        let _ = ctx.stderr.write_all(text.as_bytes());
    }
}

/// The entries that are asked for, and the names that no entry has.
fn choose<'d, 'j>(job: &'j Job, entries: &'d [Entry]) -> (Vec<&'d Entry>, Vec<&'j [u8]>) {
    let patterns =
        |l: &[Vec<u8>]| -> Vec<Pattern> { l.iter().map(|p| pattern(p, job.ignore_case)).collect() };
    let (only, except) = (patterns(&job.only), patterns(&job.except));
    let mut used = vec![false; only.len()];
    let mut is_chosen = |e: &Entry| {
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

fn act(
    ctx: &mut Ctx<'_>,
    job: &Job,
    file: &mut File,
    directory: &Directory,
    chosen: &[&Entry],
    name: &str,
) -> u8 {
    let zone = Zone::from_env(ctx.env.get(b"TZ"), |path| std::fs::read(path).ok());
    match job.action {
        Action::List => list::short(ctx, chosen, job.quiet, &zone),
        Action::Verbose => list::verbose(ctx, chosen, job.quiet, &zone),
        Action::Info => list::info(ctx, directory, chosen, job.only.is_empty(), &zone),
        Action::Names => list::names(ctx, chosen),
        Action::Comment => {
            let _ = ctx.stdout.write_all(&directory.comment);
            if !directory.comment.is_empty() {
                let _ = ctx.stdout.write_all(b"\n");
            }
        }
        Action::Test => return test(ctx, job, file, chosen, name),
        Action::Pipe(names) => return pipe(ctx, file, chosen, names),
        Action::Extract => return job.extract.run(ctx, file, chosen, &zone),
    }
    0
}

fn test(ctx: &mut Ctx<'_>, job: &Job, file: &mut File, chosen: &[&Entry], name: &str) -> u8 {
    let mut status = 0;
    for e in chosen {
        let shown = String::from_utf8_lossy(&e.name).into_owned();
        if let Err(p) = data::check(e) {
            status = status.max(complain(ctx, e, p));
            continue;
        }
        if job.quiet == 0 {
            let _ = write!(ctx.stdout, "    testing: {shown:<22}  ");
        }
        match data::copy(file, e, &mut std::io::sink()) {
            Ok(()) if job.quiet == 0 => drop(ctx.stdout.write_all(b" OK\n")),
            Ok(()) => {}
            Err(p) => status = status.max(complain(ctx, e, p)),
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

fn pipe(ctx: &mut Ctx<'_>, file: &mut File, chosen: &[&Entry], names: bool) -> u8 {
    let mut status = 0;
    for e in chosen.iter().filter(|e| !e.is_dir()) {
        if names {
            let what = if e.method == format::STORED { " extracting" } else { "  inflating" };
            let shown = String::from_utf8_lossy(&e.name);
            let _ = writeln!(ctx.stdout, "{what}: {shown:<22}  ");
        }
        if let Err(p) = data::check(e) {
            status = status.max(complain(ctx, e, p));
            continue;
        }
        match data::copy(file, e, &mut ctx.stdout) {
            Ok(()) => {}
            Err(Problem::Output(_)) => return status,
            Err(p) => status = status.max(complain(ctx, e, p)),
        }
        if names {
            let _ = ctx.stdout.write_all(b"\n");
        }
    }
    status
}

/// Says why a member cannot be had; the status.
pub(super) fn complain(ctx: &mut Ctx<'_>, e: &Entry, problem: Problem) -> u8 {
    let name = String::from_utf8_lossy(&e.name).into_owned();
    let (text, status) = match problem {
        Problem::Encrypted => (format!("   skipping: {name:<22}  unable to get password\n"), 82),
        Problem::Method(m) => {
            (format!("   skipping: {name:<22}  unsupported compression method {m}\n"), 81)
        }
        Problem::Version(n) => (
            format!(
                "   skipping: {name:<22}  need PK compat. v{}.{} (can do v4.6)\n",
                n / 10,
                n % 10
            ),
            81,
        ),
        // The name was said before.
        Problem::Checksum(got) => (format!(" bad CRC {got:08x}  (should be {:08x})\n", e.crc), 2),
        Problem::Invalid(why) => {
            (format!("\n  error:  invalid compressed data to inflate {name}: {why}\n"), 3)
        }
        Problem::Directory(part) => (
            format!(
                "checkdir error:  {part} exists but is not directory\n                 \
                 unable to process {name}.\n"
            ),
            2,
        ),
        Problem::Output(e) => (format!("{name}:  write error: {}\n", box_sys::strerror(&e)), 50),
    };
    let _ = ctx.stdout.flush();
    let _ = ctx.stderr.write_all(text.as_bytes());
    status
}

fn no_archive(ctx: &mut Ctx<'_>, job: &Job, name: &str) -> Exit {
    let given = String::from_utf8_lossy(&job.archive).into_owned();
    let _ = ctx.stdout.flush();
    let who = ctx.name.clone();
    let text = format!(
        "  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it \
         constitutes one disk of a multi-part archive.  In the\n  latter case the central directory and \
         zipfile comment will be found on\n  the last disk(s) of this archive.\n{who}:  cannot find \
         zipfile directory in one of {given} or\n        {given}.zip, and cannot find {given}.ZIP, \
         period.\n"
    );
    let _ = name;
    let _ = ctx.stderr.write_all(text.as_bytes());
    Exit(9)
}

/// The archive under its name, or with `.zip` behind it.
fn open(ctx: &Ctx<'_>, name: &[u8]) -> Option<(Vec<u8>, File)> {
    [&b""[..], b".zip", b".ZIP"].iter().find_map(|suffix| {
        let full = [name, suffix].concat();
        let path = ctx.path(&full);
        let file = path.is_file().then(|| File::open(&path).ok()).flatten()?;
        Some((full, file))
    })
}

fn usage(ctx: &mut Ctx<'_>) -> Exit {
    let _ = ctx.stderr.write_all(HELP.as_bytes());
    Exit(10)
}

/// The command line while it is read.
struct Reader<'a> {
    job: Job,
    /// `zipinfo`, or `unzip -Z`.
    info: bool,
    verbose: bool,
    listed: bool,
    /// Words are members that are left out.
    excluding: bool,
    named: bool,
    rest: std::slice::Iter<'a, Vec<u8>>,
}

/// Options may stand in front of the archive and behind it; `-x` and `-d` behind the members.
fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>], action: Action) -> Result<Job, Exit> {
    let job = Job {
        action,
        quiet: 0,
        ignore_case: false,
        archive: Vec::new(),
        only: Vec::new(),
        except: Vec::new(),
        extract: Extract::default(),
    };
    let mut reader = Reader {
        job,
        info: action == Action::Info,
        verbose: false,
        listed: false,
        excluding: false,
        named: false,
        rest: args.iter(),
    };
    let mut plain = false;
    while let Some(arg) = reader.rest.next() {
        match arg.strip_prefix(b"-") {
            Some(b"-") if !plain => plain = true,
            Some(b"-help") if !plain => {
                let _ = ctx.stdout.write_all(HELP.as_bytes());
                return Err(Exit::SUCCESS);
            }
            Some(b"-version") if !plain => {
                let version = env!("CARGO_PKG_VERSION");
                let _ = writeln!(ctx.stdout, "{} (Wasibox) {version}", ctx.name);
                return Err(Exit::SUCCESS);
            }
            Some(flags) if !plain && !flags.is_empty() => reader.flags(ctx, flags)?,
            _ => reader.operand(arg),
        }
    }
    reader.finish(ctx)
}

impl Reader<'_> {
    /// The archive, then members.
    fn operand(&mut self, arg: &[u8]) {
        if !self.named {
            self.job.archive = arg.to_vec();
            self.named = true;
        } else if self.excluding {
            self.job.except.push(arg.to_vec());
        } else {
            self.job.only.push(arg.to_vec());
        }
    }

    /// Letters in one word.
    fn flags(&mut self, ctx: &mut Ctx<'_>, flags: &[u8]) -> Result<(), Exit> {
        let job = &mut self.job;
        for (at, flag) in flags.iter().enumerate() {
            match flag {
                b'Z' if at == 0 => self.info = true,
                b'1' if self.info => job.action = Action::Names,
                b'l' | b's' | b'm' | b'h' | b't' if self.info => {}
                b'l' => self.listed = true,
                b'v' => self.verbose = true,
                b't' => job.action = Action::Test,
                b'z' => job.action = Action::Comment,
                b'p' => job.action = Action::Pipe(false),
                b'c' => job.action = Action::Pipe(true),
                b'q' => job.quiet += 1,
                b'o' => job.extract.overwrite = Overwrite::All,
                b'n' => job.extract.overwrite = Overwrite::None,
                b'j' => job.extract.junk = true,
                b'L' => job.extract.lower = true,
                b'f' => job.extract.freshen = true,
                b'u' => job.extract.update = true,
                b'a' => job.extract.text = true,
                b'K' => job.extract.special = true,
                b'C' => job.ignore_case = true,
                b'b' | b'B' | b'X' | b'D' | b'U' | b'V' | b'M' | b'W' | b':' | b'^' => {}
                b'x' => self.excluding = true,
                b'd' | b'P' | b'O' | b'I' => {
                    let attached = Some(&flags[at + 1..]).filter(|a| !a.is_empty());
                    let value = attached.map(<[u8]>::to_vec).or_else(|| self.rest.next().cloned());
                    let Some(value) = value else {
                        let letter = char::from(*flag);
                        ctx.error(format_args!(" must specify argument of -{letter} option"));
                        return Err(Exit(10));
                    };
                    if *flag == b'd' {
                        job.extract.dir = Some(value);
                    }
                    return Ok(());
                }
                _ => return Err(usage(ctx)),
            }
        }
        Ok(())
    }

    /// What the options say together.
    fn finish(self, ctx: &mut Ctx<'_>) -> Result<Job, Exit> {
        let mut job = self.job;
        if job.action == Action::Extract {
            job.action = match (self.info, self.verbose, self.listed) {
                (true, ..) => Action::Info,
                (_, true, _) => Action::Verbose,
                (_, _, true) => Action::List,
                _ => Action::Extract,
            };
        }
        job.extract.quiet = job.quiet > 0;
        if !self.named {
            let _ = ctx.stdout.write_all(HELP.as_bytes());
            return Err(Exit(if self.verbose { 0 } else { 10 }));
        }
        Ok(job)
    }
}
