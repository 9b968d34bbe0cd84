//! Requests in, answers out. The modules, in the order in which a request meets them:
//!
//! - [`isolate`]: the state that an isolate keeps between requests, and the configuration it has
//!   read
//! - [`serve`]: one request from its arrival to its answer
//! - [`incoming`]: the request's method, URL and headers
//! - [`request_context`]: the request with everything that its stages share
//! - [`target`]: the parts of its URL
//! - [`loop_detection`]: recognises requests that this deployment has forwarded before
//! - [`preflight`]: recognises CORS preflights
//! - [`request_log`]: the log lines about one request
//!
//! Refusing, which is text and arithmetic:
//!
//! - [`problem`]: the facts about a refusal or failure, and their forms as JSON and as text
//! - [`problem_kind`]: the reason, status, type and title of each kind of problem
//! - [`problem_detail`]: the sentences that explain a refusal
//! - [`negotiate`]: the format and the language that the client reads
//! - [`language`]: the language alone, of the page and of the operator's texts
//! - `accept_list`: the parser of lists with weights
//! - [`answer`]: the status, headers and body of the answer
//! - [`refusal_page`]: the body for a person in a browser
//! - [`rpc`]: the errors of gRPC-Web and Connect
//! - [`rate_headers`]: `RateLimit`, `RateLimit-Policy` and `X-RateLimit-*`
//! - [`cors`]: the headers that let a page of another origin read a refusal
//! - [`respond`]: the answer as the runtime's response, and `Penstock-Trace`
//!
//! Forwarding, which works with the runtime's own objects:
//!
//! - [`origin_request`]: the request for the origin
//! - `forwarded`: the headers that tell an `ORIGIN` how the client asked
//! - [`forward`]: the exchange with the origin where permits, a timeout or a trace depend on it
//! - [`in_flight`]: the permits of one request, until it ends
//! - [`permit_heartbeat`]: the sign once a second that a request is still in flight
//! - `relay`: passes on bodies, and tells when they end
//! - `socket_relay`: passes on WebSocket messages, and tells when they end
//! - [`request_bounds`]: ends a request whose body or origin takes too long
//! - [`fetch_api`]: requests, responses and `fetch`, with few calls into JavaScript

mod accept_list;
pub mod answer;
pub mod cors;
pub mod fetch_api;
pub mod forward;
mod forwarded;
pub mod in_flight;
pub mod incoming;
pub mod isolate;
pub mod language;
pub mod loop_detection;
pub mod negotiate;
pub mod origin_request;
pub mod permit_heartbeat;
pub mod preflight;
pub mod problem;
pub mod problem_detail;
pub mod problem_kind;
pub mod rate_headers;
pub mod refusal_page;
mod relay;
pub mod request_bounds;
pub mod request_context;
pub mod request_log;
pub mod respond;
pub mod rpc;
pub mod serve;
mod socket_relay;
pub mod target;
