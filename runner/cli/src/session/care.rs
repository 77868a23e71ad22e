//! What keeps stores small and whole: `compact`, `gc`, `check`.

use crate::args::session::SessionNameArgs;
use crate::message::shown;
use crate::{CliFailure, print};
use wasibox::store::{Damage, LostPart, Store};

/// Makes one of old commits.
pub fn compact(named: &SessionNameArgs, keep: usize) -> Result<u8, CliFailure> {
    let gone = named.store.open()?.session(&named.name)?.compact(keep)?;
    print(&format!("{gone} commits gone\n"))?;
    Ok(0)
}

/// Removes what no session needs.
pub fn gc(store: &Store) -> Result<u8, CliFailure> {
    let gone = store.gc()?;
    print(&format!(
        "{} commits and {} objects gone, {} bytes\n",
        gone.commits, gone.objects, gone.bytes
    ))?;
    Ok(0)
}

/// Looks whether a store is whole, and tells what is lost; the status is 1 if something is.
pub fn check(store: &Store) -> Result<u8, CliFailure> {
    let report = store.check()?;
    let mut out = String::new();
    for line in &report.file {
        out += &format!("the file: {}\n", shown(line));
    }
    for damage in &report.damage {
        out += &line(damage);
    }
    if report.is_whole() {
        out = format!("whole: {} commits, {} objects\n", report.commits, report.objects);
    }
    print(&out)?;
    Ok(u8::from(!report.is_whole()))
}

fn line(damage: &Damage) -> String {
    let what = match &damage.what {
        LostPart::File(path) => shown(&String::from_utf8_lossy(path)),
        LostPart::Files => "all files".to_owned(),
        LostPart::Shell => "the shell's state".to_owned(),
        LostPart::Cell(name) => format!("the memory of {}", shown(name)),
        LostPart::Commit => "all of it".to_owned(),
        LostPart::Call => "the command or its list of files".to_owned(),
    };
    let commits: Vec<String> = damage.commits.iter().map(u64::to_string).collect();
    let s = if commits.len() == 1 { "" } else { "s" };
    format!("{}, commit{s} {}: {what} is lost\n", shown(&damage.session), commits.join(", "))
}
