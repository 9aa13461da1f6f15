//! Encoders of other programs as ONNX files, which [`evaluate_encoder`](crate::evaluate::evaluate_encoder)
//! scores. The graph is computed by tract, on the CPU.

mod analysis;
mod graph;
mod input;
mod metadata;
mod outputs;

use super::refusal::{Refusal, quoted, shortened};
use crate::config::{PosteriorConfig, PriorConfig};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::model::{Posteriors, rows_of, share_out};
use crate::prior::Prior;
use input::Input;
use metadata::Metadata;
use ndarray::Array2;
use outputs::Outputs;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tract_onnx::pb::{GraphProto, ModelProto};
use tract_onnx::prelude::{
    DatumExt, Framework, InferenceFact, InferenceModelExt, IntoRunnable, Tensor, TractResult, TypedModel,
    TypedSimplePlan, tvec,
};
use unbraid_data::DataSet;
use unbraid_data::files::read_limited;
use unbraid_data::guard;
use unbraid_data::memory::{self, TooLarge};
use unbraid_data::progress::Progress;
use unbraid_data::random::Stream;

/// What is not in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncoderOptions {
    /// The output that is the code. By default the mean, if the names of two outputs say that they are a mean and a
    /// log-variance, else the first output.
    pub output: Option<String>,
    /// The values of black and white that the encoder takes. By default what its metadata say, else 0 and 1.
    pub range: Option<(f32, f32)>,
}

/// A network of another program that encodes the images of one data set.
///
/// ```no_run
/// use unbraid::data::progress::Silent;
/// use unbraid::evaluate::{Settings, evaluate_encoder};
/// use unbraid::import::{EncoderOptions, OnnxEncoder};
///
/// let data = unbraid::data::open(&"shapes".parse()?, &Silent)?;
/// let encoder = OnnxEncoder::open("encoder.onnx", data.as_ref(), &EncoderOptions::default())?;
/// let evaluation = evaluate_encoder(&encoder, data.as_ref(), None, &Settings::default(), &Silent)?;
/// println!("{} scores", evaluation.report.scores.len());
/// # Ok::<(), unbraid::Error>(())
/// ```
pub struct OnnxEncoder {
    path: PathBuf,
    plan: Arc<TypedSimplePlan>,
    input: Input,
    /// Units of the code; none for an encoder of categorical units alone.
    units: usize,
    has_log_variances: bool,
    /// The number of classes of each categorical unit.
    classes: Vec<usize>,
    /// The posterior by name, where it is not the usual one.
    posterior: Option<&'static str>,
    prior: Prior,
}

impl fmt::Debug for OnnxEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnnxEncoder").field("path", &self.path).finish_non_exhaustive()
    }
}

impl OnnxEncoder {
    /// Reads an encoder for the images of a data set. The layout is that of the input's shape: channels first
    /// or last, or one row for each image, with channels first. What files of `unbraid export` say in their
    /// metadata is honoured: categorical units, prior, range, layout, columns of a table.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged or no ONNX model, takes other images than the data has, or has no such
    /// output; if a code depends on more than the image, or on operators that are not known.
    pub fn open(path: impl AsRef<Path>, data: &dyn DataSet, options: &EncoderOptions) -> Result<Self> {
        let path = path.as_ref();
        // The bytes, and the tensors that they become.
        let bytes = read_limited(path, memory::limit() / 2).map_err(Error::io(path, "read it"))?;
        Self::of_bytes(bytes, path, data, options)
    }

    /// As [`OnnxEncoder::open`], once the file is read. Bytes that are handed over are dropped before the
    /// tensors are made.
    pub(super) fn of_bytes(
        bytes: impl AsRef<[u8]>,
        path: &Path,
        data: &dyn DataSet,
        options: &EncoderOptions,
    ) -> Result<Self> {
        let model = parsed(bytes.as_ref()).map_err(|refusal| refusal.of(path))?;
        drop(bytes);
        Self::of_model(model, path, data, options)
    }

