// newPane shows a tree on a canvas. Only boxes that are at least a pixel wide and in view are drawn, found by halving the
// rows, so that the time a picture takes does not grow with the tree. Beside the canvas, which says nothing to those who
// do not see it, the pane is a tree of one item: the box that the keys are at.
// hooks: label(pane, node), describe(pane, node), paint(pane, node), changed(pane), at(pane), over(pane, node, x, y).
function newPane(host, name, hooks) {
  "use strict";
  const ROW = 17, PAPER = 8000, FONT = '12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace';
  const space = host.appendChild(document.createElement("div"));
  const canvas = space.appendChild(document.createElement("canvas"));
  const item = host.appendChild(document.createElement("div"));
  const context = canvas.getContext("2d", { alpha: false });
  host.setAttribute("role", "tree");
  host.setAttribute("aria-label", name);
  host.tabIndex = 0;
  space.className = "space";
  canvas.setAttribute("aria-hidden", "true");
  item.className = "unseen";
  item.id = host.id + "-at";
  item.setAttribute("role", "treeitem");
  host.setAttribute("aria-activedescendant", item.id);

  const pane = { host, tree: null, zoomed: 0, at: 0, path: [0], flame: true, limit: 0, hits: null }; // hits says of each frame whether it is searched for
  let total, start, nodes, left, frames, from, depth = 1, charWidth = 0, paper = false;

  // show takes a tree with the widths of its nodes.
  pane.show = function (tree, widths, heavy) {
    pane.tree = tree;
    total = widths.total;
    ({ start, nodes, left, frames, from } = arrange(tree, widths.own, total, heavy));
    pane.total = total;
    pane.zoomed = pane.at = 0;
    pane.path = [0];
    fit();
  };

  const inView = (node) => node >= pane.zoomed && node < pane.tree.end[pane.zoomed] || pane.path.includes(node);

  // fit makes the space as high as what is shown is deep.
  function fit() {
    const { tree, zoomed } = pane;
    depth = 1;
    for (let i = zoomed; i < tree.end[zoomed]; i++) if (total[i] > 0 && tree.level[i] >= depth) depth = tree.level[i] + 1;
    space.style.height = depth * ROW + "px";
    host.style.height = Math.min(depth * ROW, pane.limit || Math.max(12 * ROW, Math.round(innerHeight * 0.7))) + "px";
    host.scrollTop = pane.flame ? depth * ROW : 0;
    tell();
  }

  pane.zoom = function (node) {
    pane.zoomed = node;
    pane.path = [];
    for (let i = node; i >= 0; i = pane.tree.parent[i]) pane.path.unshift(i);
    if (!inView(pane.at)) pane.at = node;
    fit();
    reveal(pane.at);
    pane.draw();
    hooks.changed(pane);
  };

  pane.focus = function (node) {
    pane.at = node;
    reveal(node);
    tell();
    pane.draw();
    hooks.at(pane);
  };

  // tell says in the tree's one item where the keys are.
  function tell() {
    const { tree, at } = pane, siblings = at ? childrenOf(tree.parent[at]) : [0];
    item.textContent = hooks.describe(pane, at);
    item.setAttribute("aria-level", tree.level[at] + 1);
    item.setAttribute("aria-setsize", siblings.length);
    item.setAttribute("aria-posinset", siblings.indexOf(at) + 1);
    item.setAttribute("aria-selected", "true");
  }

  function reveal(node) {
    const y = rowOf(pane.tree.level[node]) * ROW;
    if (y < host.scrollTop) host.scrollTop = y;
    else if (y + ROW > host.scrollTop + host.clientHeight) host.scrollTop = y + ROW - host.clientHeight;
  }

  const rowOf = (level) => pane.flame ? depth - 1 - level : level;

  // first returns the first place between two ones of a row whose node begins at x or behind it.
  function first(low, high, x) {
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (left[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // span returns the places of those nodes of a level that lie in what is shown.
  function span(level) {
    const x = start[pane.zoomed];
    return [first(from[level], from[level + 1], x), first(from[level], from[level + 1], x + total[pane.zoomed])];
  }

  function childrenOf(node) {
    const list = [], { tree } = pane;
    for (let c = node + 1; c < tree.end[node]; c = tree.end[c]) if (total[c] > 0) list.push(c);
    return list.sort((a, b) => start[a] - start[b]);
  }

  pane.draw = function () {
    if (!pane.tree) return;
    const ratio = devicePixelRatio || 1, width = host.clientWidth, height = paper ? Math.min(depth * ROW, PAPER) : host.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = width + "px";
      canvas.style.height = height + "px";
    }
    const style = getComputedStyle(host), look = { page: style.getPropertyValue("--page"), rest: style.getPropertyValue("--rest"), hit: style.getPropertyValue("--mark"), onHit: style.getPropertyValue("--on-mark"), text: style.getPropertyValue("--text") };
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = look.page;
    context.fillRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    charWidth = charWidth || context.measureText("0").width;
    const top = !paper ? host.scrollTop : pane.flame ? depth * ROW - height : 0, begin = Math.floor(top / ROW), end = Math.min(depth, Math.ceil((top + height) / ROW));
    for (let row = begin; row < end; row++) drawRow(rowOf(row), row * ROW - top, width, look);
    outline(width, top, look);
  };

  function drawRow(level, y, width, look) {
    if (level < pane.path.length - 1) {
      box(pane.path[level], 0, width, y, look, true);
      return;
    }
    if (level + 1 >= from.length) return;
    const [low, high] = span(level), x0 = start[pane.zoomed], scale = width / total[pane.zoomed];
    const thin = [], found = []; // runs of pixels whose boxes are narrower, each its begin and its end
    for (let i = low; i < high;) {
      const node = nodes[i], x = (left[i] - x0) * scale, w = total[node] * scale;
      if (w >= 1) {
        box(node, x, w, y, look, false);
        i++;
        continue;
      }
      const pixel = Math.floor(x), next = Math.max(first(i + 1, high, x0 + (pixel + 1) / scale), i + 1);
      extend(thin, pixel);
      if (anyHit(i, next)) extend(found, pixel);
      i = next;
    }
    fill(thin, y, look.rest);
    fill(found, y, look.hit);
  }

  function extend(runs, pixel) {
    if (runs.length && runs[runs.length - 1] >= pixel) runs[runs.length - 1] = pixel + 1;
    else runs.push(pixel, pixel + 1);
  }

  function fill(runs, y, colour) {
    if (!runs.length) return;
    context.fillStyle = colour;
    for (let i = 0; i < runs.length; i += 2) context.fillRect(runs[i], y, runs[i + 1] - runs[i], ROW - 1);
  }

  function anyHit(low, high) {
    const hits = pane.hits;
    if (hits === null) return false;
    for (let i = low; i < high; i++) if (hits[frames[i]] === 1) return true;
    return false;
  }

  function box(node, x, w, y, look, above) {
    const paint = hooks.paint(pane, node), hit = pane.hits !== null && pane.hits[pane.tree.frame[node]] === 1;
    context.globalAlpha = above ? 0.6 : 1;
    context.fillStyle = hit ? look.hit : paint.fill;
    context.fillRect(x, y, w > 2 ? w - 0.6 : w, ROW - 1);
    if (w > 3 * charWidth) {
      const text = cut(hooks.label(pane, node), Math.floor((w - 6) / charWidth));
      context.fillStyle = hit ? look.onHit : above ? look.text : paint.text;
      context.globalAlpha = 1;
      context.fillText(text, x + 3, y + ROW / 2, w - 4);
    }
    context.globalAlpha = 1;
  }

  const cut = (name, room) => name.length <= room ? name : name.slice(0, Math.max(room - 2, 1)) + "..";

  function outline(width, top, look) {
    const { x, w } = place(pane.at, width);
    context.strokeStyle = look.text;
    context.lineWidth = 2;
    context.strokeRect(x + 1, rowOf(pane.tree.level[pane.at]) * ROW - top + 1, Math.max(w - 2, 1), ROW - 3);
  }

  function place(node, width) {
    if (pane.path.includes(node)) return { x: 0, w: width };
    const scale = width / total[pane.zoomed];
    return { x: (start[node] - start[pane.zoomed]) * scale, w: total[node] * scale };
  }

  // under returns the node at a point of the canvas, -1 for none.
  function under(x, y) {
    const level = rowOf(Math.floor((y + host.scrollTop) / ROW)), width = host.clientWidth;
    if (level < 0 || level >= depth) return -1;
    if (level < pane.path.length) return pane.path[level];
    if (level + 1 >= from.length) return -1;
    const [low, high] = span(level), at = start[pane.zoomed] + x / width * total[pane.zoomed];
    const i = first(low, high, at) - (low < high ? 1 : 0);
    for (const k of [i + 1, i]) {
      if (k >= low && k < high && start[nodes[k]] <= at && at < start[nodes[k]] + total[nodes[k]]) return nodes[k];
    }
    return -1;
  }

  // walk returns where a key leads to from the box that the keys are at; undefined if there is no way.
  pane.walk = function (key) {
    const { tree, at, zoomed } = pane, level = tree.level[at];
    if (key === "Home") return zoomed;
    if (key === (pane.flame ? "ArrowDown" : "ArrowUp")) return at ? tree.parent[at] : undefined;
    if (key === (pane.flame ? "ArrowUp" : "ArrowDown")) {
      if (level < tree.level[zoomed]) return pane.path[level + 1];
      return childrenOf(at).reduce((best, c) => best === undefined || total[c] > total[best] ? c : best, undefined);
    }
    if (level < tree.level[zoomed]) return undefined;
    const [low, high] = span(level), i = first(low, high, start[at]) + (key === "ArrowLeft" ? -1 : 1);
    return i >= low && i < high ? nodes[i] : undefined;
  };

  pane.turn = function (flame) {
    pane.flame = flame;
    fit();
    reveal(pane.at);
    pane.draw();
  };
  pane.resize = function () {
    fit();
    reveal(pane.at);
    pane.draw();
  };
  // print draws all levels, as far as a canvas can hold them.
  pane.print = function (on) {
    paper = on;
    pane.draw();
  };

  canvas.addEventListener("click", (e) => {
    const node = under(e.offsetX, e.offsetY);
    if (node < 0) return;
    pane.at = node;
    pane.zoom(node);
    hooks.at(pane);
  });
  canvas.addEventListener("mousemove", (e) => {
    const node = under(e.offsetX, e.offsetY);
    canvas.style.cursor = node < 0 ? "" : "pointer";
    hooks.over(pane, node, e.clientX, e.clientY);
  });
  canvas.addEventListener("mouseleave", () => hooks.over(pane, -1, 0, 0));
  host.addEventListener("scroll", pane.draw);
  host.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === "Enter" || e.key === " ") pane.zoom(pane.at);
    else if (e.key === "Escape" && pane.zoomed) {
      pane.at = pane.tree.parent[pane.zoomed];
      pane.zoom(pane.at);
      hooks.at(pane);
    } else if (/^Arrow|^Home$/.test(e.key)) {
      const next = pane.walk(e.key);
      if (next !== undefined) pane.focus(next);
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });
  return pane;
}
