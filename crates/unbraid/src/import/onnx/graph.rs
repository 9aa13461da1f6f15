//! The part of a graph that some of its outputs depend on, checked before the runtime sees it.

use crate::import::refusal::{Refusal, listed, quoted};
use std::collections::{HashMap, HashSet};
use tract_onnx::Onnx;
use tract_onnx::pb::tensor_proto::{DataLocation, DataType};
use tract_onnx::pb::{AttributeProto, GraphProto, NodeProto, TensorProto};
use unbraid_data::memory;

/// Reduces a graph to what these outputs need, in their order.
///
/// # Errors
/// If an output does not exist or depends on something that nothing computes, or on an operator that is unknown, draws
/// random numbers, runs other graphs, or asks for more memory than there is.
pub(super) fn restrict(graph: &mut GraphProto, outputs: &[&str], onnx: &Onnx) -> Result<(), Refusal> {
    let needed = needed_nodes(graph, outputs)?;
    let mut place = 0..;
    graph.node.retain(|_| place.next().is_some_and(|place: usize| needed.contains(&place)));
    check_operators(&graph.node, onnx)?;
    let used: HashSet<String> = graph.node.iter().flat_map(|node| node.input.iter().cloned()).collect();
    let is_used = |name: &str| used.contains(name) || outputs.contains(&name);
    graph.initializer.retain(|tensor| is_used(&tensor.name));
    graph.input.retain(|input| is_used(&input.name));
    let named = |name: &&str| graph.output.iter().find(|output| output.name == **name).cloned();
    graph.output = outputs.iter().filter_map(named).collect();
    // The runtime wants other names for nodes than for tensors, and no name twice; ONNX does not.
    for (place, node) in graph.node.iter_mut().enumerate() {
        node.name = format!("{}#{place}", node.name);
    }
    check_tensors(graph)?;
    check_sizes(graph)
}

/// The nodes that some outputs depend on, by their places.
fn needed_nodes(graph: &GraphProto, outputs: &[&str]) -> Result<HashSet<usize>, Refusal> {
    let mut makers: HashMap<&str, usize> = HashMap::new();
    for (place, node) in graph.node.iter().enumerate() {
        makers.extend(node.output.iter().map(|name| (name.as_str(), place)));
    }
    let given = graph.initializer.iter().map(|tensor| tensor.name.as_str());
    let given: HashSet<&str> = given.chain(graph.input.iter().map(|input| input.name.as_str())).collect();
    let mut needed = HashSet::new();
    let mut waiting: Vec<&str> = outputs.to_vec();
    while let Some(name) = waiting.pop() {
        match makers.get(name) {
            Some(&place) if needed.insert(place) => {
                waiting.extend(graph.node[place].input.iter().map(String::as_str));
            }
            Some(_) => {}
            // An empty name is an input that an operator does without.
            None if given.contains(name) || name.is_empty() => {}
            None => {
                let found = format!("a graph in which nothing computes `{}`", quoted(name));
                return Err(Refusal::new(found, "a whole one"));
            }
        }
    }
    Ok(needed)
}

/// Operators that give another result each time.
const RANDOM: [&str; 6] =
    ["Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"];

