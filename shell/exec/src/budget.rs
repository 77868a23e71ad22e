//! Counters that keep a hostile or runaway script within bounds (DESIGN section 3). The walker
//! ticks for each command and loop round; a hit ends the script with a message.

use std::time::Instant;

/// Upper bounds; `u64::MAX` means none.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub commands: u64,
    pub loop_rounds: u64,
    /// Function calls within each other.
    pub call_depth: u32,
    /// Bytes that the expansions of one command may produce.
    pub expansion_bytes: u64,
    /// Processes started in all.
    pub processes: u64,
    /// Background processes at one time.
    pub background: u64,
    /// Bytes written by builtins or captured.
    pub output_bytes: u64,
    /// Bytes of the stack that nesting may use.
    pub stack_bytes: usize,
}

/// What any host bears: engines give a guest 1 MiB where nobody asks for more.
const STACK: usize = if cfg!(target_os = "wasi") { 700 * 1024 } else { 6 * 1024 * 1024 };

const DEEP_STACK: usize = 5 * 1024 * 1024;
const STACK_RESERVE: usize = 512 * 1024;

impl Limits {
    /// For code nobody has looked at.
    pub const STRICT: Limits = Limits {
        commands: 1_000_000,
        loop_rounds: 1_000_000,
        call_depth: 200,
        expansion_bytes: 16 << 20,
        processes: 1_000,
        background: 32,
        output_bytes: 64 << 20,
        stack_bytes: STACK,
    };
    /// The default: stops bombs, lets work through. Time and memory of the whole session are the
    /// runner's to limit.
    pub const NORMAL: Limits = Limits {
        commands: u64::MAX,
        loop_rounds: u64::MAX,
        call_depth: 20_000,
        expansion_bytes: 512 << 20,
        processes: u64::MAX,
        background: 1_024,
        output_bytes: u64::MAX,
        stack_bytes: STACK,
    };
    pub const PERMISSIVE: Limits =
        Limits { expansion_bytes: u64::MAX, background: u64::MAX, ..Limits::NORMAL };

    /// A preset by name.
    pub fn named(name: &[u8]) -> Option<Limits> {
        match name {
            b"strict" => Some(Limits::STRICT),
            b"normal" => Some(Limits::NORMAL),
            b"permissive" => Some(Limits::PERMISSIVE),
            _ => None,
        }
    }
}

/// What was used so far.
#[derive(Debug)]
pub struct Budget {
    pub limits: Limits,
    pub commands: u64,
    pub loop_rounds: u64,
    pub call_depth: u32,
    pub expansion_bytes: u64,
    pub processes: u64,
    pub output_bytes: u64,
    stack_base: usize,
    deep_checked: bool,
    start: Instant,
}

/// Address of a local variable: how deep the stack is.
#[inline(never)]
fn stack_now() -> usize {
    let marker = 0u8;
    std::hint::black_box(std::ptr::addr_of!(marker) as usize)
}

impl Budget {
    pub fn new(limits: Limits) -> Budget {
        Budget {
            limits,
            commands: 0,
            loop_rounds: 0,
            call_depth: 0,
            expansion_bytes: 0,
            processes: 0,
            output_bytes: 0,
            stack_base: stack_now(),
            deep_checked: false,
            start: Instant::now(),
        }
    }

    /// Milliseconds since the shell began.
    pub fn clock(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    /// Whether the stack is nearly used up.
    #[inline]
    pub fn stack_low(&mut self) -> bool {
        let used = self.stack_base.abs_diff(stack_now());
        used > self.limits.stack_bytes && used > self.deep_stack()
    }

    /// Our own runner, known by its bridge, gives 16 MiB; asked only when it matters.
    #[cold]
    fn deep_stack(&mut self) -> usize {
        if !self.deep_checked {
            self.deep_checked = true;
            if cfg!(target_os = "wasi") && std::path::Path::new(box_sys::PIPE_DIR).exists() {
                // The stack in linear memory ends at address 0; a reserve stays for parser and expansion.
                let room = self.stack_base.saturating_sub(STACK_RESERVE);
                self.limits.stack_bytes = self.limits.stack_bytes.max(room.min(DEEP_STACK));
            }
        }
        self.limits.stack_bytes
    }

    /// Which limit was hit, if any.
    pub fn exceeded(&self) -> Option<&'static str> {
        let l = &self.limits;
        if self.commands > l.commands {
            Some("too many commands executed")
        } else if self.loop_rounds > l.loop_rounds {
            Some("too many loop iterations")
        } else if self.output_bytes > l.output_bytes {
            Some("too much output")
        } else if self.processes > l.processes {
            Some("too many processes started")
        } else {
            None
        }
    }
}
