//! Models of joint-vae (Dupont 2018): `model.pt` and `specs.json`, for 32 or 64 pixels.

use super::mapping::Mapping;
use super::recipe::{Recipe, published_data};
use super::specs::{Specs, ramp};
use super::state_file::StateFile;
use crate::error::{Error, Result};
use serde_json::{Value, json};
use unbraid_data::ImageShape;

/// The program's name.
const PROGRAM: &str = "joint-vae";

/// Whether these are settings of this program.
pub(super) fn recognise(specs: &Specs) -> bool {
    specs.has("latent_spec")
}

/// The run that the settings describe. They lack the size of the images, which follows from the layers.
///
/// # Errors
/// If a setting is missing or unknown.
pub(super) fn recipe(specs: &Specs, file: &StateFile) -> Result<Recipe> {
    let expected = r#"the latent units, such as {"cont": 10, "disc": [10]}"#;
    let units = specs.need("latent_spec", expected)?;
    let continuous = match units.get("cont").filter(|value| !value.is_null()) {
        None => 0,
        Some(value) => value.as_u64().ok_or_else(|| specs.refuse("latent_spec", expected))?,
    };
    let categorical = match units.get("disc").filter(|value| !value.is_null()) {
        None => Vec::new(),
        Some(value) => specs.wholes("latent_spec", value, expected)?,
    };
    let image_shape = image_shape(file)?;
    let side = image_shape.height;
    let mut model = json!({
        "architecture": if side == 64 { "dupont-64" } else { "dupont-32" },
        "latents": { "continuous": continuous, "categorical": categorical },
        "likelihood": "bernoulli",
    });
    if let (Some(temperature), false) = (specs.number("temperature")?, categorical.is_empty()) {
        model["latents"]["temperature"] = json!(temperature);
    }
    let dataset = specs.text("dataset")?;
    Ok(Recipe {
        program: PROGRAM,
        config: json!({
            "model": model,
            "objective": objective(specs, !categorical.is_empty())?,
            "optimizer": {
                "learning_rate": specs.last_number("lr")?.unwrap_or(5e-4),
                // The program divides the loss by the number of pixels.
                "epsilon": 1e-8 * image_shape.values() as f64,
            },
            "training": {
                "batch_size": specs.whole("batch_size")?.unwrap_or(64),
                "epochs": specs.whole("epochs")?.unwrap_or(1).max(1),
            },
        }),
        data: dataset.and_then(|name| published_data(name, image_shape)),
        image_shape: Some(image_shape),
        mapping: mapping(side, continuous > 0, categorical.len()),
        ignored: Vec::new(),
    })
}

/// Images of 64 pixels have one layer more. The number of channels is that of the first layer.
fn image_shape(file: &StateFile) -> Result<ImageShape> {
    let side = if file.get("img_to_features.6.weight").is_some() { 64 } else { 32 };
    match file.get("img_to_features.0.weight").map(|first| first.shape.as_slice()) {
        Some(&[_, channels @ (1 | 3), _, _]) => Ok(ImageShape::new(side, side, channels)),
        other => Err(Error::Import {
            path: file.path().to_owned(),
            found: match other {
                None => format!("the tensors {}", file.listed()),
                Some(shape) => format!("img_to_features.0.weight of {shape:?}"),
            },
            expected: "the layers of joint-vae, with `img_to_features.0.weight` of [32, channels, 4, 4]"
                .to_owned(),
        }),
    }
}

/// Lower and upper limit of a capacity, the step at which it ends, and its weight.
fn capacity(specs: &Specs, key: &str) -> Result<(Value, f64)> {
    let expected =
        "a capacity's minimum, maximum, number of steps and weight, such as [0.0, 5.0, 25000, 30.0]";
    Ok(match specs.numbers::<4>(key, expected)? {
        None => (json!(0.0), 0.0),
        Some([from, to, end, gamma]) if end >= 0.0 => (ramp(from, to, end as u64), gamma),
        Some(_) => return Err(specs.refuse(key, expected)),
    })
}

fn objective(specs: &Specs, has_categories: bool) -> Result<Value> {
    let (capacity_continuous, gamma_continuous) = capacity(specs, "cont_capacity")?;
    let (capacity_categorical, gamma_categorical) = capacity(specs, "disc_capacity")?;
    Ok(if has_categories {
        json!({
            "name": "joint-vae",
            "gamma_continuous": gamma_continuous,
            "capacity_continuous": capacity_continuous,
            "gamma_categorical": gamma_categorical,
            "capacity_categorical": capacity_categorical,
        })
    } else {
        json!({ "name": "annealed-vae", "gamma": gamma_continuous, "capacity": capacity_continuous })
    })
}

/// Layers of its `nn.Sequential`s have even numbers; the odd ones are activations.
fn mapping(side: usize, has_continuous: bool, categorical: usize) -> Mapping {
    let mut mapping = Mapping::default();
    for layer in 0..if side == 64 { 4 } else { 3 } {
        mapping.layer(&format!("encoder.conv{}", layer + 1), &format!("img_to_features.{}", 2 * layer));
        mapping.layer(&format!("decoder.deconv{}", layer + 1), &format!("features_to_img.{}", 2 * layer));
    }
    mapping.layer("encoder.fc1", "features_to_hidden.0");
    mapping.layer("decoder.fc1", "latent_to_features.0");
    mapping.layer("decoder.fc2", "latent_to_features.2");
    if has_continuous {
        mapping.layer("encoder.mean", "fc_mean");
        mapping.layer("encoder.log_variance", "fc_log_var");
    }
    for unit in 0..categorical {
        mapping.layer(&format!("encoder.categorical.{unit}"), &format!("fc_alphas.{unit}"));
    }
    mapping
}
