// flameGraph makes the boxes of a flame graph within root answer: click and Enter zoom, arrows walk the tree, Escape
// zooms out by a level. changed is called after each zoom, told with the box that the keys or the pointer are at. A page may
// hold several graphs.
function flameGraph(root, changed, told) {
  "use strict";
  const NS = "http://www.w3.org/2000/svg";
  const frames = root.querySelector(".frames");
  const total = Number(frames.dataset.total) || 1;
  const hidden = JSON.parse(root.querySelector(".hidden").textContent);

  const boxes = Array.from(frames.querySelectorAll(".b"), (el) => {
    const title = el.querySelector("title").textContent, first = title.split("\n")[0];
    return { el, title, name: first.slice(0, first.lastIndexOf(" (")), start: Number(el.dataset.s), value: Number(el.dataset.v), y: Number(el.getAttribute("y")) };
  });
  const whole = boxes[0];
  let flame = boxes.length < 2 || whole.y > boxes[boxes.length - 1].y;
  const rows = [];
  for (const b of boxes) {
    b.depth = Math.abs(b.y - whole.y) / (Number(b.el.getAttribute("height")) + 1);
    (rows[b.depth] = rows[b.depth] || []).push(b);
    b.el.setAttribute("role", "treeitem");
    b.el.setAttribute("aria-level", b.depth + 1);
    b.el.setAttribute("aria-label", b.title);
    b.el.setAttribute("tabindex", b === whole ? "0" : "-1");
  }
  frames.setAttribute("role", "tree");
  frames.setAttribute("aria-label", root.getAttribute("aria-label"));
  const byElement = new Map(boxes.map((b) => [b.el, b]));
  let shown = whole, focused = whole;

  const within = (b, outer) => b.start >= outer.start && b.start + b.value <= outer.start + outer.value;
  const parent = (b) => b.depth > 0 ? rows[b.depth - 1].find((p) => within(b, p)) : null;
  const children = (b) => (rows[b.depth + 1] || []).filter((c) => within(c, b));
  const widest = (list) => list.reduce((best, b) => !best || b.value > best.value ? b : best, null);

  // A box is drawn where it lies in the part that is shown; boxes that the part lies in fill the width.
  function zoom(to) {
    shown = to;
    for (const b of boxes) {
      const inside = b.depth >= to.depth && within(b, to), above = b.depth < to.depth && within(to, b);
      b.el.style.display = inside || above ? "" : "none";
      b.el.classList.toggle("above", above);
      if (above) place(b.el, 0, 1);
      else if (inside) place(b.el, (b.start - to.start) / to.value, b.value / to.value);
      if ((above || inside && b.value / to.value > 0.012) && !b.el.querySelector("text")) {
        const t = document.createElementNS(NS, "text");
        t.setAttribute("x", 3);
        t.setAttribute("y", 12);
        t.textContent = b.name;
        b.el.appendChild(t);
      }
    }
    changed();
  }

  function place(el, x, width) {
    el.setAttribute("x", 100 * x + "%");
    el.setAttribute("width", 100 * width + "%");
  }

  function focus(b) {
    const above = parent(b), siblings = above ? children(above) : [b];
    focused.el.setAttribute("tabindex", "-1");
    b.el.setAttribute("tabindex", "0");
    b.el.setAttribute("aria-setsize", siblings.length);
    b.el.setAttribute("aria-posinset", siblings.indexOf(b) + 1);
    focused = b;
    b.el.focus();
    if (told) told(b);
  }

  // turn puts the root at the bottom or at the top.
  function turn(toFlame) {
    flame = toFlame;
    for (const b of boxes) {
      const row = flame ? rows.length - 1 - b.depth : b.depth;
      b.el.setAttribute("y", row * (Number(b.el.getAttribute("height")) + 1));
    }
  }

  function walk(key) {
    const row = rows[focused.depth].filter((b) => b.el.style.display !== "none"), at = row.indexOf(focused);
    switch (key) {
      case "ArrowLeft": return row[at - 1];
      case "ArrowRight": return row[at + 1];
      case "Home": return whole;
      case flame ? "ArrowUp" : "ArrowDown": return widest(children(focused));
      case flame ? "ArrowDown" : "ArrowUp": return parent(focused);
    }
    return undefined;
  }

  frames.addEventListener("click", (e) => {
    const b = byElement.get(e.target.closest(".b"));
    if (b) zoom(b);
  });
  frames.addEventListener("mouseover", (e) => {
    const b = byElement.get(e.target.closest(".b"));
    if (b && told) told(b);
  });
  frames.addEventListener("focusin", (e) => {
    const b = byElement.get(e.target.closest(".b"));
    if (b && b !== focused) focus(b);
  });
  frames.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === "Enter") zoom(focused);
    else if (e.key === "Escape" && shown !== whole) zoom(parent(shown) || whole);
    else if (/^Arrow|^Home$/.test(e.key)) {
      const next = walk(e.key);
      if (next) focus(next);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });

  // search marks the boxes whose names pattern matches. The share counts what is shown once, however many matching
  // frames lie above one another.
  function search(pattern) {
    const end = shown.start + shown.value, spans = [], found = [];
    let small = 0;
    for (const b of boxes) {
      const hit = pattern !== null && pattern.test(b.name);
      b.el.classList.toggle("hit", hit);
      if (hit && b.el.style.display !== "none") {
        found.push(b);
        spans.push([b.start, b.start + b.value]);
      }
    }
    hidden.names.forEach((name, i) => {
      const start = hidden.spans[2 * i], stop = start + hidden.spans[2 * i + 1];
      if (pattern !== null && start < end && stop > shown.start && pattern.test(name)) {
        small++;
        spans.push([start, stop]);
      }
    });
    return { found, small, share: union(spans, shown.start, end) / (shown.value || 1), others: hidden.others };
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

  // path names a box by its callers, so that a link to it lasts as long as the names do.
  function path(b) {
    const names = [];
    for (let at = b; at && at !== whole; at = parent(at)) names.unshift(at.name);
    return names;
  }

  function find(names) {
    return names.reduce((at, name) => at && children(at).find((c) => c.name === name), whole);
  }

  return { zoom, focus, turn, search, path, find, whole, boxes, parent, shown: () => shown, focused: () => focused, flame: () => flame, share: (b) => b.value / total };
}
