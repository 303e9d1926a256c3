// The page's dialogs, which the HTML has: one to confirm, others with choices of their own.

const byId = (id) => document.getElementById(id);

// Calls `then` with what was chosen, unless that was to cancel or the game has gone on meanwhile.
export function open(dialog, then) {
  dialog.returnValue = "";
  dialog.onclose = () => dialog.returnValue && then(dialog.returnValue);
  dialog.showModal();
}

export function confirm(question, consequence, label, then) {
  byId("question").textContent = question;
  byId("consequence").textContent = consequence;
  byId("confirmed").textContent = label;
  open(byId("confirm"), then);
  byId("confirmed").focus();
}

// The button with the wheel.
export function settingsButton() {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "gear";
  made.setAttribute("aria-label", "Settings");
  made.addEventListener("click", () => byId("settings").showModal());
  return made;
}
