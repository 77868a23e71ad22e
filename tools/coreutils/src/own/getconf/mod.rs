//! `getconf` (POSIX, glibc): configuration values of the machine.
//!
//! `variables.txt` lists all values. Of `-v`, only the form is checked, because the machine has
//! only one compilation environment.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

/// An option of `getconf`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GetconfFlag {
    All,
    Environment,
}

/// Only the help uses this: glibc parses these two options itself, and takes any other word for a
/// name.
const SPEC: Spec<GetconfFlag> = Spec::new(
    "[-v ENVIRONMENT] NAME [FILE]\n-a [FILE]",
    "Print the value of the configuration variable NAME, or of FILE, if the variable is one of a file.\n\
     A variable without a limit is printed as undefined.",
    &[
        Opt::new(GetconfFlag::All, 'a', "").with_help("Print all variables and their values"),
        Opt::new(GetconfFlag::Environment, 'v', "")
            .with_argument("ENVIRONMENT", "Accepted: there is one compilation environment"),
    ],
)
.with_footer(
    "Often wanted: ARG_MAX, LONG_BIT, OPEN_MAX, PAGE_SIZE, PATH, _NPROCESSORS_ONLN;\n\
     NAME_MAX, PATH_MAX and PIPE_BUF of a FILE.",
);

const VARIABLES: &str = include_str!("variables.txt");

const USAGE: &str = "\
Usage: getconf [-v specification] variable_name [pathname]
       getconf -a [pathname]
";

/// The status of a usage error.
const BAD_USAGE: Exit = Exit(2);
/// The status if the file of a variable cannot be examined.
const NO_FILE: Exit = Exit(3);

/// A line of `variables.txt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ConfigVariable {
    name: &'static str,
    value: &'static str,
    /// Whether the value belongs to a file.
    is_of_file: bool,
}

impl ConfigVariable {
    fn parse(line: &'static str) -> Option<ConfigVariable> {
        let (name, value) = line.split_once(' ')?;
        let bare = name.strip_prefix('/');
        Some(ConfigVariable { name: bare.unwrap_or(name), value, is_of_file: bare.is_some() })
    }

    /// Returns the value as text; `None` if it is undefined.
    fn text(&self) -> Option<String> {
        match self.value {
            "-" => None,
            "\"\"" => Some(String::new()),
            "@processors" => {
                Some(std::thread::available_parallelism().map_or(1, usize::from).to_string())
            }
            value => Some(value.to_string()),
        }
    }
}

fn variables() -> impl Iterator<Item = ConfigVariable> {
    VARIABLES.lines().filter(|l| !l.starts_with('#')).filter_map(ConfigVariable::parse)
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    if let Some(b"--help" | b"--version") = args.first().map(Vec::as_slice) {
        SPEC.parse_or_exit(ctx, &args[..1], BAD_USAGE)?;
    }
    if args.first().is_some_and(|a| a == b"-a") {
        return Ok(if args.len() <= 2 { print_all(ctx) } else { refuse_usage(ctx) });
    }
    let operands = match args.first().map(Vec::as_slice) {
        Some(b"-v") => args.get(2..).unwrap_or_default(),
        Some(word) if word.starts_with(b"-v") => &args[1..],
        Some(b"--") => &args[1..],
        _ => args,
    };
    let (name, file) = match operands {
        [name] => (name, None),
        [name, file] => (name, Some(file)),
        _ => return Ok(refuse_usage(ctx)),
    };
    let Some(variable) = variables().find(|v| v.name.as_bytes() == name.as_slice()) else {
        ctx.error_bytes(&[b"Unrecognized variable `", name, b"'"]);
        return Ok(BAD_USAGE);
    };
    if variable.is_of_file != file.is_some() {
        return Ok(refuse_usage(ctx));
    }
    if let Some(file) = file.filter(|f| f.is_empty()) {
        let e = std::io::Error::from_raw_os_error(box_sys::errno::code::ENOENT);
        ctx.error_bytes(&[b"pathconf: ", file, b": ", box_sys::error_text(&e).as_bytes()]);
        return Ok(NO_FILE);
    }
    let text = variable.text().unwrap_or_else(|| "undefined".to_string());
    Ok(ctx.print(&format!("{text}\n")))
}

fn print_all(ctx: &mut Ctx<'_>) -> Exit {
    let lines: String =
        variables().map(|v| format!("{:<35}{}\n", v.name, v.text().unwrap_or_default())).collect();
    ctx.print(&lines)
}

fn refuse_usage(ctx: &mut Ctx<'_>) -> Exit {
    let _ = ctx.stderr.write_all(USAGE.as_bytes());
    BAD_USAGE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_variable_and_every_name_once() {
        let lines = VARIABLES.lines().filter(|l| !l.starts_with('#')).count();
        let mut names: Vec<_> = variables().map(|v| v.name).collect();
        assert_eq!(names.len(), lines);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), lines);
    }

    #[test]
    fn undefined_is_not_empty() {
        let text = |line| ConfigVariable::parse(line).unwrap().text();
        assert_eq!(text("SYMLOOP_MAX -"), None);
        assert_eq!(text("LFS_CFLAGS \"\"").as_deref(), Some(""));
        assert_eq!(text("PATH /bin:/usr/bin").as_deref(), Some("/bin:/usr/bin"));
    }
}
