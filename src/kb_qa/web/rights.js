// What this browser may do: looked up anew for each view, because another key may have signed in meanwhile.

import { getJson } from "./requests.js";

export async function mayWrite() {
  try {
    const { scopes = [] } = await getJson("/v1/session");
    return scopes.includes("write") || scopes.includes("admin");
  } catch {
    return false;
  }
}
