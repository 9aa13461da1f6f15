//! The number of threads changes no bit of any result.

use burn::tensor::Device;
use unbraid_kernels::{Conv2dOptions, bernoulli_loss};

use crate::common::{Case, Generator, LayerResults, on_every_instruction_set, tensor, values, with_threads};

fn bits(results: &LayerResults) -> Vec<Vec<u32>> {
    results.arrays().iter().map(|(_, array)| array.iter().map(|value| value.to_bits()).collect()).collect()
}

#[test]
fn layers_give_the_same_bits_for_one_two_and_three_threads() {
    for (transposed, size, channels, batch_size) in [
        (false, 32, [1, 32], 19),
        (false, 16, [32, 64], 64),
        (false, 7, [17, 50], 5),
        (true, 8, [64, 32], 64),
        (true, 16, [32, 1], 21),
        (true, 5, [3, 17], 3),
    ] {
        let options = Conv2dOptions::new(2, 1).with_relu();
        let shape = [batch_size, size, size];
        let case = Case::new(transposed, shape, channels, [4, 4], options, Generator::floats);
        on_every_instruction_set(|set| {
            let one = bits(&with_threads(1, || case.run()));
            for threads in [2, 3] {
                let more = bits(&with_threads(threads, || case.run()));
                assert!(one == more, "{set}, {threads} threads, input {:?}", case.input_shape);
            }
        });
    }
}

#[test]
fn the_loss_gives_the_same_bits_for_one_two_and_three_threads() {
    let mut generator = Generator(3);
    let shape = [33, 21, 17, 3];
    let length = shape.iter().product();
    let logits: Vec<_> = generator.floats(length).iter().map(|value| 30.0 * value).collect();
    let targets: Vec<_> = generator.floats(length).iter().map(|value| value.abs()).collect();
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
