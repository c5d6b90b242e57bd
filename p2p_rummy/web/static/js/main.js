// The page's state and what changes it. News from the peer come in one by one and are shown one by one, so that every
// card is seen to move; whatever the player does goes out as a move text, and the table answers.

import { ask, connect } from "./net.js";
import { patch, h } from "./dom.js";
import { language, preferredLanguage, t, useLanguage, usePhrases } from "./i18n.js";
import { cardSigns, cardWords, forgetFaces, parts } from "./cards.js";
import * as hand from "./hand.js";
import * as motion from "./motion.js";
import { callText, meanings, parseAll, plainMoves, takeOf } from "./moves.js";
import { grab } from "./drag.js";
import { doer, doings, lastTurn } from "./again.js";
import { clockText, problemWords, refusedWords, situation, told } from "./words.js";
import { change, load, movesAreShown, settings } from "./settings.js";
import { play as playSound } from "./sound.js";
import { felt, seatName } from "./table.js";
import { tray } from "./tray.js";
import { chooser, panel, PANELS } from "./panels.js";
import { startPage, seatingPage } from "./start.js";
import { icon } from "./icons.js";

const S = {
  screen: "loading", // loading, start, seating, table
  start: null, // what the start page shows
  seating: null, // a table that is filling
  live: null, // the newest view
  shown: null, // the view on the page (an older one during "again" and replay)
  legal: [], // its legal moves, read
  game: { plain: false }, // plain: a game without stock, pile and melds (Rummoli)
  order: hand.present(),
  selected: new Set(), // cards of the own hand
  pick: null, // card of the pile, to take from
  hover: null, // card of the pile under the pointer
  focus: null, // card of the hand that Tab reaches
  calling: null, // {cards: Set} while a call is being put together
  ahead: false, // the draw of the coming turn is chosen already
  read: "", // the trouble that was read and put away
  answer: "", // what was answered in this window: a move's text
  asking: null, // a question in a dialog: {title, choices: [{label, cards, run}], ...}
  panel: null, // name of the open side panel
  lines: [], // what happened and what was said: {text, kind, seat}
  bubbles: new Map(), // seat -> {text | reaction}
  notice: "", // a refusal or a hint, in the tray
  offline: false,
  again: false, // the last turn is being shown again
  replay: null, // {steps, at, playing}
  verdict: null,
  unread: 0,
  pending: false,
  rules: null,
  phrases: null,
};

const history = []; // {view, happened}, the newest last

// --- news ---------------------------------------------------------------------------------------------------------

const queue = [];
let pumping = false;

function onNews(message) {
  if (message.type === "start") { S.screen = "start"; S.start = message.start; S.live = S.shown = null; render(); return; }
  if (message.type === "seating") { const first = S.screen !== "seating"; S.screen = "seating"; S.seating = message.seating; render(); if (first) scrollTo(0, 0); return; }
  if (message.type === "verdict") { S.verdict = message.verdict; render(); return; }
  if (message.type === "table") {
    stampClocks(message.view);
    if (!message.view.facts.problem) S.read = "";
    queue.push(message);
    pump();
  }
}

async function pump() {
  if (pumping) return;
  pumping = true;
  try {
    while (queue.length) await take(queue.shift());
  } finally {
    pumping = false;
  }
}

async function take({ view, happened, past }) {
  const first = S.screen !== "table";
  const before = S.live;
  S.screen = "table";
  S.live = view;
  if (past) S.lines = past.map((item) => lineOf(view, item, null)).filter(Boolean);
  history.push({ view, happened });
  if (history.length > 60) history.shift();
  for (const item of happened) note(view, item, before);
  if (S.again || S.replay) { headline(view, before); return; }
  const places = first ? null : motion.capture();
  show(view, before);
  headline(view, before);
  if (places) await fly(places, view, happened, before);
}

