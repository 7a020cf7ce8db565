(function () {
  "use strict";
  const NS = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
  const root = document.currentScript.closest("svg.flame");
  let pattern = null;

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

  const reset = button("reset zoom", "10", "start", () => graph.zoom(graph.whole));
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

  const percent = (share) => (100 * share).toFixed(2) + "%";

  function tell() {
    const shown = graph.shown(), all = shown === graph.whole, found = graph.search(pattern);
    reset.style.display = all ? "none" : "";
    if (!pattern) {
      status.textContent = all ? "" : shown.name + " is " + percent(graph.share(shown)) + " of all";
      return;
    }
    let text = "matched " + percent(found.share) + (all ? "" : " of what is shown") + ", " + found.found.length + " frames";
    if (found.small) text += " and " + found.small + " not drawn";
    if (found.others) text += "; " + found.others + " frames not drawn are not searched";
    status.textContent = text;
  }

  const graph = flameGraph(root, () => { if (graph) tell(); });

  input.addEventListener("input", () => {
    pattern = null;
    try {
      if (input.value) pattern = new RegExp(input.value, /[A-Z]/.test(input.value) ? "" : "i");
    } catch (e) {
      graph.search(null);
      status.textContent = "not a regular expression: " + e.message;
      return;
    }
    tell();
  });
  root.ownerDocument.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && e.target !== input) graph.zoom(graph.whole);
    if (e.key === "/" && e.target !== input) {
      e.preventDefault();
      input.focus();
    }
  });
  graph.zoom(graph.whole);
})();