fn check_operators(nodes: &[NodeProto], onnx: &Onnx) -> Result<(), Refusal> {
    let named = |is_meant: &dyn Fn(&NodeProto) -> bool| {
        let mut names: Vec<&str> =
            nodes.iter().filter(|node| is_meant(node)).map(|node| node.op_type.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        (!names.is_empty()).then(|| format!("the operators {}", listed(names)))
    };
    let has_graph = |node: &NodeProto| node.attribute.iter().any(|attribute| attribute.g.is_some());
    let is_random = |node: &NodeProto| RANDOM.contains(&node.op_type.as_str());
    let is_unknown = |node: &NodeProto| !onnx.op_register.0.contains_key(&node.op_type);
    for (found, expected) in [
        (named(&is_random), "an output that depends on the image alone, not on random numbers"),
        (named(&has_graph), "a graph without branches and loops"),
        (named(&is_unknown), "operators that tract knows"),
    ] {
        if let Some(found) = found {
            return Err(Refusal::new(found, expected));
        }
    }
    Ok(())
}

fn check_tensors(graph: &GraphProto) -> Result<(), Refusal> {
    let is_elsewhere =
        |tensor: &&TensorProto| tensor.data_location == Some(i32::from(DataLocation::External));
    match graph.initializer.iter().find(is_elsewhere) {
        None => Ok(()),
        Some(tensor) => {
            let found = format!("the tensor `{}` in another file", quoted(&tensor.name));
            Err(Refusal::new(found, "all weights in the file itself"))
        }
    }
}

/// Operators whose results are as large as numbers in the file say.
const SIZED_BY_VALUES: [&str; 8] =
    ["ConstantOfShape", "Expand", "OneHot", "Pad", "Range", "Resize", "Tile", "Upsample"];
/// Attributes that make a result larger than what it is computed from.
const SIZES: [&str; 6] = ["kernel_shape", "output_padding", "output_shape", "pads", "repeats", "scales"];
/// More than any layer of an encoder has.
const LARGEST_SIZE: i64 = 1 << 16;

/// Compares the sizes that a file names with the limit, since the runtime computes constants while it reads.
/// Sizes that are themselves computed are not found here.
fn check_sizes(graph: &GraphProto) -> Result<(), Refusal> {
    let mut constants: HashMap<&str, f64> =
        graph.initializer.iter().map(|tensor| (tensor.name.as_str(), volume(tensor))).collect();
    for node in graph.node.iter().filter(|node| node.op_type == "Constant") {
        let value = node.attribute.iter().find_map(|attribute| attribute.t.as_ref());
        if let (Some(tensor), Some(output)) = (value, node.output.first()) {
            constants.insert(output, volume(tensor));
        }
    }
    let too_large = |node: &NodeProto| {
        Refusal::new(
            format!("the operator `{}` with a result of more than memory holds", quoted(&node.op_type)),
            "layers of an encoder",
        )
    };
    for node in &graph.node {
        let is_far = |attribute: &AttributeProto| {
            SIZES.contains(&attribute.name.as_str())
                && (attribute.ints.iter().any(|size| size.unsigned_abs() > LARGEST_SIZE as u64)
                    || attribute.floats.iter().any(|size| size.abs() > LARGEST_SIZE as f32))
        };
        if node.attribute.iter().any(is_far) {
            return Err(too_large(node));
        }
        if SIZED_BY_VALUES.contains(&node.op_type.as_str()) {
            let most = memory::limit() as f64 / 8.0;
            if node.input.iter().filter_map(|name| constants.get(name.as_str())).any(|volume| *volume > most)
            {
                return Err(too_large(node));
            }
        }
    }
    Ok(())
}

/// The most values that a short list of whole numbers can stand for: the product of those that are not zero.
/// Long lists are data.
fn volume(tensor: &TensorProto) -> f64 {
    const LONGEST: usize = 16;
    if tensor.data_type != i32::from(DataType::Int64) {
        return 0.0;
    }
    let raw = tensor.raw_data.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
    let numbers: Vec<i64> = raw.chain(tensor.int64_data.iter().copied()).take(LONGEST + 1).collect();
    if numbers.len() > LONGEST {
        return 0.0;
    }
    numbers.iter().filter(|&&value| value != 0).map(|value| value.unsigned_abs() as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tract_onnx::pb::ValueInfoProto;

    fn node(operator: &str, inputs: &[&str], output: &str) -> NodeProto {
        NodeProto {
            op_type: operator.to_owned(),
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: vec![output.to_owned()],
            ..NodeProto::default()
        }
    }

    fn value(name: &str) -> ValueInfoProto {
        ValueInfoProto { name: name.to_owned(), ..ValueInfoProto::default() }
    }

    fn integers(name: &str, values: &[i64]) -> TensorProto {
        TensorProto {
            name: name.to_owned(),
            data_type: i32::from(DataType::Int64),
            dims: vec![values.len() as i64],
            int64_data: values.to_vec(),
            ..TensorProto::default()
        }
    }

    /// A mean, and a sample around it.
    fn sampling() -> GraphProto {
        GraphProto {
            node: vec![
                node("Flatten", &["x"], "mu"),
                node("RandomNormalLike", &["mu"], "noise"),
                node("Add", &["mu", "noise"], "z"),
            ],
            input: vec![value("x"), value("unused")],
            output: vec![value("z"), value("mu")],
            initializer: vec![integers("weight", &[1])],
            ..GraphProto::default()
        }
    }

    fn refusal(mut graph: GraphProto, output: &str) -> Refusal {
        restrict(&mut graph, &[output], &tract_onnx::onnx()).unwrap_err()
    }

    #[test]
    fn only_what_an_output_needs_is_kept() {
        let mut graph = sampling();
        restrict(&mut graph, &["mu"], &tract_onnx::onnx()).unwrap();
        let operators: Vec<&str> = graph.node.iter().map(|node| node.op_type.as_str()).collect();
        assert_eq!(operators, ["Flatten"]);
        assert_eq!(graph.input, [value("x")]);
        assert_eq!(graph.output, [value("mu")]);
        assert!(graph.initializer.is_empty());
        let random = "an output that depends on the image alone, not on random numbers";
        assert_eq!(refusal(sampling(), "z"), Refusal::new("the operators `RandomNormalLike`", random));
    }

    #[test]
    fn broken_graphs_are_refused() {
        let mut graph = sampling();
        graph.node[0].input[0] = "nowhere".to_owned();
        let found = "a graph in which nothing computes `nowhere`";
        assert_eq!(refusal(graph, "mu"), Refusal::new(found, "a whole one"));

        let mut graph = sampling();
        let body = AttributeProto { g: Some(GraphProto::default()), ..AttributeProto::default() };
        graph.node[0] = NodeProto { attribute: vec![body], ..node("Loop", &["x"], "mu") };
        let expected = "a graph without branches and loops";
        assert_eq!(refusal(graph, "mu"), Refusal::new("the operators `Loop`", expected));

        let mut graph = sampling();
        graph.node[0] = node("Reshape", &["x", "weight"], "mu");
        graph.initializer[0].data_location = Some(i32::from(DataLocation::External));
        let found = "the tensor `weight` in another file";
        assert_eq!(refusal(graph, "mu"), Refusal::new(found, "all weights in the file itself"));

        // A circle is left to the runtime, but does not keep this going for ever.
        let mut graph = sampling();
        graph.node[0].input[0] = "mu".to_owned();
        assert!(restrict(&mut graph, &["mu"], &tract_onnx::onnx()).is_ok());
    }

    #[test]
    fn sizes_beyond_memory_are_refused() {
        let too_large = |operator: &str| {
            let found = format!("the operator `{operator}` with a result of more than memory holds");
            Refusal::new(found, "layers of an encoder")
        };
        let mut graph = sampling();
        graph.node[0] = node("ConstantOfShape", &["weight"], "mu");
        graph.initializer[0] = integers("weight", &[1 << 30, 1 << 30]);
        assert_eq!(refusal(graph, "mu"), too_large("ConstantOfShape"));

        let mut graph = sampling();
        let pads =
            AttributeProto { name: "pads".to_owned(), ints: vec![0, 1 << 40], ..AttributeProto::default() };
        graph.node[0] = NodeProto { attribute: vec![pads], ..node("MaxPool", &["x"], "mu") };
        assert_eq!(refusal(graph, "mu"), too_large("MaxPool"));

        // The end of a slice is often the largest number that there is.
        let mut graph = sampling();
        graph.node[0] = node("Slice", &["x", "weight"], "mu");
        graph.initializer[0] = integers("weight", &[i64::MAX]);
        assert!(restrict(&mut graph, &["mu"], &tract_onnx::onnx()).is_ok());
    }
}
