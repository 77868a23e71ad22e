//! Tools of our own: everything through [`box_applet::Ctx`], one file per tool.

pub(crate) mod basename;
pub(crate) mod cat;
pub(crate) mod date;
pub(crate) mod dirname;
pub(crate) mod echo;
pub(crate) mod head;
pub(crate) mod id;
pub(crate) mod link;
pub(crate) mod ln;
pub(crate) mod mkdir;
pub(crate) mod printenv;
pub(crate) mod printf;
pub(crate) mod pwd;
pub(crate) mod readlink;
pub(crate) mod rm;
pub(crate) mod sleep;
pub(crate) mod system;
pub(crate) mod tail;
pub(crate) mod tee;
pub(crate) mod test;
pub(crate) mod touch;
pub(crate) mod truth;
pub(crate) mod uniq;
pub(crate) mod which;
pub(crate) mod yes;
