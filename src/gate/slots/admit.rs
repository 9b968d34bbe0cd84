//! A request's way to a slot, and what goes on while it has one.

use super::beats::Id;
use super::book::{Book, Turn};
use super::books::{Books, Ticket};
use super::{Keepers, Question, Reserve};
use crate::gate::on_error::Ways;
use crate::gate::ports::Trouble;
use crate::gate::verdict::Spent;
use crate::limit::time::{Span, Time};
use crate::policy::Cap;
use std::cell::RefCell;
use std::rc::Rc;

/// How often a request looks whether the slots that another has asked for are there. Promises must not be shared between requests,
/// so it looks at plain data.
const LOOK: Span = Span::from_millis(2);

/// How often one looks that waits for a slot although it is full: so long, on average half of it, a slot may stand empty.
const WAIT_LOOK: Span = Span::from_millis(5);

/// How often one request asks for more slots, should others take each time what it was given.
const ASKS: u32 = 4;

/// Why there is no place.
#[derive(Clone, Debug)]
pub enum Without {
    /// All slots are in use.
    Full,
    /// The cap cannot be checked, and must not be passed unchecked.
    Unknown,
}

/// What became of a request at one cap.
#[derive(Debug)]
pub struct Admission {
    /// The place that it has, or why it has none.
    pub place: Result<Ticket, Without>,
    /// What was wrong, where the actor could not be asked.
    pub trouble: Option<Trouble>,
}

/// Who lets requests in.
#[derive(Debug)]
pub struct Admit<'a, K> {
    /// Those who keep count.
    pub keepers: &'a K,
    /// What the isolate knows.
    pub books: &'a RefCell<Books>,
    /// How long an actor may take.
    pub patience: Span,
    /// Reads the wall clock.
    pub wall: fn() -> Time,
}

impl<K: Keepers> Admit<'_, K> {
    /// Gets a request a place under `cap`, if there is one within `wait`.
    pub async fn admit(&self, cap: &Rc<Cap>, leaves: Reserve, wait: Span, spent: &mut Spent) -> Admission {
        spent.limits = spent.limits.saturating_add(1);
        let begun = (self.wall)();
        let mut trouble = None;
        let mut asked = false;
        let mut in_vain = 0;
        let mut pressed = false;
        let mut waiting = None;
        let place = loop {
            if in_vain >= ASKS {
                break Err(Without::Full);
            }
            let waited = (self.wall)().since(begun);
            let turn = self.book(cap, |book, now| {
                if let Some(id) = waiting {
                    book.waits(id, now);
                }
                let turn = book.turn(leaves, now, self.patience);
                // Once, and once more when a question has been asked without it.
                if !matches!(turn, Turn::Go(_)) && (!pressed || matches!(turn, Turn::Ask(_))) {
                    book.press();
                    pressed = true;
                }
                turn
            });
            match turn {
                Turn::Go(id) => {
                    spent.wallet = spent.wallet.saturating_add(u32::from(!asked));
                    break Ok(self.ticket(cap, id));
                }
                Turn::Ask(question) => {
                    asked = true;
                    in_vain = u32::saturating_add(in_vain, 1);
                    spent.actors = spent.actors.saturating_add(1);
                    match self.ask(cap, &question).await {
                        Ok(rows) => spent.rows = spent.rows.saturating_add(rows),
                        Err(problem) => trouble = Some(problem),
                    }
                }
                Turn::Look if waited < self.patience.plus(wait) => self.keepers.pause(LOOK).await,
                Turn::Full if waited < wait => {
                    waiting = waiting.or_else(|| self.book(cap, Book::may_wait));
                    if waiting.is_none() {
                        break Err(Without::Full);
                    }
                    in_vain = 0;
                    self.keepers.pause(WAIT_LOOK).await;
                }
                Turn::Full => break Err(Without::Full),
                Turn::Look | Turn::Unknown => break self.alone(cap),
            }
        };
        if let Some(id) = waiting {
            self.book(cap, |book, _| book.stop_waiting(id));
        }
        Admission { place, trouble }
    }

    /// How long a place may take at most that may be waited for as long as `wait`.
    pub(super) fn longest(&self, wait: Span) -> Span {
        wait.plus(self.patience.times(u64::from(ASKS).saturating_add(1)))
    }

    /// Says to the actor what is to be said off any request's path; how many calls that took, or rows, where there were more.
    pub async fn tick(&self, cap: &Rc<Cap>) -> u32 {
        match self.book(cap, |book, now| book.tick(now, self.patience)) {
            // Who needs a slot will see that the actor does not answer.
            Some(question) => self.ask(cap, &question).await.unwrap_or(1).max(1),
            None => 0,
        }
    }

    /// Whether somebody has to look after idle slots of `cap`; whoever asks has to.
    pub fn tend(&self, cap: &Rc<Cap>) -> bool {
        self.book(cap, Book::tend)
    }

    /// Whether whoever looks after idle slots of `cap` has to go on, who has so many looks left.
    pub fn tend_on(&self, cap: &Rc<Cap>, looks: u32) -> bool {
        self.book(cap, |book, now| book.tend_on(looks, now))
    }

    async fn ask(&self, cap: &Rc<Cap>, question: &Question) -> Result<u32, Trouble> {
        let answer = self.keepers.ask(&cap.name, question).await;
        self.book(cap, |book, now| book.hear(question.number, answer.as_ref().ok().copied(), now));
        answer.map(|answer| answer.rows)
    }

    /// What a cap comes to that cannot be checked.
    fn alone(&self, cap: &Rc<Cap>) -> Result<Ticket, Without> {
        let ways = Ways {
            local: || self.book(cap, Book::enter_alone).ok_or(Without::Full),
            open: || Ok(self.book(cap, Book::enter)),
            closed: || Err(Without::Unknown),
        };
        let id = ways.go(cap.on_error);
        id.map(|id| self.ticket(cap, id))
    }

    fn ticket(&self, cap: &Rc<Cap>, id: Id) -> Ticket {
        self.books.borrow_mut().ticket(cap, id)
    }

    fn book<T>(&self, cap: &Cap, work: impl FnOnce(&mut Book, Time) -> T) -> T {
        let book = self.books.borrow_mut().of(cap);
        let mut book = book.borrow_mut();
        let now = book.now((self.wall)());
        work(&mut book, now)
    }
}
