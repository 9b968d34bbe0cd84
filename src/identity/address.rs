//! The client's address, from the one header that Cloudflare itself writes.
//!
//! `X-Forwarded-For`, `X-Real-IP`, `True-Client-IP`, `Forwarded` and their like are the client's own text; they are
//! never read.

use core::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::identity::digest::{DigestKind, Digester, Subject};
use crate::identity::nets::Nets;
use crate::identity::{Presented, trim};

/// Requests from Workers of other zones all come from this one address; `CF-Worker` then names their zone.
const WORKERS: Ipv6Addr = Ipv6Addr::new(0x2a06, 0x98c0, 0x3600, 0, 0, 0, 0, 0x103);

/// Who is asking, by address. `Debug` prints nothing of it.
#[derive(Clone)]
pub struct Address {
    caller: Source,
    /// Where the request came from, all of it.
    from: Option<IpAddr>,
}

#[derive(Clone, PartialEq, Eq)]
enum Source {
    V4(Ipv4Addr),
    /// With the bits past the prefix cleared.
    V6(Ipv6Addr),
    /// A Worker of another zone: the zone in lower case, or nothing where it was not named.
    Worker(String),
    /// No address that can be read. Everyone like that is one caller.
    Unknown,
}

impl Address {
    /// Reads `CF-Connecting-IP`, and where that says so `CF-Worker` or `CF-Connecting-IPv6`. The first `prefix` bits
    /// of an IPv6 address are one caller (128 or more: all of it).
    ///
    /// IPv4 addresses in IPv6 clothes (mapped, RFC 4291 §2.5.5.2; NAT64, RFC 6052 §2.1; 6to4, RFC 3056 §2; Teredo, RFC 4380
    /// §4) are read as the IPv4 address. Anything that is not one plain address (a list, a port, a zone id) is the unknown caller.
    pub fn read(request: &impl Presented, prefix: u8) -> Address {
        let ip = |name| trim(&request.header(name)?).parse::<IpAddr>().ok();
        let from = match ip("cf-connecting-ip") {
            Some(IpAddr::V4(pseudo)) if is_pseudo(pseudo) => {
                ip("cf-connecting-ipv6").filter(IpAddr::is_ipv6).or(Some(IpAddr::V4(pseudo)))
            }
            from => from,
        };
        let caller = match from {
            None => Source::Unknown,
            Some(IpAddr::V6(WORKERS)) => {
                let zone = request.header("cf-worker").unwrap_or_default();
                Source::Worker(trim(&zone).to_ascii_lowercase())
            }
            Some(IpAddr::V4(address)) => Source::V4(address),
            Some(IpAddr::V6(address)) => v6(address, prefix),
        };
        Address { caller, from }
    }

    /// Whether it lies in one of `nets`: all of its bits count, whatever the prefix of one caller. Whoever has no address lies in none.
    pub fn is_in(&self, nets: &Nets) -> bool {
        let inner = match self.caller {
            Source::V4(address) => Some(IpAddr::V4(address)),
            _ => None,
        };
        self.from.into_iter().chain(inner).any(|address| nets.contain(address))
    }

    /// What stands for it outside of this folder.
    pub fn subject(&self, digester: &Digester) -> Subject {
        match &self.caller {
            Source::V4(address) => digester.subject(DigestKind::Ip, &address.octets()),
            Source::V6(address) => digester.subject(DigestKind::Ip, &address.octets()),
            Source::Worker(zone) => digester.subject(DigestKind::Worker, zone.as_bytes()),
            Source::Unknown => digester.subject(DigestKind::Unknown, &[]),
        }
    }

    /// Whether there was no address to read.
    pub fn is_unknown(&self) -> bool {
        self.caller == Source::Unknown
    }
}

/// Pseudo IPv4 in its overwrite mode puts an address of class E (240.0.0.0/4) in place of the real IPv6 address.
fn is_pseudo(address: Ipv4Addr) -> bool {
    matches!(address.octets(), [240..=255, ..])
}

/// The IPv4 address inside of an IPv6 address, and how many bits stand before it.
pub(super) fn embedded(address: Ipv6Addr) -> Option<(Ipv4Addr, u32)> {
    let (high, low, before) = match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => (high, low, 96),
        [0x2002, high, low, ..] => (high, low, 16),
        _ => return None,
    };
    let [a, b] = high.to_be_bytes();
    let [c, d] = low.to_be_bytes();
    Some((Ipv4Addr::new(a, b, c, d), before))
}

/// The client of a Teredo address: its last 32 bits, inverted. The bits before them (server, port) are the client's choice.
fn teredo(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [0x2001, 0, ..] = address.segments() else { return None };
    let [.., a, b, c, d] = address.octets();
    Some(Ipv4Addr::new(!a, !b, !c, !d))
}

fn v6(address: Ipv6Addr, prefix: u8) -> Source {
    match embedded(address).map(|(inner, _)| inner).or_else(|| teredo(address)) {
        Some(inner) => Source::V4(inner),
        None => {
            let past = 128_u32.saturating_sub(u32::from(prefix));
            let mask = u128::MAX.checked_shl(past).unwrap_or(0);
            Source::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address(REDACTED)")
    }
}
