//! ONNX operators by their definitions in the operators' specification, in double precision and without any cleverness.

use super::protobuf::Message;
use std::collections::{BTreeMap, HashMap};

/// A tensor of any rank.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// A model that was read.
pub(super) struct Model {
    file: Message,
    graph: Message,
}

/// The attributes of a node.
struct Attributes(HashMap<String, Message>);

impl Attributes {
    fn integers(&self, name: &str) -> Option<Vec<usize>> {
        let message = self.0.get(name)?;
        assert_eq!(message.integers(20), [7]);
        Some(message.integers(8).into_iter().map(|value| value as usize).collect())
    }

    fn integer(&self, name: &str) -> Option<i64> {
        let message = self.0.get(name)?;
        assert_eq!(message.integers(20), [2]);
        Some(message.integers(3)[0])
    }

    fn float(&self, name: &str) -> Option<f64> {
        let message = self.0.get(name)?;
        assert_eq!(message.integers(20), [1]);
        message.float(2).map(f64::from)
    }
}

impl Model {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let file = Message::read(bytes);
        let graph = file.message(7);
        Self { file, graph }
    }

    /// The version of the format, and of the operators.
    pub(super) fn versions(&self) -> (i64, i64) {
        (self.file.integers(1)[0], self.file.message(8).integers(2)[0])
    }

    pub(super) fn metadata(&self) -> BTreeMap<String, String> {
        self.file.messages(14).iter().map(|entry| (entry.text(1), entry.text(2))).collect()
    }

    /// Names and shapes of the inputs, or of the outputs; an axis of any length by its name.
    pub(super) fn values(&self, field: u64) -> Vec<(String, Vec<String>)> {
        let shape = |value: &Message| {
            let dimensions = value.message(2).message(1).message(2).messages(1);
            dimensions
                .iter()
                .map(|axis| axis.integers(1).first().map_or_else(|| axis.text(2), i64::to_string))
                .collect()
        };
        self.graph.messages(field).iter().map(|value| (value.text(1), shape(value))).collect()
    }

    pub(super) fn run(&self, input: &str, value: Tensor) -> HashMap<String, Tensor> {
        let mut values: HashMap<String, Tensor> =
            self.graph.messages(5).iter().map(|tensor| (tensor.text(8), constant(tensor))).collect();
        values.insert(input.to_owned(), value);
        for node in self.graph.messages(1) {
            let inputs: Vec<&Tensor> = node.texts(1).iter().map(|name| &values[name]).collect();
            let attributes = Attributes(
                node.messages(5).into_iter().map(|attribute| (attribute.text(1), attribute)).collect(),
            );
            let output = evaluate(&node.text(4), &inputs, &attributes);
            let before = values.insert(node.text(2), output);
            assert!(before.is_none(), "{} is computed twice", node.text(2));
        }
        values
    }
}

fn constant(tensor: &Message) -> Tensor {
    let shape: Vec<usize> = tensor.integers(1).into_iter().map(|size| size as usize).collect();
    let raw = tensor.bytes(9).remove(0);
    let values = match tensor.integers(2)[0] {
        1 => raw.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().unwrap()).into()).collect(),
        7 => raw.chunks_exact(8).map(|word| i64::from_le_bytes(word.try_into().unwrap()) as f64).collect(),
        11 => raw.chunks_exact(8).map(|word| f64::from_le_bytes(word.try_into().unwrap())).collect(),
        other => panic!("tensors of type {other}"),
    };
    assert_eq!(shape.iter().product::<usize>(), Vec::len(&values));
    Tensor { shape, values }
}

fn each(tensor: &Tensor, function: impl Fn(f64) -> f64) -> Tensor {
    Tensor {
        shape: tensor.shape.clone(),
        values: tensor.values.iter().map(|&value| function(value)).collect(),
    }
}

/// The second has the shape of the first, or of its last axis, or is a single number.
fn both(left: &Tensor, right: &Tensor, function: impl Fn(f64, f64) -> f64) -> Tensor {
    assert!(left.shape.ends_with(&right.shape), "{:?} {:?}", left.shape, right.shape);
    let values = left.values.iter().enumerate();
    let values = values.map(|(place, &value)| function(value, right.values[place % right.values.len()]));
    Tensor { shape: left.shape.clone(), values: values.collect() }
}

