//! Milliseconds per Adam step of a beta-VAE on 64 binary images of 64 x 64, with 1 and 2 threads.
//!
//! The encoder has convolutions with 32, 32, 64 and 64 channels, a hidden layer of 256 and ten latent units (dimensions);
//! the decoder mirrors it. It is the network `conv` of `tools/bench_pytorch.py`, which measures PyTorch.
//!
//! `cargo run --release -p unbraid-kernels --example train_step [-- THREADS [CHANNELS]]`

use std::time::Instant;

use burn::tensor::activation::relu;
use burn::tensor::{Device, Distribution, Gradients, Tensor, TensorData};
use mimalloc::MiMalloc;
use unbraid_kernels::{
    AdamStep, Conv2dLayer, Conv2dOptions, adam_step, bernoulli_loss, conv_transpose2d_stack, conv2d_stack,
    measured_peak_gflops,
};

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const BATCH: usize = 64;
const LATENTS: usize = 10;
const ROUNDS: usize = 8;
const STEPS: usize = 20;

/// A parameter and the moments of its gradient.
struct Parameter {
    shape: Vec<usize>,
    values: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Parameter {
    /// Uniform weights with PyTorch's default bounds, from a linear congruential generator.
    fn new(shape: &[usize], inputs: usize, seed: &mut u64) -> Self {
        let bound = 1.0 / (inputs as f32).sqrt();
        let mut draw = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((*seed >> 40) as f32 / (1 << 23) as f32 - 1.0) * bound
        };
        let values: Vec<f32> = (0..shape.iter().product()).map(|_| draw()).collect();
        let zeros = vec![0.0; values.len()];
        Self { shape: shape.to_vec(), values, first: zeros.clone(), second: zeros }
    }

    fn tensor<const D: usize>(&self, device: &Device) -> Tensor<D> {
        Tensor::from_data(TensorData::new(self.values.clone(), self.shape.clone()), device).require_grad()
    }

    fn update<const D: usize>(&mut self, tensor: &Tensor<D>, gradients: &Gradients, step: u64) {
        let gradient = tensor.grad(gradients).expect("every parameter has a gradient").into_data();
        let gradient = gradient.as_slice::<f32>().expect("single precision");
        let settings = AdamStep { learning_rate: 1e-4, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, step };
        adam_step(&settings, &mut self.values, gradient, &mut self.first, &mut self.second, None);
    }
}

/// Weight and bias of each layer: four convolutions, four transposed convolutions, and four linear layers.
struct Network {
    convolutions: Vec<[Parameter; 2]>,
    linear: Vec<[Parameter; 2]>,
}

impl Network {
    fn new(channels: usize) -> Self {
        let seed = &mut 1;
        let sizes = [(channels, 32), (32, 32), (32, 64), (64, 64)];
        let down = sizes.map(|(fine, coarse)| ([coarse, fine, 4, 4], coarse, fine * 16));
        let up = sizes.map(|(fine, coarse)| ([coarse, fine, 4, 4], fine, fine * 16));
        let convolutions = down.into_iter().chain(up.into_iter().rev()).map(|(shape, out, inputs)| {
            [Parameter::new(&shape, inputs, seed), Parameter::new(&[out], inputs, seed)]
        });
        let convolutions = convolutions.collect();
        let linear = [(1024, 256), (256, 2 * LATENTS), (LATENTS, 256), (256, 1024)]
            .map(|(inputs, out)| {
                [Parameter::new(&[inputs, out], inputs, seed), Parameter::new(&[1, out], inputs, seed)]
            })
            .into_iter()
            .collect();
        Self { convolutions, linear }
    }

