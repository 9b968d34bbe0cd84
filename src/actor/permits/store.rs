//! The permits of a cap in the actor's SQLite: one row per holder, and one for an adaptive cap's
//! size.

use crate::actor::permits::lender::{PermitLender, PermitRow, PermitStore};
use crate::actor::sql::{self, Sql};
use crate::limit::adaptive::SavedCap;
use crate::limit::time::Time;
use std::cell::Cell;
use worker::{SqlStorage, SqlStorageValue};

// Question numbers and permits stay far below 2^53.
const CREATE: &str = "CREATE TABLE IF NOT EXISTS holder \
    (id TEXT PRIMARY KEY, slots INTEGER NOT NULL, until INTEGER NOT NULL, number INTEGER NOT NULL) WITHOUT ROWID";
const LOAD: &str = "SELECT id, slots, until, number FROM holder";
const SAVE: &str = "INSERT INTO holder (id, slots, until, number) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (id) \
    DO UPDATE SET slots = excluded.slots, until = excluded.until, number = excluded.number";
const DELETE: &str = "DELETE FROM holder WHERE id = ?1";

const CREATE_CAP: &str = "CREATE TABLE IF NOT EXISTS found (id INTEGER PRIMARY KEY, state TEXT NOT NULL)";
const LOAD_CAP: &str = "SELECT state FROM found";
const SAVE_CAP: &str =
    "INSERT INTO found (id, state) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET state = excluded.state";

/// The holders' rows.
#[derive(Debug)]
pub struct SqlPermitStore {
    sql: Sql,
    /// Whether the table `holder` is known to exist.
    created: Cell<bool>,
}

impl SqlPermitStore {
    /// The store in `sql`. It creates no table before it has something to save.
    pub fn new(sql: SqlStorage) -> SqlPermitStore {
        SqlPermitStore { sql: Sql(sql), created: Cell::new(false) }
    }

    /// Hands every row to `lender`. A row that cannot be read may be of any number of permits: it
    /// counts as all of them, so nothing is lent beside it for a term.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn load(&self, lender: &mut PermitLender) -> Result<(), String> {
        if self.sql.has_table("found")?
            && let Some(Ok(row)) = self.sql.select(LOAD_CAP, Vec::new())?.next()
            && let [SqlStorageValue::String(state)] = row.as_slice()
            && let Some(saved) = SavedCap::read(state)
        {
            lender.restore_cap(saved);
        }
        if !self.sql.has_table("holder")? {
            return Ok(());
        }
        self.created.set(true);
        for row in self.sql.select(LOAD, Vec::new())? {
            let row = row.map_err(|error| error.to_string())?;
            lender.restore(read(&row).unwrap_or_else(|| PermitRow {
                holder: holder(&row),
                permits: u64::MAX,
                until: Time::MAX,
                number: 0,
            }));
        }
        Ok(())
    }

    /// Notes that the storage was deleted, with its tables.
    pub fn deleted(&self) {
        self.created.set(false);
    }

    fn write(&self, statement: &str, values: Vec<SqlStorageValue>) -> Result<u32, String> {
        if !self.created.get() {
            self.sql.select(CREATE, Vec::new())?;
            self.created.set(true);
        }
        self.sql.write(statement, values)
    }
}

impl PermitStore for SqlPermitStore {
    fn save(&self, row: PermitRow) -> Result<u32, String> {
        let PermitRow { holder, permits, until, number } = row;
        self.write(SAVE, vec![key(holder), sql::number(permits), sql::time(until), sql::number(number)])
    }

    fn delete(&self, holder: u64) -> Result<u32, String> {
        self.write(DELETE, vec![key(holder)])
    }

    fn save_cap(&self, cap: &SavedCap) -> Result<u32, String> {
        self.sql.select(CREATE_CAP, Vec::new())?;
        self.sql.write(SAVE_CAP, vec![SqlStorageValue::String(cap.write())])
    }
}

/// A holder's id, as it is stored: 16 hexadecimal digits.
fn key(holder: u64) -> SqlStorageValue {
    SqlStorageValue::String(format!("{holder:016x}"))
}

fn read(row: &[SqlStorageValue]) -> Option<PermitRow> {
    let [SqlStorageValue::String(id), permits, until, number] = row else { return None };
    Some(PermitRow {
        holder: u64::from_str_radix(id, 16).ok()?,
        permits: sql::read_number(permits)?,
        until: sql::read_time(until)?,
        number: sql::read_number(number)?,
    })
}

/// The holder of a row that cannot be read; 0 if its id cannot be read either.
fn holder(row: &[SqlStorageValue]) -> u64 {
    match row.first() {
        Some(SqlStorageValue::String(id)) => u64::from_str_radix(id, 16).unwrap_or(0),
        _ => 0,
    }
}
