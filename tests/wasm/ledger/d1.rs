//! Counts as D1 returns them.

use penstock::ledger::d1::used;
use penstock::ledger::{Added, Entry, Source};
use penstock::limit::calendar::Day;
use penstock::limit::time::Time;
use wasm_bindgen_test::wasm_bindgen_test;
use worker::js_sys::eval;

#[wasm_bindgen_test]
fn count_that_the_statement_cannot_have_left_is_rejected() {
    let day = Day { date: "2026-11-29".into(), end: Time::MAX };
    let (name, source) = ("api key quota day UTC", Source::Counter);
    let entry = Entry { day: &day, name, source, subject: None, cost: 2, count: 100 };
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