/** Put a view on the page. */
function show(view, before) {
  S.shown = view;
  S.legal = parseAll(view.legal);
  S.game = { plain: view.public.game === "rummoli" };
  if (view.me !== null && !S.replay) S.order = hand.follow(view, view.me);
  const held = new Set(view.hand.map((item) => item.card));
  const lent = view.public.extra?.dealers_joker;
  if (lent && !lent.used && !lent.blocked) held.add(lent.card);
  for (const card of [...S.selected]) if (!held.has(card)) S.selected.delete(card);
  if (!view.public.discard.includes(S.pick)) S.pick = null;
  if (!view.public.discard.includes(S.hover)) S.hover = null;
  if (!held.has(S.focus)) S.focus = null;
  if (before && (before.need.kind !== view.need.kind || before.need.seats.join() !== view.need.seats.join())) S.notice = "";
  if (!view.facts.window || view.public.phase !== "call") { S.calling = null; S.answer = ""; }
  render();
}

async function fly(places, view, happened, before) {
  const speed = queue.length > 12 ? 0 : queue.length > 3 ? 2.5 : 1;
  if (!speed) return;
  const mover = happened.find((item) => item.kind === "move_made" || item.kind === "ruled");
  const seat = mover ? (mover.seat ?? mover.winner) : null;
  const dealt = happened.some((item) => item.kind === "cards_dealt") || (before && before.public.hand !== view.public.hand);
  const origin = (element) => (element.dataset.hand || dealt || seat === null || seat === undefined ? "stock" : `seat-${seat}`);
  const extra = [];
  if (mover && mover.kind === "move_made" && mover.text === "draw" && seat !== view.me) {
    extra.push({ from: "stock", to: `seat-${seat}`, model: document.querySelector(".stock .card:last-child") });
  }
  await motion.play(places, origin, extra, speed);
}

function lineOf(view, item, before) {
  const text = told(view, item, { before });
  if (!text) return null;
  return { text, kind: item.kind === "chat_said" || item.kind === "reacted" ? "said" : "done", seat: item.seat };
}

const MUTED_KINDS = new Set(["chat_said", "reacted"]);

function note(view, item, before) {
  const muted = MUTED_KINDS.has(item.kind) && settings.muted.includes(view.facts.players[item.seat]?.fingerprint);
  if (muted) return;
  const line = lineOf(view, item, before);
  if (line) {
    S.lines.push(line);
    if (S.lines.length > 300) S.lines.splice(0, 100);
    if (line.kind === "said" && S.panel !== "talk") S.unread++;
    speak(told(view, item, { before, spoken: true }));
  }
  switch (item.kind) {
    case "move_made": if (item.seat === view.me) S.ahead = false; playSound(/^(meld|lay)/.test(item.text) ? "meld" : item.text === "pass" ? "chat" : "card"); break;
    case "ruled": if (item.winner !== null && item.winner !== undefined) playSound("rummy"); break;
    case "window_opened": windows++; S.answer = ""; if (item.seats.includes(view.me)) playSound("window"); break;
    case "shuffle_made": playSound("shuffle"); break;
    case "game_over": S.panel = "scores"; playSound("over"); break;
    case "hand_over": if (matchMedia("(min-width: 1100px)").matches) S.panel ??= "scores"; break;
    case "hand_began": S.ahead = false; break;
    case "move_refused": S.ahead = false; S.notice = refusedWords(item); playSound("refused"); break;
    case "chat_said": bubble(item.seat, { text: item.text }); playSound("chat"); break;
    case "reacted": bubble(item.seat, { reaction: item.reaction }); playSound("chat"); break;
    default:
  }
}

function bubble(seat, said) {
  S.bubbles.set(seat, said);
  setTimeout(() => { if (S.bubbles.get(seat) === said) { S.bubbles.delete(seat); render(); } }, 5000);
}

/** Read aloud, one line after the other. */
function speak(text) {
  if (!text) return;
  const live = document.getElementById("live");
  const line = document.createElement("p");
  line.textContent = text;
  live.append(line);
  while (live.children.length > 12) live.firstChild.remove();
}

