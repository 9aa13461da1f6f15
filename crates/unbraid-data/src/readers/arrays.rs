//! A generic `.npz`: `images`, and optionally `factors`, `factor_names` and `factor_kinds`.
//!
//! `images` are bytes or floats in the order NHWC, NCHW or NHW. Bytes are divided by 255; if none is larger
//! than 1, they are black and white and used as they are. Floats must be in \[0, 1\]. `factors` (n, K) are
//! class numbers, starting at 0; `factor_kinds` are `categorical`, `ordered` or `angle`. Without them, a
//! factor of more than two values is ordered; options can say otherwise.

use crate::cache::{self, Keep};
use crate::data_option::DataOption;
use crate::dataset::{DataSet, ImageShape};
use crate::error::{DataError, Result};
use crate::factors::{Factor, FactorKind, FactorSpace};
use crate::fingerprint::{Fingerprint, hash_file};
use crate::formats::npz::{ArrayReader, Npz};
use crate::kinds;
use crate::request::Request;
use crate::storage::{BitImages, ByteImages, Pixels};
use crate::stored::StoredImages;
use crate::table::FactorTable;
use std::path::Path;

pub(crate) const LAYOUT: DataOption =
    DataOption::new("layout", "auto, nhwc or nchw", "auto", "order of the axes of `images`");

/// A factor with more classes is probably a column of identifiers.
const MOST_CLASSES: i64 = 1_000_000;

/// Whether the archive has an array `images`.
pub(crate) fn recognise(path: &Path) -> bool {
    Npz::open(path).is_ok_and(|npz| npz.contains("images"))
}

pub(crate) fn open(request: &Request<'_>) -> Result<Box<dyn DataSet>> {
    let path = request.path()?;
    let mut npz = Npz::open(path)?;
    let order = request
        .choice("layout", &[("auto", None), ("nhwc", Some(Order::Nhwc)), ("nchw", Some(Order::Nchw))])?;
    let (len, layout) = Layout::of(&npz.array("images")?, order)?;
    let mut factors = read_factors(path, &mut npz, len)?;
    kinds::apply(request, &mut factors)?;
    let images = npz.array("images")?;
    let element = images.header().element;
    let pixels = match (element.kind, element.bytes) {
        ('u' | 'b', 1) => read_bytes(path, images, len, layout, request)?,
        ('f', _) => read_floats(images, layout)?,
        _ => return Err(images.refuse(element.to_string(), "uint8, bool or floats")),
    };
    let fingerprint = Fingerprint::Files(vec![path.to_owned()]);
    Ok(Box::new(StoredImages::new("npz", layout.shape, pixels, factors, fingerprint)))
}

/// Which axis of a four-dimensional array holds the channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Nhwc,
    Nchw,
}

/// The shape of an image, and the order of its axes in the file.
#[derive(Clone, Copy, Debug)]
struct Layout {
    shape: ImageShape,
    order: Order,
}

impl Layout {
    /// The number of images and their layout; without a `wanted` order, the one that gives 1 or 3 channels.
    fn of(images: &ArrayReader<'_>, wanted: Option<Order>) -> Result<(usize, Self)> {
        let shape = &images.header().shape;
        let is_channels = |axis: usize| matches!(axis, 1 | 3);
        let (len, height, width, channels, order) = match shape[..] {
            [n, h, w] => (n, h, w, 1, Order::Nhwc),
            [n, h, w, c] if is_channels(c) && wanted != Some(Order::Nchw) => (n, h, w, c, Order::Nhwc),
            [n, c, h, w] if is_channels(c) && wanted != Some(Order::Nhwc) => (n, h, w, c, Order::Nchw),
            _ => {
                let expected = "(n, height, width), or 1 or 3 channels in the last or the second axis";
                return Err(images.refuse(format!("shape {shape:?}"), expected));
            }
        };
        if len == 0 || height == 0 || width == 0 {
            return Err(images.refuse(format!("shape {shape:?}"), "at least one image of at least one pixel"));
        }
        if images.header().fortran_order {
            return Err(images.refuse("Fortran order", "C order; save it with numpy.ascontiguousarray"));
        }
        Ok((len, Self { shape: ImageShape::new(height, width, channels), order }))
    }

    /// Rearranges one image from the order in the file to rows, columns, channels.
    fn arrange<T: Copy>(self, image: &[T], out: &mut Vec<T>) {
        if self.order == Order::Nhwc || self.shape.channels == 1 {
            out.extend_from_slice(image);
            return;
        }
        let plane = self.shape.height * self.shape.width;
        out.extend(
            (0..image.len()).map(|i| image[i % self.shape.channels * plane + i / self.shape.channels]),
        );
    }
}

