package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"nettrace/analyze"
)

// TimeSequence returns what writes the rows of a time/sequence plot in the named form, ndjson or csv.
func TimeSequence(w io.Writer, form string) (func(*analyze.SequenceRow) error, bool) {
	switch form {
	case "ndjson":
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return func(r *analyze.SequenceRow) error { return e.Encode(r) }, true
	case "csv":
		head := "time_s,record,from,seq,payload,ack,window,edge,in_flight,rtt_s,flags\n"
		return func(r *analyze.SequenceRow) error {
			rtt := ""
			if r.RTT >= 0 {
				rtt = fmt.Sprintf("%.9f", r.RTT.Seconds())
			}
			_, err := fmt.Fprintf(w, "%s%.9f,%d,%s,%d,%d,%s,%s,%s,%s,%s,%s\n", head, r.Time.Seconds(), r.Record, r.From, r.Seq, r.Payload,
				orNothing(r.ACK), orNothing(r.Window), orNothing(r.Edge), orNothing(r.InFlight), rtt, strings.Join(r.Flags, " "))
			head = ""
			return err
		}, true
	}
	return nil, false
}

// orNothing prints a number that is -1 where it is not known.
func orNothing(n int64) string {
	if n < 0 {
		return ""
	}
	return fmt.Sprint(n)
}
