//! Takes ownership of the descriptors with which a process starts.

use std::fs::File;
use std::io::IsTerminal;
use std::rc::Rc;

/// The environment variable in which a parent lists the descriptors from 3 on that it passes, as
/// pairs `number:actual` joined by commas. On WASI the low numbers belong to preopened directories,
/// so the numbers in a script differ from the actual ones.
pub const INHERITED_FDS: &str = "BOX_FDS";

/// The descriptors with which a process starts.
pub struct InheritedDescriptors {
    /// Descriptors 0, 1 and 2; `None` for one that is closed.
    pub stdio: [Option<Rc<File>>; 3],
    /// The descriptors from 3 on, with the numbers that the parent gave them.
    pub extra: Vec<(u32, Rc<File>)>,
}

/// Takes ownership of the inherited descriptors. `main` calls it once, before it opens any file,
/// because the files close their descriptors when dropped.
pub fn take_inherited() -> InheritedDescriptors {
    let mut extra = Vec::new();
    if let Ok(list) = std::env::var(INHERITED_FDS) {
        for pair in list.split(',') {
            let Some((number, actual)) = pair.split_once(':') else { continue };
            let (Ok(number), Ok(actual)) = (number.parse::<u32>(), actual.parse::<u32>()) else {
                continue;
            };
            if number > 2
                && actual > 2
                && let Some(f) = crate::backend::adopt_fd(actual)
            {
                extra.push((number, Rc::new(f)));
            }
        }
    }
    InheritedDescriptors {
        stdio: [0, 1, 2].map(|n| crate::backend::adopt_fd(n).map(Rc::new)),
        extra,
    }
}

/// Returns whether the file is a terminal.
pub fn is_terminal(f: &File) -> bool {
    f.is_terminal()
}

/// Returns the rows and columns of a terminal, each 0 where it is unknown.
pub fn terminal_size(f: &File) -> std::io::Result<(u32, u32)> {
    crate::backend::terminal_size(f)
}

/// Removes empty locale variables such as `LC_ALL` from the environment. They count as unset (POSIX
/// XBD 8.2), but not for a library that some tools use. Call it before any thread starts.
pub fn ignore_empty_locale_variables() {
    for name in ["LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_NUMERIC", "LC_MESSAGES", "LC_TIME"] {
        if std::env::var_os(name).is_some_and(|v| v.is_empty()) {
            // JUSTIFICATION: that library reads the process's environment and has no other input.
            // SAFETY: the process has only one thread, as the function's contract requires.
            unsafe { std::env::remove_var(name) };
        }
    }
}
