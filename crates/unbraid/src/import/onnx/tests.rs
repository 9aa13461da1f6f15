//! Layouts, ranges and batches of inputs, on an encoder whose code is the image itself.

use super::*;
use crate::error::error_chain;
use tract_onnx::pb::attribute_proto::AttributeType;
use tract_onnx::pb::tensor_proto::DataType;
use tract_onnx::pb::tensor_shape_proto::{Dimension, dimension::Value};
use tract_onnx::pb::type_proto::{Tensor as TensorType, Value as TypeValue};
use tract_onnx::pb::{
    AttributeProto, NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto, TensorShapeProto,
    TypeProto, ValueInfoProto,
};
use unbraid_data::ImageShape;
use unbraid_data::progress::Silent;

fn scenes() -> Box<dyn DataSet> {
    let spec = "scenes(hues=2, scales=2, orientations=2, size=32)";
    unbraid_data::open(&spec.parse().unwrap(), &Silent).unwrap()
}

fn value(name: &str, kind: DataType, axes: &[&str]) -> ValueInfoProto {
    let axis = |axis: &&str| {
        let value = axis.parse().map_or_else(|_| Value::DimParam((*axis).to_owned()), Value::DimValue);
        Dimension { value: Some(value), ..Dimension::default() }
    };
    let shape = TensorShapeProto { dim: axes.iter().map(axis).collect() };
    let tensor = TensorType { elem_type: kind.into(), shape: Some(shape) };
    let kind = TypeProto { value: Some(TypeValue::TensorType(tensor)), ..TypeProto::default() };
    ValueInfoProto { name: name.to_owned(), r#type: Some(kind), ..ValueInfoProto::default() }
}

/// Images in, the same values as rows out.
fn flattening(kind: DataType, axes: &[&str]) -> ModelProto {
    let node = NodeProto {
        op_type: "Flatten".to_owned(),
        input: vec!["x".to_owned()],
        output: vec!["code".to_owned()],
        ..NodeProto::default()
    };
    let graph = GraphProto {
        node: vec![node],
        input: vec![value("x", kind, axes)],
        output: vec![value("code", kind, &["n", "values"])],
        ..GraphProto::default()
    };
    ModelProto {
        ir_version: 7,
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: 13 }],
        graph: Some(graph),
        ..ModelProto::default()
    }
}

fn opened(model: ModelProto, options: &EncoderOptions) -> Result<OnnxEncoder> {
    OnnxEncoder::of_model(model, Path::new("e.onnx"), scenes().as_ref(), options)
}

/// The codes of three images, and the images.
fn encoded(model: ModelProto, options: &EncoderOptions) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    let (data, indices, noise) = (scenes(), [5, 0, 17], Stream::new(0, "none"));
    let encoder = opened(model, options).unwrap();
    let codes = encoder.encode_data(data.as_ref(), &indices, noise, &Silent).unwrap();
    assert_eq!(codes.log_variance.dim(), (3, 0));
    let image = |index: usize| {
        let mut pixels = vec![0.0; data.shape().values()];
        data.write_image(index, noise.at(0).lane(index as u64), &mut pixels).unwrap();
        pixels
    };
    (codes.mean.rows().into_iter().map(|row| row.to_vec()).collect(), indices.map(image).to_vec())
}

/// Rows by columns by channels as channels by rows by columns.
fn with_channels_first(image: &[f32]) -> Vec<f32> {
    (0..3).flat_map(|channel| image.iter().skip(channel).step_by(3).copied()).collect()
}

#[test]
fn the_layout_is_that_of_the_shape() {
    let plain = EncoderOptions::default();
    let (codes, images) = encoded(flattening(DataType::Float, &["n", "32", "32", "3"]), &plain);
    assert_eq!(codes, images);
    // Any number of images in a batch, two, and one; rows are channels first, too.
    for axes in [&["n", "3", "32", "32"][..], &["2", "3", "32", "32"], &["1", "3", "h", "w"], &["n", "3072"]]
    {
        let (codes, images) = encoded(flattening(DataType::Float, axes), &plain);
        let expected: Vec<Vec<f32>> = images.iter().map(|image| with_channels_first(image)).collect();
        assert_eq!(codes, expected, "{axes:?}");
    }
}

