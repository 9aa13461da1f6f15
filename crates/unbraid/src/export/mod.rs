//! Trained runs for other programs: ONNX graphs, weights with a configuration in JSON.

pub mod onnx;
pub mod weights;
