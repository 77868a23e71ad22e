//! Prints differences, and scripts as cases of a case file.

use crate::compare::{Difference, Kind};
use crate::run::Outcome;

/// Returns a readable report of a difference.
pub fn difference(seed: u64, script: &str, d: &Difference) -> String {
    let kind = match d.kind {
        Kind::Main => "differs",
        Kind::Stderr => "messages differ",
        Kind::Panic => "panic",
        Kind::Hang => "does not end",
    };
    let mut out = format!("=== seed {seed}: {kind}\n{}\n", script.trim_end());
    let (bash, ours) = (&d.bash, &d.ours);
    if bash.stdout != ours.stdout {
        out.push_str(&format!("--- bash\n{}--- ours\n{}", text(&bash.stdout), text(&ours.stdout)));
    }
    if bash.status != ours.status {
        out.push_str(&format!("--- status: bash {:?}, ours {:?}\n", bash.status, ours.status));
    }
    if bash.stderr != ours.stderr {
        out.push_str(&format!(
            "--- bash's messages\n{}--- our messages\n{}",
            text(&bash.stderr),
            text(&ours.stderr)
        ));
    }
    out.push_str(&files(bash, ours));
    out
}

fn files(bash: &Outcome, ours: &Outcome) -> String {
    let mut out = String::new();
    let names: std::collections::BTreeSet<&String> =
        bash.files.keys().chain(ours.files.keys()).collect();
    for name in names {
        let (b, o) = (bash.files.get(name), ours.files.get(name));
        if b != o {
            let show = |t: Option<&Vec<u8>>| match t {
                Some(t) => format!("{:?}", String::from_utf8_lossy(t)),
                None => "absent".into(),
            };
            out.push_str(&format!("--- file {name}: bash {}, ours {}\n", show(b), show(o)));
        }
    }
    out
}

fn text(bytes: &[u8]) -> String {
    const MOST: usize = 2000;
    let mut text: String = String::from_utf8_lossy(bytes).chars().take(MOST).collect();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str("\\\n");
    }
    text
}

/// Returns the script as a case of `tests/cases`, with bash's outcome.
pub fn case(name: &str, script: &str, bash: &Outcome) -> String {
    let mut out = format!("\n[[case]]\nname = {}\nscript = {}\n", basic(name), basic(script));
    out.push_str(&format!("stdout = {}\n", basic(&String::from_utf8_lossy(&bash.stdout))));
    if let Some(status) = bash.status.filter(|s| *s != 0) {
        out.push_str(&format!("status = {status}\n"));
    }
    out
}

/// Returns a text as a TOML string.
fn basic(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
