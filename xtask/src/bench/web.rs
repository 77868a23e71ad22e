//! Measures the sandbox in a page against other sandboxes, in Chromium.

use anyhow::Result;

use crate::{env, test, web};

pub fn run() -> Result<()> {
    web::build_package()?;
    let modules = test::node_modules("tests/bench/web", "bench-web")?;
    let mut node = web::node_command()?;
    node.arg(env::root().join("tests/bench/web/bench.js")).arg(web::CHROMIUM).arg(modules);
    env::run(node.arg(web::page::page_modules()?.join(".bin/esbuild")))
}
