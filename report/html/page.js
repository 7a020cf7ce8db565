(function () {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement, search = $("search"), output = $("matches");
  const state = { q: "", theme: "", sort: {}, zoom: {} };

  // The fragment is an anchor, or one with the state of the view behind it: "#f-12ab&q=tso&theme=dark".
  function readFragment() {
    const [anchor, ...rest] = location.hash.slice(1).split("&");
    for (const [key, value] of new URLSearchParams(rest.join("&"))) {
      if (key === "q" || key === "theme") state[key] = value;
      else if (key.startsWith("sort.")) state.sort[key.slice(5)] = value;
      else if (key.startsWith("zoom.")) state.zoom[key.slice(5)] = value;
    }
    return anchor;
  }

  let anchor = readFragment();
  function writeFragment() {
    const p = new URLSearchParams();
    if (state.q) p.set("q", state.q);
    if (state.theme) p.set("theme", state.theme);
    for (const [id, v] of Object.entries(state.sort)) p.set("sort." + id, v);
    for (const [id, v] of Object.entries(state.zoom)) p.set("zoom." + id, v);
    const text = p.toString();
    history.replaceState(null, "", "#" + anchor + (text ? "&" + text : ""));
  }

  // Themes.
  const themes = ["", "light", "dark"];
  function showTheme() {
    if (state.theme) root.dataset.theme = state.theme;
    else delete root.dataset.theme;
    $("theme").textContent = "theme: " + (state.theme || "system");
  }
  $("theme").addEventListener("click", () => {
    state.theme = themes[(themes.indexOf(state.theme) + 1) % themes.length];
    showTheme();
    writeFragment();
  });

  // Sorting of tables: by data-value where cells have one, else by text.
  const tables = Array.from(document.querySelectorAll("table"));
  tables.forEach((table, i) => {
    const key = table.id || "t" + i;
    const rows = Array.from(table.tBodies[0].rows);
    const heads = Array.from(table.tHead.rows[0].cells);
    if (rows.length < 2) return;
    function sort(column, descending) {
      heads.forEach((h, c) => c === column ? h.setAttribute("aria-sort", descending ? "descending" : "ascending") : h.removeAttribute("aria-sort"));
      const value = (row) => row.cells[column].dataset.value;
      const compare = (a, b) => {
        const x = value(a), y = value(b);
        if (x !== undefined && y !== undefined) return Number(x) - Number(y);
        if (x !== undefined || y !== undefined) return x !== undefined ? -1 : 1;
        return a.cells[column].textContent.localeCompare(b.cells[column].textContent, "en", { numeric: true });
      };
      const sorted = rows.slice().sort((a, b) => (descending ? -1 : 1) * compare(a, b));
      table.tBodies[0].append(...sorted);
    }
    heads.forEach((h, c) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...h.childNodes);
      h.append(button);
      button.addEventListener("click", () => {
        const first = h.classList.contains("number") ? "descending" : "ascending";
        const descending = h.hasAttribute("aria-sort") ? h.getAttribute("aria-sort") === "ascending" : first === "descending";
        sort(c, descending);
        state.sort[key] = c + (descending ? "d" : "a");
        writeFragment();
      });
    });
    const wanted = /^(\d+)([ad])$/.exec(state.sort[key] || "");
    if (wanted && heads[wanted[1]]) sort(Number(wanted[1]), wanted[2] === "d");
  });

  // Flame graphs.
  const graphs = Array.from(document.querySelectorAll("figure.profile"), (figure) => {
    const crumbs = figure.querySelector(".crumbs");
    let graph = null;
    function changed() {
      if (!graph) return;
      const path = graph.path(graph.shown());
      if (path.length) state.zoom[figure.id] = path.join(";");
      else delete state.zoom[figure.id];
      crumbs.hidden = path.length === 0;
      crumbs.textContent = path.length ? "all › " + path.join(" › ") + " (" + percent(graph.share(graph.shown())) + " of all)" : "";
      showMatches();
      writeFragment();
    }
    graph = flameGraph(figure, changed);
    graph.figure = figure;
    return graph;
  });
  const percent = (share) => (100 * share).toFixed(1) + " %";

  // Search. A query is words and terms; a finding matches if all of them do.
  const ranks = { severity: ["info", "notice", "warning", "critical"], sure: ["low", "medium", "high"] };
  const listed = Map.groupBy(document.querySelectorAll("[data-finding]"), (item) => item.dataset.finding);
  const articles = Array.from(document.querySelectorAll("article.finding"), (el) => ({
    el, text: el.textContent.toLowerCase(), items: listed.get(el.id) || [],
  }));
  const rows = Array.from(document.querySelectorAll("section tbody tr"), (el) => ({ el, text: el.textContent.toLowerCase() }));
  let found = [], at = -1;

  const counted = (n, noun) => n + " " + noun + (n === 1 ? "" : "s");

  // termOf returns the test of a term such as rule:tso or severity>=warning.
  function termOf(field, op, value) {
    const rank = ranks[field];
    if (!rank) return (a) => a.el.dataset[field].toLowerCase().includes(value) !== (op === "!=");
    const level = rank.findIndex((s) => s.startsWith(value));
    if (level < 0) return null;
    return (a) => {
      const by = rank.indexOf(a.el.dataset[field]) - level;
      return ({ ">=": by >= 0, "<=": by <= 0, ">": by > 0, "<": by < 0, "!=": by !== 0 })[op] ?? by === 0;
    };
  }

  // parse reads the language of the explorer's filters: ! in front of a word or a term turns it round.
  function parse(query) {
    const terms = [], words = [];
    for (const typed of query.toLowerCase().split(/\s+/).filter(Boolean)) {
      const not = typed.length > 1 && typed[0] === "!", word = not ? typed.slice(1) : typed;
      const m = /^(severity|rule|subject|sure)(>=|<=|!=|=|:|>|<)(.+)$/.exec(word);
      const term = m ? termOf(m[1], m[2], m[3]) : (a) => a.text.includes(word);
      if (!term) return { error: "no " + m[1] + " is called " + m[3] + ": " + ranks[m[1]].join(", ") };
      if (m || not) terms.push((a) => term(a) !== not);
      else words.push(word);
    }
    return { terms, words };
  }

  function showMatches() {
    const query = parse(state.q), any = state.q.trim() !== "";
    for (const el of document.querySelectorAll(".current")) el.classList.remove("current");
    found = [];
    at = -1;
    if (query.error) {
      output.textContent = query.error;
      return;
    }
    for (const a of articles) {
      const yes = query.terms.every((t) => t(a)) && query.words.every((w) => a.text.includes(w));
      a.el.hidden = !yes;
      for (const item of a.items) item.classList.toggle("match", any && yes);
      if (any && yes) found.push(a.el);
    }
    filterOverview();
    const findings = found.length, byWords = query.words.length > 0;
    for (const r of rows) {
      const yes = byWords && query.words.every((w) => r.text.includes(w));
      r.el.classList.toggle("match", yes);
      if (yes) found.push(r.el);
    }
    const inTables = found.length - findings;
    const parts = any ? [findings + " of " + articles.length + " findings"] : [];
    if (inTables) parts.push(counted(inTables, "row"));
    const pattern = byWords ? { test: (name) => query.words.every((w) => name.toLowerCase().includes(w)) } : null;
    for (const g of graphs) {
      const hits = g.search(pattern);
      for (const b of hits.found) found.push({ graph: g, box: b });
      if (hits.found.length + hits.small) parts.push(counted(hits.found.length + hits.small, "frame") + ", " + percent(hits.share) + (graphs.length > 1 ? " of " + g.figure.dataset.name : " of samples"));
    }
    output.textContent = parts.join("; ");
  }

  // The overview shows the causes of what matches, too, so that a match among symptoms is not lost.
  function filterOverview() {
    const overview = $("overview");
    if (!overview) return;
    const hidden = new Set(articles.filter((a) => a.el.hidden).map((a) => a.el.id));
    for (const li of overview.querySelectorAll("li[data-finding]")) {
      const inside = Array.from(li.querySelectorAll("li[data-finding]")).some((s) => !hidden.has(s.dataset.finding));
      li.hidden = hidden.has(li.dataset.finding) && !inside;
    }
    for (const details of overview.querySelectorAll("details")) {
      if (state.q.trim() && details.querySelector("li.match")) details.open = true;
    }
  }

  function reveal(el) {
    for (let p = el.parentElement; p; p = p.parentElement) if (p.tagName === "DETAILS") p.open = true;
  }

  function next(step) {
    if (!found.length) return;
    for (const el of document.querySelectorAll(".current")) el.classList.remove("current");
    at = at < 0 && step < 0 ? found.length - 1 : (at + step + found.length) % found.length;
    const f = found[at];
    const text = output.textContent.replace(/^\d+\/\d+: /, "");
    output.textContent = at + 1 + "/" + found.length + ": " + text;
    if (f.graph) {
      reveal(f.box.el);
      f.graph.focus(f.box);
      f.box.el.scrollIntoView({ block: "center" });
      return;
    }
    reveal(f);
    f.classList.add("current");
    f.scrollIntoView({ block: f.tagName === "TR" ? "center" : "start" });
  }

  search.addEventListener("input", () => {
    state.q = search.value;
    showMatches();
    writeFragment();
  });
  function clear() {
    search.value = state.q = "";
    showMatches();
    writeFragment();
  }
  search.addEventListener("keydown", (e) => {
    if (e.key === "Enter") next(e.shiftKey ? -1 : 1);
    else if (e.key === "ArrowDown") next(1);
    else if (e.key === "ArrowUp") next(-1);
    else if (e.key === "Escape") {
      clear();
      search.blur();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    switch (e.key) {
      case "/": search.focus(); search.select(); break;
      case "n": next(1); break;
      case "N": next(-1); break;
      case "?": help(); break;
      case "Escape": clear(); break;
      default: return;
    }
    e.preventDefault();
  });

  // The counts of severities filter.
  for (const badge of document.querySelectorAll(".counts .badge")) {
    const button = document.createElement("button"), severity = badge.classList[1];
    button.type = "button";
    button.className = badge.className;
    button.textContent = badge.textContent;
    button.addEventListener("click", () => {
      const term = "severity:" + severity;
      search.value = state.q = state.q === term ? "" : term;
      showMatches();
      writeFragment();
    });
    badge.replaceWith(button);
  }

  function help() {
    const keys = $("keys");
    keys.hidden = !keys.hidden;
    $("help").setAttribute("aria-expanded", String(!keys.hidden));
  }
  $("help").addEventListener("click", help);

  // Copying of a finding as Markdown, and of a link to it with the view as it is. Where the browser refuses, the text is
  // selected in place.
  function copier(label, text, refused) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = label;
    button.addEventListener("click", async () => {
      let done = true;
      try {
        await navigator.clipboard.writeText(text());
      } catch (e) {
        const range = document.createRange(), selection = getSelection();
        range.selectNodeContents(refused());
        selection.removeAllRanges();
        selection.addRange(range);
        done = document.execCommand("copy");
      }
      button.textContent = done ? "copied" : "selected: copy it";
      setTimeout(() => { button.textContent = label; }, 2000);
    });
    return button;
  }
  const linkTo = (id) => location.href.split("#")[0] + "#" + [id, ...location.hash.split("&").slice(1)].join("&");
  for (const { el } of articles) {
    const link = el.querySelector(".permalink");
    link.after(" ", copier("copy link", () => linkTo(el.id), () => {
      link.textContent = linkTo(el.id);
      return link;
    }));
    const details = el.querySelector("details.markdown"), pre = details.querySelector("pre");
    details.before(copier("copy as Markdown", () => pre.textContent, () => {
      details.open = true;
      return pre;
    }));
  }

  // What is folded is printed, too.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = Array.from(document.querySelectorAll("details:not([open])"));
    for (const d of folded) d.open = true;
  });
  addEventListener("afterprint", () => { for (const d of folded) d.open = false; });

  function go() {
    const el = anchor && $(anchor);
    if (!el) return;
    if (el.hidden) clear();
    reveal(el);
    const own = el.querySelector(":scope > details");
    if (own) own.open = true;
    el.scrollIntoView();
  }
  addEventListener("hashchange", () => {
    anchor = readFragment();
    search.value = state.q;
    showTheme();
    showMatches();
    writeFragment();
    go();
  });

  $("controls").hidden = false;
  search.value = state.q;
  showTheme();
  for (const g of graphs) {
    const box = state.zoom[g.figure.id] && g.find(state.zoom[g.figure.id].split(";"));
    if (box) g.zoom(box);
  }
  showMatches();
  go();
})();
