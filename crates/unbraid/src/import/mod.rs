//! Published weights as run directories: models of disentangling-vae and joint-vae, and state dicts of PyTorch and
//! safetensors with a file that maps names. Nothing in a file is executed (`pickle`). Encoders as ONNX files
//! become no run, but give codes for an evaluation (`onnx`, with the feature of that name).

mod disentangling_vae;
mod element;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod joint_vae;
mod mapping;
mod mapping_file;
#[cfg(feature = "onnx")]
mod onnx;
mod pickle;
mod recipe;
mod refusal;
mod specs;
mod state_file;
mod torch_file;
mod weights_file;

use crate::config::{Config, Layers, parse_assignment};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::model::{Blueprint, Network, StateTensor, Values};
use crate::prior::Prior;
use crate::run::{ImportedWeights, Provenance, Run, RunDirectory, Start};
use mapping_file::MappingFile;
use recipe::{Recipe, data_at};
use refusal::{Refusal, quoted};
use specs::Specs;
use state_file::StateFile;
use std::path::{Path, PathBuf};
use unbraid_data::progress::Progress;
use unbraid_data::{DataSet, DataSpec, ImageShape, registry};

#[cfg(feature = "onnx")]
pub use onnx::{EncoderOptions, OnnxEncoder};
pub(crate) use weights_file::WeightsFile;

/// What to import.
///
/// ```no_run
/// use unbraid::data::progress::Silent;
/// use unbraid::import::Import;
/// use unbraid::run::Start;
///
/// let run = Import::new("pretrained/btcvae_dsprites").write("runs/btcvae", Start::Fresh, &Silent)?;
/// println!("{} units", run.units());
/// # Ok::<(), unbraid::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Import {
    model: PathBuf,
    mapping: Option<PathBuf>,
    data: Option<DataSpec>,
    assignments: Vec<String>,
}

/// The name of the weights in the directory of a published model.
const WEIGHTS: &str = "model.pt";
/// The name of its settings.
const SPECS: &str = "specs.json";

impl Import {
    /// A directory with `model.pt` and `specs.json`, or a file of weights, with `specs.json` beside it or a
    /// [mapping](Import::mapping).
    pub fn new(model: impl Into<PathBuf>) -> Self {
        Self { model: model.into(), mapping: None, data: None, assignments: Vec::new() }
    }

    /// A TOML file that has the configuration and a table `tensors` with our names and theirs, in place of
    /// `specs.json`.
    #[must_use]
    pub fn mapping(mut self, file: impl Into<PathBuf>) -> Self {
        self.mapping = Some(file.into());
        self
    }

    /// The data that the model was trained on. A path without a name is that of the data set that the settings name.
    #[must_use]
    pub fn data(mut self, data: DataSpec) -> Self {
        self.data = Some(data);
        self
    }

    /// Changes a key of the configuration, `key=value`.
    #[must_use]
    pub fn set(mut self, assignment: impl Into<String>) -> Self {
        self.assignments.push(assignment.into());
        self
    }

    /// Reads the model and writes it as a run directory. Nothing is written unless everything fits.
    ///
    /// # Errors
    /// If the files cannot be read, are damaged or of another kind, ask for functions of Python, or belong to
    /// another network than the settings say; or if the directory cannot be used.
    pub fn write(&self, out: impl AsRef<Path>, start: Start, progress: &dyn Progress) -> Result<Run> {
        let (weights, specs) = self.files()?;
        let (file, recipe) = match &self.mapping {
            Some(mapping) => {
                let MappingFile { root, recipe } = MappingFile::read(mapping)?;
                (StateFile::open(&weights, root.as_deref())?, recipe)
            }
            None => {
                let specs = Specs::read(&specs)?;
                let file = StateFile::open(&weights, None)?;
                let recipe = published(&specs, &file)?;
                (file, recipe)
            }
        };
        let Model { config, data, image_shape, state } = self.read(&file, &recipe, progress)?;
        let provenance = Provenance {
            program: recipe.program.to_owned(),
            file: weights.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            sha256: file.sha256().to_owned(),
        };
        let (directory, _) = RunDirectory::acquire(out.as_ref(), start)?;
        let imported = ImportedWeights { config: &config, data: data.as_deref(), image_shape, state: &state };
        imported.write(&directory, provenance)?;
        drop(directory);
        Run::open(out)
    }

    /// Everything that is written, checked.
    fn read(&self, file: &StateFile, recipe: &Recipe, progress: &dyn Progress) -> Result<Model> {
        let config = self.config(recipe)?;
        let data = open_data(&config.data, progress)?;
        let image_shape = image_shape(recipe, data.as_deref(), &config, file.path())?;
        let state = read_state(&config, image_shape, data.as_deref(), recipe, file)?;
        Ok(Model { config, data, image_shape, state })
    }

