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

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Add,
    Update,
    Freshen,
    Delete,
}

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

pub fn parse(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<Job, Exit> {
    let mut job = Job {
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
        store: Vec::new(),
    };
    let suffixes = ".Z:.zip:.zoo:.arc:.lzh:.arj".split(':');
    job.store = suffixes.map(|s| s.as_bytes().to_vec()).collect();
    let mut list = List::Names;
    let (mut named, mut plain) = (false, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut long = [0u8];
        let mut attached: Option<&[u8]> = None;
        let flags: &[u8] = match arg.strip_prefix(b"-") {
            Some(b"-") if !plain => {
                plain = true;
                continue;
            }
            Some(b"-version") if !plain => {
                let _ = writeln!(ctx.stdout, "zip (Wasibox) {}", env!("CARGO_PKG_VERSION"));
                return Err(Exit::SUCCESS);
            }
            Some([b'-', name @ ..]) if !plain => {
                let (name, value) = match name.iter().position(|c| *c == b'=') {
                    Some(at) => (&name[..at], Some(&name[at + 1..])),
                    None => (name, None),
                };
                let mut fits = LONG.iter().filter(|(l, _)| l.as_bytes().starts_with(name));
                let (Some((_, flag)), None) = (fits.next(), fits.next()) else {
                    return Err(invalid(
                        ctx,
                        &format!("long option '{}' not supported", lossy(name)),
                    ));
                };
                attached = value;
                long[0] = *flag;
                &long
            }
            Some(flags) if !plain && !flags.is_empty() => flags,
            _ => {
                match list {
                    List::Only => job.only.push(arg.clone()),
                    List::Except => job.except.push(arg.clone()),
                    List::Names if named => job.names.push(arg.clone()),
                    List::Names => {
                        named = true;
                        job.archive = with_suffix(arg);
                    }
                }
                continue;
            }
        };
        list = List::Names;
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
                    list = if *flag == b'x' { List::Except } else { List::Only };
                    let first = attached.or(Some(&flags[at + 1..])).filter(|f| !f.is_empty());
                    if let Some(first) = first {
                        let to = if *flag == b'x' { &mut job.except } else { &mut job.only };
                        to.push(first.to_vec());
                        list = List::Names;
                    }
                    break;
                }
                b'n' | b'Z' | b'b' | b't' => {
                    let value = attached.or(Some(&flags[at + 1..])).filter(|f| !f.is_empty());
                    let Some(value) = value.map(<[u8]>::to_vec).or_else(|| args.next().cloned())
                    else {
                        let text = format!("option '{}' requires a value", char::from(*flag));
                        return Err(invalid(ctx, &text));
                    };
                    match (flag, value.as_slice()) {
                        (b'n', v) => {
                            let parts = v.split(|c| matches!(c, b':' | b','));
                            job.store = parts.map(<[u8]>::to_vec).collect();
                        }
                        (b'Z', b"store") => job.level = 0,
                        (b'Z', b"deflate") => job.method = super::format::DEFLATED,
                        (b'Z', b"bzip2") => job.method = super::format::BZIP2,
                        (b'Z', v) => {
                            let text = format!("unknown compression method '{}'", lossy(v));
                            return Err(invalid(ctx, &text));
                        }
                        _ => {}
                    }
                    break;
                }
                other => {
                    let text = format!("short option '{}' not supported", char::from(*other));
                    return Err(invalid(ctx, &text));
                }
            }
        }
    }
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
