//! The interface to JavaScript. Apart from the allocator (`heap.rs`) it has the only `unsafe` code
//! of the crate.
//!
//! Addresses refer to this module's memory, which JavaScript reads and writes while an import runs
//! or between two exports.

use std::sync::atomic::AtomicU32;
use wasibox_kernel::EntryPoint;
use wasibox_kernel::border::{
    CloseOnExec, Domain, Fd, GuestBuf, GuestList, GuestStr, LookupFlags, Opening, PathAt,
    ProcessChanges, ProgramRequest, ReceiveResult, SetTimes, SocketTransfer,
};
use wasibox_protocol::ScreenSize;

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

/// Returns the size in bytes of the memory of the guest that runs in this worker.
pub fn guest_size() -> usize {
    // JUSTIFICATION: imports are unsafe to call. SAFETY: it has no preconditions; without a guest
    // it returns 0.
    unsafe { imports::guest_size() }
}

/// Copies from the guest's memory; the caller has checked that the bytes lie inside it.
pub fn guest_read(at: u32, to: &mut [u8]) {
    // JUSTIFICATION: as above. SAFETY: it writes only `to`, and keeps no reference.
    unsafe { imports::guest_read(at, to.as_mut_ptr(), to.len()) }
}

/// Copies to the guest's memory; the caller has checked that the bytes lie inside it.
pub fn guest_write(at: u32, from: &[u8]) {
    // JUSTIFICATION: as above. SAFETY: it reads only `from`, and keeps no reference.
    unsafe { imports::guest_write(at, from.as_ptr(), from.len()) }
}

/// The way a call of the guest's signal handler ended.
pub enum HandlerEnd {
    Done,
    /// There is no handler.
    None,
    /// The handler trapped.
    Trap,
}

/// Calls the guest's signal handler.
pub fn guest_signal(signal: u8) -> HandlerEnd {
    // JUSTIFICATION: as above. SAFETY: the guest's code has no access to this module's memory. The
    // functions that it calls are in `calls`, which borrows nothing from its caller.
    match unsafe { imports::guest_signal(signal.into()) } {
        0 => HandlerEnd::Done,
        1 => HandlerEnd::None,
        _ => HandlerEnd::Trap,
    }
}

/// The initial content of a guest's memory: these bytes, surrounded by zeros.
#[derive(Clone, Copy)]
pub struct MemoryContent<'a> {
    pub bytes: &'a [u8],
    /// The address of the bytes.
    pub at: usize,
    /// The size of the memory in bytes.
    pub size: usize,
    /// Whether this is a prepared memory, and not the one that the program's module describes.
    pub is_prepared: bool,
}

/// Makes a guest in this worker: an instance of a program, which stays until [`forget_guest`]. It
/// begins with this memory, or as its module describes. If `may_be_spare` is set, the guest may be
/// an instance that [`guest_begin_again`] has reset, whose memory may be larger than a new one's.
/// Returns false if there is no room for the guest.
pub fn guest_begin(program: u32, prepared: Option<MemoryContent>, may_be_spare: bool) -> bool {
    let (bytes, at, size) = prepared.map_or((&[][..], 0, 0), |c| (c.bytes, c.at as u32, c.size));
    let (from, len) = (bytes.as_ptr(), bytes.len());
    // JUSTIFICATION: as above. SAFETY: it reads the bytes before it returns.
    unsafe { imports::guest_begin(program, from, len, at, size, may_be_spare.into()) != 0 }
}

/// Returns whether this worker's guest can be reset to its initial state.
pub fn guest_can_begin_again() -> bool {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions; without a guest it returns 0.
    unsafe { imports::guest_can_begin_again() != 0 }
}

/// Returns whether the program of this worker's guest can be prepared.
pub fn guest_can_be_prepared() -> bool {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions; without a guest it returns 0.
    unsafe { imports::guest_can_be_prepared() != 0 }
}

/// Resets this worker's guest, which has ended and can be reset, to the initial state of its
/// program. It then waits for the next process of that program, unless there is no room.
pub fn guest_begin_again(content: MemoryContent) {
    let MemoryContent { bytes, at, size, is_prepared } = content;
    let (from, len) = (bytes.as_ptr(), bytes.len());
    // JUSTIFICATION: as above. SAFETY: it reads the bytes before it returns.
    unsafe { imports::guest_begin_again(from, len, at as u32, size, is_prepared.into()) }
}

/// Makes the page end waiting workers, together with the memory that they hold of guests that have
/// ended.
pub fn make_room() {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions.
    unsafe { imports::make_room() }
}

/// Grows the guest's memory to at least `size` bytes; returns false if there is no room.
pub fn guest_grow(size: usize) -> bool {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions; without a guest it does nothing.
    unsafe { imports::guest_grow(size) != 0 }
}

