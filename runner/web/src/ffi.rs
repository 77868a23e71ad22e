//! All that crosses the border to JavaScript. Beside the allocator (`heap.rs`) it has the only `unsafe` of the crate.
//!
//! Addresses are of this module's memory, which JavaScript reads and writes while an import runs or between two exports.

use std::sync::atomic::AtomicU32;
use wasibox_kernel::EntryPoint;
use wasibox_kernel::border::{
    CloseOnExec, Domain, Fd, GuestBuf, GuestList, GuestStr, LookupFlags, Opening, PathAt,
    ProcessChanges, ProgramRequest, ReceiveResult, SetTimes, SocketTransfer,
};

mod imports {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        pub(super) fn guest_size() -> usize;
        pub(super) fn guest_read(at: u32, to: *mut u8, len: usize);
        pub(super) fn guest_write(at: u32, from: *const u8, len: usize);
        pub(super) fn guest_signal(signal: u32) -> u32;
        pub(super) fn guest_begin(
            program: u32,
            from: *const u8,
            len: usize,
            at: u32,
            size: usize,
            may_be_spare: u32,
        ) -> u32;
        pub(super) fn guest_can_begin_again() -> u32;
        pub(super) fn guest_begin_again(
            from: *const u8,
            len: usize,
            at: u32,
            size: usize,
            is_prepared: u32,
        );
        pub(super) fn guest_can_be_prepared() -> u32;
        pub(super) fn make_room();
        pub(super) fn guest_grow(size: usize) -> u32;
        pub(super) fn guest_settle();
        pub(super) fn guest_changed(to: *mut u32, most: usize) -> usize;
        pub(super) fn run(entry: u32, kind: u32, slot: u32, generation: u32) -> i64;
        pub(super) fn forget_guest();
        pub(super) fn output(stream: u32, from: *const u8, len: usize);
        pub(super) fn exported(from: *const u8, len: usize);
        pub(super) fn input_wake();
        pub(super) fn done(from: *const u8, len: usize);
        pub(super) fn interrupt(slot: u32, generation: u32);
        pub(super) fn fetch(part: u32, to: *mut u8, len: usize) -> u32;
        pub(super) fn need(program: u32) -> u32;
        pub(super) fn kept(program: u32, fetches: u32) -> usize;
        pub(super) fn take_kept(program: u32, to: *mut u8, len: usize) -> u32;
        pub(super) fn keep(
            program: u32,
            from: *const u8,
            len: usize,
            about: *const u8,
            size: usize,
        );
        pub(super) fn programs() -> u32;
        pub(super) fn spares() -> u32;
        pub(super) fn wants(program: u32);
        pub(super) fn request(
            number: u32,
            head: *const u8,
            len: usize,
            body: *const u8,
            size: usize,
        );
        pub(super) fn request_read(number: u32);
        pub(super) fn request_close(number: u32);
    }
}

/// Bytes of the memory of the guest that runs in this worker.
pub fn guest_size() -> usize {
    // JUSTIFICATION: imports are unsafe to call.
    // SAFETY: it has no preconditions; without a guest it tells 0.
    unsafe { imports::guest_size() }
}

/// Copies from the guest's memory; the caller has looked that the bytes lie in it.
pub fn guest_read(at: u32, to: &mut [u8]) {
    // JUSTIFICATION: as above.
    // SAFETY: it writes `to`, no more, and keeps nothing.
    unsafe { imports::guest_read(at, to.as_mut_ptr(), to.len()) }
}

/// Copies to the guest's memory; the caller has looked that the bytes lie in it.
pub fn guest_write(at: u32, from: &[u8]) {
    // JUSTIFICATION: as above.
    // SAFETY: it reads `from`, no more, and keeps nothing.
    unsafe { imports::guest_write(at, from.as_ptr(), from.len()) }
}

/// How a call of the guest's signal handler has ended.
pub enum HandlerEnd {
    Done,
    /// It has none.
    None,
    /// By a trap.
    Trap,
}

/// Calls the guest's signal handler.
pub fn guest_signal(signal: u8) -> HandlerEnd {
    // JUSTIFICATION: as above.
    // SAFETY: the guest's code runs on no memory of ours. What it calls is in `calls`, which borrows nothing of its caller.
    match unsafe { imports::guest_signal(signal.into()) } {
        0 => HandlerEnd::Done,
        1 => HandlerEnd::None,
        _ => HandlerEnd::Trap,
    }
}

