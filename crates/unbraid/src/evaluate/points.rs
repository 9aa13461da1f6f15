//! Which images scores are computed on.

use rand::seq::SliceRandom;
use unbraid_data::DataSet;
use unbraid_data::random::Stream;
use unbraid_data::sampling::uniform;

/// The images used as training and test points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    /// Images that most scores are computed on and learners are fitted to.
    pub train: Vec<usize>,
    /// Images that learners are tested on.
    pub test: Vec<usize>,
}

impl Points {
    /// Draws `samples` training points and half as many test points.
    ///
    /// On a full grid of factors they are drawn with replacement, so that factors are independent and uniform, as in
    /// the reference definitions. From other data distinct images are drawn, so that no learner is tested on what it
    /// was fitted to; if there are not enough, all are used, two thirds of them for training. The same holds for a grid
    /// with fewer than twenty images for each training point: drawn with replacement, more than a twentieth of its test
    /// points would be training points.
    pub fn draw(data: &dyn DataSet, samples: usize, seed: u64) -> Self {
        let tests = samples.div_ceil(2);
        let stream = Stream::new(seed, "evaluation points");
        if data.is_full_grid() && data.len() / 20 >= samples {
            let draw = |position: u64, count: usize| {
                let mut images = vec![0; count];
                uniform(data.len(), &mut stream.at(position).generator(), &mut images);
                images
            };
            return Self { train: draw(0, samples), test: draw(1, tests) };
        }
        let (samples, tests) = if samples.saturating_add(tests) <= data.len() {
            (samples, tests)
        } else {
            let samples = (2 * data.len()).div_ceil(3);
            (samples, data.len() - samples)
        };
        let mut images: Vec<usize> = (0..data.len()).collect();
        let (chosen, _) = images.partial_shuffle(&mut stream.at(0).generator(), samples + tests);
        let test = chosen[samples..].to_vec();
        Self { train: chosen[..samples].to_vec(), test }
    }

    /// Draws training points from one data set and test points from another: distinct images, or all of them if there
    /// are no more than requested.
    pub(crate) fn draw_from_two(data: &dyn DataSet, test: &dyn DataSet, samples: usize, seed: u64) -> Self {
        let stream = Stream::new(seed, "evaluation points");
        let draw = |position: u64, from: &dyn DataSet, count: usize| {
            let mut images: Vec<usize> = (0..from.len()).collect();
            let count = count.min(images.len());
            images.partial_shuffle(&mut stream.at(position).generator(), count).0.to_vec()
        };
        Self { train: draw(0, data, samples), test: draw(1, test, samples.div_ceil(2)) }
    }

    /// How many distinct images there are among the training points and among the test points.
    pub fn distinct(&self) -> (usize, usize) {
        (sorted(self.train.clone()).len(), sorted(self.test.clone()).len())
    }

    /// All images that occur, without repetition, in ascending order.
    pub fn images(&self) -> Vec<usize> {
        sorted(self.train.iter().chain(&self.test).copied().collect())
    }
}

/// Sorts and removes repetitions.
pub(super) fn sorted(mut images: Vec<usize>) -> Vec<usize> {
    images.sort_unstable();
    images.dedup();
    images
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid_data::progress::Silent;

    fn open(spec: &str) -> Box<dyn DataSet> {
        unbraid_data::open(&spec.parse().unwrap(), &Silent).unwrap()
    }

    #[test]
    fn a_grid_is_drawn_from_with_replacement() {
        let data = open("shapes");
        let points = Points::draw(data.as_ref(), 1000, 0);
        assert_eq!((points.train.len(), points.test.len()), (1000, 500));
        assert!(points.images().iter().all(|&image| image < data.len()));
        assert_eq!(points, Points::draw(data.as_ref(), 1000, 0));
        assert_ne!(points, Points::draw(data.as_ref(), 1000, 1));
    }

    /// 192 images: two thirds are 128. With replacement nearly every test point would be a training point.
    #[test]
    fn a_small_grid_is_split_into_distinct_images() {
        let data = open("shapes(scales=2, orientations=2, positions=4)");
        let points = Points::draw(data.as_ref(), 10_000, 0);
        assert_eq!((points.train.len(), points.test.len()), (128, 64));
        assert_eq!((points.distinct(), points.images().len()), ((128, 64), 192));
        let few = Points::draw(data.as_ref(), 10, 0);
        assert_eq!((few.distinct(), few.images().len()), ((10, 5), 15));
    }

    #[test]
    fn other_data_gives_distinct_images() {
        // 154 of the 192 images.
        let data = open("shapes(scales=2, orientations=2, positions=4, split=train)");
        assert_eq!(data.len(), 154);
        for (samples, train, test) in [(60, 60, 30), (102, 102, 51), (103, 103, 51), (10_000, 103, 51)] {
            let points = Points::draw(data.as_ref(), samples, 3);
            assert_eq!((points.train.len(), points.test.len()), (train, test), "{samples}");
            assert_eq!(points.images().len(), train + test);
        }
    }
}
