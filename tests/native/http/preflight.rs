//! Telling preflights from other `OPTIONS` requests.

use super::recipient;
use penstock::http::preflight::is_preflight;

#[test]
fn cor_03_options_request_that_asks_for_a_method_is_a_preflight() {
    let preflight = |method, headers: &[(&str, &str)]| {
        is_preflight(method, |name| {
            headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
        })
    };
    let origin = ("origin", "https://app.example");
    assert!(preflight("OPTIONS", &[origin, ("access-control-request-method", "PUT")]));
    assert!(!preflight("OPTIONS", &[origin]));
    assert!(!preflight("OPTIONS", &[("access-control-request-method", "PUT")]));
    assert!(!preflight("OPTIONS", &[origin, ("access-control-request-method", " ")]));
    assert!(!preflight("GET", &[origin, ("access-control-request-method", "PUT")]));
    assert!(!preflight("options", &[origin, ("access-control-request-method", "PUT")]));
    let put = ("access-control-request-method", "PUT");
    for method in ["", " ", "PUT, POST", "P T", "\u{e9}", "/", "PUT:"] {
        assert!(!preflight("OPTIONS", &[origin, ("access-control-request-method", method)]), "{method:?}");
    }
    // Headers that no browser puts into a preflight.
    for more in [
        ("content-length", "4"),
        ("transfer-encoding", "chunked"),
        ("authorization", "Bearer k"),
        ("cookie", "session=k"),
        ("upgrade", "websocket"),
        ("x-http-method-override", "POST"),
        ("x-method-override", "POST"),
        ("x-http-method", "POST"),
    ] {
        assert!(!preflight("OPTIONS", &[origin, put, more]), "{more:?}");
    }
    assert!(preflight(
        "OPTIONS",
        &[origin, put, ("content-length", "0"), ("access-control-request-headers", "cookie")]
    ));
    assert_eq!(recipient("OPTIONS", &[origin]).origin.as_deref(), Some("https://app.example"));
}
