package flame

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"strings"
)

// top takes the table of functions over.
func (v *pageView) top(t *Table) {
	v.Head = []pageColumn{{"function", "function", false}, {"self", "self", true}, {"self-share", "of all", true},
		{"total", "total", true}, {"total-share", "of all", true}, {"object", "object", false}}
	for _, r := range t.Rows {
		v.Rows = append(v.Rows, []pageCell{{Clean(r.Name), false}, {Quantity(r.Self, t.Scale, t.Unit), true}, {percent(r.SelfShare), true},
			{Quantity(r.Total, t.Scale, t.Unit), true}, {percent(r.TotalShare), true}, {Clean(r.Object), false}})
	}
}

// picture draws the widest boxes for those without script, and gives the style that they need.
func (v *pageView) picture(l *Layout, c Colours, icicle bool) error {
	var b strings.Builder
	if err := writeFragment(&b, l, c, FragmentOptions{Label: "flame graph", Icicle: icicle}); err != nil {
		return err
	}
	v.Picture, v.Style = template.HTML(b.String()), template.CSS(fragmentStyle(c, l))
	return nil
}

// PagePolicy forbids a page all but its own style and script (Content Security Policy Level 3).
func PagePolicy(style, script string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ` + hash(style) + `; script-src ` + hash(script) +
		`; img-src data:; base-uri 'none'; form-action 'none'">`
}
