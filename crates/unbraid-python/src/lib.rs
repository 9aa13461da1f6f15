//! The native part of the Python package `unbraid`. What Python sees of it is in `python/unbraid`.

mod command;
mod datasets;
mod errors;
mod factors;
mod images;
mod models;
mod numbers;
mod progress;
mod run;
mod sampler;
mod scores;
mod study;
mod train;
mod values;
mod work;

use mimalloc::MiMalloc;

// As in the command: every step allocates and frees buffers of megabytes. Python and NumPy keep their own allocators.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use super::command::main;
    #[pymodule_export]
    use super::datasets::{PyDataset, list_datasets, load};
    #[pymodule_export]
    use super::models::import_model;
    #[pymodule_export]
    use super::run::PyRun;
    #[pymodule_export]
    use super::scores::{describe_metrics, evaluate};
    #[pymodule_export]
    use super::study::PyStudy;
    #[pymodule_export]
    use super::train::train;
    #[pymodule_export]
    use super::work::{get_num_threads, set_num_threads};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        unbraid_kernels::keep_freed_memory();
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        unbraid::check_environment().map_err(super::errors::Raise::raise)
    }
}
