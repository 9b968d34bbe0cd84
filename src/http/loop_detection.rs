//! The mark by which a deployment recognises its own requests when they come back to it.
//!
//! Each deployment adds its mark to the requests that it forwards. A request that passes through
//! several deployments carries the marks of all of them, since it may come back by way of another.
//! A deployment cannot tell the mark of another from a text of the same form.

use crate::identity::Subject;

/// The request header that carries the marks. Marks are separated by commas.
pub const HEADER: &str = "penstock-hop";

/// The most marks that a request carries on. With more, a client's own text could be longer; with
/// fewer, a circle of as many deployments would go on for ever.
const MOST_MARKS: usize = 16;

/// Returns whether `marks`, the value of [`HEADER`] on an incoming request, contains `own_mark`.
/// Then this deployment has forwarded the request before, and the origin leads back to it.
pub fn contains(marks: &str, own_mark: &str) -> bool {
    marks.split(',').any(|mark| mark.trim_ascii() == own_mark)
}

/// Returns the value of [`HEADER`] for a request that came with `received` there: the last marks,
/// and then `own_mark`. All that has not the form of a mark is left out.
pub fn passed_on(received: &str, own_mark: &str) -> String {
    let is_mark = |mark: &&str| mark.parse::<Subject>().is_ok();
    let marks: Vec<&str> = received.split(',').map(str::trim_ascii).filter(is_mark).chain([own_mark]).collect();
    marks.get(marks.len().saturating_sub(MOST_MARKS)..).unwrap_or_default().join(", ")
}
