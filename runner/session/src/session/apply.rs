//! The one entrance of a session: a request in, its answer out.

use wasibox_protocol::files::FileBytes;
use wasibox_protocol::{
    Answer, CommitSummary, HistoryRequest, JAVASCRIPT, PYTHON, Request, ToolSummary, ValueRequest,
    WorkspaceRequest, is_own_key,
};
use wasibox_store::StoreError;
use wasibox_store::snapshot::{Commit, SnapshotError};
use wasibox_vfs::lock_mutex;

use super::{Error, Session, SessionRuntime, Streams};
use crate::processes::process_words;

/// Maximum bytes of a command in a [`CommitSummary`].
const MAX_COMMAND: u64 = 1 << 20;

impl Session {
    /// Checks a request, waits for an earlier one to end, carries the request out and returns its
    /// answer. All doors use this method.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{Answer, Exec, HistoryRequest, Request, Streams};
    ///
    /// let answer = session.apply(Exec::new(["uname", "-o"]), Streams::default())?;
    /// assert!(matches!(answer, Answer::Outcome(outcome) if outcome.exit_code == 0));
    /// session.apply(Request::History(HistoryRequest::Undo), Streams::default())?;
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Request`] if the request is invalid. Other errors if it could not be started, or
    /// the session's process died during it; the session is then as it was before. A command that
    /// fails is an outcome, not an error.
    pub fn apply(
        &self,
        request: impl Into<Request>,
        streams: Streams<'_>,
    ) -> Result<Answer, Error> {
        let request = request.into();
        request.check()?;
        match request {
            Request::Exec(exec) => Ok(Answer::Outcome(Box::new(self.run_checked(exec, streams)?))),
            Request::Files(request) => Ok(Answer::Files(self.files(&request)?)),
            Request::History(request) => self.apply_history(request),
            Request::Values(request) => self.apply_values(request),
            Request::Workspace(request) => self.apply_workspace(request),
            Request::Reset => {
                let mut inner = lock_mutex(&self.0.inner);
                let SessionRuntime { live, kept, .. } = &mut *inner;
                kept.reset_cells(live.as_mut(), &[PYTHON, JAVASCRIPT])?;
                Ok(Answer::Done)
            }
            Request::Processes(request) => self.apply_process(&request, streams.cancel),
            Request::Ports => Ok(Answer::Ports(self.ports()?)),
            Request::Tools => {
                Ok(Answer::Tools(self.tools().iter().map(ToolSummary::from).collect()))
            }
        }
    }

    fn apply_history(&self, request: HistoryRequest) -> Result<Answer, Error> {
        let running = match request {
            HistoryRequest::List { last } => {
                let (all, tags) = (self.history()?, self.tags()?);
                let first = last.map_or(0, |last| all.len().saturating_sub(last));
                let summaries = all[first..].iter().map(|commit| self.summarize(commit, &tags));
                return Ok(Answer::Commits(summaries.collect::<Result<_, _>>()?));
            }
            HistoryRequest::Tag { name, number } => {
                self.tag(&name, number)?;
                return Ok(Answer::Done);
            }
            HistoryRequest::Untag(name) => {
                self.untag(&name)?;
                return Ok(Answer::Done);
            }
            HistoryRequest::Tags => return Ok(Answer::Tags(self.tags()?.into_iter().collect())),
            HistoryRequest::Head => return self.answer_commit(&self.head()?, Vec::new()),
            HistoryRequest::Undo
            | HistoryRequest::Redo
            | HistoryRequest::Restore(_)
            | HistoryRequest::RollBack(_) => self.0.processes.running(),
        };
        let ended = process_words(&running);
        let commit = match request {
            HistoryRequest::Undo => self.undo()?,
            HistoryRequest::Redo => self.redo()?,
            HistoryRequest::Restore(number) => self.restore(number)?,
            HistoryRequest::RollBack(number) => self.roll_back(number)?,
            _ => self.head()?,
        };
        self.answer_commit(&commit, ended)
    }

    /// Returns the answer with a commit, a move to which has ended processes.
    fn answer_commit(&self, commit: &Commit, ended: Vec<String>) -> Result<Answer, Error> {
        let summary = self.summarize(commit, &self.tags()?)?;
        Ok(Answer::Commit(CommitSummary { ended, ..summary }))
    }

    /// Returns a commit in the form in which clients get it.
    fn summarize(&self, commit: &Commit, tags: &[(String, u64)]) -> Result<CommitSummary, Error> {
        let call = &commit.call;
        let command = self.store()?.with_objects(|o| call.command.load_bytes(o, MAX_COMMAND));
        let command = match command {
            Ok(command) => Some(command),
            Err(SnapshotError::TooLarge(_)) => None,
            Err(e) => return Err(StoreError::from(e).into()),
        };
        let is_its = |tag: &&(String, u64)| tag.1 == commit.number;
        Ok(CommitSummary {
            number: commit.number,
            parent: commit.parent,
            command,
            exit_code: call.exit_code,
            time: call.time,
            duration: call.duration,
            changed_files: call.changed_count,
            tags: tags.iter().filter(is_its).map(|tag| tag.0.clone()).collect(),
            ended: Vec::new(),
        })
    }

    fn apply_values(&self, request: ValueRequest) -> Result<Answer, Error> {
        Ok(match request {
            // The host's own values are not shown.
            ValueRequest::Get(key) if is_own_key(&key) => Answer::Value(None),
            ValueRequest::Get(key) => Answer::Value(self.value(&key)?.map(FileBytes)),
            ValueRequest::Set { key, value } => {
                self.set_value(&key, &value)?;
                Answer::Done
            }
            ValueRequest::Remove(key) => Answer::Removed(self.remove_value(&key)?),
            ValueRequest::List => {
                let keys = self.keys()?.into_iter().filter(|key| !is_own_key(key));
                Answer::Keys(keys.collect())
            }
        })
    }

    fn apply_workspace(&self, request: WorkspaceRequest) -> Result<Answer, Error> {
        Ok(match request {
            WorkspaceRequest::Diff(paths) => {
                let diff = self.workspace_diff(&as_strs(&paths))?;
                Answer::Diff { text: diff.text, is_cut: diff.truncated }
            }
            WorkspaceRequest::Apply(paths) => {
                let report = self.workspace_apply(&as_strs(&paths))?;
                Answer::Applied { done: report.done, left: report.left }
            }
        })
    }
}

fn as_strs(paths: &[String]) -> Vec<&str> {
    paths.iter().map(String::as_str).collect()
}
