// Cards are seen to move: where a card was before a change and where it is after it, and the way between.

import { movesAreShown } from "./settings.js";

const FLIGHT_MS = 340;
const STAGGER_MS = 45;
const MOST = 40;

/** Where every card of the page is now. */
export function capture() {
  const places = new Map();
  if (!movesAreShown()) return places;
  for (const element of document.querySelectorAll("[data-fly]")) places.set(element.dataset.fly, element.getBoundingClientRect());
  for (const element of document.querySelectorAll("[data-place]")) places.set(`@${element.dataset.place}`, element.getBoundingClientRect());
  return places;
}

let flights = [];

/** End all flights at once: the player has acted. */
export function land() {
  for (const flight of flights) flight.finish();
}

/**
 * Let cards fly from where `before` saw them. A card seen for the first time comes from `origin(element)`, the name of a
 * place ("stock", "seat-2"). `extra`: [{from, to, picture}] for cards that nobody here can see, place to place.
 */
export async function play(before, origin, extra = [], speed = 1) {
  if (!movesAreShown() || document.hidden) return;
  const layer = document.getElementById("flying");
  const jobs = [];
  for (const element of document.querySelectorAll("[data-fly]")) {
    const to = element.getBoundingClientRect();
    const seen = before.get(element.dataset.fly);
    const from = seen || before.get(`@${origin(element)}`);
    if (!from || !to.width || !from.width) continue;
    if (Math.abs(from.left - to.left) + Math.abs(from.top - to.top) < 6) continue;
    jobs.push({ from, to, model: element, hide: element, order: seen ? 0 : 1 });
  }
  for (const { from, to, model } of extra) {
    const start = before.get(`@${from}`);
    const end = document.querySelector(`[data-place="${to}"]`)?.getBoundingClientRect();
    if (start && end && model) jobs.push({ from: start, to: centred(end, start), model, hide: null, order: 0 });
  }
  if (!jobs.length || jobs.length > MOST) return;
  jobs.sort((one, other) => one.order - other.order || one.to.left - other.to.left);
  const running = jobs.map(({ from, to, model, hide }, at) => {
    const copy = model.cloneNode(true);
    copy.removeAttribute("data-fly");
    copy.removeAttribute("id");
    copy.classList.add("flight");
    Object.assign(copy.style, { left: `${to.left}px`, top: `${to.top}px`, width: `${to.width}px`, height: `${to.height}px`, margin: "0" });
    layer.append(copy);
    if (hide) hide.classList.add("in-flight");
    const scale = from.width / to.width;
    const flight = copy.animate(
      [
        { transform: `translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${scale})`, transformOrigin: "0 0" },
        { transform: "none", transformOrigin: "0 0" },
      ],
      { duration: FLIGHT_MS / speed, delay: (Math.min(at, 12) * STAGGER_MS) / speed, easing: "cubic-bezier(.3,.9,.3,1)", fill: "backwards" },
    );
    flights.push(flight);
    return flight.finished.catch(() => {}).then(() => {
      copy.remove();
      if (hide) hide.classList.remove("in-flight");
      flights = flights.filter((other) => other !== flight);
    });
  });
  await Promise.all(running);
}

function centred(box, size) {
  return { left: box.left + box.width / 2 - size.width / 2, top: box.top + box.height / 2 - size.height / 2, width: size.width, height: size.height };
}
