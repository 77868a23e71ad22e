//! The linear memories of processes, charged to the session's budget.
//!
//! The engine asks its `Tunables` for every memory. Ours charges the creation and the growth of
//! each memory in advance, and refunds its bytes when it is dropped or renewed. An engine serves
//! many sessions, so the code that makes an instance first sets the owner of the memory for its
//! thread.

use crate::linear::AddressRange;
use crate::template::MemoryTemplate;
use std::cell::{RefCell, UnsafeCell};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{Budget, Reservation};
use wasmer::sys::vm::{
    LinearMemory, MemoryError, MemoryStyle, TableStyle, VMConfig, VMMemory, VMMemoryDefinition,
    VMTable, VMTableDefinition,
};
use wasmer::sys::{BaseTunables, Tunables};
use wasmer::{MemoryType, Pages, TableType};

/// The parts from which the next memory of this thread is made, and the memory once it is made.
#[derive(Default)]
struct NextMemory {
    budget: Option<Arc<Budget>>,
    prepaid: Option<Reservation>,
    template: Option<Arc<MemoryTemplate>>,
    made: Option<RenewableMemory>,
    /// An existing memory that is used as the next one.
    shared: Option<RenewableMemory>,
    /// The memory could not be made because the limit is reached. The engine reports that as text
    /// only.
    is_refused: bool,
}

thread_local! {
    static HERE: RefCell<NextMemory> = RefCell::default();
}

/// A guard during whose life memories made on this thread use the reserved bytes and the template.
pub struct NextMemoryGuard(());

/// Charges memories that are made on this thread to the reserved bytes and then to the budget, and
/// lets them begin with this template.
pub fn put_here(
    budget: &Arc<Budget>,
    prepaid: Option<Reservation>,
    template: Arc<MemoryTemplate>,
) -> NextMemoryGuard {
    let budget = Some(budget.clone());
    HERE.set(NextMemory { budget, prepaid, template: Some(template), ..NextMemory::default() });
    NextMemoryGuard(())
}

/// Lets the next instance that is made on this thread use an existing memory: the instance is a
/// further thread of the process that has it.
pub fn share_here(memory: &RenewableMemory) -> NextMemoryGuard {
    HERE.set(NextMemory { shared: Some(memory.share()), ..NextMemory::default() });
    NextMemoryGuard(())
}

impl NextMemoryGuard {
    /// Takes the rest of the reserved bytes.
    pub fn left(&self) -> Option<Reservation> {
        HERE.with_borrow_mut(|h| h.prepaid.take())
    }

    /// Takes the memory that was made since the guard was created.
    pub fn made(&self) -> Option<RenewableMemory> {
        HERE.with_borrow_mut(|h| h.made.take())
    }

    /// Returns whether a memory could not be made because the limit is reached.
    pub fn is_refused(&self) -> bool {
        HERE.with_borrow(|h| h.is_refused)
    }
}

impl Drop for NextMemoryGuard {
    fn drop(&mut self) {
        drop(HERE.take());
    }
}

/// Takes bytes from the reservation of this thread, or from the budget.
fn charge_bytes(n: u64) -> Option<Reservation> {
    HERE.with_borrow_mut(|h| {
        let prepaid = h.prepaid.as_mut().and_then(|r| r.split_off(n));
        prepaid.or_else(|| h.budget.as_ref()?.reserve_bytes(n))
    })
}

/// Tunables with the engine's default tables, a stack size, and memories that are charged as
/// [`put_here`] says.
pub struct BudgetTunables {
    base: BaseTunables,
    config: VMConfig,
}

impl BudgetTunables {
    /// Creates tunables for guests with `stack` bytes of stack.
    pub fn new(stack: usize) -> BudgetTunables {
        let config = VMConfig { wasm_stack_size: Some(stack) };
        BudgetTunables { base: BaseTunables::new(), config }
    }

    fn memory(
        &self,
        ty: &MemoryType,
        style: &MemoryStyle,
        at: Option<NonNull<VMMemoryDefinition>>,
    ) -> Result<VMMemory, MemoryError> {
        if let Some(RenewableMemory(shared)) = HERE.with_borrow_mut(|h| h.shared.take()) {
            let memory: Box<dyn LinearMemory + Send + Sync> =
                Box::new(BudgetedMemory::new(shared, ty, style, at));
            return Ok(memory.into());
        }
        let template = HERE.with_borrow_mut(|h| h.template.take());
        // A prepared memory had grown when it was stored.
        let bytes = template.as_ref().map_or(0, |t| t.size).max(ty.minimum.bytes().0);
        if ty.shared {
            return Err(MemoryError::Generic("shared memories are not allowed".into()));
        }
        let held = charge_bytes(bytes as u64).ok_or_else(|| {
            HERE.with_borrow_mut(|h| h.is_refused = true);
            MemoryError::Generic("the memory limit is reached".into())
        })?;
        let guard = style.offset_guard_size() as usize;
        let reserved = MemoryStyle::static_bound().bytes().0 + guard;
        let linear = AddressRange::new(reserved, bytes, template)
            .map_err(|e| MemoryError::Region(e.to_string()))?;
        let shared = MemoryInner { linear, held, definitions: Vec::with_capacity(1), next: 0 };
        let shared = Arc::new(Mutex::new(shared));
        HERE.with_borrow_mut(|h| h.made = Some(RenewableMemory(shared.clone())));
        let memory: Box<dyn LinearMemory + Send + Sync> =
            Box::new(BudgetedMemory::new(shared, ty, style, at));
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
        self.memory(ty, style, None)
    }

