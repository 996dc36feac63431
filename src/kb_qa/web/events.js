// Reads a stream of server-sent events.

// Feeds lines of a stream in, calls onEvent(name, data, id) for each event whose data is JSON; the id is a number, 0 where
// there is none. Comments, events without data and data that is not JSON are passed over.
function eventParser(onEvent) {
  let rest = "", name = "", id = 0, data = [];
  const line = (text) => {
    if (text === "") {
      if (data.length) dispatch(name || "message", data.join("\n"));
      name = "";
      id = 0;
      data = [];
      return;
    }
    const colon = text.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? "" : text.slice(colon + 1).replace(/^ /, "");
    if (field === "event") name = value;
    if (field === "id") id = Number(value) || 0;
    if (field === "data") data.push(value);
  };
  const dispatch = (event, text) => {
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      return;
    }
    if (value !== null && typeof value === "object") onEvent(event, value, id);
  };
  return (chunk) => {
    rest += chunk;
    // A lone \r at the end may be half of \r\n: it waits for what follows.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop();
    lines.forEach(line);
  };
}

export async function streamEvents(body, onEvent) {
  const feed = eventParser(onEvent);
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    feed(value);
  }
}
