//! The caller of a request: its address, its key, and the digests that stand for both.
//!
//! ```text
//! request ─▶ Address::read    ─▶ Address ─┐
//!         ─▶ KeySources::read ─▶ RawKey  ─┴─▶ Digester ─▶ Subject
//! ```
//!
//! **Invariant:** no raw key and no address leaves this folder, but for the address that `ORIGIN`
//! is told. The rest of Penstock sees a [`Subject`].
//!
//! - `address`: the client's address, read from the one header that Cloudflare writes;
//! - `cookie`: one value of a `Cookie` header;
//! - `digest`: the secret, and the keyed 128-bit digests that stand for callers;
//! - `embedded_ipv4`: the IPv4 address inside an IPv6 address;
//! - `key`: the places where callers put their key, and reading it;
//! - `networks`: networks in CIDR notation, and lists of them;
//! - `percent`: percent-encoding, one unit at a time;
//! - `query`: one value of a URL's query;
//! - `request`: the part of a request that this folder reads;
//! - `whitespace`: the optional whitespace around the value of a header.

pub mod address;
mod cookie;
pub mod digest;
mod embedded_ipv4;
pub mod key;
pub mod networks;
pub(crate) mod percent;
mod query;
mod request;
mod whitespace;

pub use address::Address;
pub use digest::{Digester, Secret, Subject};
pub use key::{KeySource, KeySources, RawKey};
pub use networks::{Net, Nets};
pub use request::HeadersAndQuery;
