//! A question that an actor cannot answer.

/// The status and the sentence that an actor answers with instead.
#[derive(Debug)]
pub(crate) struct Failure {
    /// 400 for a question that cannot be read, 500 for a failure of the actor.
    pub(crate) status: u16,
    /// A sentence for the isolate's log.
    pub(crate) problem: String,
}

impl Failure {
    /// The question cannot be read.
    pub(crate) fn unreadable(problem: &str) -> Failure {
        Failure { status: 400, problem: ["unreadable question: ", problem].concat() }
    }

    /// The actor could not answer a question that it could read.
    pub(crate) fn internal(problem: String) -> Failure {
        Failure { status: 500, problem }
    }
}
