//! The log: one JSON line per refusal, and one per warning, for the tools that collect a Worker's
//! logs. During a flood of refusals one line stands for many. A request that passes logs nothing.
//!
//! - [`lines`]: the lines themselves
//! - [`request_id`]: the id that a log line and an answer share
//! - [`refusal_sampler`]: counts refusals during a flood, in place of a line for each
//! - [`warnings`]: keeps repeated warnings out of the log

pub mod lines;
pub mod refusal_sampler;
pub mod request_id;
pub mod warnings;

use crate::gate::decision::{CapRefusal, Refusal};
use crate::identity::Subject;
use crate::policy::{Block, Policy};
use lines::{
    Effect, LoggedRequest, RefusalKey, blocked_line, cap_refusal_line, counted_line, event_line, origin_failed_line,
    refusal_line, upload_line, warning_line,
};
use worker::{console_log, console_warn};

/// Logs a refusal by a limit.
pub fn refusal(refusal: &Refusal<'_>, effect: Effect, request: LoggedRequest<'_>) {
    console_log!("{}", refusal_line(refusal, effect, request));
}

/// Logs a refusal by a cap.
pub fn cap_refusal(refusal: &CapRefusal<'_>, caller: Subject, effect: Effect, request: LoggedRequest<'_>) {
    console_log!("{}", cap_refusal_line(refusal, caller, effect, request));
}

/// Logs a request from an address on a `BLOCK` list.
pub fn blocked(block: Block<'_>, caller: Subject, effect: Effect, request: LoggedRequest<'_>) {
    console_log!("{}", blocked_line(block, caller, effect, request));
}

/// Logs that the origin at `host` did not answer a request. `problem` is a sentence.
pub fn origin_failed(reason: &'static str, host: &str, problem: &str, request: LoggedRequest<'_>) {
    console_warn!("{}", origin_failed_line(reason, host, problem, request));
}

/// Logs that the client at the address `caller` brought the body of its request too slowly.
pub fn upload_timed_out(reason: &'static str, caller: Subject, request: LoggedRequest<'_>) {
    console_log!("{}", upload_line(reason, caller, request));
}

/// Logs that `count` refusals had no line of their own.
pub fn counted(key: &RefusalKey, count: u64, policy: &Policy) {
    console_log!("{}", counted_line(key, count, policy));
}

/// Logs the new size of the adaptive cap called `cap`. `old` is 0 when its size was not known
/// before.
pub fn cap_resized(cap: &str, old: u64, new: u64) {
    let was = if old == 0 { String::new() } else { [", was ", &old.to_string()].concat() };
    console_log!("{}", event_line("cap", cap, &["is ", &new.to_string(), &was].concat()));
}

/// Logs a warning about `place`: a limit, a cap, or a part of the Worker.
pub fn warning(place: &str, problem: &str) {
    console_warn!("{}", warning_line(place, problem));
}
