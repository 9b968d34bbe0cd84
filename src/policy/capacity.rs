//! The load that a binding's requests may put on the origin: `in_flight`, `sockets`, `wait`,
//! `timeout`, `upload`, `socket_idle`, `priority` and `warmup`.

use core::fmt;
use std::rc::Rc;

use serde_json::Value;

use crate::limit::time::Span;
use crate::limit::warmup;
use crate::policy::allowed::Allowed;
use crate::policy::fault::{Faults, excerpt};
use crate::policy::json_table::TableFields;
use crate::policy::limit::{Mode, OnError};
use crate::policy::priority::{PRIORITIES, Priority};
use crate::policy::route_table::WrittenRoute;
use crate::policy::value;

/// The bounds of `in_flight = "auto"`, in requests. A smaller lower bound would leave only the
/// noise of single requests to measure. A larger upper bound would exceed the threads or
/// connections of a large origin; operators of larger ones write their own bounds.
const AUTO: (u64, u64) = (10, 1_000);

/// The largest cap, in requests. One actor counts all permits of a cap.
const LARGEST_CAP: u64 = 1_000_000;

/// The longest `wait`. A wait evens out jitter; a request that would wait longer should come back
/// later instead.
const LONGEST_WAIT: Span = Span::from_secs(5);

/// The bounds of `timeout` and `upload`.
const TIMEOUT: (Span, Span) = (Span::from_millis(100), Span::from_secs(600));

/// The bounds of `socket_idle`.
const SOCKET_IDLE: (Span, Span) = (Span::from_secs(30), Span::from_secs(3_600));

/// The load that a binding's requests may put on the origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    /// `in_flight`: the cap on requests at the origin.
    pub in_flight: Option<Rc<Cap>>,
    /// `sockets`: the cap on live WebSockets.
    pub sockets: Option<Rc<Cap>>,
    /// `wait`: how long a request may wait for a permit while `in_flight` is full, 1 ms to 5 s.
    /// Zero if it is not given.
    pub wait: Span,
    /// `timeout`: how long the origin may take until its answer begins, 100 ms to 10 min. `None`:
    /// the `timeout` of base holds.
    pub timeout: Option<Span>,
    /// `upload`: how long a client may bring nothing of a request's body, 100 ms to 10 min. `None`:
    /// the `upload` of base holds.
    pub upload: Option<Span>,
    /// `socket_idle`: how long nothing may pass through a live WebSocket, 30 s to 1 h. `None`: the
    /// `socket_idle` of base holds.
    pub socket_idle: Option<Span>,
    /// `priority`: the order in which requests are refused when the system is full.
    pub priority: Priority,
    /// `warmup`: how long `global` rates take to open after a cold start, 1 s to 10 min. `None`:
    /// they are open at once.
    pub warmup: Option<Span>,
}

/// The largest number of requests, or of WebSockets, at the origin at once, over all isolates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cap {
    /// The name in refusals and logs: `api/in-flight`, `base/sockets`.
    pub name: String,
    /// The name of the cap's actor: the same, whatever `name` the binding has.
    pub actor: String,
    /// The number of permits.
    pub size: Size,
    /// Whether the cap refuses, or only decides, counts and logs.
    pub mode: Mode,
    /// The result for a request if the cap's actor cannot be asked.
    pub on_error: OnError,
    /// The highest priority among the requests that meet the cap.
    pub highest: Priority,
}

/// The number of permits of a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A fixed number of permits, 1 or more.
    Fixed(u64),
    /// A number found from the origin's latency and errors. `1 ≤ least ≤ most`.
    Auto {
        /// The smallest number of permits.
        least: u64,
        /// The largest number of permits.
        most: u64,
    },
}

/// Reads the fields of one binding, given its other fields.
pub(super) struct CapacityReader<'a> {
    pub(super) table: TableFields<'a>,
    /// The name of the binding.
    pub(super) binding: &'a str,
    /// The first half of the caps' printed names.
    pub(super) first_half: &'a str,
    /// `None`: the binding is off.
    pub(super) mode: Option<Mode>,
    pub(super) on_error: Option<OnError>,
}

