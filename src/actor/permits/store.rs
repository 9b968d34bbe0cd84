//! A cap's rows in the actor's SQLite: one per holder.

use crate::actor::permits::lender::{PermitLender, PermitRow, PermitStore};
use crate::limit::adaptive::SavedCap;
use crate::limit::time::Time;
use std::cell::Cell;
use worker::{SqlStorage, SqlStorageValue};

/// As in [`disk`](crate::actor::rates::store): one key column, times in microseconds. Question numbers and slots stay far below 2^53.
const CREATE: &str = "CREATE TABLE IF NOT EXISTS holder \
    (id TEXT PRIMARY KEY, slots INTEGER NOT NULL, until INTEGER NOT NULL, number INTEGER NOT NULL) WITHOUT ROWID";
const EXISTS: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'holder'";
const LOAD: &str = "SELECT id, slots, until, number FROM holder";
const SAVE: &str = "INSERT INTO holder (id, slots, until, number) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) \
    DO UPDATE SET slots = excluded.slots, until = excluded.until, number = excluded.number";
const DELETE: &str = "DELETE FROM holder WHERE id = ?1";

/// How large the cap was found to be: one row.
const FOUND: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'found'";
const CREATE_FOUND: &str = "CREATE TABLE IF NOT EXISTS found (id INTEGER PRIMARY KEY, state TEXT NOT NULL)";
const LOAD_FOUND: &str = "SELECT state FROM found";
const KEEP_FOUND: &str =
    "INSERT INTO found (id, state) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET state = excluded.state";

/// The holders' rows.
#[derive(Debug)]
pub struct SqlPermitStore {
    sql: SqlStorage,
    created: Cell<bool>,
}

impl SqlPermitStore {
    /// The rows in `sql`, which is left untouched until one has to be saved.
    pub fn new(sql: SqlStorage) -> SqlPermitStore {
        SqlPermitStore { sql, created: Cell::new(false) }
    }

    /// Hands every row to `slots`.
    ///
    /// # Errors
    /// SQLite's own. A row that cannot be read may be of any number of slots: nothing is lent beside it for a term.
    pub fn load(&self, slots: &mut PermitLender) -> Result<(), String> {
        if self.rows(FOUND, Vec::new())?.next().is_some()
            && let Some(Ok(row)) = self.rows(LOAD_FOUND, Vec::new())?.next()
            && let [SqlStorageValue::String(state)] = row.as_slice()
            && let Some(found) = SavedCap::read(state)
        {
            slots.resume(found);
        }
        if self.rows(EXISTS, Vec::new())?.next().is_none() {
            return Ok(());
        }
        self.created.set(true);
        for row in self.rows(LOAD, Vec::new())? {
            let row = row.map_err(|error| error.to_string())?;
            slots.restore(read(&row).unwrap_or_else(|| PermitRow {
                holder: holder(&row),
                slots: u64::MAX,
                until: Time::MAX,
                number: 0,
            }));
        }
        Ok(())
    }

    /// To be told that the storage was deleted, tables and all.
    pub fn forgotten(&self) {
        self.created.set(false);
    }

    fn rows(&self, statement: &str, values: Vec<SqlStorageValue>) -> Result<worker::SqlCursorRawIterator, String> {
        Ok(self.sql.exec(statement, values).map_err(|error| error.to_string())?.raw())
    }

    fn write(&self, statement: &str, values: Vec<SqlStorageValue>) -> Result<u32, String> {
        if !self.created.get() {
            self.rows(CREATE, Vec::new())?;
            self.created.set(true);
        }
        let cursor = self.sql.exec(statement, values).map_err(|error| error.to_string())?;
        Ok(u32::try_from(cursor.rows_written()).unwrap_or(u32::MAX))
    }
}

impl PermitStore for SqlPermitStore {
    fn save(&self, row: PermitRow) -> Result<u32, String> {
        let number = |number: u64| SqlStorageValue::Float(number as f64);
        let PermitRow { holder, slots, until, number: asked } = row;
        self.write(SAVE, vec![id(holder), number(slots), number(until.as_micros_up()), number(asked)])
    }

    fn delete(&self, holder: u64) -> Result<u32, String> {
        self.write(DELETE, vec![id(holder)])
    }

    fn keep(&self, found: &SavedCap) -> Result<u32, String> {
        self.rows(CREATE_FOUND, Vec::new())?;
        let cursor = self.sql.exec(KEEP_FOUND, vec![SqlStorageValue::String(found.write())]);
        Ok(u32::try_from(cursor.map_err(|error| error.to_string())?.rows_written()).unwrap_or(u32::MAX))
    }
}

fn id(holder: u64) -> SqlStorageValue {
    SqlStorageValue::String(format!("{holder:016x}"))
}

fn read(row: &[SqlStorageValue]) -> Option<PermitRow> {
    let whole = |value: &SqlStorageValue| match value {
        SqlStorageValue::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    let [SqlStorageValue::String(id), slots, until, number] = row else { return None };
    Some(PermitRow {
        holder: u64::from_str_radix(id, 16).ok()?,
        slots: whole(slots)?,
        until: Time::from_nanos(whole(until)?.saturating_mul(1_000)),
        number: whole(number)?,
    })
}

/// Whose row it is that cannot be read; nobody's, where not even that can.
fn holder(row: &[SqlStorageValue]) -> u64 {
    match row.first() {
        Some(SqlStorageValue::String(id)) => u64::from_str_radix(id, 16).unwrap_or(0),
        _ => 0,
    }
}
