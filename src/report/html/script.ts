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
    const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
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
for (const panel of document.querySelectorAll("#graph")) {
  const boxes = [...panel.querySelectorAll("svg.graph .box")];
  const choice = panel.querySelector("select.colour");
  const paint = () => {
    const at = choice.selectedIndex;
    for (const box of boxes) {
      for (const name of box.dataset.c.split(" ")) box.classList.remove(name);
      box.classList.add(box.dataset.c.split(" ")[at]);
    }
    for (const legend of panel.querySelectorAll(".legends .key")) legend.hidden = legend.dataset.m !== choice.value;
  };
  if (choice) choice.addEventListener("change", paint);
  const show = (box) => {
    const frame = box.closest(".scroll");
    const [inner, outer] = [box.getBoundingClientRect(), frame.getBoundingClientRect()];
    frame.scrollTop += inner.top - outer.top - outer.height / 2;
    frame.scrollLeft += inner.left - outer.left - outer.width / 2;
  };
  for (const frame of panel.querySelectorAll(".scroll")) {
    const first = frame.querySelector(".box");
    if (first) show(first);
    frame.scrollTop = 0;
  }
  const find = panel.querySelector("input.find");
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    const hits = boxes.filter((box) => {
      const isHit = wanted !== "" && box.textContent.toLowerCase().includes(wanted);
      box.classList.toggle("hit", isHit);
      box.classList.toggle("dim", wanted !== "" && !isHit);
      return isHit;
    });
    panel.querySelector("output.found").textContent = wanted === "" ? "" : hits.length + " of " + boxes.length;
    const seen = new Set();
    for (const box of hits) {
      const frame = box.closest(".scroll");
      if (!seen.has(frame)) show(box);
      seen.add(frame);
    }
  });
  const told = panel.querySelector(".picked");
  const textOf = (box) => box.querySelector("title").textContent;
  for (const box of boxes) {
    box.addEventListener("click", () => {
      const parts = new Set(box.dataset.p.split(" ").filter((part) => part !== ""));
      const own = box.closest("svg");
      const kin = boxes.filter((other) => other.dataset.p.split(" ").some((part) => parts.has(part)));
      for (const other of boxes) other.classList.toggle("on", other === box || kin.includes(other));
      const others = kin.filter((other) => other.closest("svg") !== own);
      const siblings = kin.filter((other) => other !== box && other.closest("svg") === own);
      const lines = [textOf(box)];
      if (siblings.length > 0) lines.push("together with: " + siblings.map((each) => textOf(each).split("\\n")[0]).join(", "));
      if (others.length > 0) {
        const isBefore = box.closest("figure").classList.contains("of-before");
        lines.push((isBefore ? "became: " : "was: ") + others.map((each) => textOf(each).split("\\n")[0]).join(", "));
        show(others[0]);
      }
      told.textContent = lines.join("\\n");
    });
  }
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
