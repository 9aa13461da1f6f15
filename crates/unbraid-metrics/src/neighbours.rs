//! Mutual information from the distances of nearest neighbours, in nats.
//!
//! For each point, the estimators find the distance to its k-th neighbour (within its class, or in the plane of both
//! variables) and count the points within that distance in a single variable. psi is the digamma function, which at whole
//! numbers is a harmonic number minus Euler's constant: psi(n) = -gamma + 1 + 1/2 + ... + 1/(n - 1).
//!
//! The formulas are for values that never repeat. Where codes have ties, as quantised ones do, several points may be as far
//! away as the k-th neighbour, at a distance of 0 even; then k_i, the number of points closer than that neighbour, is counted
//! in place of k, as for the single variables (Gao et al. 2017, Estimating mutual information for discrete-continuous
//! mixtures). Without ties it is k.

use crate::classes::Classes;
use crate::numeric::is_constant;

/// The mutual information of a continuous variable and classes:
/// ```text
/// I = psi(N) + mean psi(k_i) - mean psi(N_i) - mean psi(m_i)
/// ```
/// with N the number of points, N_i the size of the class of point i, and k_i and m_i the numbers of points of this and of any
/// class, including point i, that are closer than its neighbour of rank min(k, N_i - 1) in the class. Classes with a single
/// point are left out. A negative estimate becomes 0.
///
/// Reference: Ross 2014, Mutual information between discrete and continuous data sets; points are counted as in scikit-learn's
/// `mutual_info_classif`, which adds noise where this counts ties.
pub(crate) fn of_classes(values: &[f64], classes: &Classes, neighbours: usize) -> f64 {
    let rows: Vec<Vec<usize>> = classes.rows().into_iter().filter(|rows| rows.len() > 1).collect();
    let mut all: Vec<f64> = rows.iter().flatten().map(|&row| values[row]).collect();
    all.sort_unstable_by(f64::total_cmp);
    let psi = Digamma::up_to(all.len());
    let mut sum = 0.0;
    for rows in &rows {
        let mut class: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
        class.sort_unstable_by(f64::total_cmp);
        let k = neighbours.min(class.len() - 1);
        for place in 0..class.len() {
            let (value, radius) = (class[place], distance_to_neighbour(&class, place, k));
            let (in_class, in_all) = (closer(&class, value, radius), closer(&all, value, radius));
            sum += psi.at(in_class) - psi.at(class.len()) - psi.at(in_all);
        }
    }
    if all.is_empty() { 0.0 } else { (psi.at(all.len()) + sum / all.len() as f64).max(0.0) }
}

/// The mutual information of two continuous variables, each divided by its standard deviation:
/// ```text
/// I = psi(N) + mean psi(k_i) - mean psi(n_i) - mean psi(m_i)
/// ```
/// with k_i, n_i and m_i the numbers of points, including point i, whose distance in the maximum norm, in the first variable
/// alone, and in the second, is smaller than that of the k-th neighbour in the maximum norm. A negative estimate becomes 0, and
/// a constant shares no information.
///
/// Reference: Kraskov, Stögbauer and Grassberger 2004, Estimating mutual information, eq. 8.
pub(crate) fn of_numbers(first: &[f64], second: &[f64], neighbours: usize) -> f64 {
    let count = first.len();
    if count < 2 || is_constant(first.iter().copied()) || is_constant(second.iter().copied()) {
        return 0.0;
    }
    let k = neighbours.min(count - 1);
    let sorted = |values: Vec<f64>| {
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let distinct = sorted.chunk_by(|left, right| left == right).count();
        (values, sorted, distinct)
    };
    let (mut first, mut second) = (sorted(scaled(first)), sorted(scaled(second)));
    // The search for neighbours goes along the first coordinate, past all that tie there.
    if first.2 < second.2 {
        std::mem::swap(&mut first, &mut second);
    }
    let ((first, firsts, _), (second, seconds, _)) = (first, second);
    let mut points: Vec<[f64; 2]> = first.into_iter().zip(second).map(|(x, y)| [x, y]).collect();
    points.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let psi = Digamma::up_to(count);
    let mut nearest = Vec::with_capacity(k + 1);
    let sum: f64 = (0..count)
        .map(|place| {
            let (radius, within) = neighbours_in_plane(&points, place, k, &mut nearest);
            let [x, y] = points[place];
            psi.at(within) - psi.at(closer(&firsts, x, radius)) - psi.at(closer(&seconds, y, radius))
        })
        .sum();
    (psi.at(count) + sum / count as f64).max(0.0)
}