/// Records the current content of the guest's memory, for [`guest_changed`].
pub fn guest_settle() {
    // JUSTIFICATION: as above. SAFETY: as for `guest_grow`.
    unsafe { imports::guest_settle() }
}

/// Returns the numbers of the parts of the guest's memory that are new or have changed since the
/// last call.
pub fn guest_changed() -> Vec<u32> {
    let mut parts = vec![0; guest_size() / wasibox_kernel::layer::PART];
    // JUSTIFICATION: as above. SAFETY: it writes at most that many numbers, and keeps no reference.
    let n = unsafe { imports::guest_changed(parts.as_mut_ptr(), parts.len()) };
    parts.truncate(n);
    parts
}

/// The way a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramResult {
    /// The function returned this value, which depends on the entry: nothing, whether the program
    /// asks to start from another memory, or the address of a cell's answer, if there is one.
    Returned(u32),
    /// The program trapped by itself, with that signal; or the kernel ended it by a trap and knows
    /// the reason.
    Trap(u8),
    /// The program could not be instantiated, because the module or the memory for it is missing.
    Cannot,
}

/// Runs the guest's function for that entry point to its end; passes the slot and its generation to
/// the page.
pub fn run(entry: EntryPoint, kind: i32, (slot, generation): (u32, u32)) -> ProgramResult {
    let entry = match entry {
        EntryPoint::Start => 0,
        EntryPoint::Resume => 1,
        EntryPoint::Prepare => 2,
        EntryPoint::Cell { .. } => 3,
    };
    // JUSTIFICATION and SAFETY: as for `guest_signal`.
    match unsafe { imports::run(entry, kind as u32, slot, generation) } {
        n @ 0.. => ProgramResult::Returned(n as u32),
        n if (-64..0).contains(&n) => ProgramResult::Trap(n.unsigned_abs() as u8),
        _ => ProgramResult::Cannot,
    }
}

/// Drops this worker's guest, if there is one.
pub fn forget_guest() {
    // JUSTIFICATION: as above. SAFETY: it drops JavaScript's references; no guest runs in this
    // worker now.
    unsafe { imports::forget_guest() }
}

/// Sends bytes that were written to a stream to the page.
pub fn output(stream: u32, bytes: &[u8]) {
    // JUSTIFICATION: as above. SAFETY: it copies the bytes before it returns.
    unsafe { imports::output(stream, bytes.as_ptr(), bytes.len()) }
}

/// Sends a piece of the result of `wasibox_export`.
pub fn send_exported(bytes: &[u8]) {
    // JUSTIFICATION: as above. SAFETY: it copies the bytes before it returns.
    unsafe { imports::exported(bytes.as_ptr(), bytes.len()) }
}

/// Notifies the page that the input has room again.
pub fn input_wake() {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions.
    unsafe { imports::input_wake() }
}

/// Sends the result of the run to the page, as JSON.
fn run_done(result: &[u8]) {
    // JUSTIFICATION: as above. SAFETY: it copies the bytes before it returns.
    unsafe { imports::done(result.as_ptr(), result.len()) }
}

/// Asks the page to end the guest in that slot, if its generation is still the same and it runs its
/// own code.
pub fn interrupt(slot: u32, generation: u32) {
    // JUSTIFICATION: as above. SAFETY: it sends a message.
    unsafe { imports::interrupt(slot, generation) }
}

/// Fetches a part of the image through the page and waits for it. `to` has the part's length.
/// Returns `false` on failure.
pub fn fetch(part: u32, to: &mut [u8]) -> bool {
    // JUSTIFICATION: as above. SAFETY: it writes only `to`, before it returns, and keeps no
    // reference.
    unsafe { imports::fetch(part, to.as_mut_ptr(), to.len()) == 0 }
}

/// Makes the page prepare a program for workers that start from now on, and waits for it; returns
/// `false` on failure.
pub fn need(program: u32) -> bool {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions.
    unsafe { imports::need(program) == 0 }
}

/// Returns the bytes of a program that the page has kept by [`keep`], in this visit or in an
/// earlier one. If `fetches` is set, the bytes may be fetched from the image's origin, which takes
/// longer.
pub fn kept(program: u32, fetches: bool) -> Option<Vec<u8>> {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions.
    let len = unsafe { imports::kept(program, fetches.into()) };
    if len == 0 {
        return None;
    }
    let mut bytes = vec![0; len];
    // JUSTIFICATION: as above. SAFETY: it writes only the bytes, before it returns, and keeps no
    // reference.
    let failed = unsafe { imports::take_kept(program, bytes.as_mut_ptr(), len) };
    (failed == 0).then_some(bytes)
}

