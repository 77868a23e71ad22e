//! Process groups and sessions, and the list of processes that `ps` reads.
//!
//! A process begins in its parent's group and session, unless its parent requests another group
//! ([`box_abi::GROUP_VARIABLE`]); so a child is in its group before it runs. The foreground
//! group of a terminal is the terminal's (`wasibox_vfs::terminal`).

use super::host::Host;
use super::process::{Membership, Process, ProcessStart};
use crate::lock_mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of bytes of a process's arguments that the list shows.
const SHOWN_ARGS: usize = 1024;

/// The maximum number of processes that the outcome names, and the maximum number of bytes of each
/// name.
const NAMED: usize = 20;
const NAME: usize = 200;

type Live<H> = HashMap<u32, Arc<Process<H>>>;

/// The group that a parent requests for its child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupRequest {
    Inherit,
    New,
    /// A new group, which is in the foreground of the parent's controlling terminal.
    Foreground,
    Join(u32),
    /// A new session, with the terminal at standard input if no session has it.
    NewSession,
}

impl GroupRequest {
    /// Takes the request out of the environment of the process to be started.
    pub fn take(mut start: ProcessStart) -> (GroupRequest, ProcessStart) {
        let mut wish = GroupRequest::Inherit;
        start.env.retain(|text| {
            let value = text
                .strip_prefix(box_abi::GROUP_VARIABLE.as_bytes())
                .and_then(|rest| rest.strip_prefix(b"="));
            let Some(value) = value else { return true };
            wish = match std::str::from_utf8(value) {
                Ok(box_abi::GROUP_NEW) => GroupRequest::New,
                Ok(box_abi::terminal::GROUP_SESSION) => GroupRequest::NewSession,
                Ok(box_abi::terminal::GROUP_FOREGROUND) => GroupRequest::Foreground,
                Ok(number) => number.parse().map_or(GroupRequest::Inherit, GroupRequest::Join),
                Err(_) => GroupRequest::Inherit,
            };
            false
        });
        (wish, start)
    }

    /// Returns the group and session of process `pid`. A group can be joined while it has members
    /// in the same session, and while its leader is a child that `parent` has not waited for
    /// (`is_unreaped`).
    pub fn membership<H: Host>(
        self,
        pid: u32,
        parent: u32,
        live: &Live<H>,
        is_unreaped: impl Fn(u32) -> bool,
    ) -> Membership {
        let Some(parent) = live.get(&parent).map(|p| *lock_mutex(&p.membership)) else {
            return Membership { group: pid, session: pid };
        };
        match self {
            GroupRequest::Inherit => parent,
            GroupRequest::New | GroupRequest::Foreground => Membership { group: pid, ..parent },
            GroupRequest::NewSession => Membership { group: pid, session: pid },
            GroupRequest::Join(group) => {
                let there = Membership { group, ..parent };
                let has_member = || live.values().any(|p| *lock_mutex(&p.membership) == there);
                if is_unreaped(group) || has_member() {
                    there
                } else {
                    // The group's last member has ended in the meantime. The number still
                    // identifies the job, so the process leads the group.
                    Membership { group: pid, ..parent }
                }
            }
        }
    }
}

/// Returns the processes of a group.
pub fn group_members<H: Host>(live: &Live<H>, group: u32) -> Vec<Arc<Process<H>>> {
    live.values().filter(|p| lock_mutex(&p.membership).group == group).cloned().collect()
}

/// Returns a process and its descendants.
pub fn descendants_of<H: Host>(live: &Live<H>, leader: u32) -> Vec<Arc<Process<H>>> {
    let mut found: Vec<Arc<Process<H>>> = live.get(&leader).cloned().into_iter().collect();
    let mut at = 0;
    while let Some(parent) = found.get(at).map(|p| p.pid) {
        at += 1;
        found.extend(live.values().filter(|p| p.parent == parent).cloned());
    }
    found
}

