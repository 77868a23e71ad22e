//! The session's journal, to which the page appends a record after each call.

use crate::history;
use crate::lock_mutex;
use crate::session;
use std::sync::Mutex;
use wasibox_protocol::Refusal;
use wasibox_snapshot::journal::{JournalContents, SessionJournal};
use wasibox_snapshot::{MemoryObjects, journal};

/// The state that the page's journal file already contains.
static JOURNAL: Mutex<Option<SessionJournal>> = Mutex::new(None);

/// Returns the bytes that the page must append to its journal file; none if the file is up to date.
pub fn next_record() -> Result<Vec<u8>, Refusal> {
    let mut journal = lock_mutex(&JOURNAL);
    let journal = journal.get_or_insert_default();
    history::with_history(|history| {
        Ok(journal.next_record(&history.objects, &history.journal_state())?)
    })
}

/// Restores the session, which must be new, from a journal file. Returns the number of bytes up to
/// the end of the last complete record; if it is 0, the session stays new.
pub fn replay_journal(bytes: &[u8]) -> Result<usize, Refusal> {
    let objects = MemoryObjects::default();
    let JournalContents { journal, contents, tip, whole } =
        journal::replay_journal(bytes, &objects)?;
    if whole == 0 {
        return Ok(0);
    }
    let vfs = session::session_vfs()?;
    history::with_history(|history| history.take_up(vfs, contents, tip, objects))?;
    *lock_mutex(&JOURNAL) = Some(journal);
    Ok(whole)
}
