//! The description as text.

use super::{FolderKind, GrantedFolder, LimitDescription, MachineDescription, NetworkDescription};
use std::fmt::Write;

/// Commands that a summary names if the image has them; the prompt has all.
const NOTABLE: &[&str] = &[
    "bash", "grep", "sed", "awk", "jq", "find", "xargs", "diff", "patch", "tar", "zip", "curl",
    "git", "sqlite3", "python3", "pip", "js", "node",
];

/// Returns a system prompt: a paragraph for each subject.
pub fn write_prompt(machine: &MachineDescription) -> String {
    let paragraphs = [
        Some(
            "You have a private Linux-like machine: Unix programs as WebAssembly in a sandbox. It \
             has one user, no root, no native binaries, no GPU, and no package manager of a \
             distribution."
                .to_owned(),
        ),
        Some(files(machine)),
        Some(commands(machine)),
        python(machine),
        javascript(machine),
        Some(format!("Network. {}{}", network(&machine.network), installing(machine))),
        host_tools(machine),
        Some(limits(&machine.limits)),
        Some(history(machine)),
    ];
    let mut text = paragraphs.into_iter().flatten().collect::<Vec<_>>().join("\n\n");
    text.push('\n');
    text
}

/// Returns a few lines.
pub fn write_summary(machine: &MachineDescription) -> String {
    let mut out = format!(
        "A private Linux-like machine (WebAssembly, no root). You are in {}; files in {}/ are \
         results for the user.",
        machine.home, machine.results
    );
    let notable = NOTABLE.iter().copied().filter(|name| has(machine, name));
    let notable = notable.collect::<Vec<_>>().join(" ");
    let _ = write!(out, " {} commands, such as {notable}.", machine.commands.len());
    if let Some(python) = &machine.python {
        let names: Vec<&str> = python.packages.iter().map(|p| p.name.as_str()).collect();
        let version = python.version.as_deref().unwrap_or("3");
        let _ = write!(out, " Python {version} with {}.", names.join(", "));
    }
    for folder in &machine.folders {
        let _ = write!(out, " {}", folder_text(folder));
    }
    let _ = write!(out, " {}", network(&machine.network));
    let LimitDescription { memory, disk, processes, .. } = machine.limits;
    let _ = write!(
        out,
        " Limits: {} of memory, {} of files, {processes} processes.",
        size_text(memory),
        size_text(disk)
    );
    out
}

fn has(machine: &MachineDescription, name: &str) -> bool {
    machine.commands.binary_search_by(|c| c.as_str().cmp(name)).is_ok()
}

fn files(machine: &MachineDescription) -> String {
    let mut out = format!(
        "Files. You begin in {}. Files in {}/ are results for the user; /tmp is for the rest. You \
         can change all other folders, too, but only in this machine's own copy.",
        machine.home, machine.results
    );
    for folder in &machine.folders {
        let _ = write!(out, " {}", folder_text(folder));
    }
    out
}

fn folder_text(folder: &GrantedFolder) -> String {
    let GrantedFolder { path, kind, writable, quota } = folder;
    match (kind, writable) {
        (FolderKind::Mount, false) => format!("{path} is the user's, read-only."),
        (FolderKind::Mount, true) => {
            let most = quota.map(|most| format!("; you can add {}", size_text(most)));
            format!(
                "{path} is the user's: what you change there is changed for the user at once, and \
                 undo does not bring it back{}.",
                most.unwrap_or_default()
            )
        }
        (FolderKind::Overlay, _) => format!(
            "{path} is the user's project; the user sees what you change there, and decides \
             whether to take it."
        ),
        (FolderKind::Zip, _) => {
            format!("{path} is the user's project, a zip that is saved after each call.")
        }
    }
}

fn commands(machine: &MachineDescription) -> String {
    let mut out = format!("Commands ({}): {}.", machine.commands.len(), machine.commands.join(" "));
    if has(machine, "bash") {
        out += " The shell has bash 5.2's language.";
    }
    if has(machine, "man") {
        out += " `man NAME` describes a command, `man -k WORD` finds one.";
    }
    out
}

fn python(machine: &MachineDescription) -> Option<String> {
    let python = machine.python.as_ref()?;
    let version = python.version.as_deref().unwrap_or("3");
    let mut out = format!("Python {version}, `python3`.");
    if !python.packages.is_empty() {
        let listed: Vec<String> =
            python.packages.iter().map(|p| format!("{} {}", p.name, p.version)).collect();
        let _ = write!(out, " Installed: {}.", listed.join(", "));
    }
    Some(out)
}

