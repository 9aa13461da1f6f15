//! Opens a trained run, looks at the code of an image, changes one unit of it, and writes the result.
//!
//! `cargo run --release --example edit_image -- runs/photos photo.jpg 3 1.5 edited.png`

use std::path::Path;
use unbraid::Run;
use unbraid::apply::assignment::Assignment;
use unbraid::apply::strip::PictureFile;
use unbraid::failure::{Failure, Outcome};
use unbraid::files::Existing;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, image, unit, value, output] = arguments.as_slice() else {
        return Err(Failure::input("usage: edit_image RUN IMAGE UNIT VALUE OUTPUT.png"));
    };
    let unit = unit.parse().map_err(Failure::input)?;
    let value = value.parse().map_err(Failure::input)?;
    edit(Path::new(run), Path::new(image), (unit, value), Path::new(output))
}

/// All of it; the tests call it, too.
pub fn edit(run: &Path, image: &Path, (unit, value): (usize, f32), output: &Path) -> Outcome {
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