/// What a guest's memory holds as it begins: these bytes, and around them zeros.
#[derive(Clone, Copy)]
pub struct MemoryContent<'a> {
    pub bytes: &'a [u8],
    /// Where they lie.
    pub at: usize,
    /// Bytes of the memory.
    pub size: usize,
    /// It is not what the program's module says, but what it has become by preparing it.
    pub is_prepared: bool,
}

/// Makes a guest in this worker: an instance of a program, which stays until [`forget_guest`]. It begins with this memory, or
/// as its module says. With `may_be_spare` it may be one that [`guest_begin_again`] has left, whose memory may be larger
/// than a new one's. False if there is no room for it.
pub fn guest_begin(program: u32, prepared: Option<MemoryContent>, may_be_spare: bool) -> bool {
    let (bytes, at, size) = prepared.map_or((&[][..], 0, 0), |c| (c.bytes, c.at as u32, c.size));
    let (from, len) = (bytes.as_ptr(), bytes.len());
    // JUSTIFICATION: as above.
    // SAFETY: it reads the bytes before it returns.
    unsafe { imports::guest_begin(program, from, len, at, size, may_be_spare.into()) != 0 }
}

/// Whether the guest of this worker can be put back to what it began as.
pub fn guest_can_begin_again() -> bool {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions; without a guest it cannot.
    unsafe { imports::guest_can_begin_again() != 0 }
}

/// Whether the program of this worker's guest can be prepared.
pub fn guest_can_be_prepared() -> bool {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions; without a guest it cannot.
    unsafe { imports::guest_can_be_prepared() != 0 }
}

/// Puts the guest of this worker, which has ended and can be put back, to what its program begins as. It waits for the next
/// process of its program, unless there is no room.
pub fn guest_begin_again(content: MemoryContent) {
    let MemoryContent { bytes, at, size, is_prepared } = content;
    let (from, len) = (bytes.as_ptr(), bytes.len());
    // JUSTIFICATION: as above.
    // SAFETY: it reads the bytes before it returns.
    unsafe { imports::guest_begin_again(from, len, at as u32, size, is_prepared.into()) }
}

/// Has the page end the workers that wait with it, and what they hold of guests that have ended.
pub fn make_room() {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions.
    unsafe { imports::make_room() }
}

/// Makes the guest's memory that large, if it is smaller; false if there is no room.
pub fn guest_grow(size: usize) -> bool {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions; without a guest it does nothing.
    unsafe { imports::guest_grow(size) != 0 }
}

/// Notes what the guest's memory holds, for [`guest_changed`].
pub fn guest_settle() {
    // JUSTIFICATION: as above.
    // SAFETY: as of `guest_grow`.
    unsafe { imports::guest_settle() }
}

/// Parts of the guest's memory that have changed since this was last asked for, by number, and those that are new.
pub fn guest_changed() -> Vec<u32> {
    let mut parts = vec![0; guest_size() / wasibox_kernel::layer::PART];
    // JUSTIFICATION: as above.
    // SAFETY: it writes so many numbers at most, and keeps nothing.
    let n = unsafe { imports::guest_changed(parts.as_mut_ptr(), parts.len()) };
    parts.truncate(n);
    parts
}

/// How a program has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramResult {
    /// Its function has returned this: nothing, whether it wants another memory to begin with, or where the answer of a cell
    /// lies, if it has one.
    Returned(u32),
    /// By a trap of its own, as that signal; or of the kernel's, which knows why.
    Trap(u8),
    /// It could not be instantiated: no such module, or no memory for it.
    Cannot,
}

/// Calls the guest's function for that entry to its end; the page is told in which slot and generation that is.
pub fn run(entry: EntryPoint, kind: i32, (slot, generation): (u32, u32)) -> ProgramResult {
    let entry = match entry {
        EntryPoint::Start => 0,
        EntryPoint::Resume => 1,
        EntryPoint::Prepare => 2,
        EntryPoint::Cell { .. } => 3,
    };
    // JUSTIFICATION and SAFETY: as of `guest_signal`.
    match unsafe { imports::run(entry, kind as u32, slot, generation) } {
        n @ 0.. => ProgramResult::Returned(n as u32),
        n if (-64..0).contains(&n) => ProgramResult::Trap(n.unsigned_abs() as u8),
        _ => ProgramResult::Cannot,
    }
}

/// Lets go of the guest of this worker, if there is one.
pub fn forget_guest() {
    // JUSTIFICATION: as above.
    // SAFETY: it drops JavaScript's references; no guest runs in this worker now.
    unsafe { imports::forget_guest() }
}

