//! Code that a process was spawned for: the steps that a forked child would take between the fork
//! and the command itself.
//!
//! The outermost command is the process. So a subshell is not a copy of the state within it: its
//! traps are the process's, and signals sent to `$!` reach them. The descriptors that redirections
//! of the command replace are closed, because a reader at the other end of a pipe would otherwise
//! wait for the end of this process (`x=$({ server; } >/dev/null 2>&1 & echo started)`).

use std::rc::Rc;

use sh_syntax::ast::{Command, CommandKind, CommandList, ListItem, PipelineStage};

use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::here::CommandContext;
use crate::state::ship;

impl Shell<'_> {
    /// Runs code that another shell sent along with its state and returns the status to exit with.
    pub fn run_shipped(&mut self, data: &[u8]) -> i32 {
        let Ok(list) = ship::decode_state(self, data) else {
            self.print_error(&[b"corrupt shell state"]);
            return 2;
        };
        self.sync_signals();
        let r = self.process_list(list);
        self.finish(r)
    }

    /// Runs the code of this process.
    fn process_list(&mut self, mut list: CommandList) -> Flow {
        let Some(stage) = only_stage(&mut list) else { return self.run_list(&list) };
        if is_simple(&stage.command) {
            self.enter_context(CommandContext::AllOfProcess);
        } else if !stage.command.redirects.is_empty() {
            let redirects = std::mem::take(&mut stage.command.redirects);
            match self.apply_redirects(&redirects) {
                Ok(saved) => self.forget_saved(saved),
                Err(Some(unwind)) => return Err(unwind),
                Err(None) => return Ok(1),
            }
        }
        let r = match &mut stage.command.kind {
            CommandKind::Subshell(inner) => {
                let inner = inner.clone();
                drop(list);
                self.process_subshell(Rc::unwrap_or_clone(inner))
            }
            _ => self.run_list(&list),
        };
        self.end_process_subs(0);
        r
    }

    /// Runs `( )` as a process of its own.
    fn process_subshell(&mut self, mut inner: CommandList) -> Flow {
        self.check_depth()?;
        self.enter_subshell();
        self.state.ids = self.state.ids.in_process(self.sys.pid());
        self.enter_context(CommandContext::Detached);
        let kind = only_stage(&mut inner).map(|stage| &stage.command.kind);
        let r = match kind {
            Some(CommandKind::Simple(_) | CommandKind::Subshell(_)) => self.process_list(inner),
            _ => self.run_list(&inner),
        };
        // Signals that arrived during the last command come before the EXIT trap.
        let r = match self.run_pending_traps() {
            Ok(()) => r,
            Err(unwind) => Err(unwind),
        };
        match r {
            Err(Unwind::Break(_) | Unwind::Continue(_)) => r,
            r => Ok(self.end_subshell(r)),
        }
    }
}

fn is_simple(c: &Command) -> bool {
    matches!(c.kind, CommandKind::Simple(_))
}

/// Returns the one stage that a list consists of, if its status is used for nothing more.
fn only_stage(list: &mut CommandList) -> Option<&mut PipelineStage> {
    let [ListItem { and_or, background: false, .. }] = list.items.as_mut_slice() else {
        return None;
    };
    let plain = and_or.rest.is_empty() && !and_or.first.negated && and_or.first.timed.is_none();
    match and_or.first.stages.as_mut_slice() {
        [stage] if plain => Some(stage),
        _ => None,
    }
}
