//! Local times for `printf %(...)T` and prompts.

use box_text::time::{Zone, strftime};
use sh_expand::Attributes;

use crate::shell::Shell;

/// The zone that was used last, and the value of `TZ` that named it.
#[derive(Default)]
pub(crate) struct LastZone(Option<(Option<Vec<u8>>, Zone)>);

impl LastZone {
    /// Returns the zone that a value of `TZ` names.
    fn get(&mut self, name: Option<&[u8]>) -> &Zone {
        let last = self.0.take().filter(|(of, _)| of.as_deref() == name);
        let zone = || {
            let zone = Zone::from_env(name, |path| std::fs::read(path).ok());
            (name.map(<[u8]>::to_vec), zone)
        };
        &self.0.insert(last.unwrap_or_else(zone)).1
    }
}

impl Shell<'_> {
    /// Formats seconds since the epoch by a format of `strftime(3)`, in the zone of `TZ`. As in
    /// bash, `TZ` is used only if it is exported.
    pub(crate) fn strftime(&mut self, format: &[u8], seconds: i64) -> Vec<u8> {
        let var = self.state.vars.get(b"TZ").filter(|v| v.attrs.intersects(Attributes::EXPORT));
        let tz = var.and_then(|v| v.text());
        let zone = self.zone.get(tz.as_ref().map(|t| t.as_slice()));
        strftime::format_strftime(format, &zone.to_civil(seconds, 0))
    }
}
