//! The commands of `docs/guide.md` as they stand there, one after the other, on small photographs of mixed sizes.
#![cfg(unix)]
use image::{Rgb, RgbImage};
use std::fs;
use std::path::Path;
use std::process::Command;

const GUIDE: &str = include_str!("../../../../docs/guide.md");

/// What the guide does at leisure and a test cannot wait for. Everything else is run to the letter.
const SMALLER: [(&str, &str); 4] = [
    ("--columns 'x*'", "--columns 'x*' --steps 500 --no-evaluation"),
    ("steps = 30000", "steps = 12"),
    (
        "--preset dlib/beta-vae",
        "--preset dlib/beta-vae --no-evaluation --no-report --set training.steps=2 --set data.scales=2 \
         --set data.orientations=2 --set data.positions=4",
    ),
    ("--metrics mig,sap,modularity", "--metrics mig,modularity"),
];

/// The blocks of shell commands, in order.
fn blocks() -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in GUIDE.lines() {
        match (&mut block, line) {
            (None, "```sh") => block = Some(String::new()),
            (Some(_), "```") => blocks.extend(block.take()),
            (Some(text), line) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, _) => {}
        }
    }
    blocks
}

/// A ball of some colour on a lit ground, in pictures of all shapes and two formats.
fn photograph(number: u32, directory: &Path) {
    let (width, height) = (48 + number * 37 % 90, 48 + number * 53 % 70);
    let centre = (number * 29 % width, number * 17 % height);
    let radius = 8 + number % 13;
    let colour = [number * 67 % 256, number * 151 % 256, number * 211 % 256].map(|value| value as u8);
    let picture = RgbImage::from_fn(width, height, |x, y| {
        let inside = x.abs_diff(centre.0).pow(2) + y.abs_diff(centre.1).pow(2) < radius * radius;
        let light = (y * 200 / height + number % 40) as u8;
        Rgb(if inside { colour } else { [light, light / 2 + 60, 255 - light] })
    });
    let ending = if number.is_multiple_of(5) && number > 2 { "png" } else { "jpg" };
    picture.save(directory.join(format!("{number:03}.{ending}"))).unwrap();
}

#[test]
fn every_command_of_the_guide_works() {
    let directory = tempfile::tempdir().unwrap();
    let photos = directory.path().join("photos");
    fs::create_dir(&photos).unwrap();
    (0..36).for_each(|number| photograph(number, &photos));
    let row = |number: u32| {
        format!("{number},{},{},{}\n", number % 7, number * number % 11, ["a", "b"][number as usize % 2])
    };
    let table: String = (0..100).map(row).collect();
    fs::write(directory.path().join("table.csv"), format!("id,x1,x2,kind\n{table}")).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_unbraid")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());

    let blocks = blocks();
    assert!(blocks.len() >= 8, "found {} blocks", blocks.len());
    let all = blocks.concat();
    for (large, _) in SMALLER {
        assert!(all.contains(large), "the guide no longer says `{large}`");
    }
    for block in &blocks {
        let block = SMALLER.iter().fold(block.clone(), |block, (large, small)| block.replace(large, small));
        let output = Command::new("sh")
            .args(["-eu", "-c", &block])
            .current_dir(directory.path())
            .env("PATH", &path)
            .env("XDG_CACHE_HOME", directory.path().join("cache"))
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{block}\n{message}");
        assert!(!message.contains("error") && !message.contains("panicked"), "{block}\n{message}");
    }
    // Whatever was to be written is there.
    for (_, rest) in all.match_indices("-o ").map(|(place, word)| all.split_at(place + word.len())) {
        let output = rest.split_whitespace().next().unwrap();
        assert!(directory.path().join(output).exists(), "{output}");
    }
    assert!(directory.path().join("runs/photos/report.html").is_file());
}