/// Makes the page keep bytes of a program for later visits: `bytes` followed by `about`. Returns
/// without waiting for it.
pub fn keep(program: u32, bytes: &[u8], about: &[u8]) {
    // JUSTIFICATION: as above. SAFETY: it copies the bytes before it returns.
    unsafe { imports::keep(program, bytes.as_ptr(), bytes.len(), about.as_ptr(), about.len()) }
}

/// Returns the programs that this worker has, one bit for each of the first 32.
pub fn programs() -> u32 {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions.
    unsafe { imports::programs() }
}

/// Returns the programs of which this worker has a guest that was reset, one bit for each of the
/// first 32.
pub fn spares() -> u32 {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions.
    unsafe { imports::spares() }
}

/// Announces to the page the program for which the next thread is created, because some workers
/// start it faster.
pub fn wants(program: u32) {
    // JUSTIFICATION: as above. SAFETY: it has no preconditions.
    unsafe { imports::wants(program) }
}

/// Makes the page send a request that the rules allow: its head as JSON, and its body. The response
/// arrives through `wasibox_responded`.
pub fn request(number: u32, head: &[u8], body: &[u8]) {
    // JUSTIFICATION: as above. SAFETY: it copies the bytes before it returns.
    unsafe { imports::request(number, head.as_ptr(), head.len(), body.as_ptr(), body.len()) }
}

/// Asks the page for the next part of a request's response, which arrives through
/// `wasibox_received`.
pub fn request_read(number: u32) {
    // JUSTIFICATION: as above. SAFETY: it sends a message.
    unsafe { imports::request_read(number) }
}

/// Asks the page to abandon a request's response.
pub fn request_close(number: u32) {
    // JUSTIFICATION: as above. SAFETY: it sends a message.
    unsafe { imports::request_close(number) }
}

/// Ends the guest's code: the guest's call does not return.
pub fn halt() -> ! {
    core::arch::wasm32::unreachable()
}

/// Returns the address of a list of numbers that JavaScript reads by atomic operations. It is never
/// moved.
pub fn address_of(words: &'static [AtomicU32]) -> u32 {
    words.as_ptr() as u32
}

/// Allocates room for bytes that JavaScript will write and pass to an export; null if there is
/// none.
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
    // JUSTIFICATION: there is no other way to pass bytes. SAFETY: the page passes each address of
    // `wasibox_alloc` with its length to one export, once.
    unsafe { Box::from_raw(bytes) }.into_vec()
}

/// Opens an image, whose guests have a stack of `stack` bytes. Returns 0, or the length of an error
/// message at `wasibox_answer`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_boot(at: *mut u8, len: usize, stack: usize) -> usize {
    crate::session::boot_session(take_argument(at, len), stack)
        .map_or_else(crate::session::keep_answer, |()| 0)
}

/// Opens an image that the page has in parts, by its catalog; otherwise as `wasibox_boot`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_boot_parts(at: *mut u8, len: usize, stack: usize) -> usize {
    crate::session::boot_parts(&take_argument(at, len), stack)
        .map_or_else(crate::session::keep_answer, |()| 0)
}

/// Writes the name of the image's program with that number to `wasibox_answer`, and returns its
/// length; 0 if there is none.
#[unsafe(no_mangle)]
extern "C" fn wasibox_program_name(number: u32) -> usize {
    crate::session::program_name(number).map_or(0, crate::session::keep_answer)
}

/// Returns the length of the program with that number, whose bytes are at `wasibox_program_at`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_program_len(number: u32) -> usize {
    crate::session::program_bytes(number).map_or(0, <[u8]>::len)
}

/// Returns the address of the bytes of the program with that number; see `wasibox_program_len`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_program_at(number: u32) -> *const u8 {
    crate::session::program_bytes(number).map_or(std::ptr::null(), <[u8]>::as_ptr)
}

/// Returns the address of the last answer, whose length an export has returned.
#[unsafe(no_mangle)]
extern "C" fn wasibox_answer() -> *const u8 {
    crate::session::answer_at()
}

/// Returns the address of the slots of running guests.
#[unsafe(no_mangle)]
extern "C" fn wasibox_slots() -> u32 {
    crate::slots::slots_address()
}

/// Returns the address of the heap's size.
#[unsafe(no_mangle)]
extern "C" fn wasibox_heap() -> u32 {
    crate::heap::counter_address()
}

/// Runs a command in a worker of its own, which passes the result of `session::run` to `done`.
/// Returns without waiting. `asked` is JSON, `session::Command`.
#[unsafe(no_mangle)]
extern "C" fn wasibox_run(asked: *mut u8, len: usize) -> u32 {
    let asked = take_argument(asked, len);
    crate::session::expect_input();
    let run = move || run_done(&crate::session::run(&asked));
    std::thread::Builder::new().spawn(run).is_ok().into()
}

