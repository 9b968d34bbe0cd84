//! What a request shows, read in two goes: what every request is asked, and what only a refused one is.

use crate::http::js_request::Names;
use crate::http::proxy::HOP;
use crate::http::target::Target;
use crate::identity::HeadersAndQuery;
use crate::policy::Policy;
use std::cell::OnceCell;
use web_sys::{Request, Url};

thread_local! {
    /// What is asked of a request that is refused: who reads the answer, and what the log calls it.
    static REFUSED: Names = Names::new(["accept", "accept-language", "cf-ray", "content-type", "origin"]);
}

/// A request's method, URL and headers.
pub struct Incoming<'a> {
    /// The request.
    pub request: &'a Request,
    /// Its method.
    pub method: &'a str,
    /// Its URL.
    pub url: &'a str,
    /// The same, taken apart.
    pub target: Target<'a>,
    names: &'a Names,
    fields: &'a str,
    refused: OnceCell<String>,
}

/// The headers that every request under `policy` is asked for.
pub fn asked(policy: &Policy) -> Names {
    let mut names = vec![HOP, "cf-connecting-ip", "upgrade"];
    for name in policy.key_headers() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Names::new(names)
}

/// What `names` shows of `request`, for [`Incoming::read`]. Where its host is not plain, its URL is as the URL standard reads it, which is
/// what will be forwarded in any case; one that cannot be read stays as it is.
pub fn shown(names: &Names, request: &Request) -> String {
    let shown = names.shown(request);
    let mut lines = shown.splitn(3, '\n');
    match (lines.next(), lines.next(), lines.next()) {
        (Some(method), Some(url), Some(fields)) if !Target::is_plain(url) => {
            // `OPTIONS *` is for the server as a whole, and for no path of that name.
            let whole = url.strip_suffix('*').filter(|_| Target::of(url).path_and_query.is_empty());
            let read = Url::new(whole.unwrap_or(url)).map_or_else(|_| url.to_owned(), |read| read.href());
            [method, &read, fields].join("\n")
        }
        _ => shown,
    }
}

impl<'a> Incoming<'a> {
    /// Reads what `names` has shown of `request`.
    pub fn read(request: &'a Request, names: &'a Names, shown: &'a str) -> Incoming<'a> {
        let mut lines = shown.splitn(3, '\n');
        let (method, url) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let fields = lines.next().unwrap_or_default();
        Incoming { request, method, url, target: Target::of(url), names, fields, refused: OnceCell::new() }
    }
}

impl HeadersAndQuery for Incoming<'_> {
    fn header(&self, name: &str) -> Option<String> {
        if let Some(value) = self.names.find(self.fields, name) {
            return value.map(str::to_owned);
        }
        let refused = REFUSED.with(|names| {
            let fields = || names.fields(self.request);
            let found = names.find("", name).is_some();
            found.then(|| names.find(self.refused.get_or_init(fields), name).flatten().map(str::to_owned))
        });
        refused.unwrap_or_else(|| self.request.headers().get(name).ok().flatten())
    }

    fn query(&self) -> Option<&str> {
        self.target.query()
    }
}