// --- title, notification ------------------------------------------------------------------------------------------

const mine = (view) => Boolean(view) && view.me !== null && (view.need.kind === "turn" || view.need.kind === "window") && view.need.seats.includes(view.me);

function headline(view, before) {
  const asked = mine(view);
  document.title = asked ? t("title.yours") : t("title.table", { hand: view.public.hand });
  if (!asked || (before && mine(before) && before.need.kind === view.need.kind)) return;
  comeIntoView(view.need.kind === "turn" ? ".mine" : ".centre");
  if (view.need.kind === "turn") {
    playSound("turn");
    speak(situation(view));
  }
  if (document.hidden && settings.notify && "Notification" in window && Notification.permission === "granted") {
    const shown = new Notification("p2p-rummy", { body: situation(view), tag: "turn" });
    shown.addEventListener("click", () => { window.focus(); shown.close(); });
  }
}

/** Where the table is longer than the window: what is needed now must lie between the bar and the tray. */
function comeIntoView(what) {
  const element = document.querySelector(what);
  const tray = document.querySelector(".tray");
  if (!element || !tray) return;
  const ceiling = document.querySelector(".bar").getBoundingClientRect().bottom;
  const floor = tray.getBoundingClientRect().top;
  const { top, bottom } = element.getBoundingClientRect();
  const way = bottom > floor ? Math.min(bottom - floor + 6, top - ceiling) : Math.min(0, top - ceiling - 6);
  if (way) window.scrollBy({ top: way, behavior: movesAreShown() ? "smooth" : "auto" });
}

function stampClocks(view) {
  for (const clock of [view.facts.clock, view.facts.window, view.facts.problem]) if (clock && clock.left_ms > 0) clock.until = performance.now() + clock.left_ms;
  const open = view.facts.window;
  if (open && open.left_ms > 0) open.sweep = { from: 1 - Math.min(1, open.left_ms / Math.max(open.limit_ms, 1)), seconds: open.left_ms / 1000 };
}

setInterval(() => {
  for (const element of document.querySelectorAll("[data-clock]")) element.textContent = clockText({ until: Number(element.dataset.clock), left_ms: 0 });
}, 500);

// --- what the player does -----------------------------------------------------------------------------------------

let windows = 1; // how many have opened; 0 stands for none

/** Make a move, or answer an open window. True if the table has taken it. */
function send(text) {
  return tell(text, inWindow() ? windows : 0);
}

/** Choose a move for the own next turn: no answer to a window that is open. */
function choose(text) {
  return tell(text, 0);
}

async function tell(text, asked) {
  if (S.again || S.replay) return false;
  motion.land();
  S.notice = "";
  S.pending = true;
  // When an answer has gone through, the next window may be open already: only this one counts as answered.
  const before = S.answer;
  if (asked) S.answer = text;
  render();
  try {
    await ask("move", { text });
    if (asked === windows) S.calling = null;
    return true;
  } catch (refused) {
    if (asked === windows) S.answer = before;
    S.notice = refused.code === "page_offline" ? t("state.offline") : refusedWords(refused);
    speak(S.notice);
    playSound("refused");
    return false;
  } finally {
    S.pending = false;
    render();
  }
}

function hint(key, values) {
  S.notice = t(key, values);
  speak(S.notice);
  render();
}

function clearSelection() {
  S.selected.clear();
  S.pick = null;
}

/** One of several legal moves is meant: do the only one, or ask. */
async function doOneOf(moves, title) {
  if (moves.length === 1) {
    if (await send(moves[0].text)) clearSelection();
    return;
  }
  S.asking = {
    title,
    choices: moves.map((move) => ({
      label: move.cards.map((card) => cardSigns(card, move.as[card])).join(" "),
      words: move.cards.map((card) => cardWords(card, move.as[card])).join(", "),
      cards: move.cards.map((card) => move.as[card] || card),
      jokers: move.cards.map((card) => Boolean(move.as[card])),
      run: async () => { if (await send(move.text)) clearSelection(); },
    })),
  };
  render();
}

