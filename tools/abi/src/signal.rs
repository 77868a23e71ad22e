//! Signals by number and name, defined once for guests and the host: Linux's numbers, and names as
//! bash's `kill -l` prints them.

use alloc::format;
use alloc::string::{String, ToString};

/// `SIGHUP`.
pub const HUP: u8 = 1;
/// `SIGINT`.
pub const INT: u8 = 2;
/// `SIGQUIT`.
pub const QUIT: u8 = 3;
/// `SIGILL`.
pub const ILL: u8 = 4;
/// `SIGABRT`.
pub const ABRT: u8 = 6;
/// `SIGFPE`.
pub const FPE: u8 = 8;
/// `SIGKILL`.
pub const KILL: u8 = 9;
/// `SIGSEGV`.
pub const SEGV: u8 = 11;
/// `SIGPIPE`.
pub const PIPE: u8 = 13;
/// `SIGALRM`.
pub const ALRM: u8 = 14;
/// `SIGTERM`.
pub const TERM: u8 = 15;
/// `SIGCHLD`.
pub const CHLD: u8 = 17;
/// `SIGCONT`.
pub const CONT: u8 = 18;
/// `SIGSTOP`.
pub const STOP: u8 = 19;
/// `SIGTSTP`.
pub const TSTP: u8 = 20;
/// `SIGTTIN`.
pub const TTIN: u8 = 21;
/// `SIGTTOU`.
pub const TTOU: u8 = 22;
/// `SIGURG`.
pub const URG: u8 = 23;
/// `SIGWINCH`.
pub const WINCH: u8 = 28;

/// Names without `SIG`, by number; index 0 is `EXIT`.
pub const NAMES: [&str; 32] = [
    "EXIT", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV",
    "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU",
    "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// Parses a signal given as `9`, `KILL` or `SIGKILL`, in upper or lower case, and returns its
/// number; also parses the real-time signals `RTMIN`, `RTMIN+n`, `RTMAX-n`, `RTMAX` (34 to 64).
pub fn parse(text: &[u8]) -> Option<u8> {
    if !text.is_empty() && text.iter().all(u8::is_ascii_digit) {
        return core::str::from_utf8(text).ok()?.parse().ok().filter(|n| *n <= 64);
    }
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix(b"SIG".as_slice()).unwrap_or(&upper);
    if let Some(n) = NAMES.iter().position(|k| k.as_bytes() == name) {
        return u8::try_from(n).ok();
    }
    let offset = |t: &[u8]| core::str::from_utf8(t).ok()?.parse::<u8>().ok().filter(|n| *n <= 30);
    match name {
        b"CLD" => Some(CHLD),
        b"IOT" => Some(ABRT),
        b"POLL" => Some(29),
        b"RTMIN" => Some(34),
        b"RTMAX" => Some(64),
        _ => match name.strip_prefix(b"RTMIN+".as_slice()) {
            Some(t) => offset(t).map(|n| 34 + n),
            None => name.strip_prefix(b"RTMAX-".as_slice()).and_then(offset).map(|n| 64 - n),
        },
    }
}

/// Returns the name of a signal without `SIG`, for example `KILL` for 9.
pub fn name(number: u8) -> Option<String> {
    match number {
        0..=31 => Some(NAMES[usize::from(number)].to_string()),
        34 => Some("RTMIN".to_string()),
        35..=49 => Some(format!("RTMIN+{}", number - 34)),
        50..=63 => Some(format!("RTMAX-{}", 64 - number)),
        64 => Some("RTMAX".to_string()),
        _ => None,
    }
}

/// Descriptions of signals for messages, by number, as `strsignal(3)` of the GNU C library returns
/// them; index 0 is `EXIT`.
const DESCRIPTIONS: [&str; 32] = [
    "EXIT",
    "Hangup",
    "Interrupt",
    "Quit",
    "Illegal instruction",
    "Trace/breakpoint trap",
    "Aborted",
    "Bus error",
    "Floating point exception",
    "Killed",
    "User defined signal 1",
    "Segmentation fault",
    "User defined signal 2",
    "Broken pipe",
    "Alarm clock",
    "Terminated",
    "Stack fault",
    "Child exited",
    "Continued",
    "Stopped (signal)",
    "Stopped",
    "Stopped (tty input)",
    "Stopped (tty output)",
    "Urgent I/O condition",
    "CPU time limit exceeded",
    "File size limit exceeded",
    "Virtual timer expired",
    "Profiling timer expired",
    "Window changed",
    "I/O possible",
    "Power failure",
    "Bad system call",
];

/// Returns a signal's description, for example `Terminated` (`strsignal(3)`).
pub fn describe(number: u8) -> String {
    DESCRIPTIONS.get(usize::from(number)).map_or_else(
        || format!("Real-time signal {}", number.saturating_sub(34)),
        |d| d.to_string(),
    )
}

/// Returns the bit of one signal in a signal mask: bit N stands for signal N.
pub fn signal_bit(number: u8) -> u64 {
    1 << (number & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names() {
        for (number, text) in
            [(HUP, "HUP"), (KILL, "KILL"), (CHLD, "CHLD"), (WINCH, "WINCH"), (34, "RTMIN")]
        {
            assert_eq!(name(number).as_deref(), Some(text));
            assert_eq!(parse(text.as_bytes()), Some(number));
        }
        for number in 1..=64 {
            let Some(text) = name(number) else { continue };
            assert_eq!(parse(text.as_bytes()), Some(number), "{text}");
        }
        assert_eq!(parse(b"sigterm"), Some(TERM));
        assert_eq!(
            (parse(b"65"), parse(b""), parse(b"RTMIN+31"), name(32)),
            (None, None, None, None)
        );
    }
}
