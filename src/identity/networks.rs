//! Networks in CIDR notation (RFC 4632 §3.1, RFC 4291 §2.3), and lists of them.

use core::fmt;
use core::str::FromStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::identity::embedded_ipv4::embedded_ipv4;

/// One network: `203.0.113.0/24`, `2001:db8::/32`, or a single address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net {
    /// The lowest address. Its bits past the prefix are 0.
    first: IpAddr,
    /// The number of leading bits that all addresses of the network share: 0 to 32 for IPv4, 0 to
    /// 128 for IPv6.
    prefix: u32,
}

/// A list of networks, such as `ALLOW`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nets(pub Vec<Net>);

impl Nets {
    /// Whether `address` lies in one of them.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|net| net.contains(address))
    }
}

impl Net {
    /// Whether `address` lies in the network. No IPv4 address lies in an IPv6 network, and no IPv6
    /// address in an IPv4 network.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                (first.to_bits() ^ address.to_bits()) & ipv4_mask(self.prefix) == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                (first.to_bits() ^ address.to_bits()) & ipv6_mask(self.prefix) == 0
            }
            _ => false,
        }
    }

    /// Returns the IPv4 network that an IPv6 network of embedded IPv4 addresses stands for, or the
    /// network itself if it is no such network.
    ///
    /// A prefix that covers a whole transition mechanism (`2002::/16`, `64:ff9b::/96`) stays IPv6:
    /// it names that mechanism, and not all of IPv4. `::ffff:0:0/96` is another spelling of IPv4.
    fn as_ipv4_if_embedded(self) -> Net {
        let IpAddr::V6(first) = self.first else { return self };
        match embedded_ipv4(first) {
            Some((ipv4, before))
                if self.prefix > before || (self.prefix == before && first.to_ipv4_mapped().is_some()) =>
            {
                // Bits of a 6to4 address after the IPv4 address tell no two callers apart.
                Net { first: IpAddr::V4(ipv4), prefix: self.prefix.saturating_sub(before).min(32) }
            }
            _ => self,
        }
    }
}

impl FromStr for Net {
    type Err = String;

    /// Reads an address, with or without a prefix length. A network of embedded IPv4 addresses is
    /// read as the IPv4 network, as [`Address::read`](crate::identity::Address::read) reads the
    /// addresses.
    ///
    /// # Errors
    /// One sentence on the right form, if the text is neither an address nor a network, or if bits
    /// past the prefix are set: then the address and the prefix contradict each other.
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
            IpAddr::V4(first) => IpAddr::V4(Ipv4Addr::from_bits(first.to_bits() & ipv4_mask(prefix))),
            IpAddr::V6(first) => IpAddr::V6(Ipv6Addr::from_bits(first.to_bits() & ipv6_mask(prefix))),
        };
        if start != first {
            return Err(format!("bits past the prefix are set, expected {start}/{prefix} or another prefix"));
        }
        Ok(Net { first, prefix }.as_ipv4_if_embedded())
    }
}

fn ipv4_mask(prefix: u32) -> u32 {
    u32::MAX.checked_shl(32_u32.saturating_sub(prefix)).unwrap_or(0)
}

fn ipv6_mask(prefix: u32) -> u128 {
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
