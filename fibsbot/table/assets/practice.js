// Practice: the answers that may be given, the verdict, the next exercise, and which exercises come. Only `fibsbot
// practice` has this part of the state.

import { table } from "./table.js";
import { button, make } from "./elements.js";
import { chances, choiceList, drawArrows } from "./choices.js";

const byId = (id) => document.getElementById(id);
const section = byId("practice");
const answers = byId("answers");
const count = (number, words) => (number ? `${number} ${words}` : "");

// -- beside the board: made once, so that a list that is open stays open ------------------------------------------

const status = make("p", { class: "note", role: "status" });
const faults = make("ul", { class: "faults", role: "alert" });
const counts = make("p", {});
const done = make("p", { class: "done" });
const kinds = make("select", { "aria-label": "Which decisions" });
const classes = make("select", { "aria-label": "Which positions" });
const about = make("p", { class: "note" });
const verdict = make("div", {});
const position = make("input", {
  type: "text", id: "practice-position", autocomplete: "off", spellcheck: "false",
  placeholder: "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10",
});
const refused = make("p", { class: "faults", role: "alert" });
const paste = make(
  "form", { class: "paste", hidden: "" },
  make("label", { for: "practice-position" }, "Another position: XGID, GNUbg ID, or both rows of a board"),
  position, make("button", { type: "submit" }, "Analyse"), refused,
);
const report = make("a", { href: "report", hidden: "" }, "The report");
const chosen = make("div", { class: "chosen" }, kinds, classes);
paste.addEventListener("submit", async (event) => {
  event.preventDefault();
  const response = await fetch("position", { method: "POST", body: JSON.stringify({ position: position.value }) });
  refused.textContent = response.ok ? "" : await response.text();
  if (response.ok) position.blur();
});
section.append(
  verdict, about, done, counts,
  chosen, paste, status, faults, report,
);
for (const list of [kinds, classes]) {
  list.addEventListener("change", () => table.ask("choose", { kind: kinds.value, class: classes.value }));
}

function setOptions(list, options, value) {
  const text = JSON.stringify(options);
  if (list.dataset.options !== text) {
    list.dataset.options = text;
    list.replaceChildren(...options.map(([key, label]) => make("option", { value: key }, label)));
  }
  list.value = value;
}

let shown = 0; // the choice that the arrows show

function showVerdict({ exercise }) {
  const found = exercise?.verdict;
  verdict.hidden = !found;
  if (!found) {
    shown = 0;
    drawArrows(null);
    return;
  }
  const again = found.next ? `This exercise comes again ${found.next}.` : "";
  const note = [chances(found.chances), `by ${found.evaluator}`].filter(Boolean).join(", ");
  const select = (number) => {
    shown = number;
    showVerdict(table.state.practice);
  };
  verdict.replaceChildren(choiceList("Choices", found.choices, note, shown, select), make("p", {}, again));
  drawArrows(found.choices[shown]?.moves);
}

function showBeside(practice) {
  const { due, later, exercise, study } = practice;
  paste.hidden = !study;
  report.hidden = !practice.report;
  const none = !(due || practice.new || later || practice.kind || practice.class);
  chosen.hidden = counts.hidden = Boolean(study || none);
  status.textContent = practice.progress;
  faults.replaceChildren(...practice.faults.map((text) => make("li", {}, text)));
  const right = practice.answers.good + practice.answers.hard;
  const given = right + practice.answers.again;
  counts.textContent = [
    count(due, "due"), count(practice.new, "new"), count(later, "later"), given ? `${right} of ${given} answers right` : "",
  ].filter(Boolean).join(", ");
  done.hidden = Boolean(study || exercise);
  const next = practice.next ? ` The next exercise comes ${practice.next}.` : "";
  const kind = practice.kind || practice.class ? " of this kind" : "";
  if (practice.progress) done.textContent = `The next exercise${kind} comes when a match is analysed.`;
  else if (none) {
    done.textContent = "There are no exercises: fibsbot practice FILE takes the errors of the log's owner, with --player NAME "
      + "those of another player.";
  } else done.textContent = `Nothing is due${kind}.${next}`;
  setOptions(kinds, [["", "all decisions"], ...Object.entries(practice.kinds)], practice.kind);
  const known = practice.classes.map(([name, number]) => [name, `${name} (${number})`]);
  const missing = practice.class && !practice.classes.some(([name]) => name === practice.class);
  setOptions(classes, [["", "all positions"], ...(missing ? [[practice.class, practice.class]] : []), ...known], practice.class);
  about.textContent = exercise ? `${exercise.again ? "Again: " : ""}${exercise.about}` : "";
}

// -- below the board ------------------------------------------------------------------------------------------------

function showAnswers({ exercise, study }) {
  const focused = answers.contains(document.activeElement);
  const made = [];
  if (exercise?.verdict) {
    const next = button(study ? "Try a play" : "Next", () => table.ask("next"), { class: "first" });
    made.push(next);
  } else if (exercise) {
    made.push(...exercise.choices.map(([text, label], number) => {
      const one = button(label, () => table.ask("answer", { choice: text }), { class: "first", "data-choice": text });
      one.append(make("kbd", {}, String(number + 1)));
      return one;
    }));
    made.push(button("Show the solution", () => table.ask("solution"), { class: "solution" }));
    for (const one of made) one.disabled = exercise.thinking;
  }
  answers.replaceChildren(...made);
  if (focused || exercise?.verdict) made[0]?.focus({ preventScroll: true });
}

table.onState((state, before) => {
  const { practice } = state;
  section.hidden = answers.hidden = !practice;
  document.documentElement.classList.toggle("practising", Boolean(practice));
  if (!practice) return;
  const recall = practice.exercise?.verdict?.recall;
  for (const one of ["again", "hard", "good"]) document.documentElement.classList.toggle(`recall-${one}`, one === recall);
  showBeside(practice);
  if (practice.exercise !== before?.practice?.exercise) {
    showAnswers(practice);
    showVerdict(practice);
  } else if (state.places !== before?.places) {
    showVerdict(practice);
  }
});

// A link of the report says which decision is wanted.
const wanted = new URLSearchParams(location.search).get("entry");
if (wanted) {
  table.ask("open", { entry: wanted });
  history.replaceState(null, "", location.pathname); // a reload shows what is on the board by then
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, dialog")) return;
  const exercise = table.state?.practice?.exercise;
  if (!exercise) return;
  if (exercise.verdict && (event.key === " " || event.key === "n")) {
    event.preventDefault();
    if (!event.repeat) table.ask("next");
  } else if (event.key === "?") {
    table.ask("solution");
  } else if (/^[1-9]$/.test(event.key) && exercise.choices[event.key - 1]) {
    table.ask("answer", { choice: exercise.choices[event.key - 1][0] });
  }
});
