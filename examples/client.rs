//! A client that behaves: it waits as long as it is told, and a little longer; it stops in time; and it asks no second time
//! for a day that is used up.
//!
//! `cargo run --example client -- URL [SECONDS [BODY]]`

#[cfg(not(target_arch = "wasm32"))]
mod polite {
    use serde_json::Value;
    use std::hash::{BuildHasher, RandomState};
    use std::thread::sleep;
    use std::time::{Duration, Instant};
    use ureq::http::Response;
    use ureq::{Agent, Body, Error};

    /// Refusals that end by themselves soon. Whoever gives one has not passed the request on, so it may be sent again, a POST too.
    const PASSING: [&str; 3] = ["rate_limited", "over_capacity", "limiter_unavailable"];

    /// Sends a GET, or a POST where there is a `body`: the status and the text that came back. Does not try again when `patience` is
    /// over: the refusal is then the answer.
    ///
    /// # Errors
    /// Those of the connection.
    #[expect(clippy::disallowed_methods, reason = "a client waits by its own clock")]
    pub fn request(url: &str, body: Option<&str>, patience: Duration) -> Result<(u16, String), Error> {
        let agent: Agent = Agent::config_builder().http_status_as_error(false).build().into();
        let begun = Instant::now();
        loop {
            let mut answer = match body {
                Some(body) => agent.post(url).send(body)?,
                None => agent.get(url).call()?,
            };
            let text = answer.body_mut().read_to_string()?;
            match to_wait(&answer, &text) {
                Some(wait) if begun.elapsed().saturating_add(wait) <= patience => sleep(wait),
                _ => return Ok((answer.status().as_u16(), text)),
            }
        }
    }

    /// How long until the request is worth sending again; `None` where it is not.
    fn to_wait(answer: &Response<Body>, text: &str) -> Option<Duration> {
        let header = |name| answer.headers().get(name)?.to_str().ok();
        let seconds: u32 = header("retry-after")?.parse().ok()?;
        if answer.status().is_success() || !header("content-type")?.starts_with("application/problem+json") {
            return None;
        }
        let problem: Value = serde_json::from_str(text).ok()?;
        let passing = PASSING.contains(&problem.get("reason")?.as_str()?);
        // Up to a tenth more, a second at least: others were told the same time.
        let more = f64::from(seconds / 10).max(1.0) * f64::from(random()) / f64::from(u32::MAX);
        passing.then(|| Duration::from_secs_f64(f64::from(seconds) + more))
    }

    /// Random enough to spread clients: the standard library seeds its hashers so.
    fn random() -> u32 {
        u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or_default()
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (url, seconds, body) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [url] => (url, "60", None),
        [url, seconds] => (url, seconds, None),
        [url, seconds, body] => (url, seconds, Some(body)),
        _ => return Err("usage: client URL [SECONDS [BODY]]".into()),
    };
    let (status, text) = polite::request(url, body, std::time::Duration::from_secs_f64(seconds.parse()?))?;
    println!("{status} {text}");
    Ok(())
}

/// It runs where there are threads to wait in.
#[cfg(target_arch = "wasm32")]
fn main() {}
