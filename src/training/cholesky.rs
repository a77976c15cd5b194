//! Symmetric equations.

/// Solves A·x = b for a symmetric positive definite A, row by row; b becomes x. Returns false if A is not.
pub fn solve(a: &mut [f64], b: &mut [f64]) -> bool {
    let n = b.len();
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            let rest = a[i * n + j] - dot;
            if i > j {
                a[i * n + j] = rest / a[j * n + j];
            } else if rest > 0.0 {
                a[i * n + i] = rest.sqrt();
            } else {
                return false;
            }
        }
    }
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| a[i * n + k] * b[k]).sum();
        b[i] = (b[i] - dot) / a[i * n + i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| a[k * n + i] * b[k]).sum();
        b[i] = (b[i] - dot) / a[i * n + i];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_satisfy_the_equations() {
        let n = 7;
        let root: Vec<f64> = (0..n * n).map(|i| libm::sin(i as f64 * 1.7)).collect();
        let dot = |i: usize, j: usize| (0..n).map(|k| root[i * n + k] * root[j * n + k]).sum::<f64>();
        let a: Vec<f64> = (0..n * n).map(|ij| dot(ij / n, ij % n) + f64::from(u8::from(ij / n == ij % n))).collect();
        let b: Vec<f64> = (0..n).map(|i| i as f64 - 2.0).collect();
        let mut x = b.clone();
        assert!(solve(&mut a.clone(), &mut x));
        for i in 0..n {
            let found: f64 = (0..n).map(|j| a[i * n + j] * x[j]).sum();
            assert!((found - b[i]).abs() < 1e-9, "{found} {}", b[i]);
        }
        assert!(!solve(&mut [0.0; 4], &mut [1.0, 1.0]));
    }
}
