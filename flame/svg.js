(function () {
  "use strict";
  const NS = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
  const root = document.currentScript.closest("svg.flame"), frames = root.querySelector(".frames"), legend = root.querySelector(".legend");
  const alone = root === document.documentElement; // and not within a page, whose address is its own
  const dark = root.querySelector("style.dark"), byScheme = dark.getAttribute("media"), footer = root.getAttribute("height") - frames.getAttribute("y") - frames.getAttribute("height");
  const state = { zoom: "", q: "", icicle: "", theme: "" };
  let pattern = null, found = [];

  function make(tag, text, attributes, parent) {
    const el = document.createElementNS(HTML, tag);
    el.textContent = text;
    for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
    parent.append(el);
    return el;
  }

  // The head of the picture, with controls; the one for viewers without script goes.
  const holder = document.createElementNS(NS, "foreignObject");
  holder.setAttribute("width", "100%");
  const head = make("div", "", { class: "ui" }, holder), plain = root.querySelector(".head");
  const lines = Array.from(plain.querySelectorAll("text"), (t) => t.textContent);
  make("div", lines.shift(), { class: "name" }, head);
  for (const line of lines) if (line) make("p", line, {}, head);
  const bar = make("div", "", { class: "bar", role: "search", "aria-label": "flame graph" }, head);
  const label = make("label", "search ", {}, bar);
  const input = make("input", "", { type: "search", placeholder: "regular expression", size: "18" }, label);
  const button = (text, title, action) => {
    const b = make("button", text, { type: "button", title }, bar);
    b.addEventListener("click", action);
    return b;
  };
  const previous = button("previous", "previous match (N)", () => step(-1)), next = button("next", "next match (n)", () => step(1));
  const reset = button("all", "zoom out (Esc)", () => graph.zoom(graph.whole)), turned = button("icicle", "root at the top (i)", turn), theme = button("theme: system", "light or dark", nextTheme);
  const crumbs = make("ol", "", { class: "crumbs", "aria-label": "zoomed to" }, head);
  const matches = make("p", "", { role: "status" }, head), details = make("p", "", { class: "details", "aria-live": "polite" }, head);
  plain.replaceWith(holder);

  // fit makes room for the head, whose lines wrap.
  function fit() {
    holder.setAttribute("height", 10000);
    const top = Math.ceil(head.getBoundingClientRect().height) + 4, height = Number(frames.getAttribute("height"));
    holder.setAttribute("height", top);
    frames.setAttribute("y", top);
    legend.setAttribute("transform", "translate(0 " + (top + height + footer - root.dataset.height) + ")");
    root.setAttribute("height", top + height + footer);
  }
  root.dataset.height = root.getAttribute("height");

  const percent = (share) => (100 * share).toFixed(2) + "%";

  function tell() {
    const shown = graph.shown(), all = shown === graph.whole, result = graph.search(pattern);
    found = result.found;
    reset.disabled = all;
    previous.disabled = next.disabled = found.length === 0;
    showCrumbs(shown);
    let text = "";
    if (pattern) {
      if (pattern.error) text = "searched as it is written, since it is no regular expression (" + pattern.error + "): ";
      text += "matched " + percent(result.share) + (all ? "" : " of what is shown") + ", " + found.length + " frames";
      if (result.small) text += " and " + result.small + " not drawn";
      if (result.others) text += "; " + result.others + " frames not drawn are not searched";
    }
    matches.textContent = text;
    state.zoom = graph.path(shown).map((name) => name.replace(/[%;]/g, encodeURIComponent)).join(";");
    remember();
    fit();
  }

  function showCrumbs(shown) {
    const path = [];
    for (let b = shown; b; b = graph.parent(b)) path.unshift(b);
    const items = path.map((b) => {
      const li = document.createElementNS(HTML, "li");
      make("button", b.name, { type: "button" }, li).addEventListener("click", () => graph.zoom(b));
      return li;
    });
    if (items.length > 10) {
      const li = document.createElementNS(HTML, "li");
      li.textContent = "… " + (items.length - 9) + " …";
      items.splice(3, items.length - 9, li);
    }
    items[items.length - 1].append(" " + percent(graph.share(shown)) + (root.classList.contains("diff") ? " of the width" : " of all"));
    crumbs.replaceChildren(...items);
  }

  // step goes to the next match that is drawn.
  function step(by) {
    if (!found.length) return;
    const at = found.indexOf(graph.focused());
    graph.focus(found[at < 0 && by < 0 ? found.length - 1 : (at + by + found.length) % found.length]);
  }

  function turn() {
    graph.turn(!graph.flame());
    state.icicle = graph.flame() === flameFirst ? "" : String(!graph.flame());
    turned.setAttribute("aria-pressed", String(!graph.flame()));
    remember();
  }

  function nextTheme() {
    state.theme = { "": "light", light: "dark", dark: "" }[state.theme];
    showTheme();
    remember();
  }
  function showTheme() {
    dark.setAttribute("media", { "": byScheme, light: "not all", dark: "screen" }[state.theme]);
    root.style.colorScheme = state.theme || "light dark";
    theme.textContent = "theme: " + (state.theme || "system");
  }

  // The address of a picture that stands alone keeps the view.
  function remember() {
    if (!alone) return;
    const p = new URLSearchParams();
    for (const [k, v] of Object.entries(state)) if (v) p.set(k, v);
    const text = p.toString();
    if (text || location.hash) history.replaceState(null, "", "#" + text);
  }

  const graph = flameGraph(root, () => { if (graph) tell(); }, (b) => { details.textContent = b.title.replaceAll("\n", "; "); });
  const flameFirst = graph.flame();

  function search() {
    state.q = input.value;
    pattern = searchFor(input.value);
    tell();
  }
  input.addEventListener("input", search);
  input.addEventListener("keydown", (e) => {
    if (e.key === "Enter") step(e.shiftKey ? -1 : 1);
    else if (e.key === "Escape") {
      input.value = "";
      search();
      input.blur();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });
  root.addEventListener("keydown", pressed);
  if (alone) document.addEventListener("keydown", (e) => { if (e.target === document.body || e.target === document) pressed(e); });
  function pressed(e) {
    if (e.ctrlKey || e.altKey || e.metaKey || e.target === input) return;
    switch (e.key) {
      case "/": input.focus(); break;
      case "n": step(1); break;
      case "N": step(-1); break;
      case "i": turn(); break;
      case "Escape": graph.zoom(graph.whole); break;
      default: return;
    }
    e.preventDefault();
  }
  addEventListener("resize", fit);

  if (alone) for (const [k, v] of new URLSearchParams(location.hash.slice(1))) if (k in state) state[k] = v;
  if (state.icicle && state.icicle !== String(!flameFirst)) graph.turn(!flameFirst);
  turned.setAttribute("aria-pressed", String(!graph.flame()));
  showTheme();
  input.value = state.q;
  pattern = searchFor(state.q);
  const path = state.zoom ? state.zoom.split(";").map((name) => name.replace(/%25|%3B/g, decodeURIComponent)) : [];
  graph.zoom(graph.find(path) || graph.whole);
})();
