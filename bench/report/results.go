package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/palisade-go/palisade/bench/measure"
)

// Sample is what one workload has measured of one peer in one round.
type Sample struct {
	Workload string             `json:"workload"`
	Peer     string             `json:"peer"`
	Round    int                `json:"round"`
	Values   map[string]float64 `json:"values"`
}

// Gap is something that was not measured, and why.
type Gap struct {
	Peer string `json:"peer"`
	// Workload is empty when it is the whole peer.
	Workload string `json:"workload,omitempty"`
	Why      string `json:"why"`
	// Failed says that it should have been measured.
	Failed bool `json:"failed,omitempty"`
}

// Machine is where a run took place.
type Machine struct {
	Processor   string `json:"processor"`
	Cores       int    `json:"cores"`
	MemoryBytes uint64 `json:"memoryBytes"`
	Kernel      string `json:"kernel"`
	Go          string `json:"go"`
	// FileSystem is that of the data directories.
	FileSystem string `json:"fileSystem"`
	// LoadBefore is how many processes wanted a core when the run began. Much
	// more than 0 says that the machine had other things to do.
	LoadBefore float64 `json:"loadBefore"`
}

// Results are all that a run has to say.
type Results struct {
	Command  string            `json:"command"`
	Began    time.Time         `json:"began"`
	Took     string            `json:"took"`
	Machine  Machine           `json:"machine"`
	Revision string            `json:"revision"`
	Settings map[string]string `json:"settings"`
	Peers    map[string]string `json:"peers"` // their versions
	Samples  []Sample          `json:"samples"`
	Gaps     []Gap             `json:"gaps"`
	Verdicts []Verdict         `json:"verdicts"`
}

// Rounds returns a number by round.
func (r *Results) Rounds(workload, peer, metric string) map[int]float64 {
	values := map[int]float64{}
	for _, s := range r.Samples {
		if s.Workload != workload || s.Peer != peer {
			continue
		}
		if value, measured := s.Values[metric]; measured {
			values[s.Round] = value
		}
	}
	return values
}

// Spread returns a number over all rounds.
func (r *Results) Spread(workload, peer, metric string) measure.Spread {
	var values []float64
	for _, value := range r.Rounds(workload, peer, metric) {
		values = append(values, value)
	}
	return measure.SpreadOf(values)
}

// Failed says whether something failed that should have been measured.
func (r *Results) Failed() bool {
	for _, g := range r.Gaps {
		if g.Failed {
			return true
		}
	}
	return false
}

// WriteJSON writes the results with all raw numbers.
func (r *Results) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}
