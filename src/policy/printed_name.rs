//! `name`: the first half of the printed names of a binding's limits and caps, in place of the
//! binding's own name. Everything that is stored or asked for keeps the binding's name.

use crate::limit::counted::counted;
use serde_json::Value;

use crate::policy::fault::Faults;
use crate::policy::value;

/// The longest `name` in characters. Rate headers repeat it in each answer.
const MAX_LENGTH: usize = 64;

/// The names of one binding.
pub(super) struct Names {
    /// The var of the binding.
    pub(super) var: String,
    /// The binding's own name.
    pub(super) own: String,
    /// `name`; `None` if the binding has none.
    pub(super) printed: Option<String>,
}

/// Reads `name`: printable ASCII that may stand in a quoted string as it is (RFC 9651 §3.3.3).
pub(super) fn read(value: &Value) -> Result<String, String> {
    let text = value::text(value, "a name such as \"Orders API\"")?;
    let wrong = |problem: String| Err(format!("{text:?}: {problem}, expected a name such as \"Orders API\""));
    if text.is_empty() {
        return wrong("empty".to_owned());
    }
    if let Some(letter) = text.chars().find(|letter| !matches!(letter, ' '..='~') || matches!(letter, '"' | '\\')) {
        return wrong(format!("{letter:?} cannot stand in a header as it is"));
    }
    if text.trim() != text {
        return wrong("a space at one end".to_owned());
    }
    match text.len() {
        length if length > MAX_LENGTH => {
            Err(format!("{}, expected at most {MAX_LENGTH}", counted(length as u64, "character")))
        }
        _ => Ok(text.to_owned()),
    }
}

/// Records a fault for each `name` that another binding has too, as its `name` or as its own: their
/// limits could not be told apart.
pub(super) fn find_duplicates(names: &[Names], faults: &mut Faults) {
    for (index, Names { var, printed, .. }) in names.iter().enumerate() {
        let Some(printed) = printed else { continue };
        let others = names.iter().enumerate().filter(|(other, _)| *other != index);
        let is_same = |(other, names): &(usize, &Names)| {
            // Of two equal fields the later one is at fault.
            names.own == *printed || (*other < index && names.printed.as_ref() == Some(printed))
        };
        if let Some((_, other)) = others.into_iter().find(is_same) {
            let problem = format!("{printed:?}: the limits of {} have this name, expected another one", other.var);
            faults.add(format!("{var}.name"), problem);
        }
    }
}
