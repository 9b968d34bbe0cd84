//! Answers as the platform hands them over.

use penstock::http::proxy::with_headers;
use penstock::ledger::d1::used;
use penstock::ledger::{Added, Entry};
use penstock::limit::calendar::Day;
use penstock::limit::time::Time;
use wasm_bindgen_test::wasm_bindgen_test;
use worker::js_sys::{Array, Reflect, eval};
use worker::wasm_bindgen::JsCast;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen_test]
fn only_a_count_that_the_statement_can_have_left_is_believed() {
    let day = Day { date: "2026-11-29".into(), end: Time::MAX };
    let entry = Entry { day: &day, limit: "api/key", subject: None, cost: 2, count: 100 };
    let read = |text: &str| used(&eval(text).unwrap(), entry);
    for good in [2, 50, 100] {
        assert_eq!(read(&format!("[{good}]")), Some(Added::Counted { used: good }));
    }
    for bad in [
        "[1]",
        "[101]",
        "[-1]",
        "[2.5]",
        "[NaN]",
        "[Infinity]",
        "['2']",
        "[2n]",
        "[]",
        "null",
        "undefined",
        "2",
        "({0: 2})",
    ] {
        assert_eq!(read(bad), None, "{bad}");
    }
}

#[wasm_bindgen_test]
async fn headers_are_added_to_a_copy_that_keeps_the_rest_apart() {
    let response: web_sys::Response = eval(
        "(() => { const h = new Headers({'content-type': 'text/x'}); h.append('set-cookie', 'a=1'); h.append('set-cookie', 'b=2, c'); \
         return new Response('body', {status: 203, statusText: 'Odd', headers: h}); })()",
    )
    .unwrap()
    .unchecked_into();
    let copy = with_headers(&response, &[("RateLimit", "\"a\";r=1;t=2".into())]).unwrap();
    assert_eq!((copy.status(), copy.status_text()), (203, "Odd".into()));
    assert_eq!(copy.headers().get("ratelimit").unwrap().unwrap(), "\"a\";r=1;t=2");
    let cookies = Reflect::get(&copy.headers(), &"getSetCookie".into()).unwrap();
    let cookies = cookies.unchecked_into::<js_sys::Function>().call0(&copy.headers()).unwrap();
    assert_eq!(Array::from(&cookies).join("|"), "a=1|b=2, c");
    let text = JsFuture::from(copy.text().unwrap()).await.unwrap();
    assert_eq!(text.as_string().unwrap(), "body");
}

#[wasm_bindgen_test]
fn an_answer_without_a_body_stays_without_one() {
    for status in [204, 304] {
        let response: web_sys::Response =
            eval(&format!("new Response(null, {{status: {status}}})")).unwrap().unchecked_into();
        let copy = with_headers(&response, &[("RateLimit", "x".into())]).unwrap();
        assert_eq!((copy.status(), copy.body().is_none()), (status, true));
    }
}
