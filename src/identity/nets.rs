//! Lists of addresses and of networks in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3).

use core::fmt;
use core::str::FromStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::identity::address::embedded;

/// A network: `203.0.113.0/24`, `2001:db8::/32`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net {
    first: IpAddr,
    /// How many leading bits are the network's.
    prefix: u32,
}

/// Some networks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nets(pub Vec<Net>);

impl Nets {
    /// Whether one of them has `address` in it.
    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|net| net.contains(address))
    }
}

impl Net {
    /// Whether `address` lies in it. Addresses of the other version never do.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => (first.to_bits() ^ address.to_bits()) & mask4(self.prefix) == 0,
            (IpAddr::V6(first), IpAddr::V6(address)) => (first.to_bits() ^ address.to_bits()) & mask6(self.prefix) == 0,
            _ => false,
        }
    }
}

impl FromStr for Net {
    type Err = String;

    /// Reads an address, or one with a prefix length. A network of IPv4 addresses in IPv6 clothes is read as theirs, as
    /// [`Address::read`](crate::identity::Address::read) reads the addresses.
    ///
    /// # Errors
    /// What would be right, where it is neither, or where bits past the prefix are set: it would be unclear what is meant.
    fn from_str(text: &str) -> Result<Net, String> {
        let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
        let no_net =
            || "not an address or a network, expected one such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32";
        let first: IpAddr = address.parse().map_err(|_| no_net())?;
        let bits = if first.is_ipv4() { 32 } else { 128 };
        let prefix = match length {
            None => bits,
            Some(length) => length
                .parse()
                .ok()
                .filter(|prefix| *prefix <= bits && length.bytes().all(|byte| byte.is_ascii_digit()))
                .ok_or_else(|| format!("the prefix length {length:?} is not a whole number from 0 to {bits}"))?,
        };
        let start = match first {
            IpAddr::V4(first) => IpAddr::V4(Ipv4Addr::from_bits(first.to_bits() & mask4(prefix))),
            IpAddr::V6(first) => IpAddr::V6(Ipv6Addr::from_bits(first.to_bits() & mask6(prefix))),
        };
        if start != first {
            return Err(format!("bits past the prefix are set, expected {start}/{prefix} or another prefix"));
        }
        Ok(Net { first, prefix }.plain())
    }
}

impl Net {
    fn plain(self) -> Net {
        let IpAddr::V6(first) = self.first else { return self };
        match embedded(first) {
            // All of 6to4 or of NAT64 is a kind of IPv6 address; it does not mean the whole of IPv4.
            Some((inner, before))
                if self.prefix > before || (self.prefix == before && first.to_ipv4_mapped().is_some()) =>
            {
                // Whatever of 6to4 comes after the address tells no caller from another.
                Net { first: IpAddr::V4(inner), prefix: self.prefix.saturating_sub(before).min(32) }
            }
            _ => self,
        }
    }
}

fn mask4(prefix: u32) -> u32 {
    u32::MAX.checked_shl(32_u32.saturating_sub(prefix)).unwrap_or(0)
}

fn mask6(prefix: u32) -> u128 {
    u128::MAX.checked_shl(128_u32.saturating_sub(prefix)).unwrap_or(0)
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = if self.first.is_ipv4() { 32 } else { 128 };
        match self.prefix {
            prefix if prefix == bits => write!(f, "{}", self.first),
            prefix => write!(f, "{}/{prefix}", self.first),
        }
    }
}

impl fmt::Display for Nets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nets: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&nets.join(", "))
    }
}
