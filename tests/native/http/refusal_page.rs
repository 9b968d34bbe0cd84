//! The page for a person in a browser.

use super::{NOW, Refused, header, policy, recipient};
use penstock::gate::decision::Reason;
use penstock::http::answer::Answer;
use penstock::http::problem::{Failure, Problem};
use penstock::limit::time::{Span, Time};
use penstock::policy::Settings;

const VARS: &str = r#"{
    "LIMIT_BASE": {"global": "5000/s"},
    "LIMIT_LOGIN": {"route": "/login", "per_ip": "5/min", "per_key": "100/day Asia/Shanghai"}
}"#;

const LOGIN: Refused =
    Refused { limit: "login/ip", reason: Reason::RateLimited, wait: Span::from_secs(12), until: None };
const CROWD: Refused = Refused { limit: "base/global", reason: Reason::OverCapacity, ..LOGIN };

fn page(refused: &Refused, method: &str, language: &str) -> String {
    let answer = refused.answer(&policy(VARS), method, &[("accept", "text/html"), ("accept-language", language)]);
    assert_eq!(header(&answer, "Content-Type"), Some("text/html; charset=utf-8"));
    let page = answer.body.unwrap();
    assert!(!page.contains("{{") && !page.contains("}}"), "{page}");
    page
}

#[test]
fn page_says_what_happened_and_when_to_come_back() {
    let table = [
        (&LOGIN, "en", "<h1>Too many requests</h1>", "You can try again in 12 seconds."),
        (&LOGIN, "zh", "<h1>请求太频繁</h1>", "12 秒后可以重试。"),
        (&CROWD, "en", "<h1>It is crowded</h1>", "There may be room in 12 seconds."),
        (&CROWD, "zh-CN", "<h1>现在访问的人太多</h1>", "12 秒后可能会有空位，届时请重试。"),
    ];
    for (refused, language, heading, when) in table {
        let page = page(refused, "GET", language);
        assert!(page.contains(heading) && page.contains(when), "{page}");
        assert!(page.contains(&format!("<html lang=\"{}\">", if language == "en" { "en" } else { "zh-Hans" })));
        assert!(page.contains("href=\"\"") && page.contains("data-wait=\"12\""));
    }
}

#[test]
fn next_day_of_a_quota_is_shown_in_the_quotas_zone() {
    let midnight = Time::from_millis(1_796_054_400_000);
    let reason = Reason::QuotaExhausted;
    let refused = Refused { limit: "login/key", reason, wait: midnight.since(NOW), until: Some(midnight) };
    let time = "<time id=\"time\" datetime=\"2026-12-01T00:00:00+08:00\">2026-12-01 00:00 (Asia/Shanghai)</time>";
    assert!(page(&refused, "GET", "en").contains(&format!("The next day’s quota begins on {time}.")));
    assert!(page(&refused, "GET", "zh").contains(&format!("新的额度将于 {time} 开始。")));
}

#[test]
fn quota_refusal_beyond_its_midnight_shows_the_wait_instead() {
    let refused = Refused { limit: "login/key", reason: Reason::QuotaExhausted, ..LOGIN };
    let page = page(&refused, "GET", "en");
    assert!(page.contains("You can try again in 12 seconds.") && !page.contains("next day"), "{page}");
    let problem = refused.answer(&policy(VARS), "GET", &[]).body.unwrap();
    assert!(
        problem.contains("There is room again at 2026-11-30T02:00:12+08:00.") && !problem.contains("next day"),
        "{problem}"
    );
}

#[test]
fn only_a_get_is_repeated_by_the_page_itself() {
    let get = page(&LOGIN, "GET", "en");
    assert!(get.contains("data-self=") && get.contains("class=\"again\""));
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get", "X"] {
        let page = page(&LOGIN, method, "en");
        assert!(!page.contains("data-self=") && !page.contains("<a "), "{method}: {page}");
        assert!(page.contains("go back and send it again"), "{method}");
    }
}

#[test]
fn long_wait_is_rounded_up_to_minutes_hours_or_days() {
    let after = |secs| {
        let page = page(&Refused { wait: Span::from_secs(secs), ..LOGIN }, "GET", "en");
        let (_, rest) = page.split_once("You can try again in ").unwrap();
        rest.split_once(".</p>").unwrap().0.to_owned()
    };
    let table = [
        (0, "1 second"),
        (1, "1 second"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (121, "3 minutes"),
        (7_199, "120 minutes"),
        (7_200, "2 hours"),
        (172_799, "48 hours"),
        (172_801, "3 days"),
    ];
    for (secs, said) in table {
        assert_eq!(after(secs), said);
    }
}

#[test]
fn operators_message_is_escaped() {
    let hostile = r#"</p></main><script>alert(1)</script>&amp;'" onload=x {{script}} <!--"#;
    let vars = serde_json::json!({ "LIMIT_BASE": { "per_ip": "5/min", "message": hostile, "docs": "https://a.example/?'&b=c" } });
    let refused = Refused { limit: "base/ip", ..LOGIN };
    let answer = refused.answer(&policy(&vars.to_string()), "GET", &[("accept", "text/html")]);
    let page = answer.body.unwrap();
    let escaped =
        "&lt;/p&gt;&lt;/main&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&#39;&quot; onload=x {{script}} &lt;!--";
    assert!(page.contains(&format!("<p class=\"said\">{escaped}</p>")), "{page}");
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("<a rel=\"help\" href=\"https://a.example/?&#39;&amp;b=c\">"), "{page}");
}

#[test]
fn page_is_small_and_loads_nothing() {
    for refused in [&LOGIN, &CROWD] {
        for language in ["en", "zh"] {
            let page = page(refused, "GET", language);
            assert!(page.len() < 6_000, "{} bytes", page.len());
            for outside in ["http:", "https:", "//", "src=", "@import", "url("] {
                assert!(!page.contains(outside), "{outside} in {page}");
            }
        }
    }
}

#[test]
fn content_security_policy_admits_only_the_pages_own_parts() {
    let answer = LOGIN.answer(&policy(VARS), "GET", &[("accept", "text/html")]);
    let policy = header(&answer, "Content-Security-Policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(header(&answer, "X-Content-Type-Options"), Some("nosniff"));
    assert_eq!(header(&answer, "Content-Language"), Some("en"));
}

#[test]
fn page_without_a_wait_has_no_script() {
    for failure in [Failure::Misconfigured, Failure::OriginUnreachable, Failure::UploadTimeout] {
        let recipient = recipient("GET", &[("accept", "text/html"), ("accept-language", "zh")]);
        let page = Answer::new(&Problem::failure(failure), &recipient, &Settings::default()).body.unwrap();
        assert!(!page.contains("<script") && !page.contains("data-wait"), "{page}");
        assert!(page.contains("lang=\"zh-Hans\"") && page.contains("重试"));
    }
}
