// Sentences made of a view's data: what happened, what is asked, how long there is.

import { faultWords, known, t } from "./i18n.js";
import { cardSigns, cardWords } from "./cards.js";
import { parse } from "./moves.js";

/** "0:42". A clock is {left_ms, until}; `until` is in this page's own time and set when the view arrives. */
export function clockText(clock) {
  const left = Math.max(0, Math.ceil(((clock.until ?? performance.now() + clock.left_ms) - performance.now()) / 1000));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
}

export function nameOf(view, seat) {
  return view.facts.players[seat]?.name ?? t("seat.number", { number: seat + 1 });
}

/** The sentence `key` about a seat: its player reads "family.me.rest" instead, where there is one. */
export function tOf(view, seat, key, values = {}) {
  const own = key.replace(".", ".me.");
  return t(seat === view.me && known(own) ? own : key, { name: seat === undefined ? "" : nameOf(view, seat), ...values });
}

/** A sentence for something that somebody did: "Bo lays 9♥ on meld 2." `spoken`: card names in words. */
export function told(view, happening, { spoken = false, before = null } = {}) {
  const name = happening.seat === undefined ? "" : nameOf(view, happening.seat);
  const say = (key, values) => tOf(view, happening.seat, `say.${key}`, values);
  const card = (text, as) => (spoken ? cardWords(text, as) : cardSigns(text, as));
  switch (happening.kind) {
    case "move_made": return toldMove(happening, say, card, before);
    case "ruled": {
      const caller = happening.winner;
      const calls = happening.answers.filter(([, text]) => text.startsWith("rummy"));
      if (caller === null || caller === undefined) return calls.length ? "" : t("say.no_call");
      const answer = happening.answers.find(([seat]) => seat === caller)[1];
      const lines = [toldMove({ text: answer }, (key, values) => tOf(view, caller, `say.${key}`, values), card, before)];
      if (calls.length > 1) lines.push(tOf(view, caller, "say.nearest", { count: calls.length }));
      return lines.join(" ");
    }
    case "hand_over": {
      const row = view.public.sheet.find((one) => one.hand === happening.hand);
      const points = row ? row.points.map((score, seat) => `${nameOf(view, seat)} ${score < 0 ? "−" : "+"}${Math.abs(score)}`).join(", ") : "";
      return `${t("say.hand_over", { hand: happening.hand })} ${points}`.trim();
    }
    case "game_over": return t(happening.winners.includes(view.me) ? "say.you_won" : "say.won", { name: happening.winners.map((seat) => nameOf(view, seat)).join(", ") });
    case "hand_began": return t("say.hand_began", { hand: happening.hand });
    case "shuffle_made": return say("shuffles");
    case "shuffle_verified": return say("shuffled", { ms: happening.milliseconds });
    case "cards_dealt": return happening.cards?.length ? t("say.dealt", { cards: happening.cards.map((text) => card(text)).join(" ") }) : "";
    case "window_opened": return happening.sealed ? tOf(view, happening.after, "say.window") : "";
    case "answer_void": return say("void", { reason: reasonWords(happening) });
    case "abandoned": return say("abandoned");
    case "seat_dropped": return say(happening.void ? "dropped_void" : "dropped");
    case "seat_returned": return say("returned", { hand: happening.hand });
    case "disconnected": return happening.seat === null ? "" : say("disconnected");
    case "connected": return happening.seat === null ? "" : say("connected");
    case "evidence_found": return say(`evidence_${happening.accusation}`, { reason: faultWords(happening.reason, happening.message) });
    case "epoch_began": return happening.undone ? t("say.epoch", { count: happening.undone }) : "";
    case "chat_said": return t("say.chat", { name, text: happening.text });
    case "reacted": return t("say.reacted", { name, reaction: t(`reaction.${happening.reaction}`) });
    case "move_refused": return refusedWords(happening);
    default: return "";
  }
}

