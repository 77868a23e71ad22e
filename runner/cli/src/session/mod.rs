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
//! Only `call` and `workspace` make an engine, and what moves a session that works in a zip; all else is done on the store.

mod call;
mod care;
mod diff;
mod list;
mod turn;
mod workspace;

pub use diff::files_of;
pub use workspace::{print_diff, tell};

use crate::CliFailure;
use crate::args::session::{SessionCommand as Command, WorkspaceCommand};

/// Does a command.
pub fn run(command: Command) -> Result<u8, CliFailure> {
    match command {
        Command::Exec(args) => call::exec(&args),
        Command::Python(args) => call::cell(&args.cell, wasibox::Exec::python),
        Command::Javascript(args) => call::cell(&args.cell, wasibox::Exec::javascript),
        Command::Reset { named, image, workspace } => call::reset(&named, &image, &workspace),
        Command::Create { named, image, workspace } => turn::create(&named, &image, &workspace),
        Command::List { store, json } => list::list(&store.open()?, json),
        Command::Show { named, json, number: None } => list::show(&named, json),
        Command::Show { named, json, number: Some(n) } => list::show_commit(&named, n, json),
        Command::History { named, json } => list::history(&named, json),
        Command::Log { named } => list::log(&named),
        Command::Diff { named, image, names, old, new } => {
            diff::diff(&named, &image, names, old, new)
        }
        Command::Undo { named, image, workspace } => {
            turn::turn(&named, (&image, &workspace), |s| s.undo(), |s| s.undo())
        }
        Command::Redo { named, image, workspace } => {
            turn::turn(&named, (&image, &workspace), |s| s.redo(), |s| s.redo())
        }
        Command::Restore { named, image, workspace, number } => {
            let over = (&image, &workspace);
            turn::turn(&named, over, |s| s.restore(number), |s| s.restore(number))
        }
        Command::Workspace(WorkspaceCommand::Diff(over)) => workspace::diff(&over),
        Command::Workspace(WorkspaceCommand::Apply(over)) => workspace::apply(&over),
        Command::Fork { named, new, number } => turn::fork(&named, number, &new),
        Command::Tag { named, tag: None, .. } => turn::tags(&named),
        Command::Tag { named, tag: Some(tag), number } => turn::tag(&named, &tag, number),
        Command::Untag { named, tag } => turn::untag(&named, &tag),
        Command::Rm { store, names } => turn::remove(&store.open()?, &names),
        Command::Compact { named, keep } => care::compact(&named, keep),
        Command::Gc { store } => care::gc(&store.open()?),
        Command::Check { store } => care::check(&store.open()?),
    }
}
