//! The networks, on one and two threads, beside PyTorch on request.

use super::steps::{Steps, configuration, random_images};
use super::{Arguments, torch};
use unbraid::data::ImageShape;
use unbraid_kernels::{InstructionSet, measured_peak_gflops};

/// A network and the images it sees; those with `torch` are the network of torch_train.py as well.
struct Case {
    name: &'static str,
    architecture: &'static str,
    shape: ImageShape,
    torch: bool,
}

const CASES: [Case; 3] = [
    Case {
        name: "conv, 64 x 64 x 1",
        architecture: "model.architecture=conv",
        shape: ImageShape::new(64, 64, 1),
        torch: true,
    },
    Case {
        name: "conv, 64 x 64 x 3",
        architecture: "model.architecture=conv",
        shape: ImageShape::new(64, 64, 3),
        torch: true,
    },
    Case {
        name: "dupont-32, 32 x 32 x 1",
        architecture: "model.architecture=dupont-32",
        shape: ImageShape::new(32, 32, 1),
        torch: false,
    },
];

const THREADS: [usize; 2] = [1, 2];

pub(crate) fn bench(arguments: &Arguments) -> Result<(), String> {
    let peaks = THREADS.map(measured_peak_gflops);
    println!(
        "{}; peak {:.0} GFLOP/s on 1 thread, {:.0} on 2; batch 64, beta-VAE, best of {} rounds\n",
        InstructionSet::current(),
        peaks[0],
        peaks[1],
        arguments.rounds
    );
    println!("{:<24}{:>20}{:>20}", "", "1 thread", "2 threads");
    for case in &CASES {
        let config = configuration(&[case.architecture, "objective={ name = \"beta-vae\", beta = 4 }"])?;
        let images = random_images(case.shape);
        let mut ours = [Steps::new(&config, &images, 1)?, Steps::new(&config, &images, 2)?];
        let mut theirs: Option<([f64; 2], String)> = None;
        for _ in 0..arguments.rounds {
            ours.iter_mut().try_for_each(Steps::round)?;
            if let (Some(python), true) = (&arguments.torch, case.torch) {
                let (round, version) = torch::round(python, &arguments.script, 2, case.shape.channels)?;
                let best = theirs.map_or(round, |(best, _)| [best[0].min(round[0]), best[1].min(round[1])]);
                theirs = Some((best, version));
            }
        }
        let cell = |place: usize| {
            let steps = &ours[place];
            format!("{:.1} ms ({:.0} %)", steps.milliseconds(), 100.0 * steps.share_of(peaks[place]))
        };
        println!("{:<24}{:>20}{:>20}", case.name, cell(0), cell(1));
        if let Some((best, version)) = theirs {
            for (mode, milliseconds) in torch::MODES.iter().zip(best) {
                let ratio = milliseconds / ours[1].milliseconds();
                println!(
                    "  PyTorch {version:<8} {mode:<16}{:>27}   {ratio:.2}x",
                    format!("{milliseconds:.1} ms")
                );
            }
        }
    }
    Ok(())
}