fn evaluate(operator: &str, inputs: &[&Tensor], attributes: &Attributes) -> Tensor {
    let first = inputs[0];
    match (operator, inputs) {
        ("Identity" | "Cast", _) => first.clone(),
        ("Relu", _) => each(first, |value| value.max(0.0)),
        ("LeakyRelu", _) => {
            let alpha = attributes.float("alpha").unwrap();
            each(first, |value| if value < 0.0 { alpha * value } else { value })
        }
        ("Tanh", _) => each(first, f64::tanh),
        ("Exp", _) => each(first, f64::exp),
        ("Log", _) => each(first, f64::ln),
        ("Sigmoid", _) => each(first, |value| 1.0 / (1.0 + (-value).exp())),
        ("Clip", [_, low, high]) => each(first, |value| value.clamp(low.values[0], high.values[0])),
        ("Add", [_, second]) => both(first, second, |left, right| left + right),
        ("Sub", [_, second]) => both(first, second, |left, right| left - right),
        ("Mul", [_, second]) => both(first, second, |left, right| left * right),
        ("Div", [_, second]) => both(first, second, |left, right| left / right),
        ("Flatten", _) => {
            assert_eq!(attributes.integer("axis"), Some(1));
            let width = first.shape[1..].iter().product();
            Tensor { shape: vec![first.shape[0], width], values: first.values.clone() }
        }
        ("Reshape", [_, shape]) => {
            let known: f64 = shape.values.iter().filter(|size| **size >= 0.0).product();
            let open = first.values.len() / known as usize;
            let size = |size: &f64| if *size < 0.0 { open } else { *size as usize };
            Tensor { shape: shape.values.iter().map(size).collect(), values: first.values.clone() }
        }
        ("ReduceSumSquare", _) => {
            assert_eq!(
                (attributes.integers("axes"), attributes.integer("keepdims")),
                (Some(vec![2]), Some(0))
            );
            let rows = first.values.chunks_exact(first.shape[2]);
            let values = rows.map(|row| row.iter().map(|value| value * value).sum()).collect();
            Tensor { shape: first.shape[..2].to_vec(), values }
        }
        ("Softmax", _) => {
            assert_eq!(attributes.integer("axis"), Some(1));
            let row = |row: &[f64]| {
                let sum: f64 = row.iter().map(|value| value.exp()).sum();
                row.iter().map(|value| value.exp() / sum).collect::<Vec<f64>>()
            };
            let values = first.values.chunks_exact(first.shape[1]).flat_map(row).collect();
            Tensor { shape: first.shape.clone(), values }
        }
        ("Gemm", [_, weight, bias]) => {
            assert_eq!(attributes.integer("transB"), Some(1));
            let (inputs, outputs) = (weight.shape[1], weight.shape[0]);
            assert_eq!((first.shape[1], bias.shape.as_slice()), (inputs, &[outputs][..]));
            let output = |row: &[f64], output: usize| {
                let weights = &weight.values[output * inputs..(output + 1) * inputs];
                bias.values[output]
                    + row.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f64>()
            };
            let rows = first.values.chunks_exact(inputs);
            let values =
                rows.flat_map(|row| (0..outputs).map(|place| output(row, place)).collect::<Vec<_>>());
            Tensor { shape: vec![first.shape[0], outputs], values: values.collect() }
        }
        ("BatchNormalization", [_, scale, shift, mean, variance]) => {
            let epsilon = attributes.float("epsilon").unwrap();
            let pixels: usize = first.shape[2..].iter().product();
            let value = |(place, value): (usize, &f64)| {
                let channel = place / pixels % first.shape[1];
                let deviation = (variance.values[channel] + epsilon).sqrt();
                scale.values[channel] * (value - mean.values[channel]) / deviation + shift.values[channel]
            };
            let values = first.values.iter().enumerate().map(value).collect();
            Tensor { shape: first.shape.clone(), values }
        }
        ("Conv", [_, weight, bias @ ..]) => convolution(first, weight, bias.first().copied(), attributes),
        ("ConvTranspose", [_, weight, bias @ ..]) => {
            transposed(first, weight, bias.first().copied(), attributes)
        }
        (other, _) => panic!("the operator {other} with {} inputs", inputs.len()),
    }
}

