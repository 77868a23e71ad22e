//! Counters that keep a hostile or runaway script within bounds (`docs/budgets.md`). The walker
//! counts each command and each loop round; a limit that is hit ends the script with a message and
//! status 1.
//!
//! The counters belong to one shell. A spawned subshell continues from its parent's counts, but
//! what it uses is not added to them: limits of the whole session are the runner's.

use std::time::Instant;

/// Upper bounds; `u64::MAX` means none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptLimits {
    pub commands: u64,
    pub loop_rounds: u64,
    /// Maximum depth of nested function calls.
    pub call_depth: u32,
    /// Bytes that the expansions of one command may produce.
    pub expansion_bytes: u64,
    /// Total number of processes started.
    pub processes: u64,
    /// Number of background processes at one time.
    pub background: u64,
    /// Bytes written by builtins or captured.
    pub output_bytes: u64,
}

/// Bytes of the stack that nesting may use before the host is asked for its size.
const UNASKED: usize = if cfg!(target_os = "wasi") { 64 * 1024 } else { 6 * 1024 * 1024 };
/// The stack size assumed for a host that does not report one: engines give a guest 1 MiB by
/// default.
const DEFAULT_STACK: usize = 700 * 1024;
/// The maximum that nesting may use.
const DEEP_STACK: usize = 5 * 1024 * 1024;
/// The part of the stack in linear memory that is reserved for parser and expansion.
const STACK_RESERVE: usize = 512 * 1024;

impl ScriptLimits {
    /// Limits for untrusted code that has not been reviewed.
    pub const STRICT: ScriptLimits = ScriptLimits {
        commands: 1_000_000,
        loop_rounds: 1_000_000,
        call_depth: 200,
        expansion_bytes: 16 << 20,
        processes: 1_000,
        background: 32,
        output_bytes: 64 << 20,
    };
    /// The default limits, which stop bombs but allow ordinary work. The runner limits time and
    /// memory of the whole session.
    pub const NORMAL: ScriptLimits = ScriptLimits {
        commands: u64::MAX,
        loop_rounds: u64::MAX,
        call_depth: 20_000,
        expansion_bytes: 256 << 20,
        processes: u64::MAX,
        background: 1_024,
        output_bytes: u64::MAX,
    };
    /// Limits for trusted code, which bound only the loops of the shell itself.
    pub const PERMISSIVE: ScriptLimits =
        ScriptLimits { expansion_bytes: u64::MAX, background: u64::MAX, ..ScriptLimits::NORMAL };

    /// Returns a preset by name.
    pub fn preset_limits(name: &[u8]) -> Option<ScriptLimits> {
        match name {
            b"strict" => Some(ScriptLimits::STRICT),
            b"normal" => Some(ScriptLimits::NORMAL),
            b"permissive" => Some(ScriptLimits::PERMISSIVE),
            _ => None,
        }
    }

    /// Parses limits as users write them: a preset and single limits that replace its own, joined
    /// by commas, for example `strict,commands=5000,expansion=1M`.
    ///
    /// # Errors
    /// Returns the part that is invalid.
    pub fn parse(text: &[u8]) -> Result<ScriptLimits, Vec<u8>> {
        let mut limits = ScriptLimits::NORMAL;
        for (i, part) in text.split(|c| *c == b',').enumerate() {
            if let Some(preset) = ScriptLimits::preset_limits(part).filter(|_| i == 0) {
                limits = preset;
                continue;
            }
            limits.set(part).ok_or_else(|| part.to_vec())?;
        }
        Ok(limits)
    }

    /// Sets one `name=value`.
    fn set(&mut self, part: &[u8]) -> Option<()> {
        let at = part.iter().position(|c| *c == b'=')?;
        let value = parse_amount(part.get(at + 1..)?)?;
        match part.get(..at)? {
            b"commands" => self.commands = value,
            b"loops" => self.loop_rounds = value,
            b"depth" => self.call_depth = u32::try_from(value).unwrap_or(u32::MAX),
            b"expansion" => self.expansion_bytes = value,
            b"processes" => self.processes = value,
            b"background" => self.background = value,
            b"output" => self.output_bytes = value,
            _ => return None,
        }
        Some(())
    }
}

