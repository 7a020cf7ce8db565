// A tree is its nodes in preorder: of each its level, its frame, its parent, and where what is below it ends. own has what
// the nodes have of their own, one array for each series of values.
function makeTree(level, frame, own) {
  "use strict";
  const n = level.length, parent = new Int32Array(n), end = new Int32Array(n), open = [0];
  parent[0] = -1;
  for (let i = 1; i < n; i++) {
    while (open.length > level[i]) end[open.pop()] = i;
    parent[i] = open[level[i] - 1];
    open.push(i);
  }
  for (const i of open) end[i] = n;
  return { n, level, frame, parent, end, own };
}

// totals adds to what nodes have of their own all that is below them.
function totals(tree, own) {
  "use strict";
  const total = Float64Array.from(own);
  for (let i = tree.n - 1; i > 0; i--) total[tree.parent[i]] += total[i];
  return total;
}

// arrange places the nodes that have a width: where each begins, those of each level from the left, and of these in the
// same order where they begin and their frames, so that a line is searched without going through the tree. A node's own
// part is at its left. Siblings are in the order of their names or, if heavy, the widest first.
function arrange(tree, own, total, heavy) {
  "use strict";
  const { n, end } = tree, start = new Float64Array(n), nodes = new Int32Array(n), left = new Float64Array(n), frames = new Int32Array(n), from = [0, 1];
  let count = 1, children = [];
  for (let row = 0; row < count;) {
    for (const stop = count; row < stop; row++) {
      const node = nodes[row], below = end[node];
      left[row] = start[node];
      frames[row] = tree.frame[node];
      let x = start[node] + own[node];
      if (!heavy) {
        for (let c = node + 1; c < below; c = end[c]) if (total[c] > 0) {
          start[c] = x;
          x += total[c];
          nodes[count++] = c;
        }
        continue;
      }
      children.length = 0;
      for (let c = node + 1; c < below; c = end[c]) if (total[c] > 0) children.push(c);
      if (children.length > 1) children.sort((a, b) => total[b] - total[a] || a - b);
      for (const c of children) {
        start[c] = x;
        x += total[c];
        nodes[count++] = c;
      }
    }
    if (count > row) from.push(count);
  }
  return { start, nodes, left, frames, from };
}

// outermost calls found with each node of a frame that no node of the same frame is above.
function outermost(tree, frame, found) {
  "use strict";
  for (let i = 0; i < tree.n;) {
    if (tree.frame[i] === frame) {
      found(i);
      i = tree.end[i];
    } else i++;
  }
}

// callees joins all that a frame called into one tree.
function callees(tree, frame) {
  "use strict";
  const roots = [];
  outermost(tree, frame, (i) => roots.push(i));
  const made = newGrowing(tree.own.length), groups = [[roots, 0]];
  while (groups.length) {
    const [group, depth] = groups.pop();
    const node = made.add(depth, tree.frame[group[0]]), children = [];
    for (const i of group) {
      made.grow(node, tree.own, i);
      for (let c = i + 1; c < tree.end[i]; c = tree.end[c]) children.push(c);
    }
    pushByFrame(groups, children, (c) => tree.frame[c], depth + 1);
  }
  return made.tree();
}

// callers joins all that led to a frame into one tree, the frame at its root. Nodes have of their own what began there.
function callers(tree, frame, total) {
  "use strict";
  const roots = [];
  outermost(tree, frame, (i) => roots.push([i, i])); // where on the way to the root, from which node
  const made = newGrowing(tree.own.length), groups = [[roots, 0]];
  while (groups.length) {
    const [group, depth] = groups.pop();
    const node = made.add(depth, tree.frame[group[0][0]]), above = [];
    for (const [at, of] of group) {
      const p = tree.parent[at];
      if (p > 0) above.push([p, of]);
      else made.grow(node, total, of);
    }
    pushByFrame(groups, above, (x) => tree.frame[x[0]], depth + 1);
  }
  return made.tree();
}

// pushByFrame pushes the items as groups of one frame, the last one first.
function pushByFrame(groups, items, frameOf, depth) {
  "use strict";
  if (items.length === 1) {
    groups.push([items, depth]);
    return;
  }
  items.sort((a, b) => frameOf(b) - frameOf(a));
  for (let i = 0, j; i < items.length; i = j) {
    for (j = i + 1; j < items.length && frameOf(items[j]) === frameOf(items[i]); j++);
    groups.push([items.slice(i, j), depth]);
  }
}

// newGrowing makes a tree node by node, in preorder.
function newGrowing(series) {
  "use strict";
  const level = [], frame = [], own = Array.from({ length: series }, () => []);
  return {
    add(depth, f) {
      level.push(depth);
      frame.push(f);
      for (const o of own) o.push(0);
      return level.length - 1;
    },
    grow(node, values, i) {
      own.forEach((o, s) => { o[node] += values[s][i]; });
    },
    tree: () => makeTree(Int32Array.from(level), Int32Array.from(frame), own.map((o) => Float64Array.from(o))),
  };
}

// within adds up what each frame has of its own and with all that it called in a part of the tree, however often it is in
// a stack.
function within(tree, begin, end, frames, own, total) {
  "use strict";
  const self = new Float64Array(frames), all = new Float64Array(frames), inside = new Int32Array(frames);
  for (let i = begin; i < end; i++) {
    const f = tree.frame[i];
    if (f < 0) continue;
    self[f] += own[i];
    if (i < inside[f]) continue;
    all[f] += total[i];
    inside[f] = tree.end[i];
  }
  return { self, all };
}

// matched adds up the nodes of a part of the tree whose frames are hit, once however many of them lie above one another,
// and counts those that have a width.
function matched(tree, begin, end, hits, width, sums) {
  "use strict";
  const { frame, end: below } = tree, shares = sums.map(() => 0);
  let count = 0;
  for (let i = begin, covered = 0; i < end; i++) {
    if (!hits[frame[i]] || !(width[i] > 0)) continue;
    count++;
    if (i < covered) continue;
    for (let s = 0; s < sums.length; s++) shares[s] += sums[s][i];
    covered = below[i];
  }
  return { count, shares };
}
