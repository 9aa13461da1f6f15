//! A graph of ONNX operators in the making, and the file that it becomes. Field numbers are those of `onnx.proto3`.

use super::protobuf::Message;

/// The version of the format, and of its operators: those of ONNX 1.8, which every runtime of today reads.
const IR_VERSION: i64 = 7;
/// The version of the operators.
pub(super) const OPSET: i64 = 13;

/// The number types that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Float,
    Double,
}

impl Type {
    /// Its number in the format.
    pub(super) fn code(self) -> i64 {
        match self {
            Self::Float => 1,
            Self::Double => 11,
        }
    }
}

/// The number of 64-bit integers in the format.
const INTEGER: i64 = 7;

/// A graph whose inputs and outputs have a first axis of any length.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
}

/// An option of an operator.
#[derive(Clone, Debug)]
pub(super) enum Attribute<'a> {
    Integer(&'a str, i64),
    Integers(&'a str, Vec<i64>),
    Float(&'a str, f32),
}

impl Attribute<'_> {
    fn message(&self) -> Message {
        let named = |name: &str| Message::new().text(1, name);
        match self {
            Self::Float(name, value) => named(name).float(2, *value).integer(20, 1),
            Self::Integer(name, value) => named(name).integer(3, *value).integer(20, 2),
            Self::Integers(name, values) => {
                named(name).each(values, |message, value| message.integer(8, *value)).integer(20, 7)
            }
        }
    }
}

impl Graph {
    /// An input `[batch, ...]`.
    pub(super) fn input(&mut self, name: &str, shape: &[usize]) -> String {
        self.inputs.push(value(name, Type::Float, shape));
        name.to_owned()
    }

    /// Declares a value as an output.
    pub(super) fn output(&mut self, name: &str, kind: Type, shape: &[usize]) {
        self.outputs.push(value(name, kind, shape));
    }

    /// A tensor in single precision.
    pub(super) fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, Type::Float.code(), shape, &bytes)
    }

    /// A tensor in double precision.
    pub(super) fn doubles(&mut self, name: &str, shape: &[usize], values: &[f64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, Type::Double.code(), shape, &bytes)
    }

    /// A row of integers, such as a shape.
    pub(super) fn integers(&mut self, name: &str, values: &[i64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constant(name, INTEGER, &[values.len()], &bytes)
    }

    fn constant(&mut self, name: &str, code: i64, shape: &[usize], bytes: &[u8]) -> String {
        let tensor = Message::new()
            .each(shape, |message, size| message.integer(1, *size as i64))
            .integer(2, code)
            .text(8, name)
            .bytes(9, bytes);
        self.constants.push(tensor);
        name.to_owned()
    }

    /// An operator with one output, whose name is also its own.
    pub(super) fn node(
        &mut self,
        operator: &str,
        inputs: &[&str],
        output: &str,
        attributes: &[Attribute<'_>],
    ) -> String {
        let node = Message::new()
            .each(inputs, |message, input| message.text(1, input))
            .text(2, output)
            .text(3, output)
            .text(4, operator)
            .each(attributes, |message, attribute| message.message(5, &attribute.message()));
        self.nodes.push(node);
        output.to_owned()
    }

    /// The file with this graph and metadata, the same bytes for the same graph.
    pub(super) fn into_file(self, name: &str, description: &str, metadata: &[(String, String)]) -> Vec<u8> {
        let graph = Message::new()
            .each(&self.nodes, |message, node| message.message(1, node))
            .text(2, name)
            .each(&self.constants, |message, tensor| message.message(5, tensor))
            .text(10, description)
            .each(&self.inputs, |message, input| message.message(11, input))
            .each(&self.outputs, |message, output| message.message(12, output));
        let operators = Message::new().text(1, "").integer(2, OPSET);
        Message::new()
            .integer(1, IR_VERSION)
            .text(2, "unbraid")
            .text(3, env!("CARGO_PKG_VERSION"))
            .integer(5, 1)
            .text(6, description)
            .message(7, &graph)
            .message(8, &operators)
            .each(metadata, |message, (key, value)| {
                message.message(14, &Message::new().text(1, key).text(2, value))
            })
            .into_bytes()
    }
}

/// Name, number type and shape of an input or output.
fn value(name: &str, kind: Type, shape: &[usize]) -> Message {
    let batch = Message::new().text(2, "batch");
    let shape = Message::new()
        .message(1, &batch)
        .each(shape, |message, size| message.message(1, &Message::new().integer(1, *size as i64)));
    let tensor = Message::new().integer(1, kind.code()).message(2, &shape);
    Message::new().text(1, name).message(2, &Message::new().message(1, &tensor))
}
