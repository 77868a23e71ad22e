//! A session's sandbox: the session's file system, and the running of commands in it.

use crate::cell::{CellToRun, ParkedInterpreter};
use crate::expose::LoopbackGate;
use crate::hidden::HiddenPaths;
use crate::host::{Background, Kernel};
use crate::outcome::RunResult;
use crate::policy::Policy;
use crate::programs::{ProgramError, ProgramLibrary, Programs, Progress, base_files};
use crate::stack::drop_unused;
use crate::streams::BytesInput;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wasibox_image::{Image, ImageError};
use wasibox_kernel::border::Fd;
use wasibox_kernel::{
    CellOrigin, ChildStart, Descriptor, Descriptors, OpenDescription, ProcessStart, ProgramMatch,
    SpawnError, limit_of_quota,
};
use wasibox_vfs::Budget;
use wasibox_vfs::changes::ChangeMark;
use wasibox_vfs::device::Device;
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{
    BaseFile, ChangeBounds, Errno, FileKind, Loc, MountError, OpenFlags, OpenResult, ProgramMark,
    ProtectedPaths, StdStream, TreeChanges, Vfs, VfsFile,
};

/// The reason why a sandbox cannot be created or a command cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Mount(#[from] MountError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The command does not exist: a shell reports status 127.
    #[error("{name}: command not found{}", advice_part(advice.as_deref()))]
    NotFound {
        name: String,
        /// The replacement, or commands with a similar name.
        advice: Option<String>,
    },
    /// The command cannot be run: a shell reports status 126.
    #[error("{name}: {why}")]
    NotExecutable { name: String, why: String },
    /// The image is damaged, which was found while the guest accessed its files.
    #[error("{0}")]
    Damaged(String),
    #[error("{path}: {why}")]
    Cwd { path: String, why: Errno },
    /// The interpreter of that name cannot run cells.
    #[error("{name}: {why}")]
    Cell { name: String, why: &'static str },
    /// Processes of an earlier command did not end; see [`RunResult::stuck`].
    #[error("{0} processes of an earlier command cannot be ended")]
    Stuck(usize),
}

/// Returns the end of a message with the advice.
fn advice_part(advice: Option<&str>) -> String {
    advice.map_or_else(String::new, |advice| format!("; {advice}"))
}

/// A command to run.
pub struct RunSpec {
    /// Arguments; the first is the command's name, or a path of the guest.
    pub argv: Vec<Vec<u8>>,
    /// The whole environment, as `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// Working directory in the guest, absolute.
    pub cwd: Vec<u8>,
    /// `None` is the guest's `/dev/null`. Programs such as `rg` search their input only if it is a
    /// pipe or a file, as they would find it in a call with input.
    pub stdin: Option<Arc<dyn StdStream>>,
    pub stdout: Arc<dyn StdStream>,
    pub stderr: Arc<dyn StdStream>,
    /// Limit of wall-clock time, instead of the policy's.
    pub timeout: Option<Duration>,
    /// Whether processes that still run when the command has ended continue, until
    /// [`SessionSandbox::end_background`].
    pub keep: bool,
}

/// A handle that ends a run from another thread.
#[derive(Clone, Default)]
pub struct SandboxInterrupt(Arc<Mutex<InterruptState>>);

#[derive(Default)]
struct InterruptState {
    requested: bool,
    kernel: Option<Arc<Kernel>>,
}

impl SandboxInterrupt {
    /// Forgets an interrupt that came when its run had ended.
    fn forget(&self) {
        lock_mutex(&self.0).requested = false;
    }

    /// Ends the run, or the next one if none is in progress.
    pub fn interrupt(&self) {
        let mut s = lock_mutex(&self.0);
        s.requested = true;
        if let Some(k) = &s.kernel {
            k.interrupt_run();
        }
    }
}

