//! Time, the statements of D1, and the alarms of actors.

use super::parts::D1Reply;
use super::ports::ModelLedger;
use super::world::ModelWorld;
use crate::support::run;
use penstock::ledger::{Added, Ledger};
use penstock::limit::time::Span;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

impl ModelWorld {
    /// Lets time go on by `span`, and wakes the tasks that sleep until then.
    pub fn tick(&mut self, span: Span) {
        let end = self.now().plus(span);
        loop {
            let due = {
                let mut timers = self.shared.timers.borrow_mut();
                timers.retain(|timer| timer.reply_to.is_awaited());
                let first = timers.iter().enumerate().min_by_key(|(index, timer)| (timer.at, *index));
                let index = first.filter(|(_, timer)| timer.at <= end).map(|(index, _)| index);
                index.map(|index| timers.remove(index))
            };
            let Some(timer) = due else { break };
            self.shared.now.set(self.now().max(timer.at));
            timer.reply_to.put(());
            self.tell(timer.task, 2);
        }
        self.shared.now.set(end);
    }

    /// Lets D1 count a statement.
    pub fn count(&mut self, rank: usize, reply: D1Reply) -> bool {
        if rank >= self.shared.statements.borrow().len() {
            return false;
        }
        let statement = self.shared.statements.borrow_mut().remove(rank);
        let added = {
            let mut used = self.shared.used.borrow_mut();
            let used = used.entry(statement.row).or_default();
            if *used + statement.cost <= statement.count {
                *used += statement.cost;
                Added::Counted { used: *used }
            } else {
                Added::Exhausted
            }
        };
        let said = if reply == D1Reply::Lost { Err("Network connection lost".into()) } else { Ok(added) };
        let mut hasher = DefaultHasher::new();
        format!("{said:?}").hash(&mut hasher);
        statement.reply_to.put(said);
        // Polling the work that waits for another answer changes nothing, and leaves this answer
        // where it is.
        for index in 0..self.calls.len() {
            let before = self.calls[index].past;
            self.work(index, hasher.finish());
            if statement.reply_to.is_empty() {
                break;
            }
            self.calls[index].past = before;
        }
        self.drop_unheard();
        true
    }

    /// Rings an actor's alarm: it gives back the tokens of days that lie idle.
    pub fn alarm(&mut self, actor: usize) -> bool {
        let Some(actor) = self.actors.get(actor) else { return false };
        let mut any = false;
        loop {
            let rest = actor.counter.borrow_mut().take_idle_quota(self.now().minus(actor.behind));
            let Some(rest) = rest else { return any };
            let _ = run(ModelLedger(Rc::clone(&self.shared)).give_back(&rest));
            any = true;
        }
    }
}
