//! The only wall clock, the only randomness and the only waiting.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant, SystemTime},
};

use rp_events::Stamp;

/// Where times and random bytes come from.
#[derive(Debug, Default)]
pub struct Clock {
    /// Milliseconds to answer instead of the machine's, counted up by each asking; 0 for the machine's.
    fixed: AtomicU64,
}

impl Clock {
    /// A clock that begins at a given time and goes on by a millisecond at each look.
    pub fn fixed(start: Stamp) -> Self {
        Self { fixed: AtomicU64::new(start.millis().max(1)) }
    }

    /// The time now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that looks at the time")]
    pub fn now(&self) -> Stamp {
        if self.fixed.load(Ordering::Relaxed) > 0 {
            let millis = self.fixed.fetch_add(1, Ordering::Relaxed);
            return Stamp::from_millis(millis).unwrap_or(Stamp::MAX);
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let millis = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        Stamp::from_millis(millis).unwrap_or(Stamp::MAX)
    }

    /// The moment `wait` from now.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that looks at the time")]
    pub fn deadline(&self, wait: Duration) -> Instant {
        Instant::now() + wait
    }

    /// Waits a little; `false` if the deadline has passed.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that waits")]
    pub fn wait_until(&self, deadline: Instant, step: Duration) -> bool {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(step);
        true
    }

    /// Random bytes from the system.
    ///
    /// # Panics
    ///
    /// If the system has none, without which no key and no nonce is safe.
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        getrandom::fill(&mut bytes).expect("the system gives random bytes");
        bytes
    }
}
