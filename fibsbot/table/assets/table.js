// The page's connection to its table: every part of the page gets each new state from here, and sends its inputs here.
//
//   import { table } from "./table.js";
//   table.onState((state, before) => ...);   // at once if there is a state already
//   await table.ask(address, object);        // true if it was done; the new state comes by itself

const listeners = [];
const lost = [];

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
    source.onmessage = (event) => {
      const before = this.state;
      this.state = JSON.parse(event.data);
      listeners.forEach((listener) => listener(this.state, before));
      document.documentElement.dataset.version = this.state.version; // what is shown now
    };
  },
};

let source = null;
