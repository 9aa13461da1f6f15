//! The command `unbraid`.

use mimalloc::MiMalloc;
use std::process::ExitCode;

// Every step allocates and frees buffers of megabytes; the system's allocator returns them to the kernel each time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    unbraid_kernels::keep_freed_memory();
    ExitCode::from(unbraid_cli::main(std::env::args_os(), None))
}
