//! Times requests to a server on 127.0.0.1: `cargo run --release -p wasibox-bridge --example bench URL [N]`.
#![forbid(unsafe_code)]

use std::time::Instant;
use wasibox_bridge::{Bridge, Error, Limits, Network, NetworkOptions, Policy, RequestHead, Rules};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: bench URL [N]")?;
    let count: u32 = arguments.next().map_or(Ok(1000), |n| n.parse())?;
    let begun = Instant::now();
    let network = Network::new(NetworkOptions::default())?;
    let rules = Rules { allow: vec!["GET http://127.0.0.1:*".parse()?], deny: Vec::new() };
    let limits = Limits { requests: u64::MAX, requests_per_call: u64::MAX, ..Limits::default() };
    let policy = Policy { rules, limits, ..Policy::default() };
    let bridge = Bridge::new(&network, policy)?;
    once(&bridge, &url)?;
    println!("thread, bridge and first request: {:?}", begun.elapsed());
    let mut times = Vec::new();
    for _ in 0..count {
        let one = Instant::now();
        once(&bridge, &url)?;
        times.push(one.elapsed());
    }
    times.sort();
    println!("median of {count}: {:?}", times[times.len() / 2]);
    Ok(())
}

fn once(bridge: &Bridge, url: &str) -> Result<usize, Error> {
    let exchange = bridge.request(&RequestHead::new("GET", url))?;
    exchange.response()?;
    exchange.read_to_end(64 << 20).map(|body| body.len())
}
