//! Every product against its definition in double precision.

use super::stack::Parameters;
use super::*;
use crate::adam::AdamStep;

fn floats(length: usize, seed: usize) -> Vec<f32> {
    (0..length).map(|index| ((index * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect()
}

fn close(found: &[f32], exact: &[f64], terms: usize) {
    assert_eq!(found.len(), exact.len());
    // Each of n additions rounds a partial sum, whose size grows like sqrt(n), and the errors add up like sqrt(n) of
    // them; a margin of four.
    let tolerance = 4.0 * terms as f64 * f64::from(f32::EPSILON);
    for (index, (found, exact)) in found.iter().zip(exact).enumerate() {
        assert!((f64::from(*found) - exact).abs() <= tolerance, "[{index}] is {found}, not {exact}");
    }
}

/// Both passes in double precision, by the definition.
#[test]
fn every_shape_and_activation_follows_the_definition() {
    let activations = [
        LinearActivation::Identity,
        LinearActivation::Relu,
        LinearActivation::LeakyRelu { slope: 0.2 },
        LinearActivation::Tanh,
    ];
    let shapes =
        [(1, 1, 1), (3, 5, 2), (64, 256, 10), (7, 40, 33), (64, 130, 70), (65, 100, 49), (300, 530, 61)];
    for set in InstructionSet::available() {
        for (number, (batch_size, inputs, outputs)) in shapes.into_iter().enumerate() {
            let activation = activations[number % activations.len()];
            let shape = LinearShape { batch_size, inputs, outputs };
            let (input, weights) = (&floats(batch_size * inputs, 1), &floats(outputs * inputs, 2));
            let (bias, gradient) = (&floats(outputs, 3), &floats(batch_size * outputs, 4));
            let at = |values: &[f32], index: usize| f64::from(values[index]);
            let mut exact = vec![0.0; batch_size * outputs];
            let mut slopes = exact.clone();
            for b in 0..batch_size {
                for o in 0..outputs {
                    let products =
                        (0..inputs).map(|i| at(input, b * inputs + i) * at(weights, o * inputs + i));
                    let sum = products.sum::<f64>() + at(bias, o);
                    let (value, slope) = match activation {
                        LinearActivation::Identity => (sum, 1.0),
                        LinearActivation::Relu => (sum.max(0.0), if sum > 0.0 { 1.0 } else { 0.0 }),
                        LinearActivation::LeakyRelu { slope } => {
                            let slope = if sum > 0.0 { 1.0 } else { f64::from(slope) };
                            (slope * sum, slope)
                        }
                        LinearActivation::Tanh => (sum.tanh(), 1.0 - sum.tanh().powi(2)),
                    };
                    exact[b * outputs + o] = value;
                    slopes[b * outputs + o] = slope * at(gradient, b * outputs + o);
                }
            }
            let output = set.run(LinearForward { shape, activation, input, weights, bias });
            close(&output, &exact, inputs);
            let found = set.run(LinearBackward {
                shape,
                activation,
                input,
                weights,
                output: &output,
                gradient,
                needs_input: true,
                needs_weights: true,
            });
            let mut input_gradient = vec![0.0; batch_size * inputs];
            let mut weight_gradient = vec![0.0; outputs * inputs];
            let mut bias_gradient = vec![0.0; outputs];
            for b in 0..batch_size {
                for o in 0..outputs {
                    let slope = slopes[b * outputs + o];
                    bias_gradient[o] += slope;
                    for i in 0..inputs {
                        input_gradient[b * inputs + i] += slope * at(weights, o * inputs + i);
                        weight_gradient[o * inputs + i] += slope * at(input, b * inputs + i);
                    }
                }
            }
            close(&found.input.unwrap(), &input_gradient, outputs);
            let [weights, bias] = found.parameters.unwrap();
            close(&weights, &weight_gradient, batch_size);
            close(&bias, &bias_gradient, batch_size);
        }
    }
}

/// A stack of three layers in double precision: the inputs of each layer, the numbers of the rows, their gradients, and
/// the gradient of the weights and biases of the sum of `factors` times the numbers.
struct Exact {
    values: Vec<f64>,
    gradient: Vec<f64>,
    parameters: Vec<[Vec<f64>; 2]>,
}

fn exact_stack(rows: &[f32], layers: &[StackLayer<'_>], direction: &[f32], factors: &[f32]) -> Exact {
    let double = |values: &[f32]| values.iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
    let width = layers[0].inputs;
    let mut exact = Exact {
        values: Vec::new(),
        gradient: Vec::new(),
        parameters: layers.iter().map(|l| [vec![0.0; l.weights.len()], vec![0.0; l.bias.len()]]).collect(),
    };
    for (row, factor) in rows.chunks_exact(width).zip(factors) {
        let (mut inputs, mut derivatives) = (vec![double(row)], Vec::new());
        for layer in layers {
            let LinearActivation::LeakyRelu { slope } = layer.activation else { panic!("a leaky ReLU") };
            let input = inputs.last().unwrap();
            let sums = layer.weights.chunks_exact(layer.inputs).zip(layer.bias).map(|(weights, bias)| {
                f64::from(*bias) + weights.iter().zip(input).map(|(w, x)| f64::from(*w) * x).sum::<f64>()
            });
            let sums: Vec<f64> = sums.collect();
            let slopes: Vec<f64> =
                sums.iter().map(|sum| if *sum > 0.0 { 1.0 } else { f64::from(slope) }).collect();
            inputs.push(sums.iter().zip(&slopes).map(|(sum, slope)| sum * slope).collect());
            derivatives.push(slopes);
        }
        exact.values.push(inputs[layers.len()].iter().zip(double(direction)).map(|(y, d)| y * d).sum());
        let mut back = double(direction);
        for (place, layer) in layers.iter().enumerate().rev() {
            back.iter_mut().zip(&derivatives[place]).for_each(|(back, slope)| *back *= slope);
            let mut next = vec![0.0; layer.inputs];
            for (o, back) in back.iter().enumerate() {
                exact.parameters[place][1][o] += f64::from(*factor) * back;
                for i in 0..layer.inputs {
                    next[i] += back * f64::from(layer.weights[o * layer.inputs + i]);
                    exact.parameters[place][0][o * layer.inputs + i] +=
                        f64::from(*factor) * back * inputs[place][i];
                }
            }
            back = next;
        }
        exact.gradient.extend(back);
    }
    exact
}

#[test]
fn a_stack_and_its_steps_follow_the_definition() {
    let activation = LinearActivation::LeakyRelu { slope: 0.2 };
    for (batch_size, widths) in [(5, [3, 7, 4, 2]), (40, [10, 90, 67, 2])] {
        // Weights of about 1 / sqrt(inputs), so that numbers stay near one.
        let scaled = |values: Vec<f32>, inputs: usize| {
            values.into_iter().map(|value| value / (inputs as f32).sqrt()).collect::<Vec<_>>()
        };
        let weights: Vec<Vec<f32>> = (0..3)
            .map(|place| scaled(floats(widths[place] * widths[place + 1], place), widths[place]))
            .collect();
        let biases: Vec<Vec<f32>> = (0..3).map(|place| floats(widths[place + 1], place + 5)).collect();
        let layers: Vec<StackLayer<'_>> = (0..3)
            .map(|place| StackLayer {
                inputs: widths[place],
                activation,
                weights: &weights[place],
                bias: &biases[place],
            })
            .collect();
        let (rows, direction) = (floats(batch_size * widths[0], 9), [1.0, -1.0]);
        let factors = floats(batch_size, 12);
        let exact = exact_stack(&rows, &layers, &direction, &factors);
        for set in InstructionSet::available() {
            InstructionSet::force(Some(set)).unwrap();
            let stack = Stack::new(rows.clone(), &layers, &direction);
            close(&stack.values, &exact.values, 3 * widths[1]);
            close(&stack.gradient, &exact.gradient, 3 * widths[1]);
            // With epsilon = 1 the first step is -g / (|g| + 1), whose slope is at most one.
            let settings = AdamStep { learning_rate: 1.0, beta1: 0.5, beta2: 0.75, epsilon: 1.0, step: 1 };
            for (place, [exact_weights, exact_bias]) in exact.parameters.iter().enumerate() {
                let mut values = vec![0.0; exact_weights.len()];
                let mut moments = [values.clone(), values.clone()];
                let [first, second] = &mut moments;
                let parameters = Parameters { values: &mut values, moments: [first, second], largest: None };
                let bias = stack.step(place, &factors, &settings, parameters);
                close(&bias, exact_bias, 3 * widths[1]);
                let expected: Vec<f64> = exact_weights.iter().map(|g| -g / (g.abs() + 1.0)).collect();
                close(&values, &expected, 3 * widths[1]);
                // m = g / 2.
                let halves: Vec<f64> = exact_weights.iter().map(|g| g / 2.0).collect();
                close(&moments[0], &halves, 3 * widths[1]);
            }
            InstructionSet::force(None).unwrap();
        }
    }
}
