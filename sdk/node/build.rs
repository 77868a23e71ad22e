//! Sets the linker options of a native module for Node.

fn main() {
    napi_build::setup();
}
