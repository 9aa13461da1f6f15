//! The published set-ups, by name.
//!
//! A new preset is one file under `presets/` and one line in [`PRESETS`].
use super::suggestion::nearest;
use crate::error::{Error, Result};

/// A configuration that was published or that we recommend.
#[derive(Debug)]
pub struct Preset {
    /// Its name: the study, then the data set if it is not dSprites, then the method.
    pub name: &'static str,
    /// The paper or program it comes from.
    pub paper: &'static str,
    /// The place in the paper, and what it is.
    pub place: &'static str,
    /// The configuration, with comments on what the paper leaves open.
    pub toml: &'static str,
}

impl Preset {
    /// The preset of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The preset of this name.
    ///
    /// # Errors
    /// [`Error::UnknownPreset`] with the nearest name.
    pub fn find(name: &str) -> Result<&'static Self> {
        Self::named(name).ok_or_else(|| Error::UnknownPreset {
            name: name.to_owned(),
            suggestion: nearest(name, PRESETS.iter().map(|preset| preset.name))
                .map(|near| format!("did you mean `{near}`?")),
        })
    }
}

const UNBRAID: &str = "unbraid";
const BURGESS: &str = "disentangling-vae";
const CHEN: &str = "Chen et al. 2018";
const DLIB: &str = "Hartmann; Locatello et al. 2019";
const DUPONT: &str = "Dupont 2018";
const KINGMA: &str = "Kingma et al. 2016";
const KUMAR: &str = "Kumar et al. 2018";
const MATHIEU: &str = "Mathieu et al. 2019";
const MESCHEDER: &str = "Mescheder et al. 2017";
const MUSHOM: &str = "Mushom 2020";

macro_rules! preset {
    ($name:literal, $file:literal, $paper:ident, $place:literal) => {
        Preset { name: $name, paper: $paper, place: $place, toml: include_str!(concat!("presets/", $file)) }
    };
}

