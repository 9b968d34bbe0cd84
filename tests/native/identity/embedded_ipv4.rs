//! IPv4 addresses inside IPv6 addresses, in lists of networks. The cases of callers are in
//! `tests/data/reading.json`.

use super::is_in;

#[test]
fn ip_05_an_embedded_ipv4_address_is_found_in_either_form() {
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
fn a_network_of_a_whole_transition_mechanism_is_not_all_of_ipv4() {
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
    assert!(is_in("203.0.113.7", "::ffff:0:0/96"), "another spelling of all of IPv4");
}
