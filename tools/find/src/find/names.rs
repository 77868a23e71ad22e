//! User and group names by `/etc/passwd` and `/etc/group`.

use std::cell::OnceCell;

/// Tables read on first use.
#[derive(Default)]
pub struct Names {
    users: OnceCell<Vec<(Vec<u8>, u32)>>,
    groups: OnceCell<Vec<(Vec<u8>, u32)>>,
}

impl Names {
    fn users(&self) -> &[(Vec<u8>, u32)] {
        self.users.get_or_init(|| read("/etc/passwd", b"user"))
    }

    fn groups(&self) -> &[(Vec<u8>, u32)] {
        self.groups.get_or_init(|| read("/etc/group", b"user"))
    }

    /// The name of a user.
    pub fn user(&self, id: u32) -> Option<&[u8]> {
        self.users().iter().find(|(_, i)| *i == id).map(|(n, _)| n.as_slice())
    }

    /// The name of a group.
    pub fn group(&self, id: u32) -> Option<&[u8]> {
        self.groups().iter().find(|(_, i)| *i == id).map(|(n, _)| n.as_slice())
    }

    /// The number of a user.
    pub fn user_id(&self, name: &[u8]) -> Option<u32> {
        self.users().iter().find(|(n, _)| n == name).map(|(_, i)| *i)
    }

    /// The number of a group.
    pub fn group_id(&self, name: &[u8]) -> Option<u32> {
        self.groups().iter().find(|(n, _)| n == name).map(|(_, i)| *i)
    }
}

/// Names and ids of a file in passwd format; the guest's one user and root are always there.
fn read(file: &str, own: &[u8]) -> Vec<(Vec<u8>, u32)> {
    let text = std::fs::read(file).unwrap_or_default();
    let mut list: Vec<(Vec<u8>, u32)> = text
        .split(|&b| b == b'\n')
        .filter_map(|line| {
            let mut fields = line.split(|&b| b == b':');
            let name = fields.next()?.to_vec();
            let id = std::str::from_utf8(fields.nth(1)?).ok()?.parse().ok()?;
            Some((name, id))
        })
        .collect();
    if cfg!(target_os = "wasi") {
        for (name, id) in [(own, box_sys::meta::USER_ID), (b"root", 0)] {
            if !list.iter().any(|(_, i)| *i == id) {
                list.push((name.to_vec(), id));
            }
        }
    }
    list
}
