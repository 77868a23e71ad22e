//! `zip`'s command line. Options may stand anywhere, `-x` and `-i` take all words up to the next option.

use std::io::Write;

use box_applet::{Ctx, Exit};

const HELP: &str = "\
Usage: zip [-options] [-b path] [-n suffixes] [zipfile list] [-xi list]
  The default action is to add or replace zipfile entries from list, which
  can include the special name - to compress standard input.
  If zipfile is -, zip writes the archive to standard output.
  -f   freshen: only changed files  -u   update: only changed or new files
  -d   delete entries in zipfile    -m   move into zipfile (delete OS files)
  -r   recurse into directories     -j   junk (don't record) directory names
  -0   store only                   -9   compress better; -1 compress faster
  -q   quiet operation              -v   accepted and ignored
  -x   exclude the following names  -i   include only the following names
  -D   do not add directory entries -T   test zipfile integrity
  -X   eXclude eXtra file attributes
  -y   store symbolic links as the link instead of the referenced file
  -n   don't compress these suffixes
  -Z   set compression method: store, deflate, bzip2
  -@   read names from stdin
";

/// What becomes of the archive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Add,
    Update,
    Freshen,
    Delete,
}

/// What is to be done, from the command line.
pub struct Job {
    pub action: Action,
    pub archive: Vec<u8>,
    pub names: Vec<Vec<u8>>,
    pub only: Vec<Vec<u8>>,
    pub except: Vec<Vec<u8>>,
    pub names_from_stdin: bool,
    pub quiet: bool,
    pub recurse: bool,
    pub junk: bool,
    pub no_dirs: bool,
    /// Symbolic links as links.
    pub links: bool,
    pub remove: bool,
    pub test: bool,
    pub no_extra: bool,
    pub level: u32,
    pub method: u16,
    /// Suffixes of files that are stored.
    pub store: Vec<Vec<u8>>,
}

impl Default for Job {
    fn default() -> Job {
        let suffixes = ".Z:.zip:.zoo:.arc:.lzh:.arj".split(':');
        Job {
            action: Action::Add,
            archive: Vec::new(),
            names: Vec::new(),
            only: Vec::new(),
            except: Vec::new(),
            names_from_stdin: false,
            quiet: false,
            recurse: false,
            junk: false,
            no_dirs: false,
            links: false,
            remove: false,
            test: false,
            no_extra: false,
            level: 6,
            method: super::format::DEFLATED,
            store: suffixes.map(|s| s.as_bytes().to_vec()).collect(),
        }
    }
}

/// Long names of options, and options of two letters, by what they mean.
const LONG: &[(&str, u8)] = &[
    ("recurse-paths", b'r'),
    ("quiet", b'q'),
    ("verbose", b'v'),
    ("junk-paths", b'j'),
    ("symlinks", b'y'),
    ("delete", b'd'),
    ("update", b'u'),
    ("freshen", b'f'),
    ("move", b'm'),
    ("test", b'T'),
    ("no-dir-entries", b'D'),
    ("no-extra", b'X'),
    ("exclude", b'x'),
    ("include", b'i'),
    ("names-stdin", b'@'),
    ("suffixes", b'n'),
    ("compression-method", b'Z'),
    ("temp-path", b'b'),
    ("help", b'h'),
];

/// Where the words that follow go.
#[derive(Clone, Copy, PartialEq)]
enum List {
    Names,
    Only,
    Except,
}

/// The command line while it is read.
struct Reader<'a> {
    job: Job,
    list: List,
    /// The archive was named.
    named: bool,
    rest: std::slice::Iter<'a, Vec<u8>>,
}

/// Parses the command line; `Err` after a message or help.
pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<Job, Exit> {
    let mut reader =
        Reader { job: Job::default(), list: List::Names, named: false, rest: args.iter() };
    let mut plain = false;
    while let Some(arg) = reader.rest.next() {
        match arg.strip_prefix(b"-") {
            Some(b"-") if !plain => plain = true,
            Some(b"-version") if !plain => {
                let _ = writeln!(ctx.stdout, "zip (Wasibox) {}", env!("CARGO_PKG_VERSION"));
                return Err(Exit::SUCCESS);
            }
            Some([b'-', name @ ..]) if !plain => {
                let (flag, value) = long(name).ok_or_else(|| {
                    let name = name.split(|c| *c == b'=').next().unwrap_or_default();
                    invalid(ctx, &format!("long option '{}' not supported", lossy(name)))
                })?;
                reader.flags(ctx, &[flag], value)?;
            }
            Some(flags) if !plain && !flags.is_empty() => reader.flags(ctx, flags, None)?,
            _ => reader.operand(arg),
        }
    }
    let Reader { job, named, .. } = reader;
    let unselected = job.only.is_empty() && job.except.is_empty();
    if !named && !unselected {
        return Err(invalid(ctx, "nothing to select from"));
    }
    if !named {
        let _ = ctx.stdout.write_all(HELP.as_bytes());
        return Err(Exit::SUCCESS);
    }
    Ok(job)
}

