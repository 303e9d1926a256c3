"use strict";

const byId = (id) => document.getElementById(id);
const LABELS = {
  roll: "Roll", double: "Double", take: "Take", pass: "Pass", beaver: "Beaver", accept: "Accept", reject: "Reject",
  "reject-roll": "Reject the roll", swap: "Swap dice", undo: "Undo", done: "Done", next: "Next game",
};
const FIRST = ["done", "roll", "next", "take", "accept"];
const CONFIRMED = ["double", "pass"];
const KEYS = { u: "undo", d: "double", t: "take", p: "pass", s: "swap" };
let state = { version: -1, actions: [], moves: [] };
let typed = "";

async function ask(address, asked) {
  const response = await fetch(address, { method: "POST", body: JSON.stringify(asked) });
  if (response.ok) show(await response.json());
}

function act(action, numbers = []) {
  if (!CONFIRMED.includes(action) || window.confirm(`${LABELS[action]}?`)) ask("act", { action, numbers });
}

function button(label, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.addEventListener("click", press);
  return made;
}

function showPlaces() {
  const sources = new Set(state.moves.map((move) => move[0]));
  const focused = document.activeElement?.dataset?.place;
  byId("places").replaceChildren(...[...sources].map((place) => {
    const made = button("", () => act("move", [place]));
    const targets = [...new Set(state.moves.filter((move) => move[0] === place).map((move) => move[1]))];
    made.className = "source";
    made.dataset.place = place;
    made.setAttribute("aria-label", `move from ${place === 25 ? "the bar" : place} to ${targets.join(" or ")}`);
    made.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      act("move", [place, targets[targets.length - 1]]);
    });
    const [left, top, width, height] = state.places[place];
    Object.assign(made.style, {
      left: `${100 * left}%`, top: `${100 * top}%`, width: `${100 * width}%`, height: `${100 * height}%`,
    });
    return made;
  }));
  if (focused) document.querySelector(`[data-place="${focused}"]`)?.focus();
}

function showActions() {
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

function show(next) {
  if (next.version < state.version) return;
  state = next;
  byId("board").innerHTML = state.board;
  byId("text").textContent = state.text;
  byId("last").textContent = state.last;
  for (const box of document.querySelectorAll("[data-preference]")) {
    box.checked = state.preferences.includes(box.dataset.preference);
  }
  showPlaces();
  showActions();
}

async function follow() {
  for (;;) {
    try {
      const response = await fetch(`state?after=${state.version}`);
      if (response.ok) {
        const next = await response.json();
        if (next.version !== state.version) show(next);
      }
    } catch {
      byId("text").textContent = "The table does not answer; is fibsbot still running?";
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === " ") {
    event.preventDefault();
    const first = FIRST.find((action) => state.actions.includes(action));
    if (first) act(first);
  } else if (KEYS[event.key]) {
    if (state.actions.includes(KEYS[event.key])) act(KEYS[event.key]);
  } else if (/^[0-9]$/.test(event.key)) {
    typed = (typed + event.key).slice(-2);
    const places = new Set(state.moves.map((move) => move[0]));
    const place = [Number(typed), Number(event.key)].find((number) => places.has(number));
    const longer = [...places].some((number) => number >= 10 && String(number)[0] === typed);
    if (place && !longer) {
      typed = "";
      act("move", [place]);
    }
  } else if (event.key === "Enter" && typed && document.activeElement === document.body) {
    act("move", [Number(typed)]);
    typed = "";
  }
});
for (const box of document.querySelectorAll("[data-preference]")) {
  const preference = box.dataset.preference;
  box.addEventListener("change", () => ask("prefer", { preference, wanted: box.checked }));
}
follow();
