package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// plotWidth is ministat's.
const plotWidth = 74

// plotHeight is how many marks are put on each other before one stands for several values.
const plotHeight = 16

// plot draws the values of all sets over one scale, those in one column on each other, and below them for each set a bar
// from a standard deviation below the mean (A) to one above, with the median (M).
func (p *page) plot(sets []valuesOf) {
	low, high := sets[0].low, sets[0].high
	for _, s := range sets {
		low, high = min(low, s.low, s.mean-s.stdev), max(high, s.high, s.mean+s.stdev)
	}
	column := func(v float64) int {
		if high <= low {
			return 0
		}
		at := (v - low) / (high - low) * (plotWidth - 1)
		return int(math.Round(max(0, min(plotWidth-1, at)))) // a printed summary may say anything of its median
	}
	rows, each := stacked(sets, column)
	border := "+" + strings.Repeat("-", plotWidth) + "+\n"
	p.print(border)
	for _, row := range rows {
		p.print("|" + string(row) + "|\n")
	}
	for i, s := range sets {
		mark := " "
		if len(sets) > 1 {
			mark = symbol(i)
		}
		p.print("|" + string(bar(s, column)) + "|" + strings.TrimRight(mark, " ") + "\n")
	}
	p.print(border)
	if each > 1 {
		p.print(fmt.Sprintf("(each mark of the plot stands for up to %d values)\n", each))
	}
}

// stacked returns the rows of marks, the highest first, and how many values one stands for.
func stacked(sets []valuesOf, column func(float64) int) (rows [][]byte, each int) {
	var counts [plotWidth][]int // by column and set
	for i := range counts {
		counts[i] = make([]int, len(sets))
	}
	for i, s := range sets {
		for _, v := range s.sorted {
			counts[column(v)][i]++
		}
	}
	height := 0
	for _, c := range counts {
		sum := 0
		for _, n := range c {
			sum += n
		}
		height = max(height, sum)
	}
	each = max(1, (height+plotHeight-1)/plotHeight)
	for at, c := range counts {
		row := 0
		for i, n := range c {
			for range (n + each - 1) / each {
				if row == len(rows) {
					rows = append(rows, []byte(strings.Repeat(" ", plotWidth)))
				}
				rows[row][at] = symbol(i)[0]
				row++
			}
		}
	}
	slices.Reverse(rows)
	return rows, each
}

// bar draws "|____A_M__|".
func bar(s valuesOf, column func(float64) int) []byte {
	line := []byte(strings.Repeat(" ", plotWidth))
	from, to := column(s.mean-s.stdev), column(s.mean+s.stdev)
	for i := from; i <= to; i++ {
		line[i] = '_'
	}
	line[from], line[to] = '|', '|'
	line[column(s.median)] = 'M'
	line[column(s.mean)] = 'A'
	return line
}
