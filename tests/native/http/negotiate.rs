//! Who reads an answer, by what the request asks for.

use penstock::http::negotiate::{AnswerFormat, Language};
use proptest::prelude::*;

use AnswerFormat::{Person, Program, Text};
use Language::{Chinese, English};

#[test]
fn a_request_gets_what_it_asks_for() {
    let table = [
        (None, Program),
        (Some(""), Program),
        (Some("*/*"), Program),
        (Some("application/json"), Program),
        (Some("application/problem+json"), Program),
        (Some("application/*"), Program),
        (Some("text/html"), Person),
        (Some("TEXT/HTML"), Person),
        (Some("text/plain"), Text),
        (Some("text/plain;charset=utf-8"), Text),
        // Browsers, a browser's fetch, a stylesheet, an image, axios, jQuery, Internet Explorer.
        (Some("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"), Person),
        (Some("text/css,*/*;q=0.1"), Program),
        (Some("image/avif,image/webp,image/*,*/*;q=0.8"), Program),
        (Some("application/json, text/plain, */*"), Program),
        (Some("text/html, */*; q=0.01"), Person),
        (Some("text/html, application/xhtml+xml, */*"), Person),
        // Weights.
        (Some("text/html;q=0.5, application/json"), Program),
        (Some("text/html;q=0.5, application/json;q=0.4"), Person),
        (Some("text/html;q=0.9, application/json;q=0.9"), Program),
        (Some("text/html;q=0.001, text/plain;q=0.002"), Text),
        (Some("text/html;q=0, */*"), Program),
        (Some("application/json;q=0, application/problem+json;q=0, */*"), Person),
        (Some("application/*;q=0, text/*"), Person),
        (Some("*/*, application/*;q=0, text/html;q=0"), Text),
        (Some("*/*;q=0"), Program),
        (Some("text/html ; q=1.000 , application/json ; Q=0.999"), Person),
        (Some("text/plain, */*"), Text),
        // RFC 9110's own example: `text/html` is 0.7, all else of text 0.3, and the rest 0.5.
        (Some("text/*;q=0.3, text/html;q=0.7, text/html;level=1, text/html;level=2;q=0.4, */*;q=0.5"), Person),
        (Some("application/json;odata=verbose, text/html;q=0.5"), Program),
        // What we do not have.
        (Some("image/png"), Program),
        (Some("application/xml, text/css"), Program),
        // What no parser should trip over.
        (Some("text/html;q=2"), Program),
        (Some("text/html;q=-1, text/plain;q=0.1"), Text),
        (Some("text/html;q=NaN, text/plain"), Text),
        (Some("text/html;q="), Program),
        (Some("text/html;q=.5, */*;q=.2"), Person),
        (Some("text/html;q=0.33333, */*;q=.2"), Person),
        (Some(",,;;,text/html,,"), Person),
        (Some("text/html/html"), Program),
        (Some("text"), Program),
        (Some("*"), Program),
        (Some("application/json;x=\"text/html, ;q=0\""), Program),
        (Some("text/html;x=\"a\\\", application/json;q=1\""), Person),
        (Some("text/html;x=\"never closed, application/json"), Person),
    ];
    for (accept, reader) in table {
        assert_eq!(AnswerFormat::of(None, accept), reader, "{accept:?}");
    }
}

#[test]
fn a_grpc_web_call_is_known_by_its_type() {
    for (content_type, answered) in [
        ("application/grpc-web", Some("application/grpc-web+proto")),
        ("application/grpc-web+proto", Some("application/grpc-web+proto")),
        ("Application/gRPC-Web+proto; charset=utf-8", Some("application/grpc-web+proto")),
        ("application/grpc-web-text", Some("application/grpc-web-text+proto")),
        ("application/grpc-web-text+proto", Some("application/grpc-web-text+proto")),
        ("application/grpc-website", None),
        ("application/grpc", None),
        ("application/json", None),
        ("", None),
    ] {
        let reader = answered.map_or(Text, AnswerFormat::GrpcWeb);
        assert_eq!(AnswerFormat::of(Some(content_type), Some("text/plain")), reader, "{content_type}");
    }
}

#[test]
fn people_are_spoken_to_in_the_language_they_like_better() {
    let table = [
        (None, English),
        (Some(""), English),
        (Some("*"), English),
        (Some("de-DE,de;q=0.9"), English),
        (Some("zh"), Chinese),
        (Some("zh-CN,zh;q=0.9,en;q=0.8"), Chinese),
        (Some("zh-TW"), Chinese),
        (Some("ZH_hans"), Chinese),
        (Some("en-US,en;q=0.9,zh-CN;q=0.8"), English),
        (Some("en;q=0.1, zh;q=0.2"), Chinese),
        (Some("en, zh"), English),
        (Some("zh, en"), Chinese),
        (Some("de, zh;q=0.5, *;q=0.1"), Chinese),
        (Some("de, en;q=0.5, zh;q=0.7"), Chinese),
        (Some("zh;q=0, *"), English),
        (Some("zh;q=0"), English),
        (Some("en;q=0, zh;q=0.001"), Chinese),
        (Some("en;q=0, *"), Chinese),
        (Some("zha, zhx-CN"), English),
        (Some("zh;q=banana, en"), English),
    ];
    for (accept, language) in table {
        assert_eq!(Language::of(accept), language, "{accept:?}");
    }
}

#[test]
fn a_flood_changes_nothing() {
    for item in ["text/html;q=0.1,", ",", ";", "\"", "\\", "*/*;q=0.1,", "q=", "=;=,\"\\"] {
        let flood = item.repeat(130_000 / item.len());
        assert_eq!(AnswerFormat::of(Some(&flood), Some(&format!("text/html,{flood}"))), Person, "{item}");
        assert_eq!(Language::of(Some(&flood)), English, "{item}");
    }
    let conflict = "text/html;q=0.1, text/html;q=0.9, text/html;q=0, application/json;q=0.5";
    assert_eq!(AnswerFormat::of(None, Some(conflict)), Person, "of two that say the same thing the better one counts");
}

proptest! {
    #[test]
    fn cf_04_no_header_makes_it_panic(left in any::<String>(), right in "[a-z*/;,=q0-9.\"\\\\ -]{0,80}") {
        AnswerFormat::of(Some(&left), Some(&right));
        AnswerFormat::of(Some(&right), Some(&left));
        Language::of(Some(&left));
        Language::of(Some(&right));
    }
}
