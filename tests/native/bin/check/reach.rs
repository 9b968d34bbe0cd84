//! Limits for hosts that no request has.

use super::{PLATFORM, check};

#[test]
fn cfg_04_a_host_that_no_route_of_the_worker_brings_is_warned_of() {
    let warned = |worker: &str, limit: &str| {
        let routes = PLATFORM.lines().nth(3).unwrap();
        let text =
            PLATFORM.replace(routes, worker) + &format!("[vars.LIMIT_A]\nroute = \"{limit}\"\nper_ip = \"5/min\"\n");
        let run = check("reach", &text);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        run.stdout.lines().any(|line| line.contains("matches nothing"))
    };
    let one = r#"route = "https://API.example.com/v1/*""#;
    let two = r#"routes = [{ pattern = "a.example.com", zone_name = "x" }, "*.example.org/*"]"#;
    for (worker, limit) in
        [(one, "b.example.com/x"), (one, "*.example.org/x"), (two, "example.org/x"), (two, "b.example.com/x")]
    {
        assert!(warned(worker, limit), "{worker}: {limit}");
    }
    for (worker, limit) in [
        (one, "/x"),
        (one, "POST api.example.com/x"),
        (one, "*.example.com/x"),
        (two, "v1.api.example.org/x"),
        (two, "*.api.example.org/x"),
        (two, "a.example.com:8443/x"),
        ("", "b.example.com/x"),
    ] {
        assert!(!warned(worker, limit), "{worker}: {limit}");
    }
}