/// Parses a number with a unit `K`, `M` or `G`, for example `64M`, or `unlimited`.
fn parse_amount(text: &[u8]) -> Option<u64> {
    if text == b"unlimited" {
        return Some(u64::MAX);
    }
    let (digits, shift) = match text.split_last()? {
        (b'K' | b'k', d) => (d, 10),
        (b'M' | b'm', d) => (d, 20),
        (b'G' | b'g', d) => (d, 30),
        _ => (text, 0),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// The counts used so far.
#[derive(Debug)]
pub struct ScriptBudget {
    pub limits: ScriptLimits,
    pub commands: u64,
    pub loop_rounds: u64,
    pub call_depth: u32,
    pub expansion_bytes: u64,
    pub processes: u64,
    pub output_bytes: u64,
    stack_base: usize,
    /// Bytes of the stack that nesting may use, as far as known.
    stack_bytes: usize,
    is_stack_known: bool,
    start: Instant,
    /// A limit that was hit in a place that cannot unwind. The shell acts on it before the next
    /// command.
    hit: Option<&'static str>,
}

/// Returns the address of a local variable, which shows the depth of the stack.
#[inline(never)]
fn stack_now() -> usize {
    let marker = 0u8;
    std::hint::black_box(std::ptr::addr_of!(marker) as usize)
}

impl ScriptBudget {
    /// Returns a budget with nothing used.
    pub fn new(limits: ScriptLimits) -> ScriptBudget {
        ScriptBudget {
            limits,
            commands: 0,
            loop_rounds: 0,
            call_depth: 0,
            expansion_bytes: 0,
            processes: 0,
            output_bytes: 0,
            stack_base: stack_now(),
            stack_bytes: UNASKED,
            is_stack_known: cfg!(not(target_os = "wasi")),
            start: Instant::now(),
            hit: None,
        }
    }

    /// Returns the milliseconds since the shell began.
    pub fn elapsed_millis(&self) -> u64 {
        self.start.elapsed().as_millis() as u64
    }

    /// Returns whether the stack is nearly used up.
    #[inline]
    pub fn stack_low(&mut self) -> bool {
        let used = self.stack_base.abs_diff(stack_now());
        used > self.stack_bytes && used > self.known_stack()
    }

    /// Returns the stack size that the host reports, which is queried only when it matters.
    #[cold]
    fn known_stack(&mut self) -> usize {
        if !self.is_stack_known {
            self.is_stack_known = true;
            // Of 16 MiB, the runner's default, 5 MiB in linear memory leave enough for the engine's
            // own frames.
            let known = box_sys::engine_stack().map_or(DEFAULT_STACK, |bytes| bytes / 16 * 5);
            // The stack in linear memory ends at address 0.
            let room = self.stack_base.saturating_sub(STACK_RESERVE);
            self.stack_bytes = known.min(DEEP_STACK).min(room.max(DEFAULT_STACK));
        }
        self.stack_bytes
    }

    /// Returns the counts that a spawned subshell continues from.
    pub(crate) fn used_counts(&self) -> [u64; 5] {
        let depth = u64::from(self.call_depth);
        [self.commands, self.loop_rounds, self.processes, self.output_bytes, depth]
    }

    pub(crate) fn restore_counts(&mut self, [commands, loops, processes, output, depth]: [u64; 5]) {
        self.commands = commands;
        self.loop_rounds = loops;
        self.processes = processes;
        self.output_bytes = output;
        self.call_depth = u32::try_from(depth).unwrap_or(u32::MAX);
    }

    /// Records that a limit was hit in a place that cannot unwind.
    pub fn note_hit(&mut self, what: &'static str) {
        self.hit = Some(what);
    }

    /// Returns whether a limit was hit in such a place.
    #[inline]
    pub fn is_hit(&self) -> bool {
        self.hit.is_some()
    }

    /// Returns the limit that was hit in such a place, once.
    pub fn take_hit(&mut self) -> Option<&'static str> {
        self.hit.take()
    }

    /// Returns the limit that was hit, if any.
    pub fn exceeded_limit(&self) -> Option<&'static str> {
        let l = &self.limits;
        if self.hit.is_some() {
            self.hit
        } else if self.commands > l.commands {
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

#[cfg(test)]
mod tests {
    use super::ScriptLimits;

    #[test]
    fn presets_and_single_limits() {
        assert_eq!(ScriptLimits::parse(b"strict"), Ok(ScriptLimits::STRICT));
        let l = ScriptLimits::parse(b"strict,commands=5000,expansion=1M,output=unlimited").unwrap();
        assert_eq!((l.commands, l.expansion_bytes, l.output_bytes), (5000, 1 << 20, u64::MAX));
        assert_eq!(l.loop_rounds, ScriptLimits::STRICT.loop_rounds);
        assert_eq!(ScriptLimits::parse(b"loops=10").map(|l| l.loop_rounds), Ok(10));
        for (text, wrong) in [
            (&b""[..], &b""[..]),
            (b"loose", b"loose"),
            (b"commands=1,strict", b"strict"),
            (b"commands=", b"commands="),
            (b"commands=-1", b"commands=-1"),
            (b"expansion=99999999999G", b"expansion=99999999999G"),
        ] {
            assert_eq!(ScriptLimits::parse(text), Err(wrong.to_vec()));
        }
    }
}
