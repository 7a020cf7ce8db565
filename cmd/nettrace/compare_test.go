package main

import (
	"bufio"
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// comparing runs the command by itself, over files of the tree.
func comparing(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(""), stdout: bufio.NewWriter(&out), stderr: &errs}
	cmd := compareCommand(e)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	e.stdout.Flush()
	var x exit
	if errors.As(err, &x) {
		return x.code, out.String(), errs.String() + x.text
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, out.String(), errs.String()
}

func TestCompareCommand(t *testing.T) {
	at := func(name string) string { return filepath.Join(root, "fixtures", "bench", name) }
	for name, c := range map[string]struct {
		args []string
		code int
		want string // in the output, or in what is said on stderr
	}{
		"newer":             {[]string{at("tso-on.mbps.txt"), at("tso-off.mbps.txt")}, 0, "-41.5682% +/- 11.6089%"},
		"2015":              {[]string{"--ministat=2015", at("tso-on.mbps.txt"), at("tso-off.mbps.txt")}, 0, "-41.5682% +/- 16.1496%"},
		"json":              {[]string{"-o", "json", at("tso-on.mbps.txt"), at("tso-off.mbps.txt")}, 0, `"significant": true`},
		"labels":            {[]string{"--label", "on", "--label", "off", at("gobench-tso-on.txt"), at("gobench-tso-off.txt")}, 0, "x on\n+ off\n"},
		"within ministat":   {[]string{at("ministat-iflib-5.txt")}, 0, "-13.722% +/- 1.64298%"},
		"pattern":           {[]string{at("tso-on.m*.txt"), at("tso-off.m*.txt")}, 0, "Difference at 95.0% confidence"},
		"confidence":        {[]string{"--confidence", "99", at("tso-on.mbps.txt"), at("tso-off.mbps.txt")}, 0, "Difference at 99.0% confidence"},
		"nothing in common": {[]string{at("iperf3-tcp-P4.json"), at("uperf-rr.default.txt")}, 1, "nothing is in two of the arguments"},
		"one set":           {[]string{at("tso-on.mbps.txt")}, 0, "(median between 7166.21 and 12349.49 at 98 %)"},
		"one wide table":    {[]string{at("table-ring-scaling.csv")}, 0, "mp_ring_abdicate_on overtakes mp_ring_abdicate_off at about 27 streams (interpolated, by the fits from 36 on)"},
		"trade":             {[]string{"--by", "variant", at("table-tg3.packets-per-interrupt.csv"), at("table-tg3.cpu-util.csv")}, 0, "percent CPU -14.2 (-28 %, down at all): -7.22 for each 1"},
		"crossing":          {[]string{"--by", "sdp_zcopy_thresh", at("netperf-zcopy-log.txt")}, 0, "sdp_zcopy_thresh=1 overtakes sdp_zcopy_thresh=0 at about 26,551 message bytes"},
		"size curve":        {[]string{at("netperf-sweep-cliff.txt")}, 0, "a step of 194 us; 4,345 = 3 x 1,448 + 1 (MTU 1500, TCP timestamps); confidence high"},
		"by nothing":        {[]string{"--by", "x", at("netperf-zcopy-log.txt")}, 1, "what varies is: /sys/module/ib_sdp/sdp_zcopy_thresh"},
		"by and labels":     {[]string{"--by", "x", "--label", "a", at("netperf-zcopy-log.txt")}, 2, "expected no --label"},
		"no benchmark":      {[]string{at("README.md"), at("tso-on.mbps.txt")}, 1, "nothing that can be compared"},
		"no such pattern":   {[]string{at("none*.txt"), at("tso-on.mbps.txt")}, 1, "no file matches"},
		"bad generation":    {[]string{"--ministat=2010", "a", "b"}, 2, "expected newer or 2015"},
		"page":              {[]string{"-o", "html", at("tso-on.mbps.txt"), at("tso-off.mbps.txt")}, 0, "<h2 id=\"verdicts\">What is proven</h2>"},
		"picture":           {[]string{"-o", "svg", at("tso-on.mbps.txt"), at("tso-off.mbps.txt")}, 0, "<svg xmlns="},
		"nothing to draw":   {[]string{"-o", "svg", at("netperf-tcp_rr.classic.txt")}, 1, "nothing to draw"},
		"profiles":          {[]string{at("clean-bypass-disabled.folded"), at("clean-bypass-enabled.folded")}, 0, "+9.36 points  mtx_lock_sleep"},
		"alike":             {[]string{at("bypass-disabled.folded"), at("bypass-enabled.folded")}, 0, "the profiles of both sides are alike"},
		"param":             {[]string{"--param", "stack/dma-map-share.warning=20", at("clean-bypass-disabled.folded"), at("clean-bypass-enabled.folded")}, 0, "cost the same\nnote  2 findings"},
		"bad param":         {[]string{"--param", "stack/dma-map-shar.warning=20", "a", "b"}, 2, "the nearest is \"stack/dma-map-share"},
		"bad confidence":    {[]string{"--confidence", "97", "a", "b"}, 2, "expected one of"},
		"bad form":          {[]string{"-o", "xml", "a", "b"}, 2, "expected text, json, html or svg"},
		"too few labels":    {[]string{"--label", "x", "a", "b"}, 2, "expected one for each"},
	} {
		code, stdout, stderr := comparing(t, c.args...)
		if code != c.code || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("%s: exit %d, want %d with %q in\n%s%s", name, code, c.code, c.want, stdout, stderr)
		}
	}
}
