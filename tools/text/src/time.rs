//! Dates and times: pure arithmetic, no clock.
//!
//! | module | contents |
//! |---|---|
//! | `civil` | the calendar: days and dates, the fields of a point in time |
//! | `parse` | GNU date strings: `date -d`, `touch -d`, `find -newermt` |
//! | `strftime` | formats of `strftime(3)` and of GNU `date` |
//! | `zone` | time zones as `TZ` names them |

pub mod civil;
pub mod parse;
pub mod strftime;
pub mod zone;

pub use civil::CivilTime;
pub use zone::Zone;
