/** What the page does when it is touched: sorts and filters tables, copies commands. It reads the page it is in, and nothing else. */
export const SCRIPT = `
for (const button of document.querySelectorAll("table.sorted th button")) {
  button.addEventListener("click", () => {
    const head = button.parentElement;
    const body = head.closest("table").tBodies[0];
    const column = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "descending" || (head.getAttribute("aria-sort") === "none" && !head.classList.contains("n"));
    for (const other of head.parentElement.children) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "ascending" : "descending");
    const key = (row) => row.cells[column].dataset.v;
    const order = head.classList.contains("n")
      ? (a, b) => Number(a) - Number(b)
      : (a, b) => a.localeCompare(b, undefined, { numeric: true });
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === "" || y === "") return x === y ? 0 : x === "" ? 1 : -1;
      return down ? order(x, y) : order(y, x);
    });
    body.append(...rows);
  });
}
for (const input of document.querySelectorAll(".filter input")) {
  const table = input.closest(".table").querySelector("table");
  const told = input.parentElement.querySelector("output");
  input.addEventListener("input", () => {
    const wanted = input.value.toLowerCase();
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) shown++;
    }
    told.textContent = wanted === "" ? "" : shown + " of " + table.tBodies[0].rows.length;
  });
}
for (const pre of document.querySelectorAll("pre.command")) {
  if (!navigator.clipboard) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(pre.textContent);
    button.textContent = "Copied";
  });
  pre.after(button);
}
`;
