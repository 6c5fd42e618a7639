//! Anchors: positions that someone was promised, and what they say of a journal.

use rp_events::{
    Chain, Digest, EventId,
    head::{Head, Slots},
};

use crate::report::{Class, Report};

/// A receipt that was given to someone: `rp head` printed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The journal.
    pub log_id: EventId,
    /// Its origin.
    pub origin: String,
    /// The number of entries.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
    /// The last event.
    pub last: EventId,
}

impl Receipt {
    /// The lines that `rp head` prints.
    pub fn to_text(&self) -> String {
        let Self { log_id, origin, size, root, last } = self;
        format!("rp-head 1\nlog {log_id}\norigin {origin}\nsize {size}\nroot {root}\nlast {last}\n")
    }

    /// Reads what [`Receipt::to_text`] writes.
    ///
    /// # Errors
    ///
    /// A sentence on the line that is not as due.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        if lines.next() != Some("rp-head 1") {
            return Err("the first line of a receipt is `rp-head 1`".to_owned());
        }
        let mut field = |name: &str| {
            let line = lines.next().and_then(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.map(str::to_owned).ok_or_else(|| format!("a line `{name} ...` is due"))
        };
        let wrong = |name: &str| format!("the value of `{name}` has another form");
        Ok(Self {
            log_id: EventId::parse(&field("log")?).ok_or_else(|| wrong("log"))?,
            origin: field("origin")?,
            size: field("size")?.parse().map_err(|_| wrong("size"))?,
            root: Digest::parse(&field("root")?).ok_or_else(|| wrong("root"))?,
            last: EventId::parse(&field("last")?).ok_or_else(|| wrong("last"))?,
        })
    }
}

/// Every anchor there is for a journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Anchors {
    /// The valid slot of HEAD, and how many slots are damaged; `None` if there is no file.
    pub head: Option<Slots>,
    /// The same of the remembered checkpoint.
    pub remembered: Option<Slots>,
    /// A receipt given by the caller.
    pub receipt: Option<Receipt>,
}

/// An anchor reduced to what is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// What it is, for people.
    pub name: &'static str,
    /// The number of entries.
    pub size: u64,
    /// The root over them.
    pub root: Digest,
    /// The last event.
    pub last: EventId,
}

impl Promise {
    fn of(name: &'static str, head: &Head) -> Self {
        Self { name, size: head.size(), root: head.root(), last: head.last }
    }

    /// Whether a chain of the promised size is the promised one.
    pub fn is_kept_by(&self, chain: &Chain) -> bool {
        self.root == chain.frontier().root() && self.last == chain.last()
    }
}

impl Anchors {
    /// The promises that hold at all, damaged ones left out.
    pub fn promises(&self) -> Vec<Promise> {
        let slot = |name, slots: &Option<Slots>| {
            slots.as_ref().and_then(|slots| slots.head.as_ref()).map(|head| Promise::of(name, head))
        };
        let receipt = self.receipt.as_ref().map(|receipt| Promise {
            name: "the given receipt",
            size: receipt.size,
            root: receipt.root,
            last: receipt.last,
        });
        [slot("HEAD", &self.head), slot("the remembered checkpoint", &self.remembered), receipt]
            .into_iter()
            .flatten()
            // A promise of nothing anchors nothing.
            .filter(|promise| promise.size > 0)
            .collect()
    }

    /// The largest size promised; 0 without an anchor.
    pub fn floor(&self) -> u64 {
        self.promises().iter().map(|promise| promise.size).max().unwrap_or(0)
    }

    /// Notes what is damaged without being an anchor any more.
    pub(crate) fn note_damage(&self, report: &mut Report) {
        for (name, slots) in [("HEAD", &self.head), ("the remembered checkpoint", &self.remembered)]
        {
            match slots {
                Some(Slots { head: None, .. }) => {
                    report.notes.push(format!("{name} is damaged and was passed over"));
                }
                Some(Slots { damaged, .. }) if *damaged > 0 => {
                    report.notes.push(format!("one slot of {name} is damaged; the other holds"));
                }
                None if name == "HEAD" => report.notes.push("HEAD is missing".to_owned()),
                Some(_) | None => {}
            }
        }
    }

    /// Holds the receipt to be of this journal.
    pub(crate) fn check_log(&self, log_id: Option<EventId>, report: &mut Report) {
        if let (Some(receipt), Some(log_id)) = (&self.receipt, log_id)
            && receipt.log_id != log_id
        {
            let text =
                format!("the receipt is of journal `{}`, this is `{log_id}`", receipt.log_id);
            report.find(Class::Fork, "fork", None, "the given receipt", text);
        }
    }
}
