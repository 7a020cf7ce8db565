// newJudge says how two profiles differ at a node or in a function. Of each it gets the values base and other, and their
// numbers of samples; difference.go has the method.
function newJudge(diff) {
  "use strict";
  const { factor, sample_factor: rate, totals } = diff;
  const SAME = 0, NEW = 7, GONE = 8; // indexes into diff.paints; 1 to 3 are less, 4 to 6 more

  const delta = (b, o) => o - factor * b;
  const noise = (nb, no) => Math.abs(no - rate * nb) < 2 * Math.sqrt(no + rate * rate * nb);

  function kind([b, o, nb, no]) {
    if (noise(nb, no)) return SAME;
    if (b === 0) return NEW;
    if (o === 0) return GONE;
    const change = delta(b, o) / (o + factor * b), step = Math.abs(change) < 0.1 ? 1 : Math.abs(change) < 1 / 3 ? 2 : 3;
    return change < 0 ? step : 3 + step;
  }

  const share = (s, v) => totals[s] ? v / totals[s] : 0;
  const points = (b, o) => numbers.signed(numbers.percent(share(1, delta(b, o))), delta(b, o)); // of what other has in all
  const verdict = (v) => v[0] === 0 ? "new" : v[1] === 0 ? "vanished" : "";

  function widths(base, other, mode) {
    if (mode === "other") return other;
    const own = new Float64Array(base.length);
    for (let i = 0; i < own.length; i++) own[i] = mode === "base" ? base[i] : Math.max(factor * base[i], other[i]);
    return own;
  }

  function describe(sums, own, quantity) {
    const [b, o, nb, no] = sums, d = delta(b, o), word = verdict(sums);
    const side = (name, s, v, n) => name + " " + quantity(v) + " (" + numbers.percent(share(s, v)) + ", " + numbers.count(n) + (n === 1 ? " sample" : " samples") + ")";
    return [side("base", 0, b, nb), side("other", 1, o, no),
      "change " + numbers.signed(quantity(d), d) + " (" + points(b, o) + " of all)" + (word ? ", " + word : "") + (noise(nb, no) ? ", may be chance" : ""),
      "self " + quantity(own[0]) + ", " + quantity(own[1])];
  }

  function columns(names, quantity) {
    const value = (key, text, get) => ({ key, text, number: true, value: get, show: (r) => quantity(get(r)) });
    const change = (key, text, of) => ({ key, text, number: true, value: (r) => Math.abs(delta(of(r)[0], of(r)[1])), show: (r) => {
      const d = delta(of(r)[0], of(r)[1]);
      return numbers.signed(quantity(d), d);
    } });
    return [
      { key: "function", text: "function", value: (r) => names[r.frame], show: (r) => names[r.frame] },
      change("self-change", "self change", (r) => r.self), value("self-base", "self in base", (r) => r.self[0]), value("self-other", "self in other", (r) => r.self[1]),
      change("total-change", "total change", (r) => r.all), value("total-base", "total in base", (r) => r.all[0]), value("total-other", "total in other", (r) => r.all[1]),
      { key: "verdict", text: "verdict", value: (r) => word(r), show: (r) => word(r) },
    ];
  }
  const word = (r) => verdict(r.all) || (noise(r.all[2], r.all[3]) ? "may be chance" : "");

  return { widths, describe, columns, paint: (v) => diff.paints[kind(v)], label: (name, v) => name + " (" + points(v[0], v[1]) + ")" };
}
