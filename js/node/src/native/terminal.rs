//! Terminals: size and mode, and interrupts from the keyboard while a script runs.

use super::{files, throw_io_error};
use box_sys::events;
use box_sys::terminal::{self, AttributesMoment, Termios, cc, iflag, lflag};
use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::rc::Rc;

/// The number of the signal that Ctrl-C sends.
const SIGINT: u8 = 2;

/// `ONLCR` (`termios(3)`).
const ONLCR: u32 = 0o4;
/// `CS8`.
const CS8: u32 = 0o60;

thread_local! {
    /// The terminal whose mode this process has changed, and its attributes before.
    static ORIGINAL: RefCell<Option<(Rc<File>, Termios)>> = const { RefCell::new(None) };
    /// Whether a signal of the keyboard ends the running script.
    static IS_WATCHING: Cell<bool> = const { Cell::new(false) };
    /// Whether one has arrived that ends it.
    static IS_INTERRUPTED: Cell<bool> = const { Cell::new(false) };
}

/// Returns columns and rows.
fn terminal_size(ctx: Ctx<'_>, fd: i32) -> Result<Vec<u16>> {
    let file = files::file(&ctx, fd)?;
    let size = terminal::window_size(&file).map_err(|e| throw_io_error(&ctx, &e))?;
    Ok(vec![size.columns, size.rows])
}

/// Sets raw mode as libuv does (`UV_TTY_MODE_RAW`), or puts back the attributes from before it.
fn set_raw_mode(ctx: Ctx<'_>, fd: i32, raw: bool) -> Result<()> {
    let file = files::file(&ctx, fd)?;
    if !raw {
        restore_mode();
        return Ok(());
    }
    let before = terminal::attributes(&file).map_err(|e| throw_io_error(&ctx, &e))?;
    let mut attributes = before;
    attributes.iflag &=
        !(iflag::BRKINT | iflag::ICRNL | iflag::INPCK | iflag::ISTRIP | iflag::IXON);
    attributes.oflag |= ONLCR;
    attributes.cflag |= CS8;
    attributes.lflag &= !(lflag::ECHO | lflag::ICANON | lflag::IEXTEN | lflag::ISIG);
    attributes.cc[cc::VMIN] = 1;
    attributes.cc[cc::VTIME] = 0;
    terminal::set_attributes(&file, &attributes, AttributesMoment::Drained)
        .map_err(|e| throw_io_error(&ctx, &e))?;
    ORIGINAL.with_borrow_mut(|original| {
        original.get_or_insert((file, before));
    });
    Ok(())
}

/// Puts back the attributes of the terminal that this process has changed, if there is one.
pub fn restore_mode() {
    if let Some((file, before)) = ORIGINAL.take() {
        // The terminal may have hung up.
        let _ = terminal::set_attributes(&file, &before, AttributesMoment::Drained);
    }
}

/// Begins or ends to watch for interrupts of the running script. The caller also catches SIGINT.
fn watch_interrupts(watch: bool) {
    IS_WATCHING.set(watch);
}

/// Returns whether the engine must end the running code because of an interrupt.
pub fn is_interrupted() -> bool {
    if !IS_WATCHING.get() {
        return false;
    }
    events::poke_signals();
    if events::forget_pending(SIGINT) {
        IS_INTERRUPTED.set(true);
    }
    IS_INTERRUPTED.get()
}

/// Returns whether an interrupt has arrived since the last call.
pub fn take_interrupt() -> bool {
    is_interrupted();
    IS_INTERRUPTED.replace(false)
}

pub fn install<'js>(_: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("terminalSize", Func::from(terminal_size))?;
    native.set("setRawMode", Func::from(set_raw_mode))?;
    native.set("watchInterrupts", Func::from(watch_interrupts))?;
    native.set("takeInterrupt", Func::from(take_interrupt))
}
