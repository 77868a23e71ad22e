//! What the page keeps of the session: a journal, to which it adds after each call.

use crate::history;
use crate::lock_mutex;
use crate::outcome::PageFailure;
use crate::session;
use std::sync::Mutex;
use wasibox_snapshot::journal::{JournalContents, SessionJournal};
use wasibox_snapshot::{MemoryObjects, journal};

/// What the page's file holds already.
static JOURNAL: Mutex<Option<SessionJournal>> = Mutex::new(None);

/// The bytes that the page is to add to its file; none if it holds the session as it is.
pub fn next_record() -> Result<Vec<u8>, PageFailure> {
    let mut journal = lock_mutex(&JOURNAL);
    let journal = journal.get_or_insert_default();
    history::with_history(|history| {
        Ok(journal.next_record(&history.objects, &history.journal_state())?)
    })
}

/// Makes the session, which is new, what a file says; how many bytes of that are whole. Of a file in which nothing was
/// finished that is 0, and the session stays new.
pub fn replay_journal(bytes: &[u8]) -> Result<usize, PageFailure> {
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
