//! The imports that a program asks for, by name: the kernel's table of calls as functions of the
//! engine.

use super::guest::StoreEnv;
use wasibox_kernel::border::{
    CloseOnExec, Domain, Fd, GuestBuf, GuestList, GuestStr, LookupFlags, Opening, PathAt,
    ProcessChanges, ProgramRequest, ReceiveResult, SetTimes, SocketTransfer,
};
use wasibox_kernel::{Halt, current_thread, enter_call};
use wasibox_vfs::Errno;
use wasmer::{
    ExternType, Function, FunctionEnv, FunctionEnvMut, Imports, Module, Store, Type, Value,
};

/// Returns every import of `module`. An unknown function returns ENOSYS, like its stub on a runtime
/// with fewer functions.
pub fn module_imports(store: &mut Store, env: &FunctionEnv<StoreEnv>, module: &Module) -> Imports {
    let mut imports = Imports::new();
    for import in module.imports() {
        let ExternType::Function(ty) = import.ty() else { continue };
        let f = known(store, env, import.module(), import.name()).unwrap_or_else(|| {
            let results: Vec<Type> = ty.results().to_vec();
            Function::new(store, ty.clone(), move |_| match results.as_slice() {
                [Type::I32] => Ok(vec![Value::I32(Errno::NOSYS.0.into())]),
                _ => Err(wasmer::RuntimeError::user(Box::new(Halt::Exit(134)))),
            })
        });
        imports.define(import.module(), import.name(), f);
    }
    imports
}

macro_rules! known {
    ($($module:literal { $($name:literal => $f:path, ($($a:ident: $t:ty),*) => ($($arg:expr),*);)* })*) => {
        fn known(store: &mut Store, env: &FunctionEnv<StoreEnv>, module: &str, name: &str) -> Option<Function> {
            Some(match (module, name) {
                $($(($module, $name) => Function::new_typed_with_env(
                    store,
                    env,
                    |mut ctx: FunctionEnvMut<'_, StoreEnv>, $($a: $t),*| -> Result<i32, Halt> {
                        enter_call(&mut ctx, |c| $f(c, $($arg),*))
                    },
                ),)*)*
                (_, "thread_exit") => Function::new_typed_with_env(
                    store,
                    env,
                    |_: FunctionEnvMut<'_, StoreEnv>, code: i32| -> Result<(), Halt> {
                        // The end of the first thread ends its process.
                        Err(if current_thread() == 0 { Halt::Exit(code as u8) } else { Halt::ThreadExit })
                    },
                ),
                (_, "proc_exit" | "proc_exit2") => Function::new_typed_with_env(
                    store,
                    env,
                    |_: FunctionEnvMut<'_, StoreEnv>, code: i32| -> Result<(), Halt> {
                        Err(Halt::Exit(code as u8))
                    },
                ),
                _ => return None,
            })
        }
    };
}

wasibox_kernel::with_calls!(known);
