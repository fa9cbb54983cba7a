/** Of the page's script: charts of too many dots for an element each say what the nearest one is, by its row in the table beside. */
export const DOTS = `
for (const svg of new Set([...document.querySelectorAll("path[data-rows]")].map((path) => path.ownerSVGElement))) {
  let twin = svg.nextElementSibling;
  while (twin && !twin.matches("details")) twin = twin.nextElementSibling;
  const box = twin && twin.querySelector(".table");
  if (!box) continue;
  const dots = [...svg.querySelectorAll("path[data-rows]")].flatMap((path) => {
    const rows = path.dataset.rows.split(" ").map(Number);
    return [...path.getAttribute("d").matchAll(/M(-?[\\d.]+) (-?[\\d.]+)a([\\d.]+)/g)].map(([, left, y, radius], i) => ({
      x: Number(left) + Number(radius), y: Number(y), radius: Number(radius), row: rows[i],
    }));
  });
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  svg.after(tip);
  const leave = () => { tip.hidden = true; };
  svg.addEventListener("pointermove", (event) => {
    const scale = svg.getBoundingClientRect();
    const perPixel = svg.viewBox.baseVal.width / scale.width;
    const [x, y] = [(event.clientX - scale.left) * perPixel, (event.clientY - scale.top) * perPixel];
    let [best, least] = [null, 8 * perPixel];
    for (const dot of dots) {
      const distance = Math.max(0, Math.hypot(dot.x - x, dot.y - y) - dot.radius);
      if (distance < least || (distance === 0 && best !== null && dot.radius < best.radius)) [best, least] = [dot, distance];
    }
    if (!best) return leave();
    tip.textContent = tableOf(box).lineOf(best.row);
    tip.hidden = false;
    tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (event.clientY + 16 + tip.offsetHeight > innerHeight ? event.clientY - 12 - tip.offsetHeight : event.clientY + 16) + "px";
  });
  svg.addEventListener("pointerleave", leave);
  addEventListener("keydown", (event) => { if (event.key === "Escape") leave(); });
  addEventListener("scroll", leave, { passive: true });
}
`;
