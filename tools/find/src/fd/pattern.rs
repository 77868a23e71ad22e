//! Patterns: as regular expressions, with fd's rules of letter case and its reports of mistakes.

use globset::GlobBuilder;
use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::Fault;
use super::options::{FdOptions, PatternKind};

/// Compiles all patterns of the options; a name has to match each.
pub(crate) fn compile_patterns(options: &FdOptions) -> Result<Vec<Regex>, Fault> {
    if !options.full_path
        && let Some(path) = options.patterns.iter().find(|p| p.contains('/'))
    {
        return Err(Fault(path_message(path)));
    }
    let texts: Vec<String> =
        options.patterns.iter().map(|p| regex_text(p, options.kind)).collect::<Result<_, _>>()?;
    let parsed: Vec<Hir> = texts.iter().map(|t| parse(t)).collect::<Result<_, _>>()?;
    if !options.hidden && parsed.iter().any(begins_with_dot) {
        return Err(Fault(
            "The pattern(s) seems to only match files with a leading dot, but hidden files are \
             filtered by default. Consider adding -H/--hidden to search hidden files as well or \
             adjust your search pattern."
                .to_string(),
        ));
    }
    let case = options.case_sensitive.unwrap_or_else(|| parsed.iter().any(has_capital));
    texts.iter().map(|text| compile(text, case)).collect()
}

fn path_message(pattern: &str) -> String {
    format!(
        "The search pattern '{pattern}' contains a path-separation character and will not lead to \
         any search results.\n\nTo search for all files in that folder:\n\n  fd . '{pattern}'\n\n\
         To match the full path of files:\n\n  fd --full-path '{pattern}'"
    )
}

/// Returns the pattern as a regular expression.
fn regex_text(pattern: &str, kind: PatternKind) -> Result<String, Fault> {
    Ok(match kind {
        PatternKind::Glob if !pattern.is_empty() => {
            let glob = GlobBuilder::new(pattern).literal_separator(true).build();
            glob.map_err(|e| Fault(e.to_string()))?.regex().to_string()
        }
        PatternKind::Glob | PatternKind::Regex => pattern.to_string(),
        PatternKind::Text => regex_syntax::escape(pattern),
        PatternKind::Name => format!("^{}$", regex_syntax::escape(pattern)),
    })
}

fn mistake(e: impl std::fmt::Display) -> Fault {
    Fault(format!(
        "{e}\n\nNote: You can use the '--fixed-strings' option to search for a literal string \
         instead of a regular expression. Alternatively, you can also use the '--glob' option to \
         match on a glob pattern."
    ))
}

fn parse(text: &str) -> Result<Hir, Fault> {
    let parsed = ParserBuilder::new().utf8(false).build().parse(text);
    parsed.map_err(|e| {
        mistake(format!("regex parse error:\n{e}").replace("error:\nregex parse ", ""))
    })
}

fn compile(text: &str, case_sensitive: bool) -> Result<Regex, Fault> {
    let syntax = syntax::Config::new()
        .utf8(false)
        .case_insensitive(!case_sensitive)
        .dot_matches_new_line(true);
    let built =
        Regex::builder().syntax(syntax).configure(Config::new().utf8_empty(false)).build(text);
    built.map_err(mistake)
}

/// Returns whether the pattern has a capital, also as the end of a class's range.
fn has_capital(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(l) => match std::str::from_utf8(&l.0) {
            Ok(text) => text.chars().any(char::is_uppercase),
            Err(_) => l.0.iter().any(u8::is_ascii_uppercase),
        },
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|r| r.start().is_uppercase() || r.end().is_uppercase())
        }
        HirKind::Class(Class::Bytes(class)) => {
            let capital = |b: u8| b.is_ascii_uppercase();
            class.ranges().iter().any(|r| capital(r.start()) || capital(r.end()))
        }
        HirKind::Capture(c) => has_capital(&c.sub),
        HirKind::Repetition(r) => has_capital(&r.sub),
        HirKind::Concat(list) | HirKind::Alternation(list) => list.iter().any(has_capital),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

/// Returns whether the pattern matches only names that begin with a dot.
fn begins_with_dot(hir: &Hir) -> bool {
    let HirKind::Concat(list) = hir.kind() else { return false };
    match list.as_slice() {
        [start, next, ..] if matches!(start.kind(), HirKind::Look(Look::Start)) => {
            matches!(next.kind(), HirKind::Literal(l) if l.0.starts_with(b"."))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fd's own tests of the same names, in its `src/regex_helper.rs`.
    #[test]
    fn capitals() {
        for (pattern, expected) in [
            ("pattern", false),
            (r"pat\.ern", false),
            ("pattErn", true),
            ("fooA", true),
            (r"\Acargo", false),
            (r"carg\x6F", false),
        ] {
            assert_eq!(parse(pattern).is_ok_and(|hir| has_capital(&hir)), expected, "{pattern}");
        }
    }

    #[test]
    fn leading_dots() {
        for (pattern, expected) in [
            (r"^\.gitignore", true),
            (r"^\.bashrc", true),
            (r"^\.", true),
            (r"^\..*", true),
            (r"\.gitignore", false),
            ("^.gitignore", false),
            (r"^foo\.", false),
        ] {
            assert_eq!(
                parse(pattern).is_ok_and(|hir| begins_with_dot(&hir)),
                expected,
                "{pattern}"
            );
        }
    }
}
