//! Models of disentangling-vae: `model.pt` and `specs.json`, the network of Burgess et al. 2018 for 64 or 32 pixels.

use super::mapping::Mapping;
use super::recipe::{Recipe, published_data};
use super::specs::{Specs, ramp};
use crate::error::Result;
use serde_json::{Value, json};
use unbraid_data::ImageShape;

/// The program's name.
const PROGRAM: &str = "disentangling-vae";

/// Whether these are settings of this program.
pub(super) fn recognise(specs: &Specs) -> bool {
    specs.has("model_type") && specs.has("latent_dim")
}

/// The run that the settings describe. Tensors have the same names in our `burgess` network.
///
/// # Errors
/// If a setting is missing or unknown.
pub(super) fn recipe(specs: &Specs) -> Result<Recipe> {
    if specs.text("model_type")? != Some("Burgess") {
        return Err(specs.refuse("model_type", "`Burgess`, the only network of disentangling-vae"));
    }
    let expected = "channels, height and width, such as [1, 64, 64]";
    let size = specs.wholes("img_size", specs.need("img_size", expected)?, expected)?;
    let &[channels, height, width] = size.as_slice() else { return Err(specs.refuse("img_size", expected)) };
    if !matches!((height, width), (32, 32) | (64, 64)) || !matches!(channels, 1 | 3) {
        return Err(specs.refuse("img_size", "images of 32 or 64 pixels with 1 or 3 channels"));
    }
    let image_shape = ImageShape::new(height, width, channels);
    let units = specs.whole("latent_dim")?;
    let dataset = specs.text("dataset")?;
    Ok(Recipe {
        program: PROGRAM,
        config: json!({
            "seed": specs.whole("seed")?.unwrap_or(0),
            "model": {
                "architecture": "burgess",
                "initializer": "kaiming-uniform",
                "latents": { "continuous": units },
                "likelihood": likelihood(specs)?,
            },
            "objective": objective(specs)?,
            "optimizer": { "learning_rate": specs.number("lr")?.unwrap_or(5e-4) },
            "training": {
                "batch_size": specs.whole("batch_size")?.unwrap_or(64),
                "epochs": specs.whole("epochs")?.unwrap_or(1).max(1),
            },
        }),
        data: dataset.and_then(|name| published_data(name, image_shape)),
        image_shape: Some(image_shape),
        mapping: Mapping::default(),
        ignored: Vec::new(),
    })
}

/// The program's losses as likelihoods. `gaussian` is 255 times the squared error, which is that of a normal
/// distribution of variance 1/510 up to a constant; `laplace` is three times the absolute error, that of a
/// scale of 1/3.
fn likelihood(specs: &Specs) -> Result<Value> {
    Ok(match specs.text("rec_dist")?.unwrap_or("bernoulli") {
        "bernoulli" => json!("bernoulli"),
        "gaussian" => json!({ "name": "gaussian", "scale": (1.0_f64 / 510.0).sqrt() }),
        "laplace" => json!({ "name": "laplace", "scale": 1.0 / 3.0 }),
        _ => return Err(specs.refuse("rec_dist", "bernoulli, gaussian or laplace")),
    })
}

/// The program's objectives. All weights but those of the first two parts of `btcvae` rise from zero until
/// `reg_anneal`.
fn objective(specs: &Specs) -> Result<Value> {
    let end = specs.whole("reg_anneal")?.unwrap_or(0);
    let number = |key: &str, usual: f64| Ok::<f64, crate::Error>(specs.number(key)?.unwrap_or(usual));
    let rising = |to: f64| ramp(0.0, to, end);
    Ok(match specs.text("loss")?.unwrap_or_default() {
        "VAE" => json!({ "name": "beta-vae", "beta": rising(1.0) }),
        "betaH" => json!({ "name": "beta-vae", "beta": rising(number("betaH_B", 4.0)?) }),
        "betaB" => json!({
            "name": "annealed-vae",
            "gamma": number("betaB_G", 1000.0)?,
            "capacity": ramp(number("betaB_initC", 0.0)?, number("betaB_finC", 25.0)?, end),
        }),
        "factor" => json!({
            "name": "factor-vae",
            "gamma": rising(number("factor_G", 6.0)?),
            "discriminator_batch": "second",
            "discriminator": { "layers": 5, "learning_rate": number("lr_disc", 5e-5)? },
        }),
        "btcvae" => json!({
            "name": "beta-tcvae",
            "alpha": number("btcvae_A", 1.0)?,
            "beta": number("btcvae_B", 6.0)?,
            "gamma": rising(number("btcvae_G", 1.0)?),
            "estimator": "mss-columns",
        }),
        _ => return Err(specs.refuse("loss", "VAE, betaH, betaB, factor or btcvae")),
    })
}