    // JUSTIFICATION: the trait's method is unsafe; it cannot be implemented otherwise.
    // SAFETY: the caller promises a valid definition location, see `MemoryDefinition`.
    unsafe fn create_vm_memory(
        &self,
        ty: &MemoryType,
        style: &MemoryStyle,
        at: NonNull<VMMemoryDefinition>,
    ) -> Result<VMMemory, MemoryError> {
        self.memory(ty, style, Some(at))
    }

    fn create_host_table(&self, ty: &TableType, style: &TableStyle) -> Result<VMTable, String> {
        self.base.create_host_table(&bounded_table(ty), style)
    }

    // JUSTIFICATION and SAFETY: as for `create_vm_memory`.
    unsafe fn create_vm_table(
        &self,
        ty: &TableType,
        style: &TableStyle,
        at: NonNull<VMTableDefinition>,
    ) -> Result<VMTable, String> {
        unsafe { self.base.create_vm_table(&bounded_table(ty), style, at) }
    }

    fn vmconfig(&self) -> &VMConfig {
        &self.config
    }
}

/// The maximum number of elements that a table may get in addition to its initial ones.
const TABLE_GROWTH: u32 = 1 << 16;

/// Returns the type with a maximum. The engine does not ask before a table grows, so it can only
/// grow as far as was charged from the beginning ([`table_bytes`]).
fn bounded_table(ty: &TableType) -> TableType {
    let most = ty.minimum.saturating_add(TABLE_GROWTH);
    TableType { maximum: Some(ty.maximum.map_or(most, |m| m.min(most))), ..*ty }
}

/// Returns the bytes that a table may take: a pointer per element, twice that if it may grow,
/// because the list doubles; elements of a table that is never written to are kept a second time,
/// in 32 bytes.
pub fn table_bytes(ty: &TableType) -> u64 {
    let bounded = bounded_table(ty);
    let most = u64::from(bounded.maximum.unwrap_or(ty.minimum).max(ty.minimum));
    if most > u64::from(ty.minimum) { 16 * most } else { 40 * most }
}

/// The place where compiled code finds a memory's address and size.
#[derive(Debug)]
enum MemoryDefinition {
    /// The definition in the instance that the memory belongs to.
    Instance(NonNull<VMMemoryDefinition>),
    Own(Box<UnsafeCell<VMMemoryDefinition>>),
}

// JUSTIFICATION: the definition is reached by address only, as the engine requires. SAFETY: it is
// written under the mutex of `MemoryInner` while no code of the instance runs: in a host call of
// the one thread of its process that runs guest code (`grow`), or between two processes (`renew`).
unsafe impl Send for MemoryDefinition {}

impl MemoryDefinition {
    fn new(at: Option<NonNull<VMMemoryDefinition>>) -> MemoryDefinition {
        match at {
            Some(at) => MemoryDefinition::Instance(at),
            None => {
                let none = VMMemoryDefinition { base: std::ptr::null_mut(), current_length: 0 };
                MemoryDefinition::Own(Box::new(UnsafeCell::new(none)))
            }
        }
    }

    fn pointer(&self) -> Option<NonNull<VMMemoryDefinition>> {
        match self {
            MemoryDefinition::Instance(at) => Some(*at),
            MemoryDefinition::Own(own) => NonNull::new(own.get()),
        }
    }

    fn put(&self, linear: &AddressRange) {
        let Some(at) = self.pointer() else { return };
        let now =
            VMMemoryDefinition { base: linear.base().as_ptr(), current_length: linear.size() };
        // JUSTIFICATION: compiled code reads the definition there. SAFETY: the place is the
        // instance's, which lives as long as the engine's memory does (its drop takes the
        // definition out), or our own.
        unsafe { at.write(now) };
    }
}

#[derive(Debug)]
struct MemoryInner {
    linear: AddressRange,
    held: Reservation,
    /// A definition for each instance that has the memory, that is, for each thread of its process.
    definitions: Vec<(u64, MemoryDefinition)>,
    /// The number of the next definition.
    next: u64,
}

