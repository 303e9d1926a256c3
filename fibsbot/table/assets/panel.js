// Beside the board: the players, whose turn it is, what may be done, the score sheet, and the dialogs.

import { table } from "./table.js";
import { settings } from "./settings.js";
import { confirm, open, settingsButton } from "./dialogs.js";

const byId = (id) => document.getElementById(id);
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const points = (count) => `${count} ${count === 1 ? "point" : "points"}`;

// The buttons in their order; those that continue the game come last, where the thumb is.
const BUTTONS = [
  ["resign", "Resign"], ["reject-roll", "Reject the roll"], ["undo", "Undo"], ["swap", "Swap dice"],
  ["double", "Double"], ["beaver", "Beaver"], ["pass", "Pass"], ["reject", "Reject"],
  ["accept", "Accept"], ["take", "Take"], ["roll", "Roll"], ["done", "Done"], ["next", "Next game"],
];
const FIRST = ["done", "roll", "next", "take", "accept"];
const KEYS = { u: "undo", d: "double", t: "take", p: "pass", s: "swap" };

function element(name, className, text = "") {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.textContent = text;
  return made;
}

// Screen readers speak what is set, even if it is the same.
function setText(section, text) {
  if (section.textContent !== text) section.textContent = text;
}

function button(label, press, className = "") {
  const made = element("button", className, label);
  made.type = "button";
  made.addEventListener("click", press);
  return made;
}

// -- dialogs ------------------------------------------------------------------------------------------------------

function askToResign() {
  const { levels, players } = table.state;
  byId("levels").replaceChildren(...levels.map(([level, words, count]) => {
    const made = element("button", "", capital(words));
    made.value = level;
    made.append(element("small", "", points(count)));
    return made;
  }));
  byId("resign-heading").textContent = `Resign? ${players[1].name} wins`;
  open(byId("resign"), (level) => table.act("resign", [Number(level)]));
}

const CONFIRMED = {
  double: ({ offered, players }) => confirm(`Double to ${offered}?`, `If ${players[1].name} passes, you win `
    + `${points(offered / 2)} at once.`, "Double", () => table.act("double")),
  pass: ({ offered, players }) => confirm("Pass the double?", `${players[1].name} wins ${points(offered / 2)}, and the `
    + "game is over.", "Pass", () => table.act("pass")),
  beaver: ({ offered, redouble }) => confirm(`${capital(redouble)}?`, `The cube goes to ${2 * offered}, and stays on `
    + "your side.", capital(redouble), () => table.act("beaver")),
  resign: askToResign,
};

function act(action) {
  if (!table.may(action)) return;
  if (CONFIRMED[action]) CONFIRMED[action](table.state);
  else table.act(action);
}

// -- what is shown ------------------------------------------------------------------------------------------------

const shown = new Map(); // by element, what it was last made of

// Whether an element is to be made anew, since it was made of something else.
function isNew(section, ...values) {
  const text = JSON.stringify(values);
  const changed = shown.get(section) !== text;
  shown.set(section, text);
  return changed;
}

function showPlayer(section, player, state, said) {
  section.hidden = false;
  if (!isNew(section, player, state.length, said)) return;
  section.classList.toggle("turn", player.turn);
  const name = element("b", "name", player.name);
  const score = element("span", "score", state.length ? `${player.score}/${state.length}` : String(player.score));
  score.setAttribute("aria-label", `score ${player.score}${state.length ? ` of ${state.length}` : ""}`);
  section.replaceChildren(
    element("span", `checker ${player.dark ? "dark" : "light"}`), name, element("span", "said", said),
    element("span", "pips", `${player.pips} pips`), score,
  );
}

const lastOf = (state, side) => {
  const entry = state.sheet.findLast((one) => one[0] === side);
  return entry ? entryText(entry) : "";
};
const entryText = ([, dice, text]) => (dice ? `${dice.replaceAll("-", "")}: ${text}` : text);

function showSheet(state) {
  const sheet = byId("sheet");
  sheet.hidden = !state.sheet.length;
  if (!isNew(sheet, state.sheet)) return;
  const list = document.createElement("ol");
  let row = null, filled = 2;
  for (const entry of state.sheet) {
    const side = entry[0];
    if (filled > side) { // a side that acts again, or after the other, begins a line
      row = document.createElement("li");
      row.append(element("span"), element("span"));
      list.append(row);
      filled = 0;
    }
    row.children[side].textContent = entryText(entry);
    filled = side + 1;
  }
  sheet.replaceChildren(list);
  sheet.scrollTop = sheet.scrollHeight;
}

