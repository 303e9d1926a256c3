// The board, and what can be done on it.

import { table } from "./table.js";

const byId = (id) => document.getElementById(id);

function showPlaces(state) {
  const focused = document.activeElement?.dataset?.place;
  const sources = [...new Set(state.moves.map((move) => move[0]))];
  byId("places").replaceChildren(...sources.map((place) => {
    const targets = [...new Set(state.moves.filter((move) => move[0] === place).map((move) => move[1]))];
    const made = document.createElement("button");
    made.type = "button";
    made.className = "source";
    made.dataset.place = place;
    made.setAttribute("aria-label", `move from ${place === 25 ? "the bar" : place} to ${targets.join(" or ")}`);
    made.addEventListener("click", () => table.act("move", [place]));
    made.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      table.act("move", [place, targets[targets.length - 1]]);
    });
    const [left, top, width, height] = state.places[place];
    Object.assign(made.style, {
      left: `${100 * left}%`, top: `${100 * top}%`, width: `${100 * width}%`, height: `${100 * height}%`,
    });
    return made;
  }));
  if (focused) document.querySelector(`[data-place="${focused}"]`)?.focus();
}

table.onState((state) => {
  byId("table").hidden = !state.board;
  if (!state.board) return;
  byId("board").innerHTML = state.board;
  showPlaces(state);
});

let typed = "";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select, textarea")) return;
  const places = new Set(table.state?.moves?.map((move) => move[0]));
  if (/^[0-9]$/.test(event.key)) {
    typed = (typed + event.key).slice(-2);
    const place = [Number(typed), Number(event.key)].find((number) => places.has(number));
    const longer = [...places].some((number) => number >= 10 && String(number)[0] === typed);
    if (place && !longer) {
      typed = "";
      table.act("move", [place]);
    }
  } else if (event.key === "Enter" && typed && document.activeElement === document.body) {
    table.act("move", [Number(typed)]);
    typed = "";
  }
});

table.follow();
