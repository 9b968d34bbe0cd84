//! How much may be under way at once: `in_flight`, `sockets`, `wait`, `timeout`, `priority` and `warmup`.

use core::fmt;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::limit::rate::Allowance;
use crate::limit::time::Span;
use crate::limit::warmup;
use crate::policy::binding::Allowed;
use crate::policy::fault::{Faults, shown};
use crate::policy::priority::{PRIORITIES, Priority};
use crate::policy::route::Pattern;
use crate::policy::{Binding, Mode, OnError, Policy, Scope, value};

/// The bounds of `in_flight = "auto"`. Below ten, the noise of single requests is all that could be measured; a thousand is what a
/// large origin has threads or connections for, and who has more says so.
pub const AUTO: (u64, u64) = (10, 1_000);

/// The most that a cap may be: one actor keeps count of them.
const MOST: u64 = 1_000_000;

/// The longest `wait`. It is for jitter's sake: who waits longer than this should come back instead.
const LONGEST_WAIT: Span = Span::from_secs(5);

/// What a binding's requests may take of the system at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// `in_flight`: requests at the origin.
    pub in_flight: Option<Rc<Cap>>,
    /// `sockets`: live WebSockets.
    pub sockets: Option<Rc<Cap>>,
    /// `wait`: how long a full `in_flight` may be waited for, 1 ms to 5 s; zero where it is not given.
    pub wait: Span,
    /// `timeout`: how long the origin may take until its answer begins, 100 ms to 10 min.
    pub timeout: Option<Span>,
    /// `priority`: who is refused first when the system is full.
    pub priority: Priority,
    /// `warmup`: how long the shared rates take to open after a cold start, 1 s to 10 min.
    pub warmup: Option<Span>,
}

/// One cap: so many at once, everywhere together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cap {
    /// `api/in-flight`, `base/sockets`: its name in refusals and logs, and its actor's.
    pub name: String,
    /// How many.
    pub size: Size,
    /// Whether it refuses, or only decides and logs.
    pub mode: Mode,
    /// What to do when its actor cannot be asked.
    pub on_error: OnError,
    /// The highest priority among the requests that meet it.
    pub highest: Priority,
}

/// How large a cap is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// So large, ≥ 1.
    Fixed(u64),
    /// Found out from latency and errors, between these two (1 ≤ least ≤ most).
    Auto {
        /// Never smaller.
        least: u64,
        /// Never larger.
        most: u64,
    },
}

/// The fields read here, in the order in which they are named to people.
const FIELDS: &[&str] = &["in_flight", "sockets", "wait", "timeout", "priority", "warmup"];

/// Those of them that say something of a limit, which an exempt binding has none of. A deadline is no limit.
const LIMITING: &[&str] = &["in_flight", "sockets", "wait", "priority", "warmup"];

/// One binding's fields, and what was read of the others.
pub(super) struct CapacityFields<'a> {
    pub var: &'a str,
    pub name: &'a str,
    pub fields: &'a Map<String, Value>,
    pub mode: Option<Mode>,
    pub on_error: Option<OnError>,
}

/// Whether any of the fields is there.
pub(super) fn is_given(fields: &Map<String, Value>) -> bool {
    FIELDS.iter().any(|field| fields.contains_key(*field))
}

/// The fields that contradict `exempt`.
pub(super) fn limiting(fields: &Map<String, Value>) -> impl Iterator<Item = &'static str> {
    LIMITING.iter().copied().filter(|field| fields.contains_key(*field))
}

