# Where the runtime begins a thread: a stack of its own comes before anything in C. The first
# word of what the thread was begun with is the stack's upper end (threads.c).
    .globaltype __stack_pointer, i32
    .functype wasibox_thread_main (i32) -> ()

    .export_name wasi_thread_start, wasi_thread_start
    .globl wasi_thread_start
    .type wasi_thread_start,@function
wasi_thread_start:
    .functype wasi_thread_start (i32, i32) -> ()
    local.get 1
    i32.load 0
    global.set __stack_pointer
    local.get 1
    call wasibox_thread_main
    end_function
