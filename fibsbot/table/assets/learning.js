// Lessons beside the board: hints, the tutor, decisions taken back, positions set up, the report. Only a table
// against the bot has this part of the state; at all others nothing of it is shown.

import { table } from "./table.js";
import { openSetUp } from "./set_up.js";
import { button, make } from "./elements.js";
import { chances, choiceList, drawArrows } from "./choices.js";

const section = document.getElementById("learning");
const LABELS = { hint: "Hint", "take-back": "Take back" };
const WARNING = { "think-again": "Think again", show: "Show me", "play-it": "Play it" };

const learn = (lesson) => table.ask("learn", { lesson });

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

function hintList(hint) {
  const depth = hint.plies === undefined ? "" : `${hint.plies}-ply`;
  const note = hint.chances ? [chances(hint.chances), depth].filter(Boolean).join(", ") : "";
  return choiceList("Best choices", hint.choices, note, shownChoice, select);
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
