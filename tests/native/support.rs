//! Stand-ins for the platform: a disk and a ledger in memory, with faults to switch on, and a clock to set.

use core::cell::{Cell, RefCell};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use penstock::actor::rates::answer::answer;
use penstock::actor::rates::buckets::{BucketStore, Buckets};
use penstock::actor::rates::cuts::SavedPart;
use penstock::identity::Subject;
use penstock::ledger::{Added, Entry, Ledger, Source, UnusedQuota};
use penstock::limit::bucket_table::BucketId;
use penstock::limit::debt::SavedDebt;
use penstock::limit::gcra::Gcra;
use penstock::limit::lease::Wish;
use penstock::limit::share::HolderId;
use penstock::limit::time::{Span, Time};
use penstock::limit::warmup::SavedWarmup;
use penstock::protocol::rates::{Ask, Demand, Enforcement, Intent, Outcome, Reply, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// The platform's part of a valid `wrangler.toml`.
pub const PLATFORM: &str = r#"
compatibility_flags = ["enable_request_signal"]
workers_dev = false
routes = [{ pattern = "api.example.com/*", zone_name = "example.com" }]
[[durable_objects.bindings]]
name = "BUCKETS"
class_name = "BucketActor"
[[migrations]]
tag = "v1"
new_sqlite_classes = ["BucketActor"]
[[d1_databases]]
binding = "DB"
database_name = "penstock"
database_id = "0"
"#;

/// 2026-11-29T18:00:00Z.
pub const EVENING: Time = Time::from_millis(1_795_975_200_000);

/// Runs a future to its end, polling it again and again.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// Lets whatever else is running have a turn.
#[derive(Default)]
pub struct Turn(bool);

impl Future for Turn {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        context.waker().wake_by_ref();
        if core::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// A disk that remembers, or refuses.
#[derive(Default)]
pub struct FakeDisk {
    pub rows: RefCell<BTreeMap<BucketId, SavedDebt>>,
    pub former: RefCell<BTreeMap<String, String>>,
    pub warm: RefCell<BTreeMap<BucketId, String>>,
    pub parts: RefCell<BTreeMap<(BucketId, HolderId), String>>,
    pub mark: Cell<Time>,
    pub full: Cell<bool>,
}

impl BucketStore for FakeDisk {
    fn save(&self, id: BucketId, debt: SavedDebt) -> Result<u32, String> {
        if self.full.get() {
            return Err("SQLITE_FULL".into());
        }
        self.rows.borrow_mut().insert(id, debt);
        Ok(1)
    }

    fn save_warm(&self, id: BucketId, warm: &SavedWarmup) -> Result<u32, String> {
        if self.full.get() {
            return Err("SQLITE_FULL".into());
        }
        self.warm.borrow_mut().insert(id, warm.write());
        Ok(1)
    }

    fn retire(&self, id: BucketId) -> Result<u32, String> {
        let gone = [self.rows.borrow_mut().remove(&id).is_some(), self.warm.borrow_mut().remove(&id).is_some()];
        Ok(gone.into_iter().map(u32::from).sum())
    }

    fn save_part(&self, id: BucketId, holder: HolderId, part: Option<&SavedPart>) -> Result<u32, String> {
        if self.full.get() {
            return Err("SQLITE_FULL".into());
        }
        match part {
            Some(part) => self.parts.borrow_mut().insert((id, holder), part.write()),
            None => self.parts.borrow_mut().remove(&(id, holder)),
        };
        Ok(1)
    }

    fn mark_parts(&self, until: Time) -> Result<u32, String> {
        self.mark.set(until);
        Ok(1)
    }

    fn save_former(&self, printed: &str, counter: &str) -> Result<u32, String> {
        self.former.borrow_mut().insert(printed.to_owned(), counter.to_owned());
        Ok(1)
    }
}

/// How a ledger misbehaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It does not.
    None,
    /// It is away.
    Down,
    /// It counts, and its answer is lost.
    Lost,
}

/// A ledger that counts as the statements in D1 do, and gives others a turn before it answers.
pub struct FakeLedger {
    /// Tokens by date and name of the row.
    pub used: RefCell<BTreeMap<(String, String), u64>>,
    /// The rows under printed names that no counter has taken over.
    pub by_name: RefCell<BTreeSet<(String, String)>>,
    pub fault: Cell<Fault>,
    pub statements: Cell<u32>,
}

impl Default for FakeLedger {
    fn default() -> FakeLedger {
        FakeLedger {
            used: RefCell::default(),
            by_name: RefCell::default(),
            fault: Cell::new(Fault::None),
            statements: Cell::new(0),
        }
    }
}

impl Ledger for FakeLedger {
    async fn add(&self, entry: Entry<'_>, _patience: Span) -> Result<Added, String> {
        self.statements.set(self.statements.get() + 1);
        Turn(false).await;
        if self.fault.get() == Fault::Down {
            return Err("D1 DB is overloaded".into());
        }
        let row = |name: &str| (entry.day.date.clone(), name.to_owned());
        let mut used = self.used.borrow_mut();
        match entry.source {
            Source::Takeover(printed) if self.by_name.borrow_mut().remove(&row(printed)) => {
                let taken = used.get(&row(printed)).copied().unwrap_or_default();
                *used.entry(row(entry.name)).or_default() += taken;
            }
            Source::PrintedName if !used.contains_key(&row(entry.name)) => {
                self.by_name.borrow_mut().insert(row(entry.name));
            }
            _ => {}
        }
        let used = used.entry(row(entry.name)).or_default();
        if *used + entry.cost > entry.count {
            return Ok(Added::Exhausted);
        }
        *used += entry.cost;
        match self.fault.get() {
            Fault::Lost => Err("Network connection lost".into()),
            _ => Ok(Added::Counted { used: *used }),
        }
    }

    async fn give_back(&self, rest: &UnusedQuota) -> Result<(), String> {
        let mut used = self.used.borrow_mut();
        let used = used.entry((rest.date.clone(), rest.name.clone())).or_default();
        *used = used.checked_sub(rest.tokens).ok_or("more than was used")?;
        Ok(())
    }
}

/// One actor with its disk, its ledger and its clock.
pub struct World {
    pub counter: RefCell<Buckets>,
    pub disk: FakeDisk,
    pub ledger: FakeLedger,
    pub now: Cell<Time>,
}

impl Default for World {
    fn default() -> World {
        World {
            counter: RefCell::default(),
            disk: FakeDisk::default(),
            ledger: FakeLedger::default(),
            now: Cell::new(EVENING),
        }
    }
}

impl World {
    pub fn with_capacity(capacity: usize) -> World {
        World { counter: RefCell::new(Buckets::with_capacity(capacity)), ..World::default() }
    }

    pub async fn answer(&self, ask: &Ask) -> Result<Reply, String> {
        answer(&self.counter, ask, &self.disk, &self.ledger, || self.now.get()).await
    }

    pub fn ask(&self, ask: &Ask) -> Reply {
        run(self.answer(ask)).unwrap()
    }

    /// Waits until quota tokens lie idle, and gives them back to the ledger.
    pub fn return_idle(&self) {
        self.forward(Span::from_secs(5));
        let take_idle = || self.counter.borrow_mut().take_idle_quota(self.now.get());
        while let Some(rest) = take_idle() {
            run(self.ledger.give_back(&rest)).unwrap();
        }
    }

    /// Whether the ask was met as a whole.
    pub fn passes(&self, ask: &Ask) -> bool {
        met(&self.ask(ask))
    }

    pub fn forward(&self, span: Span) {
        self.now.set(self.now.get().plus(span));
    }

    /// The actor is gone from memory and comes back with what its disk has.
    pub fn evict(&self) {
        let mut counter = Buckets::default();
        for (id, debt) in self.disk.rows.borrow().iter() {
            counter.restore(*id, *debt);
        }
        for (printed, name) in self.disk.former.borrow().iter() {
            counter.restore_former(printed, name);
        }
        for (id, state) in self.disk.warm.borrow().iter() {
            counter.restore_warm(*id, SavedWarmup::read(state).unwrap(), self.now.get());
        }
        counter.restore_parts_mark(self.disk.mark.get(), self.now.get());
        let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for ((id, holder), state) in self.disk.parts.borrow().iter() {
            parts.entry(*id).or_default().push((*holder, SavedPart::read(state).unwrap()));
        }
        for (id, parts) in parts {
            counter.restore_parts(id, parts, self.now.get());
        }
        self.counter.replace(counter);
    }
}

/// Whether every outcome is a pass.
pub fn met(reply: &Reply) -> bool {
    reply.outcomes.iter().all(|outcome| matches!(outcome, Outcome::Met { .. }))
}

/// A caller's ask, by the caller's number.
pub fn ask(caller: u8, demands: Vec<Demand>) -> Ask {
    Ask {
        intent: Intent::Take,
        subject: Some(Subject::from_bytes([caller; 16])),
        demands,
        durable_after: Span::from_secs(10),
        patience: Span::from_millis(200),
        horizon: Span::ZERO,
    }
}

/// The counter of the limit called `name`.
pub fn counted(name: &str) -> String {
    format!("{name} counted")
}

/// `burst` tokens, one back every `interval`.
pub fn rate(name: &str, interval: Span, burst: u64) -> Demand {
    let gcra = Gcra::new(interval, burst).unwrap();
    Demand {
        limit: name.into(),
        counter: Some(counted(name)),
        terms: Terms::Rate(gcra),
        cost: 1,
        per_request: 1,
        wish: Wish::default(),
        unreported: 0,
        unused: None,
        part: None,
        enforcement: Enforcement::Enforced,
        warmup: Span::ZERO,
    }
}

/// `count` a day in `zone`.
pub fn quota(name: &str, count: u64, zone: &str) -> Demand {
    let terms = Terms::Quota(count, zone.parse().unwrap());
    Demand { terms, ..rate(name, Span::from_secs(1), 1) }
}
