// The panel beside the board: whose turn it is, what may be done, what is left to the table.

import { table } from "./table.js";

const byId = (id) => document.getElementById(id);
const LABELS = {
  roll: "Roll", double: "Double", take: "Take", pass: "Pass", beaver: "Beaver", accept: "Accept", reject: "Reject",
  "reject-roll": "Reject the roll", swap: "Swap dice", undo: "Undo", done: "Done", next: "Next game",
};
const FIRST = ["done", "roll", "next", "take", "accept"];
const CONFIRMED = ["double", "pass"];
const KEYS = { u: "undo", d: "double", t: "take", p: "pass", s: "swap" };

function act(action, numbers = []) {
  if (!CONFIRMED.includes(action) || window.confirm(`${LABELS[action]}?`)) table.act(action, numbers);
}

function button(label, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", press);
  return made;
}

function showActions(state) {
  const buttons = state.actions.filter((action) => LABELS[action]).map((action) => {
    const made = button(LABELS[action], () => act(action));
    made.dataset.action = action;
    if (FIRST.includes(action)) made.className = "first";
    return made;
  });
  for (const number of state.names) buttons.push(button(String(number), () => act("name", [number])));
  if (state.actions.includes("resign")) {
    buttons.push(button("Resign", () => {
      const level = window.prompt("Resign 1 a single game, 2 a gammon, 3 a backgammon?", "1");
      if (level) act("resign", [Number(level)]);
    }));
  }
  byId("actions").replaceChildren(...buttons);
}

table.onState((state) => {
  byId("text").textContent = state.text ?? "";
  byId("last").textContent = state.last ?? "";
  if (!state.board) return;
  for (const box of document.querySelectorAll("[data-preference]")) {
    box.checked = state.preferences.includes(box.dataset.preference);
  }
  showActions(state);
});
table.onLost((isLost) => {
  byId("text").textContent = isLost ? "The table does not answer; is fibsbot still running?" : table.state?.text ?? "";
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select, textarea")) return;
  if (event.key === " ") {
    event.preventDefault();
    const first = FIRST.find((action) => table.may(action));
    if (first) act(first);
  } else if (table.may(KEYS[event.key])) {
    act(KEYS[event.key]);
  }
});
for (const box of document.querySelectorAll("[data-preference]")) {
  const preference = box.dataset.preference;
  box.addEventListener("change", () => table.ask("prefer", { preference, wanted: box.checked }));
}
