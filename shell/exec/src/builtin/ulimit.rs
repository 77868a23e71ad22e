//! `ulimit` (bash manual 4.2). The runner's policy sets the real limits of a session. The shell
//! only stores the values that scripts set, prints them and passes them to its subshells; it
//! enforces nothing.

use std::rc::Rc;

use sh_expand::Str;

use super::BuiltinCall;
use crate::Shell;
use crate::shell::{Flow, Unwind};

const NONE: u64 = u64::MAX;

/// A resource: letter, description, unit, soft and hard limit at the start.
struct Resource {
    letter: u8,
    name: &'static str,
    unit: &'static str,
    soft: u64,
    hard: u64,
}

const fn r(letter: u8, name: &'static str, unit: &'static str, soft: u64, hard: u64) -> Resource {
    Resource { letter, name, unit, soft, hard }
}

/// The resources in the order of `ulimit -a`.
const RESOURCES: &[Resource] = &[
    r(b'R', "real-time non-blocking time", "microseconds", NONE, NONE),
    r(b'c', "core file size", "blocks", 0, NONE),
    r(b'd', "data seg size", "kbytes", NONE, NONE),
    r(b'e', "scheduling priority", "", 0, 0),
    r(b'f', "file size", "blocks", NONE, NONE),
    r(b'i', "pending signals", "", 1024, 1024),
    r(b'l', "max locked memory", "kbytes", 64, 64),
    r(b'm', "max memory size", "kbytes", NONE, NONE),
    r(b'n', "open files", "", 1024, 1024),
    r(b'p', "pipe size", "512 bytes", 8, 8),
    r(b'q', "POSIX message queues", "bytes", 819_200, 819_200),
    r(b'r', "real-time priority", "", 0, 0),
    r(b's', "stack size", "kbytes", 8192, NONE),
    r(b't', "cpu time", "seconds", NONE, NONE),
    r(b'u', "max user processes", "", 1024, 1024),
    r(b'v', "virtual memory", "kbytes", NONE, NONE),
    r(b'x', "file locks", "", NONE, NONE),
];

/// The request of one call.
#[derive(Default)]
struct UlimitRequest<'r> {
    soft: bool,
    hard: bool,
    all: bool,
    items: Vec<(&'r Resource, Option<Str>)>,
}

/// Parses the options. Each letter may have a value: the rest of its word, or the next word. After
/// an error, prints a message and returns how the shell continues.
fn parse(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Result<UlimitRequest<'static>, Unwind> {
    let mut request = UlimitRequest::default();
    let args = call.args();
    let mut i = 0;
    while let Some(arg) = args.get(i).filter(|a| a.len() > 1 && a[0] == b'-') {
        i += 1;
        if arg.as_slice() == b"--" {
            break;
        }
        for (at, letter) in arg.iter().enumerate().skip(1) {
            match letter {
                b'S' => request.soft = true,
                b'H' => request.hard = true,
                b'a' => request.all = true,
                _ => {
                    let Some(found) = RESOURCES.iter().find(|r| r.letter == *letter) else {
                        let option = [b'-', *letter];
                        shell.builtin_error(call.name(), &[&option, b": invalid option"]);
                        return Err(shell.print_usage(call.name()));
                    };
                    let mut value =
                        arg.get(at + 1..).filter(|v| !v.is_empty()).map(|v| Rc::new(v.to_vec()));
                    let attached = value.is_some();
                    if !attached && let Some(next) = args.get(i).filter(|a| !a.starts_with(b"-")) {
                        value = Some(next.clone());
                        i += 1;
                    }
                    request.items.push((found, value));
                    if attached {
                        break;
                    }
                }
            }
        }
    }
    if request.items.is_empty()
        && !request.all
        && let Some(file) = RESOURCES.iter().find(|r| r.letter == b'f')
    {
        request.items.push((file, args.get(i).cloned()));
    }
    Ok(request)
}

fn limit_text(value: u64) -> String {
    if value == NONE { "unlimited".into() } else { value.to_string() }
}

/// Formats a line such as `open files                          (-n) 1024`.
fn limit_line(resource: &Resource, value: u64) -> String {
    let unit = match resource.unit {
        "" => format!("(-{})", resource.letter as char),
        unit => format!("({unit}, -{})", resource.letter as char),
    };
    // The units are right-aligned, unless the name is too long.
    let width = 40usize.saturating_sub(unit.len()).max(resource.name.len() + 2);
    format!("{:<width$}{unit} {}\n", resource.name, limit_text(value))
}

pub(super) fn run(shell: &mut Shell<'_>, call: &BuiltinCall<'_>) -> Flow {
    let request = parse(shell, call)?;
    let limits = |shell: &Shell<'_>, r: &Resource| {
        shell.state.user_limits().get(&r.letter).copied().unwrap_or((r.soft, r.hard))
    };
    let read = |shell: &Shell<'_>, r: &Resource| {
        let (soft, hard) = limits(shell, r);
        if request.hard && !request.soft { hard } else { soft }
    };
    if request.all {
        let text: String = RESOURCES.iter().map(|r| limit_line(r, read(shell, r))).collect();
        shell.write_out(text.as_bytes());
        return Ok(0);
    }
    let labelled = request.items.len() > 1;
    for (resource, value) in &request.items {
        let Some(value) = value else {
            let now = read(shell, resource);
            let text =
                if labelled { limit_line(resource, now) } else { format!("{}\n", limit_text(now)) };
            shell.write_out(text.as_bytes());
            continue;
        };
        let (soft, hard) = limits(shell, resource);
        let new = match value.as_slice() {
            b"unlimited" => NONE,
            b"hard" => hard,
            b"soft" => soft,
            // More digits than fit also mean no limit.
            digits if digits.iter().all(u8::is_ascii_digit) => {
                std::str::from_utf8(digits).ok().and_then(|d| d.parse().ok()).unwrap_or(NONE)
            }
            _ => {
                shell.builtin_error(call.name(), &[value, b": invalid number"]);
                return Ok(1);
            }
        };
        let (set_soft, set_hard) = match (request.soft, request.hard) {
            (false, false) => (true, true),
            both => both,
        };
        let after = (if set_soft { new } else { soft }, if set_hard { new } else { hard });
        let refused = if resource.letter == b'p' || after.0 > after.1 {
            Some("Invalid argument")
        } else if after.1 > hard && box_sys::meta::ids().0 != 0 {
            Some("Operation not permitted")
        } else {
            None
        };
        if let Some(why) = refused {
            let name = resource.name.as_bytes();
            shell.builtin_error(call.name(), &[name, b": cannot modify limit: ", why.as_bytes()]);
            return Ok(1);
        }
        shell.state.set_ulimit(resource.letter, after);
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::{RESOURCES, limit_line};

    /// As bash 5.2 prints them.
    #[test]
    fn columns() {
        let show = |letter: u8| {
            RESOURCES.iter().find(|r| r.letter == letter).map(|r| limit_line(r, r.soft)).unwrap()
        };
        assert_eq!(show(b'n'), "open files                          (-n) 1024\n");
        assert_eq!(show(b'c'), "core file size              (blocks, -c) 0\n");
        assert_eq!(show(b'p'), "pipe size                (512 bytes, -p) 8\n");
        assert_eq!(show(b'q'), "POSIX message queues         (bytes, -q) 819200\n");
        assert_eq!(show(b'R'), "real-time non-blocking time  (microseconds, -R) unlimited\n");
    }
}
