// The board: what is shown on it, and playing by clicks, drags, touches and keys. It knows no rule: the state says which
// moves there are, and in which order they are to be preferred.

import { table } from "./table.js";
import { settings, onSettings } from "./settings.js";

const byId = (id) => document.getElementById(id);
const svgElement = (name, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const OFF = 0, HAND = 25;
const DRAG_DISTANCE = 8; // pixels after which a press is a drag
const LONG_PRESS = 450; // milliseconds
const GLIDE = 280, OWN_GLIDE = 160; // milliseconds
const narrow = window.matchMedia("(orientation: portrait) and (max-width: 640px)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

let picked = null; // the place whose targets are shown because its checker was picked up
let hovered = null;
let press = null; // of the mouse or a finger on a checker
let swallowClick = false; // the click that follows a drag or a long press is none

// -- moves -------------------------------------------------------------------------------------------------------

const moves = () => table.state?.moves ?? [];
const movesFrom = (place) => moves().filter((move) => move[0] === place);
const isSource = (place) => movesFrom(place).length > 0;
const isTarget = (from, place) => movesFrom(from).some((move) => move[1] === place);
const placeName = (place) => (place === HAND ? "the bar" : place === OFF ? "off" : String(place));

function play(place, otherDie = false) {
  const single = movesFrom(place).filter((move) => move[2] === 1);
  if (!single.length) return;
  picked = hovered = null;
  if (otherDie) table.act("move", single[single.length - 1].slice(0, 2));
  else table.act("move", [place]);
}

function playTo(from, place) {
  picked = hovered = null;
  if (isTarget(from, place)) table.act("move", [from, place]);
  showMarks();
}

// What a click on the dice does: most clients pick them up when the play is made, and swap them before.
function pressDice() {
  if (table.may("roll")) table.act("roll");
  else if (table.may("done") && !moves().length) table.act("done");
  else if (table.may("swap")) table.act("swap");
}

// -- what is shown ------------------------------------------------------------------------------------------------

const buttons = new Map(); // by place; they stay, so that the keyboard's focus does
const dice = extraButton("dice", pressDice);
const cube = extraButton("cube", () => document.dispatchEvent(new CustomEvent("ask-double")));

function extraButton(name, pressed) {
  const made = document.createElement("button");
  made.type = "button";
  made.id = name;
  made.append(document.createElement("span"));
  made.addEventListener("click", pressed);
  return made;
}

for (let place = HAND; place >= OFF; place--) {
  const made = document.createElement("button");
  made.type = "button";
  made.dataset.place = place;
  buttons.set(place, made);
}
byId("places").append(...buttons.values(), cube, dice);

function setArea(element, [left, top, width, height], [wide, high]) {
  Object.assign(element.style, {
    left: `${(100 * left) / wide}%`, top: `${(100 * top) / high}%`,
    width: `${(100 * width) / wide}%`, height: `${(100 * height) / high}%`,
  });
}

function showPlaces(state, before) {
  for (const [place, made] of buttons) {
    const { area } = state.places[place];
    if (area !== before?.places?.[place].area) setArea(made, area, state.size);
    made.classList.toggle("source", isSource(place));
  }
  if (state.dice !== before?.dice) setArea(dice, state.dice, state.size);
  if (state.cube !== before?.cube) setArea(cube, state.cube, state.size);
  cube.hidden = !table.may("double");
  cube.setAttribute("aria-label", "Double");
  const label = table.may("roll") ? "Roll" : table.may("done") && !state.moves.length ? "Done" : "";
  dice.hidden = !label && !table.may("swap");
  dice.className = label === "Done" ? "up" : label.toLowerCase();
  dice.firstChild.textContent = label === "Roll" ? label : "";
  dice.setAttribute("aria-label", label || "Swap the dice");
}

function showMarks() {
  const state = table.state;
  if (!state?.board) return;
  const marks = svgElement("g", {});
  const from = press?.dragged ? press.place : picked ?? hovered;
  const ring = (place, kind, [x, y]) => {
    const inTray = place === HAND && Math.abs(x - state.size[0] / 2) > 1;
    const radius = kind.startsWith("target") || inTray ? 9 : 17.5;
    marks.append(svgElement("circle", { cx: x, cy: y, r: radius, class: `mark ${kind}` }));
  };
  if (from !== null && isSource(from)) {
    ring(from, "picked", state.places[from].top);
    const farthest = new Map();
    for (const [, target, count] of movesFrom(from)) farthest.set(target, Math.min(count, farthest.get(target) ?? 9));
    for (const [target, count] of farthest) ring(target, count > 1 ? "target far" : "target", state.places[target].next);
  } else {
    for (const place of buttons.keys()) if (isSource(place)) ring(place, "source", state.places[place].top);
  }
  replaceChildren(byId("marks"), [...byId("marks").children], [...marks.children], { gone: [], come: [] });
  for (const [place, made] of buttons) {
    made.classList.toggle("target", from !== null && isTarget(from, place));
    const label = placeLabel(place);
    if (made.getAttribute("aria-label") === label) continue;
    made.tabIndex = label ? 0 : -1;
    made.setAttribute("aria-label", label);
    made.setAttribute("aria-hidden", String(!label));
  }
}

function placeLabel(place) {
  if (picked !== null && isTarget(picked, place)) return `Put it on ${placeName(place)}`;
  const targets = new Set(movesFrom(place).map((move) => placeName(move[1])));
  return targets.size ? `Checker on ${placeName(place)}: play to ${[...targets].join(", ")}` : "";
}

// -- the picture: only what has changed is drawn anew ------------------------------------------------------------

let lines = []; // the picture as it is drawn: the opening of its root, and a line for each element in it

function linesOf(picture) {
  const [root, ...parts] = picture.trim().split(/\n(?=<)/).slice(0, -1);
  const all = [root];
  let open = 0; // groups, of which some have a line for each of their elements
  for (const part of parts) {
    if (open) all.push(all.pop() + part);
    else all.push(part);
    open += part.split("<g ").length - part.split("</g>").length;
  }
  const isCount = (line) => line.includes('font-size="20"'); // of checkers: above the arrows
  return [...all.filter((line) => !isCount(line)), ...all.filter(isCount)];
}

function parse(text) {
  const made = document.createElement("template");
  made.innerHTML = text;
  return made.content.firstElementChild;
}

// What an element is: a group by its attributes, anything else with what is in it.
const keyOf = (element) => (element.firstElementChild ? element.cloneNode(false) : element).outerHTML;

// What is drawn by an element of a group, with the group's class, which says the colour.
function drawn(element, group) {
  const pairs = element.firstElementChild ? [...element.children].map((child) => [child, element]) : [[element, group]];
  return pairs.map(([child, parent]) => ({ element: child, colour: parent.getAttribute("class") }));
}

// Puts new children of an element in place of old ones, which are those before `next`, but keeps what is equal; adds to
// `changes` what has gone and come.
function replaceChildren(element, old, wanted, changes, next = null) {
  const known = new Map();
  for (const child of old) {
    const key = keyOf(child);
    known.set(key, [...(known.get(key) ?? []), child]);
  }
  const children = wanted.map((child) => {
    const kept = known.get(keyOf(child))?.shift();
    if (kept) replaceChildren(kept, [...kept.children], [...child.children], changes);
    else changes.come.push(...drawn(child, element));
    return kept ?? child;
  });
  let at = old[0] ?? next;
  for (const child of [...known.values()].flat()) {
    changes.gone.push(...drawn(child, element));
    if (child === at) at = at.nextElementSibling;
    child.remove();
  }
  for (const child of children) {
    if (child === at) at = at.nextElementSibling;
    else element.insertBefore(child, at);
  }
}

// Draws a picture; returns what has gone from the last one, and what has come.
function drawBoard(picture) {
  const before = lines, changes = { gone: [], come: [] }, svg = byId("board").firstElementChild;
  lines = linesOf(picture);
  if (!svg || before[0] !== lines[0]) {
    byId("board").replaceChildren(parse(`${lines.join("\n")}</svg>`));
    byId("overlay").setAttribute("viewBox", byId("board").firstElementChild.getAttribute("viewBox"));
    return changes;
  }
  let start = 1, end = 0; // how many lines are the same, and how many from the end
  while (start < lines.length && lines[start] === before[start]) start++;
  const most = Math.min(lines.length, before.length) - start;
  while (end < most && lines.at(-1 - end) === before.at(-1 - end)) end++;
  const old = [...svg.children].slice(start - 1, before.length - 1 - end);
  const made = parse(`<svg>${lines.slice(start, lines.length - end).join("")}</svg>`);
  replaceChildren(svg, old, [...made.children], changes, svg.children[before.length - 1 - end] ?? null);
  return changes;
}

// -- checkers glide from where they were ------------------------------------------------------------------------

function checkers(changed) {
  const found = changed.filter(({ element, colour }) =>
    element.matches('circle[r="17.5"], rect[rx="3"]') && /fb-(dark|light)/.test(colour));
  return found.map(({ element, colour }) => {
    const number = (name) => Number(element.getAttribute(name));
    const round = element.localName === "circle";
    const x = round ? number("cx") : number("x") + number("width") / 2;
    const y = round ? number("cy") : number("y") + number("height") / 2;
    return { element, colour, x, y };
  });
}

function glide(gone, come, duration) {
  if (still.matches || document.hidden || come.length > 8) return; // or another game, or another view of the board
  const pairs = come.flatMap((to) => gone.filter((from) => from.colour === to.colour).map((from) => ({ from, to })));
  pairs.sort((a, b) => distance(a) - distance(b));
  const used = new Set();
  for (const { from, to } of pairs) {
    if (used.has(from) || used.has(to)) continue;
    used.add(from).add(to);
    to.element.animate(
      [{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: "none" }],
      { duration, easing: "ease-in-out" },
    );
  }
}
const distance = ({ from, to }) => Math.hypot(from.x - to.x, from.y - to.y);

let dropped = null; // where a checker was put by hand, which need not glide again

function show(state, before) {
  byId("table").hidden = !state.board;
  if (!state.board) return;
  if (state.board !== before?.board) {
    const { gone, come } = drawBoard(state.board);
    const own = before?.actions?.includes("move") || before?.actions?.includes("undo");
    if (!dropped) glide(checkers(gone), checkers(come), own ? OWN_GLIDE : GLIDE);
    dropped = null;
  }
  if (picked !== null && !isSource(picked)) picked = null;
  if (hovered !== null && !isSource(hovered)) hovered = null;
  if (press && !isSource(press.place)) endPress();
  if (state.size !== before?.size) {
    byId("table").style.setProperty("--wide", state.size[0]);
    byId("table").style.setProperty("--high", state.size[1]);
  }
  showPlaces(state, before);
  showMarks();
}

// -- mouse and fingers --------------------------------------------------------------------------------------------

const placeOf = (element) => {
  const place = element?.closest?.("[data-place]")?.dataset.place;
  return place === undefined ? null : Number(place);
};

function clicked(place, otherDie) {
  if (picked !== null && picked !== place) playTo(picked, place);
  else if (settings.pick && !otherDie && isSource(place)) {
    picked = picked === place ? null : place;
    showMarks();
  } else play(place, otherDie);
}

function startDrag() {
  press.dragged = true;
  clearTimeout(press.timer);
  const size = byId("board").querySelector('circle[r="17.5"]')?.getBoundingClientRect().width ?? 40;
  press.ghost = document.createElement("div");
  press.ghost.className = `ghost ${table.state.players[0].dark ? "dark" : "light"}`;
  Object.assign(press.ghost.style, { width: `${size}px`, height: `${size}px` });
  document.body.append(press.ghost);
  showMarks();
}

function endPress() {
  clearTimeout(press?.timer);
  press?.ghost?.remove();
  press = null;
}

byId("places").addEventListener("pointerdown", (event) => {
  const place = placeOf(event.target);
  swallowClick = false;
  if (event.button !== 0 || !event.isPrimary || place === null || !isSource(place)) return;
  press = { place, id: event.pointerId, x: event.clientX, y: event.clientY, dragged: false };
  if (event.pointerType !== "mouse") {
    press.timer = setTimeout(() => {
      swallowClick = true;
      endPress();
      play(place, true);
    }, LONG_PRESS);
  }
});
document.addEventListener("pointermove", (event) => {
  if (press?.id !== event.pointerId) return;
  if (!press.dragged && Math.hypot(event.clientX - press.x, event.clientY - press.y) > DRAG_DISTANCE) startDrag();
  if (!press.dragged) return;
  press.ghost.style.transform = `translate(${event.clientX}px, ${event.clientY}px) translate(-50%, -50%)`;
});
document.addEventListener("pointerup", (event) => {
  if (press?.id !== event.pointerId) return;
  const { place, dragged } = press;
  endPress();
  if (!dragged) return;
  swallowClick = true;
  setTimeout(() => { swallowClick = false; });
  const target = placeOf(document.elementFromPoint(event.clientX, event.clientY));
  if (target !== null && isTarget(place, target)) dropped = true;
  playTo(place, target);
});
document.addEventListener("pointercancel", (event) => {
  if (press?.id !== event.pointerId) return;
  endPress();
  showMarks();
});
byId("places").addEventListener("pointerover", (event) => {
  if (event.pointerType !== "mouse" || press?.dragged) return;
  const place = placeOf(event.target);
  hovered = place !== null && isSource(place) ? place : null;
  showMarks();
});
byId("places").addEventListener("pointerleave", () => {
  hovered = null;
  showMarks();
});
byId("places").addEventListener("focusin", (event) => {
  if (!event.target.matches(":focus-visible")) return;
  hovered = placeOf(event.target);
  showMarks();
});
byId("places").addEventListener("focusout", () => {
  hovered = null;
  showMarks();
});
byId("places").addEventListener("click", (event) => {
  const place = placeOf(event.target);
  if (place !== null && !swallowClick) clicked(place, event.shiftKey);
  swallowClick = false;
});
byId("places").addEventListener("contextmenu", (event) => {
  event.preventDefault();
  const place = placeOf(event.target);
  if (event.button === 2 && !press && !swallowClick && place !== null) play(place, true);
});

// -- keys ---------------------------------------------------------------------------------------------------------

let typed = "";
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, dialog")) return;
  const places = [...buttons.keys()].filter(isSource);
  const digit = /^[0-9]$/.test(event.key);
  if (event.key === "Escape") {
    typed = "";
    picked = null;
    endPress();
    showMarks();
  } else if (digit && event.key === "0" && !typed) {
    if (isSource(HAND)) play(HAND);
  } else if (digit) {
    typed = (typed + event.key).slice(-2);
    const place = [Number(typed), Number(event.key)].find((number) => places.includes(number));
    const longer = places.some((number) => number >= 10 && number < HAND && String(number)[0] === typed);
    if (place && !longer) {
      typed = "";
      play(place);
    }
  } else if (event.key === "Enter" && typed && !event.target.closest("button")) {
    play(Number(typed));
    typed = "";
  }
});

// -- view ---------------------------------------------------------------------------------------------------------

let view = null;
function follow() {
  const wanted = [settings.left && "left", settings.light && "light", narrow.matches && "narrow"];
  const query = wanted.filter(Boolean).join("&");
  document.documentElement.classList.toggle("turned", narrow.matches);
  document.documentElement.classList.toggle("no-arrows", Boolean(settings.noArrows));
  if (query !== view) table.follow((view = query));
}

table.onState(show);
onSettings(follow);
narrow.addEventListener("change", follow);
