// The page's one connection. Requests are answered by id; everything else is news.

import { language } from "./i18n.js";

const RETRY_MS = [300, 800, 2000, 4000];

let socket = null;
let nextId = 1;
let failures = 0;
const waiting = new Map();

/** Connect and stay connected. `onNews(message)`, `onLink(up)`. */
export function connect(onNews, onLink) {
  socket = new WebSocket(`ws://${location.host}/socket`);
  socket.addEventListener("open", () => { failures = 0; onLink(true); });
  socket.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    if (message.type === "reply") settle(message);
    else onNews(message);
  });
  socket.addEventListener("close", () => {
    for (const { reject } of waiting.values()) reject({ code: "page_offline", message: "", rule: "", cards: [] });
    waiting.clear();
    onLink(false);
    setTimeout(() => connect(onNews, onLink), RETRY_MS[Math.min(failures++, RETRY_MS.length - 1)]);
  });
}

/** Ask the peer for something; resolves with its result or rejects with {code, rule, message, cards}. */
export function ask(what, fields = {}) {
  return new Promise((resolve, reject) => {
    if (!socket || socket.readyState !== WebSocket.OPEN) {
      reject({ code: "page_offline", message: "", rule: "", cards: [] });
      return;
    }
    const id = nextId++;
    waiting.set(id, { resolve, reject });
    socket.send(JSON.stringify({ do: what, id, language, ...fields }));
  });
}

function settle(message) {
  const asked = waiting.get(message.id);
  if (!asked) return;
  waiting.delete(message.id);
  if (message.refused) asked.reject(message.refused);
  else asked.resolve(message.result);
}
