//! Links a module of Node.

fn main() {
    napi_build::setup();
}