/// Stride and padding, the same along both axes.
fn geometry(weight: &Tensor, attributes: &Attributes) -> (usize, usize) {
    assert_eq!(attributes.integers("kernel_shape").unwrap(), weight.shape[2..]);
    let (strides, pads) = (attributes.integers("strides").unwrap(), attributes.integers("pads").unwrap());
    assert!(strides == [strides[0]; 2] && pads == [pads[0]; 4]);
    (strides[0], pads[0])
}

fn convolution(images: &Tensor, weight: &Tensor, bias: Option<&Tensor>, attributes: &Attributes) -> Tensor {
    let (stride, pad) = geometry(weight, attributes);
    let &[batch, channels, height, width] = images.shape.as_slice() else { panic!("{:?}", images.shape) };
    let &[outputs, inputs, rows, columns] = weight.shape.as_slice() else { panic!("{:?}", weight.shape) };
    assert_eq!(channels, inputs);
    let size = |size: usize, kernel: usize| (size + 2 * pad - kernel) / stride + 1;
    let (tall, wide) = (size(height, rows), size(width, columns));
    let mut values = Vec::with_capacity(batch * outputs * tall * wide);
    for image in 0..batch {
        for output in 0..outputs {
            for y in 0..tall {
                for x in 0..wide {
                    let mut sum = bias.map_or(0.0, |bias| bias.values[output]);
                    for channel in 0..channels {
                        for row in 0..rows {
                            let Some(from_y) = (y * stride + row).checked_sub(pad).filter(|y| *y < height)
                            else {
                                continue;
                            };
                            for column in 0..columns {
                                let from_x = (x * stride + column).checked_sub(pad).filter(|x| *x < width);
                                let Some(from_x) = from_x else { continue };
                                let pixel = ((image * channels + channel) * height + from_y) * width + from_x;
                                let tap = ((output * channels + channel) * rows + row) * columns + column;
                                sum += images.values[pixel] * weight.values[tap];
                            }
                        }
                    }
                    values.push(sum);
                }
            }
        }
    }
    Tensor { shape: vec![batch, outputs, tall, wide], values }
}

/// Every pixel adds the kernel, times its value, to the output around it.
fn transposed(images: &Tensor, weight: &Tensor, bias: Option<&Tensor>, attributes: &Attributes) -> Tensor {
    let (stride, pad) = geometry(weight, attributes);
    let &[batch, channels, height, width] = images.shape.as_slice() else { panic!("{:?}", images.shape) };
    let &[inputs, outputs, rows, columns] = weight.shape.as_slice() else { panic!("{:?}", weight.shape) };
    assert_eq!(channels, inputs);
    let size = |size: usize, kernel: usize| (size - 1) * stride + kernel - 2 * pad;
    let (tall, wide) = (size(height, rows), size(width, columns));
    let bias_of = |place: usize| bias.map_or(0.0, |bias| bias.values[place / (tall * wide) % outputs]);
    let mut values: Vec<f64> = (0..batch * outputs * tall * wide).map(bias_of).collect();
    for image in 0..batch {
        for channel in 0..channels {
            for y in 0..height {
                for x in 0..width {
                    let pixel = images.values[((image * channels + channel) * height + y) * width + x];
                    for output in 0..outputs {
                        for row in 0..rows {
                            let to_y = (y * stride + row).checked_sub(pad).filter(|y| *y < tall);
                            let Some(to_y) = to_y else { continue };
                            for column in 0..columns {
                                let to_x = (x * stride + column).checked_sub(pad).filter(|x| *x < wide);
                                let Some(to_x) = to_x else { continue };
                                let tap = ((channel * outputs + output) * rows + row) * columns + column;
                                values[((image * outputs + output) * tall + to_y) * wide + to_x] +=
                                    pixel * weight.values[tap];
                            }
                        }
                    }
                }
            }
        }
    }
    Tensor { shape: vec![batch, outputs, tall, wide], values }
}
