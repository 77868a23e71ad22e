//! Measures requests to a server on 127.0.0.1: `cargo run --release -p wasibox-bridge --example
//! bench URL [N]`.
#![forbid(unsafe_code)]

use std::time::Instant;
use wasibox_bridge::{
    Bridge, BridgeLimits, BridgeNetwork, BridgePolicy, NetworkOptions, RequestError, RequestHead,
    RequestRules,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("usage: bench URL [N]")?;
    let count: u32 = arguments.next().map_or(Ok(1000), |n| n.parse())?;
    let begun = Instant::now();
    let network = BridgeNetwork::new(NetworkOptions::default())?;
    let rules = RequestRules { allow: vec!["GET http://127.0.0.1:*".parse()?], deny: Vec::new() };
    let limits =
        BridgeLimits { requests: u64::MAX, requests_per_call: u64::MAX, ..BridgeLimits::default() };
    let policy = BridgePolicy { rules, limits, ..BridgePolicy::default() };
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

fn once(bridge: &Bridge, url: &str) -> Result<usize, RequestError> {
    let exchange = bridge.begin_request(&RequestHead::new("GET", url))?;
    exchange.wait_response()?;
    exchange.read_to_end(64 << 20).map(|body| body.len())
}