/// Centred, and divided by the standard deviation unless that is 0.
fn scaled(values: &[f64]) -> Vec<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let deviation = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
    let scale = if deviation > 0.0 { deviation } else { 1.0 };
    values.iter().map(|value| (value - mean) / scale).collect()
}

/// The distance from an entry of a sorted list to its k-th neighbour.
fn distance_to_neighbour(sorted: &[f64], place: usize, k: usize) -> f64 {
    let (mut low, mut high, mut distance) = (place, place, 0.0);
    for _ in 0..k {
        let below = if low > 0 { sorted[place] - sorted[low - 1] } else { f64::INFINITY };
        let above = if high + 1 < sorted.len() { sorted[high + 1] - sorted[place] } else { f64::INFINITY };
        if below <= above {
            (low, distance) = (low - 1, below);
        } else {
            (high, distance) = (high + 1, above);
        }
    }
    distance
}

/// The distance from a point to its k-th neighbour in the maximum norm, and how many points, itself included, are closer, or
/// equal to it if that distance is 0; for points in lexicographic order.
fn neighbours_in_plane(points: &[[f64; 2]], place: usize, k: usize, nearest: &mut Vec<f64>) -> (f64, usize) {
    let radius = distance_in_plane(points, place, k, nearest);
    let within = if radius > 0.0 {
        1 + nearest.partition_point(|distance| *distance < radius)
    } else {
        // More than k may be equal.
        let point = points[place];
        points.partition_point(|other| *other <= point) - points.partition_point(|other| *other < point)
    };
    (radius, within)
}

/// The distance from a point to its k-th neighbour in the maximum norm, for points sorted by the first coordinate. The search
/// stops at points that are too far away in that coordinate alone.
fn distance_in_plane(points: &[[f64; 2]], place: usize, k: usize, nearest: &mut Vec<f64>) -> f64 {
    nearest.clear();
    let [x, y] = points[place];
    let (mut low, mut high) = (place, place + 1);
    loop {
        let below = if low > 0 { x - points[low - 1][0] } else { f64::INFINITY };
        let above = if high < points.len() { points[high][0] - x } else { f64::INFINITY };
        let reached = below.min(above);
        if reached == f64::INFINITY || (nearest.len() == k && reached >= nearest[k - 1]) {
            return nearest.last().copied().unwrap_or(0.0);
        }
        let other = if below <= above {
            low -= 1;
            low
        } else {
            high += 1;
            high - 1
        };
        let distance = reached.max((points[other][1] - y).abs());
        let position = nearest.partition_point(|closer| *closer <= distance);
        if position < k {
            nearest.insert(position, distance);
            nearest.truncate(k);
        }
    }
}

/// The number of entries of a sorted list whose distance to a value is below a radius; if the radius is 0, of those equal to it.
fn closer(sorted: &[f64], value: f64, radius: f64) -> usize {
    let (low, high) = if radius > 0.0 {
        (
            sorted.partition_point(|other| value - *other >= radius),
            sorted.partition_point(|other| *other - value < radius),
        )
    } else {
        (sorted.partition_point(|other| *other < value), sorted.partition_point(|other| *other <= value))
    };
    high - low
}

/// psi at whole numbers.
struct Digamma(Vec<f64>);

impl Digamma {
    fn up_to(largest: usize) -> Self {
        const EULER: f64 = 0.577_215_664_901_532_9;
        let mut values = vec![f64::NEG_INFINITY, -EULER];
        for n in 1..largest.max(1) {
            values.push(values[n] + 1.0 / n as f64);
        }
        Self(values)
    }

