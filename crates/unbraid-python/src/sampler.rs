//! Codes from a Python function of factor vectors: for scores that draw points under interventions.

use crate::errors::{wrong_type, wrong_value};
use crate::factors::doubles;
use crate::work::Stop;
use ndarray::{Array2, Axis};
use numpy::ToPyArray;
use pyo3::prelude::*;
use rand::RngExt;
use std::sync::OnceLock;
use unbraid::metrics::random::{Generator, generator};
use unbraid::metrics::scores::InterventionSampler;

/// A function that takes factor vectors `[n, factors]` and gives codes `[n, units]`.
pub(crate) struct PythonSampler {
    function: Py<PyAny>,
    /// The number of values of each factor.
    sizes: Vec<usize>,
    /// The factors that have more than one value.
    varying: Vec<usize>,
}

/// The most factor vectors of one call: a network may keep all of their images in memory.
const LARGEST_CALL: usize = 1000;

impl PythonSampler {
    pub(crate) fn new(function: &Bound<'_, PyAny>, sizes: Vec<usize>) -> PyResult<Self> {
        if !function.is_callable() {
            return Err(wrong_type(
                "sampler",
                function.get_type().name()?,
                "a function from factor vectors to codes",
            ));
        }
        if let Some(size) = sizes.iter().find(|size| **size == 0) {
            return Err(wrong_value("factor_sizes", size, "1 or more values of each factor"));
        }
        let varying: Vec<usize> = (0..sizes.len()).filter(|&factor| sizes[factor] > 1).collect();
        if varying.is_empty() {
            return Err(wrong_value(
                "factor_sizes",
                format!("{sizes:?}"),
                "a factor with more than one value",
            ));
        }
        Ok(Self { function: function.clone().unbind(), sizes, varying })
    }

    /// The sampler in some work, which ends if the function raises an exception.
    pub(crate) fn with<'a>(self, stop: &'a Stop) -> Sampler<'a> {
        Sampler { python: self, stop, units: OnceLock::new() }
    }

    /// The codes of some factor vectors.
    fn codes(&self, factors: &Array2<i64>, units: Option<usize>) -> PyResult<Array2<f64>> {
        Python::attach(|py| {
            let result = self.function.bind(py).call1((factors.to_pyarray(py),))?;
            let codes = doubles("result of sampler", &result)?;
            let found = codes.dim();
            let expected = (factors.nrows(), units.unwrap_or(found.1));
            if found != expected {
                let found = format!("shape ({}, {})", found.0, found.1);
                let wanted = format!("({}, {}), a row for each factor vector", expected.0, expected.1);
                return Err(wrong_value("result of sampler", found, wanted));
            }
            Ok(codes)
        })
    }
}

/// A [`PythonSampler`] in use.
pub(crate) struct Sampler<'a> {
    python: PythonSampler,
    stop: &'a Stop,
    units: OnceLock<usize>,
}

impl Sampler<'_> {
    /// Says how many units the codes have.
    pub(crate) fn set_unit_count(&self, units: usize) {
        self.units.get_or_init(|| units);
    }

    /// The codes of factor vectors, row by row.
    fn codes(&self, factors: &Array2<i64>) -> Array2<f64> {
        let count = factors.nrows();
        let part = |start: usize| {
            let rows = start..(start + LARGEST_CALL).min(count);
            self.codes_of_part(&factors.slice_axis(Axis(0), rows.into()).to_owned())
        };
        let parts: Vec<Array2<f64>> = (0..count).step_by(LARGEST_CALL).map(part).collect();
        let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
        ndarray::concatenate(Axis(0), &views).unwrap_or_else(|_| Array2::zeros((0, self.unit_count())))
    }

    /// An exception of the function ends the work.
    fn codes_of_part(&self, factors: &Array2<i64>) -> Array2<f64> {
        self.stop.check();
        match self.python.codes(factors, self.units.get().copied()) {
            Ok(codes) => {
                self.set_unit_count(codes.ncols());
                codes
            }
            Err(exception) => {
                self.stop.request(exception);
                self.stop.check();
                unreachable!("a stop was requested")
            }
        }
    }

    /// Factor vectors drawn at random, all factors independently.
    fn vectors(&self, generator: &mut Generator, count: usize) -> Array2<i64> {
        let sizes = &self.python.sizes;
        // In the order of memory: row by row.
        Array2::from_shape_fn((count, sizes.len()), |(_, factor)| {
            generator.random_range(0..sizes[factor]) as i64
        })
    }

    fn fill(&self, factors: &Array2<i64>, batch: &mut [f64]) {
        let codes = self.codes(factors);
        batch.iter_mut().zip(codes.iter()).for_each(|(target, code)| *target = *code);
    }
}

/// Points drawn at random, with their factors.
pub(crate) fn draw(
    sampler: &Sampler<'_>,
    seed: u64,
    purpose: &str,
    count: usize,
) -> (Array2<f64>, Array2<i64>) {
    let factors = sampler.vectors(&mut generator(seed, purpose, 0), count);
    let codes = sampler.codes(&factors);
    (codes, factors)
}

impl InterventionSampler for Sampler<'_> {
    fn unit_count(&self) -> usize {
        self.units.get().copied().unwrap_or(0)
    }

    fn factor_count(&self) -> usize {
        self.python.varying.len()
    }

    fn pairs(&self, factor: usize, generator: &mut Generator, first: &mut [f64], second: &mut [f64]) {
        let factor = self.python.varying[factor];
        let count = first.len() / self.unit_count();
        let left = self.vectors(generator, count);
        let mut right = self.vectors(generator, count);
        right.column_mut(factor).assign(&left.column(factor));
        self.fill(&left, first);
        self.fill(&right, second);
    }

    fn held(&self, factor: usize, generator: &mut Generator, batch: &mut [f64]) {
        let factor = self.python.varying[factor];
        let mut vectors = self.vectors(generator, batch.len() / self.unit_count());
        let value = generator.random_range(0..self.python.sizes[factor]) as i64;
        vectors.column_mut(factor).fill(value);
        self.fill(&vectors, batch);
    }

    fn free(&self, generator: &mut Generator, batch: &mut [f64]) {
        self.fill(&self.vectors(generator, batch.len() / self.unit_count()), batch);
    }
}
