//! A problem as a person reads it: one small page that needs nothing but itself.
//!
//! Without a script it says when to come back, and has a link. With one it counts down, and asks again by itself when the time has
//! come: for a GET alone; in a tab that is seen, or else when it is seen again; a moment late, since many may be waiting for the
//! same one; and a few times at most. How often it has done so is kept in the tab, under the page's address; where nothing can be kept
//! it does not ask again by itself.

use super::answer::{Asker, Sends};
use super::cause::Cause;
use super::negotiate::Language;
use super::problem::Problem;
use crate::gate::verdict::Reason;
use crate::limit::rate::Allowance;
use std::sync::LazyLock;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!("<script>", include_str!("page/page.js"), "</script>");

/// The page's Content-Security-Policy: its own style and script by their SHA-256 in base64 (`openssl dgst -sha256 -binary FILE |
/// base64`; tests say so where one is out of date), and nothing else. The icon is there, and empty, so that no browser asks for
/// another one.
pub const POLICY: &str = "default-src 'none'; style-src 'sha256-vz82xdvMk6pmCyjfb6SoggpKZc0nwMdfWrJ2CZLRx+0='; \
    script-src 'sha256-lOe5oSxhFH//lOQ6bL4EoL34Gsyd35MdJEl6SGzvjlY='; img-src data:; base-uri 'none'; form-action 'none'";

/// Text that is HTML already.
struct Html(String);

impl Html {
    /// `text` in which nothing means anything to HTML, inside of an element or of a quoted attribute.
    fn text(text: &str) -> Html {
        let mut html = String::with_capacity(text.len());
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
            html.push_str(plain.unwrap_or(part));
            html.push_str(escaped);
        }
        Html(html)
    }
}

/// The page about `problem`.
pub fn page(problem: &Problem<'_>, asker: &Asker) -> String {
    let language = asker.language;
    let (title, story) = language.story(problem.cause);
    let [title, story] = [title, story].map(Html::text);
    fill(&[
        ("lang", language.tag()),
        ("title", &title.0),
        ("style", STYLE),
        ("data", &data(problem, asker).0),
        ("story", &story.0),
        ("parts", &parts(problem, asker).0),
        ("footer", &footer(problem).0),
        ("script", script(problem)),
    ])
}

/// What the script is told, as attributes.
fn data(problem: &Problem<'_>, asker: &Asker) -> Html {
    let Some(wait) = problem.retry_after else { return Html(String::new()) };
    let tongue = asker.language.tongue();
    let mut data = format!(" data-wait=\"{wait}\"");
    let mut texts = vec![("now", tongue.now), ("left", tongue.left)];
    if asker.sends == Sends::Nothing {
        texts.extend([("self", tongue.by_itself), ("again", tongue.trying), ("over", tongue.over)]);
    }
    for (name, text) in texts {
        data.push_str(&format!(" data-{name}=\"{}\"", Html::text(text).0));
    }
    Html(data)
}

/// When to try again, what the operator has to say, and where to go from here.
fn parts(problem: &Problem<'_>, asker: &Asker) -> Html {
    let tongue = asker.language.tongue();
    let mut parts = String::new();
    if let Some(when) = when(problem, asker.language) {
        parts.push_str(&format!("<p id=\"when\">{}</p>\n", when.0));
    }
    if asker.sends == Sends::Something && problem.retry_after.is_some() {
        parts.push_str(&format!("<p class=\"aside\">{}</p>\n", Html::text(tongue.lost).0));
    }
    if let Some(message) = problem.words.message {
        parts.push_str(&format!("<p class=\"said\">{}</p>\n", Html::text(message).0));
    }
    let mut links = String::new();
    if asker.sends != Sends::Something && problem.cause != Cause::Blocked {
        // The empty address is that of the page itself.
        links.push_str(&format!("<a class=\"again\" href=\"\">{}</a>", Html::text(tongue.again).0));
    }
    if let Some(docs) = problem.words.docs {
        let [docs, text] = [docs, tongue.docs].map(|text| Html::text(text).0);
        links.push_str(&format!("<a rel=\"help\" href=\"{docs}\">{text}</a>"));
    }
    if !links.is_empty() {
        parts.push_str(&format!("<nav>{links}</nav>\n"));
    }
    Html(parts)
}

/// The sentence that says when to try again. A quota's instant stands in its own zone; the script puts it into the reader's.
fn when(problem: &Problem<'_>, language: Language) -> Option<Html> {
    let wait = problem.retry_after?;
    let tongue = language.tongue();
    if let (Cause::Limit(Reason::QuotaExhausted), Some(at), Some(limit)) =
        (problem.cause, &problem.retry_at, problem.limit)
        && let Allowance::Quota(quota) = &limit.allowance
    {
        let [date, time] = [at.get(..10), at.get(11..16)].map(Option::unwrap_or_default);
        let [instant, shown] =
            [at.clone(), format!("{date} {time} ({})", quota.zone())].map(|text| Html::text(&text).0);
        let time = format!("<time id=\"time\" datetime=\"{instant}\">{shown}</time>");
        return Some(Html(Html::text(tongue.next_day).0.replace("{}", &time)));
    }
    Some(Html::text(&tongue.after.replace("{}", &language.span(wait))))
}

/// What a person can quote to whoever runs the site.
fn footer(problem: &Problem<'_>) -> Html {
    let limit = problem.limit_name().map_or(String::new(), |name| format!(" · {name}"));
    Html::text(&format!("{} · {}{limit}", problem.cause.status(), problem.cause.as_str()))
}

/// What needs no script has none: the policy allows this one alone.
fn script(problem: &Problem<'_>) -> &'static str {
    if problem.retry_after.is_some() { SCRIPT } else { "" }
}

/// The template with each name replaced by its value.
fn fill(values: &[(&str, &str)]) -> String {
    let mut page = String::with_capacity(6 * 1024);
    for (text, name) in PIECES.iter() {
        page.push_str(text);
        page.extend(values.iter().filter(|(known, _)| known == name).map(|(_, value)| *value));
    }
    page
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
