/** Of the page's script: layers that are marked to stay in float, and the command that keeps them there. */
export const MARKING = `
const markingOf = (box, heads) => {
  const owner = box.closest(".markable");
  if (!owner) return null;
  const column = (title) => heads.findIndex((head) => head.textContent === title);
  const [form, saved] = [column("computes in"), column("saved ms")];
  if (form < 0) return null;
  const marked = new Map();
  const told = owner.querySelector(".marked");
  const [sentence, command] = [told.querySelector("p"), told.querySelector("pre")];
  const word = (name) => (/^[\\w@%+=:,./-]+$/.test(name) ? name : "'" + name.replaceAll("'", "'\\\\''") + "'");
  owner.previousElementSibling.hidden = false;
  const tell = () => {
    told.hidden = marked.size === 0;
    const sum = [...marked.values()].reduce((total, ms) => total + ms, 0);
    sentence.textContent = marked.size + (marked.size === 1 ? " layer is" : " layers are") + " marked." + (sum > 0 ? " On integers they save " + Number(sum.toPrecision(3)) + " ms of a run." : "");
    showCommand(command, owner.dataset.command + [...marked.keys()].map((name) => " --exclude " + word(name)).join(""));
  };
  return ({ texts, keys, element }) => {
    if (!/^([iu](8|16)|w\\d+)$/.test(texts[form])) return;
    const check = document.createElement("input");
    check.type = "checkbox";
    check.setAttribute("aria-label", "keep " + texts[0] + " in float");
    check.addEventListener("change", () => {
      if (check.checked) marked.set(texts[0], (saved < 0 ? 0 : numberOf(keys[saved])) || 0);
      else marked.delete(texts[0]);
      tell();
    });
    element.cells[0].prepend(check);
  };
};
const nearMarkable = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    nearMarkable.unobserve(target);
    tableOf(target.querySelector(".table")).load();
  }
}, { rootMargin: "400px" });
for (const owner of document.querySelectorAll(".markable")) nearMarkable.observe(owner);
`;
