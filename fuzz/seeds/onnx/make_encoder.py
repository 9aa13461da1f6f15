"""Writes encoder_of_others.onnx: an encoder of 64 x 64 images with operators that other programs write.

Shapes are computed from the input's, as PyTorch does for `view` and `expand`. `python make_encoder.py` needs onnx.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

node, generator = helper.make_node, np.random.default_rng(0)
constants = {
    "zero": np.array(0, np.int64),
    "axis": np.array([0], np.int64),
    "rest": np.array([-1], np.int64),
    "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64),
    "scales": np.array([1, 1, 0.125, 0.125], np.float32),
    "starts": np.array([0, 1], np.int64),
    "ends": np.array([2**62, 2**62], np.int64),
    "axes": np.array([2, 3], np.int64),
    "kernel": generator.normal(size=(2, 1, 3, 3)).astype(np.float32),
    "gain": np.ones(2, np.float32),
    "shift": np.zeros(2, np.float32),
    "mean": np.zeros(2, np.float32),
    "variance": np.ones(2, np.float32),
    "weight": generator.normal(size=(12, 4)).astype(np.float32),
    "bias": np.zeros(4, np.float32),
    "two": np.array([2, 2], np.int64),
}
nodes = [
    node("Resize", ["images", "", "scales"], ["small"], mode="nearest"),
    node("Pad", ["small", "pads"], ["padded"], mode="constant"),
    node("Conv", ["padded", "kernel"], ["features"], kernel_shape=[3, 3], strides=[2, 2]),
    node("BatchNormalization", ["features", "gain", "shift", "mean", "variance"], ["normal"]),
    node("LeakyRelu", ["normal"], ["active"], alpha=0.1),
    node("MaxPool", ["active"], ["pooled"], kernel_shape=[2, 2], strides=[1, 1]),
    node("Slice", ["pooled", "starts", "ends", "axes"], ["corner"]),
    node("Shape", ["active"], ["shape"]),
    node("Gather", ["shape", "zero"], ["count"]),
    node("Unsqueeze", ["count", "axis"], ["first"]),
    node("Concat", ["first", "rest"], ["rows"], axis=0),
    node("Reshape", ["corner", "rows"], ["row"]),
    node("Shape", ["row"], ["row_shape"]),
    node("ConstantOfShape", ["row_shape"], ["zeros"], value=numpy_helper.from_array(np.zeros(1, np.float32))),
    node("Add", ["row", "zeros"], ["sum"]),
    node("Gemm", ["sum", "weight", "bias"], ["both"]),
    node("Split", ["both", "two"], ["mu", "spread"], axis=1),
    node("Softplus", ["spread"], ["positive"]),
    node("Log", ["positive"], ["logvar"]),
]
image = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 1, 64, 64])
outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 2]) for name in ("mu", "logvar")]
initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
graph = helper.make_graph(nodes, "encoder", [image], outputs, initializers)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
onnx.checker.check_model(model)
Path(__file__).with_name("encoder_of_others.onnx").write_bytes(model.SerializeToString())
