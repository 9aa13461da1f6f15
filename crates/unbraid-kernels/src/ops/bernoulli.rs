//! The Bernoulli reconstruction loss as a differentiable operation on tensors.

use burn::tensor::Tensor;
use burn::tensor::activation::softplus;

use crate::ops::extension::LayerBackend;
use crate::ops::use_own_kernels;

/// Negative log-likelihood of `targets` under independent Bernoulli distributions with the given logits, in nats and
/// summed over all axes but the first: `sum(softplus(logit) - target * logit)`, of shape `[batch]`.
///
/// Targets lie in `[0, 1]` (grey values are allowed) and are constants: no gradient reaches them. On the flex CPU device
/// in single precision, one pass over the logits computes value and gradient; otherwise burn's own operations do.
///
/// ```
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let logits = Tensor::<2>::zeros([3, 10], &device);
/// let losses = unbraid_kernels::bernoulli_loss(logits.clone(), logits).into_data().try_to_vec::<f32>()?;
/// // Ten fair coins: ten bits.
/// assert!((losses[0] - 10.0 * std::f32::consts::LN_2).abs() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the shapes differ.
pub fn bernoulli_loss<const D: usize>(logits: Tensor<D>, targets: Tensor<D>) -> Tensor<1> {
    assert!(
        logits.dims() == targets.dims(),
        "bernoulli_loss: the logits are {:?}, the targets {:?}",
        logits.dims(),
        targets.dims(),
    );
    if use_own_kernels(&logits) && use_own_kernels(&targets) {
        Tensor::from_dispatch(<burn::backend::Dispatch as LayerBackend>::unbraid_bernoulli(
            logits.into_dispatch(),
            targets.into_dispatch(),
        ))
    } else {
        by_burn(logits, targets)
    }
}

/// [`bernoulli_loss`] with burn's own operations, on any device.
fn by_burn<const D: usize>(logits: Tensor<D>, targets: Tensor<D>) -> Tensor<1> {
    let rows = logits.dims()[0];
    let columns = logits.dims()[1..].iter().product::<usize>();
    let losses = softplus(logits.clone(), 1.0) - targets.detach() * logits;
    losses.reshape([rows, columns]).sum_dim(1).reshape([rows])
}
