// The dialog in which a position is set up: an ID, or checkers put on points one by one. The table says whether it can
// be played from; nothing is checked here.

import { button, make } from "./elements.js";

const HAND = 25;
const SIDES = ["you", "the bot"];

async function playFrom(position) {
  const response = await fetch("set-up", { method: "POST", body: JSON.stringify({ position }) });
  return response.ok ? "" : (await response.text()).trim();
}

// -- the two rows of a board as text -------------------------------------------------------------------------------

function parseRow(text) {
  const row = { places: Array(HAND + 1).fill(0), facts: [] };
  for (const word of text.split(" ").filter(Boolean)) {
    const [place, count] = word.split(":");
    if (word.includes("=")) row.facts.push(word);
    else row.places[Number(place)] = Number(count ?? 1);
  }
  return row;
}

function formatRow({ places, facts }) {
  const words = places.map((count, place) => [place, count]).filter(([place, count]) => place && count);
  return [...words.reverse().map(([place, count]) => (count > 1 ? `${place}:${count}` : String(place))), ...facts].join(" ");
}

// -- the board in the dialog ---------------------------------------------------------------------------------------

function editor({ position, facing, checkers }) {
  const rows = position.board.split("/").map(parseRow);
  let putting = "0"; // whose checkers a press adds, or "remove"
  const points = new Map();
  const left = make("p", { class: "note", role: "status" });

  // The place of a point of yours in the numbering of a side; both have their bar or hand.
  const placeFor = (side, point) => (side && point !== HAND ? facing[point] : point);
  const countOf = (side, point) => rows[side].places[placeFor(side, point)];

  function press(point) {
    if (putting === "remove") {
      const side = countOf(0, point) ? 0 : 1;
      if (countOf(side, point)) rows[side].places[placeFor(side, point)] -= 1;
    } else {
      rows[Number(putting)].places[placeFor(Number(putting), point)] += 1;
    }
    show();
  }

  function show() {
    for (const [point, made] of points) {
      const counts = [0, 1].map((side) => countOf(side, point));
      const discs = counts.map((count, side) => (count ? make("span", { class: `disc side${side}` }, String(count)) : ""));
      const name = point === HAND ? "bar" : String(point);
      made.replaceChildren(make("small", {}, name), ...discs);
      made.setAttribute("aria-label", `${name}: you ${counts[0]}, the bot ${counts[1]}`);
    }
    const on = rows.map((row) => row.places.reduce((sum, count, place) => sum + (place ? count : 0), 0));
    left.textContent = `On the board: you ${on[0]}, the bot ${on[1]} of ${checkers}; the others are borne off.`;
  }

  const point = (number) => {
    const made = button("", () => press(number));
    points.set(number, made);
    return made;
  };
  const range = (from, step) => [0, 1, 2, 3, 4, 5].map((index) => point(from + step * index));
  const quarters = [[13, 1], [19, 1], [12, -1], [6, -1]].map(([from, step]) => make("div", {}, ...range(from, step)));
  const choice = (value, label) => {
    const made = make("input", { type: "radio", name: "putting", value });
    made.checked = value === putting;
    made.addEventListener("change", () => { putting = value; });
    return make("label", {}, made, label);
  };
  const clear = button("Clear", () => {
    for (const row of rows) row.places.fill(0);
    show();
  });
  const chosen = make(
    "div", { class: "row", role: "radiogroup", "aria-label": "A press on a point" }, "A press",
    choice("0", "adds yours"), choice("1", "adds the bot's"), choice("remove", "removes"), point(HAND), clear,
  );
  show();
  return {
    element: make("div", {}, chosen, make("div", { class: "points" }, ...quarters), left),
    board: () => rows.map(formatRow).join(" / "),
  };
}

function number(label, value, most) {
  const input = make("input", { type: "number", min: 0, max: most, value });
  return [make("label", {}, label, input), () => Number(input.value)];
}

function select(label, options, value) {
  const input = make("select", {}, ...options.map(([key, text]) => make("option", { value: String(key) }, text)));
  input.value = String(value);
  return [make("label", {}, label, input), () => JSON.parse(input.value)];
}

function facts({ position }) {
  const seats = SIDES.map((name, seat) => [seat, name]);
  const [turn, turnOf] = select("On turn", seats, position.turn);
  const dice = make("input", { type: "text", inputmode: "numeric", size: 4, value: position.dice.join("") });
  const [cube, cubeOf] = number("Cube", position.cube, 1048576);
  const [owner, ownerOf] = select("of", [[null, "nobody"], ...seats], position.owner ?? null);
  const [length, lengthOf] = number("Match to", position.length, 99);
  const [own, ownOf] = number("you", position.scores[0], 98);
  const [other, otherOf] = number("the bot", position.scores[1], 98);
  const crawford = make("input", { type: "checkbox" });
  crawford.checked = position.crawford;
  return {
    element: make(
      "div", { class: "row" }, turn, make("label", {}, "Dice", dice), cube, owner, length, own, other,
      make("label", {}, crawford, "Crawford game"),
    ),
    values: () => ({
      turn: turnOf(), dice: [...dice.value.replace(/\s/g, "")].map(Number), cube: cubeOf(), owner: ownerOf(),
      length: lengthOf(), scores: [ownOf(), otherOf()], crawford: crawford.checked,
    }),
  };
}

export function openSetUp({ learning }) {
  const text = make("input", {
    type: "text", id: "position", autocomplete: "off", spellcheck: "false", "aria-describedby": "set-up-fault",
    placeholder: "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10",
  });
  const fault = make("p", { id: "set-up-fault", role: "alert" });
  const board = editor(learning.set_up);
  const others = facts(learning.set_up);
  const byHand = make("details", {}, make("summary", {}, "or put the checkers yourself"), board.element, others.element);
  const form = make(
    "form", { method: "dialog" },
    make("h2", {}, "Play from a position"),
    make("label", { for: "position" }, "XGID, GNUbg ID, or both rows of a board, yours first"),
    text,
    byHand,
    fault,
    make("div", { class: "choices" }, button("Cancel", () => dialog.close()), make("button", { class: "first", type: "submit" }, "Play")),
  );
  const dialog = make("dialog", { class: "set-up", "aria-label": "Play from a position" }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const edited = byHand.open && !text.value.trim();
    fault.textContent = await playFrom(edited ? { board: board.board(), ...others.values() } : text.value);
    if (!fault.textContent) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  text.focus();
}
