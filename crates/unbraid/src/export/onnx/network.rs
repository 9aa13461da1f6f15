//! The networks of a run as graphs, layer by layer as the tables of its architecture have them.

use super::graph::{Attribute, Graph, Type};
use crate::config::{LikelihoodConfig, Output, PosteriorConfig};
use crate::error::{Error, Result};
use crate::model::architecture::{Activation, Convolution, Heads, Linear};
use crate::model::{BATCH_NORM_EPSILON, Blueprint, StateTensor};
use crate::run::Run;
use std::collections::HashMap;
use unbraid_data::ImageShape;

/// Log-variances and the distance at which they are bounded, as `model::posterior::diagonal` has it.
const FREE: f32 = 20.0;
const MARGIN: f32 = 20.0;

/// A graph in the making, with the weights by name.
struct Builder<'a> {
    run: &'a Run,
    graph: Graph,
    state: HashMap<String, StateTensor>,
}

/// From images to posteriors.
///
/// # Errors
/// If the posterior has no closed form.
pub(super) fn encoder(run: &Run) -> Result<Graph> {
    let mut builder = Builder::new(run);
    builder.encoder()?;
    Ok(builder.graph)
}

/// From latent values to images.
pub(super) fn decoder(run: &Run) -> Result<Graph> {
    let mut builder = Builder::new(run);
    builder.decoder()?;
    Ok(builder.graph)
}

/// Why a posterior cannot be exported, if it cannot.
pub(super) fn obstacle(posterior: &PosteriorConfig) -> Option<&'static str> {
    match posterior {
        PosteriorConfig::Diagonal {} | PosteriorConfig::FullCovariance {} => None,
        PosteriorConfig::Iaf { .. } => {
            Some("its moments have no closed form: they are means over samples of a flow")
        }
        PosteriorConfig::Implicit { .. } => Some("it has no moments in closed form, only samples"),
    }
}

impl<'a> Builder<'a> {
    fn new(run: &'a Run) -> Self {
        let state = run.network().state().into_iter().map(|tensor| (tensor.name.clone(), tensor)).collect();
        Self { run, graph: Graph::default(), state }
    }

