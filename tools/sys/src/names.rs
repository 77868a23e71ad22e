//! User and group names: from `/etc/passwd` and `/etc/group`, or fixed ones for the guest's only
//! user.

/// The name of the guest's only user, unless `/etc/passwd` has one.
const USER: &str = "user";

/// User and group names by id, read once.
pub struct AccountNames {
    /// The id, the login group and the name of each user.
    users: Vec<(u32, u32, String)>,
    /// The id, the name and the members of each group.
    groups: Vec<(u32, String, Vec<String>)>,
}

fn read_fields(path: &str) -> Vec<Vec<String>> {
    let text = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .map(|l| l.split(':').map(str::to_string).collect())
        .collect()
}

impl AccountNames {
    /// Reads the user and group databases.
    pub fn load() -> AccountNames {
        let mut users: Vec<_> = read_fields("/etc/passwd")
            .into_iter()
            .filter_map(|f| {
                Some((f.get(2)?.parse().ok()?, f.get(3)?.parse().ok()?, f.first()?.clone()))
            })
            .collect();
        let mut groups: Vec<_> = read_fields("/etc/group")
            .into_iter()
            .filter_map(|f| {
                let members = f.get(3).map_or("", String::as_str);
                let members = members.split(',').filter(|m| !m.is_empty()).map(str::to_string);
                Some((f.get(2)?.parse().ok()?, f.first()?.clone(), members.collect()))
            })
            .collect();
        if cfg!(target_os = "wasi") {
            for (id, name) in [(crate::meta::USER_ID, USER), (0, "root")] {
                if !users.iter().any(|u| u.0 == id) {
                    users.push((id, id, name.to_string()));
                }
                if !groups.iter().any(|g| g.0 == id) {
                    groups.push((id, name.to_string(), Vec::new()));
                }
            }
        }
        AccountNames { users, groups }
    }

    /// Returns the name of a user id.
    pub fn user(&self, id: u32) -> Option<&str> {
        self.users.iter().find(|u| u.0 == id).map(|u| u.2.as_str())
    }

    /// Returns the name of a group id.
    pub fn group(&self, id: u32) -> Option<&str> {
        self.groups.iter().find(|g| g.0 == id).map(|g| g.1.as_str())
    }

    /// Returns the name of a user id, or its number if it has no name, for listings.
    pub fn show_user(&self, id: u32) -> String {
        self.user(id).map_or_else(|| id.to_string(), str::to_string)
    }

    /// Returns the name of a group id, or its number if it has no name, for listings.
    pub fn show_group(&self, id: u32) -> String {
        self.group(id).map_or_else(|| id.to_string(), str::to_string)
    }

    /// Returns the user id and the login group for a name.
    pub fn user_id(&self, name: &str) -> Option<(u32, u32)> {
        self.users.iter().find(|u| u.2 == name).map(|u| (u.0, u.1))
    }

    /// Returns the group id for a name.
    pub fn group_id(&self, name: &str) -> Option<u32> {
        self.groups.iter().find(|g| g.1 == name).map(|g| g.0)
    }

    /// Returns the groups of a user, the primary one first.
    pub fn groups_of(&self, user: Option<&str>, primary: u32) -> Vec<u32> {
        let mut ids = vec![primary];
        for (id, _, members) in &self.groups {
            if user.is_some_and(|u| members.iter().any(|m| m == u)) && !ids.contains(id) {
                ids.push(*id);
            }
        }
        ids
    }
}
