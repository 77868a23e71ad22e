//! Checks the options of the checksum tools for combinations that GNU's tools refuse, before the
//! library sees them.

use super::refusal::UsageRefusal;

/// The options that need `--check`.
const FOR_CHECKS: [&str; 5] = ["ignore-missing", "status", "warn", "quiet", "strict"];

/// Returns whether a tool is one of those that both print and check digests.
fn is_digest_tool(util: &str) -> bool {
    matches!(util, "b2sum" | "md5sum") || util.starts_with("sha") && util.ends_with("sum")
}

/// Returns for each option whether it counts. `names` are the options' names in the order of the
/// command line. A `--text` before `--tag` does not count.
///
/// # Errors
/// Two options exclude each other. The error holds GNU's message.
pub(super) fn check_digest_options(util: &str, names: &[&str]) -> Result<Vec<bool>, UsageRefusal> {
    let mut counts = vec![true; names.len()];
    if !is_digest_tool(util) {
        return Ok(counts);
    }
    let tag = names.iter().rposition(|name| *name == "tag");
    for (at, name) in names.iter().enumerate() {
        counts[at] = *name != "text" || tag.is_none_or(|tag| at > tag);
    }
    let has =
        |name: &str| names.iter().zip(&counts).any(|(other, counts)| *counts && *other == name);
    let is_check = has("check");
    // Of the options that choose what is printed, only the last one counts.
    let is_of_output = |name: &&str| matches!(*name, "status" | "warn" | "quiet");
    let output = names.iter().copied().rfind(is_of_output);
    let only_for_checks = FOR_CHECKS
        .iter()
        .find(|name| !is_check && has(name) && (!is_of_output(name) || output == Some(**name)));
    let refusal = match only_for_checks {
        _ if has("tag") && has("text") => "--tag does not support --text mode".to_string(),
        _ if is_check && has("zero") => {
            "the --zero option is not supported when verifying checksums".to_string()
        }
        _ if is_check && has("tag") => {
            "the --tag option is meaningless when verifying checksums".to_string()
        }
        _ if is_check && (has("binary") || has("text")) => {
            "the --binary and --text options are meaningless when verifying checksums".to_string()
        }
        Some(name) => format!("the --{name} option is meaningful only when verifying checksums"),
        None => return Ok(counts),
    };
    Err(UsageRefusal::Usage(refusal))
}
