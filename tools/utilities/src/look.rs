//! `look` (util-linux 2.38): prints the lines of a sorted file that begin with a text, by binary
//! search.

use std::cmp::Ordering;
use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::error_text;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Alternative,
    Alphanumeric,
    IgnoreCase,
    Terminate,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]... TEXT [FILE]",
    "Print the lines of FILE that begin with TEXT. FILE must be sorted (with sort -d; with \
        -f, by sort -df). Without FILE, /usr/share/dict/words is read, with -df.",
    &[
        Opt::new(Flag::Alternative, 'a', "alternative")
            .with_help("Without FILE: read /usr/share/dict/web2"),
        Opt::new(Flag::Alphanumeric, 'd', "alphanum")
            .with_help("Compare letters, digits and blanks only"),
        Opt::new(Flag::IgnoreCase, 'f', "ignore-case").with_help("Ignore case"),
        Opt::new(Flag::Terminate, 't', "terminate")
            .with_argument("CHAR", "Compare TEXT only up to the first CHAR in it"),
    ],
);

/// The way in which a line is compared with the text.
struct Comparison {
    text: Vec<u8>,
    alphanumeric: bool,
    ignore_case: bool,
}

impl Comparison {
    fn is_compared(&self, c: u8) -> bool {
        !self.alphanumeric || c.is_ascii_alphanumeric() || c == b' ' || c == b'\t'
    }

    fn fold(&self, c: u8) -> u8 {
        if self.ignore_case { c.to_ascii_lowercase() } else { c }
    }

    /// Compares the text with the beginning of a line.
    fn compare(&self, line: &[u8]) -> Ordering {
        let mut rest = line.iter().copied().filter(|c| self.is_compared(*c));
        for &c in &self.text {
            match rest.next() {
                None => return Ordering::Greater,
                Some(other) if self.fold(c) != self.fold(other) => {
                    return self.fold(c).cmp(&self.fold(other));
                }
                Some(_) => {}
            }
        }
        Ordering::Equal
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let (text, file) = match p.operands.as_slice() {
        [text] => (text, None),
        [text, file] => (text, Some(file.clone())),
        _ => {
            ctx.error("bad usage");
            ctx.hint();
            return Ok(Exit::FAILURE);
        }
    };
    let dictionary: &[u8] = if p.has_option(Flag::Alternative) {
        b"/usr/share/dict/web2"
    } else {
        b"/usr/share/dict/words"
    };
    let by_default = file.is_none();
    let file = file.unwrap_or_else(|| dictionary.to_vec());
    let mut how = Comparison {
        text: text.clone(),
        alphanumeric: by_default || p.has_option(Flag::Alphanumeric),
        ignore_case: by_default || p.has_option(Flag::IgnoreCase),
    };
    if let Some(&[end, ..]) = p.last_value(Flag::Terminate)
        && let Some(at) = how.text.iter().position(|c| *c == end)
    {
        how.text.truncate(at + 1);
    }
    how.text = how.text.iter().copied().filter(|c| how.is_compared(*c)).collect();
    let content = match ctx.read_file(&file) {
        Ok(content) => content,
        Err(e) => {
            ctx.error_bytes(&[&file, b": ", error_text(&e).as_bytes()]);
            return Ok(Exit::FAILURE);
        }
    };
    let mut exit = Exit::FAILURE;
    let mut at = find_start(&content, &how);
    while at < content.len() {
        let end = next_line(&content, at);
        match how.compare(content[at..end].strip_suffix(b"\n").unwrap_or(&content[at..end])) {
            Ordering::Less => break,
            Ordering::Equal => {
                exit = Exit::SUCCESS;
                let _ = ctx.stdout.write_all(&content[at..end]);
            }
            Ordering::Greater if exit == Exit::SUCCESS => break,
            Ordering::Greater => {}
        }
        at = end;
    }
    Ok(exit)
}

fn next_line(content: &[u8], at: usize) -> usize {
    let rest = content.get(at..).unwrap_or_default();
    rest.iter().position(|c| *c == b'\n').map_or(content.len(), |n| at + n + 1)
}

/// Returns the beginning of a line that is not after the first match, found by halving.
fn find_start(content: &[u8], how: &Comparison) -> usize {
    let (mut front, mut back) = (0, content.len());
    loop {
        let middle = next_line(content, front + (back - front) / 2);
        if middle >= back {
            return front;
        }
        let line = &content[middle..next_line(content, middle)];
        if how.compare(line.strip_suffix(b"\n").unwrap_or(line)) == Ordering::Greater {
            front = middle;
        } else {
            back = middle;
        }
    }
}
