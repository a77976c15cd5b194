//! The cell of each value of a column.

/// Up to this many edges, all keys are compared with every edge, many keys at once; with more edges, each key is found
/// by binary search.
const MAX_COMPARED: usize = 48;

/// See [`count_edges`](super::count_edges).
#[inline(always)]
pub fn count_edges(keys: &[i32], edges: &[i32], cells: &mut [u32]) {
    if edges.len() > MAX_COMPARED {
        for (cell, key) in cells.iter_mut().zip(keys) {
            *cell = edges.partition_point(|edge| edge <= key) as u32;
        }
        return;
    }
    cells.fill(0);
    for edge in edges {
        for (cell, key) in cells.iter_mut().zip(keys) {
            *cell += u32::from(edge <= key);
        }
    }
}
