//! One-to-one matching of rows with columns.

/// The one-to-one matching of rows with columns that maximises the sum of the matched entries, by the Hungarian method (Kuhn
/// 1955) with potentials, on the matrix padded to a square with zeros. Rows matched with a padded column get `None`.
pub(crate) fn best_matching(gains: &[Vec<f64>]) -> Vec<Option<usize>> {
    let columns = gains.first().map_or(0, Vec::len);
    let size = gains.len().max(columns);
    let cost =
        |row: usize, column: usize| -gains.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0.0);
    // Index 0 of rows and columns is a sentinel, where the row that is looking for a column starts.
    let (mut row_potential, mut column_potential) = (vec![0.0_f64; size + 1], vec![0.0_f64; size + 1]);
    let mut row_of_column = vec![0_usize; size + 1];
    for row in 1..=size {
        row_of_column[0] = row;
        let mut column = 0;
        let (mut slack, mut came_from) = (vec![f64::INFINITY; size + 1], vec![0; size + 1]);
        let mut visited = vec![false; size + 1];
        while row_of_column[column] != 0 {
            visited[column] = true;
            let current = row_of_column[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for other in 1..=size {
                if visited[other] {
                    continue;
                }
                let reduced = cost(current - 1, other - 1) - row_potential[current] - column_potential[other];
                if reduced < slack[other] {
                    (slack[other], came_from[other]) = (reduced, column);
                }
                if slack[other] < step {
                    (step, next) = (slack[other], other);
                }
            }
            for other in 0..=size {
                if visited[other] {
                    row_potential[row_of_column[other]] += step;
                    column_potential[other] -= step;
                } else if slack[other] < f64::INFINITY {
                    slack[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of_column[column] = row_of_column[came_from[column]];
            column = came_from[column];
        }
    }
    let mut matched = vec![None; gains.len()];
    for (column, &row) in row_of_column[1..].iter().take(columns).enumerate() {
        if let Some(target) = matched.get_mut(row - 1) {
            *target = Some(column);
        }
    }
    matched
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Taking the largest entry of each row would use column 0 twice; 8 + 7 + 5 is the best without.
    #[test]
    fn matching_by_hand() {
        let gains = vec![vec![9.0, 8.0, 1.0], vec![7.0, 2.0, 1.0], vec![3.0, 4.0, 5.0]];
        assert_eq!(best_matching(&gains), [Some(1), Some(0), Some(2)]);
        assert_eq!(best_matching(&[vec![1.0], vec![5.0]]), [None, Some(0)]);
        assert_eq!(best_matching(&[vec![1.0, 5.0]]), [Some(1)]);
    }
}
