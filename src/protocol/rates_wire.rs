//! Questions and answers about rates and quotas as text, in JSON.
//!
//! The texts are small enough for a header. A Durable Object would have to read a body through
//! streams, chunk by chunk. For a few seconds after a deploy, old and new code talk to each other,
//! so tests pin these texts: they may gain fields, and must not change.

use crate::identity::digest::Subject;
use crate::limit::calendar::Zone;
use crate::limit::counted::counted;
use crate::limit::gcra::Gcra;
use crate::limit::lease::Wish;
use crate::limit::share::{Fraction, Part, Question};
use crate::limit::time::Span;
use crate::protocol::rates::{
    Ask, Demand, Enforcement, Grant, Intent, Outcome, PartAsk, PartReply, Reply, Terms, UnusedTokens,
};
use serde::{Deserialize, Serialize};

/// The version of both texts. It changes if an older reader would misunderstand a text. It stays if
/// a field is added, which older readers skip.
const VERSION: u8 = 1;

#[derive(Serialize, Deserialize)]
struct AskText {
    v: u8,
    #[serde(with = "IntentText")]
    intent: Intent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    demands: Vec<DemandText>,
    durable_after: Span,
    patience: Span,
    #[serde(default, skip_serializing_if = "is_zero_span")]
    horizon: Span,
}

/// The text form of [`Intent`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Intent", rename_all = "lowercase")]
enum IntentText {
    Take,
    Peek,
}

