package bench

import "math"

// terms is the left side of one equation of a fit, for a right side of 1: both are divided by what was measured, so that
// relative errors count.
type terms []float64

// leastSquares returns the coefficients with which the rows come nearest to 1 together, and the sum of the squares that
// are left. Columns that are not wanted keep the coefficient 0. ok is false where the rows do not tell the wanted ones apart.
func leastSquares(rows []terms, wanted []bool) (c []float64, left float64, ok bool) {
	n := len(wanted)
	scale := make([]float64, n)
	for _, row := range rows {
		for i, x := range row {
			scale[i] = max(scale[i], math.Abs(x))
		}
	}
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n+1)
		if !wanted[i] || scale[i] == 0 {
			a[i][i] = 1
			if wanted[i] {
				return nil, 0, false
			}
			continue
		}
		for _, row := range rows {
			x := row[i] / scale[i]
			for j, other := range row {
				if wanted[j] && scale[j] > 0 {
					a[i][j] += x * other / scale[j]
				}
			}
			a[i][n] += x
		}
	}
	if c, ok = solve(a); !ok {
		return nil, 0, false
	}
	for i := range c {
		if scale[i] > 0 {
			c[i] /= scale[i]
		}
	}
	for _, row := range rows {
		d := -1.0
		for i, x := range row {
			d += c[i] * x
		}
		left += d * d
	}
	return c, left, true
}

// singular is the smallest pivot of equations whose columns are scaled to 1.
const singular = 1e-10

// solve solves linear equations, each with its right side last, by elimination with pivots.
func solve(a [][]float64) (x []float64, ok bool) {
	n := len(a)
	for i := range n {
		pivot := i
		for k := i + 1; k < n; k++ {
			if math.Abs(a[k][i]) > math.Abs(a[pivot][i]) {
				pivot = k
			}
		}
		a[i], a[pivot] = a[pivot], a[i]
		if math.Abs(a[i][i]) < singular {
			return nil, false
		}
		for k := i + 1; k < n; k++ {
			f := a[k][i] / a[i][i]
			for j := i; j <= n; j++ {
				a[k][j] -= f * a[i][j]
			}
		}
	}
	x = make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		x[i] = a[i][n]
		for j := i + 1; j < n; j++ {
			x[i] -= a[i][j] * x[j]
		}
		x[i] /= a[i][i]
		if !finite(x[i]) {
			return nil, false
		}
	}
	return x, true
}

// fitTerms fits rows with the best choice of those columns behind the first that may be left out, so that none of the
// coefficients is below 0, where none has a meaning.
func fitTerms(rows []terms) (best []float64, left float64, ok bool) {
	n := len(rows[0])
	left = math.Inf(1)
	for chosen := 1<<(n-1) - 1; chosen >= 0; chosen-- {
		wanted := make([]bool, n)
		wanted[0] = true
		for i := range n - 1 {
			wanted[i+1] = chosen>>i&1 == 1
		}
		c, sum, solved := leastSquares(rows, wanted)
		negative := false
		for i := range c {
			negative = negative || c[i] < 0
		}
		if solved && !negative && c[0] >= 0 && sum < left*(1-1e-12) {
			best, left, ok = c, sum, true
		}
	}
	return best, left, ok
}