    fn blueprint(&self) -> &'a Blueprint {
        self.run.network().blueprint()
    }

    fn tensor(&self, name: &str) -> Result<StateTensor> {
        self.state.get(name).cloned().ok_or_else(|| Error::TensorMismatch {
            tensor: name.to_owned(),
            found: "nothing".to_owned(),
            expected: "a tensor of the architecture's table".to_owned(),
        })
    }

    fn constant(&mut self, name: &str) -> Result<String> {
        let tensor = self.tensor(name)?;
        Ok(self.graph.floats(name, &tensor.shape, tensor.values.as_floats()))
    }

    fn encoder(&mut self) -> Result {
        let blueprint = self.blueprint();
        if let Some(reason) = obstacle(&blueprint.posterior) {
            return Err(Error::NotExportable {
                run: self.run.path().to_owned(),
                what: format!("an encoder with model.posterior `{}`", blueprint.posterior.name()),
                reason: reason.to_owned(),
            });
        }
        let mut values = self.images();
        for layer in &blueprint.encoder.convolutions {
            values = self.convolution(layer, "Conv", &values, None)?;
        }
        values = self.graph.node("Flatten", &[&values], "encoder.flat", &[Attribute::Integer("axis", 1)]);
        for layer in &blueprint.encoder.linear {
            values = self.linear(layer, &values, None)?;
        }
        let units = blueprint.layout.continuous();
        if units > 0 {
            self.continuous(&blueprint.encoder.heads, &values, units)?;
        }
        for (unit, &classes) in blueprint.layout.categorical().iter().enumerate() {
            let head = Linear::plain(format!("encoder.categorical.{unit}"), classes);
            let logits = self.linear(&head, &values, None)?;
            let name = format!("probabilities_{unit}");
            self.graph.node("Softmax", &[&logits], &name, &[Attribute::Integer("axis", 1)]);
            self.graph.output(&name, Type::Float, &[classes]);
        }
        Ok(())
    }

    /// The input: images with channels first, or rows of a table, which are standardised in double precision.
    fn images(&mut self) -> String {
        let ImageShape { height, width, channels } = self.blueprint().image_shape;
        let Some(features) = self.run.features() else {
            return self.graph.input("images", &[channels, height, width]);
        };
        let columns = features.columns();
        let numbers = |of: fn(&unbraid_data::Feature) -> f64| columns.iter().map(of).collect::<Vec<f64>>();
        let (means, deviations) = (numbers(|column| column.mean), numbers(|column| column.deviation));
        let graph = &mut self.graph;
        let rows = graph.input("values", &[columns.len()]);
        let to = |kind: Type| [Attribute::Integer("to", kind.code())];
        let rows = graph.node("Cast", &[&rows], "values.double", &to(Type::Double));
        let mean = graph.doubles("features.mean", &[columns.len()], &means);
        let deviation = graph.doubles("features.deviation", &[columns.len()], &deviations);
        let rows = graph.node("Sub", &[&rows, &mean], "values.centred", &[]);
        let rows = graph.node("Div", &[&rows, &deviation], "values.standard", &[]);
        graph.node("Cast", &[&rows], "values.single", &to(Type::Float))
    }

    /// `mean` and `log_variance`, the moments that the run itself gives.
    fn continuous(&mut self, heads: &Heads, features: &str, units: usize) -> Result {
        let rows = |place: usize| move |row: usize| row % 2 == place;
        let logarithm = match heads {
            Heads::Separate => {
                self.layer("encoder.mean", features, "mean", |_| true)?;
                self.layer("encoder.log_variance", features, "log_variance.raw", |_| true)?
            }
            Heads::Interleaved(name) => {
                self.layer(name, features, "mean", rows(0))?;
                self.layer(name, features, "log_variance.raw", rows(1))?
            }
        };
        let name = "log_variance";
        match self.blueprint().posterior {
            PosteriorConfig::FullCovariance {} => {
                let diagonal = self.bounded(&logarithm, "log_variance.diagonal");
                self.marginals(features, &diagonal, units)?;
            }
            PosteriorConfig::Diagonal {} | PosteriorConfig::Iaf { .. } | PosteriorConfig::Implicit { .. } => {
                self.bounded(&logarithm, name);
            }
        }
        self.graph.output("mean", Type::Float, &[units]);
        self.graph.output(name, Type::Float, &[units]);
        Ok(())
    }

    /// The identity between -20 and 20, and a tanh beyond.
    fn bounded(&mut self, logarithm: &str, output: &str) -> String {
        let graph = &mut self.graph;
        let low = graph.floats("bound.low", &[], &[-FREE]);
        let high = graph.floats("bound.high", &[], &[FREE]);
        let margin = graph.floats("bound.margin", &[], &[MARGIN]);
        let inside = graph.node("Clip", &[logarithm, &low, &high], "bound.inside", &[]);
        let excess = graph.node("Sub", &[logarithm, &inside], "bound.excess", &[]);
        let share = graph.node("Div", &[&excess, &margin], "bound.share", &[]);
        let bent = graph.node("Tanh", &[&share], "bound.bent", &[]);
        let beyond = graph.node("Mul", &[&bent, &margin], "bound.beyond", &[]);
        graph.node("Add", &[&inside, &beyond], output, &[])
    }

    /// ln Sigma_ii = ln(sigma_i^2 + sum of the squares of row i of the Cholesky factor below its diagonal).
    fn marginals(&mut self, features: &str, diagonal: &str, units: usize) -> Result {
        let is_below = |row: usize| row % units < row / units;
        let (mut weight, mut bias) =
            (self.tensor("encoder.cholesky.weight")?, self.tensor("encoder.cholesky.bias")?);
        // Entries that are not used come out as zeros.
        let (weights, biases) = (weight.values.as_floats().to_vec(), bias.values.as_floats().to_vec());
        let width = weights.len() / (units * units).max(1);
        let masked = |values: Vec<f32>, width: usize| -> Vec<f32> {
            values
                .into_iter()
                .enumerate()
                .map(|(place, value)| if is_below(place / width) { value } else { 0.0 })
                .collect()
        };
        weight = StateTensor::floats(weight.name, weight.shape, masked(weights, width));
        bias = StateTensor::floats(bias.name, bias.shape, masked(biases, 1));
        let graph = &mut self.graph;
        let weight = graph.floats(&weight.name, &weight.shape, weight.values.as_floats());
        let bias = graph.floats(&bias.name, &bias.shape, bias.values.as_floats());
        let entries = graph.node(
            "Gemm",
            &[features, &weight, &bias],
            "cholesky.entries",
            &[Attribute::Integer("transB", 1)],
        );
        let shape = graph.integers("cholesky.shape", &[-1, units as i64, units as i64]);
        let lower = graph.node("Reshape", &[&entries, &shape], "cholesky.lower", &[]);
        let squares = [Attribute::Integers("axes", vec![2]), Attribute::Integer("keepdims", 0)];
        let below = graph.node("ReduceSumSquare", &[&lower], "cholesky.below", &squares);
        let variance = graph.node("Exp", &[diagonal], "cholesky.diagonal", &[]);
        let sum = graph.node("Add", &[&variance, &below], "cholesky.variance", &[]);
        graph.node("Log", &[&sum], "log_variance", &[]);
        Ok(())
    }

    fn decoder(&mut self) -> Result {
        let blueprint = self.blueprint();
        let mut values = self.graph.input("latents", &[blueprint.layout.width()]);
        let images = blueprint.image_shape;
        let convolutions = &blueprint.decoder.convolutions;
        let layers = &blueprint.decoder.linear;
        for (place, layer) in layers.iter().enumerate() {
            // Of a decoder that puts out scales as well, the means are the first half.
            let is_last = convolutions.is_empty() && place + 1 == layers.len();
            values = self.linear(layer, &values, is_last.then_some(images.values()))?;
        }
        let grid = ImageShape {
            channels: if convolutions.is_empty() { images.channels } else { blueprint.decoder.grid.channels },
            ..blueprint.decoder.grid
        };
        let is_table = self.run.features().is_some();
        if !(is_table && convolutions.is_empty()) {
            let shape = [-1, grid.channels as i64, grid.height as i64, grid.width as i64];
            let shape = self.graph.integers("decoder.grid", &shape);
            values = self.graph.node("Reshape", &[&values, &shape], "decoder.image", &[]);
        }
        for (place, layer) in convolutions.iter().enumerate() {
            let is_last = place + 1 == convolutions.len();
            values = self.convolution(layer, "ConvTranspose", &values, is_last.then_some(images.channels))?;
        }
        let output = match self.run.config().model.likelihood {
            LikelihoodConfig::Bernoulli {} => Output::Sigmoid,
            LikelihoodConfig::Gaussian { output, .. } | LikelihoodConfig::Laplace { output, .. } => output,
        };
        let operator = match output {
            Output::Sigmoid => "Sigmoid",
            Output::Linear => "Identity",
        };
        if is_table {
            let means = self.graph.node(operator, &[&values], "values.standard", &[]);
            self.restored(&means);
            return Ok(());
        }
        self.graph.node(operator, &[&values], "images", &[]);
        self.graph.output("images", Type::Float, &[images.channels, images.height, images.width]);
        Ok(())
    }

    /// The values of a table in its own units, in double precision.
    fn restored(&mut self, standard: &str) {
        let columns = self.run.features().map_or(&[][..], |features| features.columns());
        let (mean, deviation): (Vec<f64>, Vec<f64>) =
            columns.iter().map(|column| (column.mean, column.deviation)).unzip();
        let graph = &mut self.graph;
        let double = [Attribute::Integer("to", Type::Double.code())];
        let values = graph.node("Cast", &[standard], "values.double", &double);
        let mean = graph.doubles("features.mean", &[columns.len()], &mean);
        let deviation = graph.doubles("features.deviation", &[columns.len()], &deviation);
        let values = graph.node("Mul", &[&values, &deviation], "values.scaled", &[]);
        graph.node("Add", &[&values, &mean], "values", &[]);
        graph.output("values", Type::Double, &[columns.len()]);
    }

    /// Some outputs of a fully connected layer.
    fn layer(
        &mut self,
        name: &str,
        values: &str,
        output: &str,
        is_kept: impl Fn(usize) -> bool,
    ) -> Result<String> {
        let (weight, bias) = (self.tensor(&format!("{name}.weight"))?, self.tensor(&format!("{name}.bias"))?);
        let width = weight.shape.get(1).copied().unwrap_or(1);
        let rows: Vec<usize> = (0..bias.values.as_floats().len()).filter(|row| is_kept(*row)).collect();
        let weights: Vec<f32> = rows
            .iter()
            .flat_map(|row| weight.values.as_floats()[row * width..(row + 1) * width].iter().copied())
            .collect();
        let biases: Vec<f32> = rows.iter().map(|&row| bias.values.as_floats()[row]).collect();
        let weight = self.graph.floats(&format!("{output}.weight"), &[rows.len(), width], &weights);
        let bias = self.graph.floats(&format!("{output}.bias"), &[rows.len()], &biases);
        Ok(self.graph.node("Gemm", &[values, &weight, &bias], output, &[Attribute::Integer("transB", 1)]))
    }

    /// A fully connected layer with its activation; with `kept`, its first outputs only.
    fn linear(&mut self, table: &Linear, values: &str, kept: Option<usize>) -> Result<String> {
        let kept = kept.unwrap_or(table.width);
        let sums = self.layer(&table.name, values, &table.name, |row| row < kept)?;
        Ok(self.activated(&sums, table.activation))
    }

    /// A convolution or transposed convolution with normalisation and activation; with `kept`, its first channels only.
    fn convolution(
        &mut self,
        table: &Convolution,
        operator: &str,
        values: &str,
        kept: Option<usize>,
    ) -> Result<String> {
        let name = &table.name;
        let mut weight = self.tensor(&format!("{name}.weight"))?;
        let mut inputs = Vec::new();
        let bias_name = format!("{name}.bias");
        let bias = if table.norm.is_none() { Some(self.tensor(&bias_name)?) } else { None };
        let kept = kept.filter(|kept| *kept < table.channels);
        if let Some(kept) = kept {
            // Only the last layer of a decoder has more outputs than are shown; its weights are [in, out,
            // height, width].
            let taps = table.kernel[0] * table.kernel[1];
            let rows = weight.values.as_floats().chunks_exact(table.channels * taps);
            let values = rows.flat_map(|row| row[..kept * taps].iter().copied()).collect();
            weight = StateTensor::floats(
                weight.name,
                vec![weight.shape[0], kept, table.kernel[0], table.kernel[1]],
                values,
            );
        }
        inputs.push(self.graph.floats(&weight.name, &weight.shape, weight.values.as_floats()));
        if let Some(bias) = bias {
            let values = bias.values.as_floats();
            let values = &values[..kept.unwrap_or(values.len())];
            inputs.push(self.graph.floats(&bias_name, &[values.len()], values));
        }
        let integers = |values: &[usize]| values.iter().map(|&value| value as i64).collect::<Vec<i64>>();
        let attributes = [
            Attribute::Integers("kernel_shape", integers(&table.kernel)),
            Attribute::Integers("strides", integers(&[table.stride; 2])),
            Attribute::Integers("pads", integers(&[table.padding; 4])),
        ];
        let mut all = vec![values];
        all.extend(inputs.iter().map(String::as_str));
        let mut sums = self.graph.node(operator, &all, name, &attributes);
        if let Some(norm) = &table.norm {
            let parts = ["weight", "bias", "running_mean", "running_var"];
            let constants: Vec<String> =
                parts.iter().map(|part| self.constant(&format!("{norm}.{part}"))).collect::<Result<_>>()?;
            let mut all = vec![sums.as_str()];
            all.extend(constants.iter().map(String::as_str));
            let epsilon = Attribute::Float("epsilon", BATCH_NORM_EPSILON as f32);
            sums = self.graph.node("BatchNormalization", &all, norm, &[epsilon]);
        }
        Ok(self.activated(&sums, table.activation))
    }

    fn activated(&mut self, sums: &str, activation: Activation) -> String {
        let output = format!("{sums}.activated");
        match activation {
            Activation::None => sums.to_owned(),
            Activation::Relu => self.graph.node("Relu", &[sums], &output, &[]),
            Activation::LeakyRelu(slope) => {
                self.graph.node("LeakyRelu", &[sums], &output, &[Attribute::Float("alpha", slope as f32)])
            }
            Activation::Tanh => self.graph.node("Tanh", &[sums], &output, &[]),
        }
    }
}
