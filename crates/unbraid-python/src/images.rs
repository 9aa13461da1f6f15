//! Images in NumPy arrays as a data set, borrowed where they are: bytes or single-precision floats, channels
//! last or first.

use crate::errors::{wrong_type, wrong_value};
use crate::values::type_name;
use crate::work::{self, Failure, Stop};
use numpy::{PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use unbraid::data::random::Lane;
use unbraid::data::{DataError, DataSet, FactorSpace, FactorTable, ImageShape, hex};

/// An array of images that Python holds; as long as this lives, it is not freed.
pub(crate) struct ImageArray<'py> {
    values: Values<'py>,
    layout: Layout,
}

enum Values<'py> {
    Bytes(PyReadonlyArrayDyn<'py, u8>),
    Floats(PyReadonlyArrayDyn<'py, f32>),
}

/// How the axes of an array are to be read.
#[derive(Clone, Copy, Debug)]
struct Layout {
    len: usize,
    shape: ImageShape,
    channels_first: bool,
}

/// The words of `layout=`: batches, and single images.
const LAYOUTS: [&str; 6] = ["NHWC", "NCHW", "NHW", "HWC", "CHW", "HW"];

impl<'py> ImageArray<'py> {
    /// The images of an argument. What has another order in memory than C's is copied once; everything else
    /// is borrowed. With `expected`, the shape of a run's images, a single image is accepted as well.
    pub(crate) fn new(
        argument: &str,
        object: &Bound<'py, PyAny>,
        layout: Option<&str>,
        expected: Option<ImageShape>,
    ) -> PyResult<Self> {
        let array = as_array(argument, object)?;
        let layout = Layout::of(argument, array.shape(), layout, expected)?;
        let array = if array.is_c_contiguous() {
            array.into_any()
        } else {
            object.py().import("numpy")?.call_method1("ascontiguousarray", (array,))?
        };
        let values = if let Ok(bytes) = array.cast::<PyArrayDyn<u8>>() {
            Values::Bytes(borrowed(argument, bytes)?)
        } else if let Ok(floats) = array.cast::<PyArrayDyn<f32>>() {
            Values::Floats(borrowed(argument, floats)?)
        } else {
            let found = array.getattr("dtype")?;
            return Err(wrong_type(argument, format!("dtype {found}"), "uint8, or float32 from 0 to 1"));
        };
        Ok(Self { values, layout })
    }

    /// The images as plain memory, which other threads can read while Python goes on. Checks floats, and
    /// whether bytes are black and white.
    pub(crate) fn images(&self, py: Python<'_>, argument: &str) -> PyResult<Images<'_>> {
        // Both checks above have seen that the array is contiguous.
        let contiguous = |_| wrong_value(argument, "an array with gaps", "C order");
        let pixels = match &self.values {
            Values::Bytes(array) => {
                let bytes = array.as_slice().map_err(contiguous)?;
                let is_binary = first(py, bytes, |byte| *byte > 1)?.is_none();
                Pixels::Bytes { bytes, is_binary }
            }
            Values::Floats(array) => {
                let floats = array.as_slice().map_err(contiguous)?;
                if let Some(value) = first(py, floats, |value| !(0.0..=1.0).contains(value))? {
                    return Err(wrong_value(argument, format!("a value of {value}"), "float32 from 0 to 1"));
                }
                Pixels::Floats(floats)
            }
        };
        Ok(Images { pixels, layout: self.layout, factors: None, stop: None })
    }

    /// The number of images.
    pub(crate) fn len(&self) -> usize {
        self.layout.len
    }
}

/// An array, or what NumPy can see as one without a copy: a tensor on the CPU.
fn as_array<'py>(argument: &str, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    if object.hasattr("__array__")? {
        let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
        if let Ok(array) = array.cast_into::<PyUntypedArray>() {
            return Ok(array);
        }
    }
    Err(wrong_type(argument, type_name(object), "a NumPy array of images"))
}

/// The values that are looked at by one thread.
const PART: usize = 1 << 16;

