// The lobby of a table on a server: who is there, invitations, saved matches, what people say. Only such tables have
// this part of the state. What others type is text, never markup.

import { table } from "./table.js";
import { confirm, settingsButton } from "./dialogs.js";
import { button, make } from "./elements.js";

const section = document.getElementById("lobby");
const LINES = {
  all: ["tell", "kibitz", "whisper", "shout", "notice"], tells: ["tell"], match: ["kibitz", "whisper"], shouts: ["shout"],
};
const TITLES = { all: "Everything", tells: "Tells", match: "Match", shouts: "Shouts" };
const SORTS = {
  name: (one, other) => one.name.localeCompare(other.name),
  rating: (one, other) => other.rating - one.rating,
  experience: (one, other) => other.experience - one.experience,
};
const STATES = ["ready", "playing", "watching", "busy", "away"];

const select = (label, options) =>
  make("select", { "aria-label": label }, ...options.map(([value, text]) => make("option", { value }, text)));
const points = (length) => (length === 0 ? "unlimited match" : `${length}-point match`);

// -- what stays while the state changes ---------------------------------------------------------------------------

const status = make("p", { class: "status", role: "status" });
const buttons = make("div", { class: "buttons own-state" });
const requests = make("ul", { class: "requests", "aria-label": "Invitations and saved matches", "aria-live": "polite" });
const search = make("input", { type: "search", placeholder: "Search", "aria-label": "Search players" });
const sort = select("Sort players", [["rating", "by rating"], ["experience", "by experience"], ["name", "by name"]]);
const only = select("Which players", [["", "everybody"], ["ready", "ready"], ["playing", "playing"]]);
const people = make("tbody");
const count = make("span", { class: "note" });
const log = make("ol", { class: "chat", role: "log", "aria-live": "polite", tabindex: "0", "aria-label": "Chat" });
const tabs = make("div", { class: "tabs", role: "group", "aria-label": "Which lines" });
const say = make("input", { type: "text", maxlength: "240", autocomplete: "off", "aria-label": "Say something" });
const kind = select("To whom", [["say", "opponent"]]);
const who = make(
  "details", { class: "who", open: "" },
  make("summary", {}, "Players ", count),
  make("div", { class: "filters" }, search, only, sort),
  make(
    "table", {},
    make("thead", {}, make("tr", {}, ...["Name", "Rating", "Exp.", ""].map((title) => make("th", { scope: "col" }, title)))),
    people,
  ),
);
const speak = make("form", { class: "speak" }, kind, say, make("button", { type: "submit" }, "Send"));
const chat = make("section", { class: "talk", "aria-label": "Chat" }, tabs, log, speak);

let lines = "all";
let told = "";  // the player to whom the next line goes

for (const name of Object.keys(LINES)) {
  tabs.append(button(TITLES[name], () => {
    lines = name;
    showChat(table.state.lobby);
  }, { "data-lines": name }));
}
for (const control of [search, sort, only]) control.addEventListener("input", () => showPlayers(table.state.lobby));

speak.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = say.value.trim();
  if (!kind.value) kind.focus();
  if (!text || !kind.value) return;
  const [order, name] = kind.value.split(" ");
  if (await table.ask(order, name ? { name, text } : { text })) say.value = "";
});

// -- invitations --------------------------------------------------------------------------------------------------

function openInvitation(name) {
  const games = table.state.lobby.games;
  const length = make("input", { type: "number", min: "1", max: "99", value: "5", id: "invitation-length" });
  const unlimited = make("input", { type: "checkbox", id: "invitation-unlimited" });
  const game = select("Game", games.map((one) => [one, one]));
  const laws = select("Laws", [
    ["", "as on FIBS"], ["1931", "of 1931"], ["1931 point", "of 1931, Point Game"], ["1970", "of 1970"], ["modern", "modern"],
  ]);
  const fault = make("p", { role: "alert", class: "fault" });
  const form = make(
    "form", { method: "dialog" },
    make("h2", {}, `Invite ${name}`),
    make("label", {}, "Points ", length), make("label", {}, unlimited, " unlimited"),
    make("label", {}, "Game ", game), make("label", {}, "Laws ", laws),
    make("p", { class: "note" }, "Other games and laws: only on servers that have them, such as fibsbot serve."),
    fault,
    make("div", { class: "buttons" },
      make("button", { type: "submit", class: "first" }, "Invite"), button("Cancel", () => dialog.close())),
  );
  const dialog = make("dialog", { class: "lobby-dialog", "aria-label": `Invite ${name}` }, form);
  game.addEventListener("input", () => { laws.disabled = game.value !== "backgammon"; });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const asked = { name, length: unlimited.checked ? 0 : Number(length.value), game: game.value };
    if (!laws.disabled && laws.value) asked.laws = laws.value;
    if (await table.ask("invite", asked)) dialog.close();
    else fault.textContent = "That is not possible: expected a length from 1 to 999, and that you are connected.";
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  length.focus();
}

