//! What the kernel knows for terminals: groups and sessions of processes, and stopping.

use super::border::Fd;
use super::guest::Halt;
use super::host::Host;
use super::process::{Membership, Process};
use super::table::Kernel;
use crate::lock_mutex;
use box_abi::signal;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasibox_vfs::terminal::{GroupSignal, TerminalSignals};
use wasibox_vfs::{Errno, VfsFile};

impl<H: Host> TerminalSignals for Kernel<H> {
    fn deliver(&self, signal: GroupSignal) {
        let (targets, signal) = match signal {
            GroupSignal::Group { group, signal } => (self.group_members(group), signal),
            GroupSignal::Leader { session, signal } => {
                let leads = |p: &Arc<Process<H>>| {
                    p.pid == session && lock_mutex(&p.membership).session == session
                };
                (self.living_processes().into_iter().filter(leads).collect(), signal)
            }
        };
        targets.iter().for_each(|p| p.deliver_signal(signal));
    }
}

impl<H: Host> Kernel<H> {
    /// Returns the living processes of a group in this run, by number.
    fn group_members(&self, group: u32) -> Vec<Arc<Process<H>>> {
        let mut found = self.living_processes();
        found.retain(|p| lock_mutex(&p.membership).group == group);
        found.sort_unstable_by_key(|p| p.pid);
        found
    }

    /// Sends a signal to a group.
    pub fn signal_group(&self, group: u32, sig: u8) {
        for p in self.all_processes() {
            if lock_mutex(&p.membership).group == group {
                p.deliver_signal(sig);
            }
        }
    }

    /// Returns whether no member of a group has a parent in another group of the session. Nobody
    /// could continue such a group, so terminals do not stop it.
    pub fn is_orphaned(&self, group: u32, session: u32) -> bool {
        let all = self.all_processes();
        let of = |pid: u32| all.iter().find(|p| p.pid == pid).map(|p| *lock_mutex(&p.membership));
        !all.iter().filter(|p| lock_mutex(&p.membership).group == group).any(|p| {
            of(p.parent).is_some_and(|above| above.session == session && above.group != group)
        })
    }

    /// Returns the group and session of a process, 0 being the caller.
    pub fn membership_of(&self, me: &Process<H>, pid: u32) -> Result<Membership, Errno> {
        if pid == 0 || pid == me.pid {
            return Ok(*lock_mutex(&me.membership));
        }
        let found = self.find_process(pid).ok_or(Errno::SRCH)?;
        let membership = *lock_mutex(&found.membership);
        Ok(membership)
    }

    /// Moves a process into a group (`setpgid(2)`).
    ///
    /// # Errors
    /// ESRCH unless it is the caller or its child, EPERM for a leader of a session and for a group
    /// that does not exist in the session.
    pub fn set_group(&self, me: &Process<H>, pid: u32, group: u32) -> Result<(), Errno> {
        let target = match pid {
            0 => self.find_process(me.pid),
            pid => self.find_process(pid),
        };
        let target = target.ok_or(Errno::SRCH)?;
        if target.pid != me.pid && target.parent != me.pid {
            return Err(Errno::SRCH);
        }
        let session = lock_mutex(&me.membership).session;
        let group = if group == 0 { target.pid } else { group };
        if group != target.pid {
            self.check_group(group, session)?;
        }
        let mut membership = lock_mutex(&target.membership);
        if membership.session == target.pid || membership.session != session {
            return Err(Errno::PERM);
        }
        membership.group = group;
        Ok(())
    }

    /// Checks that a group exists in a session.
    ///
    /// # Errors
    /// ESRCH if there is no such group, EPERM if it is another session's.
    pub fn check_group(&self, group: u32, session: u32) -> Result<(), Errno> {
        let all = self.all_processes();
        let mut members = all.iter().map(|p| *lock_mutex(&p.membership));
        match members.find(|m| m.group == group) {
            None => Err(Errno::SRCH),
            Some(m) if m.session != session => Err(Errno::PERM),
            Some(_) => Ok(()),
        }
    }

    /// Signals to the parent of a process that it has stopped.
    fn note_stop(&self, process: &Process<H>) {
        if let Some(parent) = self.find_process(process.parent) {
            parent.deliver_signal(signal::CHLD);
            parent.wake_up();
        }
    }
}

impl<H: Host> Process<H> {
    /// Makes a terminal at standard input the controlling one, if the process leads a session and no
    /// session has the terminal.
    pub(super) fn take_terminal(&self) {
        let Membership { group, session } = *lock_mutex(&self.membership);
        let input = lock_mutex(&self.fds).get(Fd(0)).ok().map(|d| d.open.clone());
        if session == self.pid
            && let Some(open) = input
            && let VfsFile::Slave(slave) = &open.file
            && slave.terminal().session() == 0
        {
            let _ = slave.terminal().control_session(session, group);
        }
    }

    /// Puts the group of the process, which leads it, into the foreground of its controlling
    /// terminal, if the group that has started it is there.
    pub(super) fn take_foreground(&self) {
        let Membership { group, session } = *lock_mutex(&self.membership);
        let parent = self.kernel.find_process(self.parent);
        let above = parent.map(|p| lock_mutex(&p.membership).group);
        if let Some(terminal) = self.kernel.vfs.terminals().of_session(session)
            && above == Some(terminal.foreground())
        {
            terminal.set_foreground(group);
        }
    }

    /// Stops the process: it waits at its next call until it is continued.
    pub(super) fn stop(&self, sig: u8) {
        let Membership { group, session } = *lock_mutex(&self.membership);
        if sig != signal::STOP && self.kernel.is_orphaned(group, session) {
            return;
        }
        self.stop_report.store(sig, Ordering::SeqCst);
        if !self.stopped.swap(true, Ordering::SeqCst) {
            // A call that waits stops there.
            self.wake_up();
            self.kernel.note_stop(self);
        }
    }

    /// Continues the process if it is stopped.
    pub(super) fn resume(&self) {
        self.stop_report.store(0, Ordering::SeqCst);
        if self.stopped.swap(false, Ordering::SeqCst) {
            self.wake_up();
            self.threads.look(true);
        }
    }

    /// Returns whether it is stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// Takes the signal that has stopped it, if its parent has not seen it yet.
    pub fn take_stop(&self) -> Option<u8> {
        match self.stop_report.swap(0, Ordering::SeqCst) {
            0 => None,
            sig => Some(sig),
        }
    }

    /// Waits while the process is stopped. Its other threads stop in the same way: the caller keeps
    /// the baton.
    pub fn wait_while_stopped(&self) -> Result<(), Halt> {
        while self.is_stopped() {
            self.check_alive()?;
            std::thread::park();
        }
        Ok(())
    }
}
