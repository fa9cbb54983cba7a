/** Of the page's script: both graphs, drawn when the reader comes near them. */
export const GRAPH = `
const drawings = [...document.querySelectorAll("#graph")].map((panel) => {
  const choice = panel.querySelector("select.colour");
  const find = panel.querySelector("input.find");
  const told = panel.querySelector(".picked");
  const boxes = [];
  const hint = told.textContent;
  let picked = null;
  let isDrawn = false;
  const svg = (parent, name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    parent.appendChild(element);
    return element;
  };
  const drawNow = () => {
    if (isDrawn) return;
    isDrawn = true;
    for (const figure of panel.querySelectorAll("figure")) {
      const { width, height, box: [wide, high], edges, boxes: all } = JSON.parse(figure.querySelector("script.drawing").textContent);
      const frame = figure.querySelector(".scroll");
      frame.replaceChildren();
      const drawing = svg(frame, "svg", { class: "graph", width, height, viewBox: "-6 -6 " + width + " " + height });
      svg(drawing, "path", { class: "edges", d: edges });
      const side = figure.classList.contains("of-before") ? "before" : "after";
      const table = tableOf(panel.querySelector(".boxes.of-" + side + " .table"));
      for (const [at, [x, y, classes, parts, sub, nodes, label]] of all.entries()) {
        const [name, operator] = table.textsOf(at);
        const element = svg(drawing, "g", { class: "box", transform: "translate(" + x + " " + y + ")" });
        svg(element, "rect", { width: wide, height: high, rx: nodes ? 2 : 8 });
        svg(element, "text", { x: wide / 2, y: 14 }, label ?? operator);
        svg(element, "text", { x: wide / 2, y: 26, class: "sub" }, sub);
        const [prefix, ...ends] = nodes ?? [""];
        const lines = [operator + " " + name, table.lineOf(at, 2), ...ends.map((end) => prefix + end)].filter((line) => line !== "");
        svg(element, "title", {}, lines.join("\\n"));
        const box = { element, frame, lines, classes: classes.split(" "), parts: new Set(parts), x, y, isBefore: side === "before" };
        element.addEventListener("click", () => pick(box));
        boxes.push(box);
      }
      const own = boxes.filter((box) => box.frame === frame);
      // What the reader sees first is where the graph begins.
      if (own.length > 0) show(own[0]);
      frame.addEventListener("keydown", (event) => {
        const next = step(own, event.key);
        if (next === undefined) return;
        event.preventDefault();
        if (next) pick(next);
        else leave();
      });
    }
    paint();
    search();
  };
  const paint = () => {
    const at = choice ? choice.selectedIndex : 0;
    for (const { element, classes } of boxes) {
      for (const name of classes) element.classList.remove(name);
      element.classList.add(classes[at] || "h-");
    }
    for (const legend of panel.querySelectorAll(".legends .key")) legend.hidden = legend.dataset.m !== choice.value;
  };
  // Up and down in execution order, left and right within a layer; null for leaving, undefined for another key.
  const step = (own, key) => {
    if (key === "Escape") return null;
    const at = own.indexOf(picked);
    if (key === "ArrowDown" || key === "ArrowUp") return own[Math.max(0, Math.min(own.length - 1, at + (key === "ArrowDown" ? 1 : -1)))];
    if (key !== "ArrowLeft" && key !== "ArrowRight") return undefined;
    const side = key === "ArrowRight" ? 1 : -1;
    const from = own[Math.max(0, at)];
    const beside = own.filter(({ x, y }) => y === from.y && side * (x - from.x) > 0);
    return beside.sort((a, b) => side * (a.x - b.x))[0] ?? from;
  };
  const show = ({ element, frame }) => {
    const [inner, outer] = [element.getBoundingClientRect(), frame.getBoundingClientRect()];
    frame.scrollTop += inner.top - outer.top - outer.height / 2;
    frame.scrollLeft += inner.left - outer.left - outer.width / 2;
  };
  const search = () => {
    const wanted = find.value.trim().toLowerCase();
    const hits = boxes.filter((box) => {
      const isHit = wanted !== "" && box.lines.some((line) => line.toLowerCase().includes(wanted));
      box.element.classList.toggle("hit", isHit);
      box.element.classList.toggle("dim", wanted !== "" && !isHit);
      return isHit;
    });
    panel.querySelector("output.found").textContent = wanted === "" ? "" : hits.length + " of " + boxes.length;
    for (const frame of new Set(hits.map((hit) => hit.frame))) show(hits.find((hit) => hit.frame === frame));
  };
  const leave = () => {
    picked = null;
    for (const { element } of boxes) element.classList.remove("on", "own");
    told.textContent = hint;
  };
  const pick = (box) => {
    picked = box;
    const kin = boxes.filter((other) => other !== box && [...other.parts].some((part) => box.parts.has(part)));
    for (const other of boxes) {
      other.element.classList.toggle("on", other === box || kin.includes(other));
      other.element.classList.toggle("own", other === box);
    }
    const [inner, outer] = [box.element.getBoundingClientRect(), box.frame.getBoundingClientRect()];
    if (inner.top < outer.top || inner.bottom > outer.bottom || inner.left < outer.left || inner.right > outer.right) show(box);
    const others = kin.filter((other) => other.isBefore !== box.isBefore);
    const siblings = kin.filter((other) => other.isBefore === box.isBefore);
    const names = (list) => list.map(({ lines }) => lines[0]).join(", ");
    const said = [...box.lines];
    if (siblings.length > 0) said.push("together with: " + names(siblings));
    if (others.length > 0) {
      said.push((box.isBefore ? "became: " : "was: ") + names(others));
      show(others[0]);
    } else if (box.isBefore && panel.querySelector(".of-after")) said.push("nothing is left of it: computed ahead, or not needed");
    told.textContent = said.join("\\n");
  };
  if (choice) choice.addEventListener("change", () => { drawNow(); paint(); });
  find.addEventListener("input", () => { drawNow(); search(); });
  const watch = new IntersectionObserver((seen) => {
    if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
    watch.disconnect();
    drawNow();
  }, { rootMargin: "400px" });
  watch.observe(panel);
  return drawNow;
});
`;
