//! `in_flight`, `sockets`, `wait`, `timeout`, `upload`, `socket_idle`, `priority` and `warmup`.

use std::rc::Rc;

use penstock::limit::time::Span;
use penstock::policy::{Cap, Mode, OnError, Priority, Size};
use serde_json::{Value, json};

use super::{each_has_one_fault, faults, policy};

fn in_flight(value: Value) -> Size {
    let policy = policy(json!({ "LIMIT_X": { "route": "/x", "in_flight": value } }));
    policy.bindings[0].capacity.in_flight.as_ref().unwrap().size
}

#[test]
fn a_cap_is_a_number_or_auto() {
    assert_eq!(in_flight(json!("200")), Size::Fixed(200));
    assert_eq!(in_flight(json!(1)), Size::Fixed(1));
    assert_eq!(in_flight(json!("auto")), Size::Auto { least: 10, most: 1_000 });
    assert_eq!(in_flight(json!("auto 20..20")), Size::Auto { least: 20, most: 20 });
}

#[test]
fn every_capacity_field_is_read() {
    let policy = policy(json!({ "LIMIT_FRONT_DOOR": {
        "route": "/x", "global": "5/s", "in_flight": "20", "sockets": "7", "wait": "100ms", "timeout": "10s",
        "upload": "20s", "socket_idle": "5min", "priority": "high", "warmup": "30s", "mode": "shadow", "on_error": "open",
    } }));
    let binding = &policy.bindings[0];
    let cap = |name: &str, most| {
        Rc::new(Cap {
            name: name.to_owned(),
            actor: name.to_owned(),
            size: Size::Fixed(most),
            mode: Mode::Shadow,
            on_error: OnError::Open,
            highest: Priority::High,
        })
    };
    assert_eq!(binding.capacity.in_flight, Some(cap("front-door/in-flight", 20)));
    assert_eq!(binding.capacity.sockets, Some(cap("front-door/sockets", 7)));
    assert_eq!(binding.capacity.wait, Span::from_millis(100));
    assert_eq!(binding.capacity.timeout, Some(Span::from_secs(10)));
    assert_eq!(binding.capacity.upload, Some(Span::from_secs(20)));
    assert_eq!(binding.capacity.socket_idle, Some(Span::from_secs(300)));
    assert_eq!(binding.capacity.warmup, Some(Span::from_secs(30)));
    assert_eq!(policy.priority(Some(binding)), Priority::High);
}

#[test]
fn one_capacity_field_alone_makes_a_valid_binding() {
    for (field, value) in [("in_flight", "1"), ("sockets", "1"), ("timeout", "1s"), ("upload", "1s")] {
        policy(json!({ "LIMIT_X": { "route": "/x", field: value } }));
    }
    policy(json!({ "LIMIT_BASE": { "in_flight": "5" }, "LIMIT_X": { "route": "/x", "priority": "high" } }));
}

#[test]
fn on_error_of_a_cap_is_closed_and_a_binding_that_is_off_has_no_cap() {
    let of =
        |mode: &str| policy(json!({ "LIMIT_X": { "route": "/x", "in_flight": "5", "timeout": "1s", "mode": mode } }));
    let on = of("enforce");
    assert_eq!(on.bindings[0].capacity.in_flight.as_ref().unwrap().on_error, OnError::Closed);
    let off = of("off");
    assert_eq!(off.bindings[0].capacity.in_flight, None);
    assert_eq!(off.timeout(Some(&off.bindings[0])), None);
}

