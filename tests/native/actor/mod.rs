//! Actors on the host, with storage and ledger in memory.

mod permits;
mod rates;
