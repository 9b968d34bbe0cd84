//! The zones with a name, each with the offsets that were asked last.

use crate::limit::calendar::civil_date::CivilDate;
use crate::limit::calendar::offsets::Offsets;
use crate::limit::calendar::zone_source::ZoneSource;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

thread_local! {
    /// The zones that were read, by name: as many as there are zones, however often each is read.
    static ZONES: RefCell<BTreeMap<String, Rc<NamedZone>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The names of the placeholders for "no zone is set", which databases list among the zones.
const PLACEHOLDERS: [&str; 2] = ["Etc/Unknown", "Factory"];

/// A zone of the IANA database.
#[derive(Debug)]
pub(super) struct NamedZone {
    name: String,
    source: ZoneSource,
    /// The offsets around the UTC day that was asked last. `None` before the first question.
    recent: RefCell<Option<Recent>>,
}

/// The offsets around one UTC day.
#[derive(Debug)]
struct Recent {
    today: CivilDate,
    offsets: Rc<Offsets>,
}

impl NamedZone {
    /// The zone of the name `text`, in any case. `None` when there is no such zone.
    ///
    /// The source is asked once for each zone whose name is spelled as IANA spells it.
    pub fn find(text: &str) -> Option<Rc<NamedZone>> {
        if let Some(known) = ZONES.with_borrow(|zones| zones.get(text).cloned()) {
            return Some(known);
        }
        let source = ZoneSource::installed()?;
        let name = (source.name_of)(text).filter(|name| !PLACEHOLDERS.contains(&name.as_str()))?;
        // A source that cannot tell this offset can tell no other.
        (source.offset_at)(&name, 0)?;
        ZONES.with_borrow_mut(|zones| {
            let zone = zones.entry(name).or_insert_with_key(|name| {
                Rc::new(NamedZone { name: name.clone(), source, recent: RefCell::new(None) })
            });
            Some(Rc::clone(zone))
        })
    }

    /// The name, as IANA spells it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The offsets that decide about the local day at `at`, in seconds since the Unix epoch. The
    /// source is asked only for the first `at` of a UTC day.
    pub fn offsets_around(&self, at: i64) -> Rc<Offsets> {
        let today = CivilDate::of_wall(at);
        if let Some(recent) = self.recent.borrow().as_ref().filter(|recent| recent.today == today) {
            return Rc::clone(&recent.offsets);
        }
        let offsets = Rc::new(Offsets::around(today.midnight(), |at| self.ask(at)));
        self.recent.replace(Some(Recent { today, offsets: Rc::clone(&offsets) }));
        offsets
    }

    /// The offset at `at`, in seconds east of UTC. The source is asked unless `at` is near the day
    /// that was asked last: a day's end is.
    pub fn offset_at(&self, at: i64) -> i32 {
        let recent = self.recent.borrow();
        let known = recent.as_ref().filter(|recent| Offsets::covers(recent.today.midnight(), at));
        known.map_or_else(|| self.ask(at), |recent| recent.offsets.at(at))
    }

    /// [`find`](NamedZone::find) has made sure that the source knows the zone.
    fn ask(&self, at: i64) -> i32 {
        (self.source.offset_at)(&self.name, at).unwrap_or_default()
    }
}

impl PartialEq for NamedZone {
    fn eq(&self, other: &NamedZone) -> bool {
        self.name == other.name
    }
}

impl Eq for NamedZone {}
