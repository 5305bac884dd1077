//! Bounds the memory of one instance, and of all instances of the process together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wasmtime::ResourceLimiter;

/// More entries than any table of the interpreter needs.
const TABLE_LIMIT: usize = 1_000_000;

/// The memory that all instances of the process may use together.
#[derive(Debug)]
pub(super) struct MemoryPool {
    cap: u64,
    used: AtomicU64,
}

impl MemoryPool {
    pub(super) fn new(cap: u64) -> Self {
        Self {
            cap,
            used: AtomicU64::new(0),
        }
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> bool {
        let add = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.cap);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Half of the memory that this machine, or the container, has. Unknown is unlimited.
pub(super) fn half_of_machine() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let total = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.split_whitespace()
            .next()?
            .parse::<u64>()
            .ok()?
            .checked_mul(1 << 10)
    });
    let container = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse::<u64>().ok());
    total
        .into_iter()
        .chain(container)
        .min()
        .map_or(u64::MAX, |bytes| bytes / 2)
}

/// What an instance whose memory is only looked at has of the pool. Dropping it gives it back.
pub(super) struct PoolShare {
    pool: Arc<MemoryPool>,
    counted: u64,
}

impl PoolShare {
    pub(super) fn of(pool: Arc<MemoryPool>) -> Self {
        Self { pool, counted: 0 }
    }

    /// Counts what the instance has now. Whether it has grown beyond what all may have together.
    pub(super) fn outgrows(&mut self, bytes: u64) -> bool {
        let grown = bytes > self.counted;
        self.pool.give_back(self.counted);
        self.counted = bytes;
        let all = self.pool.used.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        grown && all > self.pool.cap
    }
}

impl Drop for PoolShare {
    fn drop(&mut self) {
        self.pool.give_back(self.counted);
    }
}

/// What the owner sees of an instance's memory.
#[derive(Default)]
pub(super) struct MemoryUse {
    used: AtomicU64,
    denied: AtomicBool,
    /// The operating system keeps the limit: nobody tells when it was met.
    of_system: bool,
}

impl MemoryUse {
    /// Of an instance whose limit the operating system keeps.
    pub(super) fn of_system() -> Self {
        Self {
            of_system: true,
            ..Self::default()
        }
    }

    pub(super) fn is_of_system(&self) -> bool {
        self.of_system
    }

    /// What it has just been seen to use.
    pub(super) fn see(&self, bytes: u64) {
        self.used.store(bytes, Ordering::Relaxed);
    }

    /// It is ended because of what it uses.
    pub(super) fn deny(&self) {
        self.denied.store(true, Ordering::Relaxed);
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether the instance was ever denied memory. It is not to be trusted after that: some C code of the interpreter
    /// may have taken it badly.
    pub(super) fn denied(&self) -> bool {
        self.denied.load(Ordering::Relaxed)
    }
}

/// The limiter of one instance. A denial becomes a `MemoryError` in Python.
pub(super) struct MemoryLimit {
    limit: u64,
    shared: Arc<MemoryUse>,
    pool: Arc<MemoryPool>,
}

impl MemoryLimit {
    pub(super) fn new(limit: u64, shared: Arc<MemoryUse>, pool: Arc<MemoryPool>) -> Self {
        Self { limit, shared, pool }
    }
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current) as u64;
        let allowed = self.shared.used().saturating_add(more) <= self.limit && self.pool.take(more);
        if allowed {
            self.shared.used.fetch_add(more, Ordering::Relaxed);
        } else {
            self.shared.denied.store(true, Ordering::Relaxed);
        }
        Ok(allowed)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_LIMIT)
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        self.pool.give_back(self.shared.used.swap(0, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_bounded_by_its_own_limit_and_by_the_pool() {
        let pool = Arc::new(MemoryPool::new(1_000));
        let shared = Arc::new(MemoryUse::default());
        let mut one = MemoryLimit::new(800, shared.clone(), pool.clone());
        assert!(one.memory_growing(0, 700, None).unwrap());
        assert!(!one.memory_growing(700, 801, None).unwrap(), "its own limit is 800");
        assert!(shared.denied());
        let mut other = MemoryLimit::new(800, Arc::default(), pool.clone());
        assert!(!other.memory_growing(0, 400, None).unwrap(), "700 of 1,000 are taken");
        drop(one);
        assert!(
            other.memory_growing(0, 400, None).unwrap(),
            "a dropped instance gives its memory back"
        );
        assert_eq!(pool.used(), 400);
    }

    #[test]
    fn what_is_looked_at_is_counted_until_it_is_gone() {
        let pool = Arc::new(MemoryPool::new(1_000));
        let (mut one, mut other) = (PoolShare::of(pool.clone()), PoolShare::of(pool.clone()));
        assert!(!one.outgrows(900) && !other.outgrows(100));
        assert!(other.outgrows(101), "1,001 in all");
        assert!(!one.outgrows(900), "it has not grown");
        drop(one);
        assert!(!other.outgrows(1_000));
        drop(other);
        assert_eq!(pool.used(), 0);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_machine_has_some() {
        let half = half_of_machine();
        assert!((32 << 20..1 << 50).contains(&half), "{half}");
    }
}