/// Tells the page of bytes that were written to a stream.
pub fn output(stream: u32, bytes: &[u8]) {
    // JUSTIFICATION: as above.
    // SAFETY: it copies the bytes before it returns.
    unsafe { imports::output(stream, bytes.as_ptr(), bytes.len()) }
}

/// A piece of what `wasibox_export` is to give.
pub fn send_exported(bytes: &[u8]) {
    // JUSTIFICATION: as above.
    // SAFETY: it copies the bytes before it returns.
    unsafe { imports::exported(bytes.as_ptr(), bytes.len()) }
}

/// Tells the page that the input has room again.
pub fn input_wake() {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions.
    unsafe { imports::input_wake() }
}

/// Tells the page how the run has ended, as JSON.
fn run_done(told: &[u8]) {
    // JUSTIFICATION: as above.
    // SAFETY: it copies the bytes before it returns.
    unsafe { imports::done(told.as_ptr(), told.len()) }
}

/// Asks the page to end the guest in that slot, if it is still that one and runs its own code.
pub fn interrupt(slot: u32, generation: u32) {
    // JUSTIFICATION: as above.
    // SAFETY: it sends a message.
    unsafe { imports::interrupt(slot, generation) }
}

/// Has the page fetch a part of the image, which has this length, and waits until it is there; `false` if it cannot be had.
pub fn fetch(part: u32, to: &mut [u8]) -> bool {
    // JUSTIFICATION: as above.
    // SAFETY: it writes `to`, no more, before it returns, and keeps nothing.
    unsafe { imports::fetch(part, to.as_mut_ptr(), to.len()) == 0 }
}

/// Has the page make a program ready for workers that begin from now on, and waits for it; `false` if it cannot be had.
pub fn need(program: u32) -> bool {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions.
    unsafe { imports::need(program) == 0 }
}

/// What the page has kept of a program by [`keep`], in this visit or in an earlier one. With `fetches` it may come from
/// where the image comes from, which takes its time.
pub fn kept(program: u32, fetches: bool) -> Option<Vec<u8>> {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions.
    let len = unsafe { imports::kept(program, fetches.into()) };
    if len == 0 {
        return None;
    }
    let mut bytes = vec![0; len];
    // JUSTIFICATION: as above.
    // SAFETY: it writes the bytes, no more, before it returns, and keeps nothing.
    let failed = unsafe { imports::take_kept(program, bytes.as_mut_ptr(), len) };
    (failed == 0).then_some(bytes)
}

/// Has the page keep bytes of a program for later visits, one part behind the other. Nobody waits for it.
pub fn keep(program: u32, bytes: &[u8], about: &[u8]) {
    // JUSTIFICATION: as above.
    // SAFETY: it copies the bytes before it returns.
    unsafe { imports::keep(program, bytes.as_ptr(), bytes.len(), about.as_ptr(), about.len()) }
}

/// The programs that this worker has, a bit for each of the first 32.
pub fn programs() -> u32 {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions.
    unsafe { imports::programs() }
}

/// The programs of which this worker has a guest that was put back, a bit for each of the first 32.
pub fn spares() -> u32 {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions.
    unsafe { imports::spares() }
}

/// Tells the page which program the thread that begins next is for: some workers begin it sooner.
pub fn wants(program: u32) {
    // JUSTIFICATION: as above.
    // SAFETY: it has no preconditions.
    unsafe { imports::wants(program) }
}

/// Has the page make a request, which was judged: its head as JSON, and its body. What becomes of it comes by
/// `wasibox_responded`.
pub fn request(number: u32, head: &[u8], body: &[u8]) {
    // JUSTIFICATION: as above.
    // SAFETY: it copies the bytes before it returns.
    unsafe { imports::request(number, head.as_ptr(), head.len(), body.as_ptr(), body.len()) }
}

/// Asks the page for the next part of that request's response, which comes by `wasibox_received`.
pub fn request_read(number: u32) {
    // JUSTIFICATION: as above.
    // SAFETY: it sends a message.
    unsafe { imports::request_read(number) }
}

/// Nobody wants that request's response any more.
pub fn request_close(number: u32) {
    // JUSTIFICATION: as above.
    // SAFETY: it sends a message.
    unsafe { imports::request_close(number) }
}

/// Ends the guest's code: the call that has come here does not return.
pub fn halt() -> ! {
    core::arch::wasm32::unreachable()
}