#[test]
fn contradictory_fields_are_faults_with_their_locations() {
    let x = |mut fields: Value| {
        fields["route"] = json!("/x");
        json!({ "LIMIT_X": fields })
    };
    let cap = "expected a whole number from 1 to 1000000";
    let auto = "\"auto\", or \"auto MIN..MAX\" such as \"auto 10..1000\"";
    each_has_one_fault(&[
        (x(json!({ "in_flight": "0" })), &format!("LIMIT_X.in_flight: \"0\": {cap}, {auto}")),
        (x(json!({ "in_flight": "many" })), &format!("LIMIT_X.in_flight: \"many\": {cap}, {auto}")),
        (x(json!({ "sockets": "0" })), &format!("LIMIT_X.sockets: \"0\": {cap}")),
        (x(json!({ "sockets": "auto" })), &format!("LIMIT_X.sockets: \"auto\": {cap}")),
        (
            x(json!({ "in_flight": "auto 50..10" })),
            "LIMIT_X.in_flight: \"auto 50..10\": 50 is above 10, expected the smaller one first",
        ),
        (
            x(json!({ "in_flight": "auto 0..10" })),
            "LIMIT_X.in_flight: \"auto 0..10\": expected \"auto MIN..MAX\" with whole numbers from 1 to 1000000, such as \"auto 10..1000\"",
        ),
        (
            x(json!({ "in_flight": "automatic" })),
            "LIMIT_X.in_flight: \"automatic\": expected \"auto MIN..MAX\" with whole numbers from 1 to 1000000, such as \"auto 10..1000\"",
        ),
        (
            x(json!({ "per_ip": "5/s", "wait": "100ms" })),
            "LIMIT_X.wait: there is no in_flight here to wait for: add it, or remove wait",
        ),
        (x(json!({ "in_flight": 5, "wait": "6s" })), "LIMIT_X.wait: \"6s\": out of bounds, expected 1ms to 5s"),
        (x(json!({ "timeout": "99ms" })), "LIMIT_X.timeout: \"99ms\": out of bounds, expected 100ms to 600s"),
        (
            x(json!({ "sockets": 5, "socket_idle": "29s" })),
            "LIMIT_X.socket_idle: \"29s\": out of bounds, expected 30s to 3600s",
        ),
        (
            x(json!({ "sockets": 5, "socket_idle": "2h" })),
            "LIMIT_X.socket_idle: \"2h\": out of bounds, expected 30s to 3600s",
        ),
        (
            x(json!({ "in_flight": 5, "socket_idle": "5min" })),
            "LIMIT_X.socket_idle: there is no sockets here, so no WebSocket is watched: add it, or remove socket_idle",
        ),
        (x(json!({ "upload": "11min" })), "LIMIT_X.upload: \"11min\": out of bounds, expected 100ms to 600s"),
        (
            x(json!({ "global": "5/day", "warmup": "30s" })),
            "LIMIT_X.warmup: there is no global rate here to open slowly: add one, or remove warmup",
        ),
        (
            x(json!({ "in_flight": 5, "priority": "urgent" })),
            "LIMIT_X.priority: \"urgent\": expected \"high\", \"normal\" or \"low\"",
        ),
        (
            x(json!({ "per_ip": "5/s", "priority": "low" })),
            "LIMIT_X.priority: nothing is shared here that could be full: neither this binding nor LIMIT_BASE has in_flight, sockets or global",
        ),
        (
            json!({ "LIMIT_X": { "route": ["POST /x", "PUT /x"], "sockets": 5 } }),
            "LIMIT_X.sockets: a WebSocket begins with a GET, and none of the routes takes one: add GET, or remove sockets",
        ),
        (
            x(
                json!({ "exempt": true, "in_flight": 5, "wait": "1s", "sockets": 5, "priority": "high", "timeout": "1s" }),
            ),
            "LIMIT_X.exempt: an exempt route meets no limit, so in_flight, sockets, wait and priority would mean nothing: remove one or the other",
        ),
    ]);
}

#[test]
fn a_field_at_fault_causes_one_fault_alone() {
    assert_eq!(faults(json!({ "LIMIT_X": { "route": "/x", "global": "5/sec", "warmup": "30s" } })).len(), 1);
    assert_eq!(faults(json!({ "LIMIT_X": { "route": "/x", "in_flight": "x", "wait": "1s" } })).len(), 1);
}

