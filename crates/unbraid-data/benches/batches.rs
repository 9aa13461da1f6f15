//! Throughput of batches of 64 random images as f32, on one and on two threads, compared with a plain copy of as many
//! bytes. `cargo xtask bench data` runs it.
//!
//! The packed images are those of dSprites if the shared data is present (`UNBRAID_SHARED`), otherwise the
//! same number of rendered images: what matters is that random images are far apart in 377 MB.

#[path = "../tests/data/shared_data.rs"]
mod shared_data;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::LazyLock;
use unbraid_data::progress::Silent;
use unbraid_data::random::Stream;
use unbraid_data::storage::{BitImages, Pixels};
use unbraid_data::{DataSet, DataSpec, Fingerprint, StoredImages, open, sampling};

const BATCH: usize = 64;
const VALUES: usize = 64 * 64;
/// Batches per call in the runs on several threads, as in a loader that works ahead of training.
const BATCHES_AT_ONCE: usize = 16;

fn main() {
    println!("items are images of {} bytes", 4 * VALUES);
    divan::main();
}

static PACKED: LazyLock<Box<dyn DataSet>> = LazyLock::new(|| {
    let file = shared_data::shared_path("data/dsprites/dsprites_reconstructed.npz");
    if file.exists() {
        return open(&DataSpec::named("dsprites").with_path(file), &Silent)
            .expect("the shared file is intact");
    }
    let shapes = shapes();
    let mut bits = BitImages::new(VALUES);
    let mut image = vec![0.0; VALUES];
    for index in 0..shapes.len() {
        shapes
            .write_image(index, Stream::new(0, "").at(0).lane(0), &mut image)
            .expect("rendering never fails");
        let bytes: Vec<u8> = image.iter().map(|&value| value as u8).collect();
        bits.push(&bytes).expect("rendered images are black and white");
    }
    let pixels = Pixels::Bits(bits);
    Box::new(StoredImages::new("packed", shapes.shape(), pixels, None, Fingerprint::Recipe(String::new())))
});

fn shapes() -> Box<dyn DataSet> {
    open(&DataSpec::named("shapes"), &Silent).expect("shapes need no file")
}

fn scenes() -> Box<dyn DataSet> {
    open(&DataSpec::named("scenes"), &Silent).expect("scenes need no file")
}

static SCENES: LazyLock<Box<dyn DataSet>> = LazyLock::new(scenes);

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool")
}

/// Random batches on one thread, or on a pool.
fn measure(bencher: Bencher<'_, '_>, data: &dyn DataSet, threads: usize) {
    let count = if threads == 1 { BATCH } else { BATCH * BATCHES_AT_ONCE };
    let mut indices = vec![0; count];
    let mut pixels = vec![0.0; count * data.shape().values()];
    let stream = Stream::new(0, "benchmark");
    let mut step = 0;
    let pool = pool(threads);
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        step += 1;
        sampling::uniform(data.len(), &mut stream.at(step).generator(), &mut indices);
        let written = if threads == 1 {
            data.write_batch(&indices, stream.at(step), &mut pixels)
        } else {
            pool.install(|| data.write_batch_parallel(&indices, stream.at(step), &mut pixels))
        };
        written.expect("images in memory can be read");
        black_box(&mut pixels);
    });
}

#[divan::bench(args = [1, 2])]
fn packed_dsprites(bencher: Bencher<'_, '_>, threads: usize) {
    measure(bencher, PACKED.as_ref(), threads);
}

#[divan::bench(args = [1, 2])]
fn rendered_shapes(bencher: Bencher<'_, '_>, threads: usize) {
    measure(bencher, shapes().as_ref(), threads);
}

/// Three channels: an item has three times the bytes of the others.
#[divan::bench(args = [1, 2])]
fn rendered_scenes(bencher: Bencher<'_, '_>, threads: usize) {
    measure(bencher, SCENES.as_ref(), threads);
}

/// Ray casting all geometries, which opening the data set does once.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn open_scenes() -> Box<dyn DataSet> {
    scenes()
}

/// The baseline: random images copied from a large array of floats.
#[divan::bench(args = [1, 2])]
fn plain_copy(bencher: Bencher<'_, '_>, threads: usize) {
    use rayon::prelude::*;
    let source_len = 20_000;
    let source = vec![0.5_f32; source_len * VALUES];
    let count = if threads == 1 { BATCH } else { BATCH * BATCHES_AT_ONCE };
    let mut indices = vec![0; count];
    let mut pixels = vec![0.0; count * VALUES];
    let pool = pool(threads);
    let mut step = 0;
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        step += 1;
        sampling::uniform(source_len, &mut Stream::new(0, "copy").at(step).generator(), &mut indices);
        let copy = |(&index, image): (&usize, &mut [f32])| {
            image.copy_from_slice(&source[index * VALUES..][..VALUES]);
        };
        if threads == 1 {
            indices.iter().zip(pixels.chunks_exact_mut(VALUES)).for_each(copy);
        } else {
            pool.install(|| indices.par_iter().zip(pixels.par_chunks_exact_mut(VALUES)).for_each(copy));
        }
        black_box(&mut pixels);
    });
}
