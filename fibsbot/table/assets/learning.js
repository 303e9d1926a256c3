// Lessons beside the board: hints, the tutor, decisions taken back, positions set up, the report. Only a table
// against the bot has this part of the state; at all others nothing of it is shown.

import { table } from "./table.js";

const section = document.getElementById("learning");
const LABELS = { hint: "Hint", "take-back": "Take back", again: "Play again" };
const WARNING = { "think-again": "Think again", show: "Show me", "play-it": "Play it" };
const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function button(label, press) {
  const made = make("button", { type: "button" }, label);
  made.addEventListener("click", press);
  return made;
}

const learn = (lesson) => table.ask("learn", { lesson });
const percent = (chance) => `${(100 * chance).toFixed(1)}`;
const signed = (value) => (value < 0 ? "\u2212" : "+") + Math.abs(value).toFixed(3);

// -- arrows on the board ------------------------------------------------------------------------------------------

let arrows = null;

function middle(place) {
  const [left, top, width, height] = table.state.places[place];
  const upright = height >= width;
  // The checkers of a place lie at the edge of the board.
  const towards = (from, size, half) => from + size * (half < 0.5 ? 0.28 : 0.72);
  return upright
    ? [left + width / 2, towards(top, height, top + height / 2)]
    : [towards(left, width, left + width / 2), top + height / 2];
}

function drawArrows(moves) {
  arrows?.remove();
  arrows = null;
  if (!moves || !moves.length || !table.state.places) return;
  const board = document.getElementById("board");
  const box = board.getBoundingClientRect();
  const from = board.offsetParent.getBoundingClientRect();
  arrows = document.createElementNS(SVG, "svg");
  arrows.setAttribute("class", "arrows");
  arrows.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  arrows.setAttribute("aria-hidden", "true");
  Object.assign(arrows.style, {
    left: `${box.left - from.left}px`, top: `${box.top - from.top}px`, width: `${box.width}px`, height: `${box.height}px`,
  });
  const seen = new Map();
  for (const [source, target] of moves) {
    const again = seen.get(`${source}/${target}`) ?? 0;  // the same way of another checker
    seen.set(`${source}/${target}`, again + 1);
    const [x1, y1] = middle(source);
    const [x2, y2] = middle(target);
    arrows.append(...arrow(x1 * box.width + 9 * again, y1 * box.height, x2 * box.width + 9 * again, y2 * box.height));
  }
  board.after(arrows);
}

function arrow(x1, y1, x2, y2) {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [bx, by] = [x2 - 14 * dx, y2 - 14 * dy];
  const path = `M${x1} ${y1}L${bx} ${by}`;
  const head = `M${x2} ${y2}L${bx - 8 * dy} ${by + 8 * dx}L${bx + 8 * dy} ${by - 8 * dx}Z`;
  return ["outline", "line"].map((kind) => {
    const drawn = document.createElementNS(SVG, "path");
    drawn.setAttribute("d", path + head);
    drawn.setAttribute("class", kind);
    return drawn;
  });
}

// -- what is shown ------------------------------------------------------------------------------------------------

let shownChoice = 0;

function chances(values) {
  if (!values) return "";
  const [win, gammon, , , lostGammon] = values;
  return `${percent(win)} % wins, ${percent(gammon)} % gammons, ${percent(lostGammon)} % gammons lost`;
}

