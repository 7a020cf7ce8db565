(function () {
  "use strict";
  const NS = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
  const root = document.currentScript.closest("svg.flame");
  const frames = root.querySelector(".frames");
  const total = Number(frames.dataset.total) || 1;
  const hidden = JSON.parse(root.querySelector(".hidden").textContent);
  const whole = { start: 0, value: total };
  let shown = whole, pattern = null;

  const boxes = Array.from(frames.querySelectorAll(".b"), (el) => {
    const title = el.querySelector("title").textContent, first = title.split("\n")[0];
    el.setAttribute("tabindex", "0");
    el.setAttribute("role", "button");
    el.setAttribute("aria-label", title);
    return { el, name: first.slice(0, first.lastIndexOf(" (")), start: Number(el.dataset.s), value: Number(el.dataset.v), y: Number(el.getAttribute("y")) };
  });
  const flame = boxes.length < 2 || boxes[0].y > boxes[boxes.length - 1].y;

  function button(label, x, anchor, action) {
    const t = document.createElementNS(NS, "text");
    t.textContent = label;
    t.setAttribute("class", "button");
    t.setAttribute("x", x);
    t.setAttribute("y", 24);
    t.setAttribute("text-anchor", anchor);
    t.setAttribute("role", "button");
    t.setAttribute("tabindex", "0");
    t.addEventListener("click", action);
    t.addEventListener("keydown", (e) => { if (e.key === "Enter") action(); });
    root.appendChild(t);
    return t;
  }

  const reset = button("reset zoom", "10", "start", () => zoom(whole));
  const status = document.createElementNS(NS, "text");
  status.setAttribute("x", "99.5%");
  status.setAttribute("y", root.getAttribute("height") - 10);
  status.setAttribute("text-anchor", "end");
  status.setAttribute("role", "status");
  root.appendChild(status);

  const holder = document.createElementNS(NS, "foreignObject");
  holder.setAttribute("x", "80%");
  holder.setAttribute("y", 8);
  holder.setAttribute("width", "19.5%");
  holder.setAttribute("height", 26);
  const input = document.createElementNS(HTML, "input");
  input.type = "search";
  input.placeholder = "search (regexp)";
  input.setAttribute("aria-label", "search frames by regular expression; capitals make it case-sensitive");
  input.style.cssText = "width:100%;box-sizing:border-box;font:12px monospace";
  holder.appendChild(input);
  root.appendChild(holder);

  // A box is drawn where it lies in the part that is shown; boxes that the part lies in fill the width.
  function zoom(to) {
    shown = to;
    const end = to.start + to.value;
    for (const b of boxes) {
      const inside = b.start >= to.start && b.start + b.value <= end && (to === whole || (flame ? b.y <= to.y : b.y >= to.y));
      const above = !inside && b.start <= to.start && b.start + b.value >= end;
      b.el.style.display = inside || above ? "" : "none";
      b.el.classList.toggle("above", above);
      if (above) place(b.el, 0, 1);
      else if (inside) place(b.el, (b.start - to.start) / to.value, b.value / to.value);
      if ((inside && b.value / to.value > 0.004 || above) && !b.el.querySelector("text")) {
        const t = document.createElementNS(NS, "text");
        t.setAttribute("x", 3);
        t.setAttribute("y", 12);
        t.textContent = b.name;
        b.el.appendChild(t);
      }
    }
    reset.style.display = to === whole ? "none" : "";
    tell();
  }

  function place(el, x, width) {
    el.setAttribute("x", 100 * x + "%");
    el.setAttribute("width", 100 * width + "%");
  }

  // The matched share counts what is shown once, however many matching frames lie above one another.
  function tell() {
    const at = shown === whole ? "" : shown.name + " is " + percent(shown.value / total) + " of all";
    if (!pattern) {
      status.textContent = at;
      return;
    }
    const end = shown.start + shown.value, found = [];
    let drawn = 0, small = 0;
    for (const b of boxes) {
      const hit = !b.el.classList.contains("rest") && pattern.test(b.name);
      b.el.classList.toggle("hit", hit);
      if (hit && b.start < end && b.start + b.value > shown.start) {
        drawn++;
        found.push([b.start, b.start + b.value]);
      }
    }
    hidden.names.forEach((name, i) => {
      const start = hidden.spans[2 * i], stop = start + hidden.spans[2 * i + 1];
      if (start < end && stop > shown.start && pattern.test(name)) {
        small++;
        found.push([start, stop]);
      }
    });
    let text = "matched " + percent(union(found, shown.start, end) / shown.value) + (shown === whole ? "" : " of what is shown") + ", " + drawn + " frames";
    if (small) text += " and " + small + " not drawn";
    if (hidden.others) text += "; " + hidden.others + " frames not drawn are not searched";
    status.textContent = text;
  }

  function union(spans, from, to) {
    spans.sort((a, b) => a[0] - b[0]);
    let sum = 0, right = from;
    for (const [start, end] of spans) {
      const left = Math.max(start, right), stop = Math.min(end, to);
      if (stop > left) {
        sum += stop - left;
        right = stop;
      }
    }
    return sum;
  }

  function percent(share) { return (100 * share).toFixed(2) + "%"; }

  input.addEventListener("input", () => {
    pattern = null;
    for (const b of boxes) b.el.classList.remove("hit");
    if (input.value) {
      try {
        pattern = new RegExp(input.value, /[A-Z]/.test(input.value) ? "" : "i");
      } catch (e) {
        status.textContent = "not a regular expression: " + e.message;
        return;
      }
    }
    tell();
  });
  frames.addEventListener("click", (e) => {
    const el = e.target.closest(".b"), b = boxes.find((b) => b.el === el);
    if (b) zoom(b === boxes[0] ? whole : b);
  });
  frames.addEventListener("keydown", (e) => {
    const b = boxes.find((b) => b.el === e.target);
    if (b && e.key === "Enter") zoom(b === boxes[0] ? whole : b);
  });
  root.ownerDocument.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && e.target !== input) zoom(whole);
    if (e.key === "/" && e.target !== input) {
      e.preventDefault();
      input.focus();
    }
  });
  zoom(whole);
})();
