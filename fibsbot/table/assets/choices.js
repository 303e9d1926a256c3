// The choices of a decision with what each is worth, and a play as arrows on the board: for lessons and for practice.

import { table } from "./table.js";
import { button, make } from "./elements.js";

const SVG = "http://www.w3.org/2000/svg";
const percent = (chance) => `${(100 * chance).toFixed(1)}`;
const signed = (value) => (value < 0 ? "\u2212" : "+") + Math.abs(value).toFixed(3);

// -- arrows on the board ------------------------------------------------------------------------------------------

export function drawArrows(moves) {
  document.getElementById("board").classList.toggle("advised", Boolean(moves?.length));
  const left = new Map();
  const come = new Map();
  const arrows = (moves ?? []).map(([source, target]) => {
    const [x1, y1] = spot(source, "top", left);
    const [x2, y2] = spot(target, "next", come);
    return arrow(x1, y1, x2, y2);
  });
  document.getElementById("advice").replaceChildren(...arrows.flat());
}

// Where a checker is, or would be; each further one from or to a place is a little beside it.
function spot(place, kind, seen) {
  const count = seen.get(place) ?? 0;
  seen.set(place, count + 1);
  const [x, y] = table.state.places[place][kind];
  return [x + (count % 2 ? 1 : -1) * Math.ceil(count / 2) * 9, y];
}

function arrow(x1, y1, x2, y2) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [bx, by] = [x2 - 16 * dx, y2 - 16 * dy];
  const path = `M${x1} ${y1}L${bx} ${by}`;
  const head = `M${x2} ${y2}L${bx - 9 * dy} ${by + 9 * dx}L${bx + 9 * dy} ${by - 9 * dx}Z`;
  return ["outline", "line"].map((kind) => {
    const drawn = document.createElementNS(SVG, "path");
    drawn.setAttribute("d", path + head);
    drawn.setAttribute("class", kind);
    return drawn;
  });
}

// -- the list -----------------------------------------------------------------------------------------------------

export function chances(values) {
  if (!values) return "";
  const [win, gammon, , , lostGammon] = values;
  return `wins ${percent(win)} %, gammons ${percent(gammon)} % won, ${percent(lostGammon)} % lost`;
}

// The choices, the best first; `select` is called with the number of a play that is pressed, of which `shown` is the one
// that the arrows show. A choice may have marks, such as "yours".
export function choiceList(label, choices, note, shown, select) {
  const rows = choices.map((choice, number) => {
    const moves = choice.moves?.length > 0;
    const name = moves ? button(choice.text, () => select(number)) : make("b", {}, choice.text);
    if (moves) name.setAttribute("aria-pressed", String(number === shown));
    const marks = (choice.marks ?? []).map((mark) => make("span", { class: "by" }, mark));
    const loss = choice.loss ? signed(-choice.loss) : "";
    const depth = typeof choice.plies === "number" ? `${choice.plies}-ply` : "";
    return make(
      "li", {}, make("span", {}, name, ...marks.flatMap((mark) => [" ", mark])), make("span", { class: "depth" }, depth),
      make("span", { class: "equity" }, signed(choice.equity)), make("span", { class: "loss" }, loss),
      make("span", { class: "note" }, chances(choice.chances)),
    );
  });
  const list = make("ol", { "aria-label": `${label}: equity, and the loss against the best` }, ...rows);
  return make("div", { class: "hint" }, list, make("p", { class: "note" }, note));
}
