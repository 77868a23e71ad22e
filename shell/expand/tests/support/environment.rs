//! The [`ExpandEnv`] of the test shell.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::rc::Rc;

use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{
    Attributes, ElementKey, ExpandCause, ExpandEnv, ExpandError, ExpandOptions, PathnameEntry,
    PositionalList, Str, VarValue, arith,
};
use sh_syntax::ast::{CommandSub, ProcessSub};

use super::Shell;

impl Shell {
    fn path(&self, path: &[u8]) -> std::path::PathBuf {
        self.cwd.join(std::ffi::OsStr::from_bytes(path))
    }

    fn attributed(&mut self, name: &[u8], value: Str) -> Result<Str, ExpandError> {
        let attributes = self.attributes(name);
        if attributes.intersects(Attributes::READONLY) {
            return Err(ExpandError::readonly_variable(name));
        }
        if attributes.intersects(Attributes::INTEGER) {
            return Ok(Rc::new(arith::eval_text(self, &value)?.to_string().into_bytes()));
        }
        if attributes.intersects(Attributes::UPPERCASE) {
            return Ok(Rc::new(value.to_ascii_uppercase()));
        }
        if attributes.intersects(Attributes::LOWERCASE) {
            return Ok(Rc::new(value.to_ascii_lowercase()));
        }
        Ok(value)
    }
}

