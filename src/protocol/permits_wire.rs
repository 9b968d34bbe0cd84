//! Questions and answers about permits as text: words between spaces, so that no parser is needed.
//!
//! Readers skip the words that follow those known here, which later versions may add. Tests pin
//! these texts, as they do those of [`rates_wire`](crate::protocol::rates_wire).

use crate::limit::time::Span;
use crate::policy::Size;
use crate::protocol::permits::{OriginSample, PermitAsk, PermitReply, Reserve, TERM};
use core::str::SplitAsciiWhitespace;

/// The version of both texts. It changes if an older reader would misunderstand a text. It stays if
/// a word is added.
const VERSION: &str = "1";

/// Writes a question.
pub fn write_ask(ask: &PermitAsk) -> String {
    let PermitAsk { holder, number, size, keeps, wants, reserve, sample } = ask;
    let size = match size {
        Size::Fixed(most) => format!("{most}..{most}"),
        Size::Auto { least, most } => format!("auto:{least}..{most}"),
    };
    let reserve = match reserve {
        Reserve::Nothing => 0,
        Reserve::Tenth => 10,
        Reserve::Fifth => 5,
    };
    let mut text = format!("{VERSION} {holder:016x} {number} {size} {keeps} {wants} {reserve}");
    if let Some(OriginSample { ended, sum_ms, min_ms, errors, peak }) = sample {
        text += &format!(" {ended} {sum_ms} {min_ms} {errors} {peak}");
    }
    text
}

/// Reads a question.
///
/// # Errors
/// The part that cannot be read.
pub fn read_ask(text: &str) -> Result<PermitAsk, String> {
    let mut words = words(text)?;
    let holder = u64::from_str_radix(word(&mut words)?, 16).map_err(|_| "the holder".to_owned())?;
    let number = number(&mut words)?;
    let size = size(word(&mut words)?).ok_or("the cap")?;
    let keeps = self::number(&mut words)?;
    let wants = self::number(&mut words)?;
    let reserve = match word(&mut words)? {
        "0" => Reserve::Nothing,
        "10" => Reserve::Tenth,
        "5" => Reserve::Fifth,
        _ => return Err("what is left to others".to_owned()),
    };
    let mut more = || self::number(&mut words).ok();
    let sample = match (more(), more(), more(), more(), more()) {
        (Some(ended), Some(sum_ms), Some(min_ms), Some(errors), Some(peak)) => {
            Some(OriginSample { ended, sum_ms, min_ms, errors, peak })
        }
        _ => None,
    };
    Ok(PermitAsk { holder, number, size, keeps, wants, reserve, sample })
}

fn size(text: &str) -> Option<Size> {
    let (auto, bounds) = match text.strip_prefix("auto:") {
        Some(bounds) => (true, bounds),
        None => (false, text),
    };
    let (least, most) = bounds.split_once("..")?;
    let (least, most) = (least.parse().ok()?, most.parse().ok()?);
    match auto {
        true if least <= most => Some(Size::Auto { least, most }),
        false if least == most => Some(Size::Fixed(most)),
        _ => None,
    }
}

/// Writes an answer.
pub fn write_reply(reply: &PermitReply) -> String {
    let PermitReply { permits, share, cap, free, term, again, rows } = reply;
    format!("{VERSION} {permits} {share} {cap} {free} {} {} {rows}", term.as_millis(), again.as_millis())
}

/// Reads an answer.
///
/// # Errors
/// The part that cannot be read.
pub fn read_reply(text: &str) -> Result<PermitReply, String> {
    let mut words = words(text)?;
    let mut next = || number(&mut words);
    let (permits, share, cap, free) = (next()?, next()?, next()?, next()?);
    // No time is longer than a term, so that a damaged answer makes no isolate wait for longer.
    let term = Span::from_millis(next()?).min(TERM);
    let again = Span::from_millis(next()?).min(TERM);
    let rows = u32::try_from(next()?).unwrap_or(u32::MAX);
    Ok(PermitReply { permits, share, cap, free, term, again, rows })
}

fn words(text: &str) -> Result<SplitAsciiWhitespace<'_>, String> {
    let mut words = text.split_ascii_whitespace();
    match words.next() {
        Some(VERSION) => Ok(words),
        _ => Err(format!("version {}, expected {VERSION}", text.split(' ').next().unwrap_or_default())),
    }
}

fn word<'a>(words: &mut SplitAsciiWhitespace<'a>) -> Result<&'a str, String> {
    words.next().ok_or_else(|| "too short".to_owned())
}

fn number(words: &mut SplitAsciiWhitespace<'_>) -> Result<u64, String> {
    let word = word(words)?;
    word.parse().map_err(|_| format!("{word:?} is no number"))
}
