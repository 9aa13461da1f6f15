//! What is known of a published model before its weights are read: a configuration, the size of its images,
//! and which of its tensors are ours.

use super::mapping::Mapping;
use serde_json::Value;
use unbraid_data::{DataSpec, ImageShape};

/// How a model becomes a run.
#[derive(Debug)]
pub(super) struct Recipe {
    /// The program that trained it.
    pub(super) program: &'static str,
    /// The configuration without `[data]`.
    pub(super) config: Value,
    /// Its data; `None` if the caller has to say.
    pub(super) data: Option<DataSpec>,
    /// The size of its images, if it is known without the data.
    pub(super) image_shape: Option<ImageShape>,
    /// The names of its tensors.
    pub(super) mapping: Mapping,
    /// Tensors of the file that are left out.
    pub(super) ignored: Vec<String>,
}

/// The data set that a published model was trained on, by the name that its program has for it; `None` if
/// there is none. dSprites needs no file: `shapes` renders the same images.
pub(super) fn published_data(name: &str, shape: ImageShape) -> Option<DataSpec> {
    let folder =
        |name: &str| DataSpec::named(name).with("size", shape.height).with("channels", shape.channels);
    Some(match name {
        "dsprites" => DataSpec::named("shapes"),
        "mnist" => DataSpec::named("mnist"),
        "fashion" | "fashion_mnist" | "fashion-mnist" => DataSpec::named("fashion-mnist"),
        "celeba" => folder("celeba"),
        "chairs" => folder("chairs"),
        _ => return None,
    })
}

/// The data set at a path that the caller gave, as the kind that the model was trained on.
pub(super) fn data_at(known: Option<&DataSpec>, given: DataSpec) -> DataSpec {
    match (known, &given) {
        (Some(known), DataSpec { name: None, path: Some(_), options }) if options.is_empty() => {
            // The published file in place of the built-in images.
            let is_made = known.name.as_deref() == Some("shapes");
            let name = if is_made { Some("dsprites".to_owned()) } else { known.name.clone() };
            DataSpec { name, options: known.options.clone(), ..given }
        }
        _ => given,
    }
}
