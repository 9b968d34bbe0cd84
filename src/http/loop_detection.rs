//! The mark by which a deployment recognises its own requests when they come back to it.
//!
//! Each deployment adds its mark to the requests that it forwards. A request that passes through
//! several deployments carries the marks of all of them, since it may come back by way of another.

/// The request header that carries the marks. Marks are separated by commas.
pub const HEADER: &str = "penstock-hop";

/// Returns whether `marks`, the value of [`HEADER`] on an incoming request, contains `own_mark`.
/// Then this deployment has forwarded the request before, and the origin leads back to it.
pub fn contains(marks: &str, own_mark: &str) -> bool {
    marks.split(',').any(|mark| mark.trim_ascii() == own_mark)
}