/// Where a list of numbers lies that JavaScript looks at by atomic operations. It is never moved.
pub fn address_of(words: &'static [AtomicU32]) -> u32 {
    words.as_ptr() as u32
}

/// Room for bytes that JavaScript is about to write, which become the argument of an export; null if there is none.
#[unsafe(no_mangle)]
extern "C" fn wasibox_alloc(len: usize) -> *mut u8 {
    let mut room = Vec::new();
    if room.try_reserve_exact(len).is_err() {
        return std::ptr::null_mut();
    }
    room.resize(len, 0u8);
    Box::into_raw(room.into_boxed_slice()).cast()
}

/// Takes an argument back from JavaScript.
fn take_argument(at: *mut u8, len: usize) -> Vec<u8> {
    let bytes = std::ptr::slice_from_raw_parts_mut(at, len);
    // JUSTIFICATION: there is no other way to hand bytes over.
    // SAFETY: the page passes each address of `wasibox_alloc` with its length to one export, once.
    unsafe { Box::from_raw(bytes) }.into_vec()
}

/// Opens an image, whose guests have a stack of so many bytes; 0, or the length of a message for `wasibox_answer`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_boot(at: *mut u8, len: usize, stack: usize) -> usize {
    crate::session::boot_session(take_argument(at, len), stack)
        .map_or_else(crate::session::keep_answer, |()| 0)
}

/// Opens an image that the page has in parts, by its catalog; else as `wasibox_boot`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_boot_parts(at: *mut u8, len: usize, stack: usize) -> usize {
    crate::session::boot_parts(&take_argument(at, len), stack)
        .map_or_else(crate::session::keep_answer, |()| 0)
}

/// The name of the image's program of that number; its length, 0 if there is none.
#[unsafe(no_mangle)]
extern "C" fn wasibox_program_name(number: u32) -> usize {
    crate::session::program_name(number).map_or(0, crate::session::keep_answer)
}

/// The bytes of that program, as their length; they lie at `wasibox_program_at`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_program_len(number: u32) -> usize {
    crate::session::program_bytes(number).map_or(0, <[u8]>::len)
}

/// See `wasibox_program_len`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_program_at(number: u32) -> *const u8 {
    crate::session::program_bytes(number).map_or(std::ptr::null(), <[u8]>::as_ptr)
}

/// Where the last answer lies that an export has told the length of.
#[unsafe(no_mangle)]
extern "C" fn wasibox_answer() -> *const u8 {
    crate::session::answer_at()
}

/// Where the slots of running guests lie.
#[unsafe(no_mangle)]
extern "C" fn wasibox_slots() -> u32 {
    crate::slots::slots_address()
}

/// Where the heap's size lies.
#[unsafe(no_mangle)]
extern "C" fn wasibox_heap() -> u32 {
    crate::heap::counter_address()
}

/// Runs a command in a worker of its own, which tells `done` what `session::run` says. Nothing waits here. `asked` is
/// JSON, `session::Command`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_run(asked: *mut u8, len: usize) -> u32 {
    let asked = take_argument(asked, len);
    crate::session::expect_input();
    let run = move || run_done(&crate::session::run(&asked));
    std::thread::Builder::new().spawn(run).is_ok().into()
}

/// Bytes for the standard input of the run; how many were taken.
#[unsafe(no_mangle)]
extern "C" fn wasibox_input(at: *mut u8, len: usize) -> usize {
    crate::streams::put_input(&take_argument(at, len))
}

/// The end of the standard input.
#[unsafe(no_mangle)]
extern "C" fn wasibox_input_end() {
    crate::streams::end_input();
}

/// Ends the run; `by_timeout` tells why.
#[unsafe(no_mangle)]
extern "C" fn wasibox_interrupt(by_timeout: u32) {
    crate::session::interrupt_run(by_timeout != 0);
}

/// Tells the end of a guest whose worker was terminated.
#[unsafe(no_mangle)]
extern "C" fn wasibox_reap(slot: u32) {
    crate::thread::reap_process(slot);
}

/// Hands an answer over, which lies at `wasibox_answer`: its length; or that of a failure as JSON, less than zero by one more.
fn hand_over(answer: Result<Vec<u8>, crate::outcome::PageFailure>) -> i64 {
    match answer {
        Ok(bytes) => crate::session::keep_answer(bytes) as i64,
        Err(failure) => -1 - crate::session::keep_answer(crate::outcome::to_json(&failure)) as i64,
    }
}

