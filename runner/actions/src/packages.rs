//! `install_packages`: runs the image's pip, in the session and within its policy.

use crate::exec::ClientCall;
use crate::show;
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use wasibox::{CallOptions, Outcome, Refusal};

/// The maximum number of packages of one call.
const MOST: usize = 50;

/// The arguments of `install_packages`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstallPackages {
    /// Names as for pip (`six`, `attrs>=23`), or paths of wheels in the sandbox.
    packages: Vec<String>,
    /// Folder in the sandbox with wheels, to be used instead of an index.
    #[serde(default)]
    find_links: Option<String>,
    /// Seconds.
    #[serde(default)]
    #[schemars(extend("default" = crate::schema::CALL_TIMEOUT))]
    timeout: Option<f64>,
}

impl ToolAction for InstallPackages {
    type Answer = Outcome;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<Outcome>, Refusal> {
        let argv = self.command()?;
        let session = call.session()?;
        let options = CallOptions {
            argv: Some(argv),
            timeout: self.timeout,
            // The caller has no use for a list of the hundreds of files of a package.
            list_files: Some(false),
            ..CallOptions::default()
        };
        let outcome = call.exec(&session, call.make_exec(options, None)?)?;
        Ok(show::command_result(&session, outcome, None))
    }
}

impl InstallPackages {
    fn command(&self) -> Result<Vec<String>, Refusal> {
        if !(1..=MOST).contains(&self.packages.len()) {
            return Err(Refusal::invalid_request(format!("packages: 1 to {MOST}")));
        }
        let words = self.packages.iter().chain(&self.find_links);
        if let Some(bad) = words.clone().find(|w| w.is_empty() || w.contains('\0')) {
            return Err(Refusal::invalid_request(format!(
                "'{}' is no package",
                bad.escape_default()
            )));
        }
        let fixed =
            ["python3", "-m", "pip", "install", "--no-input", "--disable-pip-version-check"];
        let mut argv: Vec<String> = fixed.map(str::to_owned).into();
        if let Some(folder) = &self.find_links {
            argv.extend(["--no-index".into(), format!("--find-links={folder}")]);
        }
        argv.push("--".into());
        argv.extend(self.packages.iter().cloned());
        Ok(argv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_no_options() {
        let of = |packages: &[&str]| {
            let packages = packages.iter().map(|p| (*p).to_owned()).collect();
            InstallPackages { packages, find_links: Some("-w".into()), timeout: None }.command()
        };
        let argv = of(&["--target=/x", "six"]).unwrap();
        assert_eq!(argv[6..], ["--no-index", "--find-links=-w", "--", "--target=/x", "six"]);
        assert!(of(&[]).is_err() && of(&["a\0b"]).is_err() && of(&[""]).is_err());
    }
}
