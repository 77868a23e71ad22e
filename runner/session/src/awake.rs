//! The sessions of an engine that are awake: limited in number, and put to sleep when idle.

use crate::tenant::Tenant;
use std::cmp::Reverse;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};
use wasibox_vfs::lock_mutex;

/// The interval at which a waiting session checks whether another one can be put to sleep.
const AGAIN: Duration = Duration::from_millis(20);

/// A session that can be put to sleep.
pub trait Sleeper: Send + Sync + 'static {
    /// Puts the session to sleep unless it is busy, which drops its [`AwakeGuard`]. Returns whether
    /// it was awake.
    fn try_sleep(&self) -> bool;

    /// Returns the tenant that the session belongs to.
    fn tenant(&self) -> Option<&Arc<Tenant>> {
        None
    }
}

/// The sessions that are awake.
pub struct Awake<S: Sleeper>(Arc<AwakeRoom<S>>);

struct AwakeRoom<S> {
    places: Mutex<Vec<AwakePlace<S>>>,
    changed: Condvar,
    most: usize,
    begun: Instant,
}

struct AwakePlace<S> {
    who: Weak<S>,
    used: Arc<AtomicU64>,
    tenant: Option<Arc<Tenant>>,
}

impl<S> AwakePlace<S> {
    fn belongs_to(&self, tenant: &Arc<Tenant>) -> bool {
        self.tenant.as_ref().is_some_and(|own| Arc::ptr_eq(own, tenant))
    }
}

/// A place among the sessions that are awake, released when it is dropped.
pub struct AwakeGuard {
    used: Arc<AtomicU64>,
    begun: Instant,
    leave: Box<dyn Fn() + Send>,
}

impl AwakeGuard {
    /// Marks the session as used now.
    pub fn mark_used(&self) {
        self.used.store(elapsed_millis(self.begun), Ordering::Relaxed);
    }
}

impl Drop for AwakeGuard {
    fn drop(&mut self) {
        (self.leave)();
    }
}

fn count_places<S>(places: &[AwakePlace<S>], tenant: &Arc<Tenant>) -> usize {
    places.iter().filter(|place| place.belongs_to(tenant)).count()
}

/// Returns whether the tenant has all the places that it may have.
fn has_all<S>(places: &[AwakePlace<S>], tenant: &Arc<Tenant>) -> bool {
    count_places(places, tenant) >= tenant.limits().awake.max(1)
}

fn elapsed_millis(begun: Instant) -> u64 {
    begun.elapsed().as_millis() as u64
}

impl<S> AwakeRoom<S> {
    fn lock_places(&self) -> MutexGuard<'_, Vec<AwakePlace<S>>> {
        lock_mutex(&self.places)
    }
}

impl<S: Sleeper> Awake<S> {
    /// Makes room for `most` sessions at once. If `idle` is given, a session goes to sleep after
    /// that time without a call.
    ///
    /// # Errors
    /// If the thread that watches them cannot be started.
    pub fn new(most: usize, idle: Option<Duration>) -> std::io::Result<Awake<S>> {
        let room = Arc::new(AwakeRoom {
            places: Mutex::new(Vec::new()),
            changed: Condvar::new(),
            most: most.max(1),
            begun: Instant::now(),
        });
        if let Some(idle) = idle {
            let weak = Arc::downgrade(&room);
            let watch = std::thread::Builder::new().name("wasibox-idle".into());
            watch.spawn(move || put_to_sleep(&weak, idle))?;
        }
        Ok(Awake(room))
    }

    /// Returns the number of sessions that are awake.
    pub fn count(&self) -> usize {
        self.0.lock_places().len()
    }

    /// Takes a place for a session that is about to wake up. If there is none, the least recently
    /// used session that is not busy is put to sleep, first one of the tenant with the most places;
    /// if all are busy, this waits. A tenant that has all of its places gets only its own.
    pub fn take_place(&self, who: &Arc<S>) -> AwakeGuard {
        let room = &self.0;
        let used = Arc::new(AtomicU64::new(elapsed_millis(room.begun)));
        let tenant = who.tenant().cloned();
        loop {
            let mut places = room.lock_places();
            let is_over = tenant.as_ref().is_some_and(|tenant| has_all(&places, tenant));
            if places.len() < room.most && !is_over {
                let (who, used) = (Arc::downgrade(who), used.clone());
                places.push(AwakePlace { who, used, tenant });
                break;
            }
            let mut others: Vec<_> = places
                .iter()
                .filter(|p| !is_over || tenant.as_ref().is_some_and(|own| p.belongs_to(own)))
                .map(|p| {
                    let count = p.tenant.as_ref().map_or(1, |of| count_places(&places, of));
                    (Reverse(count), p.used.load(Ordering::Relaxed), p.who.upgrade())
                })
                .collect();
            drop(places);
            others.sort_by_key(|(count, used, _)| (*count, *used));
            // A session that goes to sleep releases its own place.
            if others.into_iter().flat_map(|(.., who)| who).any(|who| who.try_sleep()) {
                continue;
            }
            let places = room.lock_places();
            let is_over = tenant.as_ref().is_some_and(|tenant| has_all(&places, tenant));
            if places.len() >= room.most || is_over {
                drop(room.changed.wait_timeout(places, AGAIN));
            }
        }
        let (room, mine) = (room.clone(), used.clone());
        let begun = room.begun;
        let leave = Box::new(move || {
            room.lock_places().retain(|place| !Arc::ptr_eq(&place.used, &mine));
            // A session may wait for a place of its tenant, not for any.
            room.changed.notify_all();
        });
        AwakeGuard { used, begun, leave }
    }
}