function invitationText(invitation) {
  const game = invitation.game ? ` of ${invitation.game}` : "";
  const what = invitation.length === null ? `to go on with your saved match${game}` : `to a ${points(invitation.length)}${game}`;
  const laws = invitation.laws ? ` by the laws ${invitation.laws}` : "";
  const warning = invitation.discards ? " Joining discards your saved match." : "";
  return `${invitation.name} invites you ${what}${laws}.${warning}`;
}

function showRequests(lobby) {
  const there = new Set(Object.values(lobby.players).map((player) => player.name));
  const rows = lobby.invitations.map((invitation) => make(
    "li", { class: "invitation" }, make("span", {}, invitationText(invitation)),
    button("Accept", () => table.ask("join", { name: invitation.name }), { class: "first" }),
    button("Decline", () => table.ask("decline", { name: invitation.name })),
  ));
  if (!lobby.playing) {
    const saved = [...lobby.saved].sort((one, other) => there.has(other.name) - there.has(one.name));
    for (const match of saved) {
      const text = `${match.name}: saved ${points(match.length)}${match.game ? ` of ${match.game}` : ""}, `
        + `${match.score[0]}-${match.score[1]}${there.has(match.name) ? "" : " (not here)"}`;
      const row = make("li", {}, make("span", {}, text));
      if (there.has(match.name)) row.append(button("Resume", () => table.ask("invite", { name: match.name, length: null })));
      rows.push(row);
    }
  }
  requests.replaceChildren(...rows);
}

// -- players ------------------------------------------------------------------------------------------------------

let chosen = "";

function playerButtons(player, lobby) {
  const named = (label, order) => button(label, () => table.ask(order, { name: player.name }));
  const made = [button("Tell", () => {
    told = player.name;
    showKinds(table.state.lobby);
    say.focus();
  })];
  if (player.state === "playing" && !lobby.playing) made.unshift(named("Watch", "watch"));
  if (["ready", "busy", "away", "watching"].includes(player.state) && !lobby.playing) {
    made.unshift(button("Invite", () => openInvitation(player.name), { class: "first" }));
  }
  made.push(named(lobby.gagged.includes(player.name) ? "Ungag" : "Gag", "gag"));
  made.push(named(lobby.blinded.includes(player.name) ? "Unblind" : "Blind", "blind"));
  return made;
}

function showPlayers(lobby) {
  const wanted = search.value.trim().toLowerCase();
  const others = Object.values(lobby.players).filter((player) => player.name !== lobby.user);
  const found = others.filter((player) =>
    player.name.toLowerCase().includes(wanted) && (!only.value || player.state === only.value));
  found.sort((one, other) => SORTS[sort.value](one, other) || SORTS.name(one, other));
  found.sort((one, other) => STATES.indexOf(one.state) - STATES.indexOf(other.state));
  count.textContent = `${others.length}`;
  const focused = document.activeElement?.dataset?.player;
  people.replaceChildren(...found.flatMap((player) => {
    const doing = player.with ? `${player.state} ${player.state === "playing" ? "with " : ""}${player.with}` : player.state;
    const name = button(player.name, () => {
      chosen = chosen === player.name ? "" : player.name;
      showPlayers(table.state.lobby);
    }, { class: "name", "data-player": player.name, "aria-expanded": String(chosen === player.name) });
    const row = make("tr", { class: player.state }, make("th", { scope: "row" }, name));
    row.append(make("td", {}, player.rating.toFixed(0)), make("td", {}, String(player.experience)), make("td", {}, doing));
    if (chosen !== player.name) return [row];
    return [row, make("tr", { class: "more" }, make("td", { colspan: "4" }, ...playerButtons(player, lobby)))];
  }));
  if (!found.length) people.append(make("tr", {}, make("td", { colspan: "4", class: "note" }, "Nobody else.")));
  if (focused) people.querySelector(`[data-player="${CSS.escape(focused)}"]`)?.focus();
}

