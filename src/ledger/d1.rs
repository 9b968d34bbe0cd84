//! The statements, and the ledger in a D1 database.

use crate::ledger::{Added, Entry, Ledger, UnusedQuota};
use crate::limit::calendar::{Day, Zone};
use crate::limit::time::{Span, Time};
use crate::runtime::timeout::with_timeout;
use worker::D1Database;
use worker::wasm_bindgen::JsValue;

/// Counts tokens if the day has room for them. The condition is in the statement itself, so that
/// two statements cannot both take the last token. Without room it writes no row and returns none.
const ADD: &str = "INSERT INTO quota (day, name, subject, used) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (day, name, subject) DO UPDATE SET used = used + excluded.used \
     WHERE used + excluded.used <= ?5 RETURNING used";

/// Frees tokens. The condition keeps `used` from falling below zero if an operator has changed the
/// row meanwhile.
const GIVE_BACK: &str = "UPDATE quota SET used = used - ?4 \
     WHERE day = ?1 AND name = ?2 AND subject = ?3 AND used >= ?4";

/// The time that D1 may take to free tokens. No request waits for it.
const GIVE_BACK_PATIENCE: Span = Span::from_secs(10);

const DELETE_BEFORE: &str = "DELETE FROM quota WHERE day < ?1";

/// The ledger in the D1 database that is bound as `DB`; `None` if no database is bound, and every
/// call fails.
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

    async fn give_back(&self, unused: &UnusedQuota) -> Result<(), String> {
        let database = self.0.as_ref().ok_or("there is no D1 database bound as DB")?;
        let subject = unused.subject.map(|subject| subject.to_string()).unwrap_or_default();
        let row = [
            JsValue::from_str(&unused.date),
            JsValue::from_str(&unused.limit),
            JsValue::from_str(&subject),
            number(unused.tokens),
        ];
        let statement = database.prepare(GIVE_BACK).bind(&row).map_err(|error| error.to_string())?;
        let answer = with_timeout(GIVE_BACK_PATIENCE, statement.run()).await.ok_or("D1 did not answer in time")?;
        answer.map(|_| ()).map_err(|error| error.to_string())
    }
}

/// Reads the row `[used]` that [`ADD`] returns. `None` for a row that the statement cannot have
/// returned: `used` is a whole number, and `entry.cost ≤ used ≤ entry.count`.
pub fn used(row: &JsValue, entry: Entry<'_>) -> Option<Added> {
    let used = js_sys::Array::is_array(row).then(|| js_sys::Array::from(row).get(0).as_f64())??;
    let used = (used.fract() == 0.0 && used >= 0.0).then_some(used as u64)?;
    (entry.cost..=entry.count).contains(&used).then_some(Added::Counted { used })
}

/// D1 binds numbers as doubles, which are exact up to 2^53; counts are at most 10^9.
fn number(value: u64) -> JsValue {
    JsValue::from_f64(value as f64)
}

/// Deletes the rows of days that ended more than `retention_days` before `now`, in any time zone.
/// Returns the first day that is kept, such as `2026-11-29`.
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
