//! The steps of a schedule, made from random numbers.

use penstock::limit::time::Span;
use penstock::protocol::permits::Reserve;

pub(super) const ISOLATES: usize = 4;

/// One step of a schedule.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Request(Reserve),
    DeliverQuestion,
    DeliverReply,
    LoseQuestion,
    LoseReply,
    EndRequest,
    /// A client leaves, and nothing reports that.
    LeaveSilently,
    CrashActor,
    /// An isolate vanishes with all its requests, and another one starts.
    ReplaceIsolate,
    Tick,
    /// A request waits, and leaves without a word.
    Wait(Reserve),
    /// A module fails. So many requests still waited for the origin, and are gone.
    FailModule(usize),
    PassTime(Span),
}

impl Step {
    /// `kind` chooses the step, `pick` its details.
    pub(super) fn new(kind: u8, pick: u8) -> Step {
        let number = usize::from(pick);
        match kind {
            0..=2 => Step::Request(Reserve::Nothing),
            3 => Step::Request(Reserve::Tenth),
            4..=5 => Step::Request(Reserve::Fifth),
            6..=9 => Step::DeliverQuestion,
            10..=13 => Step::DeliverReply,
            14 => Step::LoseQuestion,
            15 => Step::LoseReply,
            16..=17 => Step::EndRequest,
            18 => Step::LeaveSilently,
            19 => Step::CrashActor,
            20 if pick.is_multiple_of(4) => Step::ReplaceIsolate,
            21 => Step::Tick,
            22 if pick.is_multiple_of(3) => Step::FailModule(number / 3 % 3),
            23 => Step::Wait(Reserve::ALL[number / ISOLATES % 3]),
            _ => Step::PassTime(Span::from_millis(u64::from(pick) * 4)),
        }
    }
}
