//! The bugs that are planted, one at a time. Each is a lie told to the rules, or a row that is not
//! kept: the rules themselves are those that ship.

/// One broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A holder spends its part after its term.
    Outlives,
    /// A holder counts its term from when it hears.
    TermFromHearing,
    /// A woken actor knows neither rows nor a part held back.
    WakeForgets,
    /// A woken actor holds nothing back for unwritten parts.
    WakesCareless,
    /// Unwritten parts may have a quarter of the burst.
    QuarterUnwritten,
    /// A row stays as it was when its holder gives tokens up for an unwritten part.
    RowNotRewritten,
    /// A repeated question gives its tokens back again.
    TwiceGivenBack,
    /// A holder goes on spending tokens that it has given back.
    SpendsWhileAsking,
    /// A holder regains tokens while it asks, above the room that it named.
    RegainsWhileAsking,
    /// A holder that gets no part regains tokens up to the room that it had before it asked.
    RegainsAfterNone,
    /// The actor forgets the old part before the holder has heard of the new one.
    OldPartForgotten,
    /// Parts do not move the TAT on.
    NotMovedOn,
    /// Parts do not hold the TAT up.
    NotHeldUp,
    /// A saved TAT counts for the moment of the wake.
    SavedWithoutMoment,
    /// The TAT moves on by less than the parts regain, by rounding.
    RoundsDown,
    /// Holders trust that clocks run alike.
    ClocksTrusted,
    /// Slots beside parts lapse as they do without parts.
    SlotsStay,
    /// Slots beyond a full debt come at the whole rate's pace.
    SlotsTooSoon,
    /// A part gets more tokens than the rest has.
    Overdraws,
    /// Two holders have one name.
    NamesAgain,
    /// Parts keep their fraction where the limit changes.
    FractionsOfNewRate,
}
