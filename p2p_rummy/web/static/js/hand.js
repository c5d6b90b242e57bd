// The order of the player's own hand: by suit, by rank, by melds, or as dragged. Remembered while the hand lasts.

import { RANKS, SUITS, parts } from "./cards.js";

const order = { cards: [], fresh: new Set(), hand: 0, how: "suit" };

const bySuit = (card) => { const { rank, suit, joker } = parts(card); return joker ? 9000 + Number(card[1]) : SUITS.indexOf(suit) * 100 + RANKS.indexOf(rank); };
const byRank = (card) => { const { rank, suit, joker } = parts(card); return joker ? 9000 + Number(card[1]) : RANKS.indexOf(rank) * 100 + SUITS.indexOf(suit); };

/** Take the hand of a new view: cards that left go, cards that came stand at the end and are marked new. */
export function follow(view, seat) {
  const held = view.hand.map((item) => item.card).filter(Boolean);
  const fresh = new Set(held.filter((card) => !order.cards.includes(card)));
  if (order.hand !== view.public.hand || order.cards.length === 0) {
    order.hand = view.public.hand;
    order.cards = held;
    order.fresh = new Set();
    sort(order.how === "rank" ? "rank" : "suit");
    return order;
  }
  order.cards = [...order.cards.filter((card) => held.includes(card)), ...held.filter((card) => fresh.has(card))];
  const mine = view.need.kind === "turn" && view.need.seats.includes(seat);
  if (fresh.size) order.fresh = fresh;
  else if (!mine) order.fresh = new Set();
  else for (const card of [...order.fresh]) if (!held.includes(card)) order.fresh.delete(card);
  return order;
}

/** how: "suit", "rank" or "melds" (`groups` as the peer worked them out; what is left, by suit). */
export function sort(how, groups = []) {
  order.how = how;
  const key = how === "rank" ? byRank : bySuit;
  const sorted = [...order.cards].sort((one, other) => key(one) - key(other) || (one < other ? -1 : 1));
  if (how === "melds") {
    const grouped = groups.flat().filter((card) => sorted.includes(card));
    order.cards = [...grouped, ...sorted.filter((card) => !grouped.includes(card))];
  } else {
    order.cards = sorted;
  }
}

/** Put `cards` before the card `before` (null: at the end), as dragged. */
export function move(cards, before) {
  const rest = order.cards.filter((card) => !cards.includes(card));
  const at = before === null ? rest.length : rest.indexOf(before);
  const moved = order.cards.filter((card) => cards.includes(card));
  rest.splice(at < 0 ? rest.length : at, 0, ...moved);
  order.cards = rest;
  order.how = "own";
}

/** Move one card a place to the left (-1) or right (+1). */
export function nudge(card, by) {
  const at = order.cards.indexOf(card);
  const to = at + by;
  if (at < 0 || to < 0 || to >= order.cards.length) return;
  order.cards.splice(at, 1);
  order.cards.splice(to, 0, card);
  order.how = "own";
}

export function present() {
  return order;
}
