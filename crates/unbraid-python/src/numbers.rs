//! Whole numbers in arguments, and how much memory they may ask for.

use crate::errors::{wrong_type, wrong_value};
use crate::values::type_name;
use pyo3::prelude::*;
use unbraid::data::{ImageShape, memory};

/// A whole number of an argument.
fn number<T: TryFrom<u64>>(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    let found = value.extract::<u64>().ok().and_then(|number| T::try_from(number).ok());
    found.ok_or_else(|| match value.lt(0) {
        Ok(true) => wrong_value(argument, value, "a whole number, 0 or more"),
        Ok(false) if value.hasattr("__index__").unwrap_or(false) => {
            wrong_value(argument, value, "a smaller number")
        }
        Ok(false) | Err(_) => wrong_type(argument, type_name(value), "a whole number"),
    })
}

/// A function for each argument, which `from_py_with` calls: Python's own refusals do not name it.
macro_rules! whole {
    ($($argument:ident: $type:ty),*) => {$(
        pub(crate) fn $argument(value: &Bound<'_, PyAny>) -> PyResult<$type> {
            number(stringify!($argument), value)
        }
    )*};
}

whole!(bootstrap: usize, n: usize, samples: usize, seed: u64, steps: usize, threads: usize);

/// The same for arguments that may be `None`.
pub(crate) mod optional {
    use super::{Bound, PyAny, PyAnyMethods, PyResult, number};

    macro_rules! whole {
        ($($argument:ident: $type:ty),*) => {$(
            pub(crate) fn $argument(value: &Bound<'_, PyAny>) -> PyResult<Option<$type>> {
                if value.is_none() { Ok(None) } else { number(stringify!($argument), value).map(Some) }
            }
        )*};
    }

    whole!(batch_size: u64, epochs: u64, jobs: usize, n_units: u64, seed: u64, step: u64, steps: u64);

    pub(crate) fn factor_sizes(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<usize>>> {
        if value.is_none() {
            return Ok(None);
        }
        value.try_iter()?.map(|size| number("factor_sizes", &size?)).collect::<PyResult<_>>().map(Some)
    }
}

/// Refuses a number of images that do not fit into memory.
pub(crate) fn check_images(argument: &str, count: usize, shape: ImageShape) -> PyResult<()> {
    check_memory(argument, count, 4 * shape.values(), format_args!("images of {shape}"))
}

/// Refuses a number of things of so many bytes that do not fit into memory.
pub(crate) fn check_memory(
    argument: &str,
    count: usize,
    bytes: usize,
    what: impl std::fmt::Display,
) -> PyResult<()> {
    memory::check((count as u64).saturating_mul(bytes as u64)).map_err(
        |memory::TooLarge { needed, limit }| {
            let found = format!("{count} {what}, {} in memory", memory::Bytes(needed));
            wrong_value(argument, found, format!("at most {}", memory::Bytes(limit)))
        },
    )
}
