//! The state behind `SECONDS` and `RANDOM` (bash manual 5.2).

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// The state of `SECONDS`. A spawned process receives the current value instead of the start.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub struct SecondsVariable {
    started: Instant,
    /// The value at the start, in seconds.
    offset: i64,
    /// Whether a script has read it.
    is_read: bool,
}

impl SecondsVariable {
    /// Returns a counter that starts now.
    pub fn begin() -> SecondsVariable {
        SecondsVariable { started: Instant::now(), offset: 0, is_read: false }
    }

    /// Returns the seconds since the shell's process began.
    pub fn elapsed(&self) -> i64 {
        self.started.elapsed().as_secs() as i64
    }

    /// Returns `$SECONDS`.
    pub fn value(&self) -> i64 {
        self.elapsed() + self.offset
    }

    /// Returns `$SECONDS` to a script.
    pub fn read(&mut self) -> i64 {
        self.is_read = true;
        self.value()
    }

    /// Returns whether values are evaluated: only after `$SECONDS` was read does the variable have
    /// its integer attribute.
    pub fn evaluates(&self) -> bool {
        self.is_read
    }

    /// Performs `SECONDS=value`.
    pub fn assign(&mut self, value: i64) {
        self.offset = value - self.elapsed();
    }

    /// Returns the value at the start, in seconds.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Sets the value at the start, in seconds.
    pub fn set_offset(&mut self, offset: i64) {
        self.offset = offset;
    }
}

impl From<SecondsVariable> for i64 {
    fn from(seconds: SecondsVariable) -> i64 {
        seconds.value()
    }
}

impl From<i64> for SecondsVariable {
    fn from(offset: i64) -> SecondsVariable {
        SecondsVariable { offset, ..SecondsVariable::begin() }
    }
}

/// The generator of `RANDOM`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomVariable {
    seed: u32,
    /// Whether a script has assigned the seed.
    is_assigned: bool,
}

impl RandomVariable {
    /// Seeds the generator with a value that no script can know.
    pub fn seed(&mut self, seed: u32) {
        self.seed = seed;
    }

    /// Performs `RANDOM=seed`.
    pub fn assign(&mut self, seed: u32) {
        (self.seed, self.is_assigned) = (seed, true);
    }

    /// Returns the current seed if a script has ever assigned one.
    pub fn assigned_seed(&self) -> Option<u32> {
        self.is_assigned.then_some(self.seed)
    }

    /// Returns the next number of bash's generator: Park and Miller's minimal standard, folded to
    /// 15 bits.
    pub fn next_number(&mut self) -> u16 {
        let last = if self.seed == 0 { 123_459_876 } else { self.seed };
        let (h, l) = (i64::from(last) / 127_773, i64::from(last) % 127_773);
        let mut t = 16_807 * l - 2_836 * h;
        if t < 0 {
            t += 0x7fff_ffff;
        }
        self.seed = t as u32;
        ((self.seed >> 16) ^ (self.seed & 0xffff)) as u16 & 0x7fff
    }
}

#[cfg(test)]
mod tests {
    use super::RandomVariable;

    #[test]
    fn random_numbers_are_those_of_bash() {
        // RANDOM=42; echo $RANDOM $RANDOM $RANDOM
        let mut random = RandomVariable::default();
        random.assign(42);
        assert_eq!([random.next_number(), random.next_number(), random.next_number()], BASH);
    }
    const BASH: [u16; 3] = [17772, 26794, 1435];
}
