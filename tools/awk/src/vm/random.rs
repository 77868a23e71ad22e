//! `rand` and `srand` as in gawk: BSD's additive-feedback generator of degree 63, whose numbers go
//! through a Bays-Durham shuffle of 512 places. Scripts' recorded outputs depend on the sequence,
//! which was found by measuring gawk 5.2.

const DEGREE: usize = 63;
const SEPARATION: usize = 1;
const SHUFFLE: usize = 512;
/// The number of values that are discarded after seeding.
const DISCARD: usize = 10 * DEGREE;

/// The generator's state.
pub struct AwkRandom {
    ring: [u32; DEGREE],
    front: usize,
    rear: usize,
    table: Vec<u32>,
    last: u32,
    /// The seed in use, which `srand` returns.
    pub seed: f64,
    seeded: bool,
}

impl AwkRandom {
    /// Creates the generator in its state before any `srand`.
    pub fn new() -> AwkRandom {
        AwkRandom {
            ring: [0; DEGREE],
            front: 0,
            rear: 0,
            table: Vec::new(),
            last: 0,
            seed: 1.0,
            seeded: false,
        }
    }

    /// Starts the sequence of a seed.
    pub fn seed_sequence(&mut self, seed: u32) {
        self.seeded = true;
        self.ring[0] = seed;
        for i in 1..DEGREE {
            // Park and Miller's minimal standard, without overflow.
            let x = i64::from(self.ring[i - 1] as i32);
            let mut word = 16807 * (x % 127_773) - 2836 * (x / 127_773);
            if word < 0 {
                word += 2_147_483_647;
            }
            self.ring[i] = word as u32;
        }
        (self.front, self.rear) = (SEPARATION, 0);
        self.table.clear();
        for _ in 0..SHUFFLE {
            let n = self.next_raw();
            self.table.push(n);
        }
        self.last = self.next_raw();
        for _ in 0..DISCARD {
            self.next_shuffled();
        }
    }

    fn next_raw(&mut self) -> u32 {
        let sum = self.ring[self.front].wrapping_add(self.ring[self.rear]);
        self.ring[self.front] = sum;
        self.front = (self.front + 1) % DEGREE;
        self.rear = (self.rear + 1) % DEGREE;
        sum >> 1
    }

    fn next_shuffled(&mut self) -> u32 {
        let place = self.last as usize % SHUFFLE;
        let fresh = self.next_raw();
        self.last = std::mem::replace(&mut self.table[place], fresh);
        self.last
    }

    /// Returns a number in [0, 1).
    pub fn next(&mut self) -> f64 {
        if !self.seeded {
            self.seed_sequence(1);
        }
        const SCALE: f64 = 2_147_483_648.0;
        loop {
            let low = f64::from(self.next_shuffled());
            let high = f64::from(self.next_shuffled());
            let n = 0.5 + (low / SCALE + high) / SCALE - 0.5;
            if n < 1.0 {
                return n;
            }
        }
    }
}