impl CapacityReader<'_> {
    /// Reads the fields. If the binding is off, its fields are validated and then left out, as its
    /// limits are.
    pub(super) fn read(&self, allowed: &[Allowed<'_>], routes: &[WrittenRoute], faults: &mut Faults) -> Capacity {
        let table = &self.table;
        let in_flight = table.read("in_flight", faults, size);
        let sockets = table.read("sockets", faults, |value| value::whole_number_or_text(value, 1, LARGEST_CAP, ""));
        let wait = table.read("wait", faults, |value| value::duration(value, Span::from_millis(1), LONGEST_WAIT));
        let timeout = table.read("timeout", faults, |value| value::duration(value, TIMEOUT.0, TIMEOUT.1));
        let upload = table.read("upload", faults, |value| value::duration(value, TIMEOUT.0, TIMEOUT.1));
        let socket_idle =
            table.read("socket_idle", faults, |value| value::duration(value, SOCKET_IDLE.0, SOCKET_IDLE.1));
        let priority = table.read("priority", faults, |value| value::choice(value, PRIORITIES));
        let warmup = table.read("warmup", faults, |value| value::duration(value, Span::from_secs(1), warmup::LONGEST));

        if wait.is_some() && !table.has("in_flight") {
            faults.add(table.location("wait"), "there is no in_flight here to wait for: add it, or remove wait");
        }
        if warmup.is_some() && !allowed.iter().any(Allowed::may_be_global_rate) {
            faults.add(
                table.location("warmup"),
                "there is no global rate here to open slowly: add one, or remove warmup",
            );
        }
        if sockets.is_some() && !routes.is_empty() && !routes.iter().any(|route| route.pattern.accepts_method("GET")) {
            faults.add(
                table.location("sockets"),
                "a WebSocket begins with a GET, and none of the routes takes one: add GET, or remove sockets",
            );
        }

        let Some(mode) = self.mode else { return Capacity::default() };
        let on_error = self.on_error.unwrap_or(OnError::Closed);
        let cap = |kind: &str, size| {
            let (name, actor) = (format!("{}/{kind}", self.first_half), format!("{}/{kind}", self.binding));
            Rc::new(Cap { name, actor, size, mode, on_error, highest: Priority::Low })
        };
        Capacity {
            in_flight: in_flight.map(|size| cap("in-flight", size)),
            sockets: sockets.map(|most| cap("sockets", Size::Fixed(most))),
            wait: wait.unwrap_or(Span::ZERO),
            timeout,
            upload,
            socket_idle,
            priority: priority.unwrap_or_default(),
            warmup,
        }
    }
}

/// Reads `200`, `"200"`, `"auto"` or `"auto 20..500"`.
fn size(value: &Value) -> Result<Size, String> {
    let Some(bounds) = value.as_str().and_then(|text| text.strip_prefix("auto")) else {
        return value::whole_number_or_text(value, 1, LARGEST_CAP, "").map(Size::Fixed).map_err(|problem| {
            format!("{problem}, \"auto\", or \"auto MIN..MAX\" such as \"auto {}..{}\"", AUTO.0, AUTO.1)
        });
    };
    if bounds.is_empty() {
        return Ok(Size::Auto { least: AUTO.0, most: AUTO.1 });
    }
    let bound = |text: &str| value::whole_number_or_text(&Value::from(text), 1, LARGEST_CAP, "").ok();
    let read = bounds.strip_prefix(' ').and_then(|bounds| bounds.split_once(".."));
    match read.and_then(|(least, most)| bound(least).zip(bound(most))) {
        Some((least, most)) if least <= most => Ok(Size::Auto { least, most }),
        Some((least, most)) => {
            Err(format!("{}: {least} is above {most}, expected the smaller one first", excerpt(value)))
        }
        None => Err(format!(
            "{}: expected \"auto MIN..MAX\" with whole numbers from 1 to {LARGEST_CAP}, such as \"auto {}..{}\"",
            excerpt(value),
            AUTO.0,
            AUTO.1
        )),
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
