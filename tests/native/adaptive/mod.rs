//! The cap that finds itself, on simulated origins whose knee is known.
mod finding;
mod origin;
mod slots;
