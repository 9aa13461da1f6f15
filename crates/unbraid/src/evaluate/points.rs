//! Which images scores are computed on.

use rand::seq::SliceRandom;
use unbraid_data::DataSet;
use unbraid_data::random::Stream;
use unbraid_data::sampling::uniform;

/// The images of the training and of the test points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    /// Images that most scores are computed on and learners are fitted to.
    pub train: Vec<usize>,
    /// Images that learners are judged on.
    pub test: Vec<usize>,
}

impl Points {
    /// Draws `samples` training points and half as many test points.
    ///
    /// On a full grid of factors they are drawn with replacement, which makes factors independent and uniform, as the
    /// reference definitions have them. From other data distinct images are drawn, so that no learner is judged on what
    /// it was fitted to; where there are not enough, all are used, two thirds of them for training.
    pub fn draw(data: &dyn DataSet, samples: usize, seed: u64) -> Self {
        let tests = samples.div_ceil(2);
        let stream = Stream::new(seed, "evaluation points");
        if data.is_full_grid() {
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

    /// Draws as many from two data sets: training points from one, test points from the other. Distinct images; all of
    /// them where there are no more than asked for.
    pub fn draw_from_two(data: &dyn DataSet, test: &dyn DataSet, samples: usize, seed: u64) -> Self {
        let stream = Stream::new(seed, "evaluation points");
        let draw = |position: u64, from: &dyn DataSet, count: usize| {
            let mut images: Vec<usize> = (0..from.len()).collect();
            let count = count.min(images.len());
            images.partial_shuffle(&mut stream.at(position).generator(), count).0.to_vec()
        };
        Self { train: draw(0, data, samples), test: draw(1, test, samples.div_ceil(2)) }
    }

    /// All images that occur, each once, in order.
    pub fn images(&self) -> Vec<usize> {
        sorted(self.train.iter().chain(&self.test).copied().collect())
    }
}

/// Each once, in order.
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
        let data = open("shapes(scales=2, orientations=2, positions=4)");
        let points = Points::draw(data.as_ref(), 1000, 0);
        assert_eq!((points.train.len(), points.test.len()), (1000, 500));
        assert!(points.images().len() <= 192 && points.images().iter().all(|&image| image < 192));
        assert_eq!(points, Points::draw(data.as_ref(), 1000, 0));
        assert_ne!(points, Points::draw(data.as_ref(), 1000, 1));
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
