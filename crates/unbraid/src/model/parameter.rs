//! A trained tensor with the name it has in PyTorch.

use crate::device::is_cpu;
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use std::fmt::Debug;

/// A trained tensor of rank `D`.
#[derive(Clone, Debug)]
pub(crate) struct Parameter<const D: usize> {
    name: String,
    tensor: Tensor<D>,
}

impl<const D: usize> Parameter<D> {
    /// On a device with automatic differentiation, its gradient is tracked.
    pub(crate) fn new(name: String, values: Vec<f32>, shape: [usize; D], device: &Device) -> Self {
        Self { name, tensor: on_device(values, shape, device) }
    }

    /// A handle to the tensor; cheap.
    pub(crate) fn tensor(&self) -> Tensor<D> {
        self.tensor.clone()
    }

    /// The same as a constant, with a handle to the tensor.
    pub(super) fn frozen(&self) -> Self {
        Self { name: self.name.clone(), tensor: self.untracked() }
    }

    /// Its tensor as a constant. Detaching alone would still require a gradient.
    pub(super) fn untracked(&self) -> Tensor<D> {
        self.tensor.clone().detach().set_require_grad(false)
    }
}

fn on_device<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    let tensor = Tensor::from_data(TensorData::new(values, shape), device);
    if device.is_autodiff() { tensor.require_grad() } else { tensor }
}

fn into_values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("all parameters are in single precision")
}

/// A parameter of any rank, as optimisers and files see it.
pub trait NamedParameter: Debug {
    /// Its name in a PyTorch state dict, such as `encoder.conv1.weight`.
    fn name(&self) -> &str;

    /// Its dimensions.
    fn shape(&self) -> Vec<usize>;

    /// A copy of its values, in order.
    fn values(&self) -> Vec<f32>;

    /// Changes the values in place, without a copy if no other handle exists.
    fn update(&mut self, change: &mut dyn FnMut(&mut [f32]));

    /// Removes its gradient from those of a backward pass; `None` if the loss does not depend on it.
    fn take_gradient(&self, gradients: &mut Gradients) -> Option<Vec<f32>>;

    /// The device on which its values are, without automatic differentiation; `None` if that is the CPU.
    fn accelerator(&self) -> Option<Device>;

    /// As [`NamedParameter::update`], on the device: neither the old values nor the new ones are in main memory.
    fn update_on_device(&mut self, change: &mut dyn FnMut(Tensor<1>) -> Tensor<1>);

    /// As [`NamedParameter::take_gradient`], on the device.
    fn take_gradient_on_device(&self, gradients: &mut Gradients) -> Option<Tensor<1>>;
}

impl<const D: usize> NamedParameter for Parameter<D> {
    fn name(&self) -> &str {
        &self.name
    }

    fn shape(&self) -> Vec<usize> {
        self.tensor.dims().to_vec()
    }

    fn values(&self) -> Vec<f32> {
        into_values(self.tensor.clone().inner())
    }

    fn update(&mut self, change: &mut dyn FnMut(&mut [f32])) {
        let (shape, device) = (self.tensor.dims(), self.tensor.device());
        // The placeholder releases our handle, so that the values can be moved instead of copied.
        let placeholder = Tensor::empty([1; D], &device);
        let mut values = into_values(std::mem::replace(&mut self.tensor, placeholder).inner());
        change(&mut values);
        self.tensor = on_device(values, shape, &device);
    }

    fn take_gradient(&self, gradients: &mut Gradients) -> Option<Vec<f32>> {
        self.tensor.grad_remove(gradients).map(into_values)
    }
    fn accelerator(&self) -> Option<Device> {
        let device = self.tensor.device();
        (!is_cpu(&device)).then(|| device.inner())
    }

    fn update_on_device(&mut self, change: &mut dyn FnMut(Tensor<1>) -> Tensor<1>) {
        let (shape, is_tracked) = (self.tensor.dims(), self.tensor.device().is_autodiff());
        let new = change(flat(self.tensor.clone().inner())).reshape(shape);
        self.tensor = if is_tracked { Tensor::from_inner(new).require_grad() } else { new };
    }

    fn take_gradient_on_device(&self, gradients: &mut Gradients) -> Option<Tensor<1>> {
        self.tensor.grad_remove(gradients).map(flat)
    }
}

fn flat<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let values = tensor.dims().iter().product::<usize>();
    tensor.reshape([values])
}
