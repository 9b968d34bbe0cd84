//! Telling apart the errors that the platform throws.

use penstock::actor::call::call_error;
use penstock::protocol::rates::CallError;
use wasm_bindgen_test::wasm_bindgen_test;
use worker::js_sys::eval;

fn read(text: &str) -> CallError {
    call_error(&eval(text).unwrap())
}

#[wasm_bindgen_test]
fn sto_01_overloaded_error_is_overloaded_even_when_retryable() {
    assert_eq!(
        read("Object.assign(new Error('x'), {overloaded: true, retryable: true, remote: true})"),
        CallError::Overloaded
    );
    assert_eq!(read("Object.assign(new TypeError('x'), {overloaded: true})"), CallError::Overloaded);
}

#[wasm_bindgen_test]
fn retryable_error_is_a_lost_connection() {
    assert_eq!(
        read("Object.assign(new Error('Network connection lost.'), {retryable: true})"),
        CallError::Disconnected
    );
    assert_eq!(read("({retryable: true})"), CallError::Disconnected);
}

#[wasm_bindgen_test]
fn any_other_thrown_value_is_a_failure() {
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
