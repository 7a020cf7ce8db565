(async function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;
  const { head, level, frame } = await unpack($("profile"));
  const names = head.frames.names, objects = head.frames.objects, inlined = new Set(head.frames.inlined);
  const judge = head.diff ? newJudge(head.diff) : null;
  const whole = makeTree(level, frame, []);
  // Frames of one name that differ in where they are have keys of their own.
  const frameOf = new Map();
  const keys = names.map((name, f) => {
    let key = name;
    if (frameOf.has(key)) key += " in " + objects[head.frames.object[f]];
    while (frameOf.has(key)) key += " (inlined)";
    frameOf.set(key, f);
    return key;
  });

  // What the address keeps. zoom and of name boxes and functions by their names, so that a link lasts as long as these.
  const state = { column: head.first, width: head.width || "larger", by: head.by, order: "name", icicle: head.icicle, theme: "", q: "", of: "", zoom: "", from: "", to: "", sort: "" };
  const initial = { ...state };
  for (const [key, value] of new URLSearchParams(location.hash.slice(1))) {
    if (!(key in state)) continue;
    state[key] = typeof state[key] === "number" ? Number(value) : typeof state[key] === "boolean" ? value === "true" : value;
  }
  if (!head.columns[state.column]) state.column = head.first;
  if (!head.frames.paint[state.by]) state.by = head.by;

  function remember() {
    const p = new URLSearchParams();
    for (const key of Object.keys(state)) if (state[key] !== initial[key]) p.set(key, state[key]);
    const text = p.toString();
    history.replaceState(null, "", text || location.hash ? "#" + text : location.href);
  }

  // Values: of one column or, of a difference, of both sides and their numbers of samples.
  const column = () => head.columns[judge ? 0 : state.column];
  const quantity = (v) => numbers.quantity(v, column());
  const known = new Map();
  const ownOf = (c) => {
    if (!known.has(c)) known.set(c, ownValues(head.columns[c], whole.n));
    return known.get(c);
  };

  // span returns the slices of time that are shown. The address has them as seconds from the beginning.
  function span() {
    const slice = (text, otherwise) => text === "" || !(Number(text) >= 0) ? otherwise : Math.min(Math.round(Number(text) * 1e9 / head.time.size), head.time.slices);
    const from = Math.min(slice(state.from, 0), head.time.slices - 1);
    return [from, Math.max(slice(state.to, head.time.slices), from + 1)];
  }

  function series() {
    if (judge) return [0, 1, 2, 3].map(ownOf);
    return head.time && (state.from || state.to) ? [ownValuesIn(head.columns[state.column], whole.n, span()[0], span()[1])] : [ownOf(state.column)];
  }

  // A view is a tree with the totals of its series and the widths that boxes get.
  function viewOf(tree) {
    const sums = tree.own.map((own) => totals(tree, own));
    if (!judge) return { tree, sums, widths: { own: tree.own[0], total: sums[0] } };
    const own = judge.widths(tree.own[0], tree.own[1], state.width);
    return { tree, sums, widths: { own, total: totals(tree, own) } };
  }

  let base = null; // the view of everything
  let panes = [];
  let pattern = null;
  const hits = new Uint8Array(names.length);
  const views = new Map(); // by pane

  const nameOf = (view, node) => view.tree.frame[node] < 0 ? "all" : names[view.tree.frame[node]];
  const grand = () => judge ? 0 : base.sums[0][0];

  function describe(pane, node) {
    const view = views.get(pane), f = view.tree.frame[node], shown = view.sums[0][pane.zoomed], own = view.tree.own;
    const parts = [nameOf(view, node)];
    if (judge) parts.push(...judge.describe(view.sums.map((s) => s[node]), own.map((o) => o[node]), quantity));
    else {
      const v = view.sums[0][node], self = own[0][node];
      parts.push(quantity(v) + ", " + numbers.percent(v / (grand() || 1)) + " of all" + (pane.zoomed ? ", " + numbers.percent(v / (shown || 1)) + " of what is shown" : ""));
      parts.push("self " + quantity(self) + ", " + numbers.percent(self / (grand() || 1)));
    }
    if (f >= 0 && objects[head.frames.object[f]]) parts.push("in " + objects[head.frames.object[f]] + (inlined.has(f) ? ", inlined" : ""));
    return parts.join("\n");
  }

  // Colours.
  let night = false;
  function paintOf(pane, node) {
    const view = views.get(pane), f = view.tree.frame[node];
    const p = judge ? head.paints[judge.paint(view.sums.map((s) => s[node]))] : f < 0 ? head.paints[head.rest] : head.paints[head.frames.paint[state.by][f]];
    return night ? { fill: p.dark, text: p.on_dark } : { fill: p.light, text: p.on_light };
  }
  function showLegend() {
    const seen = new Map();
    const used = judge ? head.diff.paints.map((p) => head.paints[p]) : head.frames.paint[state.by].map((p) => head.paints[p]);
    for (const p of used) if (p.name && !seen.has(p.name)) seen.set(p.name, p);
    $("legend").replaceChildren(...[...seen.values()].slice(0, 16).map((p) => {
      const li = document.createElement("li"), i = document.createElement("i");
      i.style.background = night ? p.dark : p.light;
      li.append(i, p.name);
      return li;
    }));
  }

  function showDetails(pane) {
    $("details").textContent = describe(pane, pane.at).replaceAll("\n", "; ");
  }

  const hooks = {
    label: (pane, node) => {
      const view = views.get(pane), name = nameOf(view, node);
      return judge ? judge.label(name, view.sums.map((s) => s[node])) : name;
    },
    describe, paint: paintOf,
    changed: (pane) => {
      showCrumbs();
      showMatches();
      showDetails(pane);
      later(showTable);
      remember();
    },
    at: (pane) => { current = pane; showDetails(pane); },
    over: (pane, node, x, y) => {
      const tip = $("tip");
      tip.hidden = node < 0;
      if (node < 0) return;
      tip.textContent = describe(pane, node);
      tip.style.left = Math.max(0, Math.min(x + 12, innerWidth - tip.offsetWidth - 4)) + "px";
      tip.style.top = (y + 16 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 8 : y + 16) + "px";
    },
  };
  const main = newPane($("graph"), "flame graph of " + head.title, hooks), above = newPane($("callers"), "callers", hooks);
  let current = main;

  // later does something when the picture is drawn and nothing was done for a moment.
  let waiting = 0;
  function later(what) {
    clearTimeout(waiting);
    waiting = setTimeout(what, 100);
  }

  // compute takes up what was chosen: the values, the time, the function in the middle.
  function compute() {
    whole.own = series();
    base = viewOf(whole);
    arrangePanes();
  }

  function arrangePanes() {
    const f = frameOf.get(state.of) ?? -1;
    if (f < 0) state.of = "";
    const both = state.of !== "";
    $("callers").hidden = $("callers-title").hidden = $("callees-title").hidden = !both;
    panes = both ? [above, main] : [main];
    above.limit = main.limit = both ? Math.round(innerHeight * 0.4) : 0;
    main.flame = both ? false : !state.icicle;
    above.flame = true;
    main.host.setAttribute("aria-label", both ? "what " + state.of + " calls" : (main.flame ? "flame" : "icicle") + " graph of " + head.title);
    above.host.setAttribute("aria-label", "what calls " + state.of);
    set(main, both ? viewOf(callees(whole, f)) : base);
    if (both) set(above, viewOf(callers(whole, f, base.sums)));
    current = main;
    $("turn").setAttribute("aria-pressed", String(state.icicle));
    $("turn").disabled = both;
  }

  function set(pane, view) {
    views.set(pane, view);
    pane.show(view.tree, view.widths, state.order === "heavy");
  }

  const draw = () => panes.forEach((p) => p.draw());

  // Paths name boxes from the root on.
  const escaped = (name) => name.replace(/[%;]/g, (c) => encodeURIComponent(c));
  function pathOf(pane) {
    return pane.path.slice(1).map((n) => escaped(nameOf(views.get(pane), n))).join(";");
  }
  function nodeAt(pane, path) {
    const { tree } = pane;
    let at = 0;
    for (const name of path ? path.split(";") : []) {
      let found = -1;
      for (let c = at + 1; c < tree.end[at] && found < 0; c = tree.end[c]) if (escaped(nameOf(views.get(pane), c)) === name && pane.total[c] > 0) found = c;
      if (found < 0) break;
      at = found;
    }
    return at;
  }

  const SHOWN = 12; // breadcrumbs: the outermost ones, and the last ones
  function showCrumbs() {
    state.zoom = pathOf(main);
    const path = main.path, list = $("crumbs"), view = views.get(main);
    const crumb = (node, text) => {
      const li = document.createElement("li"), b = document.createElement("button");
      b.type = "button";
      b.textContent = text ?? nameOf(view, node);
      b.addEventListener("click", () => { main.at = node; main.zoom(node); main.host.focus(); });
      li.append(b);
      return li;
    };
    const items = [];
    if (state.of) {
      const li = document.createElement("li"), b = document.createElement("button");
      b.type = "button";
      b.textContent = "all";
      b.addEventListener("click", leave);
      li.append(b);
      items.push(li);
    }
    path.forEach((node, i) => {
      if (path.length > SHOWN && i > 2 && i < path.length - SHOWN + 3) {
        if (i === 3) items.push(crumb(path[path.length - SHOWN + 2], "… " + (path.length - SHOWN) + " …"));
      } else items.push(crumb(node));
    });
    const shown = judge ? "" : " " + quantity(view.sums[0][main.zoomed]) + ", " + numbers.percent(view.sums[0][main.zoomed] / (grand() || 1)) + " of all";
    items[items.length - 1].append(shown);
    list.replaceChildren(...items);
    $("out").disabled = !state.of && !main.zoomed;
  }

  // Search.
  function search() {
    state.q = $("search").value;
    pattern = searchFor(state.q);
    names.forEach((name, f) => { hits[f] = pattern && pattern.test(name) ? 1 : 0; });
    main.hits = above.hits = pattern ? hits : null;
    draw();
    showMatches();
    later(showTable);
    remember();
  }

  // showMatches says which share of what is shown the search matches, counted once however many matching boxes lie above
  // one another.
  function showMatches() {
    $("previous").disabled = $("next").disabled = !pattern;
    if (!pattern) {
      $("matches").textContent = "";
      return;
    }
    const written = pattern.error ? "searched as it is written, since it is no regular expression (" + pattern.error + "): " : "";
    const { tree, sums } = views.get(main), z = main.zoomed;
    const { count, shares } = matched(tree, z, tree.end[z], hits, main.total, sums.slice(0, judge ? 2 : 1));
    const share = (s) => numbers.percent(shares[s] / (sums[s][z] || 1));
    $("matches").textContent = written + "matched " + (judge ? share(0) + " of base, " + share(1) + " of other" : share(0)) +
      (z || state.of ? " of what is shown" : "") + " in " + numbers.count(count) + (count === 1 ? " box" : " boxes");
  }

  // step goes to the next match of the search, and zooms out or in so that it can be seen.
  function step(by) {
    if (!pattern) return;
    const pane = current, { tree } = pane, n = tree.n;
    for (let k = 1, i = pane.at; k <= n; k++) {
      i = (i + by + n) % n;
      const f = tree.frame[i];
      if (f < 0 || !hits[f] || !(pane.total[i] > 0)) continue;
      let z = i;
      while (z > 0 && pane.total[tree.parent[z]] <= 200 * pane.total[i]) z = tree.parent[z];
      pane.at = i;
      const seen = i >= pane.zoomed && i < tree.end[pane.zoomed] && pane.total[i] * 400 > pane.total[pane.zoomed];
      if (!seen) pane.zoom(z);
      pane.focus(i);
      pane.host.focus();
      return;
    }
  }

  // The table of functions, within what is shown.
  const table = newTable((f) => enter(keys[f]));
  table.changed = () => { state.sort = table.sort + (table.falling ? "d" : "a"); remember(); };
  function showTable() {
    const { tree, sums } = views.get(main), z = main.zoomed;
    const found = sums.map((total, s) => within(tree, z, tree.end[z], names.length, tree.own[s], total));
    const rows = [];
    for (let f = 0; f < names.length; f++) {
      if (head.frames.kinds[f] === "thread" || pattern && !hits[f]) continue;
      const self = found.map((x) => x.self[f]), all = found.map((x) => x.all[f]);
      if (all.some((v) => v > 0)) rows.push({ frame: f, self, all });
    }
    table.rows(rows);
  }
  function columns() {
    const share = (v) => numbers.percent(v / (grand() || 1));
    return [
      { key: "function", text: "function", value: (r) => names[r.frame], show: (r) => names[r.frame] },
      { key: "self", text: "self", number: true, value: (r) => r.self[0], show: (r) => quantity(r.self[0]) },
      { key: "self-share", text: "of all", number: true, value: (r) => r.self[0], show: (r) => share(r.self[0]) },
      { key: "total", text: "total", number: true, value: (r) => r.all[0], show: (r) => quantity(r.all[0]) },
      { key: "total-share", text: "of all", number: true, value: (r) => r.all[0], show: (r) => share(r.all[0]) },
      { key: "object", text: "object", value: (r) => objects[head.frames.object[r.frame]], show: (r) => objects[head.frames.object[r.frame]] },
    ];
  }

  // Callers and callees.
  function enter(key) {
    state.of = key;
    state.zoom = "";
    arrangePanes();
    draw();
    hooks.changed(main);
    hooks.at(main);
    main.host.focus();
    $("callees-title").scrollIntoView({ block: "nearest" });
  }
  function leave() {
    if (state.of) {
      state.of = state.zoom = "";
      arrangePanes();
      draw();
      hooks.changed(main);
    } else main.zoom(0);
    main.host.focus();
    hooks.at(main);
  }
  function sandwich() {
    const f = current.tree.frame[current.at];
    if (f >= 0) enter(keys[f]);
  }

  // again does something that arranges the boxes anew, and keeps what is zoomed to.
  const again = (how) => () => {
    const path = state.zoom;
    how();
    main.at = nodeAt(main, path);
    main.zoom(main.at);
    draw();
  };

  // The window of time.
  const seconds = (slice) => String(Number((slice * head.time.size / 1e9).toPrecision(6)));
  function showSpan() {
    const [from, to] = span();
    $("from").value = from;
    $("to").value = to;
    $("from").setAttribute("aria-valuetext", seconds(from) + " s");
    $("to").setAttribute("aria-valuetext", seconds(to) + " s");
    $("span").textContent = seconds(from) + " s to " + seconds(to) + " s of " + seconds(head.time.slices) + " s: " + quantity(base.sums[0][0]);
  }
  function chooseSpan(moved) {
    const last = head.time.slices;
    let from = Math.min(Number($("from").value), last - 1), to = Math.max(Number($("to").value), 1);
    if (from >= to) moved === "from" ? to = from + 1 : from = to - 1;
    state.from = from > 0 ? seconds(from) : "";
    state.to = to < last ? seconds(to) : "";
    again(compute)();
    showSpan();
    remember();
  }
  if (head.time) {
    $("window").hidden = false;
    for (const id of ["from", "to"]) {
      $(id).max = head.time.slices;
      $(id).addEventListener("input", () => chooseSpan(id));
    }
  }

  // Controls.
  function showTheme() {
    if (state.theme) root.dataset.theme = state.theme;
    else delete root.dataset.theme;
    $("theme").textContent = "theme: " + (state.theme || "system");
    night = state.theme ? state.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    showLegend();
  }
  const themes = ["", "light", "dark"];
  $("theme").addEventListener("click", () => {
    state.theme = themes[(themes.indexOf(state.theme) + 1) % themes.length];
    showTheme();
    draw();
    remember();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { showTheme(); draw(); });

  function choose(id, key, then) {
    $(id).value = String(state[key]);
    $(id).addEventListener("change", () => {
      state[key] = typeof state[key] === "number" ? Number($(id).value) : $(id).value;
      then();
      remember();
    });
  }
  $("column").replaceChildren(...head.columns.map((c, i) => new Option(c.event + (c.value === "samples" ? ", samples" : ""), i)));
  $("columns").hidden = head.columns.length < 2 || judge !== null;
  $("widths").hidden = judge === null;
  $("by").parentElement.hidden = judge !== null;
  choose("column", "column", () => { again(compute)(); if (head.time) showSpan(); });
  choose("width", "width", again(compute));
  choose("by", "by", () => { showLegend(); draw(); });
  choose("order", "order", again(arrangePanes));
  function turn() {
    if (state.of) return;
    state.icicle = !state.icicle;
    $("turn").setAttribute("aria-pressed", String(state.icicle));
    main.turn(!state.icicle);
    remember();
  }
  $("turn").addEventListener("click", turn);
  $("sandwich").addEventListener("click", sandwich);
  $("out").addEventListener("click", leave);
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  $("search").addEventListener("input", search);
  $("search").addEventListener("keydown", (e) => {
    if (e.key === "Enter") step(e.shiftKey ? -1 : 1);
    else if (e.key === "Escape") {
      $("search").value = "";
      search();
      main.host.focus();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });
  function help() {
    $("keys").hidden = !$("keys").hidden;
    $("help").setAttribute("aria-expanded", String(!$("keys").hidden));
  }
  $("help").addEventListener("click", help);
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
    switch (e.key) {
      case "/": $("search").focus(); $("search").select(); break;
      case "n": step(1); break;
      case "N": step(-1); break;
      case "s": sandwich(); break;
      case "i": turn(); break;
      case "o": $("order").value = state.order === "name" ? "heavy" : "name"; $("order").dispatchEvent(new Event("change")); break;
      case "?": help(); break;
      case "Escape": leave(); break;
      default: return;
    }
    e.preventDefault();
  });
  addEventListener("resize", () => panes.forEach((p) => p.resize()));
  // Paper is light, and shows graphs as deep as they are.
  addEventListener("beforeprint", () => {
    night = false;
    showLegend();
    for (const p of panes) p.print(true);
  });
  addEventListener("afterprint", () => {
    showTheme();
    for (const p of panes) p.print(false);
  });

  // The first picture.
  const wanted = /^(.+)([ad])$/.exec(state.sort);
  if (wanted) [table.sort, table.falling] = [wanted[1], wanted[2] === "d"];
  table.columns(judge ? judge.columns(names, quantity) : columns());
  $("controls").hidden = $("graph").hidden = false;
  $("wait").hidden = true;
  showTheme();
  const path = state.zoom;
  compute();
  if (head.time) showSpan();
  if (path) {
    main.at = nodeAt(main, path);
    main.zoom(main.at);
  }
  $("search").value = state.q;
  if (state.q) search();
  draw();
  showCrumbs();
  showMatches();
  hooks.at(main);
  performance.mark("first picture");
  later(showTable);
})();