const act = {
  may: (verb) => !S.again && !S.replay && S.legal.some((move) => move.verb === verb),
  meanings: () => meanings(S.legal, S.selected, S.shown.public.extra?.dealers_joker?.card),
  plain: () => plainMoves(S.legal, S.shown.hand.map((item) => item.card), S.shown.public.discard, S.pick),
  doPlain: (move) => (move.text === "pass" ? act.pass() : send(move.text).then((done) => { if (done) { clearSelection(); render(); } })),
  canMeld: () => act.meanings().meld.length > 0,
  send,

  mayAhead: () => !S.again && !S.replay && !S.ahead && S.shown.ahead?.includes("draw"),
  drawAhead: async () => {
    if (!(await choose("draw"))) return;
    S.ahead = true;
    hint("ahead.chosen");
  },
  draw: () => (act.may("draw") ? send("draw") : act.mayAhead() ? act.drawAhead() : S.ahead ? hint("ahead.chosen") : hint(S.shown.public.phase === "draw" ? "hint.draw_empty" : "hint.draw")),
  takeFrom: (card) => {
    const move = card && takeOf(S.legal, card);
    if (move) send(move.text).then((done) => { if (done) { S.pick = null; render(); } });
    else hint(act.may("take") ? "hint.take_pick" : "hint.take");
  },
  takePicked: () => act.takeFrom(S.pick ?? (takeOf(S.legal, S.shown.public.discard.at(-1)) ? S.shown.public.discard.at(-1) : null)),
  takeNote: (card) => {
    if (!card) return "";
    const move = takeOf(S.legal, card);
    if (!move) return act.may("take") ? t("pile.no_use", { card: cardSigns(card) }) : "";
    const pile = S.shown.public.discard;
    return card === pile[pile.length - 1] ? t("pile.top_note", { card: cardSigns(card) }) : t("pile.deep_note", { card: cardSigns(card) });
  },
  pickPile: (card) => {
    if (S.calling) {
      if (!S.calling.cards.delete(card)) S.calling.cards.add(card);
    } else {
      S.pick = S.pick === card ? null : card;
    }
    render();
  },
  hover: (card) => { if (S.hover !== card) { S.hover = card; render(); } },

  toggle: (card) => {
    if (!S.selected.delete(card)) S.selected.add(card);
    S.notice = "";
    render();
  },
  clear: () => { clearSelection(); S.calling = null; S.notice = ""; render(); },
  focusOn: (card) => { if (S.focus !== card) { S.focus = card; } },
  meld: () => {
    const { meld } = act.meanings();
    if (meld.length) return doOneOf(meld, t("ask.joker"));
    return hint(S.selected.size ? "hint.meld_not" : "hint.meld");
  },
  layOn: (id) => {
    if (S.calling) return act.call(id);
    const moves = act.meanings().lay[id] || [];
    if (!moves.length) return hint("hint.lay_not");
    if (S.selected.size === 1) return doOneOf(moves, t("ask.joker"));
    return layChain(id);
  },
  lay: () => {
    if (S.calling && !S.calling.cards.size) return hint("call.choose");
    const ids = S.calling ? [...act.targets().keys()] : Object.keys(act.meanings().lay);
    if (!ids.length) return hint(S.selected.size ? "hint.lay_not" : "hint.lay");
    if (ids.length === 1) return act.layOn(ids[0]);
    S.asking = {
      title: t("ask.meld"),
      choices: ids.map((id) => {
        const meld = S.shown.public.melds.find((item) => String(item.id) === id);
        return {
          label: t("ask.meld_choice", { id, name: seatName(S.shown, meld.owner) }),
          words: meld.cards.map((item) => cardWords(item.card, item.as)).join(", "),
          cards: meld.cards.map((item) => (parts(item.card).joker ? item.as : item.card)), jokers: meld.cards.map((item) => parts(item.card).joker), run: () => act.layOn(id),
        };
      }),
    };
    return render();
  },
  discard: () => {
    const { discard } = act.meanings();
    if (discard) return send(discard.text).then((done) => done && clearSelection());
    if (S.selected.size !== 1) return hint("hint.discard");
    // The table knows why not, and says so with the rule.
    return send(`discard ${[...S.selected][0]}`);
  },
  discardCards: (cards) => { S.selected = new Set(cards); return act.discard(); },
  meldCards: (cards) => { S.selected = new Set(cards); return act.meld(); },
  layCards: (cards, id) => { S.selected = new Set(cards); return act.layOn(id); },
  pass: () => send("pass"),

  /** Meld id -> true for every meld that the selection (or a call) may be put on. */
  targets: () => {
    if (S.again || S.replay) return new Map();
    if (S.calling) return S.calling.cards.size ? new Map(S.shown.public.melds.map((meld) => [String(meld.id), true])) : new Map();
    return new Map(Object.keys(act.meanings().lay).map((id) => [id, true]));
  },

  rummy: () => { S.calling = { cards: new Set() }; S.selected.clear(); speak(t("call.choose")); render(); comeIntoView(".mine"); document.querySelector(".pile .card:last-child")?.focus(); },
  call: (id) => {
    const pile = S.shown.public.discard;
    const cards = pile.filter((card) => S.calling.cards.has(card));
    if (!cards.length) return hint("call.choose");
    const jokers = cards.filter((card) => parts(card).joker);
    return nameJokers(jokers, {}, (as) => send(callText(cards, as, id)));
  },

  sort: async (how) => {
    const groups = how === "melds" ? (await ask("groups").catch(() => ({ groups: [] }))).groups : [];
    const places = motion.capture();
    hand.sort(how, groups);
    render();
    motion.play(places, () => "stock");
  },
  grab: (event, card) => grab(event, card, S, act, render),
  reorder: (cards, before) => {
    const places = motion.capture();
    hand.move(cards, before);
    render();
    motion.play(places, () => "stock", [], 2);
  },
  rove: (event) => rove(event),

  open: (name) => { S.panel = S.panel === name ? null : name; if (name === "talk") S.unread = 0; if (name === "rules" && !S.rules) fetchRules(); render(); if (S.panel) document.querySelector(".panel h2")?.focus(); },
  close: () => { const was = S.panel; S.panel = null; if (was === "replay") endReplay(); render(); document.querySelector(`[data-panel="${was}"]`)?.focus(); },
  answer: (choice) => { S.asking = null; render(); choice.run(); },
  dismiss: () => { S.asking = null; render(); focusHand(); },
  say: (text) => ask("say", { text }).catch((refused) => { S.notice = refusedWords(refused); render(); }),
  react: (reaction) => ask("react", { reaction }).catch((refused) => { S.notice = refusedWords(refused); render(); }),
  setting: async (name, value) => {
    change(name, value);
    if (name === "language") { await useLanguage(preferredLanguage(value, "")); forgetFaces(); S.rules = null; S.lines = history.flatMap(({ view, happened }, at) => happened.map((item) => lineOf(view, item, history[at - 1]?.view ?? null))).filter(Boolean); if (S.panel === "rules") fetchRules(); fetchPhrases(); }
    if (name === "notify" && value && "Notification" in window && Notification.permission === "default") await Notification.requestPermission();
    render();
  },
  mute: (fingerprint) => { change("muted", settings.muted.includes(fingerprint) ? settings.muted.filter((one) => one !== fingerprint) : [...settings.muted, fingerprint]); render(); },
  again: () => showAgain(),
  verify: async () => {
    S.verdict = { running: true };
    render();
    try { S.verdict = await ask("verify"); } catch (refused) { S.verdict = { ok: false, message: refusedWords(refused) }; }
    speak(S.verdict.ok ? t("verdict.good") : S.verdict.message);
    render();
    document.querySelector(".verdict")?.scrollIntoView({ block: "nearest" });
  },
  replay: async () => {
    try {
      const { steps } = await ask("replay");
      if (!steps.length) return hint("replay.empty");
      S.replay = { steps, at: steps.length - 1, playing: false };
      S.panel = "replay";
      showReplay(steps.length - 1);
    } catch (refused) { S.notice = refusedWords(refused); render(); }
    return undefined;
  },
  scrub: (at) => showReplay(at),
  playReplay: () => playReplay(),
  leave: () => ask("leave").catch(() => {}),
  house: (what, fields) => ask(what, fields),
  showStart: (start) => { S.start = { ...S.start, ...start }; render(); },
  render,
};

