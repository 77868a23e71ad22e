//! One budget for the linear memories of all processes of a run.
//!
//! The engine asks its `Tunables` for every memory; ours wraps each one so that
//! creation and growth are charged before they happen, and dropping refunds.

use std::cell::RefCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use wasmer::sys::vm::{
    LinearMemory, MemoryError, MemoryStyle, TableStyle, VMConfig, VMMemory, VMMemoryDefinition,
    VMTable, VMTableDefinition,
};
use wasmer::sys::{BaseTunables, Tunables};
use wasmer::{MemoryType, Pages, TableType};

/// Bytes of all linear memories: a ceiling, what is in use, the most that was.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    peak: AtomicU64,
    refused: AtomicBool,
}

impl Budget {
    pub fn new(limit: u64) -> Arc<Budget> {
        Arc::new(Budget {
            limit,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            refused: AtomicBool::new(false),
        })
    }

    /// Takes `n` bytes, or says no.
    fn take(&self, n: u64) -> bool {
        let took = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |u| {
            u.checked_add(n).filter(|t| *t <= self.limit)
        });
        match took {
            Ok(before) => {
                self.peak.fetch_max(before + n, Ordering::Relaxed);
                true
            }
            Err(_) => {
                self.refused.store(true, Ordering::Relaxed);
                false
            }
        }
    }

    /// Takes `n` bytes for memories that the thread which gets the reservation will
    /// create ([`Reservation::put_here`]).
    pub fn reserve(self: &Arc<Budget>, n: u64) -> Option<Reservation> {
        self.take(n).then(|| Reservation(Held { bytes: n, budget: self.clone() }))
    }

    fn give(&self, n: u64) {
        self.used.fetch_sub(n, Ordering::Relaxed);
    }

    /// The most that was in use since the last call, and whether a request was
    /// refused since then.
    pub fn report(&self) -> (u64, bool) {
        let peak = self.peak.swap(self.used.load(Ordering::Relaxed), Ordering::Relaxed);
        (peak, self.refused.swap(false, Ordering::Relaxed))
    }

    /// Whether a request was refused since the last report.
    pub fn refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }
}

/// Bytes taken ahead of the memories they are for. Unused ones are given back.
pub struct Reservation(Held);

thread_local! {
    static PREPAID: RefCell<Option<Reservation>> = const { RefCell::new(None) };
}

/// While it lives, memories created on this thread use the reserved bytes.
pub struct Put(());

impl Reservation {
    /// Lets memories that are created on this thread use the bytes.
    pub fn put_here(self) -> Put {
        PREPAID.set(Some(self));
        Put(())
    }
}

impl Drop for Put {
    fn drop(&mut self) {
        PREPAID.take();
    }
}

/// Takes bytes from what this thread has reserved in `budget`.
fn prepaid(budget: &Arc<Budget>, n: u64) -> bool {
    PREPAID.with_borrow_mut(|p| match p {
        Some(Reservation(held)) if Arc::ptr_eq(&held.budget, budget) && held.bytes >= n => {
            held.bytes -= n;
            true
        }
        _ => false,
    })
}

/// The engine's default memories and tables, with the budget and a stack size.
pub struct BudgetTunables {
    base: BaseTunables,
    budget: Arc<Budget>,
    config: VMConfig,
}

impl BudgetTunables {
    pub fn new(budget: Arc<Budget>, stack: usize) -> BudgetTunables {
        let config = VMConfig { wasm_stack_size: Some(stack) };
        BudgetTunables { base: BaseTunables::new(), budget, config }
    }

