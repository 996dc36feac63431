// Asks the service. Whatever it refuses becomes a ServiceError with the service's own words.

import { askForKey } from "./access.js";
import { language } from "./language.js";

export class ServiceError extends Error {
  constructor({ code = "", message = "", request_id: requestId = "", retryable = false }, status) {
    super(String(message));
    Object.assign(this, { code: String(code), requestId: String(requestId), retryable: Boolean(retryable), status });
  }
}

// The Response of a request that succeeded. Throws ServiceError, and the browser's own error where nothing answers.
export async function send(path, { method = "GET", body, headers = {}, signal } = {}) {
  const response = await fetch(path, { method, body, signal, headers: { "Accept-Language": language, ...headers } });
  if (response.status === 401) askForKey();
  if (!response.ok) throw new ServiceError(await response.json().catch(() => ({})), response.status);
  return response;
}

export async function getJson(path, options) {
  return (await send(path, options)).json();
}

export async function sendJson(method, path, value, options = {}) {
  const headers = { "Content-Type": "application/json", ...options.headers };
  return send(path, { ...options, method, headers, body: JSON.stringify(value) });
}