/// An image made ready before its session is known: an engine and programs, without any state of a
/// session. Clones share it.
#[derive(Clone)]
pub struct PreparedImage {
    library: Arc<ProgramLibrary>,
    /// Bytes of stack that the engine gives to a process.
    stack: usize,
}

impl PreparedImage {
    /// Makes an engine. `artifacts` is the directory of machine code, see
    /// [`crate::artifact::default_dir`]; `progress` is called at slow steps. `stack` is the stack
    /// size of the policies to come.
    pub fn new(
        image: Arc<Image>,
        artifacts: Option<PathBuf>,
        progress: Progress,
        stack: usize,
    ) -> PreparedImage {
        PreparedImage {
            library: Arc::new(ProgramLibrary::new(image, stack, artifacts, progress)),
            stack,
        }
    }

    /// Returns the bytes of stack that its processes will have.
    pub fn stack(&self) -> usize {
        self.stack
    }

    /// Returns the address ranges of the machine code of loaded programs, as start and end; both
    /// are multiples of the page size.
    pub fn code(&self) -> Vec<(usize, usize)> {
        self.library.code_map().pages()
    }

    /// Loads all programs of the image, which otherwise happens when each is first run.
    ///
    /// # Errors
    /// A damaged image, a program that the engine refuses.
    pub fn load_all(&self) -> Result<(), SandboxError> {
        Ok(self.library.get_all()?)
    }

    /// Returns whether the machine code of all programs is stored already; `None` if nothing can be
    /// stored.
    pub fn is_compiled(&self) -> Option<bool> {
        self.library.are_kept()
    }

    /// Loads or compiles the program of that name, and prepares it.
    ///
    /// # Errors
    /// The same as [`PreparedImage::load_all`]; a program that the image does not have.
    pub fn load_program(&self, name: &str) -> Result<(), SandboxError> {
        Ok(self.library.get_named(name)?)
    }

    /// Loads all programs, or only the one of that name, but compiles none and prepares none: no
    /// code of a guest runs. Returns false if that would be necessary. From then on a program that
    /// is not loaded is waited for, because another process is expected to compile it.
    ///
    /// # Errors
    /// The same as [`PreparedImage::load_program`].
    pub fn load_kept(&self, only: Option<&str>) -> Result<bool, SandboxError> {
        Ok(self.library.get_kept(only)?)
    }

    /// Returns whether the machine code of all programs is loaded.
    pub fn is_loaded(&self) -> bool {
        self.library.are_loaded()
    }

    /// Returns the names of programs that are not compiled or not prepared yet; `None` if nothing
    /// can be stored.
    pub fn unready_programs(&self) -> Option<Vec<String>> {
        self.library.unready()
    }

    /// Returns the name of the program that runs the shell, if the image has a command `sh`.
    pub fn shell_program(&self) -> Option<&str> {
        let commands = self.library.image().commands();
        commands.iter().find(|c| c.name == "sh").map(|c| &*c.atom)
    }

    /// Returns the host files and folders that loading reads.
    pub fn own_files(&self) -> Vec<PathBuf> {
        self.library.own_files().paths
    }

    /// Returns the host paths that no mount may show.
    pub fn protected_paths(&self) -> ProtectedPaths {
        self.library.own_files()
    }

    /// Makes the sandbox of a session. The policy's stack must be that of [`PreparedImage::stack`].
    ///
    /// # Errors
    /// A damaged image or a mount that cannot be made.
    pub fn open_sandbox(&self, policy: Policy) -> Result<SessionSandbox, SandboxError> {
        self.open_over(policy, None)
    }

