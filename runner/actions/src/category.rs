//! The group and the picture of each tool in lists for people.

use schemars::JsonSchema;
use serde::Serialize;

/// The group of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolCategory {
    /// Running programs.
    Code,
    /// Files of the session.
    Files,
    /// Sessions and their history.
    Sessions,
    /// Servers of others.
    Web,
}

impl ToolCategory {
    /// Returns the category's name.
    pub fn name(self) -> &'static str {
        match self {
            ToolCategory::Code => "code",
            ToolCategory::Files => "files",
            ToolCategory::Sessions => "sessions",
            ToolCategory::Web => "web",
        }
    }

    /// Returns the category of the tool with that name, and the name of its picture, which is that
    /// of an icon of the set Lucide.
    pub fn of_tool(name: &str) -> (ToolCategory, &'static str) {
        use ToolCategory as C;
        match name {
            "calculate" => (C::Code, "calculator"),
            "execute_code" => (C::Code, "flask-conical"),
            "execute_javascript" | "execute_python" => (C::Code, "code"),
            "expose_port" => (C::Code, "plug"),
            "install_packages" => (C::Code, "package"),
            "sandbox_exec" => (C::Code, "terminal"),
            "kill_process" | "list_processes" | "read_process" | "start_process"
            | "write_process" => (C::Code, "activity"),
            "fetch_page" => (C::Web, "globe"),
            "generate_image" => (C::Web, "image"),
            "web_search" => (C::Web, "search"),
            "fork" | "use_session" => (C::Sessions, "git-fork"),
            "history" | "redo" | "restore" | "snapshot" | "undo" => (C::Sessions, "history"),
            "kv_get" | "kv_set" => (C::Sessions, "key-round"),
            "reset" => (C::Sessions, "rotate-ccw"),
            "glob" | "grep" | "search" => (C::Files, "file-search"),
            "list_files" | "make_directory" | "stat" => (C::Files, "folder"),
            "delete_file" => (C::Files, "trash-2"),
            "download" | "upload" => (C::Files, "arrow-down-up"),
            "read_file" => (C::Files, "file-text"),
            _ => (C::Files, "file-pen"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::TOOLS;

    #[test]
    fn tools_of_the_web_are_off_by_default_and_no_others() {
        for tool in TOOLS {
            let (category, icon) = ToolCategory::of_tool(tool.name);
            assert_eq!(tool.is_off, category == ToolCategory::Web, "{}", tool.name);
            // The pictures of what is left over fit tools that change files.
            let changes_files =
                ["apply_patch", "edit_file", "move_file", "patch_lines", "write_file"];
            assert_eq!(icon == "file-pen", changes_files.contains(&tool.name), "{}", tool.name);
        }
    }
}