/// Strings as the page gives them.
fn take_text(at: *mut u8, len: usize) -> String {
    String::from_utf8_lossy(&take_argument(at, len)).into_owned()
}

/// Makes or replaces a file; commits it, or leaves it to the commit of the next call.
#[unsafe(no_mangle)]
extern "C" fn wasibox_write_file(
    path: *mut u8,
    path_len: usize,
    at: *mut u8,
    len: usize,
    commits: u32,
) -> i64 {
    let (path, bytes) = (take_text(path, path_len), take_argument(at, len));
    hand_over(crate::files::write(&path, &bytes, commits != 0).map(|()| Vec::new()))
}

/// Returns 1 if a shell would run this script, and not ask for another line.
#[unsafe(no_mangle)]
extern "C" fn wasibox_is_complete(at: *mut u8, len: usize) -> u32 {
    sh_syntax::parse::is_complete(&take_argument(at, len)).into()
}

/// Reads a file.
#[unsafe(no_mangle)]
extern "C" fn wasibox_read_file(path: *mut u8, path_len: usize) -> i64 {
    hand_over(crate::files::read(&take_text(path, path_len)))
}

/// Lets guests make requests, by rules as JSON.
#[unsafe(no_mangle)]
extern "C" fn wasibox_network(at: *mut u8, len: usize) -> i64 {
    hand_over(crate::session::allow_network(&take_argument(at, len)).map(|()| Vec::new()))
}

/// The head of a response, or why there is none, as JSON; 0 if nobody wants to know.
#[unsafe(no_mangle)]
extern "C" fn wasibox_responded(number: u32, at: *mut u8, len: usize) -> u32 {
    crate::requests::take_response(number, &take_argument(at, len)).into()
}

/// The next part of a response's body, an empty one at its end; 0 if nobody wants it.
#[unsafe(no_mangle)]
extern "C" fn wasibox_received(number: u32, at: *mut u8, len: usize) -> u32 {
    crate::requests::take_body_part(number, take_argument(at, len)).into()
}

/// Acts upon a request about files.
#[unsafe(no_mangle)]
extern "C" fn wasibox_files(at: *mut u8, len: usize) -> i64 {
    hand_over(crate::files::run_request(&take_argument(at, len)))
}

/// From now on the interpreters' memory is prepared when they have begun for the second time.
#[unsafe(no_mangle)]
extern "C" fn wasibox_prepare_by_itself() {
    crate::prepare::by_itself()
}

/// Acts upon a request about the history.
#[unsafe(no_mangle)]
extern "C" fn wasibox_past(at: *mut u8, len: usize) -> i64 {
    hand_over(crate::past::run_request(&take_argument(at, len)))
}

/// The session as a snapshot, which goes out by `exported`; with `all` of its history.
#[unsafe(no_mangle)]
extern "C" fn wasibox_export(all: u32) -> i64 {
    hand_over(crate::past::export_session(all != 0).map(|()| Vec::new()))
}

/// Makes the session, which is new, what a snapshot says; with `is_fork` it is a copy of one that goes on.
#[unsafe(no_mangle)]
extern "C" fn wasibox_import(at: *mut u8, len: usize, is_fork: u32) -> i64 {
    hand_over(
        crate::past::import_session(&take_argument(at, len), is_fork != 0).map(|()| Vec::new()),
    )
}

/// What is to be added to the session's journal; nothing if it holds the session as it is.
#[unsafe(no_mangle)]
extern "C" fn wasibox_record() -> i64 {
    hand_over(crate::journal::next_record())
}

/// Makes the session, which is new, what a journal says; how many bytes of it are whole, as text.
#[unsafe(no_mangle)]
extern "C" fn wasibox_replay(at: *mut u8, len: usize) -> i64 {
    hand_over(
        crate::journal::replay_journal(&take_argument(at, len))
            .map(|whole| whole.to_string().into_bytes()),
    )
}

macro_rules! exports {
    ($($module:literal { $($name:literal => $f:path, ($($a:ident: $t:ty),*) => ($($arg:expr),*);)* })*) => {
        $($(const _: () = {
            #[unsafe(export_name = concat!($module, ".", $name))]
            extern "C" fn call($($a: $t),*) -> i32 {
                crate::calls::serve_call(|c| $f(c, $($arg),*))
            }
        };)*)*
    };
}

wasibox_kernel::with_calls!(exports);

/// `proc_exit` of each module.
#[unsafe(no_mangle)]
extern "C" fn wasibox_exit(code: u32) {
    crate::calls::serve_exit(code as u8)
}
