//! The format and the language of an answer, by the headers of the request.

use penstock::http::language::Language;
use penstock::http::negotiate::AnswerFormat;
use proptest::prelude::*;

use AnswerFormat::{Html, Json, Text};
use Language::{Chinese, English, TraditionalChinese};

#[test]
fn accept_header_decides_the_format() {
    let table = [
        (None, Json),
        (Some(""), Json),
        (Some("*/*"), Json),
        (Some("application/json"), Json),
        (Some("application/problem+json"), Json),
        (Some("application/*"), Json),
        (Some("text/html"), Html),
        (Some("TEXT/HTML"), Html),
        (Some("text/plain"), Text),
        (Some("text/plain;charset=utf-8"), Text),
        // Browsers, a browser's fetch, a stylesheet, an image, axios, jQuery, Internet Explorer.
        (Some("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"), Html),
        (Some("text/css,*/*;q=0.1"), Json),
        (Some("image/avif,image/webp,image/*,*/*;q=0.8"), Json),
        (Some("application/json, text/plain, */*"), Json),
        (Some("text/html, */*; q=0.01"), Html),
        (Some("text/html, application/xhtml+xml, */*"), Html),
        // Weights.
        (Some("text/html;q=0.5, application/json"), Json),
        (Some("text/html;q=0.5, application/json;q=0.4"), Html),
        (Some("text/html;q=0.9, application/json;q=0.9"), Json),
        (Some("text/html;q=0.001, text/plain;q=0.002"), Text),
        (Some("text/html;q=0, */*"), Json),
        (Some("application/json;q=0, application/problem+json;q=0, */*"), Html),
        (Some("application/*;q=0, text/*"), Html),
        (Some("*/*, application/*;q=0, text/html;q=0"), Text),
        (Some("*/*;q=0"), Json),
        (Some("text/html ; q=1.000 , application/json ; Q=0.999"), Html),
        (Some("text/plain, */*"), Text),
        // RFC 9110's own example: `text/html` is 0.7, all else of text 0.3, and the rest 0.5.
        (Some("text/*;q=0.3, text/html;q=0.7, text/html;level=1, text/html;level=2;q=0.4, */*;q=0.5"), Html),
        (Some("application/json;odata=verbose, text/html;q=0.5"), Json),
        // Formats that Penstock does not have.
        (Some("image/png"), Json),
        (Some("application/xml, text/css"), Json),
        // Text that a careless parser would trip over.
        (Some("text/html;q=2"), Json),
        (Some("text/html;q=-1, text/plain;q=0.1"), Text),
        (Some("text/html;q=NaN, text/plain"), Text),
        (Some("text/html;q="), Json),
        (Some("text/html;q=.5, */*;q=.2"), Html),
        (Some("text/html;q=0.33333, */*;q=.2"), Html),
        (Some(",,;;,text/html,,"), Html),
        (Some("text/html/html"), Json),
        (Some("text"), Json),
        (Some("*"), Json),
        (Some("application/json;x=\"text/html, ;q=0\""), Json),
        (Some("text/html;x=\"a\\\", application/json;q=1\""), Html),
        (Some("text/html;x=\"never closed, application/json"), Html),
    ];
    for (accept, format) in table {
        assert_eq!(AnswerFormat::choose(None, accept), format, "{accept:?}");
    }
}

#[test]
fn grpc_web_call_is_recognised_by_its_content_type() {
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
        let format = answered.map_or(Text, AnswerFormat::GrpcWeb);
        assert_eq!(AnswerFormat::choose(Some(content_type), Some("text/plain")), format, "{content_type}");
    }
}

#[test]
fn accept_language_header_decides_the_language() {
    let table = [
        (None, English),
        (Some(""), English),
        (Some("*"), English),
        (Some("de-DE,de;q=0.9"), English),
        (Some("zh"), Chinese),
        (Some("zh-CN,zh;q=0.9,en;q=0.8"), Chinese),
        (Some("zh-TW"), TraditionalChinese),
        (Some("zh-hant-SG"), TraditionalChinese),
        (Some("zh-HK, zh;q=0.9"), TraditionalChinese),
        (Some("zh-Hans-TW"), Chinese),
        (Some("zh, zh-TW;q=0.9"), Chinese),
        (Some("zh-MO;q=0.3, en;q=0.2"), TraditionalChinese),
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
        assert_eq!(Language::choose(accept), language, "{accept:?}");
    }
}

#[test]
fn long_header_of_worthless_items_changes_nothing() {
    for item in ["text/html;q=0.1,", ",", ";", "\"", "\\", "*/*;q=0.1,", "q=", "=;=,\"\\"] {
        let flood = item.repeat(130_000 / item.len());
        assert_eq!(AnswerFormat::choose(Some(&flood), Some(&format!("text/html,{flood}"))), Html, "{item}");
        assert_eq!(Language::choose(Some(&flood)), English, "{item}");
    }
    let conflict = "text/html;q=0.1, text/html;q=0.9, text/html;q=0, application/json;q=0.5";
    assert_eq!(AnswerFormat::choose(None, Some(conflict)), Html, "of two equal ranges the greater weight counts");
}

proptest! {
    #[test]
    fn cf_04_any_header_is_parsed_without_a_panic(left in any::<String>(), right in "[a-z*/;,=q0-9.\"\\\\ -]{0,80}") {
        AnswerFormat::choose(Some(&left), Some(&right));
        AnswerFormat::choose(Some(&right), Some(&left));
        Language::choose(Some(&left));
        Language::choose(Some(&right));
    }
}