// -- chat ---------------------------------------------------------------------------------------------------------

function showChat(lobby) {
  const low = log.scrollTop + log.clientHeight >= log.scrollHeight - 8;
  const shown = Object.values(lobby.lines).filter((line) => LINES[lines].includes(line.kind));
  log.replaceChildren(...shown.map((line) => {
    const row = make("li", { class: `${line.kind}${line.own ? " own" : ""}` });
    if (line.name) row.append(make("b", {}, line.own ? "you" : line.name), ` ${line.kind === "tell" ? "" : `(${line.kind}) `}`);
    row.append(line.text);
    return row;
  }));
  if (low) log.scrollTop = log.scrollHeight;
  for (const tab of tabs.children) tab.setAttribute("aria-pressed", String(tab.dataset.lines === lines));
}

function showKinds(lobby) {
  const options = [];
  if (told) options.push([`tell ${told}`, `tell ${told}`]);
  if (lobby.playing) options.push(["say", "opponent"]);
  if (lobby.playing || lobby.watching) options.push(["kibitz", "kibitz"], ["whisper", "whisper"]);
  if (!options.length) options.push(["", "to whom?"]);
  options.push(["shout", "shout"]);
  const before = kind.value;
  kind.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
  const wanted = told && before !== `tell ${told}` && !options.some(([value]) => value === before) ? `tell ${told}` : before;
  kind.value = options.some(([value]) => value === wanted) ? wanted : options[0][0];
}

// -- everything ---------------------------------------------------------------------------------------------------

function showButtons(lobby) {
  const made = [];
  if (lobby.ended) {
    made.push(button("Connect again", () => table.ask("connect"), { class: "first" }));
  } else if (lobby.online) {
    if (!lobby.playing) {
      const ready = make("input", { type: "checkbox" });
      ready.checked = Boolean(lobby.ready);
      ready.addEventListener("change", () => table.ask("ready"));
      made.push(make("label", {}, ready, " others may invite me"));
      const opponent = table.state.over === "match" && !lobby.watched ? table.state.players[1].name : "";
      if (opponent) made.push(button(`Play ${opponent} again`, () => openInvitation(opponent)));
    } else {
      made.push(button("Leave the match", () => {
        confirm("Leave the match?", "The server saves it, so that you can go on later.", "Leave", () => table.ask("leave"));
      }));
    }
    if (lobby.watching) made.push(button(`Stop watching ${lobby.watching}`, () => table.ask("unwatch")));
    if (lobby.away) made.push(button("I am back", () => table.ask("back")));
  }
  if (!table.state.board) made.push(settingsButton());
  if (lobby.playing) made.push(make("span", { class: "note" }, "On a server there are no hints and no analysis."));
  buttons.replaceChildren(...made);
}

let wasPlaying = false;

table.onState((state, before) => {
  const lobby = state.lobby;
  section.hidden = !lobby;
  if (!lobby) return;
  if (!section.firstChild) section.append(status, buttons, requests, who, chat);
  if (lobby === before?.lobby && state.over === before.over && !state.board === !before.board) return;
  const changed = (...parts) => parts.some((part) => lobby[part] !== before?.lobby?.[part]);
  status.textContent = `${lobby.user}: ${lobby.status}${lobby.invited && !lobby.playing ? `, waiting for ${lobby.invited}` : ""}`;
  showButtons(lobby);
  showRequests(lobby);
  if (changed("players", "playing", "gagged", "blinded")) showPlayers(lobby);
  if (changed("lines")) showChat(lobby);
  showKinds(lobby);
  if (lobby.playing !== wasPlaying) {
    who.open = !lobby.playing;
    if (lobby.playing) kind.value = "say";
  }
  wasPlaying = lobby.playing;
});
