//! The addresses to which a name may lead.
//!
//! A name may lead only to addresses that are clearly hosts of the public Internet. Every other
//! address has an [`AddressClass`], by the special-purpose registries of IANA (RFC 6890 and its
//! later additions), and is reached only if a rule names the address, or a network that contains
//! it. IPv6 addresses that embed IPv4 ones are refused regardless of the embedded address, because
//! no public name needs them.

use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The class of an address that a rule has to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum AddressClass {
    #[error("a loopback address")]
    Loopback,
    #[error("a private address")]
    Private,
    #[error("a link-local address")]
    LinkLocal,
    #[error("the address of a cloud's metadata service")]
    Metadata,
    #[error("a multicast address")]
    Multicast,
    #[error("an unspecified address")]
    Unspecified,
    #[error("an address for documentation")]
    Documentation,
    #[error("an address shared by a provider's customers")]
    Shared,
    #[error("an IPv6 address that embeds an IPv4 one")]
    Embedded,
    #[error("a reserved address")]
    Reserved,
}

/// Services that give credentials to any client on the same machine. Listed are addresses outside
/// of the closed ranges, and those for which messages should name this class.
const METADATA: &[IpAddr] = &[
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)), // most providers
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 2)),   // AWS, tasks
    IpAddr::V4(Ipv4Addr::new(169, 254, 170, 23)),  // AWS, pods
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),   // Azure; a public address
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)), // Alibaba
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),     // Oracle
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)), // AWS
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23)), // AWS, pods
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)), // Google
];

const V4: &[(&str, AddressClass)] = &[
    ("0.0.0.0/32", AddressClass::Unspecified),
    ("0.0.0.0/8", AddressClass::Reserved),
    ("10.0.0.0/8", AddressClass::Private),
    ("100.64.0.0/10", AddressClass::Shared),
    ("127.0.0.0/8", AddressClass::Loopback),
    ("169.254.0.0/16", AddressClass::LinkLocal),
    ("172.16.0.0/12", AddressClass::Private),
    ("192.0.0.0/24", AddressClass::Reserved),
    ("192.0.2.0/24", AddressClass::Documentation),
    ("192.31.196.0/24", AddressClass::Reserved),
    ("192.52.193.0/24", AddressClass::Reserved),
    ("192.88.99.0/24", AddressClass::Reserved),
    ("192.168.0.0/16", AddressClass::Private),
    ("192.175.48.0/24", AddressClass::Reserved),
    ("198.18.0.0/15", AddressClass::Reserved),
    ("198.51.100.0/24", AddressClass::Documentation),
    ("203.0.113.0/24", AddressClass::Documentation),
    ("224.0.0.0/4", AddressClass::Multicast),
    ("240.0.0.0/4", AddressClass::Reserved),
];

/// Below this, everything that is not [`GLOBAL`] is reserved.
const V6: &[(&str, AddressClass)] = &[
    ("::/128", AddressClass::Unspecified),
    ("::1/128", AddressClass::Loopback),
    ("::ffff:0:0/96", AddressClass::Embedded),   // mapped
    ("::ffff:0:0:0/96", AddressClass::Embedded), // translated (SIIT)
    ("::/96", AddressClass::Embedded),           // compatible
    ("64:ff9b::/96", AddressClass::Embedded),    // NAT64
    ("64:ff9b:1::/48", AddressClass::Embedded),  // NAT64, local
    ("2001::/32", AddressClass::Embedded),       // Teredo
    ("2002::/16", AddressClass::Embedded),       // 6to4
    ("2001:db8::/32", AddressClass::Documentation),
    ("3fff::/20", AddressClass::Documentation),
    ("2001::/23", AddressClass::Reserved), // protocols, benchmarks, ORCHID
    ("2620:4f:8000::/48", AddressClass::Reserved),
    ("fc00::/7", AddressClass::Private),
    ("fec0::/10", AddressClass::Private), // site-local, long deprecated
    ("fe80::/10", AddressClass::LinkLocal),
    ("ff00::/8", AddressClass::Multicast),
];
const GLOBAL: &str = "2000::/3";

/// Returns the class of an address, or `None` for a host of the public Internet.
#[must_use]
pub fn address_class(address: IpAddr) -> Option<AddressClass> {
    if METADATA.contains(&address) {
        return Some(AddressClass::Metadata);
    }
    let table = if address.is_ipv4() { V4 } else { V6 };
    let found = table.iter().find(|(net, _)| parse_network(net).contains(&address));
    match found {
        Some((_, class)) => Some(*class),
        None if address.is_ipv6() && !parse_network(GLOBAL).contains(&address) => {
            Some(AddressClass::Reserved)
        }
        // ISATAP addresses under any prefix, for example `fe80::5efe:10.0.0.1`.
        None => match address {
            IpAddr::V6(v6) if matches!(v6.segments()[4..6], [0 | 0x200, 0x5efe]) => {
                Some(AddressClass::Embedded)
            }
            _ => None,
        },
    }
}

