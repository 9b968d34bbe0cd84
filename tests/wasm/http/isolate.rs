//! Reading the vars in `env`, where they lie among bindings.

use penstock::http::isolate::vars;
use wasm_bindgen_test::wasm_bindgen_test;
use worker::js_sys::{Object, eval};
use worker::wasm_bindgen::JsCast;

fn read(text: &str) -> String {
    let env: Object = eval(&format!("({text})")).unwrap().unchecked_into();
    serde_json::to_string(&vars(&env)).unwrap()
}

#[wasm_bindgen_test]
fn plain_objects_strings_numbers_booleans_and_arrays_are_vars() {
    assert_eq!(
        read(
            "{LIMIT_A: {route: ['/a', '/b'], cost: 2, exempt: false}, KEY: 'bearer', IPV6_PREFIX: 56, T: true, N: null}"
        ),
        r#"{"IPV6_PREFIX":56,"KEY":"bearer","LIMIT_A":{"cost":2,"exempt":false,"route":["/a","/b"]},"N":null,"T":true}"#
    );
}

#[wasm_bindgen_test]
fn object_without_a_prototype_is_a_var() {
    assert_eq!(
        read("{LIMIT_A: Object.assign(Object.create(null), {per_ip: '5/min'})}"),
        r#"{"LIMIT_A":{"per_ip":"5/min"}}"#
    );
}

#[wasm_bindgen_test]
fn objects_of_classes_are_not_vars() {
    assert_eq!(
        read(
            "{DB: new (class D1Database {})(), BUCKETS: new Proxy(new Map(), {}), F: () => 1, U: undefined, S: Symbol()}"
        ),
        "{}"
    );
}

#[wasm_bindgen_test]
fn value_without_a_json_form_is_left_out() {
    assert_eq!(
        read("(() => { const loop = {}; loop.self = loop; return {LIMIT_A: loop, B: 1n, get C() { throw 1 }}; })()"),
        "{}"
    );
}