#[test]
fn no_value_means_unlimited() {
    let values = |texts: &[&str]| {
        let others = [json!(null), json!(true), json!([]), json!({}), json!(-1), json!(0), json!(1.5), json!(1e300)];
        texts.iter().map(|text| json!(text)).chain(others).collect::<Vec<_>>()
    };
    let counts =
        ["", "0", "00", " 20", "20 ", "+20", "-20", "1e3", "0x10", "20.0", "1_000", "1000001", "\u{662}", "unlimited"];
    let autos = [
        "Auto",
        "auto ",
        "auto5..9",
        "auto 5",
        "auto 5..",
        "auto ..5",
        "auto 5..3",
        "auto 5...9",
        "auto  5..9",
        "auto 0..0",
        "auto 5..9 ",
        "auto +5..9",
        "auto 5..1e3",
        "auto 5..1000001",
        "auto 5..99999999999999999999",
    ];
    let spans = [
        "",
        "0",
        "0ms",
        "0s",
        "-1s",
        "1.5s",
        "1 s",
        " 1s",
        "1s ",
        "1S",
        "s",
        "1d",
        "18446744073709551615h",
        "\u{661}s",
    ];
    let fields = [
        ("in_flight", values(&[&counts[..], &autos[..]].concat())),
        ("sockets", values(&[&counts[..], &["auto"]].concat())),
        ("wait", values(&spans)),
        ("timeout", values(&spans)),
        ("upload", values(&spans)),
        ("socket_idle", values(&[&spans[..], &["29s"]].concat())),
        ("warmup", values(&spans)),
        ("priority", values(&["", "HIGH", "high ", "1"])),
    ];
    for (field, values) in fields {
        for value in values {
            for name in ["LIMIT_X", "LIMIT_BASE"] {
                let mut binding = json!({ "global": "5/s" });
                if name == "LIMIT_X" {
                    binding["route"] = json!("/x");
                }
                for cap in ["in_flight", "sockets"].into_iter().filter(|cap| *cap != field) {
                    binding[cap] = json!(5);
                }
                binding[field] = value.clone();
                let found = faults(json!({ name: binding }));
                assert_eq!(found.len(), 1, "{field}: {value}: {found:?}");
                assert!(found[0].starts_with(&format!("{name}.{field}: ")), "{found:?}");
            }
        }
    }
    for budget in ["", "0/day", "999", "90000/day UTC", "90000/d", "90000 /day", "/day", "1e6", "1000000001", "+90000"]
    {
        let found = faults(json!({ "BUDGET": budget, "LIMIT_BASE": { "per_ip": "5/s" } }));
        assert!(matches!(found.as_slice(), [only] if only.starts_with("BUDGET: ")), "{budget}: {found:?}");
    }
    let base = |fields: Value| faults(json!({ "LIMIT_BASE": fields }));
    assert_eq!(base(json!({ "priority": "low", "per_ip": "5/s" })).len(), 1, "it decides nothing");
    assert!(base(json!({ "priority": "low" })).len() <= 2, "and there is nothing else");
    assert_eq!(
        policy(json!({ "LIMIT_BASE": { "sockets": 5 } })).base.unwrap().capacity.sockets.unwrap().size,
        Size::Fixed(5)
    );
}

#[test]
fn soc_10_idle_bound_needs_a_cap_on_websockets_somewhere_that_its_requests_meet() {
    let idle = || json!("5min");
    for vars in [
        json!({ "LIMIT_BASE": { "sockets": 5 }, "LIMIT_X": { "route": "/x", "socket_idle": idle() } }),
        json!({ "LIMIT_BASE": { "socket_idle": idle() }, "LIMIT_X": { "route": "/x", "sockets": 5 } }),
        json!({ "LIMIT_BASE": { "sockets": 5, "mode": "off" }, "LIMIT_X": { "route": "/x", "socket_idle": idle() } }),
        json!({ "LIMIT_X": { "route": "/x", "socket_idle": idle(), "per_ip": "5/s", "mode": "off" } }),
    ] {
        policy(vars);
    }
    let useless = json!({ "LIMIT_BASE": { "socket_idle": idle(), "per_ip": "5/s" }, "LIMIT_X": { "route": "/x", "in_flight": 5 } });
    assert_eq!(faults(useless).len(), 1);
}

#[test]
fn soc_10_idle_bound_is_that_of_the_binding_or_else_of_base() {
    let policy = policy(json!({
        "LIMIT_BASE": { "sockets": 5, "socket_idle": "1min" },
        "LIMIT_X": { "route": "/x", "socket_idle": "2min" },
        "LIMIT_Y": { "route": "/y", "per_ip": "5/s" },
    }));
    let of = |path: &str| policy.socket_idle(policy.route("GET", "h", path)).map(|span| span.as_secs_up());
    assert_eq!([of("/x"), of("/y"), of("/z")], [Some(120), Some(60), Some(60)]);
}
