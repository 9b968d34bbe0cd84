//! Responses that get more headers.

use penstock::http::origin_request::with_headers;
use wasm_bindgen_test::wasm_bindgen_test;
use worker::js_sys::{Array, Reflect, eval};
use worker::wasm_bindgen::JsCast;
use worker::wasm_bindgen_futures::JsFuture;

#[wasm_bindgen_test]
async fn copy_with_more_headers_keeps_status_cookies_and_body() {
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
fn copy_of_a_response_without_a_body_has_no_body() {
    for status in [204, 304] {
        let response: web_sys::Response =
            eval(&format!("new Response(null, {{status: {status}}})")).unwrap().unchecked_into();
        let copy = with_headers(&response, &[("RateLimit", "x".into())]).unwrap();
        assert_eq!((copy.status(), copy.body().is_none()), (status, true));
    }
}
