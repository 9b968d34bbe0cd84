use penstock::identity::{Address, Net, Nets};
use proptest::prelude::*;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Request;

fn nets(list: &[&str]) -> Nets {
    Nets(list.iter().map(|text| text.parse().unwrap()).collect())
}

fn from(headers: &[(&str, &str)], list: &[&str]) -> bool {
    Address::read(&Request::with(headers), 64).is_in(&nets(list))
}

fn is_in(ip: &str, net: &str) -> bool {
    from(&[("cf-connecting-ip", ip)], &[net])
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
fn ip_05_ipv4_in_ipv6_clothes_is_found_under_either_name() {
    for ip in [
        "203.0.113.7",
        "::ffff:203.0.113.7",
        "64:ff9b::cb00:7107",
        "2002:cb00:7107::1",
        "2001:0:c000:201:8000:63bf:34ff:8ef8",
    ] {
        for net in ["203.0.113.0/24", "::ffff:203.0.113.0/120", "64:ff9b::cb00:7100/120", "2002:cb00:7100::/40"] {
            assert!(is_in(ip, net), "{ip} in {net}");
            assert!(!is_in("203.0.114.7", net) && !is_in("::ffff:203.0.114.7", net), "{net}");
        }
    }
    assert!(is_in("2002:cb00:7107::1", "2002::/16") && is_in("2002:cb00:7107::1", "2000::/3"), "as it was sent");
}

#[test]
fn all_of_a_tunnel_is_not_all_of_ipv4() {
    for (inside, net) in [
        ("2002:cb00:7107::1", "2002::/16"),
        ("64:ff9b::cb00:7107", "64:ff9b::/96"),
        ("2001:0:c000:201::1", "2001::/32"),
    ] {
        assert!(is_in(inside, net), "{inside} in {net}");
        for other in ["203.0.113.7", "0.0.0.0", "::ffff:203.0.113.7", "2001:db8::7"] {
            assert!(!is_in(other, net), "{other} in {net}");
        }
    }
    assert!(is_in("203.0.113.7", "::ffff:0:0/96"), "which is what IPv4 is called");
}

#[test]
fn all_bits_count_whatever_one_caller_is() {
    assert!(is_in("2001:db8:1:2::7", "2001:db8:1:2::7") && !is_in("2001:db8:1:2::8", "2001:db8:1:2::7"));
}

#[test]
fn ip_01_what_the_client_says_of_itself_is_never_read() {
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
fn what_is_no_network_is_refused_with_what_would_be_right() {
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
    fn a_network_holds_what_shares_its_leading_bits(first in any::<u128>(), other in any::<u128>(), prefix in 0_u32..=128) {
        let mask = u128::MAX.checked_shl(128 - prefix).unwrap_or(0);
        let net = format!("{}/{prefix}", Ipv6Addr::from_bits(first & mask));
        let read: Net = net.parse().unwrap();
        prop_assume!(read.to_string().contains(':')); // not one of IPv4's
        for near in [other, first ^ (other >> prefix.min(127)), first] {
            prop_assert_eq!(read.contains(IpAddr::V6(Ipv6Addr::from_bits(near))), (near ^ first) & mask == 0);
        }
    }

    #[test]
    fn the_same_for_ipv4(first in any::<u32>(), other in any::<u32>(), prefix in 0_u32..=32) {
        let mask = u32::MAX.checked_shl(32 - prefix).unwrap_or(0);
        let net: Net = format!("{}/{prefix}", Ipv4Addr::from_bits(first & mask)).parse().unwrap();
        for near in [other, first ^ (other >> prefix.min(31)), first] {
            prop_assert_eq!(net.contains(IpAddr::V4(Ipv4Addr::from_bits(near))), (near ^ first) & mask == 0);
        }
    }

    #[test]
    fn cf_04_no_text_makes_it_panic(text in any::<String>(), close in "[0-9a-f:./]{0,24}") {
        let _ = (text.parse::<Net>(), close.parse::<Net>());
    }
}
