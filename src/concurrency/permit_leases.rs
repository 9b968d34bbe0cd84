//! The books of one isolate, and a request's places in them.

use crate::concurrency::heartbeats::Id;
use crate::concurrency::permit_lease::{Fate, PermitLease};
use crate::limit::time::{Span, Time};
use crate::policy::Cap;
use crate::protocol::permits::Holder;
use std::cell::RefCell;
use std::rc::Rc;

/// The books of one isolate, by their caps' names.
#[derive(Debug, Default)]
pub struct PermitLeases {
    holder: Option<Holder>,
    /// There are few caps.
    books: Vec<(String, Rc<RefCell<PermitLease>>)>,
}

impl PermitLeases {
    /// Whether they are known to be somebody's.
    pub fn are_called(&self) -> bool {
        self.holder.is_some()
    }

    /// Says whose they are, before one is looked into.
    pub fn call(&mut self, holder: Holder) {
        self.holder = Some(holder);
    }

    /// A place in the book of `cap`.
    pub fn ticket(&mut self, cap: &Rc<Cap>, id: Id) -> PermitGuard {
        PermitGuard { book: self.of(cap), cap: Rc::clone(cap), id, kept: Kept::Here }
    }

    /// Hears that a request under `cap` is still under way.
    pub fn beat(&mut self, cap: &Cap, id: Id, wall: Time) {
        let book = self.of(cap);
        // Where one has had its turn, nothing has held up those under other caps.
        for other in self.books.iter().map(|(_, other)| other) {
            let mut other_book = other.borrow_mut();
            let now = other_book.now(wall);
            // Zero is nobody's.
            if id > 0 && Rc::ptr_eq(other, &book) {
                other_book.beat(id, now);
            } else {
                other_book.in_use(now);
            }
        }
    }

    /// A request under `cap` has ended.
    pub fn leave(&mut self, cap: &Cap, id: Id) {
        self.of(cap).borrow_mut().leave(id);
    }

    /// The book of `cap`.
    pub fn of(&mut self, cap: &Cap) -> Rc<RefCell<PermitLease>> {
        if let Some((_, book)) = self.books.iter().find(|(name, _)| *name == cap.name) {
            return Rc::clone(book);
        }
        let book = Rc::new(RefCell::new(PermitLease::new(self.holder.unwrap_or_default(), cap.size)));
        self.books.push((cap.name.clone(), Rc::clone(&book)));
        book
    }
}

/// A request's place under one cap; gives it back when dropped, unless it is kept elsewhere.
#[derive(Debug)]
pub struct PermitGuard {
    book: Rc<RefCell<PermitLease>>,
    cap: Rc<Cap>,
    id: Id,
    kept: Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Here,
    Elsewhere,
}

impl PermitGuard {
    /// The cap that it is a place under.
    pub fn cap(&self) -> &Rc<Cap> {
        &self.cap
    }

    /// Its number under its cap.
    pub fn id(&self) -> Id {
        self.id
    }

    /// From now on it is kept elsewhere, and given back there, by its number; or it is free when there has been no sign of life for a while.
    pub fn hand_over(&mut self) {
        self.kept = Kept::Elsewhere;
    }

    /// Gives it back now, whoever keeps it.
    pub fn leave(&self) {
        self.book(|book, id| book.leave(id));
    }

    /// The request is still under way.
    pub fn beat(&self, wall: Time) {
        self.book(|book, id| {
            let now = book.now(wall);
            book.beat(id, now);
        });
    }

    /// The request is on its way to other places, for up to `span`.
    pub fn hold(&self, wall: Time, span: Span) {
        self.book(|book, id| {
            let now = book.now(wall);
            book.hold(id, now, span);
        });
    }

    /// The origin's answer has begun, or will not come, after `took`.
    pub fn note(&self, took: Span, fate: Fate) {
        self.book(|book, _| book.note(took, fate));
    }

    /// Where a cap that finds itself has moved to, if that is to be told; see [`PermitLease::news`].
    pub fn news(&self, wall: Time) -> Option<(u64, u64)> {
        let mut book = self.book.try_borrow_mut().ok()?;
        let now = book.now(wall);
        book.news(now)
    }

    fn book(&self, work: impl FnOnce(&mut PermitLease, Id)) {
        if let Ok(mut book) = self.book.try_borrow_mut() {
            work(&mut book, self.id);
        }
    }
}

impl Drop for PermitGuard {
    fn drop(&mut self) {
        if self.kept == Kept::Here {
            self.leave();
        }
    }
}
