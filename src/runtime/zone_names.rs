//! The spelling of zone names. The runtime takes a name in any case, and calls some zones by an
//! older name of their own (`Asia/Calcutta` for `Asia/Kolkata`); an operator's choice is kept.

/// The names of the IANA database that have no slash. The runtime also takes abbreviations such as
/// `IST`, which are not IANA's.
const PLAIN: &str = "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST \
    Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland \
    Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu";

/// The words in names with a slash that are not a capital and small letters.
const WORDS: &str = "ACT BajaNorte BajaSur ComodRivadavia DeNoronha DumontDUrville EasterIsland GMT GMT0 IN LHI \
    McMurdo NSW UCT US UTC au es of";

/// The names with a slash that the runtime may know and that are not zones of the IANA database.
const FOREIGN: [&str; 4] = ["Canada/East-Saskatchewan", "Etc/Unknown", "SystemV/", "US/Pacific-New"];

/// The name `text` as IANA spells it, when the runtime knows the zone and calls it `own`. `None`
/// when the name is not IANA's.
///
/// Both are the same name in most cases, and the runtime's spelling is IANA's. The rule for other
/// names is that each word has a capital and small letters, with the exceptions above.
pub fn iana_name(text: &str, own: &str) -> Option<String> {
    if !text.contains('/') {
        return find(PLAIN, text).map(str::to_owned);
    }
    if FOREIGN.iter().any(|start| text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))) {
        return None;
    }
    Some(if own.eq_ignore_ascii_case(text) { own.to_owned() } else { spelled(text) })
}

/// The word of `list` that is `text` in any case.
fn find<'a>(list: &'a str, text: &str) -> Option<&'a str> {
    list.split_ascii_whitespace().find(|word| word.eq_ignore_ascii_case(text))
}

/// Spells each word by the rule. A word ends at any of `/`, `_`, `-` and `+`.
fn spelled(text: &str) -> String {
    let words = text.split_inclusive(['/', '_', '-', '+']);
    words.fold(String::with_capacity(text.len()), |mut name, word| {
        let letters = word.trim_end_matches(['/', '_', '-', '+']);
        match find(WORDS, letters) {
            Some(known) => name.push_str(known),
            None => name.extend(letters.chars().enumerate().map(|(index, letter)| {
                if index == 0 { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
            })),
        }
        name.push_str(word.get(letters.len()..).unwrap_or_default());
        name
    })
}