    fn of_model(
        mut model: ModelProto,
        path: &Path,
        data: &dyn DataSet,
        options: &EncoderOptions,
    ) -> Result<Self> {
        let refused = |refusal: Refusal| refusal.of(path);
        let onnx = tract_onnx::onnx().with_ignore_value_info(true);
        let mut metadata = Metadata::read(&model.metadata_props).map_err(refused)?;
        metadata.conventions.range = options.range.or(metadata.conventions.range);
        let graph = model.graph.as_mut().ok_or_else(|| refused(not_onnx("data of an unknown kind")))?;
        let names: Vec<&str> = graph.output.iter().map(|output| output.name.as_str()).collect();
        let outputs = Outputs::choose(&names, options.output.as_deref(), &metadata).map_err(refused)?;
        graph::restrict(graph, &outputs.names(), &onnx).map_err(refused)?;
        let input = only_input(graph)
            .and_then(|input| Input::new(input, data, &metadata.conventions))
            .map_err(refused)?;
        let typed =
            guarded(|| typed(&onnx, &model, &input)).map_err(|words| refused(not_computed(&words)))?;
        check_memory(&typed, path)?;
        let widths = widths(&typed, &outputs, input.batch()).map_err(refused)?;
        let (units, log_variances, classes) = by_meaning(&outputs, &widths);
        if log_variances.is_some_and(|width| width != units) {
            return Err(refused(Refusal::new(
                format!("{units} means and {} log-variances", log_variances.unwrap_or(0)),
                "as many of both",
            )));
        }
        let plan = guarded(|| typed.into_optimized()?.into_runnable())
            .map_err(|words| refused(not_computed(&words)))?;
        let posterior = metadata.posterior.as_ref().filter(|posterior| !posterior.is_diagonal());
        Ok(Self {
            plan,
            input,
            units,
            has_log_variances: log_variances.is_some() && units > 0,
            classes,
            posterior: posterior.map(PosteriorConfig::name),
            prior: prior(&metadata, units, path)?,
            path: path.to_owned(),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The number of units of a code.
    pub fn units(&self) -> usize {
        self.units
    }

    /// The number of classes of each categorical unit.
    pub fn categorical_units(&self) -> &[usize] {
        &self.classes
    }

    /// Whether it gives the log-variances of posteriors.
    pub fn has_log_variances(&self) -> bool {
        self.has_log_variances
    }

    /// Why no samples of its posteriors can be drawn; `None` if they can.
    pub(crate) fn sample_obstacle(&self) -> Option<String> {
        match self.posterior {
            Some(name) => Some(format!("samples of a posterior that is `{name}` are not drawn here")),
            None if !self.has_log_variances => Some("this encoder gives no log-variances".to_owned()),
            None => None,
        }
    }

    pub(crate) fn prior(&self) -> &Prior {
        &self.prior
    }

    /// The codes of some images of the data, in the order of `indices`, as
    /// [`Run::encode_data`](crate::Run::encode_data) gives those of a run. All batches have the same size,
    /// the last one padded with black images, so that a code depends on its image alone. Without
    /// log-variances their matrix has no columns.
    ///
    /// # Errors
    /// If an image cannot be read, or the graph fails on one.
    ///
    /// # Panics
    /// If an index is out of range, or the images have another shape than those of [`OnnxEncoder::open`].
    pub fn encode_data(
        &self,
        data: &dyn DataSet,
        indices: &[usize],
        noise: Stream,
        progress: &dyn Progress,
    ) -> Result<Posteriors> {
        let count = indices.len();
        let variances = if self.has_log_variances { self.units } else { 0 };
        let mut posteriors = Posteriors {
            mean: Array2::zeros((count, self.units)),
            log_variance: Array2::zeros((count, variances)),
            categories: Array2::zeros((count, self.classes.len())),
            probabilities: Array2::zeros((count, self.classes.iter().sum())),
        };
        let batch = self.input.batch();
        let batches = rows_of(&mut posteriors.mean, batch)
            .into_iter()
            .zip(rows_of(&mut posteriors.log_variance, batch))
            .zip(rows_of(&mut posteriors.categories, batch))
            .zip(rows_of(&mut posteriors.probabilities, batch))
            .zip(indices.chunks(batch));
        progress.start("encoding", count as u64);
        let done = share_out(batches, |((((mean, log_variance), categories), probabilities), indices)| {
            let outputs = self.run(&self.pixels(data, indices, noise)?)?;
            let mut outputs = outputs.into_iter();
            let mut copy = |target: &mut [f32]| {
                if !target.is_empty() {
                    let values = outputs.next().unwrap_or_default();
                    target.iter_mut().zip(values).for_each(|(place, value)| *place = value);
                }
            };
            copy(mean);
            copy(log_variance);
            let width: usize = self.classes.iter().sum();
            let mut first = 0;
            for (unit, (&classes, values)) in self.classes.iter().zip(outputs).enumerate() {
                for (image, shares) in values.chunks_exact(classes).take(indices.len()).enumerate() {
                    categories[image * self.classes.len() + unit] = most_likely(shares);
                    probabilities[image * width + first..][..classes].copy_from_slice(shares);
                }
                first += classes;
            }
            progress.advance(indices.len() as u64);
            Ok(())
        });
        progress.finish();
        done.map(|()| posteriors)
    }

    /// A batch of images as the graph takes them.
    fn pixels(&self, data: &dyn DataSet, indices: &[usize], noise: Stream) -> Result<Vec<f32>> {
        let values = self.input.image().values();
        let mut image = vec![0.0; values];
        let mut pixels = vec![0.0; self.input.batch() * values];
        for (&index, target) in indices.iter().zip(pixels.chunks_exact_mut(values)) {
            data.write_image(index, noise.at(0).lane(index as u64), &mut image)?;
            self.input.arrange(&image, target);
        }
        Ok(pixels)
    }

    /// The outputs of a batch, in the order of [`Outputs::names`].
    fn run(&self, pixels: &[f32]) -> Result<Vec<Vec<f32>>> {
        let computed = guarded(|| {
            let input = Tensor::from_shape(&self.input.shape, pixels)?;
            let outputs = self.plan.run(tvec!(input.into()))?;
            let floats = |output: &Tensor| -> TractResult<Vec<f32>> {
                Ok(output.cast_to::<f32>()?.try_as_plain_ram()?.as_slice::<f32>()?.to_vec())
            };
            outputs.iter().map(|output| floats(output)).collect::<TractResult<Vec<_>>>()
        });
        computed.map_err(|words| not_computed(&words).of(&self.path))
    }
}

/// The file as a message, if it is one.
fn parsed(bytes: &[u8]) -> Result<ModelProto, Refusal> {
    // The format has no signature; every program begins with the version of the format, which is field 1.
    const FIRST: u8 = 0x08;
    match bytes.first() {
        None => return Err(not_onnx("an empty file")),
        Some(&FIRST) => {}
        Some(_) => return Err(not_onnx("data of an unknown kind")),
    }
    let onnx = tract_onnx::onnx();
    guarded(|| onnx.proto_model_for_read(&mut &*bytes))
        .map_err(|_| Refusal::new("a damaged ONNX file", "a whole one"))
}

/// What the runtime gives, or what it says is wrong, also by a panic.
fn guarded<T>(work: impl FnOnce() -> TractResult<T>) -> Result<T, String> {
    guard::guarded(work)?.map_err(|error| format!("{error:#}"))
}

fn not_onnx(found: &str) -> Refusal {
    Refusal::new(found, "an ONNX model")
}

fn not_computed(words: &str) -> Refusal {
    let found = format!("a graph that cannot be computed ({})", shortened(words, 400));
    Refusal::new(found, "one that tract computes")
}

fn only_input(graph: &GraphProto) -> Result<&tract_onnx::pb::ValueInfoProto, Refusal> {
    // Older files list weights among the inputs.
    let is_weight = |name: &str| graph.initializer.iter().any(|tensor| tensor.name == name);
    let inputs: Vec<_> = graph.input.iter().filter(|input| !is_weight(&input.name)).collect();
    if let [input] = inputs.as_slice() {
        return Ok(input);
    }
    let names = super::refusal::listed(inputs.iter().map(|input| input.name.as_str()));
    Err(Refusal::new(format!("an output that depends on the inputs {names}"), "one input, the images"))
}

/// The graph with the shapes of all its tensors.
fn typed(onnx: &tract_onnx::Onnx, model: &ModelProto, input: &Input) -> TractResult<TypedModel> {
    let fact = InferenceFact::from(f32::fact(input.shape.iter().copied()));
    let mut model = onnx.model_for_proto_model(model)?.with_input_fact(0, fact)?;
    analysis::analyse(&mut model)?;
    model.into_typed()
}

/// Compares what a batch takes on every thread with the limit, before anything of it is computed.
fn check_memory(model: &TypedModel, path: &Path) -> Result {
    let mut needed = 0_u64;
    for node in model.nodes() {
        for output in &node.outputs {
            let Some(axes) = output.fact.shape.as_concrete() else {
                let found =
                    format!("the operator `{}` with a result of no fixed size", quoted(&node.op.name()));
                return Err(Refusal::new(found, "layers of an encoder").of(path));
            };
            let width = output.fact.datum_type.size_of() as u64;
            let bytes = axes.iter().fold(width, |bytes, &axis| bytes.saturating_mul(axis as u64));
            needed = needed.saturating_add(bytes);
        }
    }
    memory::check(needed.saturating_mul(rayon::current_num_threads() as u64)).map_err(
        |TooLarge { needed, limit }| Error::TooLarge { subject: path.display().to_string(), needed, limit },
    )
}

/// The number of values that each output has for an image.
fn widths(model: &TypedModel, outputs: &Outputs, batch: usize) -> Result<Vec<usize>, Refusal> {
    let names = outputs.names();
    let shape = |place: usize| model.output_fact(place).ok().and_then(|fact| fact.shape.as_concrete());
    names
        .iter()
        .enumerate()
        .map(|(place, name)| match shape(place) {
            // Some programs leave the axes of an image of one pixel.
            Some([first, width, rest @ ..])
                if *first == batch && *width > 0 && rest.iter().all(|axis| *axis == 1) =>
            {
                Ok(*width)
            }
            other => {
                let found =
                    other.map_or_else(|| "a shape that is not fixed".to_owned(), |axes| format!("{axes:?}"));
                Err(Refusal::new(
                    format!("the output `{}` of {found}", quoted(name)),
                    format!("a row of units for each of {batch} images: [{batch}, units]"),
                ))
            }
        })
        .collect()
}

/// Units of the code, log-variances if there are any, and classes of each categorical unit.
fn by_meaning(outputs: &Outputs, widths: &[usize]) -> (usize, Option<usize>, Vec<usize>) {
    let mut widths = widths.iter().copied();
    let units = outputs.code.as_ref().and_then(|_| widths.next()).unwrap_or(0);
    let log_variances = outputs.log_variance.as_ref().and_then(|_| widths.next());
    (units, log_variances, widths.collect())
}

/// The prior that the metadata have, else a standard normal distribution.
fn prior(metadata: &Metadata, units: usize, path: &Path) -> Result<Prior> {
    let device = Device::cpu().tensor_device();
    let foreign = |error| Error::Checkpoint { path: path.to_owned(), source: Box::new(error) };
    let Some(described) = &metadata.prior else {
        return Prior::new(&PriorConfig::StandardNormal {}, units, None, &device);
    };
    described.config.check(units).map_err(foreign)?;
    let mut prior = Prior::new(&described.config, units, None, &device).map_err(foreign)?;
    prior.set_state(described.state()).map_err(foreign)?;
    Ok(prior)
}

/// The class with the largest share, the first of equals.
fn most_likely(shares: &[f32]) -> i64 {
    let larger = |best: usize, class: usize| if shares[class] > shares[best] { class } else { best };
    (0..shares.len()).reduce(larger).unwrap_or(0) as i64
}

#[cfg(test)]
mod tests;
