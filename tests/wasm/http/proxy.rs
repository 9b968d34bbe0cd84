//! Responses of an origin that get more headers, and whose places are mapped back.

use penstock::http::fetch_api::{Outgoing, finish};
use penstock::http::rate_headers::Header;
use wasm_bindgen_test::wasm_bindgen_test;
use worker::js_sys::{Array, Reflect, eval};
use worker::wasm_bindgen::JsCast;
use worker::wasm_bindgen_futures::JsFuture;

fn js<T: JsCast>(code: &str) -> T {
    eval(code).unwrap().unchecked_into()
}

/// The response to a request for `https://shop.example/a`, finished on its way back from `origin`.
fn finished(response: &web_sys::Response, origin: Option<&str>, headers: &[Header]) -> web_sys::Response {
    let request = js("new Request('https://shop.example/a')");
    let outgoing = Outgoing::to(&[origin.unwrap_or("https://shop.example"), "/a"], origin);
    finish(&request, &outgoing, response, headers).unwrap()
}

#[wasm_bindgen_test]
async fn copy_with_more_headers_keeps_status_cookies_and_body() {
    let response = js(
        "(() => { const h = new Headers({'content-type': 'text/x'}); h.append('set-cookie', 'a=1'); h.append('set-cookie', 'b=2, c'); \
         return new Response('body', {status: 203, statusText: 'Odd', headers: h}); })()",
    );
    let copy = finished(&response, None, &[("RateLimit", "\"a\";r=1;t=2".into())]);
    assert_eq!((copy.status(), copy.status_text()), (203, "Odd".into()));
    assert_eq!(copy.headers().get("ratelimit").unwrap().unwrap(), "\"a\";r=1;t=2");
    let cookies = Reflect::get(&copy.headers(), &"getSetCookie".into()).unwrap();
    let cookies = cookies.unchecked_into::<js_sys::Function>().call0(&copy.headers()).unwrap();
    assert_eq!(Array::from(&cookies).join("|"), "a=1|b=2, c");
    let text = JsFuture::from(copy.text().unwrap()).await.unwrap();
    assert_eq!(text.as_string().unwrap(), "body");
}

#[wasm_bindgen_test]
fn copy_of_a_response_without_a_body_has_no_body() {
    for status in [204, 304] {
        let response = js(&format!("new Response(null, {{status: {status}}})"));
        let copy = finished(&response, None, &[("RateLimit", "x".into())]);
        assert_eq!((copy.status(), copy.body().is_none()), (status, true));
    }
}

#[wasm_bindgen_test]
fn prx_10_only_an_answer_of_an_origin_that_says_where_something_is_is_copied() {
    let origin = Some("http://h/secret-7f3");
    let plain: web_sys::Response = js("new Response('b', {headers: {'content-type': 'text/x', etag: 'a'}})");
    assert!(*finished(&plain, origin, &[]) == *plain, "it says of no place");
    let told: web_sys::Response = js("new Response('b', {headers: {location: 'http://h/secret-7f3/x'}})");
    assert!(*finished(&told, None, &[]) == *told, "without an ORIGIN nothing is mapped");
    let mapped = finished(&told, origin, &[]);
    assert!(*mapped != *told);
    assert_eq!(mapped.headers().get("location").unwrap().unwrap(), "https://shop.example/x");
    let more = finished(&told, origin, &[("RateLimit", "x".into())]);
    assert_eq!(more.headers().get("location").unwrap().unwrap(), "https://shop.example/x");
    assert_eq!(more.headers().get("ratelimit").unwrap().unwrap(), "x");
}
