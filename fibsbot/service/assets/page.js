"use strict";
// What the pages of running bots share.
const at = (id) => document.getElementById(id);

function make(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

// Returns the elements of a picture, which is parsed as one, and never as a page.
function picture(text) {
  const root = text && new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  return root && root.localName === "svg" ? [document.importNode(root, true)] : [];
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