    /// Does the same as [`PreparedImage::open_sandbox`], with one more folder with which the
    /// session begins.
    ///
    /// # Errors
    /// The same as [`PreparedImage::open_sandbox`].
    pub fn open_over(
        &self,
        policy: Policy,
        more: Option<BaseFile>,
    ) -> Result<SessionSandbox, SandboxError> {
        debug_assert_eq!(self.stack, policy.limits.stack);
        // Cells need files that can no longer be opened once a jail is closed.
        crate::track::open_tracking();
        let budget = Budget::new(policy.limits.memory);
        let library = self.library.clone();
        let own = library.own_files();
        let programs = Programs::new(library, policy.limits.memory, policy.fresh_programs);
        let hidden = HiddenPaths::new(&policy.hidden);
        let base = base_files(self.library.image(), &programs)?.into_iter();
        let vfs = Vfs::new(
            base.filter_map(|file| hidden.of(file)).chain(more),
            &policy.mounts,
            policy.limits.disk,
            budget.clone(),
            &own,
        )?;
        if policy.no_javascript_eval {
            vfs.forbid_code_from_strings();
        }
        let programs = Arc::new(programs);
        let (interrupt, stuck, cells, background, used) = Default::default();
        Ok(SessionSandbox {
            vfs,
            programs,
            cells,
            budget,
            policy,
            interrupt,
            stuck,
            background,
            used,
        })
    }
}

/// The time for which changed files are searched for.
const COMPARING: Duration = Duration::from_secs(1);

/// A session's sandbox.
pub struct SessionSandbox {
    vfs: Vfs,
    pub(crate) programs: Arc<Programs>,
    /// Living interpreters that run no cell, by name.
    pub(crate) cells: Mutex<BTreeMap<String, ParkedInterpreter>>,
    pub(crate) budget: Arc<Budget>,
    policy: Policy,
    interrupt: SandboxInterrupt,
    /// The kernel of a run whose processes could not be ended.
    stuck: Mutex<Option<Arc<Kernel>>>,
    pub(crate) background: Arc<Background>,
    /// The last field, because fields are dropped in order and its drop trims the heap.
    used: PeakMemory,
}

impl Drop for SessionSandbox {
    fn drop(&mut self) {
        self.background.end_all();
    }
}

/// The largest memory in bytes that a run of the session has used.
#[derive(Default)]
struct PeakMemory(AtomicU64);

impl Drop for PeakMemory {
    fn drop(&mut self) {
        // By now only memory that the allocator keeps is left of the session. It can be as much as
        // the session used, because each of its threads had a heap.
        if *self.0.get_mut() > LARGE {
            crate::heap::trim_heap();
        }
    }
}

/// From this size on the allocator is asked to give memory back, which takes a millisecond.
const LARGE: u64 = 64 << 20;

impl SessionSandbox {
    /// Makes the sandbox of a session: [`PreparedImage::new`] and [`PreparedImage::open_sandbox`].
    ///
    /// # Errors
    /// A damaged image or a mount that cannot be made.
    pub fn new(
        image: Arc<Image>,
        policy: Policy,
        artifacts: Option<PathBuf>,
        progress: Progress,
    ) -> Result<SessionSandbox, SandboxError> {
        PreparedImage::new(image, artifacts, progress, policy.limits.stack).open_sandbox(policy)
    }

    /// Returns whether the machine code of all programs is stored already, and the prepared memory
    /// of those that can be prepared; `None` if nothing can be stored.
    pub fn is_compiled(&self) -> Option<bool> {
        Some(self.unready_programs()?.is_empty())
    }

    /// Returns the names of the image's programs that [`SessionSandbox::is_compiled`] finds
    /// missing.
    pub fn unready_programs(&self) -> Option<Vec<String>> {
        self.programs.library().unready()
    }

    /// Returns the host files and folders that are read when programs run for the first time.
    pub fn own_files(&self) -> Vec<PathBuf> {
        self.programs.library().own_files().paths
    }

    /// Returns its policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Discards an interrupt that came when its run had ended, because it must not end another run.
    pub fn forget_interrupt(&self) {
        self.interrupt.forget();
    }

    /// Returns a handle that ends runs.
    pub fn interrupt_handle(&self) -> SandboxInterrupt {
        self.interrupt.clone()
    }

