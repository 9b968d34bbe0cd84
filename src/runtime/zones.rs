//! The runtime's time zones, which `Intl.DateTimeFormat` knows, as the source of the quotas' days.

use crate::limit::calendar::ZoneSource;
use crate::runtime::zone_names::iana_name;
use std::cell::RefCell;
use std::collections::BTreeMap;
use worker::js_sys::{Function, Object, Reflect};
use worker::wasm_bindgen::JsValue;
use worker::wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = Intl)]
    type DateTimeFormat;
    /// Throws when the runtime has no zone of the option `timeZone`.
    #[wasm_bindgen(js_namespace = Intl, constructor, catch)]
    fn new(locale: &str, options: &Object) -> Result<DateTimeFormat, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn format(this: &DateTimeFormat) -> Function;
    #[wasm_bindgen(method, js_name = resolvedOptions)]
    fn resolved_options(this: &DateTimeFormat) -> Object;
}

thread_local! {
    /// The function `format` of each zone that was read, by name. To make one takes the runtime a
    /// hundred times as long as to call it.
    static FORMATS: RefCell<BTreeMap<String, Function>> = const { RefCell::new(BTreeMap::new()) };
}

/// The runtime's zones.
pub const SOURCE: ZoneSource = ZoneSource { name_of, offset_at };

/// The name of a zone of the runtime as IANA spells it. `None` when the runtime or IANA has no
/// zone of the name `text`.
fn name_of(text: &str) -> Option<String> {
    let formatter = formatter(text)?;
    let own = Reflect::get(&formatter.resolved_options(), &"timeZone".into()).ok()?.as_string()?;
    let name = iana_name(text, &own)?;
    FORMATS.with_borrow_mut(|formats| formats.insert(name.clone(), formatter.format()));
    Some(name)
}

/// The offset of a zone in seconds east of UTC, `at` seconds after the Unix epoch. `None` when
/// [`name_of`] has not returned this name.
fn offset_at(name: &str, at: i64) -> Option<i32> {
    let format = FORMATS.with_borrow(|formats| formats.get(name).cloned())?;
    let ms = JsValue::from_f64(at as f64 * 1_000.0);
    read_offset(&format.call1(&JsValue::UNDEFINED, &ms).ok()?.as_string()?)
}

/// A formatter of offsets. English has them in ASCII digits.
fn formatter(zone: &str) -> Option<DateTimeFormat> {
    let options = Object::new();
    Reflect::set(&options, &"timeZone".into(), &zone.into()).ok()?;
    Reflect::set(&options, &"timeZoneName".into(), &"longOffset".into()).ok()?;
    DateTimeFormat::new("en-US", &options).ok()
}

/// Reads the offset at the end of `11/30/2026, GMT+08:00`, in seconds. An offset may have seconds
/// (`GMT-00:44:30`), and zero may be `GMT`.
fn read_offset(text: &str) -> Option<i32> {
    let (_, offset) = text.rsplit_once("GMT")?;
    let (sign, size) = match (offset.strip_prefix('+'), offset.strip_prefix('-')) {
        (Some(size), _) => (1, size),
        (_, Some(size)) => (-1, size),
        _ if offset.is_empty() => return Some(0),
        _ => return None,
    };
    let units = [3_600, 60, 1];
    let mut seconds = 0_i32;
    let mut parts = size.split(':');
    for (part, unit) in parts.by_ref().zip(units) {
        seconds = seconds.checked_add(part.parse::<i32>().ok()?.checked_mul(unit)?)?;
    }
    parts.next().is_none().then_some(seconds.checked_mul(sign)?)
}
