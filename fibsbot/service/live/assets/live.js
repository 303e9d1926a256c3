"use strict";
// Follows one account. All text that others wrote goes through textContent; the board is parsed as a picture.
const at = (id) => document.getElementById(id);
const QUIET = 30000; // milliseconds without a word after which the connection is taken for dead; the server beats every 10 s
const AGAIN = 3000; // before a new attempt where the browser makes none by itself
let source = null;
let account = decodeURIComponent(location.hash.slice(1));
let watchdog = 0;

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function clock(iso) {
  const element = make("time", new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  element.dateTime = iso;
  return element;
}

// Replaces the items of a list; a list that was scrolled to its end stays there.
function fill(list, children) {
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.replaceChildren(...children);
  if (atEnd) list.scrollTop = list.scrollHeight;
}

function link(text, className) {
  if (at("link").textContent !== text) at("link").textContent = text;
  at("link").className = className;
}

const show = {
  accounts(data) {
    if (account !== data.account) account = data.account;
    const buttons = data.accounts.map((it) => {
      const button = make("button", it.name, it.healthy ? (it.playing ? "playing" : "") : "ill");
      button.type = "button";
      button.title = it.sentence;
      button.setAttribute("aria-pressed", String(it.name === account));
      button.addEventListener("click", () => choose(it.name));
      return button;
    });
    const focused = [...at("accounts").children].indexOf(document.activeElement);
    at("accounts").replaceChildren(...buttons);
    if (focused >= 0 && buttons[focused]) buttons[focused].focus();
    const own = data.accounts.find((it) => it.name === account);
    if (own && at("sentence").textContent !== own.sentence) at("sentence").textContent = own.sentence;
    at("sentence").className = own && !own.healthy ? "ill" : "";
    document.title = own ? `${own.name}: ${own.sentence}` : "fibsbot live";
  },
  board(data) {
    const root = data.svg && new DOMParser().parseFromString(data.svg, "image/svg+xml").documentElement;
    at("board").replaceChildren(...(root && root.localName === "svg" ? [document.importNode(root, true)] : []));
    at("board").className = data.past ? "past" : "";
    at("title").textContent = data.past ? "" : data.title;
  },
  chance(data) {
    at("chance").textContent = typeof data.win === "number" ? `${(100 * data.win).toFixed(1)} % to win this game` : "";
  },
  moves(data) {
    const heads = at("moves").tHead.rows[0].cells;
    data.players.forEach((name, index) => {
      heads[index + 1].textContent = data.scores ? `${name} ${data.scores[index]}` : "";
    });
    const game = data.game ? `Game ${data.game}, ${data.length}${data.crawford ? ", Crawford" : ""}` : "Moves";
    at("moves-head").textContent = game;
    const rows = [];
    let last = null;
    for (const move of data.moves) {
      const column = move.own === undefined ? 0 : move.own ? 1 : 2;
      if (!last || column === 0 || last.cells[column].textContent || (column === 1 && last.cells[2].textContent)) {
        last = make("tr");
        rows.push(last);
        last.append(make("td", rows.length), make("td", ""), make("td", ""));
      }
      if (column === 0) {
        last.replaceChildren(make("td", rows.length), make("td", move.text, "missing"));
        last = null;
      } else {
        last.cells[column].textContent = move.text;
      }
    }
    fill(at("moves").tBodies[0], rows);
  },
  chat(data) {
    fill(at("chat"), data.lines.map((line) => {
      const item = make("li", undefined, line.own ? "own" : "");
      item.append(clock(line.at), make("b", line.name), ` ${line.verb}: ${line.text}`);
      return item;
    }));
  },
  games(data) {
    at("games").replaceChildren(...data.games.reverse().map((game) => {
      const result = game.won === null ? "drawn" : game.won ? "won" : "lost";
      const item = make("li", undefined, `${result}${game.match ? " match" : ""}`);
      const where = `${game.match ? "" : `${game.score} of `}${game.length} with ${game.opponent}`;
      item.append(clock(game.at), game.said, " ", make("small", where));
      return item;
    }));
  },
  beat() {},
};

function alive() {
  clearTimeout(watchdog);
  watchdog = setTimeout(connect, QUIET);
  link("live", "there");
}

function connect() {
  clearTimeout(watchdog);
  if (source) source.close();
  let opened = false;
  source = new EventSource(`live/events?account=${encodeURIComponent(account)}`);
  watchdog = setTimeout(connect, QUIET);
  source.addEventListener("open", () => {
    opened = true;
    alive();
  });
  source.addEventListener("error", () => {
    link("connection lost, trying again", "lost");
    if (source.readyState === EventSource.CLOSED) {
      if (!opened) account = ""; // perhaps there is no such account any more
      clearTimeout(watchdog);
      watchdog = setTimeout(connect, AGAIN);
    }
  });
  for (const [name, take] of Object.entries(show)) {
    source.addEventListener(name, (event) => {
      alive();
      take(JSON.parse(event.data));
    });
  }
}

function choose(name) {
  if (name === account) return;
  account = name;
  history.replaceState(null, "", `#${encodeURIComponent(name)}`);
  connect();
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
addEventListener("hashchange", () => choose(decodeURIComponent(location.hash.slice(1))));
addEventListener("pagehide", () => source && source.close());
addEventListener("pageshow", (event) => event.persisted && connect());
connect();