/// All presets: our own first, then by name.
#[rustfmt::skip] // A line for each, to be read as a table.
pub static PRESETS: &[Preset] = &[
    preset!("default", "default.toml", UNBRAID, "what `unbraid train` does, in minutes"),
    preset!("ica", "ica.toml", UNBRAID, "a linear baseline (Hyvarinen 1999)"),
    preset!("images", "images.toml", UNBRAID, "what `unbraid train shapes` does, or with any other name of images"),
    preset!("pca", "pca.toml", UNBRAID, "a linear baseline (Tipping & Bishop 1999)"),
    preset!("photographs", "photographs.toml", UNBRAID, "what `unbraid train photos/` does"),
    preset!("vectors", "vectors.toml", UNBRAID, "what `unbraid train table.csv` does"),
    preset!("burgess/annealed", "burgess-annealed.toml", BURGESS, "betaB_dsprites (Burgess et al. 2018)"),
    preset!("burgess/beta-tcvae", "burgess-beta-tcvae.toml", BURGESS, "btcvae_dsprites"),
    preset!("burgess/beta-vae", "burgess-beta-vae.toml", BURGESS, "betaH_dsprites"),
    preset!("burgess/factor-vae", "burgess-factor-vae.toml", BURGESS, "factor_dsprites"),
    preset!("burgess/vae", "burgess-vae.toml", BURGESS, "VAE_dsprites"),
    preset!("chen/beta-tcvae", "chen-beta-tcvae.toml", CHEN, "dSprites, as in the public code"),
    preset!("dlib/annealed-vae", "dlib-annealed-vae.toml", DLIB, "Table 1, AnnealedVAE"),
    preset!("dlib/beta-tcvae", "dlib-beta-tcvae.toml", DLIB, "Table 1, beta-TCVAE"),
    preset!("dlib/beta-vae", "dlib-beta-vae.toml", DLIB, "Table 1, beta-VAE"),
    preset!("dlib/dip-vae-i", "dlib-dip-vae-i.toml", DLIB, "Table 1, DIP-VAE-I"),
    preset!("dlib/dip-vae-ii", "dlib-dip-vae-ii.toml", DLIB, "Table 1, DIP-VAE-II"),
    preset!("dlib/factor-vae", "dlib-factor-vae.toml", DLIB, "Table 1, FactorVAE"),
    preset!("jointvae/celeba", "jointvae-celeba.toml", DUPONT, "appendix C.4, CelebA"),
    preset!("jointvae/chairs", "jointvae-chairs.toml", DUPONT, "appendix C.3, Chairs"),
    preset!("jointvae/dsprites", "jointvae-dsprites.toml", DUPONT, "the public code on dSprites"),
    preset!("jointvae/fashion-mnist", "jointvae-fashion-mnist.toml", DUPONT, "appendix C.2, FashionMNIST"),
    preset!("jointvae/mnist", "jointvae-mnist.toml", DUPONT, "appendix C.1, MNIST"),
    preset!("kingma/mnist-iaf", "kingma-mnist-iaf.toml", KINGMA, "section 6.1, MNIST, IAF of depth 2"),
    preset!("kumar/beta-vae", "kumar-beta-vae.toml", KUMAR, "section 4, 2D Shapes, beta-VAE"),
    preset!("kumar/celeba-beta-vae", "kumar-celeba-beta-vae.toml", KUMAR, "section 4, CelebA, beta-VAE"),
    preset!("kumar/celeba-dip-vae-i", "kumar-celeba-dip-vae-i.toml", KUMAR, "section 4, CelebA, DIP-VAE-I"),
    preset!("kumar/celeba-dip-vae-ii", "kumar-celeba-dip-vae-ii.toml", KUMAR, "section 4, CelebA, DIP-VAE-II"),
    preset!("kumar/chairs-beta-vae", "kumar-chairs-beta-vae.toml", KUMAR, "appendix A, 3D Chairs, beta-VAE"),
    preset!("kumar/chairs-dip-vae-i", "kumar-chairs-dip-vae-i.toml", KUMAR, "appendix A, 3D Chairs, DIP-VAE-I"),
    preset!("kumar/dip-vae-i", "kumar-dip-vae-i.toml", KUMAR, "section 4, 2D Shapes, DIP-VAE-I"),
    preset!("kumar/dip-vae-ii", "kumar-dip-vae-ii.toml", KUMAR, "section 4, 2D Shapes, DIP-VAE-II"),
    preset!("kumar/vae", "kumar-vae.toml", KUMAR, "section 4, 2D Shapes, beta = 1"),
    preset!("mathieu-code/anisotropic", "mathieu-code-anisotropic.toml", MATHIEU, "public code on 2D Shapes, PCA prior"),
    preset!("mathieu-code/anisotropic-learned", "mathieu-code-anisotropic-learned.toml", MATHIEU, "public code on 2D Shapes, learned prior"),
    preset!("mathieu/anisotropic", "mathieu-anisotropic.toml", MATHIEU, "section 6.1, 2D Shapes, PCA prior"),
    preset!("mathieu/anisotropic-learned", "mathieu-anisotropic-learned.toml", MATHIEU, "section 6.1, 2D Shapes, learned prior"),
    preset!("mathieu/beta-vae", "mathieu-beta-vae.toml", MATHIEU, "section 6.1, 2D Shapes, isotropic prior"),
    preset!("mathieu/celeba-sparse", "mathieu-celeba-sparse.toml", MATHIEU, "section 6.3, CelebA, sparse prior"),
    preset!("mathieu/fashion-mnist-sparse", "mathieu-fashion-mnist-sparse.toml", MATHIEU, "public code on FashionMNIST, sparse prior"),
    preset!("mathieu/pinwheel", "mathieu-pinwheel.toml", MATHIEU, "section 6.2, pinwheel, mixture prior"),
    preset!("mathieu/student-t", "mathieu-student-t.toml", MATHIEU, "section 6.1, 2D Shapes, Student-t prior"),
    preset!("mescheder/mnist-avb", "mescheder-mnist-avb.toml", MESCHEDER, "section 6.2, MNIST, as in the public code"),
    preset!("mescheder/mnist-avb-contrast", "mescheder-mnist-avb-contrast.toml", MESCHEDER, "section 6.2, MNIST, adaptive contrast"),
    preset!("shapes/beta-vae", "shapes-beta-vae.toml", UNBRAID, "a plain beta-VAE with the network `conv`"),
    preset!("thesis-code/beta-tcvae", "thesis-code-beta-tcvae.toml", MUSHOM, "the author's code, beta-TCVAE"),
    preset!("thesis-code/beta-vae", "thesis-code-beta-vae.toml", MUSHOM, "the author's code, beta-VAE"),
    preset!("thesis-code/dip-vae", "thesis-code-dip-vae.toml", MUSHOM, "the author's code, DIP-VAE"),
    preset!("thesis-code/factor-vae", "thesis-code-factor-vae.toml", MUSHOM, "the author's code, FactorVAE"),
    preset!("thesis-code/vae", "thesis-code-vae.toml", MUSHOM, "the author's code, beta = 1"),
    preset!("thesis/beta-tcvae", "thesis-beta-tcvae.toml", MUSHOM, "Tables 5.1, 5.2 and 5.4, beta-TCVAE"),
    preset!("thesis/beta-vae", "thesis-beta-vae.toml", MUSHOM, "Tables 5.1, 5.2, 5.3 and 5.4, beta-VAE"),
    preset!("thesis/dip-vae", "thesis-dip-vae.toml", MUSHOM, "Tables 5.1, 5.2 and 5.4, DIP-VAE"),
    preset!("thesis/factor-vae", "thesis-factor-vae.toml", MUSHOM, "Tables 5.1, 5.2, 5.4 and 5.5, FactorVAE"),
    preset!("thesis/vae", "thesis-vae.toml", MUSHOM, "Tables 5.1 and 5.2, beta = 1"),
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
        let sorted: Vec<_> = PRESETS.iter().skip(6).map(|preset| preset.name).collect();
        assert!(sorted.is_sorted(), "{sorted:?}");
    }

    /// A file that is not listed cannot be requested.
    #[test]
    fn every_file_is_listed() {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/presets");
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), PRESETS.len());
    }
}