#[test]
fn the_range_is_that_of_the_options_or_of_the_file() {
    let axes = ["n", "32", "32", "3"];
    let expected = |images: Vec<Vec<f32>>| -> Vec<Vec<f32>> {
        images.iter().map(|image| image.iter().map(|value| -1.0 + value * 2.0).collect()).collect()
    };
    let options = EncoderOptions { range: Some((-1.0, 1.0)), ..EncoderOptions::default() };
    let (codes, images) = encoded(flattening(DataType::Float, &axes), &options);
    assert_eq!(codes, expected(images));
    let mut model = flattening(DataType::Float, &axes);
    let (key, value) = ("unbraid.data_range".to_owned(), "[-1,1]".to_owned());
    model.metadata_props.push(StringStringEntryProto { key, value });
    let (codes, images) = encoded(model.clone(), &EncoderOptions::default());
    assert_eq!(codes, expected(images));
    model.metadata_props[0].value = "wide".to_owned();
    let layout = |name: &str| StringStringEntryProto {
        key: "unbraid.layout".to_owned(),
        value: format!("\"{name}\""),
    };
    let mut other = flattening(DataType::Float, &axes);
    other.metadata_props.push(layout("CHWN"));
    assert_eq!(
        error_chain(&opened(other, &EncoderOptions::default()).unwrap_err()),
        "e.onnx: found `unbraid.layout` in its metadata: CHWN, expected `NCHW`, `NHWC` or, for tables, `NC`"
    );
    let error = opened(model, &EncoderOptions::default()).unwrap_err();
    assert_eq!(
        error_chain(&error),
        "e.onnx: found `unbraid.data_range` in its metadata: wide, expected two numbers"
    );
}

#[test]
fn other_inputs_are_refused_with_both_shapes() {
    let refusal = |model| error_chain(&opened(model, &EncoderOptions::default()).unwrap_err());
    assert_eq!(
        refusal(flattening(DataType::Float, &["n", "3", "64", "64"])),
        "e.onnx: found the input `x` of [n, 3, 64, 64], expected images of 32 x 32 x 3 (height x width x channels), those \
         of scenes: [batch, 3, 32, 32] or [batch, 32, 32, 3] or [batch, 3072]"
    );
    assert_eq!(
        refusal(flattening(DataType::Uint8, &["n", "3", "32", "32"])),
        "e.onnx: found the input `x` of type uint8, expected 32-bit floats"
    );
    let mut model = flattening(DataType::Float, &["n", "3", "32", "32"]);
    let graph = model.graph.as_mut().unwrap();
    graph.node[0].op_type = "Relu".to_owned();
    assert_eq!(
        refusal(model),
        "e.onnx: found the output `code` of [32, 3, 32, 32], expected a row of units for each of 32 images: [32, units]"
    );
    let mut model = flattening(DataType::Float, &["n", "3", "32", "32"]);
    let graph = model.graph.as_mut().unwrap();
    graph.input.push(value("y", DataType::Float, &["n"]));
    graph.node[0].op_type = "Add".to_owned();
    graph.node[0].input.push("y".to_owned());
    assert_eq!(
        refusal(model),
        "e.onnx: found an output that depends on the inputs `x`, `y`, expected one input, the images"
    );
    assert_eq!(scenes().shape(), ImageShape::new(32, 32, 3));
}

fn node(operator: &str, inputs: &[&str], output: &str) -> NodeProto {
    NodeProto {
        op_type: operator.to_owned(),
        input: inputs.iter().map(|&name| name.to_owned()).collect(),
        output: vec![output.to_owned()],
        ..NodeProto::default()
    }
}

fn integers(name: &str, axes: &[i64], values: &[i64]) -> TensorProto {
    TensorProto {
        name: name.to_owned(),
        data_type: DataType::Int64.into(),
        dims: axes.to_vec(),
        int64_data: values.to_vec(),
        ..TensorProto::default()
    }
}

/// The image as a row, plus a number that the graph computes and calls `extra`.
fn with_extra(nodes: &[NodeProto], constants: &[TensorProto]) -> ModelProto {
    let mut model = flattening(DataType::Float, &["n", "3", "32", "32"]);
    let graph = model.graph.as_mut().unwrap();
    graph.node[0].output[0] = "row".to_owned();
    graph.node.extend(nodes.iter().cloned());
    let to_float = AttributeProto {
        name: "to".to_owned(),
        i: i64::from(i32::from(DataType::Float)),
        r#type: AttributeType::Int.into(),
        ..AttributeProto::default()
    };
    graph.node.push(NodeProto { attribute: vec![to_float], ..node("Cast", &["extra"], "float") });
    graph.node.push(node("ReduceSum", &["float"], "sum"));
    graph.node.push(node("Squeeze", &["sum"], "number"));
    graph.node.push(node("Add", &["row", "number"], "code"));
    graph.initializer.extend(constants.iter().cloned());
    model
}