    /// Returns the gate into the session's loopback from outside.
    pub fn doors(&self) -> LoopbackGate {
        LoopbackGate::new(self.vfs.network()).with_processes(self.background.clone())
    }

    /// Returns the session's files.
    pub fn vfs(&self) -> &Vfs {
        &self.vfs
    }

    /// Records the present files, for [`SessionSandbox::changes_since`].
    pub fn mark_files(&self) -> ChangeMark {
        self.vfs.mark_state()
    }

    /// Returns the files that differ from `mark`: at most as many as [`ChangeBounds`] allows by
    /// default, and only those that are found within a second.
    pub fn changes_since(&self, mark: &ChangeMark) -> TreeChanges {
        let deadline = Some(std::time::Instant::now() + COMPARING);
        self.vfs.changes_since(mark, &ChangeBounds { deadline, ..ChangeBounds::default() })
    }

    /// Reads the first bytes of a regular file, for digests and types.
    pub fn read_file(&self, path: &[u8], limit: u64) -> Result<Vec<u8>, Errno> {
        let how = wasibox_vfs::OpenFlags { read: true, ..Default::default() };
        let root = Loc::Tree(wasibox_vfs::tree::ROOT);
        if self.vfs.stat(&root, path, false)?.kind != FileKind::File {
            return Err(Errno::INVAL);
        }
        let wasibox_vfs::OpenResult::File(file) = self.vfs.open(&root, path, how, 0)? else {
            return Err(Errno::INVAL);
        };
        let mut out = Vec::new();
        let mut buf = vec![0; 256 << 10];
        while (out.len() as u64) < limit {
            let n = file.read(out.len() as u64, &mut buf)?;
            if n == 0 {
                break;
            }
            let room = (limit - out.len() as u64).min(n as u64) as usize;
            out.extend_from_slice(&buf[..room]);
        }
        Ok(out)
    }

    /// Returns the file of standard input: the stream, or the guest's `/dev/null`. An input without
    /// bytes serves if the guest has put another file there.
    fn input_file(&self, stream: Option<Arc<dyn StdStream>>) -> VfsFile {
        if let Some(stream) = stream {
            return VfsFile::Stream(stream);
        }
        let root = Loc::Tree(wasibox_vfs::tree::ROOT);
        let how = OpenFlags { read: true, ..OpenFlags::default() };
        match self.vfs.open(&root, b"/dev/null", how, 0) {
            Ok(OpenResult::File(file @ VfsFile::Device(Device::Null, ..))) => file,
            _ => VfsFile::Stream(BytesInput::new(Vec::new())),
        }
    }

    /// Checks that no processes of an earlier run could not be ended.
    pub(crate) fn check_stuck(&self) -> Result<(), SandboxError> {
        let mut stuck = lock_mutex(&self.stuck);
        match stuck.as_ref().map_or(0, |k| k.alive_count()) {
            0 => {
                *stuck = None;
                Ok(())
            }
            alive => Err(SandboxError::Stuck(alive)),
        }
    }

    /// Opens the files with which a first process begins: its streams, and the root.
    pub(crate) fn first_files(
        &self,
        stdin: Option<Arc<dyn StdStream>>,
        stdout: Arc<dyn StdStream>,
        stderr: Arc<dyn StdStream>,
    ) -> Result<[Arc<OpenDescription>; 4], Errno> {
        Ok([
            OpenDescription::new(self.input_file(stdin), true, false),
            OpenDescription::new(VfsFile::Stream(stdout), false, true),
            OpenDescription::new(VfsFile::Stream(stderr), false, true),
            OpenDescription::root(&self.vfs)?,
        ])
    }

    /// Returns the environment of a process with the policy's variables, which `env` may replace.
    pub(crate) fn environment(&self, mut env: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        /// The variable of the shell's budget.
        const BUDGET: &str = "BOX_BUDGET=";
        if let Some(budget) = &self.policy.shell_budget
            && !env.iter().any(|variable| variable.starts_with(BUDGET.as_bytes()))
        {
            env.push([BUDGET, budget].concat().into_bytes());
        }
        env
    }