/// The first of some values for which a test holds; looks at many of them on all threads.
fn first<T: Copy + Send + Sync>(
    py: Python<'_>,
    values: &[T],
    is_wanted: impl Fn(&T) -> bool + Sync,
) -> PyResult<Option<T>> {
    let of_part = |part: &[T]| part.iter().copied().find(|value| is_wanted(value));
    if values.len() <= PART {
        return Ok(of_part(values));
    }
    work::run_briefly(py, || Ok::<_, Failure>(values.par_chunks(PART).find_map_first(of_part)))
}

fn borrowed<'py, T: numpy::Element>(
    argument: &str,
    array: &Bound<'py, PyArrayDyn<T>>,
) -> PyResult<PyReadonlyArrayDyn<'py, T>> {
    array.try_readonly().map_err(|_| wrong_value(argument, "an array that is being written", "one at rest"))
}

impl Layout {
    fn of(
        argument: &str,
        axes: &[usize],
        word: Option<&str>,
        expected: Option<ImageShape>,
    ) -> PyResult<Self> {
        let last = |len, height, width, channels| Self {
            len,
            shape: ImageShape::new(height, width, channels),
            channels_first: false,
        };
        let first = |len, height, width, channels| Self {
            channels_first: true,
            ..last(len, height, width, channels)
        };
        let candidates = match *axes {
            [h, w] => vec![("HW", last(1, h, w, 1))],
            [a, b, c] => {
                vec![("HWC", last(1, a, b, c)), ("CHW", first(1, b, c, a)), ("NHW", last(a, b, c, 1))]
            }
            [n, a, b, c] => vec![("NHWC", last(n, a, b, c)), ("NCHW", first(n, b, c, a))],
            _ => Vec::new(),
        };
        let is_channels = |channels: usize| matches!(channels, 1 | 3);
        let fits = |(name, layout): &(&str, Self)| match (word, expected) {
            (Some(word), _) => word.eq_ignore_ascii_case(name),
            (None, Some(expected)) => layout.shape == expected,
            // Without a run to compare with, three axes are grey images: a single one is nothing to train on.
            (None, None) => name.starts_with('N') && (is_channels(layout.shape.channels) || *name == "NHW"),
        };
        if let Some(word) = word
            && !LAYOUTS.iter().any(|known| known.eq_ignore_ascii_case(word))
        {
            return Err(wrong_value("layout", format!("{word:?}"), format!("one of {}", LAYOUTS.join(", "))));
        }
        let found = format!("shape {axes:?}");
        let mut fitting = candidates.into_iter().filter(fits);
        let layout = match (fitting.next(), fitting.next()) {
            (Some((_, layout)), None) => layout,
            (Some((first, layout)), Some((second, other))) => {
                if layout.shape == other.shape && layout.shape.channels == 1 {
                    // With one channel, first and last are the same.
                    layout
                } else {
                    return Err(wrong_value(
                        argument,
                        found,
                        format!("layout={first:?} or layout={second:?} to say which"),
                    ));
                }
            }
            (None, _) => {
                let wanted = match (expected, word) {
                    (Some(shape), _) => {
                        format!("images of {shape} (height x width x channels), those of the run")
                    }
                    (None, Some(word)) => format!("axes {word}"),
                    (None, None) => {
                        "(n, height, width, channels) with 1 or 3 channels, (n, channels, height, width) or \
                                     (n, height, width)"
                            .to_owned()
                    }
                };
                return Err(wrong_value(argument, found, wanted));
            }
        };
        if expected.is_some_and(|expected| expected != layout.shape) {
            let wanted = expected.map(|shape| format!("images of {shape}")).unwrap_or_default();
            return Err(wrong_value(argument, format!("images of {}", layout.shape), wanted));
        }
        if layout.len == 0 || layout.shape.values() == 0 {
            return Err(wrong_value(
                argument,
                format!("shape {axes:?}"),
                "at least one image of at least one pixel",
            ));
        }
        Ok(layout)
    }
}

/// Borrowed images, and their factors if they are known.
#[derive(Debug)]
pub(crate) struct Images<'a> {
    pixels: Pixels<'a>,
    layout: Layout,
    factors: Option<FactorTable>,
    /// What ends hashing them, which takes seconds.
    stop: Option<&'a Stop>,
}

enum Pixels<'a> {
    /// Divided by 255, unless no byte is larger than 1.
    Bytes {
        bytes: &'a [u8],
        is_binary: bool,
    },
    Floats(&'a [f32]),
}

