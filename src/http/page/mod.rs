//! A problem as a person reads it: one small page that needs nothing but itself.
//!
//! Without a script it says when to come back, and has a link. With one it counts down, and asks again by itself when the time has
//! come: for a GET alone; in a tab that is seen, or else when it is seen again; a moment late, since many may be waiting for the
//! same one; and a few times at most. How often it has done so is kept in the tab, under the page's address; where nothing can be kept
//! it does not ask again by itself.

use crate::http::answer::{MethodKind, Recipient};
use crate::http::negotiate::Language;
use crate::http::problem::Problem;
use crate::http::problem_kind::ProblemKind;
use std::sync::LazyLock;

mod text;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page's Content-Security-Policy: its own style and script by their SHA-256 in base64 (`openssl dgst -sha256 -binary FILE |
/// base64`; tests say so where one is out of date), and nothing else. The icon is there, and empty, so that no browser asks for
/// another one.
pub const POLICY: &str = "default-src 'none'; style-src 'sha256-vz82xdvMk6pmCyjfb6SoggpKZc0nwMdfWrJ2CZLRx+0='; \
    script-src 'sha256-lOe5oSxhFH//lOQ6bL4EoL34Gsyd35MdJEl6SGzvjlY='; img-src data:; base-uri 'none'; form-action 'none'";

/// HTML as it grows.
struct Html(String);

impl Html {
    /// Adds HTML.
    fn raw(&mut self, parts: &[&str]) -> &mut Html {
        parts.iter().for_each(|part| self.0.push_str(part));
        self
    }

    /// Adds `text` in which nothing means anything to HTML, inside of an element or of a quoted attribute.
    fn text(&mut self, text: &str) -> &mut Html {
        // Each part ends with what means something, but for the last, which may not.
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

/// The page about `problem`.
pub fn page(problem: &Problem<'_>, recipient: &Recipient) -> String {
    let language = recipient.language;
    let (title, story) = language.story(problem.cause);
    let mut html = Html(String::with_capacity(6 * 1024));
    for (before, name) in PIECES.iter() {
        html.raw(&[before]);
        match *name {
            "lang" => _ = html.text(language.tag()),
            "title" => _ = html.text(title),
            "story" => _ = html.text(story),
            "style" => _ = html.raw(&[STYLE]),
            "data" => data(&mut html, problem, recipient),
            "when" => when(&mut html, problem, language),
            "parts" => parts(&mut html, problem, recipient),
            "footer" => footer(&mut html, problem),
            // What needs no script has none: the policy allows this one alone.
            "script" if problem.retry_after.is_some() => _ = html.raw(&["<script>", SCRIPT, "</script>"]),
            _ => {}
        }
    }
    html.0
}

/// What the script is told, as attributes.
fn data(html: &mut Html, problem: &Problem<'_>, recipient: &Recipient) {
    let Some(wait) = problem.retry_after else { return };
    let text_of = recipient.language.text_of();
    html.raw(&[" data-wait=\"", &wait.to_string(), "\""]);
    let mut attribute = |name: &str, text: &str| {
        html.raw(&[" data-", name, "=\""]).text(text).raw(&["\""]);
    };
    attribute("now", text_of.now);
    attribute("left", text_of.left);
    if recipient.sends == MethodKind::Get {
        attribute("self", text_of.by_itself);
        attribute("again", text_of.trying);
        attribute("over", text_of.over);
    }
}

/// The sentence that says when to try again. A quota's instant stands in its own zone; the script puts it into the reader's.
fn when(html: &mut Html, problem: &Problem<'_>, language: Language) {
    let Some(wait) = problem.retry_after else { return };
    let text_of = language.text_of();
    html.raw(&["<p id=\"when\">"]);
    if let (Some(zone), Some(at)) = (problem.midnight, &problem.retry_at) {
        let (before, after) = text_of.next_day;
        let [date, time] = [at.get(..10), at.get(11..16)].map(Option::unwrap_or_default);
        html.text(before).raw(&["<time id=\"time\" datetime=\""]).text(at).raw(&["\">"]);
        html.text(date).text(" ").text(time).text(" (").text(&zone.to_string()).text(")");
        html.raw(&["</time>"]).text(after);
    } else {
        let (before, after) = text_of.after;
        html.text(before).text(&language.span(wait)).text(after);
    }
    html.raw(&["</p>\n"]);
}

/// What the operator has to say, and where to go from here.
fn parts(html: &mut Html, problem: &Problem<'_>, recipient: &Recipient) {
    let text_of = recipient.language.text_of();
    if recipient.sends == MethodKind::Other && problem.retry_after.is_some() {
        html.raw(&["<p class=\"aside\">"]).text(text_of.lost).raw(&["</p>\n"]);
    }
    if let Some(message) = problem.words.message {
        html.raw(&["<p class=\"said\">"]).text(message).raw(&["</p>\n"]);
    }
    let asks_again = recipient.sends != MethodKind::Other && problem.cause != ProblemKind::Blocked;
    if !asks_again && problem.words.docs.is_none() {
        return;
    }
    html.raw(&["<nav>"]);
    if asks_again {
        // The empty address is that of the page itself.
        html.raw(&["<a class=\"again\" href=\"\">"]).text(text_of.again).raw(&["</a>"]);
    }
    if let Some(docs) = problem.words.docs {
        html.raw(&["<a rel=\"help\" href=\""]).text(docs).raw(&["\">"]).text(text_of.docs).raw(&["</a>"]);
    }
    html.raw(&["</nav>\n"]);
}

/// What a person can quote to whoever runs the site.
fn footer(html: &mut Html, problem: &Problem<'_>) {
    html.text(&problem.cause.status().to_string()).text(" · ").text(problem.cause.as_str());
    if let Some(name) = problem.limit_name() {
        html.text(" · ").text(name);
    }
}

/// The template in pieces: a text, and the name that follows it. Taken apart once, since looking for names costs as much as all the rest.
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
