//! `locale` (POSIX, glibc): the locale's variables, names and keywords.
//!
//! The machine has the locales C (also named POSIX) and C.UTF-8, which only differ in their
//! characters. `categories.txt` lists the keywords. As in all our tools, a locale that does not
//! exist counts as C.UTF-8.

use std::io::Write;

use box_applet::opts::{Opt, ParsedOptions, Spec, UsageError};
use box_applet::{Ctx, Ended, Env, Exit};

/// An option of `locale`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LocaleFlag {
    All,
    CategoryName,
    Charmaps,
    KeywordName,
    Verbose,
}

const SPEC: Spec<LocaleFlag> = Spec::new(
    "[OPTION]... [NAME]...",
    "Print the variables that choose the locale, or values of the locale itself: NAME is a\n\
     category, such as LC_TIME, or a keyword, such as charmap or decimal_point.",
    &[
        Opt::new(LocaleFlag::All, 'a', "all-locales").with_help("Print the names of all locales"),
        Opt::new(LocaleFlag::Charmaps, 'm', "charmaps")
            .with_help("Print the names of all character sets"),
        Opt::new(LocaleFlag::CategoryName, 'c', "category-name")
            .with_help("Print the category of each value before it"),
        Opt::new(LocaleFlag::KeywordName, 'k', "keyword-name")
            .with_help("Print values as KEYWORD=VALUE"),
        Opt::new(LocaleFlag::Verbose, 'v', "verbose").with_help("Print more with -a"),
    ],
);

const CATEGORIES: &str = include_str!("categories.txt");
const LOCALES: &str = "C\nC.utf8\nPOSIX\n";
const ASCII: &str = "ANSI_X3.4-1968";
const UTF8: &str = "UTF-8";
const HINT: &str = "Try `locale --help' or `locale --usage' for more information.\n";
/// The status after an unknown option.
const BAD_OPTION: Exit = Exit(64);

/// A keyword and its value, as `-k` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LocaleKeyword {
    category: &'static str,
    name: &'static str,
    value: &'static str,
}

impl LocaleKeyword {
    /// Returns the value as `-k` shows it.
    fn quoted_value(&self, utf8: bool) -> String {
        match self.value {
            "@charmap" => format!("\"{}\"", charmap(utf8)),
            "@longest" => if utf8 { "6" } else { "1" }.to_string(),
            value => value.to_string(),
        }
    }
}

fn charmap(utf8: bool) -> &'static str {
    if utf8 { UTF8 } else { ASCII }
}

/// Returns all keywords, in order.
fn keywords() -> impl Iterator<Item = LocaleKeyword> {
    let mut category = "";
    CATEGORIES.lines().filter(|l| !l.starts_with('#')).filter_map(move |line| {
        let Some((name, value)) = line.split_once('=') else {
            category = line;
            return None;
        };
        Some(LocaleKeyword { category, name, value })
    })
}

/// Returns the names of the categories, in the order of the variables.
fn categories() -> impl Iterator<Item = &'static str> {
    CATEGORIES.lines().filter(|l| !l.starts_with('#') && !l.contains('='))
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = match SPEC.parse(args) {
        Ok(p) => p,
        Err(UsageError::Message(text)) => {
            ctx.error(text);
            let _ = ctx.stderr.write_all(HINT.as_bytes());
            return Ok(BAD_OPTION);
        }
        Err(e) => return Err(SPEC.answer_usage(ctx, e, BAD_OPTION)),
    };
    let lists = p.has_option(LocaleFlag::All) || p.has_option(LocaleFlag::Charmaps);
    warn_of_missing(ctx, !lists);
    if p.has_option(LocaleFlag::All) {
        return Ok(ctx.print(LOCALES));
    }
    if p.has_option(LocaleFlag::Charmaps) {
        return Ok(ctx.print(&format!("{ASCII}\n{UTF8}\n")));
    }
    if !p.operands.is_empty() {
        return Ok(print_names(ctx, &p));
    }
    let by_option = [LocaleFlag::CategoryName, LocaleFlag::KeywordName];
    if p.last_of(&by_option).is_none() {
        print_variables(ctx);
    }
    Ok(Exit::SUCCESS)
}

/// Returns the value of a category in an environment.
fn value_for<'e>(env: &'e Env, category: &str) -> &'e [u8] {
    let names = [&b"LC_ALL"[..], category.as_bytes(), b"LANG"];
    names.iter().find_map(|n| env.get(n).filter(|v| !v.is_empty())).unwrap_or(b"POSIX")
}

