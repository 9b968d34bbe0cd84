//! Subjects: stable, distinct and evenly spread.

use std::collections::HashSet;
use std::num::NonZeroU32;

use penstock::identity::{Address, Digester, KeySources, Secret, Subject};

use super::Request;

fn ip(secret: Option<&str>, address: &str) -> Subject {
    let secret = secret.map(|secret| Secret::new(secret).unwrap());
    Address::read(&Request::with(&[("cf-connecting-ip", address)]), 64).subject(&Digester::new(secret.as_ref()))
}

fn key(digester: &Digester, key: &str) -> Subject {
    KeySources::parse("header:k").unwrap().read(&Request::with(&[("k", key)])).unwrap().subject(digester)
}

/// Stored names and rows contain subjects. A change of one makes every caller a new one.
#[test]
fn known_callers_keep_their_subjects() {
    let keyed = Digester::new(Secret::new("a secret").as_ref());
    let open = Digester::new(None);
    assert_eq!(ip(None, "203.0.113.7").to_string(), "141edb3da6d9ea86e5b26c225023a2b8");
    assert_eq!(ip(Some("a secret"), "203.0.113.7").to_string(), "8b6d0d96d72dcbb4e36e0b81cb4519f4");
    assert_eq!(ip(None, "2001:db8:1:2::7").to_string(), "bcc3150d056355847ec8ccca33141d02");
    assert_eq!(ip(None, "").to_string(), "55e1543f9bcb2a5198a904447a352be5");
    assert_eq!(key(&open, "abc").to_string(), "d6c5bede2fe595ea03507add5d757a8f");
    assert_eq!(key(&keyed, "abc").to_string(), "8f8d4cd68cfa0d1cf2c5ca5c49ee9c4e");
}

#[test]
fn sec_01_another_secret_gives_the_same_caller_another_subject() {
    let subjects: HashSet<Subject> =
        [None, Some("one"), Some("two"), Some("two ")].map(|secret| ip(secret, "203.0.113.7")).into();
    assert_eq!(subjects.len(), 4);
    assert_eq!(ip(Some("one"), "203.0.113.7"), ip(Some("one"), "203.0.113.7"));
}

#[test]
fn a_key_that_reads_like_an_address_is_not_that_address() {
    let digester = Digester::new(None);
    let address = ip(None, "49.50.51.52");
    // The four bytes of the address, and its text.
    for text in ["1234", "49.50.51.52"] {
        assert_ne!(key(&digester, text), address);
    }
    let zone = [("cf-connecting-ip", "2a06:98c0:3600::103"), ("cf-worker", "a.example")];
    assert_ne!(key(&digester, "a.example"), Address::read(&Request::with(&zone), 64).subject(&digester));
}

#[test]
fn a_subject_prints_as_32_digits_and_reads_back() {
    let subject = Subject::from_bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]);
    assert_eq!(subject.to_string(), "000102030405060708090a0b0c0d0eff");
    assert_eq!(subject.to_string().parse(), Ok(subject));
    assert_eq!(Subject::from_bytes(subject.to_bytes()), subject);
    for text in [
        "",
        "00",
        "000102030405060708090A0B0C0D0EFF",
        "+00102030405060708090a0b0c0d0eff",
        "000102030405060708090a0b0c0d0effg",
        "é00102030405060708090a0b0c0d0ef",
    ] {
        assert!(text.parse::<Subject>().is_err(), "{text:?}");
    }
}

#[test]
fn shards_are_evenly_filled() {
    let digester = Digester::new(None);
    for count in [1, 3, 16, 100] {
        let shards = NonZeroU32::new(count).unwrap();
        let mut filled = vec![0_u32; count as usize];
        for number in 0..10_000 {
            filled[key(&digester, &number.to_string()).shard(shards) as usize] += 1;
        }
        let even = 10_000 / count;
        assert!(filled.iter().all(|&shard| shard > even * 6 / 10 && shard < even * 14 / 10), "{filled:?}");
    }
    assert!(Subject::from_bytes([255; 16]).shard(NonZeroU32::MAX) < u32::MAX);
}

#[test]
fn sec_01_a_secret_and_its_digester_print_nothing() {
    let secret = Secret::new("hunter2").unwrap();
    assert_eq!(format!("{secret:?} {:?}", Digester::new(Some(&secret))), "Secret(REDACTED) Digester(REDACTED)");
    assert_eq!(Secret::new(" \t\n"), None);
}

#[test]
fn a_secret_that_can_be_guessed_says_so_without_a_word_of_it() {
    for weak in ["hunter2", "fifteen-bytes-x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "abcdeabcdeabcdeabcde"] {
        let weakness = Secret::new(weak).unwrap().weakness().unwrap();
        assert!(weakness.contains("under 16 bytes") && !weakness.contains(weak), "{weakness}");
    }
    for strong in ["0a1b2c3d4e5f6071", "abcdefabcdefabcd", "correct horse battery staple"] {
        assert_eq!(Secret::new(strong).unwrap().weakness(), None, "{strong}");
    }
}
