//! The set-ups of the papers, by name.
//!
//! A new preset is one file under `presets/` and one line in [`PRESETS`].

/// A configuration that was published, or that we recommend.
#[derive(Debug)]
pub struct Preset {
    /// The name to ask for: the study and the method.
    pub name: &'static str,
    /// Paper and section, or what it is for.
    pub origin: &'static str,
    /// The configuration, with comments on what the paper leaves open.
    pub toml: &'static str,
}

impl Preset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }
}

macro_rules! preset {
    ($name:literal, $file:literal, $origin:literal) => {
        Preset { name: $name, origin: $origin, toml: include_str!(concat!("presets/", $file)) }
    };
}

/// All presets; `default` first, then by name.
pub static PRESETS: &[Preset] = &[
    preset!("default", "default.toml", "what `unbraid train` does by itself: minutes on two cores"),
    preset!(
        "burgess/beta-vae",
        "burgess-beta-vae.toml",
        "disentangling-vae, hyper-parameters betaH_dsprites"
    ),
    preset!("burgess/vae", "burgess-vae.toml", "disentangling-vae, hyper-parameters VAE_dsprites"),
    preset!(
        "dlib/beta-vae",
        "dlib-beta-vae.toml",
        "disentanglement_lib (Locatello et al. 2019); Hartmann, Table 1"
    ),
    preset!("kumar/beta-vae", "kumar-beta-vae.toml", "Kumar et al. 2018, section 4 (2D Shapes, beta-VAE)"),
    preset!("kumar/vae", "kumar-vae.toml", "Kumar et al. 2018, section 4 (2D Shapes, beta = 1)"),
    preset!(
        "mathieu/beta-vae",
        "mathieu-beta-vae.toml",
        "Mathieu et al. 2019, appendix B (2D Shapes, isotropic prior)"
    ),
    preset!("pca", "pca.toml", "Tipping & Bishop 1999: a linear baseline, fitted at once"),
    preset!("thesis/beta-vae", "thesis-beta-vae.toml", "Mushom 2020, Tables 5.1, 5.2 and 5.4 (beta-VAE)"),
    preset!("thesis/vae", "thesis-vae.toml", "Mushom 2020, Tables 5.1 and 5.2 (beta = 1)"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;
    use std::collections::BTreeSet;

    #[test]
    fn every_preset_is_a_valid_configuration_with_a_name_of_its_own() {
        let mut names = BTreeSet::new();
        for preset in PRESETS {
            assert!(names.insert(preset.name), "{} twice", preset.name);
            let source = Source { preset: Some(preset.name.to_owned()), ..Source::default() };
            source.resolve().unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        }
    }
}
