package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// numbersText writes rising numbers as text: 1-5,7.
func numbersText(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		first := i
		for i++; i < len(numbers) && numbers[i] == numbers[i-1]+1; i++ {
		}
		if last := i - 1; last > first {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[first], numbers[last]))
		} else {
			parts = append(parts, strconv.Itoa(numbers[first]))
		}
	}
	return strings.Join(parts, ",")
}

// parseNumbers reads what numbersText writes.
func parseNumbers(text string) ([]int, error) {
	var numbers []int
	if text == "" {
		return nil, nil
	}
	for _, part := range strings.Split(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			return nil, fmt.Errorf("%q is no number: %w", part, err)
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				return nil, fmt.Errorf("%q is no range: %w", part, err)
			}
		}
		for n := first; n <= last; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
