//! Rates in the actor's SQLite: one row per bucket whose debt outlives an eviction, one per bucket
//! with a warm-up, and one per printed name whose state a counter has taken over.
//!
//! The column `terms` is younger than the table. A row of an earlier version has none, and that
//! version reads and writes the others as before.

use crate::actor::rates::buckets::{BucketStore, Buckets};
use crate::actor::rates::cuts::SavedPart;
use crate::actor::rates::part_store::PartStore;
use crate::actor::sql::{self, Sql};
use crate::limit::bucket_table::BucketId;
use crate::limit::debt::SavedDebt;
use crate::limit::gcra::Gcra;
use crate::limit::share::HolderId;
use crate::limit::time::{Span, Time};
use crate::limit::warmup::{SavedWarmup, Warmup};
use std::cell::Cell;
use worker::{SqlStorage, SqlStorageValue};

const CREATE: &str =
    "CREATE TABLE IF NOT EXISTS bucket (id TEXT PRIMARY KEY, tat INTEGER NOT NULL, terms TEXT) WITHOUT ROWID";
const ADD_TERMS: &str = "ALTER TABLE bucket ADD COLUMN terms TEXT";
const TABLES: &str = "SELECT name, sql LIKE '%terms%' FROM sqlite_master WHERE type = 'table'";
const LOAD: &str = "SELECT id, tat, terms FROM bucket";
const LOAD_OLD: &str = "SELECT id, tat, NULL FROM bucket";
const SAVE: &str = "INSERT INTO bucket (id, tat, terms) VALUES (?1, ?2, ?3) \
     ON CONFLICT (id) DO UPDATE SET tat = excluded.tat, terms = excluded.terms";
const RETIRE: &str = "UPDATE bucket SET terms = 'taken over' WHERE id = ?1";
// A TAT that is no number was read as a full debt when the actor loaded it. Its row has served.
const SWEEP: &str = "DELETE FROM bucket WHERE tat <= ?1 OR typeof(tat) <> 'integer'";
const EARLIEST: &str = "SELECT min(tat) FROM bucket";

const CREATE_WARM: &str = "CREATE TABLE IF NOT EXISTS warm (id TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID";
const LOAD_WARM: &str = "SELECT id, state FROM warm";
const SAVE_WARM: &str =
    "INSERT INTO warm (id, state) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET state = excluded.state";
// As long as a bucket is in debt, its row here records that the debt was made under a ramp.
const DROP_WARM: &str = "DELETE FROM warm WHERE id = ?1 AND id NOT IN (SELECT id FROM bucket)";

const RETIRE_WARM: &str = "DELETE FROM warm WHERE id = ?1";

const CREATE_FORMER: &str =
    "CREATE TABLE IF NOT EXISTS former (name TEXT PRIMARY KEY, counter TEXT NOT NULL) WITHOUT ROWID";
const LOAD_FORMER: &str = "SELECT name, counter FROM former";
const SAVE_FORMER: &str =
    "INSERT INTO former (name, counter) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET counter = excluded.counter";

/// The `terms` of a row whose debt another bucket has taken over. The row stays for a return to the
/// earlier version.
const TAKEN_OVER: &str = "taken over";

/// The actor's saved buckets.
#[derive(Debug)]
pub struct SqlBucketStore {
    sql: Sql,
    table: Cell<Table>,
    parts: PartStore,
    saved: Cell<bool>,
}

/// The form of the table `bucket`, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Table {
    /// It may not exist.
    #[default]
    Unknown,
    /// An earlier version has created it, without `terms`.
    Old,
    Ready,
}

impl SqlBucketStore {
    /// The store in `sql`. It creates no table before it has something to save: an object with an
    /// empty database costs no storage.
    pub fn new(sql: SqlStorage) -> SqlBucketStore {
        SqlBucketStore { sql: Sql(sql), table: Cell::default(), parts: PartStore::default(), saved: Cell::new(false) }
    }

