//! What the platform throws, told apart.

use penstock::actor::call::call_error;
use penstock::protocol::rates::CallError;
use wasm_bindgen_test::wasm_bindgen_test;
use worker::js_sys::eval;

fn read(text: &str) -> CallError {
    call_error(&eval(text).unwrap())
}

#[wasm_bindgen_test]
fn sto_01_overloaded_counts_before_retryable() {
    assert_eq!(
        read("Object.assign(new Error('x'), {overloaded: true, retryable: true, remote: true})"),
        CallError::Overloaded
    );
    assert_eq!(read("Object.assign(new TypeError('x'), {overloaded: true})"), CallError::Overloaded);
}

#[wasm_bindgen_test]
fn a_broken_way_is_retryable() {
    assert_eq!(
        read("Object.assign(new Error('Network connection lost.'), {retryable: true})"),
        CallError::Disconnected
    );
    assert_eq!(read("({retryable: true})"), CallError::Disconnected);
}

#[wasm_bindgen_test]
fn anything_else_is_a_failure_whatever_was_thrown() {
    for thrown in [
        "new Error('x')",
        "'text'",
        "null",
        "undefined",
        "42",
        "Object.create(null)",
        "Object.assign(new Error('x'), {retryable: false})",
    ] {
        assert!(matches!(read(thrown), CallError::Failed(_)), "{thrown}");
    }
}
