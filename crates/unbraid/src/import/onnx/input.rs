//! How images of a data set are put before an encoder.

use crate::import::refusal::{Refusal, listed, quoted};
use tract_onnx::pb::ValueInfoProto;
use tract_onnx::pb::tensor_proto::DataType;
use tract_onnx::pb::tensor_shape_proto::dimension::Value as Dimension;
use tract_onnx::pb::type_proto::Value as TypeValue;
use unbraid_data::{DataSet, ImageShape};

/// The images of a batch where the file leaves their number open.
const BATCH: usize = 32;

/// The input of an encoder for images of one data set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Input {
    /// Its shape, beginning with the number of images.
    pub(super) shape: Vec<usize>,
    image: ImageShape,
    has_channels_first: bool,
    range: (f32, f32),
}

/// What a file says of its input beside the shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Conventions {
    /// `NCHW` or `NHWC`, where they differ.
    pub(super) layout: Option<String>,
    /// What black and white are; 0 and 1 unless it is said.
    pub(super) range: Option<(f32, f32)>,
    /// The names of the columns of a table.
    pub(super) columns: Option<Vec<String>>,
}

/// The order of the axes after that of the batch, and their lengths.
struct Order {
    has_channels_first: bool,
    axes: Vec<usize>,
}

impl Input {
    /// Compares what an encoder takes with what the data has.
    ///
    /// # Errors
    /// If they differ; the message has both shapes.
    pub(super) fn new(
        input: &ValueInfoProto,
        data: &dyn DataSet,
        conventions: &Conventions,
    ) -> Result<Self, Refusal> {
        let name = quoted(&input.name);
        let TypeValue::TensorType(tensor) = input
            .r#type
            .as_ref()
            .and_then(|kind| kind.value.as_ref())
            .ok_or_else(|| Refusal::new(format!("the input `{name}` without a type"), "32-bit floats"))?;
        if tensor.elem_type != i32::from(DataType::Float) {
            let kind = DataType::try_from(tensor.elem_type)
                .map_or_else(|_| "unknown".to_owned(), |kind| kind.as_str_name().to_lowercase());
            return Err(Refusal::new(format!("the input `{name}` of type {kind}"), "32-bit floats"));
        }
        check_columns(data, conventions)?;
        check_layout(conventions)?;
        let orders = orders(data, conventions.layout.as_deref());
        let declared: Option<Vec<&Option<Dimension>>> =
            tensor.shape.as_ref().map(|shape| shape.dim.iter().map(|axis| &axis.value).collect());
        let fits = |order: &&Order| match declared.as_deref() {
            None => true,
            Some([_, axes @ ..]) => {
                axes.len() == order.axes.len()
                    && axes.iter().zip(&order.axes).all(|(axis, &length)| is_of(axis, length))
            }
            Some([]) => false,
        };
        let Some(order) = orders.iter().find(fits) else {
            let found = declared.as_deref().map_or_else(|| "any".to_owned(), described);
            return Err(Refusal::new(
                format!("the input `{name}` of {found}"),
                format!("{}: {}", subject(data), either(&orders)),
            ));
        };
        let batch = match declared.as_deref() {
            Some([Some(Dimension::DimValue(batch)), ..]) if *batch > 0 => {
                usize::try_from(*batch).unwrap_or(BATCH)
            }
            Some(_) | None => BATCH,
        };
        Ok(Self {
            shape: std::iter::once(batch).chain(order.axes.iter().copied()).collect(),
            image: data.shape(),
            has_channels_first: order.has_channels_first,
            range: conventions.range.unwrap_or((0.0, 1.0)),
        })
    }

    /// Images of a batch.
    pub(super) fn batch(&self) -> usize {
        self.shape[0]
    }

    /// The shape of one image.
    pub(super) fn image(&self) -> ImageShape {
        self.image
    }

    /// An image, rows by columns by channels, as the encoder takes it.
    pub(super) fn arrange(&self, image: &[f32], values: &mut [f32]) {
        let (pixels, channels) = (self.image.height * self.image.width, self.image.channels);
        let (low, high) = self.range;
        // Exact for the usual range.
        let scaled = |value: f32| if self.range == (0.0, 1.0) { value } else { low + value * (high - low) };
        for (place, value) in image.iter().enumerate() {
            let (pixel, channel) = (place / channels, place % channels);
            let target = if self.has_channels_first { channel * pixels + pixel } else { place };
            values[target] = scaled(*value);
        }
    }
}

/// The shapes that these images may have, the first of which is the most common.
fn orders(data: &dyn DataSet, layout: Option<&str>) -> Vec<Order> {
    let ImageShape { height, width, channels } = data.shape();
    let first = |axes: Vec<usize>| Order { has_channels_first: true, axes };
    if data.columns().is_some() {
        return vec![first(vec![data.shape().values()])];
    }
    let nchw = first(vec![channels, height, width]);
    let nhwc = Order { has_channels_first: false, axes: vec![height, width, channels] };
    let mut orders = match layout {
        Some("NCHW") => vec![nchw],
        Some("NHWC") => vec![nhwc],
        Some(_) | None => vec![nchw, nhwc],
    };
    if channels == 1 {
        orders.push(first(vec![height, width]));
    }
    orders.push(first(vec![data.shape().values()]));
    orders
}

/// `NC` is that of tables.
fn check_layout(conventions: &Conventions) -> Result<(), Refusal> {
    match conventions.layout.as_deref() {
        None | Some("NCHW" | "NHWC" | "NC") => Ok(()),
        Some(other) => Err(Refusal::new(
            format!("`unbraid.layout` in its metadata: {}", quoted(other)),
            "`NCHW`, `NHWC` or, for tables, `NC`",
        )),
    }
}

fn check_columns(data: &dyn DataSet, conventions: &Conventions) -> Result<(), Refusal> {
    let (Some(expected), Some(found)) = (data.columns(), &conventions.columns) else { return Ok(()) };
    if found == expected {
        return Ok(());
    }
    let names = |names: &[String]| listed(names.iter().map(String::as_str));
    Err(Refusal::new(
        format!("an encoder of the columns {}", names(found)),
        format!("those of {}: {}", data.name(), names(expected)),
    ))
}

fn is_of(axis: &Option<Dimension>, length: usize) -> bool {
    match axis {
        Some(Dimension::DimValue(value)) => usize::try_from(*value) == Ok(length),
        Some(Dimension::DimParam(_)) | None => true,
    }
}

/// A shape as the file declares it: `[batch, 3, 64, 64]`.
fn described(axes: &[&Option<Dimension>]) -> String {
    let axis = |axis: &&Option<Dimension>| match axis {
        Some(Dimension::DimValue(value)) => value.to_string(),
        Some(Dimension::DimParam(name)) => quoted(name),
        None => "?".to_owned(),
    };
    format!("[{}]", axes.iter().map(axis).collect::<Vec<_>>().join(", "))
}

fn subject(data: &dyn DataSet) -> String {
    match data.columns() {
        Some(columns) => format!("rows of {} columns, those of {}", columns.len(), data.name()),
        None => format!("images of {} (height x width x channels), those of {}", data.shape(), data.name()),
    }
}

fn either(orders: &[Order]) -> String {
    let axes = |order: &Order| {
        let lengths: Vec<String> = order.axes.iter().map(usize::to_string).collect();
        format!("[batch, {}]", lengths.join(", "))
    };
    orders.iter().map(axes).collect::<Vec<_>>().join(" or ")
}
