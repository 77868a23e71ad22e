//! Parses any text command by command. There must be no panic, time must be bounded, and the
//! printed form must parse to the same tree.
#![no_main]

#[path = "../../../shell/syntax/tests/common/canonical.rs"]
mod canonical;

use libfuzzer_sys::fuzz_target;
use sh_syntax::ast::CommandList;
use sh_syntax::parse::{NoAliases, ParseOptions, Parser, parse_all};
use sh_syntax::print;

fuzz_target!(|data: &[u8]| {
    // The first byte selects options; scripts contain no NUL.
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

fn round_trip(list: &CommandList, options: &ParseOptions) {
    let text = print::list_kept(list);
    let shown = String::from_utf8_lossy(&text);
    let excused = |tree: &CommandList| {
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

/// Returns whether there is a `${` that is not a substitution, or a word whose expansion fails
/// because its end is missing. As in bash, such text, in which `$'...'` is decoded, appears only in
/// the error message, and running it abandons the command, so it need not parse again.
fn has_bad_substitution(list: &CommandList) -> bool {
    let tree = format!("{list:?}");
    tree.contains("Bad {") || tree.contains("error: Some(")
}

/// Returns whether braces hide the end of the construct around them. There are three cases: braces
/// in the text of `$((...) )` that are not a substitution, because the commands in it are read when
/// it runs; braces in single quotes in arithmetic, which bash takes for text; and `"${name:$'"'}"`.
/// In all of them bash decodes `$'...'` and prints the decoded form.
fn keeps_braces(list: &CommandList, text: &[u8]) -> bool {
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

/// Returns whether there is a here-document in `<((`. It is printed as it was spelled, as bash
/// does: without a body that followed it.
fn loses_document(text: &[u8]) -> bool {
    let mut openers = text.windows(3).enumerate().filter(|(_, w)| *w == b"<((" || *w == b">((");
    openers.any(|(at, _)| text[at..].windows(2).any(|two| two == b"<<"))
}

/// Returns whether a line begins with a here-document's delimiter and contains a `)`. In a
/// substitution that line ends the document, as in bash. If the document followed the substitution
/// in the source, the line did not end it, and bash does not read such a document at all.
fn may_end_early(text: &[u8]) -> bool {
    let announced = text.windows(2).enumerate().filter(|(_, pair)| *pair == b"<<");
    let mut documents = announced.map(|(at, _)| {
        let after = &text[at + 2..];
        let word = after.strip_prefix(b"-").unwrap_or(after).trim_ascii_start();
        let word = word.strip_prefix(b"'").unwrap_or(word);
        let ends = |c: &u8| c.is_ascii_whitespace() || b"'<>();&|".contains(c);
        let length = word.iter().position(ends).unwrap_or(word.len());
        (&word[..length], after)
    });
    documents.any(|(delimiter, after)| {
        let mut lines = after.split(|c| *c == b'\n').skip(1);
        lines.any(|line| line.starts_with(delimiter) && line.contains(&b')'))
    })
}