impl CapacityFields<'_> {
    /// Reads the fields. Of a binding that is off they are looked at and left out, as its limits are.
    pub(super) fn read<'r>(
        &self,
        allowed: &[Allowed<'_>],
        routes: impl Iterator<Item = &'r Pattern>,
        faults: &mut Faults,
    ) -> Capacity {
        let in_flight = self.field("in_flight", faults, size);
        let sockets = self.field("sockets", faults, |value| value::whole_or_text(value, 1, MOST, ""));
        let wait = self.field("wait", faults, |value| value::duration(value, Span::from_millis(1), LONGEST_WAIT));
        let minutes = Span::from_secs(10 * 60);
        let timeout = self.field("timeout", faults, |value| value::duration(value, Span::from_millis(100), minutes));
        let priority = self.field("priority", faults, |value| value::choice(value, PRIORITIES));
        let warmup = self.field("warmup", faults, |value| value::duration(value, Span::from_secs(1), warmup::LONGEST));

        if wait.is_some() && !self.fields.contains_key("in_flight") {
            faults.add(self.place("wait"), "there is no in_flight here to wait for: add it, or remove wait");
        }
        let rates = |allowed: &Allowed<'_>| {
            allowed.scope == Scope::Global
                && (allowed.entries.is_empty()
                    || allowed.entries.iter().any(|(_, entry)| matches!(entry, Allowance::Rate(_))))
        };
        if warmup.is_some() && !allowed.iter().any(rates) {
            faults.add(self.place("warmup"), "there is no global rate here to open slowly: add one, or remove warmup");
        }
        let mut routes = routes.peekable();
        if sockets.is_some() && routes.peek().is_some() && !routes.any(|pattern| pattern.takes("GET")) {
            faults.add(
                self.place("sockets"),
                "a WebSocket begins with a GET, and none of the routes takes one: add GET, or remove sockets",
            );
        }

        let Some(mode) = self.mode else { return Capacity::default() };
        let on_error = self.on_error.unwrap_or(OnError::Closed);
        let cap = |kind: &str, size| {
            let name = format!("{}/{kind}", self.name);
            Rc::new(Cap { name, size, mode, on_error, highest: Priority::Low })
        };
        Capacity {
            in_flight: in_flight.map(|size| cap("in-flight", size)),
            sockets: sockets.map(|most| cap("sockets", Size::Fixed(most))),
            wait: wait.unwrap_or(Span::ZERO),
            timeout,
            priority: priority.unwrap_or_default(),
            warmup,
        }
    }

    fn place(&self, field: &str) -> String {
        format!("{}.{field}", self.var)
    }

    fn field<T>(&self, field: &str, faults: &mut Faults, read: impl Fn(&Value) -> Result<T, String>) -> Option<T> {
        faults.keep(&self.place(field), read(self.fields.get(field)?))
    }
}

/// `200`, `"200"`, `"auto"` or `"auto 20..500"`.
fn size(value: &Value) -> Result<Size, String> {
    let Some(bounds) = value.as_str().and_then(|text| text.strip_prefix("auto")) else {
        return value::whole_or_text(value, 1, MOST, "").map(Size::Fixed).map_err(|problem| {
            format!("{problem}, \"auto\", or \"auto MIN..MAX\" such as \"auto {}..{}\"", AUTO.0, AUTO.1)
        });
    };
    if bounds.is_empty() {
        return Ok(Size::Auto { least: AUTO.0, most: AUTO.1 });
    }
    let bound = |text: &str| value::whole_or_text(&Value::from(text), 1, MOST, "").ok();
    let read = bounds.strip_prefix(' ').and_then(|bounds| bounds.split_once(".."));
    match read.and_then(|(least, most)| bound(least).zip(bound(most))) {
        Some((least, most)) if least <= most => Ok(Size::Auto { least, most }),
        Some((least, most)) => {
            Err(format!("{}: {least} is above {most}, expected the smaller one first", shown(value)))
        }
        None => Err(format!(
            "{}: expected \"auto MIN..MAX\" with whole numbers from 1 to {MOST}, such as \"auto {}..{}\"",
            shown(value),
            AUTO.0,
            AUTO.1
        )),
    }
}

impl Policy {
    /// All caps.
    pub fn caps(&self) -> impl Iterator<Item = &Rc<Cap>> {
        let capacities = self.base.iter().chain(&self.bindings).map(|binding| &binding.capacity);
        capacities.flat_map(|capacity| [&capacity.in_flight, &capacity.sockets]).flatten()
    }

    /// The cap with this name.
    pub fn cap(&self, name: &str) -> Option<&Rc<Cap>> {
        self.caps().find(|cap| cap.name == name)
    }

    /// How long the origin may take to answer a request for `route`: what its binding says, or else base, which an exempt
    /// binding does not meet.
    pub fn timeout(&self, route: Option<&Binding>) -> Option<Span> {
        let base = self.base.as_ref().filter(|_| !route.is_some_and(|binding| binding.exempt));
        let own = route.and_then(|binding| binding.capacity.timeout);
        own.or_else(|| base.and_then(|binding| binding.capacity.timeout))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Fixed(most) => write!(f, "{most}"),
            Size::Auto { least, most } => write!(f, "auto {least}..{most}"),
        }
    }
}