/// Shows what they are, not all of them.
impl std::fmt::Debug for Pixels<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bytes { .. } => "Bytes",
            Self::Floats(_) => "Floats",
        })
    }
}

impl<'a> Images<'a> {
    /// The same images, for work that a request may stop.
    pub(crate) fn stopped_by(self, stop: &'a Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The same images with factors.
    pub(crate) fn with_factors(self, factors: Option<FactorTable>) -> Self {
        Self { factors, ..self }
    }

    fn check_stop(&self) {
        if let Some(stop) = self.stop {
            stop.check();
        }
    }

    /// Writes an image as rows, columns, channels.
    fn arrange<T: Copy>(&self, all: &[T], index: usize, out: &mut [f32], convert: impl Fn(T) -> f32) {
        let ImageShape { height, width, channels } = self.layout.shape;
        let values = self.layout.shape.values();
        let image = &all[index * values..][..values];
        if self.layout.channels_first && channels > 1 {
            for (channel, plane) in image.chunks_exact(height * width).enumerate() {
                for (pixel, &value) in out.chunks_exact_mut(channels).zip(plane) {
                    pixel[channel] = convert(value);
                }
            }
        } else {
            out.iter_mut().zip(image).for_each(|(pixel, &value)| *pixel = convert(value));
        }
    }
}

/// The name of data that Python handed over, in `config.toml` and messages.
pub(crate) const NAME: &str = "array";

impl DataSet for Images<'_> {
    fn name(&self) -> &str {
        NAME
    }

    fn len(&self) -> usize {
        self.layout.len
    }

    fn shape(&self) -> ImageShape {
        self.layout.shape
    }

    fn factors(&self) -> Option<&FactorSpace> {
        self.factors.as_ref().map(FactorTable::space)
    }

    fn factors_of(&self, index: usize, values: &mut [u32]) {
        match &self.factors {
            Some(table) => table.values_of(index, values),
            None => assert!(values.is_empty(), "the images have no factors"),
        }
    }

    fn index_of(&self, values: &[u32]) -> Option<usize> {
        self.factors.as_ref()?.index_of(values)
    }

    fn is_binary(&self) -> bool {
        match self.pixels {
            Pixels::Bytes { is_binary, .. } => is_binary,
            Pixels::Floats(_) => false,
        }
    }

    fn write_image(&self, index: usize, _noise: Lane, pixels: &mut [f32]) -> Result<(), DataError> {
        match self.pixels {
            Pixels::Bytes { bytes, is_binary: true } => self.arrange(bytes, index, pixels, f32::from),
            Pixels::Bytes { bytes, is_binary: false } => {
                self.arrange(bytes, index, pixels, |byte| f32::from(byte) / 255.0);
            }
            Pixels::Floats(floats) => self.arrange(floats, index, pixels, |value| value),
        }
        Ok(())
    }

    /// The pixels are Python's.
    fn memory(&self) -> usize {
        self.factors.as_ref().map_or(0, FactorTable::memory)
    }

    /// Of the shape, the pixels and the factors.
    fn fingerprint(&self) -> Result<String, DataError> {
        let mut hash = Sha256::new();
        let Layout { len, shape, channels_first } = self.layout;
        hash.update(format!("{len} x {shape}, channels first: {channels_first}\n"));
        match self.pixels {
            Pixels::Bytes { bytes, .. } => {
                for part in bytes.chunks(PART) {
                    self.check_stop();
                    hash.update(part);
                }
            }
            Pixels::Floats(floats) => {
                // A call for each float would take ten times as long.
                let mut bytes = Vec::with_capacity(4 * PART);
                for part in floats.chunks(PART) {
                    self.check_stop();
                    bytes.clear();
                    bytes.extend(part.iter().flat_map(|value| value.to_le_bytes()));
                    hash.update(&bytes);
                }
            }
        }
        if let Some(table) = &self.factors {
            hash.update(format!("{:?}\n", table.space()));
            let mut values = vec![0; table.space().len()];
            for index in 0..len {
                table.values_of(index, &mut values);
                values.iter().for_each(|value| hash.update(value.to_le_bytes()));
            }
        }
        Ok(hex(&hash.finalize()))
    }
}
