// The script of a report page: steps through matches by keyboard, mouse and touch, and shows the data of each entry.
// All texts are composed when the page is written; texts from other people are only ever set as textContent.
"use strict";
(() => {
  const SWIPE = 40; // pixels
  const one = (selector, from = document) => from.querySelector(selector);
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  /** Create an element with these properties and children. */
  function make(name, properties = {}, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // -- data ------------------------------------------------------------------------------------------------------

  const matches = all("section.match").map((section) => ({ section, id: section.id, entries: null }));

  /** Parse the data of a match when it is first shown. */
  function open(match) {
    if (match.entries) return match;
    const data = JSON.parse(one(`#${match.id}-data`).textContent);
    match.pieces = data.pieces;
    match.entries = data.entries;
    match.names = data.names;
    match.user = data.user;
    match.selective = data.selective;
    match.links = data.entries.map((entry) => document.getElementById(match.id + entry.key));
    match.index = 0;
    for (const link of match.links) link.tabIndex = -1; // the sheet is a single tab stop, not hundreds
    match.facing = data.facing;
    showThumbs(match);
    return match;
  }

  /** Draw the small boards of the worst errors. */
  function showThumbs(match) {
    for (const thumb of all(".thumb", match.section)) {
      const entry = match.entries.find(({ key }) => match.id + key === thumb.dataset.board);
      if (entry && entry.board) thumb.replaceChildren(board(match, entry.board, entry));
    }
  }

  /** Return the board of an entry: ranges of pieces, each `first` or `first-last`, separated by blanks. */
  function board(match, code, entry) {
    const source = code
      .split(" ")
      .map((run) => {
        const [first, last = first] = run.split("-").map(Number);
        return match.pieces.slice(first, last + 1).join("");
      })
      .join("");
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
    if (view.mover && entry.other) {
      for (const number of all(".fb-on-frame text", parsed)) number.textContent = match.facing[Number(number.textContent)];
    }
    parsed.classList.toggle("flipped", view.flipped);
    return document.importNode(parsed, true);
  }

  // -- how boards are seen, remembered where the browser lets a page do so -------------------------------------------

  const KEPT = "fibsbot-report";
  const view = { flipped: false, mover: false };
  try {
    Object.assign(view, JSON.parse(localStorage.getItem(KEPT)));
  } catch {
    // A page from disk may remember nothing.
  }

  function see(changes) {
    Object.assign(view, changes);
    try {
      localStorage.setItem(KEPT, JSON.stringify(view));
    } catch {
      // As above.
    }
    showSwitches();
    for (const opened of matches) if (opened.entries) showThumbs(opened);
    if (match && match.entries.length) showBoard();
  }

  // -- the viewer ------------------------------------------------------------------------------------------------

  const viewer = one("#viewer").content.cloneNode(true);
  const head = one(".head", viewer);
  const only = one(".only", viewer);
  const filter = one("select", only);
  const mover = one(".mover", only);
  const box = one(".board-box", viewer);
  const details = one(".details", viewer);
  const part = (name) => one(`.${name}`, details);
  const said = (name) => one(`.${name}`, head);
  let match = null;
  const answer = one(".answer", box);
  const tried = one(".try", box); // only a page that is served has this link
  let showsBest = false;
  let practises = false;
  let revealed = false; // the answer, while somebody practises
  let addressing = 0;

  function showBoard() {
    const entry = match.entries[match.index];
    const code = isHidden(entry) ? entry.plain : showsBest && entry.best ? entry.best : entry.board;
    const place = one(".board", box);
    place.replaceChildren(...(code ? [board(match, code, entry)] : [make("p", { textContent: "No board is known here." })]));
    const said = isHidden(entry) ? entry.question : entry.headline;
    place.setAttribute("aria-label", `${said}. ${entry.ids ? Object.values(entry.ids)[0] : ""}`);
    const button = one("[data-do=best]", box);
    button.disabled = !entry.best;
    button.setAttribute("aria-pressed", String(showsBest && Boolean(entry.best)));
  }

  /** Whether an entry is an error whose answer is to be found. */
  const isHidden = (entry) => practises && !revealed && Boolean(entry.question);

  function showSwitches() {
    one("[data-do=flip]", only).setAttribute("aria-pressed", String(view.flipped));
    one("[data-do=practise]", only).setAttribute("aria-pressed", String(practises));
    mover.checked = view.mover;
  }

  function rows(table, made) {
    return table.map((cells) => {
      const row = make("tr", { className: cells.at(-1) ? "made" : "" });
      row.append(make("th", { scope: "row", textContent: cells[0] + (cells.at(-1) ? ` \u25c2 ${made}` : "") }));
      row.append(...cells.slice(1, -1).map((text) => make("td", { textContent: text })));
      return row;
    });
  }

  function showTables(entry) {
    part("plays").hidden = !entry.plays;
    one("tbody", part("plays")).replaceChildren(...rows(entry.plays || [], "played"));
    for (const name of ["cube", "resigning"]) {
      const table = entry[name];
      part(name).hidden = !table;
      if (!table) continue;
      one("caption", part(name)).textContent = `${table.right}. ${table.seen}:`;
      one("tbody", part(name)).replaceChildren(...rows(table.rows, "done"));
    }
  }

  function showIds(entry) {
    const lines = Object.entries(entry.ids || {}).map(([name, id]) => {
      const button = make("button", { type: "button", textContent: "Copy" });
      button.setAttribute("aria-label", `Copy the ${name}`);
      button.addEventListener("click", () => copy(id, button));
      return make("div", {}, make("span", { textContent: name }), make("code", { textContent: id }), button);
    });
    part("ids").replaceChildren(...lines);
  }

  function show() {
    const entry = match.entries[match.index];
    const hidden = isHidden(entry);
    showBoard();
    said("headline").textContent = hidden ? entry.question : entry.headline;
    said("verdict").textContent = hidden ? "" : entry.verdict || "";
    said("verdict").className = `verdict ${hidden ? "" : entry.grade || ""}`;
    details.hidden = hidden;
    if (tried) {
      const choices = (entry.plays || []).length > 1 || entry.cube || entry.resigning;
      tried.hidden = !choices;
      tried.href = tried.dataset.board + match.id + entry.key;
    }
    answer.hidden = !practises;
    answer.textContent = hidden ? "Show the answer" : nextError(1) < 0 ? "That was the last error" : "Next error";
    answer.disabled = !hidden && nextError(1) < 0;
    const facts = (entry.facts || []).flatMap(([name, value]) => [
      make("div", {}, make("dt", { textContent: name }), make("dd", { textContent: value })),
    ]);
    part("facts").replaceChildren(...facts);
    part("notes").replaceChildren(...(entry.notes || []).map((text) => make("li", { textContent: text })));
    showTables(entry);
    showIds(entry);
    showCursor();
  }

  /** Mark the entry in both graphs; one is for narrow screens. */
  function showCursor() {
    for (const plot of all(".plot", match.section)) {
      const svg = one("svg", plot);
      const [low, high] = svg.dataset.x.split(" ").map(Number);
      const [left, , right] = svg.dataset.plot.split(" ").map(Number);
      const place = left + ((match.index - low) / (high - low)) * (right - left);
      let cursor = one(".cursor", plot);
      if (!cursor) plot.append((cursor = make("div", { className: "cursor" })));
      cursor.hidden = match.index < low || match.index > high; // a gap before or after all that has an equity
      cursor.style.left = `${(100 * place) / svg.viewBox.baseVal.width}%`;
    }
  }

  async function copy(text, button) {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = make("textarea", { value: text, className: "visually-hidden" });
      button.after(field);
      field.select();
      done = document.execCommand("copy"); // the only way if a page from disk may not use the clipboard
      field.remove();
      button.focus();
    }
    button.textContent = done ? "Copied" : "Not copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  }

  // -- navigation -----------------------------------------------------------------------------------------------

  /** Show a match. */
  function enter(wanted) {
    for (const it of matches) it.section.hidden = it !== wanted;
    if (match === wanted) return;
    match = open(wanted);
    one(".stage", match.section).prepend(head, box, details);
    one(".sheet", match.section).before(only);
    fillFilter();
    const index = one("details.index");
    if (index) index.open = false;
  }

  /** Show an entry. The address follows after a pause: browsers limit the number of changes. */
  function go(index) {
    if (!match.entries.length) return;
    const before = match.links[match.index];
    before.removeAttribute("aria-current");
    before.tabIndex = -1;
    match.index = Math.max(0, Math.min(match.entries.length - 1, index));
    revealed = false;
    const link = match.links[match.index];
    link.setAttribute("aria-current", "true");
    link.tabIndex = 0;
    reveal(link);
    clearTimeout(addressing);
    addressing = setTimeout(() => history.replaceState(null, "", `#${link.id}`), 150);
    show();
  }

  /** Scroll the sheet, and nothing else, until the link is visible. */
  function reveal(link) {
    const sheet = one(".sheet", match.section);
    if (sheet.scrollHeight <= sheet.clientHeight) return;
    const [inner, outer] = [link.getBoundingClientRect(), sheet.getBoundingClientRect()];
    const margin = 48;
    if (inner.top < outer.top + margin) sheet.scrollTop += inner.top - outer.top - margin;
    else if (inner.bottom > outer.bottom - margin) sheet.scrollTop += inner.bottom - outer.bottom + margin;
  }

  /** Return the place of the next error that passes the filter, -1 if there is none. */
  function nextError(step) {
    for (let at = match.index + step; match.entries[at]; at += step) {
      if (match.entries[at].error && wanted(match.entries[at])) return at;
    }
    return -1;
  }

  function toError(step) {
    const at = nextError(step);
    if (at >= 0) go(at);
  }

  // -- practice: errors with the answer hidden ------------------------------------------------------------------------

  function practise() {
    practises = !practises;
    revealed = false;
    document.documentElement.classList.toggle("practising", practises);
    showSwitches();
    if (practises && filter.value === "all") {
      filter.value = match.selective || match.user === null || match.user === undefined ? "errors" : String(match.user);
      applyFilter();
    }
    const first = match.entries.findIndex(wanted);
    if (practises && first >= 0 && !wanted(match.entries[match.index])) go(first);
    else show();
  }

  function showAnswer() {
    if (!practises) return;
    if (!isHidden(match.entries[match.index])) return toError(1);
    revealed = true;
    show();
  }

  // -- filter ----------------------------------------------------------------------------------------------------

  /** Fill the filter: all decisions, all errors, and those of each player, the user first. */
  function fillFilter() {
    const seats = match.user === 1 ? [1, 0] : [0, 1];
    const errors = (seat) => (seat === match.user ? "only my errors" : `only errors of ${match.names[seat]}`);
    filter.replaceChildren(
      new Option("all decisions", "all"),
      new Option(match.selective ? "only selected errors" : "only errors", "errors"),
      ...seats.map((seat) => new Option(errors(seat), String(seat))),
    );
    applyFilter();
  }

  function wanted(entry) {
    if (filter.value === "all") return true;
    return Boolean(entry.error) && (filter.value === "errors" || String(entry.seat) === filter.value);
  }

  /** Hide entries that the filter excludes, and rows and games without any other. */
  function applyFilter() {
    match.entries.forEach((entry, index) => (match.links[index].hidden = !wanted(entry)));
    const filtered = filter.value !== "all";
    for (const place of all(".sheet tbody tr, .sheet .game", match.section)) {
      place.hidden = filtered && !one(".entry:not([hidden])", place);
    }
  }

  /** Go to the next entry that passes the filter. */
  function step(by) {
    for (let at = match.index + by; match.entries[at]; at += by) {
      if (wanted(match.entries[at])) return go(at);
    }
    if (filter.value === "all") go(match.index + by);
  }

  mover.addEventListener("change", () => see({ mover: mover.checked }));
  filter.addEventListener("change", () => {
    applyFilter();
    if (!match.entries.length || wanted(match.entries[match.index])) return;
    const first = match.entries.findIndex(wanted);
    if (first >= 0) go(first);
  });

  const game = (entry) => entry.key.split("t")[0];

  function toGame(step) {
    const here = game(match.entries[match.index]);
    let at = match.index;
    while (match.entries[at] && game(match.entries[at]) === here) at += step;
    if (!match.entries[at]) return step < 0 ? go(0) : undefined;
    const there = game(match.entries[at]);
    go(match.entries.findIndex((entry) => game(entry) === there));
  }

  function follow(hash) {
    const [, id, key] = /^#(m\d+)(g.*)?$/.exec(hash) || [];
    const wanted = matches.find((it) => it.id === id);
    if (!wanted) return false;
    enter(wanted);
    const index = match.entries.findIndex((entry) => entry.key === key || entry.key.startsWith(`${key}t`));
    go(index < 0 ? match.index : index);
    return true;
  }

  const help = one("#help");
  const actions = {
    back: () => step(-1),
    on: () => step(1),
    nextFilter: () => {
      filter.selectedIndex = (filter.selectedIndex + 1) % filter.options.length;
      filter.dispatchEvent(new Event("change"));
    },
    first: () => go(0),
    last: () => go(match.entries.length - 1),
    "last-error": () => toError(-1),
    "next-error": () => toError(1),
    "last-game": () => toGame(-1),
    "next-game": () => toGame(1),
    best: () => {
      showsBest = !showsBest;
      showBoard();
    },
    help: () => help.showModal(),
    flip: () => see({ flipped: !view.flipped }),
    numbers: () => see({ mover: !view.mover }),
    practise,
    answer: showAnswer,
  };
  const keys = {
    ArrowLeft: "back", k: "back", ArrowRight: "on", j: "on", p: "last-error",
    n: "next-error", G: "last-game", g: "next-game", b: "best", e: "nextFilter",
    q: "practise", f: "flip", m: "numbers", " ": "answer", "?": "help",
  };
  const inSheetKeys = { ArrowUp: "back", ArrowDown: "on", Home: "first", End: "last" };

  document.addEventListener("keydown", (event) => {
    if (event.target.closest("select")) return;
    if (event.ctrlKey || event.altKey || event.metaKey || help.open || !match || !match.entries.length) return;
    const inSheet = event.target.closest(".sheet");
    const action = (inSheet && inSheetKeys[event.key]) || keys[event.key];
    if (!action || (action === "answer" && (!practises || event.target.closest("button, summary, input")))) return;
    event.preventDefault();
    actions[action]();
    if (inSheet && action !== "help") match.links[match.index].focus({ preventScroll: true });
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button) return actions[button.dataset.do]();
    const link = event.target.closest('a[href^="#m"]');
    if (link && follow(link.hash)) {
      event.preventDefault();
      if (/g/.test(link.hash) && link.closest(".index")) one(".stage", match.section).scrollIntoView();
      else if (link.closest(".index")) match.section.scrollIntoView();
      else if (!link.closest(".sheet")) box.scrollIntoView({ block: "nearest" });
      return;
    }
    const plot = event.target.closest(".plot");
    if (plot && match) pointAt(plot, event.clientX);
  });

  /** Go to the entry at a position in the graph. */
  function pointAt(plot, clientX) {
    const svg = one("svg", plot);
    const [low, high] = svg.dataset.x.split(" ").map(Number);
    const [left, , right] = svg.dataset.plot.split(" ").map(Number);
    const { x, width } = svg.getBoundingClientRect();
    const place = ((clientX - x) / width) * svg.viewBox.baseVal.width;
    go(Math.round(low + ((place - left) / (right - left)) * (high - low)));
  }

  let touched = null;
  const boardPlace = one(".board", box);
  boardPlace.addEventListener("touchstart", ({ touches }) => {
    touched = touches.length === 1 ? touches[0] : null;
  }, { passive: true });
  boardPlace.addEventListener("touchend", ({ changedTouches: [finger] }) => {
    if (!touched) return;
    const [x, y] = [finger.clientX - touched.clientX, finger.clientY - touched.clientY];
    touched = null;
    if (Math.abs(x) > SWIPE && Math.abs(x) > 1.5 * Math.abs(y)) actions[x < 0 ? "on" : "back"]();
  });

  // -- start ---------------------------------------------------------------------------------------------------

  document.documentElement.classList.add("scripted");
  showSwitches();
  // Use the address of the event: that of the page may already have been changed again by `go`.
  addEventListener("hashchange", (event) => follow(new URL(event.newURL).hash));
  const asked = location.hash;
  if (follow(asked)) {
    // The browser scrolls to the link in the score sheet, now or after loading; scroll to the board instead.
    const place = /g/.test(asked) ? one(".stage", match.section) : match.section;
    const toBoard = () => {
      place.scrollIntoView();
      if (match.entries.length) reveal(match.links[match.index]);
    };
    toBoard();
    addEventListener("load", () => setTimeout(toBoard), { once: true });
  } else if (matches.length === 1) {
    enter(matches[0]);
    go(0);
    clearTimeout(addressing); // a fresh page keeps its address
  } else {
    for (const it of matches) it.section.hidden = true;
  }
})();
