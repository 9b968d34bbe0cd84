//! The lines below the table.

use super::{PLATFORM, check};

#[test]
fn address_lists_are_printed_below_the_table() {
    let toml = PLATFORM.to_owned()
        + r#"
[vars]
ALLOW = "203.0.113.7, ::ffff:10.0.0.0/104"
BLOCK = ["2001:DB8::/32"]
[vars.LIMIT_BACK_OFFICE]
route = "/back-office/*"
block = "198.51.100.0/24"
"#;
    let run = check("lists", &toml);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = run.stdout.lines().skip(4).collect();
    let expected =
        ["ALLOW: 203.0.113.7, 10.0.0.0/8", "BLOCK: 2001:db8::/32", "LIMIT_BACK_OFFICE.block: 198.51.100.0/24"];
    assert_eq!(lines, expected, "{}", run.stdout);
}

#[test]
fn caps_are_rows_of_the_table_and_their_other_fields_stand_below() {
    let toml = PLATFORM.to_owned()
        + r#"
[vars.LIMIT_BASE]
in_flight = "auto"
timeout = "10s"
upload = "20s"
[vars.LIMIT_PAY]
route = "/pay"
in_flight = "200"
sockets = "50"
socket_idle = "5min"
wait = "100ms"
priority = "high"
"#;
    let run = check("capacity", &toml);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = run.stdout.lines().skip(2).collect();
    let expected = [
        "every request",
        "  base/in-flight  global  auto 10..1000 at once  -      -         1     enforce  closed",
        "/pay",
        "  pay/in-flight   global  200 at once            -      -         1     enforce  closed",
        "  pay/sockets     global  50 at once             -      -         1     enforce  closed",
        "LIMIT_BASE.timeout: 10s",
        "LIMIT_BASE.upload: 20s",
        "LIMIT_PAY.wait: 100ms",
        "LIMIT_PAY.socket_idle: 300s",
        "LIMIT_PAY.priority: high",
    ];
    assert_eq!(lines, expected, "{}", run.stdout);
}
