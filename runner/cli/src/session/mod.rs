//! `runner session ...`
//!
//! | file | commands |
//! |---|---|
//! | `call` | `exec`, `python`, `javascript`, `reset` |
//! | `list` | `list`, `show`, `history`, `log` |
//! | `turn` | `create`, `undo`, `redo`, `restore`, `fork`, `tag`, `untag`, `rm` |
//! | `diff` | `diff` |
//! | `workspace` | `workspace diff`, `workspace apply` |
//! | `care` | `compact`, `gc`, `check` |
//!
//! Only `call`, `workspace`, and moving a session that works in a zip need an engine; all other
//! commands work on the store.

mod call;
mod care;
mod diff;
mod list;
mod turn;
mod workspace;

pub use diff::files_of;
pub use turn::position_text;
pub use workspace::{print_applied, print_diff};

use crate::CliFailure;
use crate::args::session::{SessionCommand as Command, WorkspaceCommand};

/// Runs a command.
pub fn run(command: Command) -> Result<u8, CliFailure> {
    match command {
        Command::Exec(args) => call::exec_script(&args),
        Command::Python(args) => call::run_cell(&args.cell, wasibox::Exec::python),
        Command::Javascript(args) => call::run_cell(&args.cell, wasibox::Exec::javascript),
        Command::Reset { named, image, workspace } => {
            call::reset_interpreter(&named, &image, &workspace)
        }
        Command::Create { named, image, workspace } => {
            turn::create_session(&named, &image, &workspace)
        }
        Command::List { store, json } => list::list_sessions(&store.open()?, json),
        Command::Show { named, json, number: None } => list::show_session(&named, json),
        Command::Show { named, json, number: Some(n) } => list::show_commit(&named, n, json),
        Command::History { named, json } => list::show_history(&named, json),
        Command::Log { named } => list::show_log(&named),
        Command::Diff { named, image, names, old, new } => {
            diff::diff_commits(&named, &image, names, old, new)
        }
        Command::Undo { named, image, workspace } => {
            turn::turn_session(&named, (&image, &workspace), |s| s.undo(), |s| s.undo())
        }
        Command::Redo { named, image, workspace } => {
            turn::turn_session(&named, (&image, &workspace), |s| s.redo(), |s| s.redo())
        }
        Command::Restore { named, image, workspace, number } => {
            let over = (&image, &workspace);
            turn::turn_session(&named, over, |s| s.restore(number), |s| s.restore(number))
        }
        Command::Workspace(WorkspaceCommand::Diff(over)) => workspace::print_workspace_diff(&over),
        Command::Workspace(WorkspaceCommand::Apply(over)) => workspace::apply_changes(&over),
        Command::Fork { count, named, new, number } => {
            turn::fork_session(&named, number, &new, count)
        }
        Command::Tag { named, tag: None, .. } => turn::list_tags(&named),
        Command::Tag { named, tag: Some(tag), number } => turn::tag_commit(&named, &tag, number),
        Command::Untag { named, tag } => turn::remove_tag(&named, &tag),
        Command::Rm { store, names } => turn::remove_sessions(&store.open()?, &names),
        Command::Compact { named, keep } => care::compact_history(&named, keep),
        Command::Gc { store } => care::collect_garbage(&store.open()?),
        Command::Check { store } => care::check_store(&store.open()?),
    }
}
