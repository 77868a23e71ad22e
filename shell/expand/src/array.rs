//! Shell arrays (bash manual 6.7).

mod assoc;
mod indexed;

pub use assoc::AssocArray;
pub use indexed::IndexedArray;