/** Several cards on one meld, one after the other, as far as they fit. */
async function layChain(id) {
  const wanted = new Set(S.selected);
  while (wanted.size) {
    const moves = (meanings(parseAll(S.live.legal), wanted).lay[id] || []).filter((move) => wanted.has(move.cards[0]));
    const [move] = moves;
    if (!move) break;
    if (moves.filter((other) => other.cards[0] === move.cards[0]).length > 1 && wanted.size === 1) { S.selected = wanted; return doOneOf(moves, t("ask.joker")); }
    wanted.delete(move.cards[0]);
    const before = S.live;
    if (!(await send(move.text))) return undefined;
    await until(() => S.live !== before);
  }
  if (wanted.size) hint("hint.lay_rest", { cards: [...wanted].map((card) => cardSigns(card)).join(" ") });
  else clearSelection();
  return render();
}

function until(happened) {
  return new Promise((resolve) => {
    const end = performance.now() + 2000;
    const look = () => (happened() || performance.now() > end ? resolve() : setTimeout(look, 10));
    look();
  });
}

/** Ask for each joker in turn what it stands for, then go on. */
function nameJokers(jokers, as, next) {
  if (!jokers.length) return next(as);
  const [joker, ...rest] = jokers;
  S.asking = { title: t("ask.joker_free", { card: cardWords(joker) }), grid: (place) => nameJokers(rest, { ...as, [joker]: place }, next) };
  return render();
}

