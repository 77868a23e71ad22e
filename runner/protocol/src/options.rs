//! A call as a JSON object describes it, in the words of the packages and of the page.

use crate::check::{RequestFault, checked_seconds};
use crate::request::{Command, Exec, Input, Language, Output};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The command of a call, and its options.
///
/// ```
/// use wasibox_protocol::{CallOptions, Command};
///
/// let text = r#"{"argv": ["ls", "-l"], "timeout": 1.5}"#;
/// let options: CallOptions = serde_json::from_str(text).unwrap();
/// let exec = options.into_exec(Vec::new()).unwrap();
/// assert!(matches!(exec.command, Command::Program(_)));
/// assert_eq!(exec.timeout.map(|time| time.as_millis()), Some(1500));
/// ```
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct CallOptions {
    /// A script for the session's shell. A call has exactly one of `script`, `argv`, `python` and
    /// `javascript`.
    pub script: Option<String>,
    /// A command with its arguments, which no shell interprets.
    pub argv: Option<Vec<String>>,
    /// A cell for the session's Python interpreter.
    pub python: Option<String>,
    /// A cell for the session's JavaScript interpreter.
    pub javascript: Option<String>,
    /// Variables; those of a script stay for the next one.
    pub env: BTreeMap<String, String>,
    /// The directory in which it starts, as an absolute path.
    pub cwd: Option<String>,
    /// The time limit in seconds; the policy's limit applies as well.
    pub timeout: Option<f64>,
    /// Maximum bytes of output that are captured.
    pub max_output: Option<u64>,
    /// Whether changed files are listed; true by default.
    pub list_files: Option<bool>,
    /// Whether processes that are still running at the end may continue.
    pub keep_background: bool,
}

impl CallOptions {
    /// Returns the call, with its standard input. [`Request::check`](crate::Request::check) decides
    /// whether it is valid.
    ///
    /// # Errors
    /// [`RequestFault::NoCommand`] if there is nothing to run or more than one thing, and
    /// [`RequestFault::Time`].
    pub fn into_exec(self, stdin: Vec<u8>) -> Result<Exec, RequestFault> {
        let cell = |language, code: String| Command::Cell { language, code: code.into_bytes() };
        let command = match (self.script, self.argv, self.python, self.javascript) {
            (Some(script), None, None, None) => Command::Script(script.into_bytes()),
            (None, Some(argv), None, None) => {
                Command::Program(argv.into_iter().map(String::into_bytes).collect())
            }
            (None, None, Some(code), None) => cell(Language::Python, code),
            (None, None, None, Some(code)) => cell(Language::JavaScript, code),
            _ => return Err(RequestFault::NoCommand),
        };
        let mut exec = Exec::from_command(command);
        exec.env = self.env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        exec.cwd = self.cwd;
        exec.timeout = self.timeout.map(checked_seconds).transpose()?;
        exec.input = Input::Bytes(stdin);
        if let Some(limit) = self.max_output {
            exec.output = Output::Capture { limit };
        }
        exec.list_files = self.list_files.unwrap_or(true);
        exec.keep_background = self.keep_background;
        Ok(exec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn exec(text: &str) -> Result<Exec, String> {
        let options: CallOptions = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let exec = options.into_exec(b"in".to_vec()).map_err(|e| e.to_string())?;
        exec.check().map_err(|e| e.to_string())?;
        Ok(exec)
    }

    #[test]
    fn options_become_a_call() {
        let text = r#"{"argv": ["ls", "-l"], "env": {"A": "b"}, "cwd": "/tmp", "timeout": 1.5,
                       "max_output": 10, "list_files": false}"#;
        let e = exec(text).unwrap();
        assert_eq!(e.command, Exec::new(["ls", "-l"]).command);
        assert_eq!(e.timeout, Some(Duration::from_millis(1500)));
        assert_eq!(e.output, Output::Capture { limit: 10 });
        assert_eq!((e.input, e.list_files), (Input::Bytes(b"in".to_vec()), false));
    }

    #[test]
    fn calls_that_make_no_sense_are_refused() {
        for (text, why) in [
            ("{}", "a call is"),
            (r#"{"script": "a", "python": "b"}"#, "a call is"),
            (r#"{"python": "a", "javascript": "b"}"#, "a call is"),
            (r#"{"argv": []}"#, "a call is"),
            (r#"{"script": "a", "env": {"A=": "b"}}"#, "'A='"),
            (r#"{"script": "a", "cwd": "tmp"}"#, "absolute"),
            (r#"{"script": "a", "timeout": 0}"#, "positive"),
            (r#"{"script": "a", "timeout": -1}"#, "positive"),
            (r#"{"script": "a", "time": 1}"#, "time"),
        ] {
            assert!(exec(text).unwrap_err().contains(why), "{text}");
        }
    }
}
