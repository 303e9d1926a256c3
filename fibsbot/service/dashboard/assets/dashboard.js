"use strict";
// Shows all accounts. All text that others wrote goes through textContent; boards and curves are parsed as pictures.
const at = (id) => document.getElementById(id);
const EVERY = 2000; // milliseconds between two questions for the state
const HISTORY = 60000; // milliseconds after which the history is asked for again; before that when a match has ended
const SURE = 4000; // milliseconds within which an order that ends something has to be confirmed
const PATIENCE = 15000; // milliseconds that an answer may take
const cards = new Map();
let token = "";

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function picture(text) {
  const root = text && new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return root && root.localName === "svg" ? [document.importNode(root, true)] : [];
}

function duration(seconds) {
  const [days, hours, minutes] = [seconds / 86400, (seconds / 3600) % 24, (seconds / 60) % 60].map(Math.floor);
  return days ? `${days} d ${hours} h` : hours ? `${hours} h ${minutes} min` : `${minutes} min`;
}

async function ask(path, options = {}) {
  const answer = await fetch(`dashboard/${path}`, { ...options, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  if (!answer.ok) throw Object.assign(new Error((await answer.text()).trim()), { status: answer.status });
  return answer.json();
}

function say(text, bad) {
  at("said").textContent = text;
  at("said").className = bad ? "bad" : "";
}

async function order(word, account) {
  try {
    const done = await ask("order", {
      method: "POST",
      headers: { "X-Fibsbot-Token": token, "Content-Type": "application/json" },
      body: JSON.stringify({ order: word, account }),
    });
    say(`${word}: ${done.accounts.join(", ")}`);
    update();
  } catch (error) {
    if (error.status === 403) take("");
    say(error.status ? error.message : "no answer: the order may not have been carried out", true);
  }
}

function orderButton(word, account, title, ends) {
  const button = make("button", word);
  button.type = "button";
  button.title = title;
  let sure = 0;
  button.addEventListener("click", () => {
    if (ends && !sure) {
      button.textContent = `${word}: sure?`;
      sure = setTimeout(() => { sure = 0; button.textContent = word; }, SURE);
      return;
    }
    clearTimeout(sure);
    sure = 0;
    button.textContent = word;
    order(word, account);
  });
  return button;
}

class Card {
  constructor(name) {
    this.name = name;
    this.element = at("account").content.firstElementChild.cloneNode(true);
    this.find = (selector) => this.element.querySelector(selector);
    this.find("h2").textContent = name;
    this.find(".board").href = `live#${encodeURIComponent(name)}`;
    this.find(".board").title = `Watch ${name}`;
    this.find(".orders").setAttribute("aria-label", `Orders for ${name}`);
    this.shown = { board: -1, orders: "", matches: -1, history: 0 };
    at("accounts").append(this.element);
  }

  show(data) {
    this.element.className = data.healthy ? (data.opponent ? "playing" : "") : "ill";
    write(this.find(".sentence"), data.sentence + (data.paused ? " (paused)" : "") + (data.finishing ? " (finishing)" : ""));
    const since = data.last_error_at ? new Date(data.last_error_at).toLocaleString([], { dateStyle: "short", timeStyle: "short" }) : "";
    write(this.find(".error"), data.last_error ? `${since} ${data.last_error}` : "");
    this.showOrders(data);
    this.showChance(data.opponent ? data.chance : null);
    if (data.board !== null && data.board !== this.shown.board) this.showBoard(data.board);
    if (data.matches !== this.shown.matches || Date.now() - this.shown.history > HISTORY) this.showHistory(data.matches);
  }

  showOrders(data) {
    const words = !token || data.ended ? [] : [
      data.paused ? ["resume", "Start matches again", false] : ["pause", "Start no new match", false],
      ...(data.state === "RESTING" ? [["connect", "Try to connect now", false]] : []),
      ...(data.finishing ? [] : [["finish", "Finish the match, then log out", true]]),
      ["quit", "Log out at once; the server saves the match", true],
    ];
    const key = JSON.stringify(words);
    if (key === this.shown.orders) return;
    this.shown.orders = key;
    this.find(".orders").replaceChildren(...words.map(([word, title, ends]) => orderButton(word, this.name, title, ends)));
  }

  showChance(win) {
    const known = typeof win === "number";
    this.find(".chance").hidden = !known;
    if (!known) return;
    const percent = (100 * win).toFixed(1);
    this.find(".bar span").style.width = `${percent}%`;
    write(this.find(".words"), `${percent} % to win this game`);
  }

  async showBoard(version) {
    this.shown.board = version;
    try {
      const data = await ask(`board?account=${encodeURIComponent(this.name)}`);
      this.find(".board").replaceChildren(...picture(data.svg));
      this.find(".board").classList.toggle("past", data.past);
    } catch {
      this.shown.board = -1; // the next state asks again
    }
  }

  async showHistory(matches) {
    this.shown.matches = matches;
    this.shown.history = Date.now();
    let data;
    try {
      data = await ask(`history?account=${encodeURIComponent(this.name)}`);
    } catch {
      this.shown.matches = -1;
      return;
    }
    if (data.trouble) {
      write(this.find(".rating"), data.trouble);
      return;
    }
    const rated = data.rating === null ? "not rated yet" : `rating ${data.rating.toFixed(2)}, experience ${data.experience}`;
    write(this.find(".rating"), `${rated}; ${data.won} of ${data.finished} matches won in ${data.days} days`);
    this.find(".curve").replaceChildren(...picture(data.curve));
    this.find("caption").textContent = data.matches.length ? "Last matches" : "";
    this.find("table").hidden = !data.matches.length;
    this.find("tbody").replaceChildren(...data.matches.map(matchRow));
  }
}

function matchRow(match) {
  const row = make("tr", undefined, match.won === null ? "" : match.won ? "won" : "lost");
  const when = make("time", new Date(match.at).toLocaleString([], { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }));
  when.dateTime = match.at;
  const first = make("td");
  first.append(when);
  const length = match.length === null ? "" : match.length ? `${match.length} ${match.length === 1 ? "point" : "points"}` : "unlimited";
  const game = match.game === "backgammon" ? "" : `, ${match.game}`;
  const result = match.won === null ? match.outcome : match.won ? "won" : "lost";
  const gain = match.gain === null ? "" : `${match.gain < 0 ? "−" : "+"}${Math.abs(match.gain).toFixed(2)}`;
  const last = make("td");
  if (match.report) {
    const link = make("a", "report");
    link.href = `dashboard/report/${match.id}`;
    link.target = "_blank";
    link.rel = "noopener";
    last.append(link);
  }
  row.append(
    first,
    make("td", match.opponent + (match.rated === null ? "" : ` (${match.rated})`)),
    make("td", length + game),
    make("td", `${result}${match.score ? ` ${match.score[0]}-${match.score[1]}` : ""}`),
    make("td", gain, "number"),
    last,
  );
  return row;
}

async function update() {
  clearTimeout(update.timer);
  try {
    const data = await ask("state");
    write(at("link"), "live");
    at("link").className = "there";
    const store = data.store && !data.store.healthy ? `; store: ${data.store.trouble || "not written to"}` : "";
    write(at("process"), `${data.version}, up ${duration(data.uptime)}${store}`);
    at("process").className = store ? "ill" : "";
    const names = new Set(data.accounts.map((it) => it.account));
    for (const [name, card] of cards) {
      if (!names.has(name)) {
        card.element.remove();
        cards.delete(name);
      }
    }
    for (const account of data.accounts) {
      if (!cards.has(account.account)) cards.set(account.account, new Card(account.account));
      cards.get(account.account).show(account);
    }
  } catch {
    write(at("link"), "no answer, trying again");
    at("link").className = "lost";
  }
  clearTimeout(update.timer);
  if (!document.hidden) update.timer = setTimeout(update, EVERY);
}

// The token is in the address once, and then in this tab alone.
function take(given) {
  token = given;
  try {
    if (given) sessionStorage.setItem("token", given);
    else sessionStorage.removeItem("token");
  } catch { /* a browser that keeps nothing */ }
  if (!token) say("Without the address that fibsbot status --dashboard prints, this page only shows.");
}

function theme(chosen) {
  if (chosen) document.documentElement.dataset.theme = chosen;
}

at("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const next = dark === "dark" ? "light" : "dark";
  theme(next);
  try { localStorage.setItem("theme", next); } catch { /* a browser that keeps nothing */ }
});
try { theme(localStorage.getItem("theme")); } catch { /* a browser that keeps nothing */ }
document.addEventListener("visibilitychange", () => document.hidden || update());
let kept = "";
try { kept = sessionStorage.getItem("token") || ""; } catch { /* a browser that keeps nothing */ }
take(location.hash.slice(1) || kept);
if (location.hash) history.replaceState(null, "", location.pathname);
update();
