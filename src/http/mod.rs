//! Requests in, answers out. [`problem`], [`rate_headers`] and [`target`] are text and arithmetic; [`serve`], [`proxy`],
//! [`capacity`], [`stay`] and `relay` touch the platform, through [`glue`] where that saves calls.

pub mod answer;
pub mod cors;
pub mod forward;
pub mod in_flight;
pub mod incoming;
pub mod isolate;
pub mod js_request;
pub mod negotiate;
pub mod page;
pub mod permit_heartbeat;
pub mod problem;
pub mod problem_kind;
pub mod proxy;
pub mod rate_headers;
mod relay;
pub mod request_context;
pub mod request_log;
pub mod respond;
pub mod serve;
pub mod target;