/// Runs the thread that puts idle sessions to sleep, until the room is dropped.
fn put_to_sleep<S: Sleeper>(room: &Weak<AwakeRoom<S>>, idle: Duration) {
    let step = (idle / 4).clamp(Duration::from_millis(10), Duration::from_secs(5));
    loop {
        std::thread::sleep(step);
        let Some(room) = room.upgrade() else { return };
        let now = elapsed_millis(room.begun);
        let is_old = |p: &&AwakePlace<S>| {
            u128::from(now.saturating_sub(p.used.load(Ordering::Relaxed))) >= idle.as_millis()
        };
        let old: Vec<_> =
            room.lock_places().iter().filter(is_old).flat_map(|p| p.who.upgrade()).collect();
        for session in old {
            session.try_sleep();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenant::TenantLimits;
    use std::sync::atomic::AtomicBool;

    #[derive(Default)]
    struct One {
        tenant: Option<Arc<Tenant>>,
        slot: Mutex<Option<AwakeGuard>>,
        busy: AtomicBool,
    }

    impl Sleeper for One {
        fn try_sleep(&self) -> bool {
            !self.busy.load(Ordering::Relaxed) && self.slot.lock().unwrap().take().is_some()
        }

        fn tenant(&self) -> Option<&Arc<Tenant>> {
            self.tenant.as_ref()
        }
    }

    fn enter(awake: &Awake<One>) -> Arc<One> {
        enter_for(awake, None)
    }

    fn enter_for(awake: &Awake<One>, tenant: Option<&Arc<Tenant>>) -> Arc<One> {
        let one = Arc::new(One { tenant: tenant.cloned(), ..One::default() });
        *one.slot.lock().unwrap() = Some(awake.take_place(&one));
        one
    }

    fn is_awake(one: &One) -> bool {
        one.slot.lock().unwrap().is_some()
    }

    #[test]
    fn the_one_that_is_idle_longest_makes_room() {
        let awake = Awake::new(2, None).unwrap();
        let (a, b) = (enter(&awake), enter(&awake));
        std::thread::sleep(Duration::from_millis(5));
        a.slot.lock().unwrap().as_ref().unwrap().mark_used();
        let c = enter(&awake);
        assert_eq!((is_awake(&a), is_awake(&b), is_awake(&c)), (true, false, true));
        a.busy.store(true, Ordering::Relaxed);
        let d = enter(&awake);
        assert_eq!((is_awake(&a), is_awake(&c), is_awake(&d)), (true, false, true));
        assert_eq!(awake.count(), 2);
    }

    #[test]
    fn a_tenant_takes_no_places_from_others() {
        let awake = Awake::new(4, None).unwrap();
        let tenant = |awake| Tenant::new(TenantLimits { awake, memory: u64::MAX });
        let pause = || std::thread::sleep(Duration::from_millis(5));
        let (two, many, third) = (tenant(2), tenant(9), tenant(9));
        let other = enter_for(&awake, Some(&many));
        let mut mine = Vec::new();
        for _ in 0..3 {
            pause();
            mine.push(enter_for(&awake, Some(&two)));
        }
        // The third session of a tenant that may have two took the place of its first.
        assert_eq!(mine.iter().map(|one| is_awake(one)).collect::<Vec<_>>(), [false, true, true]);
        assert!(is_awake(&other));
        pause();
        // All places are taken by `two` and `one` of another tenant: the tenant with the most loses
        // one, although the other's was used longest ago.
        let fourth = enter_for(&awake, Some(&third));
        assert!(is_awake(&fourth) && awake.count() == 4);
        let fifth = enter_for(&awake, Some(&third));
        assert_eq!((is_awake(&mine[1]), is_awake(&mine[2])), (false, true));
        assert!(is_awake(&other) && is_awake(&fourth) && is_awake(&fifth));
    }

    #[test]
    fn where_all_are_busy_one_waits() {
        let awake = Arc::new(Awake::new(1, None).unwrap());
        let a = enter(&awake);
        a.busy.store(true, Ordering::Relaxed);
        let theirs = awake.clone();
        let waits = std::thread::spawn(move || enter(&theirs));
        std::thread::sleep(Duration::from_millis(50));
        assert!(!waits.is_finished() && is_awake(&a));
        a.busy.store(false, Ordering::Relaxed);
        let b = waits.join().unwrap();
        assert!(is_awake(&b) && !is_awake(&a));
    }

    #[test]
    fn idle_ones_go_to_sleep() {
        let awake = Awake::new(4, Some(Duration::from_millis(40))).unwrap();
        let a = enter(&awake);
        let begun = Instant::now();
        while is_awake(&a) && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!is_awake(&a) && awake.count() == 0);
    }
}
