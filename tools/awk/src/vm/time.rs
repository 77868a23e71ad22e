//! `systime`, `mktime`, `strftime`.
//!
//! The zone is that of TZ (POSIX XBD 8.3), by name if the machine has a time zone database.

use box_applet::clock;
use box_text::time::strftime::format_strftime;
use box_text::time::{Zone, civil};
use std::rc::Rc;

use super::{AwkMachine, Result};
use crate::array::AwkKey;
use crate::special::Special;
use crate::text::AwkText;
use crate::value::AwkValue;

impl AwkMachine<'_, '_> {
    /// Returns the zone of `ENVIRON["TZ"]`, or universal time.
    fn time_zone(&mut self, utc: bool) -> Rc<Zone> {
        if utc {
            return Rc::new(Zone::fixed(0, "GMT"));
        }
        let Some(tz) = self.special_element(Special::Environ, &AwkKey::from_bytes(b"TZ")) else {
            return Rc::new(Zone::utc());
        };
        if let Some((_, zone)) = self.zone.as_ref().filter(|(of, _)| **of == *tz) {
            return zone.clone();
        }
        let zone = Rc::new(clock::parse_zone(Some(&tz)));
        self.zone = Some((tz.to_vec(), zone.clone()));
        zone
    }

    pub(super) fn call_systime(&self) -> f64 {
        clock::current_time().0 as f64
    }

    /// Runs `mktime("YYYY MM DD HH MM SS [DST]" [, utc])`; returns -1 if that is not a time.
    pub(super) fn call_mktime(&mut self, args: usize) -> Result<f64> {
        let utc = args > 1 && self.pop().is_true();
        let text = self.pop_text();
        let words = text.split(|c| c.is_ascii_whitespace()).filter(|w| !w.is_empty());
        let numbers: Option<Vec<i64>> = words
            .map(|w| std::str::from_utf8(w).ok().and_then(|w| w.parse::<i64>().ok()))
            .map(|n| n.filter(|n| n.abs() < 1_000_000_000_000))
            .collect();
        let Some(n) = numbers.filter(|n| n.len() >= 6) else { return Ok(-1.0) };
        let days = civil::days_from_date(n[0], n[1], n[2]);
        let local = days * 86_400 + n[3] * 3600 + n[4] * 60 + n[5];
        Ok(self.time_zone(utc).to_epoch(local) as f64)
    }

    /// Runs `strftime([format [, time [, utc]]])`.
    pub(super) fn call_strftime(&mut self, args: usize) -> Result<AwkText> {
        let utc = args > 2 && self.pop().is_true();
        let seconds = if args > 1 {
            self.pop_num().floor().clamp(-6e16, 6e16) as i64
        } else {
            clock::current_time().0
        };
        let format = if args > 0 {
            self.pop_text()
        } else {
            self.special_element(Special::Procinfo, &AwkKey::from_bytes(b"strftime"))
                .unwrap_or_else(|| AwkText::new(b"%a %b %e %H:%M:%S %Z %Y"))
        };
        let zone = self.time_zone(utc);
        let out = format_strftime(&format, &zone.to_civil(seconds, 0));
        Ok(AwkValue::str(&out).text(&self.convfmt))
    }
}