    fn step(&mut self, images: &Tensor<4>, device: &Device, step: u64) -> f32 {
        let convolutions: Vec<(Tensor<4>, Tensor<1>)> =
            self.convolutions.iter().map(|[w, b]| (w.tensor(device), b.tensor(device))).collect();
        let linear: Vec<(Tensor<2>, Tensor<2>)> =
            self.linear.iter().map(|[w, b]| (w.tensor(device), b.tensor(device))).collect();
        let dense = |x: Tensor<2>, layer: usize| x.matmul(linear[layer].0.clone()) + linear[layer].1.clone();
        let options = Conv2dOptions::new(2, 1);

        let layer = |place: usize, options| Conv2dLayer {
            weight: convolutions[place].0.clone(),
            bias: Some(convolutions[place].1.clone()),
            options,
        };
        let down = (0..4).map(|place| layer(place, options.with_relu()));
        let x = conv2d_stack(images.clone(), down.collect());
        let statistics = dense(relu(dense(x.reshape([BATCH, 1024]), 0)), 1);
        let mean = statistics.clone().slice([0..BATCH, 0..LATENTS]);
        let log_variance = statistics.slice([0..BATCH, LATENTS..2 * LATENTS]);
        let noise = Tensor::random([BATCH, LATENTS], Distribution::Normal(0.0, 1.0), device);
        let z = mean.clone() + noise * (log_variance.clone() * 0.5).exp();
        let x = relu(dense(relu(dense(z, 2)), 3)).reshape([BATCH, 4, 4, 64]);
        let up = (4..8).map(|place| layer(place, if place < 7 { options.with_relu() } else { options }));
        let x = conv_transpose2d_stack(x, up.collect());
        let reconstruction = bernoulli_loss(x, images.clone()).sum() / BATCH as f32;
        let kl = (mean.clone() * mean + log_variance.clone().exp() - log_variance - 1.0).sum()
            * (0.5 / BATCH as f32);
        let loss = reconstruction + kl * 4.0;

        let gradients = loss.backward();
        for ([w, b], (weight, bias)) in self.convolutions.iter_mut().zip(&convolutions) {
            w.update(weight, &gradients, step);
            b.update(bias, &gradients, step);
        }
        for ([w, b], (weight, bias)) in self.linear.iter_mut().zip(&linear) {
            w.update(weight, &gradients, step);
            b.update(bias, &gradients, step);
        }
        loss.into_data().as_slice::<f32>().expect("single precision")[0]
    }
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse::<usize>().ok());
    let threads = numbers.next().map_or_else(|| vec![1, 2], |threads| vec![threads]);
    let channels = numbers.next().unwrap_or(1);
    for threads in threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        pool.install(|| measure(threads, channels));
    }
}

fn measure(threads: usize, channels: usize) {
    let device = Device::flex().autodiff();
    let pixels = (0..BATCH * 64 * 64 * channels).map(|i| f32::from(u8::from(i * 7919 % 101 < 10))).collect();
    let images = Tensor::<4>::from_data(TensorData::new(pixels, [BATCH, 64, 64, channels]), &device);
    let mut network = Network::new(channels);
    let mut step = 0;
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..STEPS {
                step += 1;
                network.step(&images, &device, step);
            }
            1e3 * start.elapsed().as_secs_f64() / STEPS as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let loss = network.step(&images, &device, step + 1);
    // Three passes through every layer, without the gradient of the images.
    let convolutions =
        2 * BATCH * (16 * 32 * (32 * 32 * channels + 16 * 16 * 32) + 16 * 64 * (64 * 32 + 16 * 64));
    let linear = 2 * BATCH * (1024 * 256 + 256 * 2 * LATENTS + LATENTS * 256 + 256 * 1024);
    let operations = 6 * convolutions + 3 * linear - 2 * BATCH * 16 * 32 * 32 * 32 * channels;
    let rate = operations as f64 / times[0] / 1e6;
    let peak = measured_peak_gflops(threads);
    println!(
        "{threads} threads: best {:.1} ms, median {:.1} ms a step; {rate:.0} GFLOP/s of {peak:.0}, {:.0} %; loss {loss:.3}",
        times[0],
        times[times.len() / 2],
        100.0 * rate / peak
    );
}
