//! Sizes for people.

/// Returns a size for people as `ls -h` (`base` 1024) or `ls --si` (1000) print it: rounded up, one
/// decimal below ten (`1.1K`, `11K`, `1023`).
pub fn human_size(value: u64, base: u64) -> String {
    let base = u128::from(base.max(2));
    let value = u128::from(value);
    if value < base {
        return value.to_string();
    }
    let letters = if base == 1000 { "kMGTPEZY" } else { "KMGTPEZY" };
    let mut unit = base;
    for letter in letters.chars() {
        let tenths = (value * 10).div_ceil(unit);
        if tenths < 100 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        let whole = value.div_ceil(unit);
        if whole < base {
            return format!("{whole}{letter}");
        }
        unit *= base;
    }
    value.to_string()
}