fn read_bytes(
    path: &Path,
    images: ArrayReader<'_>,
    len: usize,
    layout: Layout,
    request: &Request<'_>,
) -> Result<Pixels> {
    let values = layout.shape.values();
    let large = (len as u64).saturating_mul(values as u64) > cache::largest_in_memory();
    if large
        && layout.order == Order::Nhwc
        && let Some(offset) = images.stored_offset()?
    {
        return Ok(Pixels::Bytes(ByteImages::in_file(values, len, path, offset)?));
    }
    let key = if large { format!("npz-{}", hash_file(path)?) } else { String::new() };
    let mut largest = 0;
    let bytes = cache::load_or_decode(&key, values, len, Keep::Large, request.progress, |sink| {
        let (mut rest, mut arranged) = (Vec::new(), Vec::new());
        images.stream(|piece| {
            largest = piece.iter().copied().fold(largest, u8::max);
            if layout.order == Order::Nhwc {
                return sink(piece);
            }
            rest.extend_from_slice(piece);
            arranged.clear();
            let whole = rest.len() / values * values;
            rest[..whole].chunks_exact(values).for_each(|image| layout.arrange(image, &mut arranged));
            rest.drain(..whole);
            sink(&arranged)
        })
    })?;
    if largest > 1 || large {
        return Ok(Pixels::Bytes(bytes));
    }
    let mut bits = BitImages::new(values);
    for index in 0..len {
        // No byte is larger than 1, so packing cannot fail.
        let _ = bytes.with_image(index, |image| bits.push(image))?;
    }
    bits.shrink_to_fit();
    Ok(Pixels::Bits(bits))
}

fn read_floats(images: ArrayReader<'_>, layout: Layout) -> Result<Pixels> {
    let refuse = images.refusal();
    let all = images.floats()?;
    if let Some(value) = all.iter().find(|value| !(0.0..=1.0).contains(*value)) {
        return Err(refuse(format!("a value of {value}"), "values in [0, 1]; divide by the maximum"));
    }
    let mut values = Vec::with_capacity(all.len());
    let mut arranged = Vec::with_capacity(layout.shape.values());
    for image in all.chunks_exact(layout.shape.values()) {
        arranged.clear();
        layout.arrange(image, &mut arranged);
        values.extend(arranged.iter().map(|&value| value as f32));
    }
    Ok(Pixels::Floats { values_per_image: layout.shape.values(), values })
}

pub(crate) fn read_factors(path: &Path, npz: &mut Npz, len: usize) -> Result<Option<FactorTable>> {
    if !npz.contains("factors") {
        return Ok(None);
    }
    let factors = npz.array("factors")?;
    factors.expect_axes(2)?;
    let (rows, count) = (factors.header().shape[0], factors.header().shape[1]);
    if rows != len {
        return Err(factors.refuse(format!("{rows} rows"), format!("{len}, one per image")));
    }
    if count == 0 {
        return Err(factors.refuse("no columns", "at least one factor"));
    }
    let values = factors.integers()?;
    let names = read_names(npz, count)?;
    let kinds = read_kinds(npz, count)?;
    let mut sizes = vec![0_i64; count];
    for (i, &value) in values.iter().enumerate() {
        if !(0..MOST_CLASSES).contains(&value) {
            let found = format!("class {value} of `{}` for image {}", names[i % count], i / count);
            let expected = format!("classes from 0 to {}", MOST_CLASSES - 1);
            return Err(DataError::content(path, "array `factors`", found, expected));
        }
        sizes[i % count] = sizes[i % count].max(value + 1);
    }
    let factors = names.into_iter().zip(&sizes).enumerate().map(|(k, (name, &size))| {
        let size = size as usize;
        let kind = kinds.as_ref().map_or_else(|| FactorKind::guess(size), |kinds| kinds[k]);
        Factor::new(name, size).of_kind(kind)
    });
    let factors = factors.collect();
    let values = values.into_iter().map(|value| value as u32).collect();
    FactorTable::from_rows(FactorSpace::new(factors), values).map(Some)
}

fn read_names(npz: &mut Npz, count: usize) -> Result<Vec<String>> {
    if !npz.contains("factor_names") {
        return Ok((0..count).map(|k| format!("factor {k}")).collect());
    }
    let names = npz.array("factor_names")?;
    names.expect_shape(&[count])?;
    names.strings()
}

fn read_kinds(npz: &mut Npz, count: usize) -> Result<Option<Vec<FactorKind>>> {
    if !npz.contains("factor_kinds") {
        return Ok(None);
    }
    let kinds = npz.array("factor_kinds")?;
    kinds.expect_shape(&[count])?;
    let refuse = kinds.refusal();
    let kinds = kinds.strings()?.into_iter().map(|name| {
        FactorKind::from_name(&name)
            .ok_or_else(|| refuse(format!("`{name}`"), "categorical, ordered or angle"))
    });
    kinds.collect::<Result<_>>().map(Some)
}