#[derive(Serialize, Deserialize)]
struct DemandText {
    limit: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counter: Option<String>,
    cost: u64,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    each: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    wish: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    waiting: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    owed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    back: Option<UnusedText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part: Option<PartAskText>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    shadow: bool,
    #[serde(default, skip_serializing_if = "is_zero_span")]
    warmup: Span,
    #[serde(flatten)]
    terms: TermsText,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TermsText {
    Rate { interval: Span, burst: u64 },
    Quota { count: u64, zone: String },
}

#[derive(Serialize, Deserialize)]
struct UnusedText {
    tokens: u64,
    until: u64,
}

/// A question for a part: holder, number, number of the part in hand, room kept, tokens given up,
/// and the demand in tokens per second.
#[derive(Serialize, Deserialize)]
struct PartAskText(u64, u64, u64, u64, u64, f64);

/// An answer: the time before the next question, and the part. A part is its fraction in parts of
/// 2³², its room, its tokens and its term.
#[derive(Serialize, Deserialize)]
struct PartReplyText(Span, Option<(u64, u64, u64, Span)>);

#[derive(Serialize, Deserialize)]
struct ReplyText {
    v: u8,
    outcomes: Vec<OutcomeText>,
    #[serde(default)]
    grants: Vec<Option<GrantText>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Option<PartReplyText>>,
    horizon: Span,
    d1: u32,
    rows: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct OutcomeText(#[serde(with = "OutcomeFields")] Outcome);

/// The text form of [`Outcome`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Outcome", rename_all = "lowercase")]
enum OutcomeFields {
    Met {
        left: u64,
        more: Span,
        #[serde(default)]
        slot: Span,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
    },
    Refused {
        left: u64,
        wait: Span,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
    },
    Full {
        wait: Span,
    },
    Unknown,
}

#[derive(Serialize, Deserialize)]
struct GrantText {
    count: u64,
    #[serde(default)]
    first: Span,
}

/// Writes a question.
pub fn write_ask(ask: &Ask) -> String {
    let demands = ask.demands.iter().map(|demand| DemandText {
        limit: demand.limit.clone(),
        counter: demand.counter.clone(),
        cost: demand.cost,
        each: demand.per_request,
        wish: demand.wish.ahead,
        waiting: demand.wish.waiting,
        owed: demand.unreported,
        back: demand.unused.map(|UnusedTokens { tokens, until }| UnusedText { tokens, until }),
        part: demand.part.map(|PartAsk { question, demand }| {
            let Question { holder, seq, base, keep, back } = question;
            PartAskText(holder, seq, base, keep, back, demand)
        }),
        shadow: demand.enforcement == Enforcement::Shadow,
        warmup: demand.warmup,
        terms: match &demand.terms {
            Terms::Rate(gcra) => TermsText::Rate { interval: gcra.interval(), burst: gcra.burst() },
            Terms::Quota(count, zone) => TermsText::Quota { count: *count, zone: zone.to_string() },
        },
    });
    let text = AskText {
        v: VERSION,
        intent: ask.intent,
        subject: ask.subject.map(|subject| subject.to_string()),
        demands: demands.collect(),
        durable_after: ask.durable_after,
        patience: ask.patience,
        horizon: ask.horizon,
    };
    serde_json::to_string(&text).unwrap_or_default()
}

/// Reads a question.
///
/// # Errors
/// A sentence that names the part that cannot be read.
pub fn read_ask(text: &str) -> Result<Ask, String> {
    let text: AskText = serde_json::from_str(text).map_err(|error| error.to_string())?;
    version(text.v)?;
    let subject = text.subject.map(|hex| hex.parse::<Subject>().map_err(|_| format!("subject {hex:?}")));
    Ok(Ask {
        intent: text.intent,
        subject: subject.transpose()?,
        demands: text.demands.into_iter().map(read_demand).collect::<Result<_, String>>()?,
        durable_after: text.durable_after,
        patience: text.patience,
        horizon: text.horizon,
    })
}

fn read_demand(text: DemandText) -> Result<Demand, String> {
    let terms = match text.terms {
        TermsText::Rate { interval, burst } => {
            Gcra::new(interval, burst).map(Terms::Rate).ok_or_else(|| format!("interval {interval}, burst {burst}"))?
        }
        TermsText::Quota { count, zone } => {
            Terms::Quota(count, zone.parse::<Zone>().map_err(|error| error.to_string())?)
        }
    };
    let enforcement = if text.shadow { Enforcement::Shadow } else { Enforcement::Enforced };
    let DemandText { limit, counter, cost, each, wish, waiting, owed, back, part, warmup, .. } = text;
    let wish = Wish { ahead: wish, waiting };
    Ok(Demand {
        limit,
        counter,
        terms,
        cost,
        per_request: each,
        wish,
        unreported: owed,
        part: part.map(|PartAskText(holder, seq, base, keep, back, demand)| PartAsk {
            question: Question { holder, seq, base, keep, back },
            demand,
        }),
        unused: back.map(|UnusedText { tokens, until }| UnusedTokens { tokens, until }),
        enforcement,
        warmup,
    })
}

/// Writes an answer.
pub fn write_reply(reply: &Reply) -> String {
    let text = ReplyText {
        v: VERSION,
        outcomes: reply.outcomes.iter().copied().map(OutcomeText).collect(),
        grants: reply
            .grants
            .iter()
            .map(|grant| grant.map(|Grant { count, first }| GrantText { count, first }))
            .collect(),
        parts: reply.parts.iter().map(|reply| reply.map(write_part)).collect(),
        horizon: reply.horizon,
        d1: reply.d1,
        rows: reply.rows,
    };
    serde_json::to_string(&text).unwrap_or_default()
}

/// Reads the answer to a question of `demands` demands.
///
/// # Errors
/// A sentence that names the part that cannot be read.
pub fn read_reply(text: &str, demands: usize) -> Result<Reply, String> {
    let text: ReplyText = serde_json::from_str(text).map_err(|error| error.to_string())?;
    version(text.v)?;
    if text.outcomes.len() != demands {
        return Err(format!("{} for {}", counted(text.outcomes.len(), "outcome"), counted(demands, "demand")));
    }
    let outcomes = text.outcomes.into_iter().map(|OutcomeText(outcome)| outcome).collect();
    let grants = text.grants.into_iter().map(|grant| grant.map(|GrantText { count, first }| Grant { count, first }));
    let mut grants: Vec<Option<Grant>> = grants.collect();
    grants.resize(demands, None);
    let parts = text.parts.into_iter().map(|reply| reply.map(read_part)).collect();
    Ok(Reply { outcomes, grants, parts, horizon: text.horizon, d1: text.d1, rows: text.rows })
}

fn write_part(reply: PartReply) -> PartReplyText {
    let part = reply.part.map(|Part { fraction, room, tokens, term }| (fraction.parts(), room, tokens, term));
    PartReplyText(reply.again, part)
}

fn read_part(PartReplyText(again, part): PartReplyText) -> PartReply {
    let part = part.map(|(fraction, room, tokens, term)| {
        let fraction = Fraction::from_parts(fraction);
        Part { fraction, room, tokens, term }
    });
    PartReply { part, again }
}

fn one() -> u64 {
    1
}

fn is_one(number: &u64) -> bool {
    *number == 1
}

fn is_zero_span(span: &Span) -> bool {
    *span == Span::ZERO
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn version(found: u8) -> Result<(), String> {
    if found == VERSION { Ok(()) } else { Err(format!("version {found}, expected {VERSION}")) }
}
