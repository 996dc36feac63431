// Signing in: where the service asks for a key, the page asks for it first. The key goes once to the service and is not
// kept here; what stays is a cookie that no script can read.

import { labels } from "./labels.js";
import { $ } from "./nodes.js";

const JSON_TYPE = { "Content-Type": "application/json" };

// Calls `go` once this browser may ask, at once where no key is needed.
export async function whenSignedIn(go) {
  $("sign-in").addEventListener("submit", (event) => {
    event.preventDefault();
    signIn($("key").value, go);
  });
  $("sign-out").addEventListener("click", signOut);
  const { key_needed: needed, signed_in: known } = await (await fetch("/v1/session")).json();
  if (needed && !known) askForKey();
  else show(needed, go);
}

export function askForKey(problem = "") {
  $("sign-in").hidden = false;
  $("main").hidden = true;
  $("sign-out").hidden = true;
  $("sign-in-problem").textContent = problem;
  $("key").focus();
}

function show(needed, go) {
  $("sign-in").hidden = true;
  $("main").hidden = false;
  $("sign-out").hidden = !needed;
  go();
}

async function signIn(key, go) {
  const response = await fetch("/v1/session", { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ key }) });
  $("key").value = "";
  if (response.ok) show(true, go);
  else askForKey(response.status === 401 ? labels.wrongKey : labels.failed);
}

async function signOut() {
  await fetch("/v1/session", { method: "DELETE" });
  location.reload();
}
