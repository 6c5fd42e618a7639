//! Pass 2, the meaning: each entry through `admit` and `apply` from empty, its signature judged on the side.
//!
//! One thread folds; the others judge signatures in groups taken from a bounded queue. When the queue is
//! full the folding thread judges a group itself, so no core waits and memory stays bounded. A verdict is
//! given only after every job has answered.

use std::{
    num::NonZero,
    ops::ControlFlow,
    sync::{
        Mutex,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
};

use rp_events::{KeyCache, Refusal, Seq, SignatureJob, Verified, entry::Parsed};
use rp_replay::{Scope, State};

/// Signatures handed out together.
const GROUP: usize = 64;
/// Groups that may wait for a thread.
const QUEUE: usize = 16;

/// What is asked of each entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signatures {
    /// Judge them, on this many threads.
    Judge(NonZero<usize>),
    /// Leave them; whoever reads must say so.
    Skip,
}

/// An entry that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offence {
    /// The entry.
    pub seq: Seq,
    /// Why.
    pub refusal: Refusal,
}

/// The fold of the entries seen so far, and what was wrong with them.
#[derive(Debug)]
pub struct Fold {
    /// The state after them.
    pub state: State,
    /// What did not hold, in the order found.
    pub offences: Vec<Offence>,
    /// Signatures judged.
    pub judged: u64,
    /// Entries admitted.
    pub admitted: u64,
    scope: Scope,
}

impl Fold {
    /// Starts from a state, asking the rules within a scope.
    pub fn new(state: State, scope: Scope) -> Self {
        Self { state, offences: Vec::new(), judged: 0, admitted: 0, scope }
    }

    /// Takes one entry; breaks off at the first that the rules refuse, since what follows rests on it.
    pub fn take(
        &mut self,
        parsed: Parsed<'_>,
        jobs: &mut dyn FnMut(SignatureJob),
    ) -> ControlFlow<()> {
        let seq = parsed.envelope.seq;
        let outcome = Verified::pending(parsed, &self.state).and_then(|(verified, job)| {
            jobs(job);
            self.state.admit_within(verified, self.scope)
        });
        match outcome {
            Ok(admitted) => {
                self.state.apply_within(&admitted, self.scope);
                self.admitted += 1;
                ControlFlow::Continue(())
            }
            Err(refusal) => {
                self.offences.push(Offence { seq, refusal });
                ControlFlow::Break(())
            }
        }
    }
}

/// Runs `work` with a sink for signature jobs; when it returns, every job has answered.
///
/// Gives the work's own result, how many signatures were judged, and those that do not hold.
pub fn judging<T>(
    signatures: Signatures,
    work: impl FnOnce(&mut dyn FnMut(SignatureJob)) -> T,
) -> (T, u64, Vec<Offence>) {
    let Signatures::Judge(threads) = signatures else {
        return (work(&mut drop), 0, Vec::new());
    };
    let bad = Mutex::new(Vec::new());
    let (sender, receiver) = sync_channel::<Vec<SignatureJob>>(QUEUE);
    let receiver = Mutex::new(receiver);
    let (result, count) = thread::scope(|scope| {
        for _ in 1..threads.get() {
            scope.spawn(|| work_off(&receiver, &bad));
        }
        let mut sink =
            Sink { sender, group: Vec::new(), cache: KeyCache::default(), bad: &bad, count: 0 };
        let result = work(&mut |job| sink.push(job));
        sink.finish(threads.get() > 1);
        let count = sink.count;
        drop(sink);
        // The folding thread has nothing left to fold, so it helps until the queue is empty.
        work_off(&receiver, &bad);
        (result, count)
    });
    let mut offences = bad.into_inner().expect("no holder of this lock panics");
    offences.sort_by_key(|offence: &Offence| offence.seq);
    (result, count, offences)
}

struct Sink<'a> {
    sender: SyncSender<Vec<SignatureJob>>,
    group: Vec<SignatureJob>,
    cache: KeyCache,
    bad: &'a Mutex<Vec<Offence>>,
    count: u64,
}

impl Sink<'_> {
    fn push(&mut self, job: SignatureJob) {
        self.count += 1;
        self.group.push(job);
        if self.group.len() >= GROUP {
            self.finish(true);
        }
    }

    fn finish(&mut self, may_queue: bool) {
        let group = std::mem::take(&mut self.group);
        if !may_queue {
            return judge(&group, &mut self.cache, self.bad);
        }
        match self.sender.try_send(group) {
            Ok(()) => {}
            Err(TrySendError::Full(group) | TrySendError::Disconnected(group)) => {
                judge(&group, &mut self.cache, self.bad);
            }
        }
    }
}

fn work_off(queue: &Mutex<Receiver<Vec<SignatureJob>>>, bad: &Mutex<Vec<Offence>>) {
    let mut cache = KeyCache::default();
    loop {
        let next = queue.lock().expect("no holder of this lock panics").recv();
        let Ok(group) = next else { return };
        judge(&group, &mut cache, bad);
    }
}

fn judge(group: &[SignatureJob], cache: &mut KeyCache, bad: &Mutex<Vec<Offence>>) {
    for job in group {
        if let Err(refusal) = job.judge(cache) {
            let offence = Offence { seq: job.seq(), refusal };
            bad.lock().expect("no holder of this lock panics").push(offence);
        }
    }
}
