//! Rates in the actor's SQLite: one row per bucket whose debt outlives an eviction, and one per
//! bucket with a warm-up.

use crate::actor::rates::buckets::{BucketStore, Buckets};
use crate::actor::sql::{self, Sql};
use crate::limit::bucket_table::BucketId;
use crate::limit::time::Time;
use crate::limit::warmup::{SavedWarmup, Warmup};
use std::cell::Cell;
use worker::{SqlStorage, SqlStorageValue};

const CREATE: &str = "CREATE TABLE IF NOT EXISTS bucket (id TEXT PRIMARY KEY, tat INTEGER NOT NULL) WITHOUT ROWID";
const LOAD: &str = "SELECT id, tat FROM bucket";
const SAVE: &str = "INSERT INTO bucket (id, tat) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET tat = excluded.tat";
// A TAT that is no number was read as a full debt when the actor loaded it. Its row has served.
const SWEEP: &str = "DELETE FROM bucket WHERE tat <= ?1 OR typeof(tat) <> 'integer'";
const EARLIEST: &str = "SELECT min(tat) FROM bucket";

const CREATE_WARM: &str = "CREATE TABLE IF NOT EXISTS warm (id TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID";
const LOAD_WARM: &str = "SELECT id, state FROM warm";
const SAVE_WARM: &str =
    "INSERT INTO warm (id, state) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET state = excluded.state";
// As long as a bucket is in debt, its row here records that the debt was made under a ramp.
const DROP_WARM: &str = "DELETE FROM warm WHERE id = ?1 AND id NOT IN (SELECT id FROM bucket)";

/// The actor's saved buckets.
#[derive(Debug)]
pub struct SqlBucketStore {
    sql: Sql,
    /// Whether the table `bucket` is known to exist.
    created: Cell<bool>,
    saved: Cell<bool>,
}

impl SqlBucketStore {
    /// The store in `sql`. It creates no table before it has something to save: an object with an
    /// empty database costs no storage.
    pub fn new(sql: SqlStorage) -> SqlBucketStore {
        SqlBucketStore { sql: Sql(sql), created: Cell::new(false), saved: Cell::new(false) }
    }

    /// Hands every saved bucket to `buckets`. A row that cannot be read is no error: its bucket
    /// counts as empty until it would be full again.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn load(&self, buckets: &mut Buckets, now: Time) -> Result<RestoreReport, String> {
        let mut report = RestoreReport::default();
        for (id, saved) in self.saved_warmups()? {
            // A state that cannot be read says nothing of a ramp.
            if let (Ok(id), Some(saved)) = (BucketId::from_str_radix(&id, 16), saved) {
                buckets.restore_warm(id, saved, now);
            }
        }
        if !self.sql.has_table("bucket")? {
            return Ok(report);
        }
        self.created.set(true);
        for row in self.sql.select(LOAD, Vec::new())? {
            let row = row.map_err(|error| error.to_string())?;
            let [SqlStorageValue::String(id), tat] = row.as_slice() else { continue };
            let Ok(id) = BucketId::from_str_radix(id, 16) else {
                report.unreadable = report.unreadable.saturating_add(1);
                continue;
            };
            let tat = sql::read_time(tat).unwrap_or_else(|| {
                report.unreadable = report.unreadable.saturating_add(1);
                Time::MAX
            });
            buckets.restore(id, tat);
            report.buckets = report.buckets.saturating_add(1);
        }
        Ok(report)
    }

    /// Deletes the rows of buckets at rest. Returns the earliest time at which there will be
    /// another row to delete; `None` if no row is left.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn sweep(&self, now: Time) -> Result<Option<Time>, String> {
        let warmups = self.saved_warmups()?;
        if !warmups.is_empty() {
            self.sql.select(CREATE, Vec::new())?;
        } else if !self.sql.has_table("bucket")? {
            return Ok(None);
        }
        self.sql.select(SWEEP, vec![sql::time(now)])?;
        let mut warm = None;
        for (id, saved) in warmups {
            match saved.as_ref().map(Warmup::cold_at).filter(|at| *at > now) {
                Some(at) => warm = warm.into_iter().chain([at]).min(),
                None => drop(self.sql.select(DROP_WARM, vec![SqlStorageValue::String(id)])?),
            }
        }
        let earliest = self.sql.select(EARLIEST, Vec::new())?.next().transpose().map_err(|error| error.to_string())?;
        let bucket = match earliest.as_deref() {
            None | Some([SqlStorageValue::Null] | []) => None,
            Some([tat, ..]) => Some(sql::read_time(tat).unwrap_or(Time::MAX)),
        };
        Ok(bucket.into_iter().chain(warm).min())
    }

    /// The saved warm-up states: each bucket's id, and its state if that can be read.
    fn saved_warmups(&self) -> Result<Vec<(String, Option<SavedWarmup>)>, String> {
        let mut all = Vec::new();
        if self.sql.has_table("warm")? {
            for row in self.sql.select(LOAD_WARM, Vec::new())? {
                if let [SqlStorageValue::String(id), SqlStorageValue::String(state)] =
                    row.map_err(|error| error.to_string())?.as_slice()
                {
                    all.push((id.clone(), SavedWarmup::read(state)));
                }
            }
        }
        Ok(all)
    }

    /// Whether anything was saved since the last call of this function.
    pub fn take_saved(&self) -> bool {
        self.saved.replace(false)
    }

    /// Notes that the storage was deleted, with its tables.
    pub fn deleted(&self) {
        self.created.set(false);
    }
}

/// The result of loading the saved buckets.
#[derive(Clone, Copy, Debug, Default)]
pub struct RestoreReport {
    /// Buckets taken over.
    pub buckets: u32,
    /// Rows that could not be read.
    pub unreadable: u32,
}

impl BucketStore for SqlBucketStore {
    fn save(&self, id: BucketId, tat: Time) -> Result<u32, String> {
        if !self.created.get() {
            self.sql.select(CREATE, Vec::new())?;
            self.created.set(true);
        }
        self.saved.set(true);
        self.sql.write(SAVE, vec![key(id), sql::time(tat)])
    }

    fn save_warm(&self, id: BucketId, warm: &SavedWarmup) -> Result<u32, String> {
        // Saved so rarely that remembering whether the table exists would not pay.
        self.sql.select(CREATE_WARM, Vec::new())?;
        self.saved.set(true);
        self.sql.write(SAVE_WARM, vec![key(id), SqlStorageValue::String(warm.write())])
    }
}

/// A bucket's id, as it is stored: 32 hexadecimal digits.
fn key(id: BucketId) -> SqlStorageValue {
    SqlStorageValue::String(format!("{id:032x}"))
}
