//! A regression tree, grown on gradients.

use super::columns::Columns;
use super::split::{BlockState, Cell, FixedPoint, NodeSums, Search, accumulate, subtract};

/// A node as prediction reads it. The children of a split are adjacent; a leaf is its own left child and sends every row
/// there, so that all rows take the same number of steps.
#[derive(Clone, Copy, Debug)]
struct Node {
    threshold: f64,
    feature: u32,
    left: u32,
}

/// A regression tree.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    values: Vec<f64>,
    depth: usize,
}

impl Tree {
    /// The value of the leaf that a row falls into.
    #[inline]
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        let mut place = 0;
        for _ in 0..self.depth {
            let node = self.nodes[place];
            place = node.left as usize + usize::from(row[node.feature as usize] > node.threshold);
        }
        self.values[place]
    }
}

/// The buffers for growing a tree, reused from one tree to the next.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    gradients: FixedPoint,
    /// The rows, with those of a node adjacent.
    rows: Vec<u32>,
    moved: Vec<u32>,
    /// The node of each row in the tree under construction; in the end, its leaf.
    pub node_of_row: Vec<u16>,
    states: Vec<BlockState>,
    spare_cells: Vec<Vec<Cell>>,
}

/// A node that may still be split.
struct Pending {
    sums: NodeSums,
    start: usize,
    depth: usize,
    cells: Vec<Cell>,
}

/// Grows a tree on `gradients` and adds the improvement of each feature to `importances`.
///
/// `leaf_value` computes the value of a leaf from the sum of its gradients and the sum of their `curvature`.
#[expect(
    clippy::too_many_arguments,
    reason = "what is grown on, how, and where to: no two of them belong together"
)]
pub(super) fn grow(
    columns: &Columns,
    gradients: &[f64],
    max_depth: usize,
    tie_seed: u64,
    workspace: &mut Workspace,
    importances: &mut [f64],
    curvature: impl Fn(f64) -> f64,
    leaf_value: impl Fn(f64, f64) -> f64,
) -> Tree {
    let mut growth = Growth::start(columns, gradients, workspace);
    let mut level = vec![growth.root()];
    let mut depth = 0;
    while let Some(node) = level.pop() {
        depth = depth.max(growth.split(node, max_depth, tie_seed, importances, &mut level));
    }
    growth.finish(gradients, depth, curvature, leaf_value)
}

struct Growth<'a> {
    columns: &'a Columns,
    workspace: &'a mut Workspace,
    float_gradients: &'a [f64],
    nodes: Vec<Node>,
    gradient_sums: Vec<i64>,
}

impl<'a> Growth<'a> {
    fn start(columns: &'a Columns, gradients: &'a [f64], workspace: &'a mut Workspace) -> Self {
        workspace.gradients.set(gradients);
        workspace.rows.clear();
        workspace.rows.extend(0..columns.rows as u32);
        workspace.node_of_row.clear();
        workspace.node_of_row.resize(columns.rows, 0);
        workspace.states.resize(columns.features() * columns.stride, BlockState::default());
        Self { columns, workspace, float_gradients: gradients, nodes: Vec::new(), gradient_sums: Vec::new() }
    }

    fn root(&mut self) -> Pending {
        let gradient = self.workspace.gradients.values.iter().sum();
        let mut cells = self.room();
        accumulate(&mut cells, &self.workspace.rows, &self.workspace.gradients.values, self.columns);
        self.push_leaf(gradient);
        let sums = NodeSums { id: 0, gradient, count: self.columns.rows as i64 };
        Pending { sums, start: 0, depth: 0, cells }
    }

    fn room(&mut self) -> Vec<Cell> {
        let size = self.columns.features() * self.columns.stride;
        self.workspace.spare_cells.pop().unwrap_or_else(|| vec![Cell::default(); size])
    }

    fn push_leaf(&mut self, gradient: i64) -> u16 {
        let id = self.nodes.len();
        self.nodes.push(Node { threshold: f64::INFINITY, feature: 0, left: id as u32 });
        self.gradient_sums.push(gradient);
        id as u16
    }

