// Numbers look as they do in all views of nettrace.
const numbers = (function () {
  "use strict";
  const digits = (v) => Math.abs(v) < 9.995 ? v.toFixed(2) : Math.abs(v) < 99.95 ? v.toFixed(1) : v.toFixed(0);
  const count = (v) => Math.round(v).toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");

  function number(v) {
    const abs = Math.abs(v);
    if (abs >= 1e15) return v.toPrecision(4);
    if (v === Math.trunc(v) || abs >= 999.5) return count(v);
    return abs < 0.01 ? String(Number(v.toPrecision(2))) : digits(v);
  }

  function nanos(v) {
    const abs = Math.abs(v);
    if (abs < 1e3) return v.toFixed(0) + " ns";
    if (abs < 999.5e3) return digits(v / 1e3) + " us";
    if (abs < 999.5e6) return digits(v / 1e6) + " ms";
    return digits(v / 1e9) + " s";
  }

  function bytes(v) {
    if (Math.abs(v) < 1000) return v.toFixed(0) + " B";
    let suffix = 0;
    for (; Math.abs(v) >= 999.5 && suffix < 5; suffix++) v /= 1000;
    return digits(v) + " " + ["", "k", "M", "G", "T", "P"][suffix] + "B";
  }

  // quantity prints a value of a column with its unit.
  function quantity(v, column) {
    if (column.scale > 1) return String(Number((v / column.scale).toPrecision(15))) + " " + column.unit;
    if (column.unit === "ns") return nanos(v);
    if (column.unit === "B") return bytes(v);
    return number(v) + " " + column.unit;
  }

  const percent = (share) => (100 * share).toFixed(2) + "%";
  const signed = (text, v) => (v > 0 ? "+" : "") + text;
  return { count, quantity, percent, signed };
})();