/// Returns whether the machine has the locale.
fn is_locale(name: &[u8]) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(&name[..], b"c" | b"posix" | b"c.utf8" | b"c.utf-8")
}

/// Warns about variables that name missing locales; if `all`, about the variables of all
/// categories.
fn warn_of_missing(ctx: &mut Ctx<'_>, all: bool) {
    let is_missing = |category: &str| !is_locale(value_for(&ctx.env, category));
    let mut named: Vec<&str> =
        ["LC_CTYPE", "LC_MESSAGES"].into_iter().filter(|c| is_missing(c)).collect();
    if all && categories().any(is_missing) {
        named.push("LC_ALL");
    }
    for category in named {
        let text = "No such file or directory";
        ctx.error(format_args!("Cannot set {category} to default locale: {text}"));
    }
}

/// Prints the variables: those that are set quoted for the shell, implied values in double quotes.
fn print_variables(ctx: &mut Ctx<'_>) {
    let get = |name: &str| ctx.env.get(name.as_bytes()).unwrap_or_default();
    let mut out = Vec::new();
    for name in ["LANG", "LANGUAGE"] {
        out.extend([name.as_bytes(), b"=", &quote_for_shell(get(name)), b"\n"].concat());
    }
    for name in categories() {
        let own = get(name);
        let is_own = get("LC_ALL").is_empty() && !own.is_empty();
        let value = if is_own {
            quote_for_shell(own)
        } else {
            [b"\"", value_for(&ctx.env, name), b"\""].concat()
        };
        out.extend([name.as_bytes(), b"=", &value, b"\n"].concat());
    }
    out.extend([b"LC_ALL=", &quote_for_shell(get("LC_ALL"))[..], b"\n"].concat());
    let _ = ctx.stdout.write_all(&out);
}

/// Returns the text with backslashes before the characters that are special to a shell.
fn quote_for_shell(text: &[u8]) -> Vec<u8> {
    let is_plain = |c: u8| c.is_ascii_alphanumeric() || c >= 0x80 || b"%+,-./:=@^_~".contains(&c);
    let quoted = text.iter().flat_map(|&c| {
        let backslash = (!is_plain(c)).then_some(b'\\');
        backslash.into_iter().chain([c])
    });
    quoted.collect()
}

/// Prints the categories and keywords that the operands name.
fn print_names(ctx: &mut Ctx<'_>, p: &ParsedOptions<LocaleFlag>) -> Exit {
    let utf8 = ctx.env.is_utf8();
    let mut exit = Exit::SUCCESS;
    for name in &p.operands {
        let text = String::from_utf8_lossy(name);
        let found: Vec<LocaleKeyword> =
            keywords().filter(|k| k.category == text || k.name == text).collect();
        let Some(first) = found.first() else {
            ctx.error(format_args!("unknown name \"{text}\""));
            exit = Exit::FAILURE;
            continue;
        };
        let mut lines = String::new();
        if p.has_option(LocaleFlag::CategoryName) {
            lines += &format!("{}\n", first.category);
        }
        for keyword in &found {
            let value = keyword.quoted_value(utf8);
            if p.has_option(LocaleFlag::KeywordName) {
                lines += &format!("{}={value}\n", keyword.name);
            } else {
                lines += &format!("{}\n", value.replace('"', ""));
            }
        }
        ctx.print(&lines);
    }
    exit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_has_a_category() {
        assert_eq!(categories().count(), 12);
        assert!(keywords().all(|k| k.category.starts_with("LC_")));
        let point = keywords().find(|k| k.name == "decimal_point").unwrap();
        assert_eq!((point.category, point.value), ("LC_NUMERIC", "\".\""));
    }

    #[test]
    fn the_shell_reads_quoted_values() {
        assert_eq!(quote_for_shell(b"x\"$y"), b"x\\\"\\$y");
        assert_eq!(quote_for_shell(b"de_DE.UTF-8@euro"), b"de_DE.UTF-8@euro");
    }

    #[test]
    fn variables_have_their_order() {
        let env = |pairs: &[(&str, &str)]| -> Env {
            let owned = pairs.iter().map(|(n, v)| (n.as_bytes().to_vec(), v.as_bytes().to_vec()));
            owned.collect()
        };
        assert_eq!(value_for(&env(&[]), "LC_TIME"), b"POSIX");
        let both = env(&[("LANG", "C.UTF-8"), ("LC_TIME", "C"), ("LC_ALL", "")]);
        assert_eq!(value_for(&both, "LC_TIME"), b"C");
        assert_eq!(value_for(&both, "LC_CTYPE"), b"C.UTF-8");
    }
}