    /// Splits a node if possible, adds its children to `level`, and returns their depth.
    fn split(
        &mut self,
        node: Pending,
        max_depth: usize,
        tie_seed: u64,
        importances: &mut [f64],
        level: &mut Vec<Pending>,
    ) -> usize {
        let Pending { sums, start, depth, mut cells } = node;
        let end = start + sums.count as usize;
        let workspace = &mut *self.workspace;
        let found = if sums.count < 2 || depth == max_depth {
            None
        } else {
            Search::new(self.columns, &workspace.gradients.values, &workspace.node_of_row, sums, tie_seed)
                .run(&cells, &mut workspace.states)
        };
        let scale = self.workspace.gradients.scale;
        let found = found.filter(|split| {
            let decrease = split.improvement / sums.count as f64 / scale / scale;
            // The impurity is at least decrease / n, so it need not be computed if that is large enough.
            decrease > sums.count as f64 * f64::EPSILON || self.impurity(start..end) > f64::EPSILON
        });
        let Some(split) = found else {
            self.workspace.spare_cells.push(cells);
            return depth;
        };
        importances[split.feature] += split.improvement / sums.count as f64 / scale / scale;
        let left_sums = NodeSums {
            id: self.push_leaf(split.left_gradient),
            gradient: split.left_gradient,
            count: split.left_count,
        };
        let right_gradient = sums.gradient - split.left_gradient;
        let right_sums = NodeSums {
            id: self.push_leaf(right_gradient),
            gradient: right_gradient,
            count: sums.count - split.left_count,
        };
        self.nodes[sums.id as usize] = Node {
            threshold: self.threshold(split.feature, split.place, sums.id),
            feature: split.feature as u32,
            left: u32::from(left_sums.id),
        };
        let middle = start + split.left_count as usize;
        self.partition(start..end, split.feature, split.place as u32, left_sums.id, right_sums.id);
        if depth + 1 == max_depth {
            self.workspace.spare_cells.push(cells);
            return depth + 1;
        }
        let mut smaller_cells = self.room();
        let left_is_smaller = left_sums.count <= right_sums.count;
        let smaller = if left_is_smaller { start..middle } else { middle..end };
        let workspace = &*self.workspace;
        accumulate(&mut smaller_cells, &workspace.rows[smaller], &workspace.gradients.values, self.columns);
        subtract(&mut cells, &smaller_cells);
        let (left_cells, right_cells) =
            if left_is_smaller { (smaller_cells, cells) } else { (cells, smaller_cells) };
        level.push(Pending { sums: right_sums, start: middle, depth: depth + 1, cells: right_cells });
        level.push(Pending { sums: left_sums, start, depth: depth + 1, cells: left_cells });
        depth + 1
    }

    /// The variance of the gradients of a node.
    fn impurity(&self, range: std::ops::Range<usize>) -> f64 {
        let count = range.len() as f64;
        let gradients =
            || self.workspace.rows[range.clone()].iter().map(|&row| self.float_gradients[row as usize]);
        let mean = gradients().sum::<f64>() / count;
        gradients().map(|gradient| (gradient - mean) * (gradient - mean)).sum::<f64>() / count
    }

    /// Halfway between the node's largest value on the left and its smallest on the right.
    fn threshold(&self, feature: usize, place: usize, id: u16) -> f64 {
        let column = &self.columns.columns[feature];
        let inside = |place: &usize| self.workspace.node_of_row[column.order[*place] as usize] == id;
        let below = (0..=place).rev().find(inside).unwrap_or(place);
        let above = (place + 1..self.columns.rows).find(inside).unwrap_or(place);
        let (below, above) = (column.values[below], column.values[above]);
        let middle = below / 2.0 + above / 2.0;
        if middle < above { middle } else { below }
    }

    /// Moves the rows that go left in front of those that go right, keeping the order within each.
    fn partition(
        &mut self,
        range: std::ops::Range<usize>,
        feature: usize,
        place: u32,
        left: u16,
        right: u16,
    ) {
        let rank = &self.columns.columns[feature].rank;
        let Workspace { rows, moved, node_of_row, .. } = &mut *self.workspace;
        let rows = &mut rows[range];
        moved.resize(moved.len().max(rows.len()), 0);
        let (mut lefts, mut rights) = (0, 0);
        // Writing to both sides and advancing one of them is cheaper than an unpredictable branch.
        for i in 0..rows.len() {
            let row = rows[i];
            let goes_right = rank[row as usize] > place;
            node_of_row[row as usize] = if goes_right { right } else { left };
            rows[lefts] = row;
            moved[rights] = row;
            lefts += usize::from(!goes_right);
            rights += usize::from(goes_right);
        }
        rows[lefts..].copy_from_slice(&moved[..rights]);
    }

    fn finish(
        self,
        gradients: &[f64],
        depth: usize,
        curvature: impl Fn(f64) -> f64,
        leaf_value: impl Fn(f64, f64) -> f64,
    ) -> Tree {
        let count = self.nodes.len();
        // Four sums for each leaf, used in turn, so that an addition need not wait for the one before.
        let mut curvatures = vec![[0.0; 4]; count];
        for (i, (&leaf, gradient)) in self.workspace.node_of_row.iter().zip(gradients).enumerate() {
            curvatures[leaf as usize][i % 4] += curvature(*gradient);
        }
        let scale = self.workspace.gradients.scale;
        let values = (0..count)
            .map(|node| leaf_value(self.gradient_sums[node] as f64 / scale, curvatures[node].iter().sum()))
            .collect();
        Tree { nodes: self.nodes, values, depth }
    }
}

impl Tree {
    /// Adds the values of the leaves, times `rate`, to the scores of the rows that the tree was grown on.
    pub(super) fn add_to(&self, scores: &mut [f64], leaves: &[u16], rate: f64) {
        let steps: Vec<f64> = self.values.iter().map(|value| value * rate).collect();
        for (score, &leaf) in scores.iter_mut().zip(leaves) {
            *score += steps[leaf as usize];
        }
    }
}