function toldMove({ text }, say, card, before) {
  const move = parse(text);
  const cards = move.cards.map((item) => card(item, move.as[item])).join(" ");
  switch (move.verb) {
    case "draw": return say("draw");
    case "take": {
      const pile = before ? before.public.discard : [];
      const above = pile.indexOf(move.cards[0]) >= 0 ? pile.slice(pile.indexOf(move.cards[0]) + 1) : [];
      return above.length ? say("take_many", { cards, count: above.length, others: above.map((item) => card(item)).join(" ") }) : say("take", { cards });
    }
    case "meld": return say("meld", { cards });
    case "lay": return say("lay", { cards, id: move.on });
    case "discard": return say("discard", { cards });
    case "rummy": return move.on ? say("rummy_on", { cards, id: move.on }) : say("rummy", { cards });
    case "pass": return say("pass");
    case "untake": return say("untake");
    default: return say("other", { text: moveWords(move) });
  }
}

/** A move that has no sentence of its own, in words: "Bid 3", "Play 4♦". */
export function moveWords(move) {
  const verb = known(`verb.${move.verb}`) ? t(`verb.${move.verb}`) : move.verb;
  const rest = move.cards.map((word) => (known(`word.${word}`) ? t(`word.${word}`) : /^([A2-9TJQK][SHDC]b?|X\d)$/.test(word) ? cardSigns(word, move.as[word]) : word));
  return [verb, ...rest, ...(move.double ? [t("word.double")] : [])].join(" ");
}

function reasonWords({ reason, rule }) {
  return known(`refused.${reason}`) ? `${t(`refused.${reason}`, { cards: "" })} ${rule || ""}`.trim() : reason;
}

/** Why the table refused a move, with the rule's number. */
export function refusedWords({ code, message, rule, cards = [] }) {
  const list = cards.map((card) => (/^[A2-9TJQKX]/.test(card) ? cardSigns(card) : card)).join(" ");
  const key = `refused.${code}`;
  // Which option it is only the message says.
  const detail = code === "bad_option" && message ? `: ${message}` : "";
  const sentence = known(key) ? t(key, { cards: list }) + detail : faultWords(code, message) || code;
  return rule ? `${sentence} (${rule})` : sentence;
}

/** What the table waits for, in one sentence, for the top of the page. */
export function situation(view) {
  const { need, public: open, me } = view;
  const first = need.seats[0];
  const name = first === undefined ? "" : nameOf(view, first);
  if (open.phase === "over" && (open.winner || []).length) {
    return open.winner.includes(me) ? t("state.you_won") : t("state.won", { name: open.winner.map((seat) => nameOf(view, seat)).join(", ") });
  }
  if (open.game === "rummoli" && me !== null && need.seats.includes(me) && known(`state.rummoli_${open.phase}`)) {
    return t(`state.rummoli_${open.phase}`, { card: open.extra.due ? cardSigns(open.extra.due) : "" });
  }
  switch (need.kind) {
    case "shuffle": return shuffling(view);
    case "deal": return t("state.dealing");
    case "showdown": return t("state.showdown");
    case "over": return t("state.over");
    case "window":
      if (me !== null && need.seats.includes(me)) return open.phase === "call" ? t("state.window_you") : t("state.answer_you");
      return t("state.window", { count: need.seats.length });
    default:
      if (first !== me) return t("state.turn", { name });
      if (open.must_use) return t("state.must_use", { card: cardSigns(open.must_use) });
      if (open.phase === "draw") return t(open.stock ? "state.draw" : "state.draw_empty");
      if (open.phase === "play") return t("state.play");
      if (open.extra?.dealers_joker && !open.extra.dealers_joker.effect) return t("state.name");
      return t("state.yours");
  }
}

function shuffling(view) {
  const made = view.facts.shuffles?.made || [];
  const last = made[made.length - 1];
  if (!last) return t("state.keys");
  return tOf(view, last.seat, last.verified ? "state.shuffle_verified" : "state.shuffling", { number: last.position + 1, of: last.of });
}

/** What is wrong, what happens next, what can be done: one sentence. */
export function problemWords(view) {
  const problem = view.facts.problem;
  if (!problem) return "";
  const seats = problem.seats || [];
  const names = seats.map((seat) => nameOf(view, seat)).join(", ");
  const time = problem.left_ms > 0 ? clockText(problem) : "";
  // A wait without a limit, or whose limit is past, has no time to name.
  const key = problem.code === "waiting" && !time ? "problem.waiting_still" : `problem.${problem.code}`;
  return known(key) ? tOf(view, seats.length === 1 ? seats[0] : undefined, key, { name: names, time, reason: faultWords(problem.reason, problem.message || "") }) : problem.message || problem.code;
}
