//! Exported files, computed by tract.

use super::evaluator::Tensor;
use std::collections::HashMap;
use tract_onnx::prelude::{
    DatumExt, Framework, InferenceFact, InferenceModelExt, IntoRunnable, Tensor as TractTensor, tvec,
};

/// The outputs of a file by name.
pub(super) fn run(bytes: &[u8], input: &Tensor) -> HashMap<String, Tensor> {
    let onnx = tract_onnx::onnx();
    let file = onnx.proto_model_for_read(&mut &*bytes).unwrap();
    let names = file.graph.as_ref().unwrap().output.iter().map(|output| output.name.clone());
    let fact = InferenceFact::from(f32::fact(input.shape.iter().copied()));
    let model = onnx.model_for_proto_model(&file).unwrap().with_input_fact(0, fact).unwrap();
    let plan = model.into_optimized().unwrap().into_runnable().unwrap();
    let floats: Vec<f32> = input.values.iter().map(|&value| value as f32).collect();
    let outputs = plan.run(tvec!(TractTensor::from_shape(&input.shape, &floats).unwrap().into())).unwrap();
    let read = |output: &TractTensor| {
        let values = output.cast_to::<f64>().unwrap();
        let values = values.try_as_plain_ram().unwrap().as_slice::<f64>().unwrap().to_vec();
        Tensor { shape: output.shape().to_vec(), values }
    };
    names.zip(outputs.iter().map(|output| read(output))).collect()
}
