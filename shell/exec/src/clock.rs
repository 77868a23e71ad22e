//! Local times for `printf %(...)T` and prompts.

use box_text::time::{Zone, strftime};

use crate::shell::Shell;

impl Shell<'_> {
    /// Seconds since the epoch in a format of `strftime(3)`, in the zone of `TZ`. As in bash,
    /// `TZ` counts only where it is exported.
    pub(crate) fn strftime(&mut self, format: &[u8], seconds: i64) -> Vec<u8> {
        let var = self.state.vars.get(b"TZ").filter(|v| v.attrs.export);
        let tz = var.and_then(|v| v.text());
        let name = tz.as_ref().map(|t| t.as_slice());
        let zone = match self.zone.take() {
            Some((of, zone)) if of.as_deref() == name => zone,
            _ => Zone::from_env(name, |path| std::fs::read(path).ok()),
        };
        let text = strftime::strftime(format, &zone.broken(seconds, 0));
        self.zone = Some((name.map(<[u8]>::to_vec), zone));
        text
    }
}
