//! `type`, and the descriptions of `command -v` and `-V` (bash manual 4.2).

use box_applet::program;
use box_sys::path;
use box_text::escape::alias_quote;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::Flow;
use crate::state::options::ShOpt;

/// The style of a description.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum DescriptionStyle {
    /// The style `foo is a shell builtin`.
    Long,
    /// The style of `command -v`.
    Short,
    /// The style of `type -t`.
    Kind,
    /// The style of `type -p`: files only.
    Path,
}

const RESERVED: &[&[u8]] = &[
    b"!",
    b"[[",
    b"]]",
    b"case",
    b"coproc",
    b"do",
    b"done",
    b"elif",
    b"else",
    b"esac",
    b"fi",
    b"for",
    b"function",
    b"if",
    b"in",
    b"select",
    b"then",
    b"time",
    b"until",
    b"while",
    b"{",
    b"}",
];

pub(super) fn is_reserved(name: &[u8]) -> bool {
    RESERVED.contains(&name)
}

pub(super) fn reserved_words() -> &'static [&'static [u8]] {
    RESERVED
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    // Old spellings of the options.
    let argv: Vec<_> = call
        .argv
        .iter()
        .map(|a| match a.as_slice() {
            b"-type" | b"--type" => std::rc::Rc::new(b"-t".to_vec()),
            b"-path" | b"--path" => std::rc::Rc::new(b"-p".to_vec()),
            b"-all" | b"--all" => std::rc::Rc::new(b"-a".to_vec()),
            _ => a.clone(),
        })
        .collect();
    let inner = BuiltinCall { argv: &argv, operands: &[] };
    let p = shell.parse_builtin_options(&inner, "afptP")?;
    let how = if p.has_letter(b't') {
        DescriptionStyle::Kind
    } else if p.has_letter(b'p') || p.has_letter(b'P') {
        DescriptionStyle::Path
    } else {
        DescriptionStyle::Long
    };
    let mut status = 0;
    for name in p.operands {
        let found = if p.has_letter(b'P') {
            describe_files(shell, name, DescriptionStyle::Path, p.has_letter(b'a'))
        } else {
            describe_all(shell, name, how, p.has_letter(b'a'), p.has_letter(b'f'))
        };
        if !found {
            status = 1;
            if how == DescriptionStyle::Long {
                shell.builtin_error(call.name(), &[name, b": not found"]);
            }
        }
    }
    Ok(status)
}

/// Describes the meaning of a name for `command -v`/`-V`.
pub fn describe_name(
    shell: &mut Shell<'_>,
    name: &[u8],
    command: &[u8],
    how: DescriptionStyle,
    all: bool,
) -> bool {
    let found = describe_all(shell, name, how, all, false);
    if !found && how == DescriptionStyle::Long {
        shell.builtin_error(command, &[name, b": not found"]);
    }
    found
}

fn describe_all(
    shell: &mut Shell<'_>,
    name: &[u8],
    how: DescriptionStyle,
    all: bool,
    no_functions: bool,
) -> bool {
    let mut found = false;
    let say = |shell: &mut Shell<'_>, long: &[&[u8]], short: &[u8], kind: &[u8]| {
        let line = match how {
            DescriptionStyle::Long => long.concat(),
            DescriptionStyle::Short => short.to_vec(),
            DescriptionStyle::Kind => kind.to_vec(),
            DescriptionStyle::Path => return,
        };
        shell.write_out(&[line.as_slice(), b"\n"].concat());
    };
    let alias = if shell.state.options.has_shopt(ShOpt::ExpandAliases) {
        shell.state.aliases.get(name).cloned()
    } else {
        None
    };
    if let Some(value) = alias {
        let short = [b"alias ", name, b"=", alias_quote(&value).as_slice()].concat();
        say(shell, &[name, b" is aliased to `", &value, b"'"], &short, b"alias");
        found = true;
    }
    if (all || !found) && is_reserved(name) {
        say(shell, &[name, b" is a shell keyword"], name, b"keyword");
        found = true;
    }
    if (all || !found)
        && !no_functions
        && let Some(f) = shell.state.functions.get(name).cloned()
    {
        let body = match how {
            DescriptionStyle::Long => shell.function_text(&f),
            _ => Vec::new(),
        };
        say(shell, &[name, b" is a function\n", &body], name, b"function");
        found = true;
    }
    if (all || !found) && shell.enabled_builtin(name).is_some() {
        let posix_special = super::is_special(name)
            && shell.state.options.has_set(crate::state::options::SetOpt::Posix);
        let what: &[u8] =
            if posix_special { b" is a special shell builtin" } else { b" is a shell builtin" };
        say(shell, &[name, what], name, b"builtin");
        found = true;
    }
    if all || !found {
        found |= describe_files(shell, name, how, all);
    }
    found
}

fn describe_files(shell: &mut Shell<'_>, name: &[u8], how: DescriptionStyle, all: bool) -> bool {
    shell.about_to_look();
    let hashed = shell.state.commands.location(name).map(std::path::Path::to_path_buf);
    let mut list = Vec::new();
    let mut from_hash = false;
    if name.contains(&b'/') {
        let f = shell.absolute_path(name);
        if program::is_executable(&f) || is_applet(shell, &f) {
            list.push(name.to_vec());
        }
    } else if let (Some(f), false) = (&hashed, all) {
        from_hash = how == DescriptionStyle::Long;
        list.push(path::to_bytes(f).to_vec());
    } else {
        let search = shell.variable_text(b"PATH").unwrap_or_default();
        let mut last_resort = None;
        for dir in search.split(|c| *c == b':') {
            let shown = match dir {
                b"" => [b"./", name].concat(),
                _ if dir.ends_with(b"/") => [dir, name].concat(),
                _ => [dir, b"/", name].concat(),
            };
            let f = shell.absolute_path(&shown);
            if program::is_executable(&f) || is_applet(shell, &f) {
                list.push(shown);
                if !all {
                    break;
                }
            } else if last_resort.is_none() && !all && f.is_file() {
                last_resort = Some(shown);
            }
        }
        if list.is_empty() {
            list.extend(last_resort);
        }
    }
    for f in &list {
        let line = match how {
            DescriptionStyle::Long if from_hash => [name, b" is hashed (", f, b")"].concat(),
            DescriptionStyle::Long => [name, b" is ", f].concat(),
            DescriptionStyle::Short | DescriptionStyle::Path => f.clone(),
            DescriptionStyle::Kind => b"file".to_vec(),
        };
        shell.write_out(&[line.as_slice(), b"\n"].concat());
    }
    !list.is_empty()
}

fn is_applet(shell: &Shell<'_>, f: &std::path::Path) -> bool {
    let dir = f.parent().map(path::to_bytes).unwrap_or_default();
    matches!(dir, b"/bin" | b"/usr/bin")
        && f.file_name().is_some_and(|n| shell.table.is_program(path::os_bytes(n)))
}
