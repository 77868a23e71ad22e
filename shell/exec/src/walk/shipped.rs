//! Code that a process was spawned for: the steps that a forked child would take between the fork
//! and the command itself.
//!
//! The outermost command is the process itself. If it is a subshell, its state is the process's
//! state, not a copy: its traps are the process's, and signals sent to `$!` reach them. The
//! descriptors that the command's redirections replace are closed, because a reader at the other
//! end of a pipe would otherwise wait for the end of this process (`x=$({ server; } >/dev/null 2>&1
//! & echo started)`).

use std::rc::Rc;

use sh_syntax::ast::{CommandKind, CommandList, ListItem, Pipeline};

use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::here::CommandContext;
use crate::state::ship;
use crate::walk::simple::RedirectReach;

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
        let Some(pipeline) = only_command(&mut list) else { return self.run_list(&list) };
        let [stage] = pipeline.stages.as_mut_slice() else { return self.run_list(&list) };
        if let CommandKind::Simple(_) = stage.command.kind {
            let r = self.run_untimed(pipeline, RedirectReach::Process);
            self.end_process_subs(0);
            return r;
        }
        if !stage.command.redirects.is_empty() {
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
        let kind = only_command(&mut inner).map(|pipeline| &pipeline.stages[0].command.kind);
        let r = match kind {
            Some(CommandKind::Simple(_) | CommandKind::Subshell(_)) => self.process_list(inner),
            _ => self.run_list(&inner),
        };
        // The traps of signals that arrived during the last command run before the EXIT trap.
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

/// Returns the pipeline of a list that consists of a single pipeline with a single command, if
/// nothing further depends on its status.
fn only_command(list: &mut CommandList) -> Option<&mut Pipeline> {
    let [ListItem { and_or, background: false, .. }] = list.items.as_mut_slice() else {
        return None;
    };
    let pipeline = &mut and_or.first;
    let plain = and_or.rest.is_empty() && !pipeline.negated && pipeline.timed.is_none();
    (plain && pipeline.stages.len() == 1).then_some(pipeline)
}
