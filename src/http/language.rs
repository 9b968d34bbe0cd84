//! The language of an answer that Penstock makes itself, by the header `Accept-Language` (RFC 9110
//! §12.5.4).

use crate::http::accept_list::{AcceptItem, accept_items};

/// The languages of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Chinese, in simplified characters.
    Chinese,
    /// Chinese, in traditional characters.
    TraditionalChinese,
}

impl Language {
    /// Chooses the language with the greatest weight in the header `Accept-Language`. At equal
    /// weights the first in the header wins. English when the header accepts neither language.
    pub fn choose(accept_language: Option<&str>) -> Language {
        let items: Vec<AcceptItem<'_>> =
            accept_language.map(|accept| accept_items(accept).collect()).unwrap_or_default();
        let best = |language: Language| {
            // Earlier items get the greater number, so `max` takes the first of equal items.
            let numbered = items.iter().zip((0..=u32::MAX).rev());
            numbered.filter_map(|(item, number)| Some((language.specificity(item.range)?, item.quality, number))).max()
        };
        let rank = |language| best(language).map(|(_, quality, number)| (quality, number));
        let better = |known: Language, next: Language| match rank(next) {
            Some((quality, _)) if quality > 0 && rank(next) > rank(known) => next,
            _ => known,
        };
        [Language::Chinese, Language::TraditionalChinese].into_iter().fold(Language::English, better)
    }

    /// The language tag for `lang` and `Content-Language` (BCP 47).
    pub fn tag(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::Chinese => "zh-Hans",
            Language::TraditionalChinese => "zh-Hant",
        }
    }

    /// Returns how specifically a language range names this language: 2 by its subtags, as in `zh`
    /// or `zh-TW`; 1 by `*`; `None` when the range is for another language.
    fn specificity(self, range: &str) -> Option<u8> {
        if range == "*" {
            return Some(1);
        }
        let mut subtags = range.split(['-', '_']);
        let primary = subtags.next().unwrap_or(range);
        let named = match self {
            Language::English => primary.eq_ignore_ascii_case("en"),
            Language::Chinese => primary.eq_ignore_ascii_case("zh") && !is_traditional(subtags),
            Language::TraditionalChinese => primary.eq_ignore_ascii_case("zh") && is_traditional(subtags),
        };
        named.then_some(2)
    }
}

/// Whether Chinese with these subtags (BCP 47) is written in traditional characters: by its script,
/// else by its region.
fn is_traditional<'a>(subtags: impl Iterator<Item = &'a str>) -> bool {
    let known = [("hans", false), ("hant", true), ("tw", true), ("hk", true), ("mo", true)];
    let named = |subtag: &str| known.iter().find(|(name, _)| subtag.eq_ignore_ascii_case(name));
    subtags.filter_map(named).next().is_some_and(|(_, traditional)| *traditional)
}

/// Chooses among an operator's `texts`, each with its language tag (BCP 47): the text that the
/// header `Accept-Language` prefers (RFC 4647 §3.4, lookup), else the English one, else the first.
pub fn choose_text<'t>(accept_language: Option<&str>, texts: &'t [(String, String)]) -> Option<&'t str> {
    let mut best: Option<(u16, &(String, String))> = None;
    for item in accept_items(accept_language.unwrap_or_default()) {
        // Of equal weights the first in the header counts.
        if item.quality > best.map_or(0, |(quality, _)| quality)
            && let Some(found) = lookup(item.range, texts)
        {
            best = Some((item.quality, found));
        }
    }
    let found = best.map(|(_, found)| found).or_else(|| lookup("en", texts)).or(texts.first());
    found.map(|(_, text)| text.as_str())
}

/// Returns the text for a language range: one with its tag, or with the tag cut short from the end,
/// or with a narrower tag.
fn lookup<'t>(range: &str, texts: &'t [(String, String)]) -> Option<&'t (String, String)> {
    let mut range = range;
    loop {
        let narrower = |tag: &str| {
            let head = tag.get(..range.len()).filter(|head| head.eq_ignore_ascii_case(range));
            head.is_some() && tag.as_bytes().get(range.len()).is_none_or(|next| *next == b'-')
        };
        if let Some(found) = texts.iter().find(|(tag, _)| narrower(tag)) {
            return Some(found);
        }
        range = range.rsplit_once('-')?.0;
    }
}
