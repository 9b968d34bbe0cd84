//! The actor's SQLite: one row per bucket whose debt outlives an eviction, and one per bucket that warms up.

use crate::actor::rates::buckets::{BucketStore, Buckets};
use crate::limit::bucket_table::BucketId;
use crate::limit::time::Time;
use crate::limit::warmup::{SavedWarmup, Warmup};
use std::cell::Cell;
use worker::{SqlStorage, SqlStorageValue};

/// One key column and no second index: an upsert is one row written. TATs are in microseconds, which a double
/// carries exactly; SQLite numbers reach a Worker as doubles.
const CREATE: &str = "CREATE TABLE IF NOT EXISTS bucket (id TEXT PRIMARY KEY, tat INTEGER NOT NULL) WITHOUT ROWID";
const EXISTS: &str = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1";
const LOAD: &str = "SELECT id, tat FROM bucket";
const SAVE: &str = "INSERT INTO bucket (id, tat) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET tat = excluded.tat";
// A row that is no number was read as a full debt when it was loaded, and is of no further use.
const SWEEP: &str = "DELETE FROM bucket WHERE tat <= ?1 OR typeof(tat) <> 'integer'";
const EARLIEST: &str = "SELECT min(tat) FROM bucket";

const CREATE_WARM: &str = "CREATE TABLE IF NOT EXISTS warm (id TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID";
const LOAD_WARM: &str = "SELECT id, state FROM warm";
const SAVE_WARM: &str =
    "INSERT INTO warm (id, state) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET state = excluded.state";
// While the bucket is in debt, a row says that this was under a ramp.
const DROP_WARM: &str = "DELETE FROM warm WHERE id = ?1 AND id NOT IN (SELECT id FROM bucket)";

/// The actor's SQLite.
#[derive(Debug)]
pub struct SqlBucketStore {
    sql: SqlStorage,
    created: Cell<bool>,
    saved: Cell<bool>,
}

impl SqlBucketStore {
    /// The disk in `sql`, which is left untouched until something has to be saved: an empty one is free.
    pub fn new(sql: SqlStorage) -> SqlBucketStore {
        SqlBucketStore { sql, created: Cell::new(false), saved: Cell::new(false) }
    }

    /// Hands every saved bucket to `counter`.
    ///
    /// # Errors
    /// SQLite's own. A single row that cannot be read is no error: its bucket counts as empty until full again.
    pub fn load(&self, counter: &mut Buckets, now: Time) -> Result<RestoreReport, String> {
        let mut loaded = RestoreReport::default();
        for (id, saved) in self.warm()? {
            // What cannot be read says nothing of a ramp.
            if let (Ok(id), Some(saved)) = (BucketId::from_str_radix(&id, 16), saved) {
                counter.restore_warm(id, saved, now);
            }
        }
        if !self.exists("bucket")? {
            return Ok(loaded);
        }
        self.created.set(true);
        for row in self.rows(LOAD, Vec::new())? {
            let row = row.map_err(|error| error.to_string())?;
            let [SqlStorageValue::String(id), tat] = row.as_slice() else { continue };
            let Ok(id) = BucketId::from_str_radix(id, 16) else {
                loaded.unreadable = loaded.unreadable.saturating_add(1);
                continue;
            };
            let tat = micros(tat).unwrap_or_else(|| {
                loaded.unreadable = loaded.unreadable.saturating_add(1);
                Time::MAX
            });
            counter.restore(id, tat);
            loaded.buckets = loaded.buckets.saturating_add(1);
        }
        Ok(loaded)
    }

    /// Deletes the buckets at rest; the earliest time at which there will be another to delete, if any is left.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn sweep(&self, now: Time) -> Result<Option<Time>, String> {
        let warming = self.warm()?;
        if !warming.is_empty() {
            self.rows(CREATE, Vec::new())?;
        } else if !self.exists("bucket")? {
            return Ok(None);
        }
        self.rows(SWEEP, vec![whole_micros(now)])?;
        let mut warm = None;
        for (id, saved) in warming {
            match saved.as_ref().map(Warmup::cold_at).filter(|at| *at > now) {
                Some(at) => warm = warm.into_iter().chain([at]).min(),
                None => drop(self.rows(DROP_WARM, vec![SqlStorageValue::String(id)])?),
            }
        }
        let earliest = self.rows(EARLIEST, Vec::new())?.next().transpose().map_err(|error| error.to_string())?;
        let bucket = match earliest.as_deref() {
            None | Some([SqlStorageValue::Null] | []) => None,
            Some([tat, ..]) => Some(micros(tat).unwrap_or(Time::MAX)),
        };
        Ok(bucket.into_iter().chain(warm).min())
    }

    /// What is saved of how warm buckets are.
    fn warm(&self) -> Result<Vec<(String, Option<SavedWarmup>)>, String> {
        let mut all = Vec::new();
        if self.exists("warm")? {
            for row in self.rows(LOAD_WARM, Vec::new())? {
                if let [SqlStorageValue::String(id), SqlStorageValue::String(state)] =
                    row.map_err(|error| error.to_string())?.as_slice()
                {
                    all.push((id.clone(), SavedWarmup::read(state)));
                }
            }
        }
        Ok(all)
    }

    fn exists(&self, table: &str) -> Result<bool, String> {
        Ok(self.rows(EXISTS, vec![SqlStorageValue::String(table.to_owned())])?.next().is_some())
    }

    /// Whether something was saved since this was last asked.
    pub fn take_saved(&self) -> bool {
        self.saved.replace(false)
    }

    /// To be told that the storage was deleted, tables and all.
    pub fn forgotten(&self) {
        self.created.set(false);
    }

    fn rows(&self, statement: &str, values: Vec<SqlStorageValue>) -> Result<worker::SqlCursorRawIterator, String> {
        Ok(self.sql.exec(statement, values).map_err(|error| error.to_string())?.raw())
    }
}

/// What was found on the disk.
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
            self.rows(CREATE, Vec::new())?;
            self.created.set(true);
        }
        let values = vec![SqlStorageValue::String(format!("{id:032x}")), whole_micros(tat)];
        self.saved.set(true);
        let cursor = self.sql.exec(SAVE, values).map_err(|error| error.to_string())?;
        Ok(u32::try_from(cursor.rows_written()).unwrap_or(u32::MAX))
    }

    fn save_warm(&self, id: BucketId, warm: &SavedWarmup) -> Result<u32, String> {
        // Rarely enough that the table need not be known to be there.
        self.rows(CREATE_WARM, Vec::new())?;
        let values = vec![SqlStorageValue::String(format!("{id:032x}")), SqlStorageValue::String(warm.write())];
        self.saved.set(true);
        let cursor = self.sql.exec(SAVE_WARM, values).map_err(|error| error.to_string())?;
        Ok(u32::try_from(cursor.rows_written()).unwrap_or(u32::MAX))
    }
}

/// Rounded up, so that what is read back is never earlier than what was saved.
fn whole_micros(time: Time) -> SqlStorageValue {
    SqlStorageValue::Float(time.as_micros_up() as f64)
}

fn micros(value: &SqlStorageValue) -> Option<Time> {
    match value {
        SqlStorageValue::Integer(micros) => Some(Time::from_nanos(u64::try_from(*micros).ok()?.saturating_mul(1_000))),
        _ => None,
    }
}
