//! The caller of a request by address.

use std::net::{Ipv4Addr, Ipv6Addr};

use penstock::identity::{Address, Digester, Subject};
use proptest::prelude::*;

use super::Request;

const IP: &str = "cf-connecting-ip";

fn read(headers: &[(&str, &str)], prefix: u8) -> Subject {
    Address::read(&Request::with(headers), prefix).subject(&Digester::new(None))
}

fn subject(ip: &str) -> Subject {
    read(&[(IP, ip)], 64)
}

fn unknown() -> Subject {
    read(&[], 64)
}

#[test]
fn ip_09_requests_without_an_address_are_one_caller_of_their_own() {
    for known in ["0.0.0.0", "::", "203.0.113.7"] {
        assert_ne!(subject(known), unknown());
    }
}

#[test]
fn ip_04_the_prefix_sets_the_size_of_a_caller() {
    let differ = |prefix, left, right| read(&[(IP, left)], prefix) != read(&[(IP, right)], prefix);
    assert!(differ(128, "2001:db8::1", "2001:db8::2"));
    assert!(!differ(48, "2001:db8:1:2::1", "2001:db8:1:3::1"));
    assert!(differ(48, "2001:db8:1::1", "2001:db8:2::1"));
    assert!(!differ(32, "2001:db8:1::1", "2001:db8:2::1"));
    assert!(!differ(57, "2001:db8:0:7f::1", "2001:db8:0:1::1") && differ(57, "2001:db8:0:80::", "2001:db8:0:7f::"));
    for prefix in [0, 200, 255] {
        read(&[(IP, "2001:db8::1")], prefix);
    }
}

#[test]
fn ip_11_workers_of_other_zones_are_counted_by_zone() {
    let from = |ip, zone| read(&[(IP, ip), ("cf-worker", zone)], 64);
    let worker = "2a06:98c0:3600::103";
    assert_ne!(from(worker, "a.example"), from(worker, "b.example"));
    assert_eq!(from(worker, "A.Example "), from("2a06:98c0:3600:0:0:0:0:103", "a.example"));
    let nameless = read(&[(IP, worker)], 64);
    assert_eq!(from(worker, " "), nameless);
    assert!(
        nameless != from(worker, "a.example") && nameless != unknown() && nameless != subject("2a06:98c0:3600::104")
    );
    assert_eq!(
        from("203.0.113.7", "a.example"),
        subject("203.0.113.7"),
        "the header does not count for any other address"
    );
}

#[test]
fn sec_01_an_address_is_not_printed() {
    let address = Address::read(&Request::with(&[(IP, "203.0.113.7")]), 64);
    assert_eq!(format!("{address:?}"), "Address(REDACTED)");
}

proptest! {
    #[test]
    fn ip_05_all_spellings_of_any_address_are_one_caller(bits in any::<u128>(), prefix in 32_u8..=128) {
        let address = Ipv6Addr::from_bits(bits);
        let full = address.segments().map(|group| format!("{group:04X}")).join(":");
        prop_assert_eq!(read(&[(IP, &full)], prefix), read(&[(IP, &address.to_string())], prefix));
    }

    #[test]
    fn two_ipv4_addresses_are_two_callers(left in any::<u32>(), right in any::<u32>()) {
        let subject = |bits| subject(&Ipv4Addr::from_bits(bits).to_string());
        prop_assert_eq!(left == right, subject(left) == subject(right));
    }

    #[test]
    fn cf_04_no_header_makes_address_reading_panic(ip in any::<String>(), other in any::<String>(), prefix in any::<u8>()) {
        read(&[(IP, &ip), ("cf-worker", &other), ("cf-connecting-ipv6", &other)], prefix);
    }
}
