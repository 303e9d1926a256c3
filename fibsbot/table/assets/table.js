// The page's connection to its table: every part of the page gets each new state from here, and sends its inputs here.
//
//   import { table } from "./table.js";
//   table.onState((state, before) => ...);   // at once if there is a state already
//   await table.ask(address, object);        // true if it was done; the new state comes by itself
//
// What has not changed is the same object in the next state: `state.sheet === before?.sheet` says that nothing was played.

const listeners = [];
const lost = [];

// The state after a JSON Merge Patch (RFC 7396), in which null stands for what is no longer there.
function merged(value, patch) {
  if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return patch;
  const parts = new Map(Object.entries(value ?? {})); // any name is a name here, even __proto__
  for (const [name, part] of Object.entries(patch)) {
    if (part === null) parts.delete(name);
    else parts.set(name, merged(parts.get(name), part));
  }
  return Object.fromEntries(parts);
}

export const table = {
  state: null,

  onState(listener) {
    listeners.push(listener);
    if (this.state) listener(this.state, null);
  },

  // Calls the listener with true when the table does not answer, and with false when it does again.
  onLost(listener) {
    lost.push(listener);
  },

  async ask(address, asked = {}) {
    try {
      const response = await fetch(address, { method: "POST", body: JSON.stringify(asked) });
      return response.ok && (await response.json()).done;
    } catch {
      return false;
    }
  },

  act(action, numbers = []) {
    return this.ask("act", { action, numbers });
  },

  may(action) {
    return Boolean(this.state?.actions?.includes(action));
  },

  // Sees the board in another way from now on; `view` is a query such as "left&light".
  follow(view = "") {
    source?.close();
    source = new EventSource(`events?${view}`);
    source.onopen = () => lost.forEach((listener) => listener(false));
    source.onerror = () => {
      lost.forEach((listener) => listener(true));
      // A browser gives up for good when it gets a refusal instead of events.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => this.follow(view), 2000);
    };
    const show = (state) => {
      const before = this.state;
      this.state = state;
      listeners.forEach((listener) => listener(state, before));
      document.documentElement.dataset.version = state.version; // what is shown now
    };
    source.onmessage = (event) => show(merged({}, JSON.parse(event.data)));
    source.addEventListener("changes", (event) => show(merged(this.state, JSON.parse(event.data))));
  },
};

let source = null;