// --- keyboard -----------------------------------------------------------------------------------------------------

/** Arrow keys walk through a row of cards; Space chooses; Alt with an arrow moves a card of the hand. */
function rove(event) {
  const row = [...event.currentTarget.querySelectorAll('[role="option"]')];
  const at = row.indexOf(document.activeElement);
  if (at < 0) return;
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  const card = row[at].dataset.hand;
  if (step && event.altKey && card) {
    hand.nudge(card, step);
    render();
    document.querySelector(`[data-hand="${card}"]`)?.focus();
  } else if (step) {
    row[Math.max(0, Math.min(row.length - 1, at + step))].focus();
  } else if (event.key === "Home" || event.key === "End") {
    row[event.key === "Home" ? 0 : row.length - 1].focus();
  } else if (event.key === " " || event.key === "Enter") {
    if (card) act.toggle(card);
    else act.pickPile(row[at].dataset.pile);
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

function focusHand() {
  (document.querySelector('.hand [tabindex="0"]') || document.querySelector(".hand .card"))?.focus();
}

const KEYS = {
  d: () => act.draw(),
  t: () => act.takePicked(),
  m: () => act.meld(),
  l: () => act.lay(),
  x: () => act.discard(),
  r: () => inWindow() && !isGiven() && act.rummy(),
  n: () => S.calling && act.call(""),
  p: () => (act.may("pass") ? act.pass() : undefined),
  s: () => act.sort("suit"),
  k: () => act.sort("rank"),
  b: () => act.sort("melds"),
  h: () => focusHand(),
  g: () => document.querySelector('.pile [tabindex="0"]')?.focus(),
  c: () => act.open("talk"),
  o: () => act.open("scores"),
  a: () => act.again(),
  "?": () => act.open("keys"),
};

/** Without a countdown an answer is sealed as soon as it is given. */
const isGiven = () => S.answer !== "" && S.shown.facts.window.prompt;

const inWindow = () => S.shown?.need.kind === "window" && S.shown.public.phase === "call" && S.shown.facts.window && (S.answer !== "" || S.shown.need.seats.includes(S.shown.me));

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (S.asking) act.dismiss();
    else if (S.panel) act.close();
    else act.clear();
    return;
  }
  if (S.screen !== "table" || !settings.keys || S.asking || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const run = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (run) { event.preventDefault(); run(); }
});

