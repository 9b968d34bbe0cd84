//! Who is asking: the client's address, the caller's key, and the digests that stand for them everywhere else.
//! Neither a raw key nor an address leaves this folder.
//!
//! ```text
//! headers, query ─▶ Address::read ─┐
//!                ─▶ KeySources::read ─▶ RawKey ─┴─▶ Digester ─▶ Subject
//! ```

pub mod address;
mod cookie;
pub mod digest;
pub mod key;
pub mod nets;
pub(crate) mod percent;
mod query;

pub use address::Address;
pub use digest::{Digester, Secret, Subject};
pub use key::{KeySource, KeySources, RawKey};
pub use nets::{Net, Nets};

/// What a request shows of its caller. Only these two are asked for, and only for the names that
/// [`Address::read`] and [`KeySources::read`] state.
pub trait Presented {
    /// The value of the header `name` (given in lower case); a header sent several times is joined with `, `,
    /// as `Headers.get` does. `None` where it was not sent.
    fn header(&self, name: &str) -> Option<String>;

    /// The URL's query as sent, without its `?`; `None` where there is none.
    fn query(&self) -> Option<&str>;
}

/// `text` without the optional whitespace of RFC 9110 §5.6.3 (spaces and tabs) at either end.
fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}
