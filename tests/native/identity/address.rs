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
fn ip_01_what_the_client_says_of_itself_is_never_read() {
    for name in [
        "x-forwarded-for",
        "x-real-ip",
        "true-client-ip",
        "forwarded",
        "x-client-ip",
        "cf-connecting-ipv6",
        "cf-pseudo-ipv4",
        "cf-worker",
    ] {
        for value in ["198.51.100.9", "2001:db8::9", "for=198.51.100.9"] {
            assert_eq!(read(&[(IP, "203.0.113.7"), (name, value)], 64), subject("203.0.113.7"), "{name}");
            assert_eq!(read(&[(name, value)], 64), unknown(), "{name}");
        }
    }
}

#[test]
fn ip_04_a_64_is_one_caller_and_its_neighbour_another() {
    for last in 1..=20 {
        assert_eq!(subject(&format!("2001:db8:1:2::{last:x}")), subject("2001:db8:1:2:ffff:ffff:ffff:ffff"));
    }
    assert_ne!(subject("2001:db8:1:3::1"), subject("2001:db8:1:2::1"));
}

#[test]
fn ip_04_the_prefix_can_be_set() {
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
fn ip_05_spellings_of_one_address_are_one_caller() {
    for spelling in ["2001:0DB8:0:0::A:B", "2001:db8:0:0:0:0:a:b", "2001:DB8::000a:000b", " 2001:db8::a:b\t"] {
        assert_eq!(read(&[(IP, spelling)], 128), read(&[(IP, "2001:db8::a:b")], 128), "{spelling}");
    }
}

#[test]
fn ip_05_an_ipv4_address_in_ipv6_clothes_is_that_address() {
    for spelling in [
        "::ffff:203.0.113.7",
        "::FFFF:cb00:7107",
        "64:ff9b::203.0.113.7",
        "64:ff9b::cb00:7107",
        "2002:cb00:7107::1",
        "2002:cb00:7107:9:8:7:6:5",
    ] {
        assert_eq!(subject(spelling), subject("203.0.113.7"), "{spelling}");
    }
    for other in [
        "::203.0.113.7",
        "::fffe:203.0.113.7",
        "64:ff9b:1::203.0.113.7",
        "2003:cb00:7107::",
        "::ffff:203.0.113.8",
        "203.0.113.8",
    ] {
        assert_ne!(subject(other), subject("203.0.113.7"), "{other}");
    }
}

#[test]
fn ip_09_whoever_has_no_readable_address_is_one_shared_caller() {
    for garbage in [
        "",
        " ",
        "unknown",
        "203.0.113",
        "203.0.113.256",
        "203.0.113.07",
        "203.0.113.7:80",
        "[2001:db8::1]",
        "[2001:db8::1]:80",
        "::g",
        "fe80::1%eth0",
        "203.0.113.7, 198.51.100.9",
        "203.0.113.7 198.51.100.9",
        "0x7f.1",
        "3405803783",
        "203.0.113.7\0",
        "²03.0.113.7",
    ] {
        assert_eq!(subject(garbage), unknown(), "{garbage:?}");
        assert!(Address::read(&Request::with(&[(IP, garbage)]), 64).is_unknown());
    }
    for known in ["0.0.0.0", "::", "203.0.113.7"] {
        assert_ne!(subject(known), unknown());
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
        "for any other address the header says nothing"
    );
}

#[test]
fn pseudo_ipv4_gives_way_to_the_real_ipv6_address() {
    let pseudo = |ipv6| read(&[(IP, "240.1.2.3"), ("cf-connecting-ipv6", ipv6)], 64);
    assert_eq!(pseudo("2001:db8:1:2::7"), subject("2001:db8:1:2::1"));
    assert_eq!(read(&[(IP, "255.255.255.255"), ("cf-connecting-ipv6", "2001:db8::7")], 64), subject("2001:db8::"));
    for garbage in ["", "x", "203.0.113.7"] {
        assert_eq!(pseudo(garbage), subject("240.1.2.3"));
    }
    assert_eq!(read(&[(IP, "239.1.2.3"), ("cf-connecting-ipv6", "2001:db8::7")], 64), subject("239.1.2.3"));
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
    fn cf_04_no_header_makes_it_panic(ip in any::<String>(), other in any::<String>(), prefix in any::<u8>()) {
        read(&[(IP, &ip), ("cf-worker", &other), ("cf-connecting-ipv6", &other)], prefix);
    }
}
