//! `runner describe`: a text about the machine, for models.

use crate::args::exec::DescribeArgs;
use crate::args::grants::GrantSettings;
use crate::message::{escape_text, json_shown};
use crate::{CliFailure, print_text, tools};
use std::sync::Arc;
use wasibox::Image;
use wasibox_actions::MachineDescription;
use wasibox_mcp::ToolServers;

/// Prints what the image contains and what the options grant.
pub fn run(args: &DescribeArgs) -> Result<u8, CliFailure> {
    let GrantSettings { policy, tools_from, .. } = args.grants.grant_settings()?;
    let failed = |e| CliFailure::new(125, e);
    let image = Arc::new(Image::open(&args.image.path()?).map_err(failed)?);
    let servers = tools::connect(&tools_from)?;
    let names = servers.iter().flat_map(ToolServers::tools);
    let names = names.map(|tool| tool.name().to_owned()).filter(|n| policy.host_tools.allows(n));
    let made = MachineDescription::new(&image, &policy).map_err(failed)?;
    let made = made.with_host_tools(names.collect());
    if args.json {
        let json = serde_json::to_string_pretty(&made).map_err(|e| CliFailure::new(125, e))?;
        print_text(&json_shown(format!("{json}\n")))?;
    } else {
        // Names in an image may have control characters.
        let lines = made.prompt().lines().map(|line| escape_text(line) + "\n").collect::<String>();
        print_text(&lines)?;
    }
    Ok(0)
}
