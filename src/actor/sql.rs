//! The parts of an actor's SQLite access that the stores of rates and of permits share.
//!
//! Each store has one key column per table and no second index, so that an upsert is one row
//! written. SQLite numbers reach a Worker as doubles, which are exact up to 2^53: times are
//! therefore stored in whole microseconds since the Unix epoch.

use crate::limit::time::Time;
use worker::{SqlCursor, SqlCursorRawIterator, SqlStorage, SqlStorageValue};

const EXISTS: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";

/// The SQLite database of one actor.
#[derive(Debug)]
pub(crate) struct Sql(pub(crate) SqlStorage);

impl Sql {
    /// Runs a statement; returns the rows that it selects.
    ///
    /// # Errors
    /// SQLite's own.
    pub(crate) fn select(&self, statement: &str, values: Vec<SqlStorageValue>) -> Result<SqlCursorRawIterator, String> {
        self.run(statement, values).map(|cursor| cursor.raw())
    }

    /// Runs a statement; returns the number of rows that it has written.
    ///
    /// # Errors
    /// SQLite's own.
    pub(crate) fn write(&self, statement: &str, values: Vec<SqlStorageValue>) -> Result<u32, String> {
        let cursor = self.run(statement, values)?;
        Ok(u32::try_from(cursor.rows_written()).unwrap_or(u32::MAX))
    }

    /// Whether a table exists. Asking costs nothing in an empty database, where creating would.
    ///
    /// # Errors
    /// SQLite's own.
    pub(crate) fn has_table(&self, table: &str) -> Result<bool, String> {
        Ok(self.select(EXISTS, vec![SqlStorageValue::String(table.to_owned())])?.next().is_some())
    }

    /// The only number that `statement` selects, as a time; `None` for no row and for null. A value
    /// that is no time is the latest one.
    ///
    /// # Errors
    /// SQLite's own.
    pub(crate) fn earliest(&self, statement: &str) -> Result<Option<Time>, String> {
        let earliest = self.select(statement, Vec::new())?.next().transpose().map_err(|error| error.to_string())?;
        Ok(match earliest.as_deref() {
            None | Some([SqlStorageValue::Null] | []) => None,
            Some([time, ..]) => Some(read_time(time).unwrap_or(Time::MAX)),
        })
    }

    fn run(&self, statement: &str, values: Vec<SqlStorageValue>) -> Result<SqlCursor, String> {
        self.0.exec(statement, values).map_err(|error| error.to_string())
    }
}

/// A whole number, as it is stored.
pub(crate) fn number(number: u64) -> SqlStorageValue {
    SqlStorageValue::Float(number as f64)
}

/// A time, as it is stored. Rounded up, so that it is never read back as an earlier time.
pub(crate) fn time(time: Time) -> SqlStorageValue {
    number(time.as_micros_up())
}

/// Reads a whole number; `None` for a value of another type, or below zero.
pub(crate) fn read_number(value: &SqlStorageValue) -> Option<u64> {
    match value {
        SqlStorageValue::Integer(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// Reads a time; `None` for a value that is none.
pub(crate) fn read_time(value: &SqlStorageValue) -> Option<Time> {
    Some(Time::from_nanos(read_number(value)?.saturating_mul(1_000)))
}
