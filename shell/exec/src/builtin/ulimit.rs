//! `ulimit` (bash manual 4.2). The guest's limits are the runner's policy; the shell shows
//! what it knows and accepts settings that only lower something.

use super::Call;
use crate::Shell;
use crate::shell::Flow;

/// Letter, description, unit, value.
const LIMITS: &[(u8, &str, &str, &str)] = &[
    (b'R', "real-time non-blocking time ", "microseconds, ", "unlimited"),
    (b'c', "core file size              ", "blocks, ", "0"),
    (b'd', "data seg size               ", "kbytes, ", "unlimited"),
    (b'e', "scheduling priority                 ", "", "0"),
    (b'f', "file size                   ", "blocks, ", "unlimited"),
    (b'i', "pending signals                     ", "", "1024"),
    (b'l', "max locked memory           ", "kbytes, ", "64"),
    (b'm', "max memory size             ", "kbytes, ", "unlimited"),
    (b'n', "open files                          ", "", "1024"),
    (b'p', "pipe size                ", "512 bytes, ", "8"),
    (b'q', "POSIX message queues         ", "bytes, ", "819200"),
    (b'r', "real-time priority                  ", "", "0"),
    (b's', "stack size                  ", "kbytes, ", "8192"),
    (b't', "cpu time                   ", "seconds, ", "unlimited"),
    (b'u', "max user processes                  ", "", "1024"),
    (b'v', "virtual memory              ", "kbytes, ", "unlimited"),
    (b'x', "file locks                          ", "", "unlimited"),
];

pub fn run(shell: &mut Shell<'_>, call: &Call<'_>) -> Flow {
    let p = match shell.options(call, "SHabcdefiklmnpqrstuvxPRT") {
        Ok(p) => p,
        Err(r) => return r,
    };
    if p.has(b'a') {
        let mut out = String::new();
        for (letter, name, unit, value) in LIMITS {
            out.push_str(&format!("{name}({unit}-{}) {value}\n", *letter as char));
        }
        shell.out(out.as_bytes());
        return Ok(0);
    }
    if let Some(value) = p.operands.first() {
        let known = matches!(value.as_slice(), b"unlimited" | b"hard" | b"soft")
            || value.iter().all(u8::is_ascii_digit);
        if !known {
            shell.builtin_error(call.name(), &[value, b": invalid number"]);
            return Ok(1);
        }
        return Ok(0);
    }
    let mut letters: Vec<u8> =
        p.options.iter().map(|o| o.letter).filter(|l| !matches!(l, b'S' | b'H')).collect();
    if letters.is_empty() {
        letters.push(b'f');
    }
    let several = letters.len() > 1;
    for l in letters {
        if let Some((_, name, unit, value)) = LIMITS.iter().find(|e| e.0 == l) {
            let line = match several {
                true => format!("{name}({unit}-{}) {value}\n", l as char),
                false => format!("{value}\n"),
            };
            shell.out(line.as_bytes());
        }
    }
    Ok(0)
}
