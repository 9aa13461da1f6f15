//! The networks, on one and two threads, beside PyTorch on request.

use super::steps::{Steps, configuration, random_images};
use super::{Arguments, torch};
use unbraid::data::ImageShape;
use unbraid_kernels::{InstructionSet, measured_peak_gflops};

/// A network and the images it sees.
struct Case {
    name: &'static str,
    architecture: &'static str,
    shape: ImageShape,
    /// Its name in tools/bench_pytorch.py.
    torch: &'static str,
}

const fn case(
    name: &'static str,
    architecture: &'static str,
    size: usize,
    channels: usize,
    torch: &'static str,
) -> Case {
    Case { name, architecture, shape: ImageShape::new(size, size, channels), torch }
}

#[rustfmt::skip] // To be read as a table.
const CASES: [Case; 6] = [
    case("conv, 64 x 64 x 1", "conv", 64, 1, "conv"),
    case("conv, 64 x 64 x 3", "conv", 64, 3, "conv"),
    case("dupont-32, 32 x 32 x 1", "dupont-32", 32, 1, "dupont-32"),
    case("burgess, 64 x 64 x 1", "burgess", 64, 1, "burgess"),
    case("dlib, 64 x 64 x 1", "dlib", 64, 1, "dlib"),
    case("narrow, 64 x 64 x 1", "{ name = \"burgess\", channels = 16, hidden = 128 }", 64, 1, "narrow"),
];

const THREADS: [usize; 2] = [1, 2];

pub(crate) fn bench(arguments: &Arguments) -> Result<(), String> {
    let wanted: Vec<&Case> = CASES.iter().filter(|case| case.name.starts_with(&arguments.network)).collect();
    if wanted.is_empty() {
        let names = CASES.map(|case| format!("`{}`", case.name)).join(", ");
        return Err(format!(
            "--network: found `{}`, expected the beginning of one of {names}",
            arguments.network
        ));
    }
    let peaks = THREADS.map(measured_peak_gflops);
    println!(
        "{}; peak {:.0} GFLOP/s on 1 thread, {:.0} on 2; batch 64, beta-VAE, best of {} rounds\n",
        InstructionSet::current(),
        peaks[0],
        peaks[1],
        arguments.rounds
    );
    println!("{:<28}{:>18}{:>18}", "", "1 thread", "2 threads");
    for case in wanted {
        let architecture = format!("model.architecture={}", case.architecture);
        let config = configuration(&[&architecture, "objective={ name = \"beta-vae\", beta = 4 }"])?;
        let images = random_images(case.shape);
        let mut ours = [Steps::new(&config, &images, 1)?, Steps::new(&config, &images, 2)?];
        let mut theirs = torch::Rounds::default();
        for _ in 0..arguments.rounds {
            ours.iter_mut().try_for_each(Steps::round)?;
            if let Some(python) = &arguments.torch {
                let network = (case.torch, case.shape.height, case.shape.channels);
                theirs.add((python, arguments), network)?;
            }
        }
        let cell = |place: usize| {
            let steps = &ours[place];
            format!("{:.1} ms ({:.0} %)", steps.milliseconds(), 100.0 * steps.share_of(peaks[place]))
        };
        println!("{:<28}{:>18}{:>18}", case.name, cell(0), cell(1));
        for (mode, best) in torch::MODES.iter().zip(&theirs.best) {
            let name = format!("  PyTorch {} {mode}", theirs.version);
            match best {
                None => {}
                Some(Err(error)) => println!("{name:<46}{error:>18}"),
                Some(Ok(milliseconds)) => {
                    let ratio = milliseconds / ours[1].milliseconds();
                    println!("{name:<46}{:>18}   {ratio:.2}x", format!("{milliseconds:.1} ms"));
                }
            }
        }
    }
    Ok(())
}
