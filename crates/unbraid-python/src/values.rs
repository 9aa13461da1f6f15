//! Values between Python, JSON and TOML.

use crate::errors::{wrong_type, wrong_value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use serde_json::{Map, Value};

/// A Python value as JSON; `argument` names it in messages. NumPy's scalars count as what they hold.
pub(crate) fn to_json(argument: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Bool(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return value
            .extract::<i64>()
            .map(Value::from)
            .map_err(|_| wrong_value(argument, value, "a whole number of at most 63 bits"));
    }
    if value.is_instance_of::<PyFloat>() {
        let number: f64 = value.extract()?;
        return serde_json::Number::from_f64(number)
            .map(Value::Number)
            .ok_or_else(|| wrong_value(argument, number, "a finite number"));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::String(value.extract()?));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        return Ok(Value::Object(to_json_object(argument, table)?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| to_json(argument, &item?));
        return items.collect::<PyResult<_>>().map(Value::Array);
    }
    if value.hasattr("item")? && value.getattr("ndim").is_ok_and(|axes| axes.eq(0).unwrap_or(false)) {
        return to_json(argument, &value.call_method0("item")?);
    }
    if value.hasattr("__fspath__")? {
        return Ok(Value::String(value.call_method0("__fspath__")?.extract()?));
    }
    Err(wrong_type(argument, type_name(value), "a number, a word, a list or a dict"))
}

/// A dict with words as keys.
pub(crate) fn to_json_object(argument: &str, table: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    let entry = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let Ok(key) = key.extract::<String>() else {
            return Err(wrong_type(argument, format!("a key of type {}", type_name(&key)), "words as keys"));
        };
        let value = to_json(&format!("{argument}[{key:?}]"), &value)?;
        Ok((key, value))
    };
    table.iter().map(entry).collect()
}

/// A JSON value as Python's own.
pub(crate) fn from_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Value::Null => Ok(py.None().into_bound(py)),
        Value::Bool(flag) => flag.into_bound_py_any(py),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(whole), _) => whole.into_bound_py_any(py),
            (None, Some(whole)) => whole.into_bound_py_any(py),
            (None, None) => number.as_f64().into_bound_py_any(py),
        },
        Value::String(text) => text.into_bound_py_any(py),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| from_json(py, item)).collect::<PyResult<_>>()?;
            items.into_bound_py_any(py)
        }
        Value::Object(entries) => {
            let table = PyDict::new(py);
            for (key, value) in entries {
                table.set_item(key, from_json(py, value)?)?;
            }
            Ok(table.into_any())
        }
    }
}

/// A JSON value as TOML on one line, for `key=value`.
pub(crate) fn to_toml(argument: &str, value: &Value) -> PyResult<String> {
    toml::Value::try_from(value)
        .map(|value| value.to_string())
        .map_err(|_| wrong_value(argument, "None", "a value"))
}

/// The keys of a configuration in a dict as `key=value`.
pub(crate) fn assignments(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let assignment = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let Ok(key) = key.extract::<String>() else {
            return Err(wrong_type("set", format!("the key {key}"), "keys of the configuration"));
        };
        let argument = format!("set[{key:?}]");
        Ok(format!("{key}={}", to_toml(&argument, &to_json(&argument, &value)?)?))
    };
    set.into_iter().flatten().map(assignment).collect()
}

/// The name of a value's type, as Python writes it.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().fully_qualified_name().map_or_else(|_| "something".to_owned(), |name| name.to_string())
}