fn javascript(machine: &MachineDescription) -> Option<String> {
    let javascript = machine.javascript.as_ref()?;
    let mut out = String::from("JavaScript and TypeScript, `node`");
    if let Some(version) = &javascript.node {
        let _ = write!(out, ", with the library of Node {version}");
    }
    out.push('.');
    if javascript.forbids_eval {
        out += " Code from strings (`eval`, `Function`, `vm`) is refused.";
    }
    Some(out)
}

fn network(network: &NetworkDescription) -> String {
    if network.allow.is_empty() {
        return "There is no network; programs of this machine reach each other at localhost."
            .to_owned();
    }
    let mut out = format!("Requests are allowed to: {}.", network.allow.join("; "));
    if !network.deny.is_empty() {
        let _ = write!(out, " Denied in any case: {}.", network.deny.join("; "));
    }
    if let Some(most) = network.requests {
        let _ = write!(out, " A session can make {most} requests.");
    }
    out
}

/// Returns what installing packages needs, if the image has programs that install some.
fn installing(machine: &MachineDescription) -> String {
    let programs =
        ["pip", "npm"].map(|name| has(machine, name).then(|| format!("`{name} install`")));
    let programs: Vec<String> = programs.into_iter().flatten().collect();
    if programs.is_empty() {
        return String::new();
    }
    let programs = programs.join(" and ");
    if machine.network.allow.is_empty() {
        format!(" So {programs} can use local files only.")
    } else {
        format!(" So {programs} can use an index only if these rules allow it.")
    }
}

fn host_tools(machine: &MachineDescription) -> Option<String> {
    (!machine.host_tools.is_empty()).then(|| {
        format!(
            "Functions of the host that programs here can call: {}. `tool NAME --help` says how in \
             the shell; Python and JavaScript have the module `tools`.",
            machine.host_tools.join(", ")
        )
    })
}

fn limits(limits: &LimitDescription) -> String {
    let mut all = Vec::new();
    match (limits.default_timeout, limits.timeout) {
        (Some(default), Some(most)) => all.push(format!(
            "{} for a call, {} for one that asks for it",
            time_text(default),
            time_text(most)
        )),
        (Some(default), None) => {
            all.push(format!("{} for a call that does not ask for more", time_text(default)));
        }
        (None, Some(most)) => all.push(format!("{} for a call", time_text(most))),
        (None, None) => {}
    }
    if let Some(cpu) = limits.cpu {
        all.push(format!("{} of CPU time", time_text(cpu)));
    }
    all.push(format!("{} of memory", size_text(limits.memory)));
    all.push(format!("{} of files", size_text(limits.disk)));
    all.push(format!("{} files and folders", limits.inodes));
    if let Some(most) = limits.file_size {
        all.push(format!("{} in one file", size_text(most)));
    }
    if let Some(most) = limits.output {
        all.push(format!("{} of output", size_text(most)));
    }
    all.push(format!("{} processes at once", limits.processes));
    format!("Limits: {}. A call that reaches one says which.", all.join(", "))
}

fn history(machine: &MachineDescription) -> String {
    let steps = match machine.history.most {
        Some(_) => format!("at least the last {} steps", machine.history.keep),
        None => "all steps".to_owned(),
    };
    format!(
        "What stays. Between calls stay files, the shell's directory, variables and functions, and \
         the variables of interpreters; processes that a call leaves running end with it, unless a \
         tool began them. Each call that changes something is a step of the session's history: \
         undo, redo and restore bring back files, shell and interpreters of {steps}, and fork makes \
         a second machine to try something. Folders of the user, values of `kv` and what was sent \
         to other hosts are not undone."
    )
}

/// Returns a size in the largest unit that divides it.
fn size_text(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = |(shift, _): &&(u32, &str)| bytes > 0 && bytes.trailing_zeros() >= *shift;
    match units.iter().find(fits) {
        Some((shift, unit)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} bytes"),
    }
}

fn time_text(seconds: f64) -> String {
    let units = [(3600.0, "h"), (60.0, "min")];
    match units.iter().find(|(length, _)| seconds >= *length && seconds % length == 0.0) {
        Some((length, unit)) => format!("{} {unit}", seconds / length),
        None => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_largest_unit_that_divides_them() {
        let sizes = [0, 1000, 1 << 10, 3 << 19, 512 << 20, 2 << 30, 1 << 40].map(size_text);
        let want = ["0 bytes", "1000 bytes", "1 KiB", "1536 KiB", "512 MiB", "2 GiB", "1 TiB"];
        assert_eq!(sizes, want);
        assert_eq!(
            [2.5, 30.0, 90.0, 120.0, 3600.0].map(time_text),
            ["2.5 s", "30 s", "90 s", "2 min", "1 h"]
        );
    }
}
