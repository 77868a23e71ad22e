//! The report that `dd` prints at its end: records and bytes copied.

use std::time::Duration;

use super::options::DdStatus;

#[derive(Default)]
pub(super) struct DdCounts {
    pub(super) in_full: u64,
    pub(super) in_part: u64,
    pub(super) out_full: u64,
    pub(super) out_part: u64,
    pub(super) truncated: u64,
    pub(super) bytes: u64,
}

pub(super) fn format_report(
    c: &DdCounts,
    elapsed: Duration,
    status: DdStatus,
    progress: bool,
) -> String {
    let mut text = String::new();
    if progress {
        text.push('\n');
    }
    text.push_str(&format!(
        "{}+{} records in\n{}+{} records out\n",
        c.in_full, c.in_part, c.out_full, c.out_part
    ));
    match c.truncated {
        0 => {}
        1 => text.push_str("1 truncated record\n"),
        n => text.push_str(&format!("{n} truncated records\n")),
    }
    if status != DdStatus::NoTransfer {
        text.push_str(&transfer_line(c.bytes, elapsed));
        text.push('\n');
    }
    text
}

/// Returns a line such as `512 bytes copied, 0.001 s, 512 kB/s`.
pub(super) fn transfer_line(bytes: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let human = |n: u64, base: u64| -> String {
        let text = box_text::number::human_size(n, base);
        let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        match (unit, base) {
            ("", _) => format!("{number} B"),
            (u, 1000) => format!("{number} {u}B"),
            (u, _) => format!("{number} {u}iB"),
        }
    };
    let sizes = match bytes {
        1 => "1 byte".to_string(),
        n if n >= 1000 => {
            let (si, iec) = (human(n, 1000), human(n, 1024));
            if n >= 1024 { format!("{n} bytes ({si}, {iec})") } else { format!("{n} bytes ({si})") }
        }
        n => format!("{n} bytes"),
    };
    let rate = human((bytes as f64 / seconds) as u64, 1000);
    let mut out = Vec::new();
    let spec = box_text::printf::ConversionSpec::default();
    box_text::printf::put_float(&mut out, &spec, b'g', seconds);
    format!("{sizes} copied, {} s, {rate}/s", String::from_utf8_lossy(&out))
}
