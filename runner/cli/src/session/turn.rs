//! Commands that make and move sessions: `create`, `undo`, `redo`, `restore`, `fork`, `tag`,
//! `untag`, `rm`.

use crate::args::grants::{PoolSettings, WorkspaceArg};
use crate::args::session::SessionNameArgs;
use crate::args::stored::ImageArg;
use crate::{CliFailure, call, message, print_text, table};
use wasibox::store::snapshot::{Commit, Digest};
use wasibox::store::{Store, StoreError, StoreSession};
use wasibox::{Image, WorkspaceKind};

/// Maximum bytes of a command that are searched for its first line.
pub const LINE: u64 = 1 << 20;

/// Makes a session, and prints its name.
pub fn create_session(
    named: &SessionNameArgs,
    image: &ImageArg,
    over: &WorkspaceArg,
) -> Result<u8, CliFailure> {
    let path = image.path()?;
    if over.workspace.is_some() {
        let sessions = call::open_engine(image, PoolSettings::default())?
            .sessions(named.store.open_or_make()?);
        sessions.create(&named.name, over.policy())?;
        print_text(&format!("{}\n", named.name))?;
        return Ok(0);
    }
    let image = Image::open(&path).map_err(|e| CliFailure::new(125, e))?;
    let store = named.store.open_or_make()?;
    store.create(&named.name, Some(Digest(image.identity())))?;
    print_text(&format!("{}\n", named.name))?;
    Ok(0)
}

/// Moves a session to another commit, and prints that commit. A session that works in a zip is
/// moved by an engine, which saves the zip.
pub fn turn_session(
    named: &SessionNameArgs,
    (image, over): (&ImageArg, &WorkspaceArg),
    act: impl FnOnce(&StoreSession) -> Result<Commit, StoreError>,
    act_over: impl FnOnce(&wasibox::Session) -> Result<Commit, wasibox::Error>,
) -> Result<u8, CliFailure> {
    let store = named.store.open()?;
    if over.workspace.is_some() {
        let session = call::open_engine(image, PoolSettings::default())?.sessions(store.clone());
        let session = session.session(&named.name, over.policy())?;
        let commit = act_over(&session)?;
        let command = store.with_objects(|objects| commit.call.command.load_bytes(objects, LINE));
        let command = command.map_err(wasibox::store::StoreError::from)?;
        print_text(&position_text(&commit, &command))?;
        call::report_left_out(&session);
        return Ok(0);
    }
    let session = store.session(&named.name)?;
    if wasibox::workspace_of(&session)? == Some(WorkspaceKind::Zip) {
        let text = format!("session '{}' works in a zip: name it with --workspace", named.name);
        return Err(CliFailure::new(125, text));
    }
    let commit = act(&session)?;
    let command = session.load(&commit.call.command, LINE)?;
    print_text(&position_text(&commit, &command))?;
    Ok(0)
}

/// Returns a session's position: the commit's number and command.
pub fn position_text(commit: &Commit, command: &[u8]) -> String {
    let line = table::first_line(command, 60);
    if line.is_empty() {
        format!("{}\n", commit.number)
    } else {
        format!("{}  {line}\n", commit.number)
    }
}

/// Makes a second session, or `count` of them, and prints their names.
pub fn fork_session(
    named: &SessionNameArgs,
    at: Option<u64>,
    new: &str,
    count: Option<u32>,
) -> Result<u8, CliFailure> {
    let names = match count {
        None => vec![new.to_owned()],
        Some(count) => (1..=count).map(|n| format!("{new}-{n}")).collect(),
    };
    named.store.open()?.fork_many(&named.name, at, &names)?;
    print_text(&(names.join("\n") + "\n"))?;
    Ok(0)
}

/// Prints the tags of commits.
pub fn list_tags(named: &SessionNameArgs) -> Result<u8, CliFailure> {
    let tags = named.store.open()?.tags(&named.name)?;
    let rows: Vec<_> = tags.into_iter().map(|(tag, n)| vec![n.to_string(), tag]).collect();
    print_text(&table::format_table(&["N", "TAG"], &[0], &rows))?;
    Ok(0)
}

/// Tags a commit.
pub fn tag_commit(
    named: &SessionNameArgs,
    tag: &str,
    number: Option<u64>,
) -> Result<u8, CliFailure> {
    let session = named.store.open()?.session(&named.name)?;
    let number = number.unwrap_or_else(|| session.head().number);
    session.tag(tag, number)?;
    Ok(0)
}

/// Removes the tag of a commit.
pub fn remove_tag(named: &SessionNameArgs, tag: &str) -> Result<u8, CliFailure> {
    named.store.open()?.session(&named.name)?.untag(tag)?;
    Ok(0)
}

/// Removes sessions; continues with the others if one cannot be removed.
pub fn remove_sessions(store: &Store, names: &[String]) -> Result<u8, CliFailure> {
    let mut status = 0;
    for name in names {
        if let Err(e) = store.remove(name) {
            message::say_message(&e.to_string());
            status = 125;
        }
    }
    Ok(status)
}
