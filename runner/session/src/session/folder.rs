//! The folder of the host that a session works in, and the changes made to it.

use wasibox_vfs::lock_mutex;
use wasibox_workspace::{ApplyReport, Diff};

use super::{Error, Session};
use crate::workspace::WorkspaceHandle;

impl Session {
    /// Returns the changes to a host's folder ([`WorkspaceKind::Overlay`](crate::WorkspaceKind)) in
    /// git's diff format, limited to `paths` and everything below them (all changes if `paths` is
    /// empty).
    ///
    /// ```no_run
    /// use wasibox::{Sandbox, Workspace};
    ///
    /// let session = Sandbox::builder("image.webc").workspace(Workspace::of("project")).build()?;
    /// session.exec("echo more >> README.md")?;
    /// println!("{}", String::from_utf8_lossy(&session.workspace_diff(&[])?.text));
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the session has no such workspace, or the folder is no longer as it was when the session
    /// began.
    pub fn workspace_diff(&self, paths: &[&str]) -> Result<Diff, Error> {
        let inner = lock_mutex(&self.0.inner);
        let (workspace, engine, stored) = self.0.overlay_parts(&inner)?;
        workspace.diff_text(engine.image(), &self.0.policy, stored, paths)
    }

    /// Applies the session's changes to the host's folder, limited to `paths` and everything below
    /// them (all changes if `paths` is empty). Files that have changed on the host in the meantime
    /// are skipped and reported. The session cannot run anything afterwards: start a new one.
    ///
    /// ```no_run
    /// use wasibox::{Sandbox, Workspace};
    ///
    /// let session = Sandbox::builder("image.webc").workspace(Workspace::of("project")).build()?;
    /// session.exec("mkdir src; touch src/a b")?;
    /// let report = session.workspace_apply(&["src"])?;
    /// assert!(report.left.is_empty());
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    ///
    /// # Errors
    /// The same as [`Session::workspace_diff`]. If something cannot be written, nothing is changed.
    pub fn workspace_apply(&self, paths: &[&str]) -> Result<ApplyReport, Error> {
        let mut inner = lock_mutex(&self.0.inner);
        let (workspace, engine, stored) = self.0.overlay_parts(&inner)?;
        let done = workspace.apply_changes(engine.image(), &self.0.policy, stored, paths)?;
        // The running sandbox still has the folder as it was before.
        self.0.drop_live(&mut inner);
        Ok(done)
    }

    /// Returns the paths that the zip format could not represent at the last save, each with the
    /// reason.
    ///
    /// ```no_run
    /// use wasibox::{Sandbox, Workspace};
    ///
    /// let session = Sandbox::builder("image.webc").workspace(Workspace::of("work.zip")).build()?;
    /// session.exec("mkfifo pipe")?;
    /// for (path, reason) in session.workspace_left_out() {
    ///     println!("{path}: {reason}");
    /// }
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn workspace_left_out(&self) -> Vec<(String, String)> {
        self.0.workspace.as_ref().map_or_else(Vec::new, WorkspaceHandle::left_out)
    }
}