/// The letter of a long name, which may be abbreviated, and the value that is attached to it.
fn long(name: &[u8]) -> Option<(u8, Option<&[u8]>)> {
    let (name, value) = match name.iter().position(|c| *c == b'=') {
        Some(at) => (&name[..at], Some(&name[at + 1..])),
        None => (name, None),
    };
    let mut fits = LONG.iter().filter(|(l, _)| l.as_bytes().starts_with(name));
    match (fits.next(), fits.next()) {
        (Some((_, flag)), None) => Some((*flag, value)),
        _ => None,
    }
}

impl Reader<'_> {
    fn operand(&mut self, arg: &[u8]) {
        match self.list {
            List::Only => self.job.only.push(arg.to_vec()),
            List::Except => self.job.except.push(arg.to_vec()),
            List::Names if self.named => self.job.names.push(arg.to_vec()),
            List::Names => {
                self.named = true;
                self.job.archive = with_suffix(arg);
            }
        }
    }

    /// Letters in one word; `attached` is the value of a long name.
    fn flags(
        &mut self,
        ctx: &mut Ctx<'_>,
        flags: &[u8],
        attached: Option<&[u8]>,
    ) -> Result<(), Exit> {
        self.list = List::Names;
        let job = &mut self.job;
        for (at, flag) in flags.iter().enumerate() {
            match flag {
                b'r' => job.recurse = true,
                b'q' => job.quiet = true,
                b'j' => job.junk = true,
                b'D' => job.no_dirs = true,
                b'y' => job.links = true,
                b'm' => job.remove = true,
                b'T' => job.test = true,
                b'X' => job.no_extra = true,
                b'd' => job.action = Action::Delete,
                b'u' => job.action = Action::Update,
                b'f' => job.action = Action::Freshen,
                b'0'..=b'9' => job.level = u32::from(flag - b'0'),
                b'@' => job.names_from_stdin = true,
                b'v' | b'o' | b'k' | b'A' | b'g' | b'S' => {}
                b'h' | b'?' => {
                    let _ = ctx.stdout.write_all(HELP.as_bytes());
                    return Err(Exit::SUCCESS);
                }
                b'x' | b'i' => {
                    let (list, to) = match flag {
                        b'x' => (List::Except, &mut job.except),
                        _ => (List::Only, &mut job.only),
                    };
                    // What is attached is the only one.
                    match attached.or(Some(&flags[at + 1..])).filter(|f| !f.is_empty()) {
                        Some(first) => to.push(first.to_vec()),
                        None => self.list = list,
                    }
                    return Ok(());
                }
                b'n' | b'Z' | b'b' | b't' => {
                    let value = attached.or(Some(&flags[at + 1..])).filter(|f| !f.is_empty());
                    return self.valued(ctx, *flag, value);
                }
                other => {
                    let text = format!("short option '{}' not supported", char::from(*other));
                    return Err(invalid(ctx, &text));
                }
            }
        }
        Ok(())
    }

    /// An option with a value, which is the next word if none is attached.
    fn valued(&mut self, ctx: &mut Ctx<'_>, flag: u8, value: Option<&[u8]>) -> Result<(), Exit> {
        let Some(value) = value.map(<[u8]>::to_vec).or_else(|| self.rest.next().cloned()) else {
            let text = format!("option '{}' requires a value", char::from(flag));
            return Err(invalid(ctx, &text));
        };
        match (flag, value.as_slice()) {
            (b'n', suffixes) => {
                let parts = suffixes.split(|c| matches!(c, b':' | b','));
                self.job.store = parts.map(<[u8]>::to_vec).collect();
            }
            (b'Z', b"store") => self.job.level = 0,
            (b'Z', b"deflate") => self.job.method = super::format::DEFLATED,
            (b'Z', b"bzip2") => self.job.method = super::format::BZIP2,
            (b'Z', other) => {
                let text = format!("unknown compression method '{}'", lossy(other));
                return Err(invalid(ctx, &text));
            }
            // A folder for temporary files, a date: without effect.
            _ => {}
        }
        Ok(())
    }
}

fn invalid(ctx: &mut Ctx<'_>, why: &str) -> Exit {
    let text = format!("\nzip error: Invalid command arguments ({why})\n");
    let _ = ctx.stderr.write_all(text.as_bytes());
    Exit(16)
}

/// `.zip` is put behind names without a suffix.
fn with_suffix(name: &[u8]) -> Vec<u8> {
    let last = name.rsplit(|c| *c == b'/').next().unwrap_or_default();
    if name == b"-" || last.contains(&b'.') { name.to_vec() } else { [name, b".zip"].concat() }
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
