//! The words that begin with a colon: what the user does without the model.

use serde_json::{Map, Value, json};

/// Names, arguments and descriptions of the commands.
pub const COMMANDS: &[(&str, &str, &str)] = &[
    ("help", "", "list these commands"),
    ("history", "[COMMIT]", "list the session's commits, or show the changes of one"),
    ("undo", "[STEPS]", "go back, one step by default"),
    ("redo", "", "go forward one step again"),
    ("restore", "COMMIT", "go to a commit"),
    ("fork", "NAME", "make a session with the present state"),
    ("files", "[PATH]", "list files"),
    ("show", "PATH", "show a file"),
    ("run", "COMMAND", "run a command in the session"),
    ("model", "[NAME]", "show or change the model"),
    ("tools", "", "list the tools that the model has"),
    ("tokens", "", "show the tokens used so far"),
    ("quit", "", "leave; so does Ctrl-D"),
];

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatCommand {
    Help,
    Model(Option<String>),
    Tools,
    Tokens,
    Quit,
    /// A tool with its arguments.
    Tool(&'static str, Map<String, Value>),
}

/// The reason why a line is not a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    #[error("there is no command ':{0}'; :help lists them")]
    Unknown(String),
    #[error("usage: :{0}")]
    Usage(String),
}

impl ChatCommand {
    /// Parses a line. Returns `None` if it is a prompt for the model.
    ///
    /// # Errors
    /// Returns an error if the line begins with a colon and is not a command.
    pub fn parse(line: &str) -> Option<Result<ChatCommand, CommandError>> {
        let rest = line.trim().strip_prefix(':')?;
        let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        Some(parse_command(name, argument.trim()))
    }
}

fn parse_command(name: &str, argument: &str) -> Result<ChatCommand, CommandError> {
    let Some((name, arguments, _)) = COMMANDS.iter().find(|(known, ..)| *known == name) else {
        return Err(CommandError::Unknown(name.to_owned()));
    };
    let usage = || CommandError::Usage(format!("{name} {arguments}").trim_end().to_owned());
    build_command(name, argument).ok_or_else(usage)
}

/// Returns the command, or `None` if the argument does not fit.
fn build_command(name: &str, argument: &str) -> Option<ChatCommand> {
    let given = (!argument.is_empty()).then(|| argument.to_owned());
    let number = || argument.parse::<u64>().ok();
    let tool = |name, arguments: Value| match arguments {
        Value::Object(arguments) => Some(ChatCommand::Tool(name, arguments)),
        _ => None,
    };
    match name {
        "help" if given.is_none() => Some(ChatCommand::Help),
        "tools" if given.is_none() => Some(ChatCommand::Tools),
        "tokens" if given.is_none() => Some(ChatCommand::Tokens),
        "quit" if given.is_none() => Some(ChatCommand::Quit),
        "model" => Some(ChatCommand::Model(given)),
        "history" if given.is_none() => tool("history", json!({})),
        "history" => tool("history", json!({ "commit": number()?, "limit": 1 })),
        "undo" if given.is_none() => tool("undo", json!({})),
        "undo" => tool("undo", json!({ "steps": number()? })),
        "redo" if given.is_none() => tool("redo", json!({})),
        "restore" => {
            let given = given?;
            let commit = given.parse::<u64>().map_or_else(|_| json!(given), |n| json!(n));
            tool("restore", json!({ "commit": commit }))
        }
        "fork" => tool("fork", json!({ "name": given? })),
        "files" => tool("list_files", json!({ "path": given.as_deref().unwrap_or(".") })),
        "show" => tool("read_file", json!({ "path": given? })),
        "run" => tool("sandbox_exec", json!({ "command": given? })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_a_colon_are_commands() {
        let tool = |line: &str| match ChatCommand::parse(line) {
            Some(Ok(ChatCommand::Tool(name, arguments))) => (name, Value::Object(arguments)),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(tool(":undo"), ("undo", json!({})));
        assert_eq!(tool(" :undo 2 "), ("undo", json!({ "steps": 2 })));
        assert_eq!(tool(":history 7"), ("history", json!({ "commit": 7, "limit": 1 })));
        assert_eq!(tool(":run ls -l | wc"), ("sandbox_exec", json!({ "command": "ls -l | wc" })));
        assert_eq!(tool(":files"), ("list_files", json!({ "path": "." })));
        assert_eq!(ChatCommand::parse("what is :undo?"), None);
        assert_eq!(ChatCommand::parse(":model"), Some(Ok(ChatCommand::Model(None))));
        for (line, text) in [
            (":frob", "there is no command ':frob'; :help lists them"),
            (":undo twice", "usage: :undo [STEPS]"),
            (":restore", "usage: :restore COMMIT"),
            (":quit now", "usage: :quit"),
        ] {
            assert_eq!(ChatCommand::parse(line).unwrap().unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn every_command_can_be_given() {
        for (name, arguments, _) in COMMANDS {
            let argument = match *arguments {
                "[COMMIT]" | "COMMIT" | "[STEPS]" => "1",
                "" => "",
                _ => "x",
            };
            let line = format!(":{name} {argument}");
            assert!(matches!(ChatCommand::parse(&line), Some(Ok(_))), "{line}");
        }
    }
}
