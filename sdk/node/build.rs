//! What linking a module of Node needs.

fn main() {
    napi_build::setup();
}