/// Formats the processes as [`box_abi::PROCESSES`] requires, by number, as many as fit in `room`
/// bytes.
pub fn list_processes<H: Host>(mut all: Vec<Arc<Process<H>>>, room: usize) -> Vec<u8> {
    all.sort_unstable_by_key(|p| p.pid);
    let mut out = Vec::new();
    for p in all {
        let mut args = Vec::new();
        for arg in &lock_mutex(&p.start).argv {
            if args.len() + arg.len() >= SHOWN_ARGS {
                break;
            }
            args.extend_from_slice(arg);
            args.push(0);
        }
        let Membership { group, session } = *lock_mutex(&p.membership);
        let (pid, parent, length) = (p.pid, p.kernel.parent_seen(p.parent), args.len());
        let head = format!("{pid} {parent} {group} {session} 0 {length}\n");
        if out.len() + head.len() + length > room {
            break;
        }
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(&args);
    }
    out
}

/// Returns the command lines of the first processes in readable form: arguments, joined by spaces.
pub fn process_names<H: Host>(live: &Live<H>) -> Vec<String> {
    let mut all: Vec<&Arc<Process<H>>> =
        live.values().filter(|p| p.fatal_signal().is_none()).collect();
    all.sort_unstable_by_key(|p| p.pid);
    all.iter().take(NAMED).map(|p| name(&lock_mutex(&p.start))).collect()
}

fn name(start: &ProcessStart) -> String {
    let mut bytes = Vec::new();
    let task = start
        .env
        .iter()
        .rev()
        .find_map(|e| e.strip_prefix(box_abi::TASK_VARIABLE.as_bytes())?.strip_prefix(b"="));
    match task {
        Some(task) => bytes.extend(task.iter().take(NAME)),
        None => {
            for (i, arg) in start.argv.iter().enumerate().take(NAME) {
                if i > 0 {
                    bytes.push(b' ');
                }
                bytes.extend(arg.iter().take(NAME));
                if bytes.len() >= NAME {
                    break;
                }
            }
        }
    }
    bytes.truncate(NAME);
    // Bytes that are not UTF-8 become longer.
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    text.truncate(text.floor_char_boundary(NAME));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasibox_vfs::ProgramMark;

    fn start(env: &[&str]) -> ProcessStart {
        let env = env.iter().map(|e| e.as_bytes().to_vec()).collect();
        ProcessStart { program: ProgramMark(0), argv: Vec::new(), env }
    }

    #[test]
    fn names_are_short_text() {
        let named = |args: &[&[u8]], env: &[&str]| {
            let argv = args.iter().map(|a| a.to_vec()).collect();
            name(&ProcessStart { argv, ..start(env) })
        };
        assert_eq!(named(&[b"sleep", b"a b", b""], &["A=1"]), "sleep a b ");
        assert_eq!(named(&[b"bash", b"--box-state=40"], &["BOX_TASK=x; y"]), "x; y");
        assert_eq!(named(&[], &[]), "");
        assert_eq!(named(&[&[b'x'; 500]], &[]).len(), NAME);
        assert_eq!(
            named(&[&[0xff; 500], b"x"], &[]).chars().filter(|c| *c == '\u{fffd}').count(),
            66
        );
        assert_eq!(named(&[b"x".as_slice(); 500], &[]).len(), NAME);
    }

    #[test]
    fn a_wish_is_taken_out_of_the_environment() {
        let (wish, rest) = GroupRequest::take(start(&["A=1", "BOX_GROUP=new", "BOX_GROUPS=2"]));
        assert_eq!(wish, GroupRequest::New);
        assert_eq!(rest.env, [b"A=1".to_vec(), b"BOX_GROUPS=2".to_vec()]);
        assert_eq!(GroupRequest::take(start(&["BOX_GROUP=session"])).0, GroupRequest::NewSession);
        assert_eq!(
            GroupRequest::take(start(&["BOX_GROUP=foreground"])).0,
            GroupRequest::Foreground
        );
        assert_eq!(GroupRequest::take(start(&["BOX_GROUP=17"])).0, GroupRequest::Join(17));
        assert_eq!(GroupRequest::take(start(&["BOX_GROUP=-1"])).0, GroupRequest::Inherit);
        assert_eq!(GroupRequest::take(start(&["A=1"])).0, GroupRequest::Inherit);
    }
}
