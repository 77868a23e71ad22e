//! Bits in the order of the format: the first bit is the lowest one of the first byte.

/// The bits written so far.
#[derive(Default)]
pub struct Bits {
    bytes: Vec<u8>,
    /// The last bits, which do not fill a byte yet.
    rest: u64,
    /// The number of bits in `rest`.
    count: u32,
}

impl Bits {
    /// Writes the `count` lowest bits of `value`; `count` is at most 56. All other bits of `value`
    /// must be 0.
    pub fn put(&mut self, value: u64, count: u32) {
        debug_assert!(count <= 56 && value >> count == 0);
        self.rest |= value << self.count;
        self.count += count;
        while self.count >= 8 {
            self.bytes.push(self.rest as u8);
            self.rest >>= 8;
            self.count -= 8;
        }
    }

    /// Fills the current byte with zeros.
    pub fn align(&mut self) {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
    }

    pub fn is_aligned(&self) -> bool {
        self.count == 0
    }

    /// Writes whole bytes. The bits before them must end with a byte.
    pub fn copy(&mut self, bytes: &[u8]) {
        debug_assert!(self.is_aligned());
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the full bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets the full bytes.
    pub fn forget(&mut self) {
        self.bytes.clear();
    }
}
