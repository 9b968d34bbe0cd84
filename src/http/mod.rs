//! Requests in, answers out. [`problem`], [`rate_headers`] and [`target`] are text and arithmetic; [`serve`], [`proxy`],
//! [`capacity`], [`stay`] and `relay` touch the platform, through [`glue`] where that saves calls.

pub mod answer;
pub mod arrived;
pub mod capacity;
pub mod cause;
pub mod conduct;
pub mod cors;
pub mod glue;
pub mod negotiate;
pub mod page;
pub mod problem;
pub mod proxy;
pub mod rate_headers;
mod relay;
pub mod report;
pub mod respond;
pub mod serve;
pub mod stay;
pub mod target;
mod tongue;
