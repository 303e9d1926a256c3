// The way in: a name, and for those who have registered their password. A guest gets a random password, which this
// browser keeps, so that the guest can come back by the same name; a password that is typed is kept nowhere.

const byId = (id) => document.getElementById(id);
const KEPT = "fibsbot guest";

function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

function randomPassword() {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return [...bytes].map((byte) => byte.toString(36).padStart(2, "0")).join("");
}

byId("name").value = kept().name ?? "";
byId("name").focus();

byId("login").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = byId("name").value.trim();
  const typed = byId("password").value;
  const guest = !typed;
  const password = typed || (kept().name === name && kept().password) || randomPassword();
  byId("fault").textContent = "";
  byId("login").querySelector("button").disabled = true;
  try {
    const response = await fetch("login", { method: "POST", body: JSON.stringify({ name, password, guest }) });
    const answer = response.ok ? await response.json() : { fault: (await response.text()).trim() };
    if (answer.address) {
      try {
        if (guest) localStorage.setItem(KEPT, JSON.stringify({ name, password }));
      } catch {
        // a browser that keeps nothing: the guest has another name next time
      }
      location.assign(answer.address);
      return;
    }
    byId("fault").textContent = answer.fault;
  } catch {
    byId("fault").textContent = "The server does not answer.";
  }
  byId("login").querySelector("button").disabled = false;
});
