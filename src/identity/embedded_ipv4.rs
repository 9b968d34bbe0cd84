//! IPv4 addresses inside IPv6 addresses. One client may send either form, so both are one caller.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns the IPv4 address inside `address`, and the number of bits before it: 96 if it is mapped
/// (`::ffff:0:0/96`, RFC 4291 §2.5.5.2) or NAT64 (`64:ff9b::/96`, RFC 6052 §2.1), and 16 if it is
/// 6to4 (`2002::/16`, RFC 3056 §2). `None`: it is an ordinary IPv6 address.
pub(super) fn embedded_ipv4(address: Ipv6Addr) -> Option<(Ipv4Addr, u32)> {
    let (high, low, before) = match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (high, low, 96),
        [0x2002, high, low, ..] => (high, low, 16),
        _ => return None,
    };
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    Some((Ipv4Addr::new(a, b, c, d), before))
}

/// Returns the client of a Teredo address (`2001::/32`, RFC 4380 §4): its last 32 bits, inverted.
/// `None`: it is not a Teredo address.
///
/// The bits between the prefix and the client (server, flags, port) are the client's own choice. A
/// network of Teredo addresses is therefore no network of IPv4 addresses, and this form is kept
/// apart from [`embedded_ipv4`].
pub(super) fn teredo_client(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [0x2001, 0, ..] = address.segments() else { return None };
    let [.., a, b, c, d] = address.octets();
    Some(Ipv4Addr::new(!a, !b, !c, !d))
}