    fn charged(
        &self,
        ty: &MemoryType,
        make: impl FnOnce() -> Result<VMMemory, MemoryError>,
    ) -> Result<VMMemory, MemoryError> {
        let bytes = ty.minimum.bytes().0 as u64;
        if ty.shared {
            return Err(MemoryError::Generic("shared memories are not allowed".into()));
        }
        if !prepaid(&self.budget, bytes) && !self.budget.take(bytes) {
            return Err(MemoryError::Generic("the memory limit is reached".into()));
        }
        // From here on dropping `held` refunds.
        let mut held = Held { bytes, budget: self.budget.clone() };
        let inner = make()?;
        held.charge_to(inner.size())?;
        let memory: Box<dyn LinearMemory + Send + Sync> = Box::new(Budgeted { inner, held });
        Ok(memory.into())
    }
}

impl Tunables for BudgetTunables {
    fn memory_style(&self, memory: &MemoryType) -> MemoryStyle {
        self.base.memory_style(memory)
    }

    fn table_style(&self, table: &TableType) -> TableStyle {
        self.base.table_style(table)
    }

    fn create_host_memory(
        &self,
        ty: &MemoryType,
        style: &MemoryStyle,
    ) -> Result<VMMemory, MemoryError> {
        self.charged(ty, || self.base.create_host_memory(ty, style))
    }

    // JUSTIFICATION: the trait's method is unsafe; it cannot be implemented otherwise.
    // SAFETY: the caller promises a valid definition location; it is handed on unchanged.
    unsafe fn create_vm_memory(
        &self,
        ty: &MemoryType,
        style: &MemoryStyle,
        at: NonNull<VMMemoryDefinition>,
    ) -> Result<VMMemory, MemoryError> {
        self.charged(ty, || unsafe { self.base.create_vm_memory(ty, style, at) })
    }

    fn create_host_table(&self, ty: &TableType, style: &TableStyle) -> Result<VMTable, String> {
        self.base.create_host_table(ty, style)
    }

    // JUSTIFICATION and SAFETY: as for `create_vm_memory`.
    unsafe fn create_vm_table(
        &self,
        ty: &TableType,
        style: &TableStyle,
        at: NonNull<VMTableDefinition>,
    ) -> Result<VMTable, String> {
        unsafe { self.base.create_vm_table(ty, style, at) }
    }

    fn vmconfig(&self) -> &VMConfig {
        &self.config
    }
}

#[derive(Debug)]
struct Held {
    bytes: u64,
    budget: Arc<Budget>,
}

impl Held {
    fn charge_to(&mut self, size: Pages) -> Result<(), MemoryError> {
        let now = size.bytes().0 as u64;
        let more = now.saturating_sub(self.bytes);
        if !self.budget.take(more) {
            return Err(MemoryError::Generic("the memory limit is reached".into()));
        }
        self.bytes += more;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.give(self.bytes);
    }
}

#[derive(Debug)]
struct Budgeted {
    inner: VMMemory,
    held: Held,
}

impl LinearMemory for Budgeted {
    fn ty(&self) -> MemoryType {
        self.inner.ty()
    }

    fn size(&self) -> Pages {
        self.inner.size()
    }

    fn style(&self) -> MemoryStyle {
        self.inner.style()
    }

    fn grow(&mut self, delta: Pages) -> Result<Pages, MemoryError> {
        let bytes = delta.bytes().0 as u64;
        if !self.held.budget.take(bytes) {
            let current = self.inner.size();
            return Err(MemoryError::CouldNotGrow { current, attempted_delta: delta });
        }
        match self.inner.grow(delta) {
            Ok(before) => {
                self.held.bytes += bytes;
                Ok(before)
            }
            Err(e) => {
                self.held.budget.give(bytes);
                Err(e)
            }
        }
    }

    fn vmmemory(&self) -> NonNull<VMMemoryDefinition> {
        self.inner.vmmemory()
    }

    fn try_clone(&self) -> Result<Box<dyn LinearMemory + Send + Sync>, MemoryError> {
        Err(MemoryError::MemoryNotShared)
    }

    fn copy(&self) -> Result<Box<dyn LinearMemory + Send + Sync>, MemoryError> {
        Err(MemoryError::MemoryNotShared)
    }
}
