//! Requests in, answers out. [`problem`], [`rate_headers`] and [`target`] are text and arithmetic; [`serve`] and [`proxy`]
//! touch the platform, through [`glue`].

pub mod answer;
pub mod arrived;
pub mod cause;
pub mod cors;
pub mod glue;
pub mod negotiate;
pub mod page;
pub mod problem;
pub mod proxy;
pub mod rate_headers;
pub mod report;
pub mod serve;
pub mod target;
mod tongue;
