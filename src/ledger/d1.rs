//! The statements, and the ledger on D1.

use crate::ledger::{Added, Entry, Ledger, UnusedQuota};
use crate::limit::calendar::{Day, Zone};
use crate::limit::time::{Span, Time};
use crate::runtime::timeout::with_timeout;
use worker::D1Database;
use worker::wasm_bindgen::JsValue;

/// Conditional in one statement, so that no two of them can both take the last token. It returns no row, and writes
/// none, where the day has no room.
const ADD: &str = "INSERT INTO quota (day, name, subject, used) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (day, name, subject) DO UPDATE SET used = used + excluded.used \
     WHERE used + excluded.used <= ?5 RETURNING used";

/// Never below zero, should an operator have deleted the row meanwhile.
const GIVE_BACK: &str = "UPDATE quota SET used = used - ?4 \
     WHERE day = ?1 AND name = ?2 AND subject = ?3 AND used >= ?4";

/// How long D1 may take for what nobody waits for.
const GIVING_BACK: Span = Span::from_secs(10);

const DELETE_BEFORE: &str = "DELETE FROM quota WHERE day < ?1";

/// The ledger in the D1 database bound as `DB`, or its absence.
#[derive(Debug)]
pub struct D1Ledger(pub Option<D1Database>);

impl Ledger for D1Ledger {
    async fn add(&self, entry: Entry<'_>, patience: Span) -> Result<Added, String> {
        let database = self.0.as_ref().ok_or("there is no D1 database bound as DB")?;
        let subject = entry.subject.map(|subject| subject.to_string()).unwrap_or_default();
        let row = [
            JsValue::from_str(&entry.day.date),
            JsValue::from_str(entry.limit),
            JsValue::from_str(&subject),
            number(entry.cost),
            number(entry.count),
        ];
        let statement = database.prepare(ADD).bind(&row).map_err(|error| error.to_string())?;
        let answer = with_timeout(patience, statement.raw_js_value()).await.ok_or("D1 did not answer in time")?;
        let rows = answer.map_err(|error| error.to_string())?;
        let Some(row) = rows.first() else { return Ok(Added::Exhausted) };
        used(row, entry).ok_or_else(|| "D1 answered what no count can be".to_string())
    }

    async fn give_back(&self, rest: &UnusedQuota) -> Result<(), String> {
        let database = self.0.as_ref().ok_or("there is no D1 database bound as DB")?;
        let subject = rest.subject.map(|subject| subject.to_string()).unwrap_or_default();
        let row = [
            JsValue::from_str(&rest.date),
            JsValue::from_str(&rest.limit),
            JsValue::from_str(&subject),
            number(rest.tokens),
        ];
        let statement = database.prepare(GIVE_BACK).bind(&row).map_err(|error| error.to_string())?;
        let answer = with_timeout(GIVING_BACK, statement.run()).await.ok_or("D1 did not answer in time")?;
        answer.map(|_| ()).map_err(|error| error.to_string())
    }
}

/// Reads the one row `[used]`; believes only what the statement can have left behind.
pub fn used(row: &JsValue, entry: Entry<'_>) -> Option<Added> {
    let used = js_sys::Array::is_array(row).then(|| js_sys::Array::from(row).get(0).as_f64())??;
    let used = (used.fract() == 0.0 && used >= 0.0).then_some(used as u64)?;
    (entry.cost..=entry.count).contains(&used).then_some(Added::Counted { used })
}

/// D1 binds numbers as doubles, which are exact up to 2^53; counts are at most 10^9.
fn number(value: u64) -> JsValue {
    JsValue::from_f64(value as f64)
}

/// Deletes the days that ended more than `retention_days` before `now`, whatever their zone; returns the first day kept.
///
/// # Errors
/// D1's own.
pub async fn forget(database: &D1Database, now: Time, retention_days: u16) -> worker::Result<String> {
    let oldest = oldest_kept(now, retention_days).date;
    database.prepare(DELETE_BEFORE).bind(&[JsValue::from_str(&oldest)])?.run().await?;
    Ok(oldest)
}

fn oldest_kept(now: Time, retention_days: u16) -> Day {
    const DAY: Span = Span::from_secs(24 * 60 * 60);
    Zone::utc().day(now.minus(DAY.times(u64::from(retention_days))))
}
