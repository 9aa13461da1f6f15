//! Codes and factors in NumPy arrays.

use crate::errors::{wrong_type, wrong_value};
use crate::values::type_name;
use ndarray::{Array, Array1, Array2, Dimension};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use unbraid::data::{Factor, FactorKind, FactorSpace, FactorTable};
use unbraid::metrics::factors_from_floats;

/// Factors as they stand in an array.
pub(crate) enum Factors {
    Whole(Array2<i64>),
    Real(Array2<f64>),
}

impl Factors {
    /// Class numbers, or real numbers if some are not whole.
    pub(crate) fn new(argument: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = with_axes(argument, object, 2)?;
        let kind = kind_of(&array)?;
        if matches!(kind, 'i' | 'u' | 'b') {
            return Ok(Self::Whole(converted(argument, &array, "int64")?));
        }
        if kind != 'f' {
            let found = format!("dtype {}", array.getattr("dtype")?);
            return Err(wrong_type(argument, found, "whole or real numbers"));
        }
        let numbers: Array2<f64> = converted(argument, &array, "float64")?;
        Ok(match factors_from_floats("factors", numbers.view()) {
            Ok(whole) => Self::Whole(whole),
            Err(_) => Self::Real(numbers),
        })
    }

    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Whole(factors) => factors.nrows(),
            Self::Real(factors) => factors.nrows(),
        }
    }

    /// As real numbers.
    pub(crate) fn into_numbers(self) -> Array2<f64> {
        match self {
            Self::Whole(factors) => factors.mapv(|value| value as f64),
            Self::Real(factors) => factors,
        }
    }
}

/// An array of two axes as doubles: codes, log-variances.
pub(crate) fn doubles(argument: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Array2<f64>> {
    let array = with_axes(argument, object, 2)?;
    if !matches!(kind_of(&array)?, 'f' | 'i' | 'u') {
        let found = format!("dtype {}", array.getattr("dtype")?);
        return Err(wrong_type(argument, found, "float32 or float64"));
    }
    converted(argument, &array, "float64")
}

/// An array of two axes as whole numbers.
pub(crate) fn integers(argument: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Array2<i64>> {
    match Factors::new(argument, object)? {
        Factors::Whole(values) => Ok(values),
        Factors::Real(_) => Err(wrong_type(argument, "numbers with decimals", "whole numbers")),
    }
}

/// An array of one axis as whole numbers.
pub(crate) fn whole_numbers(argument: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Array1<i64>> {
    let array = with_axes(argument, object, 1)?;
    if !matches!(kind_of(&array)?, 'i' | 'u') {
        let found = format!("dtype {}", array.getattr("dtype")?);
        return Err(wrong_type(argument, found, "whole numbers"));
    }
    converted(argument, &array, "int64")
}

/// An array with one axis or two.
fn with_axes<'py>(
    argument: &str,
    object: &Bound<'py, PyAny>,
    axes: usize,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    let (expected, of_rows) =
        if axes == 1 { ("one axis", "") } else { ("two axes", ", one row for each point") };
    let array = if let Ok(array) = object.cast::<PyUntypedArray>() {
        array.clone()
    } else if object.hasattr("__array__")? {
        // Tensors on the CPU, data frames.
        let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
        array.cast_into::<PyUntypedArray>().map_err(PyErr::from)?
    } else {
        return Err(wrong_type(argument, type_name(object), format!("a NumPy array with {expected}")));
    };
    if array.ndim() != axes {
        let found = format!("shape {:?}", array.shape());
        return Err(wrong_value(argument, found, format!("{expected}{of_rows}")));
    }
    Ok(array)
}

fn kind_of(array: &Bound<'_, PyUntypedArray>) -> PyResult<char> {
    array.getattr("dtype")?.getattr("kind")?.extract()
}

/// A copy in a type of ours, which the scores own while they work.
fn converted<T: numpy::Element + Copy, D: Dimension>(
    argument: &str,
    array: &Bound<'_, PyUntypedArray>,
    dtype: &str,
) -> PyResult<Array<T, D>> {
    let array = array.py().import("numpy")?.call_method1("asarray", (array, dtype))?;
    let array = array.cast::<PyArrayDyn<T>>().map_err(PyErr::from)?.readonly();
    // The number of axes has been checked.
    let view = array.as_array().into_dimensionality::<D>();
    view.map(|view| view.to_owned()).map_err(|_| wrong_value(argument, "other axes", "those of before"))
}

/// The kinds of factors by their words.
pub(crate) fn kinds(words: &[String]) -> PyResult<Vec<FactorKind>> {
    let kind = |word: &String| {
        FactorKind::from_name(word)
            .ok_or_else(|| wrong_value("factor_kinds", format!("{word:?}"), "categorical, ordered or angle"))
    };
    words.iter().map(kind).collect()
}

/// Factors of images as a table: class numbers as they are if they start at 0, else each value of a factor is
/// a class, in ascending order, labelled by its number.
pub(crate) fn table(
    factors: Factors,
    names: Option<Vec<String>>,
    kinds_of_factors: Option<&[String]>,
) -> PyResult<FactorTable> {
    let numbers = factors.into_numbers();
    let count = numbers.ncols();
    if count == 0 {
        return Err(wrong_value("factors", "no columns", "at least one factor"));
    }
    if let Some(value) = numbers.iter().find(|value| !value.is_finite()) {
        return Err(wrong_value("factors", value, "finite numbers"));
    }
    let names = names.unwrap_or_else(|| (0..count).map(|factor| format!("factor {factor}")).collect());
    if names.len() != count {
        return Err(wrong_value(
            "factor_names",
            format!("{} names", names.len()),
            format!("{count}, one for each factor"),
        ));
    }
    let given = kinds_of_factors.map(kinds).transpose()?;
    if let Some(given) = given.as_ref().filter(|given| given.len() != count) {
        return Err(wrong_value(
            "factor_kinds",
            format!("{} kinds", given.len()),
            format!("{count}, one for each factor"),
        ));
    }
    let mut classes = vec![0_u32; numbers.len()];
    let mut space = Vec::with_capacity(count);
    for (factor, name) in names.into_iter().enumerate() {
        let column = numbers.column(factor);
        let mut values = column.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let largest = values.last().copied().unwrap_or(0.0);
        let are_classes = values.iter().all(|value| *value >= 0.0 && value.fract() == 0.0)
            && largest < (2 * values.len()) as f64;
        for (row, value) in column.iter().enumerate() {
            let class =
                if are_classes { *value as usize } else { values.partition_point(|other| other < value) };
            classes[row * count + factor] = u32::try_from(class)
                .map_err(|_| wrong_value("factors", format!("{class} values of {name}"), "fewer"))?;
        }
        let size = if are_classes { largest as usize + 1 } else { values.len() };
        let guess = if size > 2 { FactorKind::Ordered } else { FactorKind::Categorical };
        let kind = given.as_ref().map_or(guess, |given| given[factor]);
        let mut described = Factor::new(name, size).of_kind(kind);
        if !are_classes {
            described.labels = values.iter().map(ToString::to_string).collect();
        }
        space.push(described);
    }
    FactorTable::from_rows(FactorSpace::new(space), classes).map_err(crate::errors::Raise::raise)
}