impl MemoryInner {
    /// Updates the memory's address and size in all instances.
    fn update_definitions(&self) {
        self.definitions.iter().for_each(|(_, d)| d.put(&self.linear));
    }
}

/// A memory that can be reset for another process.
#[derive(Debug)]
pub struct RenewableMemory(Arc<Mutex<MemoryInner>>);

impl RenewableMemory {
    /// Resets the memory to its initial content and refunds its bytes.
    ///
    /// # Safety
    /// The instance that it belongs to does not run, and there are no references into the memory.
    pub unsafe fn renew(&self) -> std::io::Result<()> {
        let mut s = lock_mutex(&self.0);
        // SAFETY: the caller's promise.
        unsafe { s.linear.renew()? };
        s.update_definitions();
        s.held.shrink_to(0);
        Ok(())
    }

    /// Charges the renewed memory to a reservation, which keeps the rest; returns false if it is
    /// too small.
    pub fn charge(&self, reservation: &mut Reservation) -> bool {
        let mut s = lock_mutex(&self.0);
        if !reservation.shares_budget(&s.held) || s.held.bytes() > 0 {
            return false;
        }
        match reservation.split_off(s.linear.size() as u64) {
            Some(needed) => s.held = needed,
            None => return false,
        }
        true
    }

    /// Returns another handle to the same memory.
    pub fn share(&self) -> RenewableMemory {
        RenewableMemory(self.0.clone())
    }

    /// Returns its address, and the number of bytes that are reserved there.
    pub fn place(&self) -> (usize, usize) {
        let s = lock_mutex(&self.0);
        (s.linear.base().as_ptr() as usize, s.linear.reserved())
    }

    /// Returns its present size in bytes.
    pub fn size(&self) -> usize {
        lock_mutex(&self.0).linear.size()
    }
}

/// A memory as the engine sees it.
#[derive(Debug)]
struct BudgetedMemory {
    shared: Arc<Mutex<MemoryInner>>,
    /// The number of its own definition.
    number: u64,
    ty: MemoryType,
    style: MemoryStyle,
}

impl BudgetedMemory {
    fn new(
        shared: Arc<Mutex<MemoryInner>>,
        ty: &MemoryType,
        style: &MemoryStyle,
        at: Option<NonNull<VMMemoryDefinition>>,
    ) -> BudgetedMemory {
        let number = {
            let mut s = lock_mutex(&shared);
            let number = s.next;
            s.next += 1;
            let definition = MemoryDefinition::new(at);
            definition.put(&s.linear);
            s.definitions.push((number, definition));
            number
        };
        BudgetedMemory { shared, number, ty: *ty, style: *style }
    }
}

impl LinearMemory for BudgetedMemory {
    fn ty(&self) -> MemoryType {
        MemoryType { minimum: self.size(), ..self.ty }
    }

    fn size(&self) -> Pages {
        let bytes = lock_mutex(&self.shared).linear.size();
        Pages((bytes / wasmer::WASM_PAGE_SIZE) as u32)
    }

    fn style(&self) -> MemoryStyle {
        self.style
    }

    fn grow(&mut self, delta: Pages) -> Result<Pages, MemoryError> {
        let mut s = lock_mutex(&self.shared);
        let MemoryInner { linear, held, .. } = &mut *s;
        let before = Pages((linear.size() / wasmer::WASM_PAGE_SIZE) as u32);
        let refused = MemoryError::CouldNotGrow { current: before, attempted_delta: delta };
        let most = self.ty.maximum.unwrap_or(Pages::max_value()).min(Pages::max_value());
        let Some(after) = before.checked_add(delta).filter(|p| *p <= most) else {
            return Err(refused);
        };
        if !held.grow_by(delta.bytes().0 as u64) {
            return Err(refused);
        }
        if linear.open_to(after.bytes().0).is_err() {
            held.shrink_to(before.bytes().0 as u64);
            return Err(refused);
        }
        s.update_definitions();
        Ok(before)
    }

    fn vmmemory(&self) -> NonNull<VMMemoryDefinition> {
        // The definition is removed when this value is dropped.
        let s = lock_mutex(&self.shared);
        let own = s.definitions.iter().find(|(n, _)| *n == self.number);
        own.and_then(|(_, d)| d.pointer()).unwrap_or(NonNull::dangling())
    }

    fn try_clone(&self) -> Result<Box<dyn LinearMemory + Send + Sync>, MemoryError> {
        Err(MemoryError::MemoryNotShared)
    }

    fn copy(&self) -> Result<Box<dyn LinearMemory + Send + Sync>, MemoryError> {
        Err(MemoryError::MemoryNotShared)
    }
}

impl Drop for BudgetedMemory {
    fn drop(&mut self) {
        lock_mutex(&self.shared).definitions.retain(|(n, _)| *n != self.number);
    }
}
