//! The page about a problem, for a person in a browser: one small document that loads nothing else.
//!
//! - `text`: its texts, in each language
//! - `page.html`, `page.css`, `page.js`: its template, style and script, put into the module as
//!   they are
//!
//! Without a script the page says when to come back, and has a link that repeats the request. The
//! script counts the wait down. For a GET it also repeats the request when the wait is over:
//!
//! - only in a visible tab, or else as soon as the tab becomes visible;
//! - a random moment late, since many pages may wait for the same instant;
//! - at most three times in a row. The tab's session storage keeps the count under the page's
//!   address. A page that cannot store the count does not repeat the request.

use crate::http::language::Language;
use crate::http::negotiate::{MethodKind, Recipient};
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use std::sync::LazyLock;

mod text;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page's Content-Security-Policy. It admits the page's own style and script, by their SHA-256
/// in base64, and nothing else. After a change, `openssl dgst -sha256 -binary FILE | base64` gives
/// the new value; a test fails while it is out of date. Images may be `data:` URLs because the page
/// names an empty icon: without one a browser would ask the site for its icon.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'sha256-vz82xdvMk6pmCyjfb6SoggpKZc0nwMdfWrJ2CZLRx+0='; \
    script-src 'sha256-lOe5oSxhFH//lOQ6bL4EoL34Gsyd35MdJEl6SGzvjlY='; img-src data:; base-uri 'none'; form-action 'none'";

/// HTML under construction.
struct Html(String);

impl Html {
    /// Appends HTML as it is.
    fn raw(&mut self, parts: &[&str]) -> &mut Html {
        parts.iter().for_each(|part| self.0.push_str(part));
        self
    }

    /// Appends `text`, escaped for the inside of an element or of a quoted attribute.
    fn text(&mut self, text: &str) -> &mut Html {
        // Each part ends with a character to escape; only the last part may lack one.
        for part in text.split_inclusive(['&', '<', '>', '"', '\'']) {
            let (plain, escaped) = match part.as_bytes().last() {
                Some(b'&') => (part.strip_suffix('&'), "&amp;"),
                Some(b'<') => (part.strip_suffix('<'), "&lt;"),
                Some(b'>') => (part.strip_suffix('>'), "&gt;"),
                Some(b'"') => (part.strip_suffix('"'), "&quot;"),
                Some(b'\'') => (part.strip_suffix('\''), "&#39;"),
                _ => (None, ""),
            };
            self.raw(&[plain.unwrap_or(part), escaped]);
        }
        self
    }
}

/// Renders the page about `problem` for `recipient`.
pub fn page(problem: &Problem<'_>, recipient: &Recipient) -> String {
    let language = recipient.language;
    let (heading, explanation) = language.heading_and_text(problem.kind);
    let mut html = Html(String::with_capacity(6 * 1024));
    for (before, placeholder) in PIECES.iter() {
        html.raw(&[before]);
        match *placeholder {
            "lang" => _ = html.text(language.tag()),
            "title" => _ = html.text(heading),
            "explanation" => _ = html.text(explanation),
            "style" => _ = html.raw(&[STYLE]),
            "script_data" => script_data(&mut html, problem, recipient),
            "when" => when(&mut html, problem, language),
            "next_steps" => next_steps(&mut html, problem, recipient),
            "footer" => footer(&mut html, problem, recipient),
            // Without a wait there is nothing for the script to do.
            "script" if problem.retry_after.is_some() => _ = html.raw(&["<script>", SCRIPT, "</script>"]),
            _ => {}
        }
    }
    html.0
}

/// Adds the attributes of `<main>` that the script reads: the wait in seconds, and its texts. Only
/// a page that may repeat its request has the attributes for that.
fn script_data(html: &mut Html, problem: &Problem<'_>, recipient: &Recipient) {
    let Some(wait) = problem.retry_after else { return };
    let texts = recipient.language.texts();
    html.raw(&[" data-wait=\"", &wait.to_string(), "\""]);
    let mut attribute = |name: &str, text: &str| {
        html.raw(&[" data-", name, "=\""]).text(text).raw(&["\""]);
    };
    attribute("now", texts.try_now);
    attribute("left", texts.time_left);
    if recipient.method == MethodKind::Get {
        attribute("self", texts.will_retry);
        attribute("again", texts.trying);
        attribute("over", texts.gave_up);
    }
}

/// Adds the sentence that says when to try again. The next day of a quota is given in the quota's
/// own zone, and the script converts it to the zone of the browser.
fn when(html: &mut Html, problem: &Problem<'_>, language: Language) {
    let Some(wait) = problem.retry_after else { return };
    let texts = language.texts();
    html.raw(&["<p id=\"when\">"]);
    if let (Some(zone), Some(at)) = (problem.midnight, &problem.retry_at) {
        let (before, after) = texts.next_day;
        let [date, time] = [at.get(..10), at.get(11..16)].map(Option::unwrap_or_default);
        html.text(before).raw(&["<time id=\"time\" datetime=\""]).text(at).raw(&["\">"]);
        html.text(date).text(" ").text(time).text(" (").text(&zone.to_string()).text(")");
        html.raw(&["</time>"]).text(after);
    } else {
        let (before, after) = if problem.kind.is_crowded() { texts.room_may_be_after } else { texts.room_after };
        html.text(before).text(&language.duration(wait)).text(after);
    }
    html.raw(&["</p>\n"]);
}

/// Adds the operator's message, and the links to go on from here.
fn next_steps(html: &mut Html, problem: &Problem<'_>, recipient: &Recipient) {
    let texts = recipient.language.texts();
    if recipient.method == MethodKind::Other && problem.retry_after.is_some() {
        html.raw(&["<p class=\"aside\">"]).text(texts.not_received).raw(&["</p>\n"]);
    }
    let said = [recipient.choose_text(problem.operator.messages), problem.operator.support];
    for text in said.into_iter().flatten() {
        html.raw(&["<p class=\"said\">"]).text(text).raw(&["</p>\n"]);
    }
    let may_try_again = recipient.method != MethodKind::Other && problem.kind != ProblemKind::Blocked;
    if !may_try_again && problem.operator.docs.is_none() {
        return;
    }
    html.raw(&["<nav>"]);
    if may_try_again {
        // The empty address is the page's own.
        html.raw(&["<a class=\"again\" href=\"\">"]).text(texts.try_again).raw(&["</a>"]);
    }
    if let Some(docs) = problem.operator.docs {
        html.raw(&["<a rel=\"help\" href=\""]).text(docs).raw(&["\">"]).text(texts.read_more).raw(&["</a>"]);
    }
    html.raw(&["</nav>\n"]);
}

/// Adds the line that a person can quote to the site's operator: status, reason, limit, and the
/// request's id.
fn footer(html: &mut Html, problem: &Problem<'_>, recipient: &Recipient) {
    html.text(&problem.kind.status().to_string()).text(" · ").text(problem.kind.as_str());
    if let Some(name) = problem.limit_name() {
        html.text(" · ").text(name);
    }
    html.text(" · ").text(recipient.request_id.as_str());
}

/// The template, split at its placeholders: each text, and the name of the placeholder after it.
/// Split once per isolate, since the search for placeholders takes as long as the rest of a page.
static PIECES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let (mut pieces, mut rest) = (Vec::new(), TEMPLATE);
    while let Some((text, (name, after))) =
        rest.split_once("{{").and_then(|(text, rest)| Some((text, rest.split_once("}}")?)))
    {
        pieces.push((text, name));
        rest = after;
    }
    pieces.push((rest, ""));
    pieces
});
