//! Opens a trained run, prints the code of an image, changes one latent unit of it, and writes the result.
//!
//! `cargo run --release -p unbraid-report --example edit_image -- runs/photos photo.jpg 3 1.5 edited.png`

use std::error::Error;
use std::path::Path;
use unbraid::Run;
use unbraid::files::Existing;
use unbraid::inference::Assignment;
use unbraid_report::{PictureFile, Result};

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, image, unit, value, output] = arguments.as_slice() else {
        return Err("usage: edit_image RUN IMAGE UNIT VALUE OUTPUT.png".into());
    };
    edit(Path::new(run), Path::new(image), (unit.parse()?, value.parse()?), Path::new(output))?;
    Ok(())
}

/// All of it; the tests call it, too.
pub(crate) fn edit(run: &Path, image: &Path, (unit, value): (usize, f32), output: &Path) -> Result {
    let run = Run::open(run)?;
    let image = run.read_image(image)?;
    let posteriors = run.encode(&image)?;
    for (unit, mean) in posteriors.mean.row(0).iter().enumerate() {
        let deviation = (0.5 * posteriors.log_variance[[0, unit]]).exp();
        println!("unit {unit}: {mean:.2} ± {deviation:.2}");
    }
    let edited = run.edit(&image, &[Assignment::Value { unit, value }])?;
    let pixels: Vec<f32> = edited.iter().copied().collect();
    PictureFile::still(output, Existing::Keep)?.save_image(run.image_shape(), &pixels)
}
