//! The statements, and the ledger in a D1 database.

use crate::ledger::{Added, Entry, Ledger, Source, UnusedQuota};
use crate::limit::calendar::{Day, Zone};
use crate::limit::time::{Span, Time};
use crate::runtime::promise::future_of;
use crate::runtime::timeout::with_timeout;
use worker::js_sys::{Array, Error, Function, Promise, Reflect};
use worker::wasm_bindgen::{JsCast, JsValue};
use worker::{D1Database, D1PreparedStatement};

/// Counts tokens if the day has room for them. The condition is in the statement itself, so that
/// two statements cannot both take the last token. Without room it writes no row and returns none.
///
/// `until` is the last date of the row's period; the count of a printed name is null, as it was in
/// an earlier version, unless a counter has taken it over.
const ADD: &str = "INSERT INTO quota (day, name, subject, used, until) VALUES (?1, ?2, ?3, ?4, ?6) \
     ON CONFLICT (day, name, subject) DO UPDATE SET used = used + excluded.used, \
     until = coalesce(excluded.until, until) \
     WHERE used + excluded.used <= ?5 RETURNING used";

/// Adds the count of a printed name to the counter's own.
const TAKE_OVER: &str = "INSERT INTO quota (day, name, subject, used, until) \
     SELECT day, ?2, subject, used, ?5 FROM quota \
     WHERE day = ?1 AND name = ?4 AND subject = ?3 AND until IS NULL \
     ON CONFLICT (day, name, subject) DO UPDATE SET used = used + excluded.used";

/// Marks the count of a printed name as taken over. The count stays, for a return to the earlier
/// version.
const MARK: &str = "UPDATE quota SET until = ?4 \
     WHERE day = ?1 AND name = ?2 AND subject = ?3 AND until IS NULL";

/// Frees tokens. The condition keeps `used` from falling below zero if an operator has changed the
/// row meanwhile.
const GIVE_BACK: &str = "UPDATE quota SET used = used - ?4 \
     WHERE day = ?1 AND name = ?2 AND subject = ?3 AND used >= ?4";

/// The time that D1 may take to free tokens. No request waits for it.
const GIVE_BACK_PATIENCE: Span = Span::from_secs(10);

/// An earlier version's rows have no `until`; their period is the day.
const DELETE_BEFORE: &str = "DELETE FROM quota WHERE coalesce(until, day) < ?1";

/// The ledger in the D1 database that is bound as `DB`; `None` if no database is bound, and every
/// call fails.
#[derive(Debug)]
pub struct D1Ledger(pub Option<D1Database>);

impl Ledger for D1Ledger {
    async fn add(&self, entry: Entry<'_>, patience: Span) -> Result<Added, String> {
        let database = self.0.as_ref().ok_or("there is no D1 database bound as DB")?;
        let subject = entry.subject.map(|subject| subject.to_string()).unwrap_or_default();
        let [day, name, subject] = [&entry.day.date, entry.name, &subject].map(JsValue::from_str);
        // The period of a day ends on its own date.
        let until = if entry.source == Source::PrintedName { JsValue::NULL } else { day.clone() };
        let row = [day, name, subject, number(entry.cost), number(entry.count), until];
        let add = statement(database, ADD, &row)?;
        let Source::Takeover(printed) = entry.source else {
            let answer = with_timeout(patience, add.raw_js_value()).await.ok_or("D1 did not answer in time")?;
            let rows = answer.map_err(|error| error.to_string())?;
            let Some(row) = rows.first() else { return Ok(Added::Exhausted) };
            return used(row, entry).ok_or_else(|| "D1 answered what no count can be".to_string());
        };
        let [day, name, subject, _, _, until] = row;
        let printed = JsValue::from_str(printed);
        let take_over = [day.clone(), name, subject.clone(), printed.clone(), until.clone()];
        let take_over = statement(database, TAKE_OVER, &take_over)?;
        let mark = statement(database, MARK, &[day, printed, subject, until])?;
        let answer = with_timeout(patience, batch(database, &[take_over, mark, add])).await;
        let results = answer.ok_or("D1 did not answer in time")?.map_err(|thrown| message_of(&thrown))?;
        let rows = results.last().and_then(|result| Reflect::get(result, &"results".into()).ok());
        let rows = rows.and_then(|rows| rows.dyn_into::<Array>().ok()).ok_or("D1 answered no rows")?;
        if rows.length() == 0 {
            return Ok(Added::Exhausted);
        }
        let row = Reflect::get(&rows.get(0), &"used".into()).map(|used| Array::of1(&used));
        row.ok().and_then(|row| used(&row, entry)).ok_or_else(|| "D1 answered what no count can be".to_string())
    }

    async fn give_back(&self, unused: &UnusedQuota) -> Result<(), String> {
        let database = self.0.as_ref().ok_or("there is no D1 database bound as DB")?;
        let subject = unused.subject.map(|subject| subject.to_string()).unwrap_or_default();
        let row = [
            JsValue::from_str(&unused.date),
            JsValue::from_str(&unused.name),
            JsValue::from_str(&subject),
            number(unused.tokens),
        ];
        let statement = database.prepare(GIVE_BACK).bind(&row).map_err(|error| error.to_string())?;
        let answer = with_timeout(GIVE_BACK_PATIENCE, statement.run()).await.ok_or("D1 did not answer in time")?;
        answer.map(|_| ()).map_err(|error| error.to_string())
    }
}

fn statement(database: &D1Database, text: &str, values: &[JsValue]) -> Result<D1PreparedStatement, String> {
    database.prepare(text).bind(values).map_err(|error| error.to_string())
}

/// Runs the statements as one transaction; returns D1's result for each.
///
/// # Errors
/// The exception of D1, or the answer if it is no list of results.
async fn batch(database: &D1Database, statements: &[D1PreparedStatement]) -> Result<Vec<JsValue>, JsValue> {
    let list: Array = statements.iter().map(D1PreparedStatement::inner).collect();
    let run: Function = Reflect::get(database.as_ref(), &"batch".into())?.dyn_into()?;
    let promise: Promise = run.call1(database.as_ref(), &list)?.dyn_into()?;
    Ok(future_of(promise).await?.dyn_into::<Array>()?.to_vec())
}

fn message_of(thrown: &JsValue) -> String {
    let message = thrown.dyn_ref::<Error>().map(|error| String::from(error.message()));
    message.unwrap_or_else(|| "D1 answered no results".to_owned())
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

/// Deletes the rows of periods that ended more than `retention_days` before `now`, in any time
/// zone. Returns the first day that is kept, such as `2026-11-29`.
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