/// Parses a network of the tables above. They are constants, and a test parses all of them.
fn parse_network(text: &str) -> IpNet {
    text.parse().unwrap_or_else(|_| unreachable!("{text} is a constant"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<AddressClass> {
        address_class(text.parse().unwrap_or_else(|_| panic!("{text} is no address")))
    }

    #[test]
    fn tables_parse() {
        for (net, _) in V4.iter().chain(V6) {
            parse_network(net);
        }
        parse_network(GLOBAL);
    }

    /// Hosts of the public Internet, and the neighbours of closed ranges.
    #[test]
    fn public_addresses_are_open() {
        for a in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2a00:1450:4001:80e::200e",
            "2001:4860:4860::8888",
            "2001:200::1",
            "2003::1",
        ] {
            assert_eq!(of(a), None, "{a}");
        }
    }

    /// The registries of IANA, and the addresses that providers document for their metadata.
    #[test]
    fn special_addresses_are_closed() {
        for (a, class) in [
            ("0.0.0.0", AddressClass::Unspecified),
            ("0.1.2.3", AddressClass::Reserved),
            ("10.0.0.0", AddressClass::Private),
            ("10.255.255.255", AddressClass::Private),
            ("100.64.0.0", AddressClass::Shared),
            ("100.127.255.255", AddressClass::Shared),
            ("100.100.100.200", AddressClass::Metadata),
            ("127.0.0.1", AddressClass::Loopback),
            ("127.255.255.254", AddressClass::Loopback),
            ("168.63.129.16", AddressClass::Metadata),
            ("169.254.0.1", AddressClass::LinkLocal),
            ("169.254.169.254", AddressClass::Metadata),
            ("169.254.170.2", AddressClass::Metadata),
            ("172.16.0.1", AddressClass::Private),
            ("172.31.255.255", AddressClass::Private),
            ("192.0.0.8", AddressClass::Reserved),
            ("192.0.0.192", AddressClass::Metadata),
            ("192.0.2.1", AddressClass::Documentation),
            ("192.88.99.1", AddressClass::Reserved),
            ("192.168.1.1", AddressClass::Private),
            ("198.18.0.1", AddressClass::Reserved),
            ("198.19.255.255", AddressClass::Reserved),
            ("198.51.100.7", AddressClass::Documentation),
            ("203.0.113.7", AddressClass::Documentation),
            ("224.0.0.1", AddressClass::Multicast),
            ("239.255.255.255", AddressClass::Multicast),
            ("240.0.0.1", AddressClass::Reserved),
            ("255.255.255.255", AddressClass::Reserved),
            ("::", AddressClass::Unspecified),
            ("::1", AddressClass::Loopback),
            ("::2", AddressClass::Embedded),
            ("::127.0.0.1", AddressClass::Embedded),
            ("::ffff:127.0.0.1", AddressClass::Embedded),
            ("::ffff:8.8.8.8", AddressClass::Embedded),
            ("::ffff:0:10.0.0.1", AddressClass::Embedded),
            ("64:ff9b::7f00:1", AddressClass::Embedded),
            ("64:ff9b::8.8.8.8", AddressClass::Embedded),
            ("64:ff9b:1::a00:1", AddressClass::Embedded),
            ("100::1", AddressClass::Reserved),
            ("2001::1", AddressClass::Embedded),
            ("2001:0:7f00:1::", AddressClass::Embedded),
            ("2001:2::1", AddressClass::Reserved),
            ("2001:10::1", AddressClass::Reserved),
            ("2001:20::1", AddressClass::Reserved),
            ("2001:db8::1", AddressClass::Documentation),
            ("2002:7f00:1::", AddressClass::Embedded),
            ("2002:a00:1::", AddressClass::Embedded),
            ("3fff::1", AddressClass::Documentation),
            ("4000::1", AddressClass::Reserved),
            ("5f00::1", AddressClass::Reserved),
            ("fc00::1", AddressClass::Private),
            ("fd00:ec2::254", AddressClass::Metadata),
            ("fd20:ce::254", AddressClass::Metadata),
            ("fdff::1", AddressClass::Private),
            ("fe80::1", AddressClass::LinkLocal),
            ("fe80::5efe:7f00:1", AddressClass::LinkLocal),
            ("2606:4700::5efe:7f00:1", AddressClass::Embedded),
            ("fec0::1", AddressClass::Private),
            ("ff02::1", AddressClass::Multicast),
        ] {
            assert_eq!(of(a), Some(class), "{a}");
        }
    }
}
