// What a person has chosen, remembered by the browser.

import { table } from "./table.js";

const KEY = "fibsbot-table";
const listeners = [];

export const settings = { theme: "", preferences: [] };
try {
  Object.assign(settings, JSON.parse(localStorage.getItem(KEY)));
} catch {
  // What cannot be read is forgotten.
}

export function onSettings(listener) {
  listeners.push(listener);
  listener(settings);
}

export function change(changes) {
  Object.assign(settings, changes);
  try {
    localStorage.setItem(KEY, JSON.stringify(settings));
  } catch {
    // A browser that remembers nothing still plays.
  }
  listeners.forEach((listener) => listener(settings));
}

let told = false;
table.onState((state) => {
  if (told || !state.preferences) return;
  told = true;
  for (const preference of settings.preferences ?? []) {
    if (!state.preferences.includes(preference)) table.ask("prefer", { preference, wanted: true });
  }
});

onSettings(() => {
  if (settings.theme) document.documentElement.dataset.theme = settings.theme;
  else delete document.documentElement.dataset.theme;
});

for (const field of document.querySelectorAll("[data-setting]")) {
  const key = field.dataset.setting;
  const kind = field.type === "checkbox" ? "checked" : "value";
  field[kind] = settings[key] ?? field[kind];
  field.addEventListener("change", () => change({ [key]: field[kind] }));
}
for (const box of document.querySelectorAll("[data-preference]")) {
  const preference = box.dataset.preference;
  table.onState((state) => {
    if (state.preferences) box.checked = state.preferences.includes(preference);
  });
  box.addEventListener("change", () => {
    const others = (settings.preferences ?? []).filter((one) => one !== preference);
    change({ preferences: box.checked ? [...others, preference] : others });
    table.ask("prefer", { preference, wanted: box.checked });
  });
}