/// Zeros of a shape that is computed. The value is said, since tract's own default is a double.
fn zeros(shape: &str, output: &str) -> NodeProto {
    let zero = TensorProto {
        data_type: DataType::Float.into(),
        dims: vec![1],
        float_data: vec![0.0],
        ..TensorProto::default()
    };
    let value = AttributeProto {
        name: "value".to_owned(),
        t: Some(zero),
        r#type: AttributeType::Tensor.into(),
        ..AttributeProto::default()
    };
    NodeProto { attribute: vec![value], ..node("ConstantOfShape", &[shape], output) }
}

/// No file names these sizes: the graph computes them.
#[test]
fn computed_sizes_beyond_memory_are_refused() {
    let refusal = |nodes: &[NodeProto], constants: &[TensorProto]| {
        let error = opened(with_extra(nodes, constants), &EncoderOptions::default()).unwrap_err();
        let text = error_chain(&error);
        let start = "e.onnx: found a graph that cannot be computed (";
        text.strip_prefix(start).unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    let thousands = integers("a", &[2], &[1 << 10, 1 << 10]);
    let square = node("Mul", &["a", "a"], "b");
    let found = refusal(&[square.clone(), zeros("b", "extra")], &[thousands]);
    // 2^20 x 2^20 floats.
    assert!(found.contains("ConstantOfShape of constants would take 4.398e12 bytes"), "{found}");

    // Downwards, of which tract's own rule thinks that there is nothing.
    let scalars = [integers("zero", &[], &[0]), integers("down", &[], &[-1]), integers("a", &[], &[1 << 15])];
    let far = node("Mul", &["b", "down"], "far");
    let nodes = [square, far, node("Range", &["zero", "far", "down"], "extra")];
    let found = refusal(&nodes, &scalars);
    // 2^30 whole numbers of eight bytes.
    assert!(found.contains("Range of constants would take 8.590e9 bytes"), "{found}");

    // 700 x 700 numbers are few enough to be kept, with 5,000 along a third axis they are 19.6 GB.
    let ones = |name: &str, axes: &[i64]| integers(name, axes, &vec![1; axes[0] as usize]);
    let axes = [ones("x1", &[700, 1, 1]), ones("x2", &[700, 1]), ones("x3", &[5000])];
    let nodes = [node("Add", &["x1", "x2"], "x12"), node("Add", &["x12", "x3"], "extra")];
    let found = refusal(&nodes, &axes);
    assert!(found.contains("of constants would take 1.960e10 bytes"), "{found}");
}

#[test]
fn sizes_that_depend_on_pixels_are_refused() {
    let model = with_extra(&[node("NonZero", &["row"], "extra")], &[]);
    let text = error_chain(&opened(model, &EncoderOptions::default()).unwrap_err());
    let found = "e.onnx: found the operator `NonZero` with a result of no fixed size";
    assert_eq!(text, format!("{found}, expected layers of an encoder"));
}

/// What other programs write for `x.view(x.shape[0], -1) + zeros`: shapes are computed from the input's.
#[test]
fn shapes_that_are_computed_from_the_input_are_known() {
    let mut model = flattening(DataType::Float, &["n", "3", "32", "32"]);
    let graph = model.graph.as_mut().unwrap();
    graph.node = vec![
        node("Shape", &["x"], "shape"),
        node("Gather", &["shape", "zero"], "images"),
        node("Unsqueeze", &["images", "axis"], "first"),
        NodeProto {
            attribute: vec![AttributeProto {
                name: "axis".to_owned(),
                r#type: AttributeType::Int.into(),
                ..AttributeProto::default()
            }],
            ..node("Concat", &["first", "rest"], "rows")
        },
        zeros("shape", "zeros"),
        node("Add", &["x", "zeros"], "same"),
        node("Reshape", &["same", "rows"], "code"),
    ];
    graph.initializer =
        vec![integers("zero", &[], &[0]), integers("axis", &[1], &[0]), integers("rest", &[1], &[-1])];
    let (codes, images) = encoded(model, &EncoderOptions::default());
    let expected: Vec<Vec<f32>> = images.iter().map(|image| with_channels_first(image)).collect();
    assert_eq!(codes, expected);
}
