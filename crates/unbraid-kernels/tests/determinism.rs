//! The number of threads changes no bit of any result.

mod common;

use burn::tensor::Device;
use common::{Case, Numbers, Operation, Outcome, on_every_instruction_set, tensor, values};
use unbraid_kernels::{Conv2dOptions, bernoulli_loss, conv_transpose2d, conv2d};

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

fn bits(outcome: &Outcome) -> Vec<Vec<u32>> {
    outcome.parts().iter().map(|(_, part)| part.iter().map(|value| value.to_bits()).collect()).collect()
}

#[test]
fn layers_give_the_same_bits_for_one_two_and_three_threads() {
    for (operation, size, [input, output], batch) in [
        (conv2d as Operation, 32, [1, 32], 19),
        (conv2d, 16, [32, 64], 64),
        (conv2d, 7, [17, 50], 5),
        (conv_transpose2d, 8, [64, 32], 64),
        (conv_transpose2d, 16, [32, 1], 21),
        (conv_transpose2d, 5, [3, 17], 3),
    ] {
        let mut numbers = Numbers(7);
        let transposed = operation as usize == conv_transpose2d as Operation as usize;
        let weight_shape = if transposed { [input, output, 4, 4] } else { [output, input, 4, 4] };
        let case = Case {
            input_shape: [batch, size, size, input],
            weight_shape,
            output_channels: output,
            options: Conv2dOptions::new(2, 1).with_relu(),
            input: numbers.floats(batch * size * size * input),
            weight: numbers.floats(weight_shape.iter().product()),
            bias: numbers.floats(output),
            upstream: numbers.floats(9973),
        };
        on_every_instruction_set(|set| {
            let one = bits(&with_threads(1, || case.run(operation)));
            for threads in [2, 3] {
                let more = bits(&with_threads(threads, || case.run(operation)));
                assert!(one == more, "{set}, {threads} threads, input {:?}", case.input_shape);
            }
        });
    }
}

#[test]
fn the_loss_gives_the_same_bits_for_one_two_and_three_threads() {
    let mut numbers = Numbers(3);
    let shape = [33, 21, 17, 3];
    let length = shape.iter().product();
    let logits: Vec<_> = numbers.floats(length).iter().map(|value| 30.0 * value).collect();
    let targets: Vec<_> = numbers.floats(length).iter().map(|value| value.abs()).collect();
    let run = || {
        let device = Device::flex().autodiff();
        let logits = tensor(logits.clone(), shape, &device).require_grad();
        let losses = bernoulli_loss(logits.clone(), tensor(targets.clone(), shape, &device));
        let gradients = losses.clone().sum().backward();
        let mut all = values(losses);
        all.extend(values(logits.grad(&gradients).unwrap()));
        all.into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    on_every_instruction_set(|set| {
        let one = with_threads(1, run);
        for threads in [2, 3] {
            assert!(one == with_threads(threads, run), "{set}, {threads} threads");
        }
    });
}
