//! All applets of the image: the lists of the tool crates, merged and sorted at compile time. Two
//! applets of the same name are a compile-time error.

use box_applet::{Applet, AppletTable};

/// The lists that make up the table.
const LISTS: &[&[Applet]] = &[
    sh_cli::APPLETS,
    box_coreutils::APPLETS,
    box_grep::APPLETS,
    box_sed::APPLETS,
    box_awk::APPLETS,
    box_jq::APPLETS,
    box_curl::APPLETS,
    box_nc::APPLETS,
    box_find::APPLETS,
    box_diff::APPLETS,
    box_archive::APPLETS,
    box_utilities::APPLETS,
];

/// Programs of the image that are separate WebAssembly modules, with their summaries.
const PROGRAMS: &[(&str, &str)] = &[
    ("js", "run JavaScript"),
    ("node", "run JavaScript and TypeScript"),
    ("npm", "install JavaScript packages, run their scripts"),
    ("npx", "run a command of a JavaScript package"),
    ("python", "run Python programs"),
    ("python3", "run Python programs"),
    ("python3.13", "run Python programs"),
    ("tsx", "run TypeScript"),
];

const COUNT: usize = {
    let (mut n, mut i) = (0, 0);
    while i < LISTS.len() {
        n += LISTS[i].len();
        i += 1;
    }
    n
};

static APPLETS: [Applet; COUNT] = sort_applets(merge_tables());

/// Every applet by name.
pub static TABLE: AppletTable = AppletTable::new(&APPLETS, PROGRAMS);

const fn merge_tables() -> [Applet; COUNT] {
    const NONE: Applet = Applet::globals("", |_| 127, "");
    let mut all = [NONE; COUNT];
    let (mut at, mut i) = (0, 0);
    while i < LISTS.len() {
        let mut j = 0;
        while j < LISTS[i].len() {
            all[at] = LISTS[i][j];
            at += 1;
            j += 1;
        }
        i += 1;
    }
    all
}

/// Sorts by insertion, because `const` code cannot call `sort`.
const fn sort_applets(mut all: [Applet; COUNT]) -> [Applet; COUNT] {
    let mut i = 1;
    while i < COUNT {
        let mut j = i;
        while j > 0 && !is_less(all[j - 1].name, all[j].name) {
            assert!(is_less(all[j].name, all[j - 1].name), "two applets have the same name");
            let other = all[j - 1];
            all[j - 1] = all[j];
            all[j] = other;
            j -= 1;
        }
        i += 1;
    }
    all
}

const fn is_less(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] < b[i];
        }
        i += 1;
    }
    a.len() < b.len()
}

#[cfg(test)]
mod tests {
    use box_applet::{instead, version};

    use super::*;

    /// Tests that no command on the list exists, and that the list's advice names commands that do.
    #[test]
    fn help_for_missing_commands_is_true() {
        for i in instead::LIST {
            for name in i.names {
                assert!(!TABLE.is_program(name.as_bytes()), "{name} exists: remove its line");
                assert_eq!(instead::find_instead(name.as_bytes(), &TABLE), Some(i.text));
            }
            for program in i.programs {
                assert!(TABLE.is_program(program.as_bytes()), "{}: no {program}", i.text);
                assert!(i.text.contains(program), "{}: does not name {program}", i.text);
            }
        }
    }

    /// The tools that imitate no version of another program, and those that print their version in
    /// their own words.
    const WITHOUT_VERSION: &[&str] = &[
        "apk", "bash", "brew", "cal", "curl", "dnf", "kv", "nc", "replace", "sh", "tool", "wget",
        "which", "yum",
    ];

    #[test]
    fn every_tool_names_the_version_that_it_imitates() {
        for tool in version::known_tools() {
            assert!(TABLE.find(tool.as_bytes()).is_some(), "there is no tool {tool}");
        }
        for a in &APPLETS {
            let says = version::first_line(a.name).is_some();
            assert_ne!(says, WITHOUT_VERSION.contains(&a.name), "{}", a.name);
        }
    }

    #[test]
    fn sorted_and_described() {
        for pair in APPLETS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} {}", pair[0].name, pair[1].name);
        }
        for a in &APPLETS {
            assert!(!a.summary.is_empty(), "{} has no summary", a.name);
            assert!(TABLE.find(a.name.as_bytes()).is_some());
        }
    }
}
