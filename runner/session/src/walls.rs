//! The notice about walls that the host lacks.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use wasibox_worker::jail::Walls;

/// The environment variable that silences the notice if it is `accept`.
const VARIABLE: &str = "WASIBOX_MISSING_WALLS";
/// The time that writing the notice may take, because the reader of standard error may be stuck.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tells the user on standard error which walls are missing, once in the life of this process. A
/// process that is a jail itself (`is_worker` is false) has no control group.
pub fn note_missing_walls(walls: &Walls, is_worker: bool) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let Some(notice) = missing_notice(walls, is_worker) else { return };
    let is_accepted = std::env::var_os(VARIABLE).is_some_and(|value| value == "accept");
    if is_accepted || TOLD.swap(true, Ordering::Relaxed) {
        return;
    }
    let (done, end) = channel();
    let write = move || {
        let _ = std::io::stderr().write_all(notice.as_bytes());
        let _ = done.send(());
    };
    // A failure is ignored, because there is no other place for the notice.
    if std::thread::Builder::new().spawn(write).is_ok() {
        let _ = end.recv_timeout(PATIENCE);
    }
}

/// Returns the notice, or `None` if no wall is missing.
fn missing_notice(walls: &Walls, is_worker: bool) -> Option<String> {
    let mut missing = walls.missing_walls();
    if is_worker && !walls.memory {
        missing.push("control groups (the parent watches the memory instead)");
    }
    if missing.is_empty() {
        return None;
    }
    Some(format!(
        "wasibox: this host lacks walls around guests: {}. 'runner doctor' lists all walls. To \
         refuse guests on such a host, require walls (--require-walls); to silence this notice, \
         set {VARIABLE}=accept.\n",
        missing.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasibox_worker::jail::Wall;

    #[test]
    fn the_notice_names_what_is_missing() {
        let all = Walls {
            no_new_privs: true,
            not_dumpable: true,
            files: Wall::Full,
            network: Wall::Full,
            system_calls: true,
            memory: true,
            namespaces: true,
        };
        assert_eq!(missing_notice(&all, true), None);
        let no_group = Walls { memory: false, ..all };
        assert_eq!(missing_notice(&no_group, false), None);
        assert!(missing_notice(&no_group, true).is_some_and(|n| n.contains("control groups")));
        let old = Walls { network: Wall::Partial, system_calls: false, ..all };
        let notice = missing_notice(&old, true).unwrap_or_default();
        assert!(notice.contains("landlock (network, signals), seccomp."), "{notice}");
        assert!(notice.contains("WASIBOX_MISSING_WALLS=accept"), "{notice}");
    }
}
