//! Maintenance of stores: `compact`, `gc`, `check`.

use crate::args::session::SessionNameArgs;
use crate::message::escape_text;
use crate::{CliFailure, print_text};
use wasibox::store::{Damage, LostPart, RemoteReport, Store};

/// Removes old commits.
pub fn compact_history(named: &SessionNameArgs, keep: usize) -> Result<u8, CliFailure> {
    let gone = named.store.open()?.session(&named.name)?.compact(keep)?;
    print_text(&format!("{gone} commits gone\n"))?;
    Ok(0)
}

/// Removes everything that no session needs.
pub fn collect_garbage(store: &Store) -> Result<u8, CliFailure> {
    let gone = store.collect_garbage()?;
    print_text(&format!(
        "{} commits and {} objects gone, {} bytes\n",
        gone.commits, gone.objects, gone.bytes
    ))?;
    if store.has_bucket() {
        let RemoteReport { removed, bytes, listed } = store.collect_remote_garbage()?;
        print_text(&format!(
            "the bucket: {removed} objects gone, {bytes} bytes; {listed} go in an hour or later\n"
        ))?;
    }
    Ok(0)
}

/// Checks a store, and reports its losses; the status is 1 if there are any.
pub fn check_store(store: &Store) -> Result<u8, CliFailure> {
    let report = store.check()?;
    let mut out = String::new();
    for line in &report.file {
        out += &format!("the file: {}\n", escape_text(line));
    }
    for damage in &report.damage {
        out += &damage_line(damage);
    }
    if report.is_whole() {
        out = format!("whole: {} commits, {} objects\n", report.commits, report.objects);
    }
    print_text(&out)?;
    Ok(u8::from(!report.is_whole()))
}

fn damage_line(damage: &Damage) -> String {
    let what = match &damage.what {
        LostPart::File(path) => escape_text(&String::from_utf8_lossy(path)),
        LostPart::Files => "all files".to_owned(),
        LostPart::Shell => "the shell's state".to_owned(),
        LostPart::Cell(name) => format!("the memory of {}", escape_text(name)),
        LostPart::Commit => "all of it".to_owned(),
        LostPart::Call => "the command or its list of files".to_owned(),
    };
    let commits: Vec<String> = damage.commits.iter().map(u64::to_string).collect();
    let s = if commits.len() == 1 { "" } else { "s" };
    format!("{}, commit{s} {}: {what} is lost\n", escape_text(&damage.session), commits.join(", "))
}
