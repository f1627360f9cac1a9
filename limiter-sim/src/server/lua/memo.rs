//! What scripts do, learnt once.
//!
//! A run is a function of the script, its words, and what the server answered to each thing that it asked.
//! So each is kept as a tree: after these answers comes that question, or that reply.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::call::{Answer, Ask};
use super::host::Exchange;
use crate::server::{Bytes, Reply};

/// Above so many questions all is forgotten.
const MAX_QUESTIONS: usize = 200_000;

/// How a run goes on.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// The script asks this question.
    Ask(usize),
    /// The script is over.
    Done {
        reply: Reply,
        /// What it used that the model lacks.
        unmodelled: Option<Box<str>>,
    },
}

#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) ask: Ask,
    pub(crate) undeclared: Vec<Bytes>,
    next: Vec<(Answer, Step)>,
}

/// The known runs of one script with one set of words.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    first: Option<Step>,
    questions: Vec<Question>,
}

impl Runs {
    pub(crate) fn first(&self) -> Option<&Step> {
        self.first.as_ref()
    }

    pub(crate) fn question(&self, at: usize) -> &Question {
        &self.questions[at]
    }

    pub(crate) fn after(&self, question: usize, answer: &Answer) -> Option<&Step> {
        let next = &self.questions[question].next;
        next.iter()
            .find(|(known, _)| known == answer)
            .map(|(_, step)| step)
    }

    /// Adds a run; says how many questions are new.
    fn learn(&mut self, log: Vec<Exchange>, end: Step) -> usize {
        let before = self.questions.len();
        let mut from: Option<(usize, Answer)> = None;
        for exchange in log {
            let known = match &from {
                None => self.first.clone(),
                Some((question, answer)) => self.after(*question, answer).cloned(),
            };
            let at = if let Some(Step::Ask(at)) = known {
                at
            } else {
                let at = self.questions.len();
                self.questions.push(Question {
                    ask: exchange.ask,
                    undeclared: exchange.undeclared,
                    next: Vec::new(),
                });
                self.link(from.take(), Step::Ask(at));
                at
            };
            from = Some((at, exchange.answer));
        }
        self.link(from, end);
        self.questions.len() - before
    }

    fn link(&mut self, from: Option<(usize, Answer)>, step: Step) {
        match from {
            None => self.first = Some(step),
            Some((question, answer)) => self.questions[question].next.push((answer, step)),
        }
    }
}

/// All known runs.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    runs: HashMap<u128, Runs, BuildHasherDefault<Folded>>,
    size: usize,
}

impl Memo {
    /// The runs under a key, which is a 128-bit hash already.
    pub(crate) fn runs(&self, key: u128) -> Option<&Runs> {
        self.runs.get(&key)
    }

    pub(crate) fn learn(&mut self, key: u128, log: Vec<Exchange>, end: Step) {
        if self.size >= MAX_QUESTIONS {
            self.runs.clear();
            self.size = 0;
        }
        // A run without questions takes room too.
        self.size += 1 + self.runs.entry(key).or_default().learn(log, end);
    }
}

/// The keys are hashes themselves.
#[derive(Default)]
struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }
    fn write_u128(&mut self, number: u128) {
        self.0 = number as u64;
    }
}