impl ExpandEnv for Shell {
    fn resolve<'a>(&self, name: &'a [u8]) -> Result<(Cow<'a, [u8]>, Option<Str>), ExpandError> {
        let Some(target) = self.nameref(name) else { return Ok((Cow::Borrowed(name), None)) };
        match target.iter().position(|&b| b == b'[') {
            Some(at) => {
                let sub = target[at + 1..target.len() - 1].to_vec();
                Ok((Cow::Owned(target[..at].to_vec()), Some(Rc::new(sub))))
            }
            None => Ok((Cow::Owned(target.to_vec()), None)),
        }
    }

    fn nameref(&self, name: &[u8]) -> Option<Str> {
        let variable =
            self.variables.get(name).filter(|v| v.attributes.intersects(Attributes::NAMEREF))?;
        match &variable.value {
            Some(VarValue::Scalar(text)) => Some(text.clone()),
            _ => None,
        }
    }

    fn get(&mut self, name: &[u8]) -> Option<VarValue> {
        self.variables.get(name)?.value.clone()
    }

    fn attributes(&self, name: &[u8]) -> Attributes {
        self.variables.get(name).map(|v| v.attributes).unwrap_or_default()
    }

    fn set(&mut self, name: &[u8], value: Str) -> Result<(), ExpandError> {
        match self.get(name) {
            Some(VarValue::Indexed(_)) => {
                return self.set_element(name, ElementKey::Index(0), value);
            }
            Some(VarValue::Assoc(_)) => {
                return self.set_element(name, ElementKey::Name(b"0"), value);
            }
            _ => {}
        }
        let value = self.attributed(name, value)?;
        self.put(name, VarValue::Scalar(value));
        Ok(())
    }

    fn set_element(
        &mut self,
        name: &[u8],
        key: ElementKey<'_>,
        value: Str,
    ) -> Result<(), ExpandError> {
        let value = self.attributed(name, value)?;
        let bad = || {
            ExpandError::from(ExpandCause::BadSubscript { name: name.to_vec(), subscript: None })
        };
        // The value is taken out, so that it has only one owner and need not be copied.
        let old = self.variables.get_mut(name).and_then(|v| v.value.take());
        match (old, key) {
            (Some(VarValue::Assoc(mut array)), ElementKey::Name(key)) => {
                Rc::make_mut(&mut array).set(key, value);
                self.put(name, VarValue::Assoc(array));
            }
            (None, ElementKey::Name(key)) => {
                let mut array = AssocArray::new();
                array.set(key, value);
                self.put(name, VarValue::Assoc(Rc::new(array)));
            }
            (old, ElementKey::Index(index)) => {
                let mut array = match old {
                    Some(VarValue::Indexed(array)) => array,
                    Some(VarValue::Scalar(text)) => Rc::new([text].into_iter().collect()),
                    _ => Rc::new(IndexedArray::new()),
                };
                let resolved = array.resolve(index);
                if let Some(index) = resolved {
                    Rc::make_mut(&mut array).set(index, value);
                }
                self.put(name, VarValue::Indexed(array));
                resolved.ok_or_else(bad)?;
            }
            _ => return Err(bad()),
        }
        Ok(())
    }

    fn is_declared(&self, name: &[u8]) -> bool {
        self.variables.contains_key(name)
    }

    /// Returns whether the stack is nearly used up; tests run on threads with 2 MiB of stack.
    fn stack_low(&mut self) -> bool {
        let marker = 0u8;
        let here = std::hint::black_box(std::ptr::addr_of!(marker) as usize);
        let base = *self.stack_base.get_or_insert(here);
        base.abs_diff(here) > 1 << 20
    }

    fn names_with_prefix(&self, prefix: &[u8]) -> Vec<Vec<u8>> {
        let set =
            self.variables.iter().filter(|(name, v)| name.starts_with(prefix) && v.value.is_some());
        set.map(|(name, _)| name.clone()).collect()
    }

    fn positional(&self) -> PositionalList {
        self.positional.to_vec().into()
    }

    fn special(&mut self, name: u8) -> Option<Str> {
        let text = match name {
            b'#' => self.positional.len().to_string(),
            b'?' => "0".into(),
            b'-' => "hBc".into(),
            b'$' => "4242".into(),
            b'0' => "bash".into(),
            _ => return None,
        };
        Some(Rc::new(text.into_bytes()))
    }

    fn options(&self) -> &ExpandOptions {
        &self.options
    }

    /// Runs a substitution in bash itself, because only its result matters here.
    fn command_sub(&mut self, sub: &Rc<CommandSub>) -> Result<Vec<u8>, ExpandError> {
        let source = sh_syntax::print::print_list(&sub.body);
        let mut command = Command::new("bash");
        command.arg("-c").arg(std::ffi::OsStr::from_bytes(&source)).arg("bash");
        for (name, variable) in &self.variables {
            if let Some(VarValue::Scalar(text)) = &variable.value {
                command.env(std::ffi::OsStr::from_bytes(name), std::ffi::OsStr::from_bytes(text));
            }
        }
        let mut output = command.output().expect("bash").stdout;
        while output.last() == Some(&b'\n') {
            output.pop();
        }
        Ok(output)
    }

    fn process_sub(&mut self, _: &Rc<ProcessSub>) -> Result<Vec<u8>, ExpandError> {
        Ok(b"/dev/fd/63".to_vec())
    }

    fn prompt(&mut self, text: &[u8]) -> Result<Vec<u8>, ExpandError> {
        Ok(text.to_vec())
    }

    fn home_dir(&self, user: Option<&[u8]>) -> Option<Vec<u8>> {
        match user {
            None => own_home(),
            Some(b"root") => Some(b"/root".to_vec()),
            Some(_) => None,
        }
    }

    fn read_dir(&self, path: &[u8]) -> Option<Vec<PathnameEntry>> {
        let entries = std::fs::read_dir(self.path(path)).ok()?;
        let entry = |entry: std::fs::DirEntry| PathnameEntry {
            name: entry.file_name().as_bytes().to_vec(),
            is_dir: entry.file_type().ok().filter(|t| !t.is_symlink()).map(|t| t.is_dir()),
        };
        Some(entries.flatten().map(entry).collect())
    }

    fn path_exists(&self, path: &[u8]) -> bool {
        self.path(path).symlink_metadata().is_ok()
    }

    fn is_dir(&self, path: &[u8]) -> bool {
        self.path(path).is_dir()
    }

    fn warn(&mut self, message: &[u8]) -> Result<(), ExpandError> {
        self.complain(message);
        Ok(())
    }

    fn charge(&mut self, bytes: usize) -> Result<(), ExpandError> {
        match self.budget.checked_sub(bytes) {
            Some(left) => {
                self.budget = left;
                Ok(())
            }
            None => Err(ExpandCause::TooLarge.into()),
        }
    }
}

/// Returns the home of the user that runs the tests, which bash takes from the same file.
fn own_home() -> Option<Vec<u8>> {
    use std::os::unix::fs::MetadataExt;
    let user = std::fs::metadata("/proc/self").ok()?.uid().to_string();
    let all = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = all.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = fields.into_iter().find(|fields| fields.get(2) == Some(&user.as_str()))?;
    Some(own.get(5)?.as_bytes().to_vec())
}