    fn at(&self, n: usize) -> f64 {
        self.0[n]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::generator;
    use ndarray::Array1;
    use rand_distr::{Distribution, StandardNormal};

    /// psi(1) = -gamma, psi(2) = 1 - gamma, psi(4) = 11/6 - gamma.
    #[test]
    fn digamma_is_a_harmonic_number() {
        let psi = Digamma::up_to(4);
        assert!((psi.at(4) - psi.at(1) - 11.0 / 6.0).abs() < 1e-15);
        assert!((psi.at(2) - psi.at(1) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn neighbours_by_hand() {
        let sorted = [0.0, 1.0, 3.0, 7.0];
        assert_eq!([1, 2, 3].map(|k| distance_to_neighbour(&sorted, 1, k)), [1.0, 2.0, 6.0]);
        assert_eq!(
            (closer(&sorted, 1.0, 2.0), closer(&sorted, 1.0, 2.1), closer(&sorted, 1.0, 0.0)),
            (2, 3, 1)
        );
        let points = [[0.0, 0.0], [1.0, 5.0], [2.0, 0.5], [4.0, 0.1]];
        assert_eq!([1, 2, 3].map(|k| distance_in_plane(&points, 0, k, &mut Vec::new())), [2.0, 4.0, 5.0]);
    }

    /// Normal variables of correlation r share -1/2 ln(1 - r^2) nats. 4,000 points: an error of about 0.02.
    #[test]
    fn correlated_normals_have_the_information_of_the_closed_form() {
        let mut random = generator(3, "test", 0);
        let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
        for correlation in [0.0_f64, 0.6, 0.9] {
            let pairs: Vec<[f64; 2]> = (0..4000)
                .map(|_| {
                    let (x, noise) = (draw(), draw());
                    [x, 100.0 * (correlation * x + (1.0 - correlation * correlation).sqrt() * noise)]
                })
                .collect();
            let column = |which: usize| pairs.iter().map(|pair| pair[which]).collect::<Vec<_>>();
            let expected = -0.5 * (1.0 - correlation * correlation).ln();
            let found = of_numbers(&column(0), &column(1), 3);
            assert!((found - expected).abs() < 0.06, "{correlation}: {found} {expected}");
        }
    }

    /// Codes of two values that are the classes, and quantised ones of eight: what the codes know is ln 2. In the sums
    /// without ties, psi(N) - psi(N/2) = 1/(N/2) + ... + 1/(N - 1), which exceeds ln 2 by about 1/(2N).
    #[test]
    fn ties_are_counted() {
        let labels = Array1::from_shape_fn(600, |row| (row % 2) as i64);
        let classes = Classes::new(labels.view());
        let exact: f64 = (300..600).map(|n| 1.0 / f64::from(n)).sum();
        for steps in [1, 4] {
            let values: Vec<f64> = (0..600).map(|row| (row % 2 * steps + row / 2 % steps) as f64).collect();
            for k in [3, 10] {
                let found = of_classes(&values, &classes, k);
                assert!((found - exact).abs() < 1e-12, "{steps} values, {k} neighbours: {found} {exact}");
            }
            let numbers: Vec<f64> = labels.iter().map(|&label| label as f64).collect();
            let found = of_numbers(&values, &numbers, 3);
            assert!((found - exact).abs() < 1e-12, "{steps} values, as numbers: {found} {exact}");
        }
        assert_eq!(of_numbers(&[0.1; 600], &labels.mapv(|label| label as f64).to_vec(), 3), 0.0);
    }

    /// Ten values of the first variable, noise as the second: nothing is shared. The search must not pass all ties of each
    /// point, which would be 10^9 steps here.
    #[test]
    fn ties_of_many_points_are_quick() {
        let mut random = generator(5, "test", 0);
        let noise: Vec<f64> = (0..100_000).map(|_| StandardNormal.sample(&mut random)).collect();
        let quantised: Vec<f64> = (0..100_000).map(|row| f64::from(row % 10)).collect();
        assert!(of_numbers(&quantised, &noise, 3) < 0.05);
    }

    /// Two classes that do not overlap: one bit. Two alike: nothing.
    #[test]
    fn classes_apart_and_together() {
        let mut random = generator(4, "test", 0);
        let labels = Array1::from_shape_fn(3000, |row| (row % 2) as i64);
        let classes = Classes::new(labels.view());
        let mut draw = || -> f64 { StandardNormal.sample(&mut random) };
        let mut values = |shift: f64| labels.mapv(|label| shift * label as f64 + draw()).to_vec();
        assert!((of_classes(&values(50.0), &classes, 3) - 2_f64.ln()).abs() < 1e-3);
        assert!(of_classes(&values(0.0), &classes, 3) < 0.03);
    }
}
