//! Terminals on a POSIX host: the requests of [`box_abi::terminal`], by `ioctl(2)` on Linux.

use box_abi::terminal::TerminalRequest;
use std::fs::File;
use std::io;

/// Puts the calling process's group into the foreground of its controlling terminal, if there is
/// one. It is called between fork and exec, so it only makes system calls.
pub(super) fn take_foreground() {
    // JUSTIFICATION: the standard library has no calls for it.
    // SAFETY: the calls take integers, a literal that ends with NUL, and a live set of signals; all
    // are safe after fork.
    unsafe {
        let fd = libc::open(c"/dev/tty".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        if fd < 0 {
            return;
        }
        let (mut set, mut before) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&mut set);
        // A group in the background may not take the terminal otherwise.
        libc::sigaddset(&mut set, libc::SIGTTOU);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before);
        libc::tcsetpgrp(fd, libc::getpgrp());
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        libc::close(fd);
    }
}

/// Carries out a request; returns its answer.
#[cfg(target_os = "linux")]
pub(crate) fn terminal_call(file: &File, request: &TerminalRequest<'_>) -> io::Result<Vec<u8>> {
    use box_abi::terminal::{TERMIOS_LEN, TerminalOperation as Op};
    use std::os::fd::AsRawFd;
    let call = |number: libc::c_ulong, bytes: &mut [u8]| {
        // JUSTIFICATION: the standard library has no calls for it. SAFETY: the descriptor is open,
        // and each number below comes with as many bytes as the kernel reads or writes: 36 of
        // `struct ktermios`, 8 of `struct winsize`, 4 of `pid_t`.
        let done = unsafe { libc::ioctl(file.as_raw_fd(), number as _, bytes.as_mut_ptr()) };
        if done < 0 { Err(io::Error::last_os_error()) } else { Ok(bytes.to_vec()) }
    };
    let argument = |len: usize| {
        let bytes = request.argument.to_vec();
        if bytes.len() == len {
            Ok(bytes)
        } else {
            Err(io::Error::from(io::ErrorKind::InvalidInput))
        }
    };
    let nothing = |done: io::Result<Vec<u8>>| done.map(|_| Vec::new());
    match request.operation {
        Op::GetAttributes => call(libc::TCGETS, &mut [0; TERMIOS_LEN]),
        Op::SetAttributes => {
            let mut all = argument(4 + TERMIOS_LEN)?;
            let when = libc::c_ulong::from(all[0].min(2));
            nothing(call(libc::TCSETS + when, &mut all[4..]))
        }
        Op::GetSize => call(libc::TIOCGWINSZ, &mut [0; 8]),
        Op::SetSize => nothing(call(libc::TIOCSWINSZ, &mut argument(8)?)),
        Op::GetForeground => call(libc::TIOCGPGRP, &mut [0; 4]),
        Op::SetForeground => nothing(call(libc::TIOCSPGRP, &mut argument(4)?)),
        Op::GetName => {
            let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
            let number = link
                .to_str()
                .and_then(|path| path.strip_prefix("/dev/pts/"))
                .and_then(|number| number.parse::<u32>().ok());
            let number = number.ok_or(io::Error::from_raw_os_error(libc::ENOTTY))?;
            Ok([number.to_le_bytes(), [0; 4]].concat())
        }
        Op::GetMembership => {
            // JUSTIFICATION: the standard library has no calls for it. SAFETY: plain integers.
            let (group, session) = unsafe { (libc::getpgrp(), libc::getsid(0)) };
            Ok([group.to_le_bytes(), session.to_le_bytes()].concat())
        }
        Op::SetGroup => {
            // JUSTIFICATION: the standard library has no call for it. SAFETY: plain integers.
            let done = unsafe { libc::setpgid(0, 0) };
            if done < 0 { Err(io::Error::last_os_error()) } else { Ok(Vec::new()) }
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Fails, because the numbers of other systems differ.
#[cfg(not(target_os = "linux"))]
pub(crate) fn terminal_call(_: &File, _: &TerminalRequest<'_>) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::Unsupported.into())
}
