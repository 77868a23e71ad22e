//! The beginning of a guest's second and further threads.
//!
//! A thread of the host runs them. It has an instance of the process's module with the process's
//! memory, and keeps that instance for the process's next thread.

use super::guest::GuestCall;
use super::host::Host;
use super::job::{ThreadJob, ThreadTask};
use super::table::PROCESS_COST;
use wasibox_vfs::Errno;

/// Begins a thread of a process; returns its number. The caller has the baton.
pub fn spawn_thread<H: Host>(c: &mut GuestCall<'_, H>, argument: u32) -> Result<u32, Errno> {
    let process = c.process;
    let threads = &process.threads;
    // This is checked first, so that nothing has to be undone.
    let pattern = threads.thread_pattern().ok_or(Errno::NOTSUP)?;
    let (number, idle) = threads.add(&mut c.mem, H::locals_at(&pattern))?;
    let task = ThreadTask { number, argument };
    let task = match idle {
        Some(sender) => match sender.send(task) {
            Ok(()) => return Ok(number),
            Err(e) => {
                threads.host_comes();
                e.0
            }
        },
        None => task,
    };
    let begun = (|| {
        let admitted = process.kernel.admit_thread()?;
        let needs = PROCESS_COST + H::thread_needs(&pattern);
        let held = process.kernel.budget.reserve_bytes(needs).ok_or(Errno::NOMEM)?;
        let process = process.clone();
        let job = ThreadJob { process, pattern, task, _held: held, _admitted: admitted };
        c.process.kernel.host.start_thread(job).map_err(|_| Errno::AGAIN)
    })();
    if let Err(e) = begun {
        threads.take_back(number);
        return Err(e);
    }
    Ok(number)
}
