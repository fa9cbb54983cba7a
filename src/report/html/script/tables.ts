/** Of the page's script: tables are sorted, filtered and shown as a whole. Nothing is read of one before somebody touches it. */
export const TABLES = `
const known = new Map();
const tableOf = (box) => {
  if (!known.has(box)) known.set(box, tableIn(box));
  return known.get(box);
};
const tableIn = (box) => {
  const table = box.querySelector("table");
  const body = table.tBodies[0];
  const heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
  const isNumber = heads.map((head) => head.classList.contains("n"));
  const more = box.querySelector(":scope > .more");
  const filter = box.querySelector(".filter input");
  const first = body.rows.length;
  let most = first;
  let rows = null;
  let shown = null;
  const mark = markingOf(box, heads);
  // A row is its texts, what they are sorted by, and its element once there is one.
  const load = () => {
    if (rows) return;
    rows = [...body.rows].map((element) => ({
      texts: [...element.cells].map((cell) => cell.textContent),
      keys: [...element.cells].map((cell) => cell.dataset.v ?? cell.textContent),
      element,
    }));
    const rest = box.querySelector("script.rest");
    for (const cells of rest ? JSON.parse(rest.textContent) : []) {
      const parts = cells.map((cell) => (Array.isArray(cell) ? cell : [cell, cell]));
      rows.push({ texts: parts.map(([text]) => text), keys: parts.map(([, key]) => String(key)), marked: parts.map((part) => part[2] === 1), element: null });
    }
    shown = rows;
    if (mark) for (const row of rows) if (row.element) mark(row);
  };
  const elementOf = (row) => {
    if (row.element) return row.element;
    row.element = document.createElement("tr");
    row.texts.forEach((text, at) => {
      const cell = row.element.insertCell();
      if (/^[ns]$/.test(heads[at].className)) cell.className = heads[at].className;
      if (row.marked[at]) cell.appendChild(document.createElement("strong")).textContent = "* " + text;
      else cell.textContent = text;
    });
    if (mark) mark(row);
    return row.element;
  };
  const button = more && more.querySelector("button");
  const draw = () => {
    load();
    const order = heads.findIndex((head) => (head.getAttribute("aria-sort") ?? "none") !== "none");
    const wanted = filter ? filter.value.toLowerCase() : "";
    shown = wanted === "" ? [...rows] : rows.filter(({ texts }) => texts.some((text) => text.toLowerCase().includes(wanted)));
    if (order >= 0) sort(shown, order, isNumber[order], heads[order].getAttribute("aria-sort") === "ascending");
    body.replaceChildren(...shown.slice(0, most).map(elementOf));
    if (filter) box.querySelector(".filter output").textContent = wanted === "" ? "" : shown.length + " of " + rows.length;
    if (more) {
      more.hidden = shown.length <= most;
      more.firstChild.textContent = "The first " + most + " of " + shown.length + " rows. ";
      button.textContent = "Show all " + shown.length;
    }
  };
  const orderBy = (head) => {
    const was = head.getAttribute("aria-sort");
    for (const other of heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", was === "descending" || (was === "none" && !head.classList.contains("n")) ? "ascending" : "descending");
    draw();
  };
  const limit = (rowsAtMost) => {
    most = rowsAtMost;
    draw();
  };
  // What the cells of a row say, after their headings; the first ones may be left out.
  const lineOf = (at, from = 0) => {
    load();
    return rows[at].texts.flatMap((text, i) => (i < from || text === "" || text === "-" ? [] : [heads[i].textContent + " " + text])).join(", ");
  };
  const textsOf = (at) => {
    load();
    return rows[at].texts;
  };
  return { box, draw, orderBy, limit, load, lineOf, textsOf, atMost: () => most };
};
addEventListener("click", ({ target }) => {
  const button = target.closest("th button, .more button");
  if (!button) return;
  const table = tableOf(button.closest(".table"));
  if (button.closest("th")) table.orderBy(button.closest("th"));
  else table.limit(Infinity);
});
addEventListener("input", ({ target }) => {
  if (target.closest(".filter")) tableOf(target.closest(".table")).draw();
});
// A unit may stand behind it.
const numberOf = (key) => parseFloat(key.replaceAll(",", ""));
function sort(rows, column, isNumber, isUp) {
  const isMissing = (key) => key === "" || (isNumber && key === "-");
  rows.sort((a, b) => {
    const [x, y] = [a.keys[column], b.keys[column]];
    if (isMissing(x) || isMissing(y)) return isMissing(x) - isMissing(y);
    const found = isNumber ? numberOf(x) - numberOf(y) : x.localeCompare(y, undefined, { numeric: true });
    return isUp ? found : -found;
  });
}
`;
