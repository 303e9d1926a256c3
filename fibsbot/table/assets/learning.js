// Lessons beside the board: hints, the tutor, decisions taken back, positions set up, the report. Only a table
// against the bot has this part of the state; at all others nothing of it is shown.

import { table } from "./table.js";
import { openSetUp } from "./set_up.js";
import { button, make } from "./elements.js";

const section = document.getElementById("learning");
const LABELS = { hint: "Hint", "take-back": "Take back" };
const WARNING = { "think-again": "Think again", show: "Show me", "play-it": "Play it" };
const SVG = "http://www.w3.org/2000/svg";

const learn = (lesson) => table.ask("learn", { lesson });
const percent = (chance) => `${(100 * chance).toFixed(1)}`;
const signed = (value) => (value < 0 ? "\u2212" : "+") + Math.abs(value).toFixed(3);

// -- arrows on the board ------------------------------------------------------------------------------------------

function drawArrows(moves) {
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

// -- what is shown ------------------------------------------------------------------------------------------------

let shownChoice = 0;
let opened = false; // whether the sheet of a telephone is

document.addEventListener("open-lessons", () => {
  opened = !opened;
  const { hint, lessons } = table.state.learning;
  if (opened !== Boolean(hint) && lessons.includes("hint")) learn("hint");
  show(table.state);
});

function closeSheet() {
  opened = false;
  if (table.state.learning.hint) learn("hint");
  show(table.state);
}

function chances(values) {
  if (!values) return "";
  const [win, gammon, , , lostGammon] = values;
  return `wins ${percent(win)} %, gammons ${percent(gammon)} % won, ${percent(lostGammon)} % lost`;
}

function hintList(hint) {
  const rows = hint.choices.map((choice, number) => {
    const moves = choice.moves?.length > 0;
    const name = moves ? button(choice.text, () => select(number)) : make("b", {}, choice.text);
    if (moves) name.setAttribute("aria-pressed", String(number === shownChoice));
    const loss = choice.loss ? signed(-choice.loss) : "";
    const depth = choice.plies === null ? "" : `${choice.plies}-ply`;
    return make(
      "li", {}, name, make("span", { class: "depth" }, depth), make("span", { class: "equity" }, signed(choice.equity)),
      make("span", { class: "loss" }, loss), make("span", { class: "note" }, chances(choice.chances)),
    );
  });
  const depth = hint.plies === undefined ? "" : `${hint.plies}-ply`;
  const note = hint.chances ? [chances(hint.chances), depth].filter(Boolean).join(", ") : "";
  const list = make("ol", { "aria-label": "Best choices: equity, and the loss against the best" }, ...rows);
  return make("div", { class: "hint" }, list, make("p", { class: "note" }, note));
}

function select(number) {
  shownChoice = number;
  show(table.state);
}

function warningBox(warning, lessons) {
  const buttons = lessons.filter((lesson) => WARNING[lesson]).map((lesson) => {
    const made = button(WARNING[lesson], () => learn(lesson));
    made.dataset.lesson = lesson;
    return made;
  });
  const best = warning.best ? [make("p", {}, `Best is ${warning.best}.`)] : [];
  return make(
    "div", { class: "warning", role: "alertdialog", "aria-label": "Tutor" },
    make("p", {}, warning.sentence), ...best, make("div", { class: "buttons" }, ...buttons),
  );
}

// What can be done when a game is over, below the words on the board.
function showEnd(state) {
  const { lessons, report } = state.learning;
  if (!state.over) return;
  const parts = [];
  if (report || lessons.includes("report")) {
    parts.push(make("a", { href: "report", target: "_blank", rel: "noopener", class: "report" }, "Report"));
  }
  if (lessons.includes("again")) {
    const again = button("Play again", () => learn("again"));
    again.dataset.lesson = "again";
    parts.push(again);
  }
  const banner = document.getElementById("banner");
  banner.append(make("div", { class: "lessons" }, ...parts));
}

function said({ fault, thinking, report }) {
  if (fault) return fault;
  if (thinking) return `The table is ${thinking} \u2026`;
  if (!report) return "";
  return report.fault || (report.ready ? "The report is ready." : `Analysed: ${report.done} of ${report.of} turns`);
}

function show(state) {
  const learning = state.learning;
  section.hidden = !learning;
  if (!learning) return;
  const focused = document.activeElement?.dataset?.lesson;
  const buttons = learning.lessons.filter((lesson) => LABELS[lesson]).map((lesson) => {
    const pressed = lesson === "hint" && learning.hint;
    const made = button(pressed ? "Hide hint" : LABELS[lesson], () => learn(lesson));
    made.dataset.lesson = lesson;
    return made;
  });
  const setUp = button("Set up", () => openSetUp(table.state));
  setUp.dataset.lesson = "set-up";
  const tutor = make("input", { type: "checkbox", id: "tutor" });
  tutor.checked = learning.tutor;
  tutor.addEventListener("change", () => table.ask("tutor", { wanted: tutor.checked }));
  const line = make(
    "div", { class: "buttons" },
    ...buttons, setUp, make("label", {}, tutor, " tutor"),
  );
  line.append(button("\u2715", closeSheet, { class: "close", "aria-label": "Close" }));
  section.classList.toggle("open", opened || Boolean(learning.warning));
  const parts = [];
  if (learning.warning) parts.push(warningBox(learning.warning, learning.lessons));
  parts.push(line);
  parts.push(make("p", { class: "note", role: "status" }, said(learning)));
  if (learning.hint && !learning.warning) parts.push(hintList(learning.hint));
  section.replaceChildren(...parts);
  if (learning.warning) section.querySelector("[data-lesson=think-again]").focus();
  else if (focused) section.querySelector(`[data-lesson="${focused}"]`)?.focus();
  showAdvice(state);
}

function showAdvice({ learning }) {
  drawArrows(learning.warning?.moves ?? learning.hint?.choices[shownChoice]?.moves);
}

table.onState((state, before) => {
  if (state.learning?.hint !== before?.learning?.hint) shownChoice = 0;
  if (state.learning !== before?.learning) show(state);
  else if (state.learning && state.places !== before.places) showAdvice(state);
  if (state.learning) showEnd(state);
});

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, dialog")) return;
  const lesson = { "?": "hint", h: "hint", Backspace: "take-back" }[event.key];
  if (lesson && table.state?.learning?.lessons.includes(lesson)) {
    event.preventDefault();
    learn(lesson);
  }
});
