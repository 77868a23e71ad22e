//! What `SECONDS` and `RANDOM` are computed from (bash manual 5.2).

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// Where `SECONDS` counts from; another process is told what it has come to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub struct SecondsVariable {
    started: Instant,
    /// What it began with, in seconds.
    offset: i64,
}

impl SecondsVariable {
    /// Counts from now.
    pub fn begin() -> SecondsVariable {
        SecondsVariable { started: Instant::now(), offset: 0 }
    }

    /// Seconds since the shell's process began.
    pub fn elapsed(&self) -> i64 {
        self.started.elapsed().as_secs() as i64
    }

    /// `$SECONDS`
    pub fn value(&self) -> i64 {
        self.elapsed() + self.offset
    }

    /// `SECONDS=value`
    pub fn assign(&mut self, value: i64) {
        self.offset = value - self.elapsed();
    }

    /// What it began with, in seconds.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// It began with so many seconds.
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
    /// A script has said what it goes on from.
    is_assigned: bool,
}

impl RandomVariable {
    /// Goes on from what no script can know.
    pub fn seed(&mut self, seed: u32) {
        self.seed = seed;
    }

    /// `RANDOM=seed`
    pub fn assign(&mut self, seed: u32) {
        (self.seed, self.is_assigned) = (seed, true);
    }

    /// What it goes on from, if a script has said so once.
    pub fn assigned_seed(&self) -> Option<u32> {
        self.is_assigned.then_some(self.seed)
    }

    /// The next number of bash's generator: Park and Miller's minimal standard, folded to 15 bits.
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
