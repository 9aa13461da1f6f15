//! Sums of all values of a tensor.

use crate::device::is_cpu;
use burn::tensor::Tensor;

/// The sum of all values. On a GPU, burn's own adds with atomic operations, in an order that no two runs share; a sum along one
/// dimension does not.
pub(super) fn sum<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    if is_cpu(&tensor.device()) { tensor.sum() } else { sum_along(tensor) }
}

fn sum_along<const D: usize>(tensor: Tensor<D>) -> Tensor<1> {
    let values = tensor.dims().iter().product::<usize>();
    tensor.reshape([1, values]).sum_dim(1).reshape([1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;

    #[test]
    fn both_ways_give_the_sum_and_its_gradient() {
        let device = Device::flex().autodiff();
        for by in [sum::<2>, sum_along::<2>] {
            let values = Tensor::<2>::from_floats([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &device).require_grad();
            let total = by(values.clone() * values.clone());
            let gradients = total.backward();
            assert_eq!(total.into_data().try_into_vec::<f32>().unwrap(), [91.0]);
            let slope: Vec<f32> = values.grad(&gradients).unwrap().into_data().try_into_vec().unwrap();
            assert_eq!(slope, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
        }
    }
}