    /// Finds a command: a name along `PATH` of the environment, or a path.
    pub(crate) fn find_program(
        &self,
        argv: &[Vec<u8>],
        env: &[Vec<u8>],
        cwd: &Loc,
    ) -> Result<ProgramMatch, SandboxError> {
        let name = argv.first().cloned().unwrap_or_default();
        let shown = String::from_utf8_lossy(&name).into_owned();
        let path = env.iter().find_map(|e| e.strip_prefix(b"PATH=".as_slice()));
        let path = path.unwrap_or(b"/usr/local/bin:/usr/bin:/bin");
        let candidates: Vec<Vec<u8>> = if name.contains(&b'/') {
            vec![name.clone()]
        } else {
            path.split(|b| *b == b':').map(|d| [d, b"/", &name].concat()).collect()
        };
        let mut why = Errno::NOENT;
        for candidate in candidates {
            match wasibox_kernel::find_program(&self.vfs, cwd, &candidate) {
                Ok(found) => return Ok(found),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(e) => {
                    why = e;
                    break;
                }
            }
        }
        Err(match why {
            Errno::NOENT => {
                let advice = crate::missing::advice_for(&self.vfs, &name, path);
                SandboxError::NotFound { name: shown, advice }
            }
            Errno::NOEXEC => SandboxError::NotExecutable {
                name: shown,
                why: "cannot execute binary file".into(),
            },
            e => SandboxError::NotExecutable { name: shown, why: e.text().into() },
        })
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// If it could not be started, or if it accessed a damaged part of the image.
    pub fn run(&self, spec: RunSpec) -> Result<RunResult, SandboxError> {
        Ok(self.run_to_end(spec, None)?.0)
    }

    /// Runs a command, or a cell, to its end. Also returns its kernel, and the program.
    pub(crate) fn run_to_end(
        &self,
        spec: RunSpec,
        mut cell: Option<&mut CellToRun<'_>>,
    ) -> Result<(RunResult, Arc<Kernel>, ProgramMark), SandboxError> {
        self.check_stuck()?;
        let limits = crate::policy::Limits {
            timeout: spec.timeout.or(self.policy.limits.timeout),
            ..self.policy.limits
        };
        let root = Loc::Tree(wasibox_vfs::tree::ROOT);
        let (loc, path) = self.vfs.chdir(&root, &spec.cwd).map_err(|why| SandboxError::Cwd {
            path: String::from_utf8_lossy(&spec.cwd).into_owned(),
            why,
        })?;
        let found = self.find_program(&spec.argv, &spec.env, &loc)?;
        let program = found.program;
        let start = found.to_start(&self.vfs, spec.argv, self.environment(spec.env));
        let argv = start.argv.clone();
        let cannot = |why: Errno| SandboxError::NotExecutable {
            name: String::from_utf8_lossy(&argv[0]).into_owned(),
            why: why.text().into(),
        };
        let opens = self.first_files(spec.stdin, spec.stdout, spec.stderr).map_err(cannot)?;
        // Loading, and perhaps compiling, does not count as the guest's time.
        let loaded = self.programs.get(program)?;
        if let Some(cell) = &cell {
            cell.check(program, &loaded)?;
        }
        let started = std::time::Instant::now();
        self.budget.take_report();
        let before = cell.as_ref().map(|c| c.before()).unwrap_or_default();
        self.vfs.take_hit();
        let kernel = Kernel::new(
            self.vfs.clone(),
            self.programs.clone(),
            limits,
            self.budget.clone(),
            CellOrigin { next_pid: before.next_pid.max(self.background.next_pid()), ..before },
            self.background.clone(),
        );
        if spec.keep {
            kernel.keep_background();
        }
        let cwd = wasibox_kernel::Cwd::new(loc, path);
        let spawned = match &mut cell {
            None => {
                let fds = add_files(opens, limits.descriptors).map_err(cannot)?;
                self.announce_kernel(&kernel);
                kernel.spawn_process(ChildStart {
                    parent: 1,
                    start,
                    fds,
                    cwd,
                    ignored: 0,
                    held: None,
                })
            }
            Some(cell) => {
                let start = ProcessStart { argv: cell.argv(&argv), ..start };
                // The memory is reserved before the start, because a started interpreter cannot be
                // handed back.
                let held =
                    kernel.reserve_start(&start, &cwd, cell.table_cost()).ok_or(Errno::NOMEM);
                let held = held.map_err(cannot)?;
                let fds = cell.descriptors(limits.descriptors, opens).map_err(cannot)?;
                self.announce_kernel(&kernel);
                let held = Some(held);
                let child = ChildStart { parent: 1, start, fds, cwd, ignored: 0, held };
                kernel.run_cell(child, cell.start())
            }
        };
        // An interrupt before the first process is the end of the run, and no error.
        if let Err(e) = spawned
            && !kernel.is_interrupted()
        {
            *lock_mutex(&self.interrupt.0) = InterruptState::default();
            return Err(match e {
                SpawnError::Errno(e) => cannot(e),
                SpawnError::Program(e) => e.into(),
            });
        }
        let end = kernel.finish_run();
        drop_unused();
        if kernel.is_kept() {
            self.background.keep_run(kernel.clone());
        } else if self.background.alive_count() == 0 {
            self.vfs.command_ended();
        }
        *lock_mutex(&self.interrupt.0) = InterruptState::default();
        if end.stuck > 0 {
            *lock_mutex(&self.stuck) = Some(kernel.clone());
        }
        if let Some(why) = self.vfs.damage() {
            return Err(SandboxError::Damaged(why));
        }
        let peak_memory = self.budget.take_report().0;
        self.used.0.fetch_max(peak_memory, Ordering::Relaxed);
        let result = RunResult {
            status: end.status,
            limit: end.limit.or(self.vfs.take_hit().map(limit_of_quota)),
            interrupted: end.interrupted,
            duration: started.elapsed(),
            cpu: end.cpu,
            peak_memory,
            ended: end.ended,
            left: end.left,
            stuck: end.stuck,
        };
        Ok((result, kernel, program))
    }

    /// Ends the processes that earlier runs have left.
    ///
    /// # Errors
    /// [`SandboxError::Stuck`] if some of them do not end.
    pub fn end_background(&self) -> Result<(), SandboxError> {
        if self.background.end_all() {
            Ok(())
        } else {
            Err(SandboxError::Stuck(self.background.alive_count()))
        }
    }

    /// Lets interrupts end this run.
    fn announce_kernel(&self, kernel: &Arc<Kernel>) {
        let mut s = lock_mutex(&self.interrupt.0);
        s.kernel = Some(kernel.clone());
        if s.requested {
            kernel.interrupt_run();
        }
    }
}

/// Makes a table of descriptors with these files, of at most `most`.
pub(crate) fn add_files(
    files: [Arc<OpenDescription>; 4],
    most: usize,
) -> Result<Descriptors, Errno> {
    let mut fds = Descriptors::new(most);
    for open in files {
        fds.add_descriptor(Descriptor { open, cloexec: false }, Fd(0))?;
    }
    Ok(fds)
}

/// Returns an image's files, for a tree in which nothing is to run.
///
/// # Errors
/// A damaged image.
pub fn image_files(image: &Arc<Image>) -> Result<Vec<BaseFile>, ImageError> {
    wasibox_kernel::image_files(image, None)
}

/// Returns the host paths of an image and of the machine code in `artifacts` that no mount may
/// show.
pub fn protected_paths(image: &Image, artifacts: Option<&Path>) -> ProtectedPaths {
    let mut paths = crate::artifact::protected_paths(artifacts);
    paths.push(image.path().to_path_buf());
    ProtectedPaths { paths }
}
