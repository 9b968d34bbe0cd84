//! The table of limits.

use super::{PLATFORM, check};

#[test]
fn a_valid_file_is_printed_as_a_table() {
    let toml = PLATFORM.to_owned()
        + r#"
[vars]
KEY = "header:x-api-key, bearer"
LIMIT_TEXT = '{"route": "/text", "global": "60/min burst 3", "mode": "shadow"}'
[vars.LIMIT_BASE]
per_ip = "1200/min"
[vars.LIMIT_API]
route = ["api.example.com/v1/*", "/v1/*"]
per_key = ["100/s burst 200", "100000/day Asia/Shanghai"]
cost = 2
on_error = "open"
[vars.LIMIT_HEALTH]
route = ["GET /healthz", "/ready"]
exempt = true
[vars.LIMIT_OLD]
route = "/old"
per_ip = "1/s"
mode = "off"
"#;
    let run = check("good", &toml);
    assert_eq!(run.stderr, "");
    assert_eq!(run.code, Some(0));
    assert_eq!(
        run.stdout,
        "\
top level:
  LIMIT        SCOPE   RATE                      BURST  INTERVAL  COST  MODE     ON_ERROR
every request
  base/ip      ip      1200/min                  1200   50ms      1     enforce  local
api.example.com/v1/*
/v1/*
  api/key      key     100/s                     200    10ms      2     enforce  open
  api/key-2    key     100000/day Asia/Shanghai  -      -         2     enforce  open
GET /healthz
/ready
  health       -       -                         -      -         -     exempt   -
/old
  old          -       -                         -      -         -     off      -
/text
  text/global  global  60/min                    3      1s        1     shadow   closed
"
    );
}
