//! Networks and lists of them.

use penstock::identity::{Address, Net, Nets};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{Request, is_in};

fn nets(list: &[&str]) -> Nets {
    Nets(list.iter().map(|text| text.parse().unwrap()).collect())
}

/// Whether a request with these headers comes from a network of the list.
fn from(headers: &[(&str, &str)], list: &[&str]) -> bool {
    Address::read(&Request::with(headers), 64).is_in(&nets(list))
}

#[test]
fn an_address_lies_in_its_networks_and_in_no_other() {
    for (ip, net) in [
        ("203.0.113.7", "203.0.113.7"),
        ("203.0.113.7", "203.0.113.7/32"),
        ("203.0.113.7", "203.0.113.0/24"),
        ("203.0.113.255", "203.0.113.254/31"),
        ("203.0.113.7", "0.0.0.0/0"),
        ("2001:db8::7", "2001:db8::7"),
        ("2001:0DB8:0::0007", "2001:db8::7/128"),
        ("2001:db8:ffff::", "2001:db8::/32"),
        ("2001:db8::7", "::/0"),
    ] {
        assert!(is_in(ip, net), "{ip} in {net}");
    }
    for (ip, net) in [
        ("203.0.113.8", "203.0.113.7"),
        ("203.0.114.0", "203.0.113.0/24"),
        ("2001:db8::8", "2001:db8::7"),
        ("2001:db9::", "2001:db8::/32"),
        ("203.0.113.7", "::/0"),
        ("2001:db8::7", "0.0.0.0/0"),
    ] {
        assert!(!is_in(ip, net), "{ip} in {net}");
    }
}

#[test]
fn lists_compare_all_bits_of_an_ipv6_address() {
    assert!(is_in("2001:db8:1:2::7", "2001:db8:1:2::7") && !is_in("2001:db8:1:2::8", "2001:db8:1:2::7"));
}

#[test]
fn ip_01_headers_that_the_client_writes_are_never_read() {
    let claims = ["x-forwarded-for", "x-real-ip", "true-client-ip", "forwarded", "cf-connecting-ipv6", "cf-worker"];
    for name in claims {
        let headers = [("cf-connecting-ip", "198.51.100.1"), (name, "203.0.113.7")];
        assert!(!from(&headers, &["203.0.113.7"]) && from(&headers, &["198.51.100.1"]), "{name}");
    }
    for nothing in ["", "unknown", "203.0.113.7, 203.0.113.7", "203.0.113.7:80"] {
        assert!(!from(&[("cf-connecting-ip", nothing)], &["0.0.0.0/0", "::/0"]), "{nothing:?} is no address");
    }
}

#[test]
fn pseudo_ipv4_gives_way_to_the_real_ipv6_address() {
    let headers = [("cf-connecting-ip", "240.1.2.3"), ("cf-connecting-ipv6", "2001:db8::7")];
    assert!(from(&headers, &["2001:db8::/32"]) && !from(&headers, &["240.0.0.0/4"]));
}

#[test]
fn a_text_that_is_no_network_is_refused_with_the_expected_form() {
    let no_net = "not an address or a network, expected one such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/32";
    for (text, problem) in [
        ("", no_net),
        ("example.com", no_net),
        ("203.0.113.7:80", no_net),
        ("[2001:db8::1]", no_net),
        ("fe80::1%eth0", no_net),
        ("203.0.113/24", no_net),
        ("203.0.113.*", no_net),
        ("/24", no_net),
        ("203.0.113.0/33", "the prefix length \"33\" is not a whole number from 0 to 32"),
        ("203.0.113.0/", "the prefix length \"\" is not a whole number from 0 to 32"),
        ("203.0.113.0/+8", "the prefix length \"+8\" is not a whole number from 0 to 32"),
        ("203.0.113.0/24/8", "the prefix length \"24/8\" is not a whole number from 0 to 32"),
        ("2001:db8::/129", "the prefix length \"129\" is not a whole number from 0 to 128"),
        ("203.0.113.7/24", "bits past the prefix are set, expected 203.0.113.0/24 or another prefix"),
        ("2001:db8::1/64", "bits past the prefix are set, expected 2001:db8::/64 or another prefix"),
    ] {
        assert_eq!(text.parse::<Net>(), Err(problem.to_owned()), "{text:?}");
    }
}

#[test]
fn a_network_prints_as_it_is_read() {
    for text in ["203.0.113.7", "203.0.113.0/24", "0.0.0.0/0", "2001:db8::/32", "2001:db8::1"] {
        assert_eq!(text.parse::<Net>().unwrap().to_string(), text);
    }
    assert_eq!("::ffff:203.0.113.0/120".parse::<Net>().unwrap().to_string(), "203.0.113.0/24");
    assert_eq!(nets(&["203.0.113.7", "2001:db8::/32"]).to_string(), "203.0.113.7, 2001:db8::/32");
}

proptest! {
    #[test]
    fn an_ipv6_network_contains_the_addresses_with_its_leading_bits_alone(first in any::<u128>(), other in any::<u128>(), prefix in 0_u32..=128) {
        let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
        let net = format!("{}/{prefix}", Ipv6Addr::from_bits(first & mask));
        let read: Net = net.parse().unwrap();
        prop_assume!(read.to_string().contains(':')); // an IPv6 network
        for near in [other, first ^ (other >> prefix.min(127)), first] {
            prop_assert_eq!(read.contains(IpAddr::V6(Ipv6Addr::from_bits(near))), (near ^ first) & mask == 0);
        }
    }

    #[test]
    fn an_ipv4_network_contains_the_addresses_with_its_leading_bits_alone(first in any::<u32>(), other in any::<u32>(), prefix in 0_u32..=32) {
        let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
        let net: Net = format!("{}/{prefix}", Ipv4Addr::from_bits(first & mask)).parse().unwrap();
        for near in [other, first ^ (other >> prefix.min(31)), first] {
            prop_assert_eq!(net.contains(IpAddr::V4(Ipv4Addr::from_bits(near))), (near ^ first) & mask == 0);
        }
    }

    #[test]
    fn cf_04_no_text_makes_network_reading_panic(text in any::<String>(), close in "[0-9a-f:./]{0,24}") {
        let _ = (text.parse::<Net>(), close.parse::<Net>());
    }
}