function showActions(state) {
  const offered = state.actions.filter((action) => action !== "swap" || state.moves.length);
  if (!isNew(byId("actions"), offered, state.redouble, state.names)) return;
  const made = BUTTONS.filter(([action]) => offered.includes(action)).map(([action, label]) => {
    const one = button(action === "beaver" ? capital(state.redouble) : label, () => act(action));
    one.dataset.action = action;
    if (FIRST.includes(action)) one.className = "first";
    return one;
  });
  made.push(...state.names.map((number) => {
    const one = button(String(number), () => table.act("name", [number]), "first");
    one.dataset.name = number;
    return one;
  }));
  const lessons = button("?", () => document.dispatchEvent(new CustomEvent("open-lessons")), "open-lessons");
  lessons.setAttribute("aria-label", "Hint and lessons");
  const focused = document.activeElement?.dataset?.action;
  byId("actions").replaceChildren(settingsButton(), ...(state.learning ? [lessons] : []), ...made);
  if (focused) byId("actions").querySelector(`[data-action="${focused}"]`)?.focus();
}

let flash = 0;
function showBanner(state, before) {
  const banner = byId("banner");
  const entry = state.sheet.at(-1);
  if (state.over) {
    clearTimeout(flash);
    banner.className = "over";
    banner.replaceChildren(element("p", "", state.text));
    if (state.over === "game") banner.append(button("Next game", () => act("next"), "first"));
    banner.hidden = false;
  } else if (before?.sheet && entry?.[2] === "cannot move" && state.sheet.length !== before.sheet.length) {
    banner.className = "flash";
    banner.textContent = `${entry[0] ? state.players[1].name : "You"} cannot move: ${entry[1]}`;
    banner.hidden = false;
    clearTimeout(flash);
    flash = setTimeout(() => { banner.hidden = true; }, 1800);
  } else if (banner.className !== "flash") {
    banner.hidden = true;
  }
}

// -- sound --------------------------------------------------------------------------------------------------------

let audio = null;
function sound(state, before) {
  if (!settings.sound || !before?.board || state.board === before.board) return;
  audio ??= new AudioContext();
  const rolled = !before.actions.includes("move") && state.actions.includes("move");
  for (const [delay, pitch] of rolled ? [[0, 900], [0.07, 1300], [0.13, 1000]] : [[0, 420]]) {
    const tone = audio.createOscillator(), volume = audio.createGain(), at = audio.currentTime + delay;
    tone.type = "triangle";
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.15, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + 0.06);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.07);
  }
}

// -- together -----------------------------------------------------------------------------------------------------

table.onState((state, before) => {
  setText(byId("text"), state.text ?? "");
  setText(byId("last"), state.last ?? "");
  document.documentElement.classList.toggle("no-match", !state.board);
  if (!state.board) {
    for (const id of ["opponent", "own", "sheet", "banner"]) byId(id).hidden = true;
    byId("actions").replaceChildren();
    shown.clear();
    byId("match").textContent = "";
    return;
  }
  const [own, opponent] = state.players;
  showPlayer(byId("opponent"), opponent, state, lastOf(state, 1));
  showPlayer(byId("own"), own, state, lastOf(state, 0));
  const length = state.length ? `${state.length}-point match` : "unlimited match";
  setText(byId("match"), `${capital(state.game)}, ${length}${state.crawford ? ", Crawford game" : ""}`);
  const title = `${own.turn ? "Your turn" : state.over ? "Over" : opponent.name} – ${own.score}:${opponent.score}`;
  if (document.title !== title) document.title = title;
  if (before && before.actions !== state.actions) {
    for (const id of ["confirm", "resign"]) byId(id).close(""); // the game has gone on
  }
  showSheet(state);
  showActions(state);
  showBanner(state, before);
  sound(state, before);
});
table.onLost((isLost) => {
  document.documentElement.classList.toggle("lost", isLost);
  byId("text").textContent = isLost ? "The table does not answer; is fibsbot still running?" : table.state?.text ?? "";
});

document.addEventListener("ask-double", () => act("double"));
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, dialog")) return;
  if (event.key === " ") {
    event.preventDefault();
    const first = FIRST.find((action) => table.may(action));
    if (first && !event.repeat) act(first);
  } else if (KEYS[event.key]) {
    act(KEYS[event.key]);
  }
});
