//! Parts of buckets in the actor's SQLite: one row per bucket and holder, and one as a mark.

use crate::actor::rates::buckets::Buckets;
use crate::actor::rates::cuts::SavedPart;
use crate::actor::sql::{self as values, Sql};
use crate::limit::bucket_table::BucketId;
use crate::limit::share::HolderId;
use crate::limit::time::Time;
use std::cell::Cell;
use std::collections::BTreeMap;
use worker::SqlStorageValue;

// A row without a bucket is the mark: until its time, parts may be out that have no row.
const CREATE_PART: &str = "CREATE TABLE IF NOT EXISTS part \
     (bucket TEXT, holder TEXT, until INTEGER NOT NULL, state TEXT NOT NULL, PRIMARY KEY (bucket, holder)) WITHOUT ROWID";
const LOAD_PARTS: &str = "SELECT bucket, holder, until, state FROM part ORDER BY bucket";
const SAVE_PART: &str = "INSERT INTO part (bucket, holder, until, state) VALUES (?1, ?2, ?3, ?4) \
     ON CONFLICT (bucket, holder) DO UPDATE SET until = excluded.until, state = excluded.state";
const FORGET_PART: &str = "DELETE FROM part WHERE bucket = ?1 AND holder = ?2";
const SWEEP_PARTS: &str = "DELETE FROM part WHERE until <= ?1";
const EARLIEST_PART: &str = "SELECT min(until) FROM part";

/// The table `part`.
#[derive(Debug, Default)]
pub struct PartStore {
    /// Whether the table is known to exist.
    exists: Cell<bool>,
}

impl PartStore {
    /// Notes that the storage was deleted, with its tables.
    pub fn deleted(&self) {
        self.exists.set(false);
    }

    /// Hands the saved parts to `buckets`, after the buckets themselves. A row that cannot be read
    /// is no part.
    pub fn load(&self, sql: &Sql, buckets: &mut Buckets, now: Time) -> Result<(), String> {
        self.exists.set(true);
        let mut parts: BTreeMap<BucketId, Vec<(HolderId, SavedPart)>> = BTreeMap::new();
        for row in sql.select(LOAD_PARTS, Vec::new())? {
            let row = row.map_err(|error| error.to_string())?;
            let [
                SqlStorageValue::String(bucket),
                SqlStorageValue::String(holder),
                until,
                SqlStorageValue::String(state),
            ] = row.as_slice()
            else {
                continue;
            };
            if bucket.is_empty() {
                buckets.restore_parts_mark(values::read_time(until).unwrap_or(Time::MAX), now);
            } else if let (Ok(id), Ok(holder), Some(part)) =
                (BucketId::from_str_radix(bucket, 16), HolderId::from_str_radix(holder, 16), SavedPart::read(state))
            {
                parts.entry(id).or_default().push((holder, part));
            }
        }
        parts.into_iter().for_each(|(id, parts)| buckets.restore_parts(id, parts, now));
        Ok(())
    }

    /// Makes sure that the table `part` exists.
    fn prepare(&self, sql: &Sql) -> Result<(), String> {
        if !self.exists.replace(true) {
            sql.select(CREATE_PART, Vec::new())?;
        }
        Ok(())
    }

    /// Deletes the rows of parts whose terms have ended; returns the next end.
    pub fn sweep(&self, sql: &Sql, now: Time) -> Result<Option<Time>, String> {
        if !sql.has_table("part")? {
            return Ok(None);
        }
        sql.select(SWEEP_PARTS, vec![values::time(now)])?;
        sql.earliest(EARLIEST_PART)
    }

    /// Saves the part of a holder, or deletes its row; returns the rows written.
    pub fn save(&self, sql: &Sql, id: BucketId, holder: HolderId, part: Option<&SavedPart>) -> Result<u32, String> {
        self.prepare(sql)?;
        let holder = SqlStorageValue::String(format!("{holder:016x}"));
        match part {
            None => sql.write(FORGET_PART, vec![key(id), holder]),
            Some(part) => {
                let state = SqlStorageValue::String(part.write());
                sql.write(SAVE_PART, vec![key(id), holder, values::time(part.until()), state])
            }
        }
    }

    /// Saves the mark; returns the rows written.
    pub fn mark(&self, sql: &Sql, until: Time) -> Result<u32, String> {
        self.prepare(sql)?;
        let empty = || SqlStorageValue::String(String::new());
        sql.write(SAVE_PART, vec![empty(), empty(), values::time(until), empty()])
    }
}

/// A bucket's id, as it is stored: 32 hexadecimal digits.
fn key(id: BucketId) -> SqlStorageValue {
    SqlStorageValue::String(format!("{id:032x}"))
}