function hintTable(hint) {
  const rows = hint.choices.map((choice, number) => {
    const name = choice.moves?.length
      ? button(choice.text, () => {
        shownChoice = number;
        show(table.state);
      })
      : make("span", {}, choice.text);
    if (choice.moves?.length) name.setAttribute("aria-pressed", String(number === shownChoice));
    const row = make("tr", {}, make("th", { scope: "row" }, name));
    row.append(make("td", {}, choice.chances ? percent(choice.chances[0]) : ""));
    row.append(make("td", {}, choice.chances ? percent(choice.chances[1]) : ""));
    row.append(make("td", {}, choice.chances ? percent(choice.chances[4]) : ""));
    row.append(make("td", {}, signed(choice.equity)));
    row.append(make("td", {}, choice.loss ? signed(-choice.loss) : ""));
    return row;
  });
  const ofPlays = hint.choices.some((choice) => choice.chances);
  const shown = ofPlays
    ? ["", "Win %", "Gammon %", "Lost g. %", "Equity", "Loss"]
    : ["", "Equity", "Loss"];
  if (!ofPlays) for (const row of rows) [1, 1, 1].forEach((cell) => row.children[cell].remove());
  const head = make("tr", {}, ...shown.map((name) => make("th", { scope: "col" }, name)));
  const plies = hint.plies === null ? "" : `${hint.plies} plies`;
  const caption = [chances(hint.chances), plies].filter(Boolean).join("; ");
  return make(
    "div", { class: "hint" },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)),
    make("p", { class: "note" }, caption),
  );
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

function reportLine(learning) {
  const report = learning.report;
  if (!report && !learning.lessons.includes("report")) return [];
  const link = make("a", { href: "report", target: "_blank", rel: "noopener", class: "report" }, "Report");
  const text = !report ? "" : report.fault || (report.ready ? "The report is ready." : `${report.done} of ${report.of} turns`);
  return [link, make("span", { class: "note", role: "status" }, text)];
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
  const setUp = button("Set up", openSetUp);
  setUp.dataset.lesson = "set-up";
  const tutor = make("input", { type: "checkbox", id: "tutor" });
  tutor.checked = learning.tutor;
  tutor.addEventListener("change", () => table.ask("tutor", { wanted: tutor.checked }));
  const line = make(
    "div", { class: "buttons" },
    ...buttons, ...reportLine(learning), setUp, make("label", {}, tutor, " tutor"),
  );
  const parts = [];
  if (learning.warning) parts.push(warningBox(learning.warning, learning.lessons));
  parts.push(line);
  const said = learning.fault || (learning.thinking ? "Looking \u2026" : "");
  parts.push(make("p", { class: "note", role: "status" }, said));
  if (learning.hint && !learning.warning) parts.push(hintTable(learning.hint));
  section.replaceChildren(...parts);
  if (learning.warning) section.querySelector("[data-lesson=think-again]").focus();
  else if (focused) section.querySelector(`[data-lesson="${focused}"]`)?.focus();
  drawArrows(learning.warning?.moves ?? learning.hint?.choices[shownChoice]?.moves);
}

table.onState((state, before) => {
  if (JSON.stringify(state.learning?.hint) !== JSON.stringify(before?.learning?.hint)) shownChoice = 0;
  show(state);
});
window.addEventListener("resize", () => table.state?.learning && show(table.state));

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input, select, textarea")) return;
  const lesson = { "?": "hint", h: "hint", Backspace: "take-back" }[event.key];
  if (lesson && table.state?.learning?.lessons.includes(lesson)) {
    event.preventDefault();
    learn(lesson);
  }
});

// -- setting up a position ----------------------------------------------------------------------------------------

async function setUpAt(position) {
  const response = await fetch("set-up", { method: "POST", body: JSON.stringify({ position }) });
  return response.ok ? "" : (await response.text()).trim();
}

function openSetUp() {
  const text = make("input", {
    type: "text", id: "position", autocomplete: "off", spellcheck: "false", "aria-describedby": "set-up-fault",
    placeholder: "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:3:10",
  });
  const fault = make("p", { id: "set-up-fault", role: "alert" });
  const form = make(
    "form", { method: "dialog" },
    make("h2", {}, "Play from a position"),
    make("label", { for: "position" }, "XGID, GNUbg ID, or both rows of a board, yours first"),
    text,
    fault,
    make("div", { class: "buttons" }, make("button", { class: "first", type: "submit" }, "Play"), button("Cancel", () => dialog.close())),
  );
  const dialog = make("dialog", { class: "set-up", "aria-label": "Play from a position" }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    fault.textContent = await setUpAt(text.value);
    if (!fault.textContent) dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  text.focus();
}
