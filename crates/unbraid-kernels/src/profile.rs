//! Timing of single layers, without burn around them: for benchmarks and for `unbraid bench`.

use std::hint::black_box;
use std::time::Instant;

use crate::geometry::{Filter, Image, Layer, contracted};
use crate::kernel::{Backward, Direction, Forward, backward, forward};

/// A layer to time. `fine` is the larger image: the input of a convolution, the output of a transposed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerShape {
    /// Images at once.
    pub batch: usize,
    /// Height and width of the finer images.
    pub size: usize,
    /// Channels of the finer images.
    pub fine_channels: usize,
    /// Channels of the coarser images.
    pub coarse_channels: usize,
    /// Height and width of the kernel.
    pub kernel: usize,
    /// Stride in both directions.
    pub stride: usize,
    /// Padding in both directions.
    pub padding: usize,
    /// Whether it is a transposed convolution.
    pub transposed: bool,
}

/// Best times of one layer, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerTimes {
    /// Forward pass with bias and ReLU.
    pub forward: f64,
    /// Input gradient alone, with the ReLU's mask and the bias gradient.
    pub input_gradient: f64,
    /// Weight gradient alone, with the ReLU's mask and the bias gradient.
    pub weight_gradient: f64,
    /// All gradients in one pass, as in training.
    pub backward: f64,
    /// Floating-point operations of the forward pass, and of each of the two gradients.
    pub operations: f64,
}

impl LayerShape {
    /// Times the layer on the current threads and instruction set: the best of `rounds` runs each.
    ///
    /// # Panics
    /// If the kernel does not fit into the images.
    pub fn measure(&self, rounds: usize) -> LayerTimes {
        let coarse = contracted(self.size, self.kernel, self.stride, self.padding)
            .unwrap_or_else(|| panic!("the kernel does not fit: {self:?}"));
        let image = |size, channels| Image { height: size, width: size, channels };
        let layer = &Layer {
            batch: self.batch,
            fine: image(self.size, self.fine_channels),
            coarse: image(coarse, self.coarse_channels),
            filter: Filter { size: [self.kernel; 2], stride: [self.stride; 2], padding: [self.padding; 2] },
        };
        let direction = if self.transposed { Direction::Expand } else { Direction::Contract };
        let (from, to) =
            if self.transposed { (layer.coarse, layer.fine) } else { (layer.fine, layer.coarse) };
        let input = &pattern(layer.batch_len(from));
        let weights = &pattern(layer.weights());
        let bias = &pattern(to.channels);
        let gradient = &pattern(layer.batch_len(to));
        let run_forward =
            || forward(Forward { layer, direction, relu: true, input, weights, bias: Some(bias) });
        let output = run_forward();
        let run_backward = |needs_input, needs_weights| {
            let output = Some(output.as_slice());
            backward(Backward {
                layer,
                direction,
                input,
                weights,
                output,
                gradient,
                needs_input,
                needs_weights,
            })
        };
        LayerTimes {
            forward: best(rounds, run_forward),
            input_gradient: best(rounds, || run_backward(true, false)),
            weight_gradient: best(rounds, || run_backward(false, true)),
            backward: best(rounds, || run_backward(true, true)),
            operations: 2.0 * (layer.batch * coarse * coarse * layer.weights()) as f64,
        }
    }
}

fn best<T>(rounds: usize, work: impl Fn() -> T) -> f64 {
    let time = || {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_secs_f64()
    };
    (0..rounds).map(|_| time()).fold(f64::INFINITY, f64::min)
}

/// Values of both signs, none of them subnormal.
fn pattern(length: usize) -> Vec<f32> {
    (0..length).map(|place| (place * 7 % 19) as f32 / 19.0 - 0.47).collect()
}
