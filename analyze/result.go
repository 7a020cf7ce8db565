package analyze

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"nettrace/bench"
	"nettrace/coalesce"
	"nettrace/finding"
	"nettrace/flame"
	"nettrace/lockstat"
	"nettrace/source"
	"nettrace/tcp"
	"nettrace/unit"
)

// Schema names the shape of a written result. Changes to it are only additions.
const Schema = "nettrace.result/1"

// Result is all that an analysis learnt: small enough to keep whole, and enough for every view.
type Result struct {
	Schema  string `json:"schema"`
	Partial bool   `json:"partial,omitempty"` // interrupted: what was learnt until then
	// Anonymized tells that addresses and names of hosts are not the recorded ones, see Anonymize.
	Anonymized bool              `json:"anonymized,omitempty"`
	Sources    []Source          `json:"sources"`
	Ledger     []source.Entry    `json:"ledger"`
	Findings   []finding.Finding `json:"findings"`
	Models     Models            `json:"models"`

	Reloaded bool `json:"-"` // nothing but written results was read
}

// Models are the summaries that rules judge and views show.
type Models struct {
	Captures []*tcp.Capture    `json:"captures"`
	Locks    []*lockstat.Table `json:"locks"`
	Profiles []*flame.Profile  `json:"profiles"`
	Hosts    []*coalesce.Host  `json:"hosts"`
	Runs     []bench.Run       `json:"runs"`
	Series   []Series          `json:"series,omitempty"` // courses of cited connections, if CollectSeries read them
}

// Source is what is known of an input: one entry for each tool output that was recognised in it. Times are since Epoch,
// which is in whole seconds and 0 where the source has no clock.
type Source struct {
	Path        string             `json:"path"`
	Format      string             `json:"format"` // "" if it was not recognised
	Kind        Kind               `json:"kind"`
	Bytes       int64              `json:"bytes"` // of the output after decompression
	Records     int64              `json:"records"`
	Epoch       int64              `json:"epoch_s"`
	Start       unit.Nanos         `json:"start_ns"`
	End         unit.Nanos         `json:"end_ns"`
	Host        string             `json:"host"`
	Role        string             `json:"role"` // "peer" for the other host of a bundle
	Offset      int64              `json:"offset"`
	Line        int                `json:"line"` // where the output begins, 0 in binary formats
	Compression []string           `json:"compression"`
	Facts       []Fact             `json:"facts"`
	Pace        source.Pace        `json:"pace,omitzero"`    // how many packets or samples were recorded when
	Events      []flame.EventTotal `json:"events,omitempty"` // of stack samples
	Tried       []string           `json:"tried,omitempty"`  // of a source that was not recognised
	Note        string             `json:"note,omitempty"`
}

// Fact is something that inspect tells of a source.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// add appends what other holds.
func (r *Result) add(other *Result) {
	r.Partial = r.Partial || other.Partial
	r.Anonymized = r.Anonymized || other.Anonymized
	r.Sources = append(r.Sources, other.Sources...)
	r.Ledger = append(r.Ledger, other.Ledger...)
	r.Findings = append(r.Findings, other.Findings...)
	r.Models.Captures = append(r.Models.Captures, other.Models.Captures...)
	r.Models.Locks = append(r.Models.Locks, other.Models.Locks...)
	r.Models.Profiles = append(r.Models.Profiles, other.Models.Profiles...)
	r.Models.Hosts = append(r.Models.Hosts, other.Models.Hosts...)
	r.Models.Runs = append(r.Models.Runs, other.Models.Runs...)
	r.Models.Series = append(r.Models.Series, other.Models.Series...)
}

// finish ranks the findings and makes every list non-nil.
func (r *Result) finish() *Result {
	r.Schema = Schema
	r.Findings = finding.Rank(r.Findings)
	present(reflect.ValueOf(r))
	return r
}

// Write writes the result as JSON.
func (r *Result) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// ReadResult reads a result that Write wrote.
func ReadResult(r io.Reader) (*Result, error) {
	var result Result
	if err := json.NewDecoder(r).Decode(&result); err != nil {
		return nil, fmt.Errorf("not a result: %w", err)
	}
	if result.Schema != Schema {
		return nil, fmt.Errorf("schema %q: this version reads %q; analyze the recordings again", result.Schema, Schema)
	}
	return &result, nil
}

// present replaces nil slices by empty ones, since no array of a written result is null.
func present(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			present(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				present(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() && v.Type().Elem().Kind() != reflect.Uint8 {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		if k := v.Type().Elem().Kind(); k == reflect.Struct || k == reflect.Pointer || k == reflect.Slice {
			for i := range v.Len() {
				present(v.Index(i))
			}
		}
	}
}
