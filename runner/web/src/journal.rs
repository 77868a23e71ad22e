//! What the page keeps of the session: a journal, to which it adds after each call.

use crate::history;
use crate::lock;
use crate::outcome::PageFailure;
use crate::session;
use std::sync::Mutex;
use wasibox_snapshot::journal::{JournalContents, SessionJournal};
use wasibox_snapshot::{MemoryObjects, journal};

/// What the page's file holds already.
static JOURNAL: Mutex<Option<SessionJournal>> = Mutex::new(None);

/// The bytes that the page is to add to its file; none if it holds the session as it is.
pub fn record() -> Result<Vec<u8>, PageFailure> {
    let mut journal = lock(&JOURNAL);
    let journal = journal.get_or_insert_default();
    history::with(|history| Ok(journal.record(&history.objects, &history.now())?))
}

/// Makes the session, which is new, what a file says; how many bytes of that are whole. Of a file in which nothing was
/// finished that is 0, and the session stays new.
pub fn replay(bytes: &[u8]) -> Result<usize, PageFailure> {
    let objects = MemoryObjects::default();
    let JournalContents { journal, contents, tip, whole } = journal::replay(bytes, &objects)?;
    if whole == 0 {
        return Ok(0);
    }
    let vfs = session::vfs()?;
    history::with(|history| history.take_up(vfs, contents, tip, objects))?;
    *lock(&JOURNAL) = Some(journal);
    Ok(whole)
}