// --- again, replay --------------------------------------------------------------------------------------------------

async function showAgain() {
  if (S.again || S.replay) return;
  const turn = lastTurn(history, S.live.me);
  if (!turn) { hint("again.none"); return; }
  S.again = true;
  show(history[turn.start - 1].view, null);
  for (let at = turn.start; at <= turn.end; at++) {
    const done = doings(history[at].happened).filter((item) => doer(item) === turn.seat);
    if (!done.length) continue;
    await pause(450);
    const places = motion.capture();
    show(history[at].view, null);
    S.notice = done.map((item) => told(history[at].view, item, { before: history[at - 1].view })).join(" ");
    render();
    await fly(places, history[at].view, history[at].happened, history[at - 1].view);
  }
  await pause(900);
  S.again = false;
  S.notice = "";
  show(S.live, null);
}

function showReplay(at) {
  const step = S.replay.steps[at];
  const places = motion.capture();
  const adjacent = Math.abs(at - S.replay.at) === 1;
  S.replay.at = at;
  show({ ...step.view, public: { ...step.view.public, options: S.live.public.options }, facts: { ...step.view.facts, ticket: "" } }, null);
  if (adjacent) fly(places, S.shown, step.happened, null);
}

async function playReplay() {
  const replay = S.replay;
  if (replay.playing) { replay.playing = false; render(); return; }
  if (replay.at >= replay.steps.length - 1) replay.at = 0;
  replay.playing = true;
  while (S.replay === replay && replay.playing && replay.at < replay.steps.length - 1) {
    showReplay(replay.at + 1);
    await pause(movesAreShown() ? 700 : 1100);
  }
  replay.playing = false;
  render();
}