    /// Hands every saved bucket to `buckets`. A row that cannot be read is no error: its bucket
    /// counts as empty until it would be full again.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn load(&self, buckets: &mut Buckets, now: Time) -> Result<RestoreReport, String> {
        let mut report = RestoreReport::default();
        let (mut load, mut parts) = (None, false);
        let tables: Result<Vec<_>, _> = self.sql.select(TABLES, Vec::new())?.collect();
        for table in tables.map_err(|error| error.to_string())? {
            let [SqlStorageValue::String(name), has_terms] = table.as_slice() else { continue };
            match name.as_str() {
                "bucket" if *has_terms == SqlStorageValue::Integer(1) => load = Some((LOAD, Table::Ready)),
                "bucket" => load = Some((LOAD_OLD, Table::Old)),
                "former" => self.load_former(buckets)?,
                "warm" => self.load_warm(buckets, now)?,
                "part" => parts = true,
                _ => {}
            }
        }
        let Some((load, table)) = load else {
            return if parts { self.parts.load(&self.sql, buckets, now).map(|()| report) } else { Ok(report) };
        };
        self.table.set(table);
        for row in self.sql.select(load, Vec::new())? {
            let row = row.map_err(|error| error.to_string())?;
            let [SqlStorageValue::String(id), tat, terms] = row.as_slice() else { continue };
            if matches!(terms, SqlStorageValue::String(terms) if terms == TAKEN_OVER) {
                continue;
            }
            let Ok(id) = BucketId::from_str_radix(id, 16) else {
                report.unreadable = report.unreadable.saturating_add(1);
                continue;
            };
            let tat = sql::read_time(tat).unwrap_or_else(|| {
                report.unreadable = report.unreadable.saturating_add(1);
                Time::MAX
            });
            let (interval, burst) = read_terms(terms).unwrap_or_default();
            buckets.restore(id, SavedDebt { tat, interval, burst });
            report.buckets = report.buckets.saturating_add(1);
        }
        if parts {
            self.parts.load(&self.sql, buckets, now)?;
        }
        Ok(report)
    }

    /// Deletes the rows of buckets at rest. Returns the earliest time at which there will be
    /// another row to delete; `None` if no row is left.
    ///
    /// # Errors
    /// SQLite's own.
    pub fn sweep(&self, now: Time) -> Result<Option<Time>, String> {
        let part = self.parts.sweep(&self.sql, now)?;
        let warmups = self.saved_warmups()?;
        if !warmups.is_empty() {
            self.sql.select(CREATE, Vec::new())?;
        } else if !self.sql.has_table("bucket")? {
            return Ok(part);
        }
        self.sql.select(SWEEP, vec![sql::time(now)])?;
        let mut warm = None;
        for (id, saved) in warmups {
            match saved.as_ref().map(Warmup::cold_at).filter(|at| *at > now) {
                Some(at) => warm = warm.into_iter().chain([at]).min(),
                None => drop(self.sql.select(DROP_WARM, vec![SqlStorageValue::String(id)])?),
            }
        }
        let bucket = self.sql.earliest(EARLIEST)?;
        Ok(bucket.into_iter().chain(warm).chain(part).min())
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

    fn load_former(&self, buckets: &mut Buckets) -> Result<(), String> {
        for row in self.sql.select(LOAD_FORMER, Vec::new())? {
            if let [SqlStorageValue::String(name), SqlStorageValue::String(counter)] =
                row.map_err(|error| error.to_string())?.as_slice()
            {
                buckets.restore_former(name, counter);
            }
        }
        Ok(())
    }

    fn load_warm(&self, buckets: &mut Buckets, now: Time) -> Result<(), String> {
        for (id, saved) in self.saved_warmups()? {
            // A state that cannot be read says nothing of a ramp.
            if let (Ok(id), Some(saved)) = (BucketId::from_str_radix(&id, 16), saved) {
                buckets.restore_warm(id, saved, now);
            }
        }
        Ok(())
    }

    /// Makes sure that the table `bucket` can take a row.
    fn prepare(&self) -> Result<(), String> {
        match self.table.get() {
            Table::Unknown => drop(self.sql.select(CREATE, Vec::new())?),
            Table::Old => drop(self.sql.select(ADD_TERMS, Vec::new())?),
            Table::Ready => {}
        }
        self.table.set(Table::Ready);
        Ok(())
    }

    /// Whether anything was saved since the last call of this function.
    pub fn take_saved(&self) -> bool {
        self.saved.replace(false)
    }

    /// Notes that the storage was deleted, with its tables.
    pub fn deleted(&self) {
        self.table.set(Table::Unknown);
        self.parts.deleted();
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
    fn save(&self, id: BucketId, debt: SavedDebt) -> Result<u32, String> {
        self.prepare()?;
        self.saved.set(true);
        self.sql.write(SAVE, vec![key(id), sql::time(debt.tat), write_terms(debt)])
    }

    fn save_warm(&self, id: BucketId, warm: &SavedWarmup) -> Result<u32, String> {
        // Saved so rarely that remembering whether the table exists would not pay.
        self.sql.select(CREATE_WARM, Vec::new())?;
        self.saved.set(true);
        self.sql.write(SAVE_WARM, vec![key(id), SqlStorageValue::String(warm.write())])
    }

    fn retire(&self, id: BucketId) -> Result<u32, String> {
        self.prepare()?;
        let rows = self.sql.write(RETIRE, vec![key(id)])?;
        let warm = if self.sql.has_table("warm")? { self.sql.write(RETIRE_WARM, vec![key(id)])? } else { 0 };
        Ok(rows.saturating_add(warm))
    }

    fn save_part(&self, id: BucketId, holder: HolderId, part: Option<&SavedPart>) -> Result<u32, String> {
        self.saved.set(true);
        self.parts.save(&self.sql, id, holder, part)
    }

    fn mark_parts(&self, until: Time) -> Result<u32, String> {
        self.saved.set(true);
        self.parts.mark(&self.sql, until)
    }

    fn save_former(&self, printed: &str, counter: &str) -> Result<u32, String> {
        self.sql.select(CREATE_FORMER, Vec::new())?;
        self.saved.set(true);
        let [printed, counter] = [printed, counter].map(|text| SqlStorageValue::String(text.to_owned()));
        self.sql.write(SAVE_FORMER, vec![printed, counter])
    }
}

/// The terms of a debt, as they are stored: the interval in nanoseconds, and the burst. Null for a
/// debt under a printed name, which has none.
fn write_terms(SavedDebt { interval, burst, .. }: SavedDebt) -> SqlStorageValue {
    match interval {
        Span::ZERO => SqlStorageValue::Null,
        _ => SqlStorageValue::String([interval.as_nanos().to_string(), burst.to_string()].join(" ")),
    }
}

/// Reads the terms of a debt; `None` if there are none. Damaged ones count as unknown: the next
/// question's are taken for them.
fn read_terms(value: &SqlStorageValue) -> Option<(Span, u64)> {
    let SqlStorageValue::String(text) = value else { return None };
    let (interval, burst) = text.split_once(' ')?;
    let (interval, burst) = (interval.parse::<u64>().ok()?, burst.parse::<u64>().ok()?);
    Gcra::new(Span::from_nanos(interval), burst).map(|gcra| (gcra.interval(), gcra.burst()))
}

/// A bucket's id, as it is stored: 32 hexadecimal digits.
fn key(id: BucketId) -> SqlStorageValue {
    SqlStorageValue::String(format!("{id:032x}"))
}
