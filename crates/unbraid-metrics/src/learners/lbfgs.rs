//! Limited-memory BFGS (Liu and Nocedal 1989) with a line search for the strong Wolfe conditions.
//!
//! It has the stopping criteria of L-BFGS-B as called by scikit-learn: the largest entry of the gradient, the relative
//! decrease of the value, and the number of iterations.

use crate::interruption;

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    /// The maximum number of iterations.
    pub iterations: usize,
    /// Largest magnitude of an entry of the gradient.
    pub gradient: f64,
    /// Decrease of the value relative to its magnitude (at least 1).
    pub decrease: f64,
}

/// The number of pairs of steps and gradient differences that are kept; SciPy's default.
const MEMORY: usize = 10;

/// Minimises a function, starting at `point`. `evaluate` writes the gradient at a point and returns the value there.
pub(super) fn minimise(
    mut point: Vec<f64>,
    stop: Stop,
    mut evaluate: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Vec<f64> {
    let size = point.len();
    let mut gradient = vec![0.0; size];
    let mut value = evaluate(&point, &mut gradient);
    let mut history: Vec<Pair> = Vec::with_capacity(MEMORY);
    for _ in 0..stop.iterations {
        if largest(&gradient) <= stop.gradient {
            break;
        }
        let mut direction = descent(&history, &gradient);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 || !slope.is_finite() {
            // Not a direction of descent: start over with steepest descent.
            history.clear();
            direction = gradient.iter().map(|entry| -entry).collect();
            slope = dot(&direction, &gradient);
        }
        let first = if history.is_empty() { (1.0 / dot(&gradient, &gradient).sqrt()).min(1.0) } else { 1.0 };
        let Some(found) = search(&point, &direction, value, slope, first, &mut evaluate) else { break };
        let step: Vec<f64> = direction.iter().map(|entry| entry * found.length).collect();
        let change: Vec<f64> = found.gradient.iter().zip(&gradient).map(|(new, old)| new - old).collect();
        for (entry, step) in point.iter_mut().zip(&step) {
            *entry += step;
        }
        let decrease = (value - found.value) / value.abs().max(found.value.abs()).max(1.0);
        (value, gradient) = (found.value, found.gradient);
        let curvature = dot(&step, &change);
        if curvature > f64::EPSILON * dot(&change, &change) {
            if history.len() == MEMORY {
                history.remove(0);
            }
            history.push(Pair { step, change, curvature });
        }
        if decrease <= stop.decrease {
            break;
        }
    }
    point
}

struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    curvature: f64,
}

/// The two-loop recursion: minus the approximate inverse Hessian times the gradient.
fn descent(history: &[Pair], gradient: &[f64]) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|entry| -entry).collect();
    let mut weights = Vec::with_capacity(history.len());
    for pair in history.iter().rev() {
        let weight = dot(&pair.step, &direction) / pair.curvature;
        add(&mut direction, &pair.change, -weight);
        weights.push(weight);
    }
    if let Some(last) = history.last() {
        let scale = last.curvature / dot(&last.change, &last.change);
        direction.iter_mut().for_each(|entry| *entry *= scale);
    }
    for (pair, weight) in history.iter().zip(weights.iter().rev()) {
        let correction = weight - dot(&pair.change, &direction) / pair.curvature;
        add(&mut direction, &pair.step, correction);
    }
    direction
}

/// A point along the direction.
struct Trial {
    length: f64,
    value: f64,
    slope: f64,
    gradient: Vec<f64>,
}

/// Finds a step length by bracketing and interpolation (Nocedal and Wright 2006, Numerical optimization, algorithms 3.5 and
/// 3.6). `None` if the function does not decrease along the direction to working precision.
fn search(
    point: &[f64],
    direction: &[f64],
    value: f64,
    slope: f64,
    first: f64,
    evaluate: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
) -> Option<Trial> {
    // The constants of the line search of L-BFGS-B.
    const SUFFICIENT: f64 = 1e-3;
    const CURVATURE: f64 = 0.9;
    const EVALUATIONS: usize = 50;
    let mut attempt = |length: f64| {
        interruption::check();
        let moved: Vec<f64> = point.iter().zip(direction).map(|(x, d)| x + length * d).collect();
        let mut gradient = vec![0.0; point.len()];
        let value = evaluate(&moved, &mut gradient);
        Trial { length, value, slope: dot(&gradient, direction), gradient }
    };
    let enough = |trial: &Trial| trial.value <= value + SUFFICIENT * trial.length * slope;
    let flat = |trial: &Trial| trial.slope.abs() <= -CURVATURE * slope;
    let mut low = Trial { length: 0.0, value, slope, gradient: Vec::new() };
    let mut length = first;
    let mut high = None;
    for _ in 0..EVALUATIONS {
        let trial = attempt(length);
        if !trial.value.is_finite() || !enough(&trial) || trial.value >= low.value {
            high = Some(trial);
        } else if flat(&trial) {
            return Some(trial);
        } else if trial.slope >= 0.0
            || high.as_ref().is_some_and(|high| trial.slope * (high.length - low.length) >= 0.0)
        {
            high = Some(std::mem::replace(&mut low, trial));
        } else {
            low = trial;
        }
        length = match &high {
            None => length * 4.0,
            Some(high) => between(&low, high),
        };
        if (length - low.length).abs() * largest(direction) < 1e-16 {
            break;
        }
    }
    // No point satisfied both conditions; one with a lower value will do.
    (low.length > 0.0 && low.value < value).then_some(low)
}

/// The minimum of the parabola through both points with the slope at the lower one, kept away from both ends.
fn between(low: &Trial, high: &Trial) -> f64 {
    let width = high.length - low.length;
    let curvature = (high.value - low.value - low.slope * width) / (width * width);
    let share = if curvature > 0.0 { -low.slope / (2.0 * curvature) / width } else { 0.5 };
    low.length + width * if share.is_finite() { share.clamp(0.1, 0.9) } else { 0.1 }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(target: &mut [f64], other: &[f64], weight: f64) {
    for (target, other) in target.iter_mut().zip(other) {
        *target += weight * other;
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley has its minimum at (1, 1).
    #[test]
    fn finds_the_end_of_the_valley() {
        let stop = Stop { iterations: 200, gradient: 1e-8, decrease: 0.0 };
        let found = minimise(vec![-1.2, 1.0], stop, |x, gradient| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            gradient[0] = -2.0 * a - 400.0 * x[0] * b;
            gradient[1] = 200.0 * b;
            a * a + 100.0 * b * b
        });
        assert!((found[0] - 1.0).abs() < 1e-6 && (found[1] - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn starting_at_the_minimum_stays_there() {
        let stop = Stop { iterations: 10, gradient: 1e-8, decrease: 0.0 };
        let found = minimise(vec![0.0], stop, |x, gradient| {
            gradient[0] = 2.0 * x[0];
            x[0] * x[0]
        });
        assert_eq!(found, [0.0]);
    }
}