function endReplay() {
  S.replay = null;
  if (S.live) show(S.live, null);
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function fetchRules() {
  try { S.rules = (await ask("rules", { language })).text; } catch (refused) { S.rules = refusedWords(refused); }
  render();
}

/** What only the peer can put in words (options, faults), once for each language. */
async function fetchPhrases() {
  if (S.phrases === language) return;
  const wanted = S.phrases = language;
  try { usePhrases((await ask("phrases", { language: wanted })).phrases); } catch { S.phrases = null; }
  render();
}

// --- the page ---------------------------------------------------------------------------------------------------------

const BAR = ["scores", "shuffle", "talk", "rules", "settings"];

function bar() {
  const view = S.shown;
  const asked = mine(view) && !S.replay;
  return h("header", { class: "bar", key: "bar" },
    h("h1", { class: "brand" }, h("span", { "aria-hidden": "true" }, "♥ "), "p2p-rummy"),
    h("p", { class: `situation ${asked ? "yours" : ""}` }, S.replay ? t("replay.title") : S.again ? t("again.title") : situation(view),
      view.facts.clock && asked && view.need.kind === "turn" && view.facts.clock.left_ms > 0 ? h("span", { class: "clock", "data-clock": view.facts.clock.until }, clockText(view.facts.clock)) : null),
    h("nav", { class: "bar-buttons", "aria-label": t("bar.label") },
      ...BAR.map((name) => h("button", {
        key: name, type: "button", class: `icon-button ${S.panel === name ? "open" : ""}`, "data-panel": name, "aria-expanded": S.panel === name ? "true" : "false",
        "aria-label": t(`panel.${name}`) + (name === "talk" && S.unread ? ` (${S.unread})` : ""), title: t(`panel.${name}`), on: { click: () => act.open(name) },
      }, icon(name), h("span", { class: "bar-word" }, t(`panel.${name}`)), name === "talk" && S.unread ? h("span", { class: "unread", "aria-hidden": "true" }, S.unread) : null))));
}

const problemKey = ({ code, seats, message }) => JSON.stringify([code, seats, message]);

function banner() {
  const problem = S.shown?.facts.problem;
  const read = problem && S.read === problemKey(problem);
  const words = S.offline ? t("state.offline") : problem && !read ? problemWords(S.shown) : "";
  return h("div", { class: `banner ${words ? "" : "gone"}`, role: "alert", key: "banner" }, h("span", {}, words),
    words && problem && !S.offline ? h("button", { type: "button", class: "icon-button", "aria-label": t("banner.close"), title: t("banner.close"), on: { click: () => { S.read = problemKey(problem); render(); } } }, icon("close")) : null);
}

function ticker() {
  const last = S.lines.filter((line) => line.kind === "done").slice(-1)[0];
  return h("section", { class: "ticker", key: "ticker", "aria-label": t("ticker.label") }, h("span", { class: "ticker-text" }, last ? last.text : ""),
    S.shown.me !== null || history.length > 2 ? h("button", { type: "button", class: "quiet-button", "aria-label": t("again.button"), title: t("again.button"), on: { click: act.again } }, icon("again"), h("span", {}, t("again.button"))) : null);
}

let drawing = false;
let drawAgain = false;

/** At once: a view that arrives is on the page when its message has been handled. */
function render() {
  drawAgain = true;
  if (drawing) return; // a focus that moves while elements change asks again; one more round is enough
  drawing = true;
  try {
    while (drawAgain) {
      drawAgain = false;
      draw();
    }
  } finally {
    drawing = false;
  }
}

function draw() {
  const app = document.getElementById("app");
  const active = document.activeElement;
  const place = active?.dataset?.hand ? `[data-hand="${active.dataset.hand}"]` : active?.dataset?.pile ? `[data-pile="${active.dataset.pile}"]` : null;
  if (S.screen === "start") { document.title = t("title.start"); patch(app, [banner(), startPage(S.start, act)]); return; }
  if (S.screen === "seating") { document.title = t("title.seating"); patch(app, [banner(), seatingPage(S.seating, act)]); return; }
  if (S.screen !== "table") { patch(app, [h("p", { class: "loading" }, S.offline ? t("state.offline") : t("state.loading"))]); return; }
  patch(app, [
    h("div", { "data-step": S.shown.facts.step, class: `page ${S.panel ? "with-panel" : ""} ${S.replay || S.again ? "past" : ""} ${S.shown.me === null ? "watching" : ""}`, key: "page" },
      h("a", { class: "skip", href: "#hand", on: { click: (event) => { event.preventDefault(); focusHand(); } } }, t("bar.skip")),
      bar(), banner(), ticker(), felt(S, act), tray(S, act, inWindow()),
      S.panel && PANELS[S.panel] ? panel(S.panel, S, act) : null),
    chooser(S, act),
  ]);
  // A card that was played takes the focus with it: give it to what stands nearest.
  if (place && document.activeElement === document.body) {
    if (document.querySelector(place)) document.querySelector(place).focus();
    else if (place.includes("hand")) focusHand();
    else document.querySelector('.pile [tabindex="0"]')?.focus();
  }
  const dialog = document.querySelector("dialog.ask");
  if (dialog && S.asking && !dialog.open) dialog.showModal();
}

load();
await useLanguage(preferredLanguage(settings.language, new URLSearchParams(location.search).get("lang")));
render();
connect(onNews, (up) => { S.offline = !up; if (up) fetchPhrases(); render(); });
