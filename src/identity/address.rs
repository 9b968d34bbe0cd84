//! The client's address, from the one header that Cloudflare itself writes.
//!
//! `X-Forwarded-For`, `X-Real-IP`, `True-Client-IP`, `Forwarded` and their like are the client's
//! own text. They are never read.

use core::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::identity::digest::{DigestKind, Digester, Subject};
use crate::identity::embedded_ipv4::{embedded_ipv4, teredo_client};
use crate::identity::networks::Nets;
use crate::identity::request::HeadersAndQuery;
use crate::identity::whitespace::trim;

/// The address that all requests from Workers of other zones come from. `CF-Worker` then names
/// their zone.
const OTHER_ZONES: Ipv6Addr = Ipv6Addr::new(0x2a06, 0x98c0, 0x3600, 0, 0, 0, 0, 0x103);

/// The caller of a request by address. `Debug` prints nothing of it.
#[derive(Clone)]
pub struct Address {
    caller: Caller,
    /// The full address that the request came from, for `ALLOW` and `BLOCK`. `None`: no address
    /// could be read.
    sent: Option<IpAddr>,
}

/// The identity that limits count.
#[derive(Clone, PartialEq, Eq)]
enum Caller {
    /// One IPv4 address.
    V4(Ipv4Addr),
    /// One IPv6 network, with the bits past its prefix cleared.
    V6(Ipv6Addr),
    /// A Worker of another zone: the zone in lower case, or empty if the zone was not named.
    Worker(String),
    /// The one caller that stands for all requests without a readable address.
    Unknown,
}

impl Address {
    /// Reads `CF-Connecting-IP`, and where that one says so, `CF-Worker` or `CF-Connecting-IPv6`.
    /// The first `prefix` bits of an IPv6 address are one caller; at 128 or more, each address is.
    ///
    /// An IPv6 address that holds an IPv4 address (mapped, NAT64, 6to4 or Teredo) is that IPv4
    /// address. Any text but one plain address (a list, a port, a zone id) is the unknown caller.
    pub fn read(request: &impl HeadersAndQuery, prefix: u8) -> Address {
        let ip = |name| trim(&request.header(name)?).parse::<IpAddr>().ok();
        let sent = match ip("cf-connecting-ip") {
            Some(IpAddr::V4(pseudo)) if is_pseudo(pseudo) => {
                ip("cf-connecting-ipv6").filter(IpAddr::is_ipv6).or(Some(IpAddr::V4(pseudo)))
            }
            sent => sent,
        };
        let caller = match sent {
            None => Caller::Unknown,
            Some(IpAddr::V6(OTHER_ZONES)) => {
                let zone = request.header("cf-worker").unwrap_or_default();
                Caller::Worker(trim(&zone).to_ascii_lowercase())
            }
            Some(IpAddr::V4(address)) => Caller::V4(address),
            Some(IpAddr::V6(address)) => ipv6_caller(address, prefix),
        };
        Address { caller, sent }
    }

    /// Whether the address lies in one of `nets`, in the form that was sent or as the IPv4 address
    /// inside it. All of its bits count, whatever the prefix of one caller. An unknown address lies
    /// in no network.
    pub fn is_in(&self, nets: &Nets) -> bool {
        let ipv4 = match self.caller {
            Caller::V4(address) => Some(IpAddr::V4(address)),
            _ => None,
        };
        self.sent.into_iter().chain(ipv4).any(|address| nets.contains(address))
    }

    /// The digest that stands for this caller outside of this folder.
    pub fn subject(&self, digester: &Digester) -> Subject {
        match &self.caller {
            Caller::V4(address) => digester.subject(DigestKind::Ip, &address.octets()),
            Caller::V6(address) => digester.subject(DigestKind::Ip, &address.octets()),
            Caller::Worker(zone) => digester.subject(DigestKind::Worker, zone.as_bytes()),
            Caller::Unknown => digester.subject(DigestKind::Unknown, &[]),
        }
    }

    /// The full address, for the origin alone. `None`: no address could be read.
    pub fn for_origin(&self) -> Option<String> {
        self.sent.map(|address| address.to_string())
    }

    /// Whether no address could be read.
    pub fn is_unknown(&self) -> bool {
        self.caller == Caller::Unknown
    }
}

/// Whether the address is of class E (240.0.0.0/4). Cloudflare's Pseudo IPv4, in its overwrite
/// mode, puts such an address in place of the real IPv6 address.
fn is_pseudo(address: Ipv4Addr) -> bool {
    matches!(address.octets(), [240..=255, ..])
}

fn ipv6_caller(address: Ipv6Addr, prefix: u8) -> Caller {
    let ipv4 = embedded_ipv4(address).map(|(ipv4, _)| ipv4).or_else(|| teredo_client(address));
    ipv4.map_or_else(
        || {
            let past_prefix = 128_u32.saturating_sub(u32::from(prefix));
            let mask = u128::MAX.checked_shl(past_prefix).unwrap_or(0);
            Caller::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        },
        Caller::V4,
    )
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address(REDACTED)")
    }
}
