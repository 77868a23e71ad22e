//! `runner doctor`: reports which walls this host has.

use crate::{CliFailure, print_text};
use wasibox::{Wall, Walls};

/// Jails a process of this program and reports which walls are in place. The status is 1 if a wall
/// is missing.
pub fn run() -> Result<u8, CliFailure> {
    let own = std::env::current_exe().map_err(|e| CliFailure::new(125, e))?;
    let walls = wasibox::probe_walls(&own).map_err(|e| CliFailure::new(125, e))?;
    print_text(&walls_report(&walls))?;
    Ok(u8::from(!walls.missing_walls().is_empty()))
}

fn walls_report(walls: &Walls) -> String {
    let stands = |yes| if yes { "yes" } else { "no" };
    let wall = |w| match w {
        Wall::Full => "yes",
        Wall::Partial => "in part",
        Wall::Missing => "no",
    };
    let rows = [
        ("no new privileges", stands(walls.no_new_privs), "no_new_privs"),
        ("closed to other processes, no core files", stands(walls.not_dumpable), "prctl, rlimit"),
        ("no files but mounts, image and machine code", wall(walls.files), "Landlock"),
        ("no TCP, no signals to others", wall(walls.network), "Landlock"),
        ("no system calls but those of the sandbox", stands(walls.system_calls), "seccomp"),
        (
            "memory and processes bounded by the host",
            if walls.memory { "yes" } else { "no: the parent watches a worker's memory instead" },
            "cgroups",
        ),
        ("the host's name, queues and groups hidden", stands(walls.namespaces), "namespaces"),
    ];
    let line = |(what, how, by): &(&str, &str, &str)| format!("{what:<46} {by:<15} {how}\n");
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wall_has_a_line() {
        let none = walls_report(&Walls::default());
        assert_eq!(none.lines().filter(|l| l.ends_with(" no") || l.contains("no: ")).count(), 7);
        let all = Walls {
            no_new_privs: true,
            not_dumpable: true,
            files: Wall::Full,
            network: Wall::Full,
            system_calls: true,
            memory: true,
            namespaces: true,
        };
        assert_eq!(walls_report(&all).lines().filter(|l| l.ends_with(" yes")).count(), 7);
    }
}
