// newTable shows the functions, sorted by any column, so many at a time.
// columns: { key, text, number, value(row), show(row) }; pick is called with the frame whose name was chosen.
function newTable(pick) {
  "use strict";
  const PAGE = 50;
  const head = document.querySelector("#table thead tr"), body = document.querySelector("#table tbody"), more = document.getElementById("more"), note = document.getElementById("listed");
  const table = { sort: "", falling: true };
  let columns = [], rows = [], order = [], shown = 0;

  table.columns = function (list) {
    columns = list;
    if (!columns.some((c) => c.key === table.sort)) {
      table.sort = columns.find((c) => c.number).key;
      table.falling = true;
    }
    head.replaceChildren(...columns.map((c) => {
      const th = document.createElement("th"), button = document.createElement("button");
      th.scope = "col";
      th.dataset.key = c.key;
      if (c.number) th.className = "number";
      button.type = "button";
      button.textContent = c.text;
      button.addEventListener("click", () => {
        table.falling = table.sort === c.key ? !table.falling : Boolean(c.number);
        table.sort = c.key;
        table.rows(rows);
        table.changed();
      });
      th.append(button);
      return th;
    }));
  };
  table.changed = () => {};

  table.rows = function (list) {
    rows = list;
    const c = columns.find((c) => c.key === table.sort), sign = table.falling ? -1 : 1;
    for (const th of head.cells) {
      if (th.dataset.key === table.sort) th.setAttribute("aria-sort", table.falling ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
    const compare = c.number ? (a, b) => c.value(a) - c.value(b) : (a, b) => c.value(a) < c.value(b) ? -1 : c.value(a) > c.value(b) ? 1 : 0;
    order = rows.slice().sort((a, b) => sign * compare(a, b) || a.frame - b.frame);
    body.replaceChildren();
    shown = 0;
    page();
  };

  function page() {
    const end = Math.min(shown + PAGE, order.length);
    for (; shown < end; shown++) body.append(line(order[shown]));
    more.hidden = shown >= order.length;
    more.textContent = Math.min(PAGE, order.length - shown) + " more";
    note.textContent = numbers.count(shown) + " of " + numbers.count(order.length) + (order.length === 1 ? " function" : " functions");
  }

  function line(row) {
    const tr = document.createElement("tr");
    for (const c of columns) {
      const td = tr.insertCell();
      if (c.number) td.className = "number";
      if (c.key !== "function") {
        td.textContent = c.show(row);
        continue;
      }
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = c.show(row);
      button.title = "callers and callees";
      button.addEventListener("click", () => pick(row.frame));
      td.append(button);
    }
    return tr;
  }

  more.addEventListener("click", () => {
    const at = shown;
    page();
    body.rows[at]?.querySelector("button")?.focus();
  });
  return table;
}