/// Adds bytes to the run's standard input, and returns the number of bytes taken.
#[unsafe(no_mangle)]
extern "C" fn wasibox_input(at: *mut u8, len: usize) -> usize {
    crate::streams::put_input(&take_argument(at, len))
}

/// Ends the standard input.
#[unsafe(no_mangle)]
extern "C" fn wasibox_input_end() {
    crate::streams::end_input();
}

/// Sets the size of the running call's terminal.
#[unsafe(no_mangle)]
extern "C" fn wasibox_resize(rows: u32, columns: u32) {
    let most = |n: u32| u16::try_from(n).unwrap_or(u16::MAX);
    crate::terminal::resize(ScreenSize { rows: most(rows), columns: most(columns) });
}

/// Records that the page has shown so many further bytes of the running call's terminal.
#[unsafe(no_mangle)]
extern "C" fn wasibox_shown(bytes: u32) {
    crate::terminal::confirm(bytes.into());
}

/// Ends the run; `by_timeout` is the reason.
#[unsafe(no_mangle)]
extern "C" fn wasibox_interrupt(by_timeout: u32) {
    crate::session::interrupt_run(by_timeout != 0);
}

/// Reports the end of a guest whose worker was terminated.
#[unsafe(no_mangle)]
extern "C" fn wasibox_reap(slot: u32) {
    crate::thread::reap_process(slot);
}

/// Passes an answer to the page through `wasibox_answer`. Returns its length; for a failure, which
/// is JSON, -1 minus its length.
fn hand_over(answer: Result<Vec<u8>, wasibox_protocol::Refusal>) -> i64 {
    match answer {
        Ok(bytes) => crate::session::keep_answer(bytes) as i64,
        Err(failure) => -1 - crate::session::keep_answer(crate::outcome::to_json(&failure)) as i64,
    }
}

/// Takes a string from the page.
fn take_text(at: *mut u8, len: usize) -> String {
    String::from_utf8_lossy(&take_argument(at, len)).into_owned()
}

/// Creates or replaces a file; commits it, or leaves it to the commit of the next call.
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

/// Allows guests to make requests, by rules in JSON.
#[unsafe(no_mangle)]
extern "C" fn wasibox_network(at: *mut u8, len: usize) -> i64 {
    hand_over(crate::session::allow_network(&take_argument(at, len)).map(|()| Vec::new()))
}

/// Takes the head of a response, or the reason for its failure, as JSON. Returns 0 if it is no
/// longer wanted.
#[unsafe(no_mangle)]
extern "C" fn wasibox_responded(number: u32, at: *mut u8, len: usize) -> u32 {
    crate::requests::take_response(number, &take_argument(at, len)).into()
}

/// Takes the next part of a response's body, an empty one at its end. Returns 0 if it is no longer
/// wanted.
#[unsafe(no_mangle)]
extern "C" fn wasibox_received(number: u32, at: *mut u8, len: usize) -> u32 {
    crate::requests::take_body_part(number, take_argument(at, len)).into()
}

/// Performs a request about files.
#[unsafe(no_mangle)]
extern "C" fn wasibox_files(at: *mut u8, len: usize) -> i64 {
    hand_over(crate::files::run_request(&take_argument(at, len)))
}

/// Turns on the preparation of an interpreter's memory in the background once its program has
/// started twice.
#[unsafe(no_mangle)]
extern "C" fn wasibox_prepare_by_itself() {
    crate::prepare::by_itself()
}

/// Performs a request about the history.
#[unsafe(no_mangle)]
extern "C" fn wasibox_past(at: *mut u8, len: usize) -> i64 {
    hand_over(crate::past::run_request(&take_argument(at, len)))
}

/// Exports the session as a snapshot through `exported`; with `all` including its history.
#[unsafe(no_mangle)]
extern "C" fn wasibox_export(all: u32) -> i64 {
    hand_over(crate::past::export_session(all != 0).map(|()| Vec::new()))
}

/// Imports a snapshot into the session, which must be new; with `is_fork` it is a copy of one that
/// continues elsewhere.
#[unsafe(no_mangle)]
extern "C" fn wasibox_import(at: *mut u8, len: usize, is_fork: u32) -> i64 {
    hand_over(
        crate::past::import_session(&take_argument(at, len), is_fork != 0).map(|()| Vec::new()),
    )
}

/// Returns the bytes to append to the session's journal, which are none if it is up to date.
#[unsafe(no_mangle)]
extern "C" fn wasibox_record() -> i64 {
    hand_over(crate::journal::next_record())
}

/// Restores the session, which must be new, from a journal. The answer is the number of complete
/// bytes, as text.
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

/// Serves `proc_exit` of each module.
#[unsafe(no_mangle)]
extern "C" fn wasibox_exit(code: u32) {
    crate::calls::serve_exit(code as u8)
}