    /// The weights, and the settings that belong to them.
    fn files(&self) -> Result<(PathBuf, PathBuf)> {
        std::fs::metadata(&self.model).map_err(Error::io(&self.model, "read it"))?;
        let (weights, specs) = if self.model.is_dir() {
            (self.model.join(WEIGHTS), self.model.join(SPECS))
        } else {
            (self.model.clone(), self.model.with_file_name(SPECS))
        };
        let missing = |path: &Path, found: &str, expected: &str| Err(Refusal::new(found, expected).of(path));
        if self.model.is_dir() && !weights.is_file() {
            return missing(
                &self.model,
                "a directory without model.pt",
                "one with model.pt and specs.json, or a file of weights",
            );
        }
        if self.mapping.is_none() && weights.is_file() && !specs.is_file() {
            return missing(
                &weights,
                "no specs.json beside it",
                "that of disentangling-vae or joint-vae, or a mapping of the tensors' names",
            );
        }
        Ok((weights, specs))
    }

    fn config(&self, recipe: &Recipe) -> Result<Config> {
        let data = match (&self.data, &recipe.data) {
            (Some(given), known) => data_at(known.as_ref(), given.clone()),
            (None, Some(known)) => known.clone(),
            (None, None) => {
                let expected = "the data set that the model was trained on, which its settings do not name";
                return Err(Error::argument("data", "nothing", expected));
            }
        };
        let absolute = data.path.as_ref().and_then(|path| std::path::absolute(path).ok());
        let data = DataSpec { path: absolute.or_else(|| data.path.clone()), ..data };
        let mut config = recipe.config.clone();
        config["data"] = serde_json::to_value(&data).unwrap_or_default();
        let text =
            toml::to_string(&config).map_err(|error| Error::ConfigShape { message: error.to_string() })?;
        let mut layers = Layers::of_text(&text, "the model's settings")?;
        for assignment in &self.assignments {
            layers.put(Layers::of_keys([parse_assignment(assignment)?])?);
        }
        layers.resolve()
    }
}

/// A model that was read.
struct Model {
    config: Config,
    data: Option<Box<dyn DataSet>>,
    image_shape: ImageShape,
    state: Vec<StateTensor>,
}

/// How a model with such settings becomes a run.
fn published(specs: &Specs, file: &StateFile) -> Result<Recipe> {
    if disentangling_vae::recognise(specs) {
        return disentangling_vae::recipe(specs);
    }
    if joint_vae::recognise(specs) {
        return joint_vae::recipe(specs, file);
    }
    let expected = "those of disentangling-vae (`model_type`, `latent_dim`) or joint-vae (`latent_spec`)";
    Err(Refusal::new(format!("the settings {}", specs.listed()), expected).of(specs.path()))
}

/// Opens the data, unless it is in files and nobody said where.
fn open_data(spec: &DataSpec, progress: &dyn Progress) -> Result<Option<Box<dyn DataSet>>> {
    let is_elsewhere = match &spec.name {
        Some(name) => registry::entry(name)?.path.is_some() && spec.path.is_none(),
        None => false,
    };
    if is_elsewhere {
        registry::check(spec)?;
        return Ok(None);
    }
    Ok(Some(unbraid_data::open(spec, progress)?))
}

fn image_shape(
    recipe: &Recipe,
    data: Option<&dyn DataSet>,
    config: &Config,
    weights: &Path,
) -> Result<ImageShape> {
    match (recipe.image_shape, data.map(DataSet::shape)) {
        (Some(known), Some(found)) if known != found => Err(Refusal::new(
            format!("weights for images of {known} (height x width x channels)"),
            format!("those of {}, {found}", config.data),
        )
        .of(weights)),
        (Some(shape), _) | (None, Some(shape)) => Ok(shape),
        (None, None) => Err(Error::argument(
            "images",
            "nothing",
            "height, width and channels in the mapping, or the path of the data",
        )),
    }
}

/// The state dict of the run, checked against its network before one is made.
fn read_state(
    config: &Config,
    shape: ImageShape,
    data: Option<&dyn DataSet>,
    recipe: &Recipe,
    file: &StateFile,
) -> Result<Vec<StateTensor>> {
    let foreign = |error| Error::Checkpoint { path: file.path().to_owned(), source: Box::new(error) };
    crate::train::check_memory(config, shape)?;
    for (name, shape) in Blueprint::new(&config.model, shape)?.weights() {
        recipe.mapping.check(file, &name, &shape, true).map_err(foreign)?;
    }
    let device = Device::cpu().tensor_device();
    let mut prior = Prior::new(&config.model.prior, config.model.latents.continuous, data, &device)?;
    let mut network = Network::new(&config.model, shape, config.seed, &device)?;
    let expected: Vec<StateTensor> = network.state().into_iter().chain(prior.state()).collect();
    let state = recipe.mapping.apply(file, &expected, &recipe.ignored).map_err(foreign)?;
    let is_finite = |tensor: &&StateTensor| match &tensor.values {
        Values::Floats(values) => values.iter().all(|value| value.is_finite()),
        Values::Doubles(_) | Values::Integers(_) => true,
    };
    if let Some(tensor) = state.iter().find(|tensor| !is_finite(tensor)) {
        let found = format!("numbers in `{}` that are not finite", quoted(&tensor.name));
        return Err(Refusal::new(found, "weights of a model that was trained").of(file.path()));
    }
    let rest = prior.set_state(state.clone()).map_err(foreign)?;
    network.set_state(rest).map_err(foreign)?;
    Ok(state)
}
