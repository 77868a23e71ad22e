//! Any text: parsed command by command without a panic, in bounded time; the printed form parses to
//! the same tree.
#![no_main]

#[path = "../../../shell/syntax/tests/common/canonical.rs"]
mod canonical;

use libfuzzer_sys::fuzz_target;
use sh_syntax::ast::List;
use sh_syntax::parse::{NoAliases, ParseOptions, Parser, parse_all};
use sh_syntax::print;

fuzz_target!(|data: &[u8]| {
    // Scripts hold no NUL; the first byte chooses options.
    let Some((&flags, text)) = data.split_first() else { return };
    if text.contains(&0) {
        return;
    }
    let options =
        ParseOptions { posix: flags & 1 != 0, extglob: flags & 2 != 0, ..ParseOptions::default() };
    let mut parser = Parser::new(text, options.clone());
    loop {
        match parser.next_command(&NoAliases) {
            Ok(Some(list)) => round_trip(&list, &options),
            Ok(None) => return,
            Err(e) => {
                let _ = e.render(b"x: ");
                return;
            }
        }
    }
});

fn round_trip(list: &List, options: &ParseOptions) {
    let text = print::list_kept(list);
    let shown = String::from_utf8_lossy(&text);
    let excused = |tree: &List| {
        has_bad_substitution(tree)
            || may_end_early(&text)
            || keeps_braces(tree, &text)
            || loses_document(&text)
    };
    let again = match parse_all(&text, options) {
        Ok(again) => again,
        Err(_) if excused(list) => return,
        Err(e) => panic!("printed text does not parse: {e}\n{shown}"),
    };
    let (mut a, mut b) = (list.clone(), again);
    canonical::list(&mut a);
    canonical::list(&mut b);
    if a != b && !excused(list) && !excused(&b) {
        panic!("another tree after printing\n{shown}\n{a:#?}\n{b:#?}");
    }
}

/// Whether there is a `${` that is not a substitution, or a word whose expansion fails because its
/// end is lost. Its text, in which `$'...'` is decoded, is for the message alone and need not parse
/// again, as in bash; running it abandons the command.
fn has_bad_substitution(list: &List) -> bool {
    let tree = format!("{list:?}");
    tree.contains("Bad {") || tree.contains("error: Some(")
}

/// Returns whether braces hide the end of the surrounding construct: those in the text of `$((...)
/// )`, whose commands are read when it runs, if they are not a substitution, those in single quotes
/// in arithmetic, which bash takes for text, and `"${name:$'"'}"`. In them `$'...'` is decoded, and
/// printed by bash in this form.
fn keeps_braces(list: &List, text: &[u8]) -> bool {
    let mut braces = text.windows(2).enumerate().filter(|(_, two)| *two == b"${");
    if format!("{list:?}").contains("source: Some(") {
        return braces.next().is_some();
    }
    braces.any(|(at, _)| {
        let inside = text[at..].split(|c| *c == b'}').next().unwrap_or_default();
        let odd = |quote: u8| inside.iter().filter(|c| **c == quote).count() % 2 == 1;
        odd(b'\'')
            || odd(b'"')
            || inside.ends_with(b":")
            || inside.windows(2).any(|two| two == b":\"")
    })
}

/// Whether a here-document stands in `<((`, which is printed as it was spelled, as by bash: without
/// a body that came after it.
fn loses_document(text: &[u8]) -> bool {
    let mut openers = text.windows(3).enumerate().filter(|(_, w)| *w == b"<((" || *w == b">((");
    openers.any(|(at, _)| text[at..].windows(2).any(|two| two == b"<<"))
}

/// Whether a line begins with a here-document's delimiter and holds a `)`. In a substitution that line
/// ends the document, as in bash; where the document stood after the substitution in the source
/// it did not, and that bash does not read at all.
fn may_end_early(text: &[u8]) -> bool {
    let announced = text.windows(2).enumerate().filter(|(_, pair)| *pair == b"<<");
    let mut documents = announced.map(|(at, _)| {
        let behind = &text[at + 2..];
        let word = behind.strip_prefix(b"-").unwrap_or(behind).trim_ascii_start();
        let word = word.strip_prefix(b"'").unwrap_or(word);
        let ends = |c: &u8| c.is_ascii_whitespace() || b"'<>();&|".contains(c);
        let length = word.iter().position(ends).unwrap_or(word.len());
        (&word[..length], behind)
    });
    documents.any(|(delimiter, behind)| {
        let mut lines = behind.split(|c| *c == b'\n').skip(1);
        lines.any(|line| line.starts_with(delimiter) && line.contains(&b')'))
    })
}
