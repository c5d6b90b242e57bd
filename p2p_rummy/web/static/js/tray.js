// Below the table: what can be done, and the own hand. In a call window the Rummy! button with its ring.

import { h } from "./dom.js";
import { t } from "./i18n.js";
import { cardSigns } from "./cards.js";
import { parse } from "./moves.js";
import { clockText, moveWords } from "./words.js";
import { hand } from "./table.js";

const RING = 2 * Math.PI * 22;

function button(key, label, { lit = false, primary = false, run, shortcut = "", pressed }) {
  return h("button", {
    key, type: "button", class: `do ${lit ? "lit" : ""} ${primary ? "primary" : ""}`, "data-do": key,
    "aria-disabled": lit ? undefined : "true", "aria-keyshortcuts": shortcut || undefined, "aria-pressed": pressed, on: { click: run },
  }, label, shortcut ? h("kbd", { "aria-hidden": "true" }, shortcut.toUpperCase()) : null);
}

function turnButtons(S, act) {
  const open = S.shown.public;
  const found = act.meanings();
  const layIds = Object.keys(found.lay);
  const pile = open.discard;
  const pick = S.pick ?? (pile.length ? pile[pile.length - 1] : null);
  const count = pick === null ? 0 : pile.length - pile.indexOf(pick);
  const mayTake = act.may("take") && act.takeNote(pick) !== "" && S.legal.some((move) => move.verb === "take" && move.cards[0] === pick);
  const drawing = open.phase === "draw";
  const own = [...found.others.filter((move) => !act.plain().includes(move)), ...act.plain()].map((move) =>
    button(`own ${move.text}`, NAMED.has(move.text) ? t(`action.${move.text}`) : moveWords(move), { lit: true, primary: S.game.plain && move.text !== "pass", run: () => act.doPlain(move), shortcut: move.text === "pass" ? "p" : "" }));
  if (S.game.plain) return own;
  return [
    button("draw", t("action.draw"), { lit: act.may("draw"), primary: drawing && S.pick === null, run: act.draw, shortcut: "d" }),
    button("take", count > 1 ? t("action.take_many", { card: cardSigns(pick), count: count - 1 }) : t("action.take", { card: pick ? cardSigns(pick) : "" }),
      { lit: mayTake, primary: S.pick !== null && mayTake, run: act.takePicked, shortcut: "t" }),
    ...layButtons(S, act),
    button("discard", t("action.discard"), { lit: Boolean(found.discard), primary: Boolean(found.discard) && !found.meld.length && !layIds.length, run: act.discard, shortcut: "x" }),
    ...own,
  ];
}

function layButtons(S, act) {
  const found = act.meanings();
  const ids = Object.keys(found.lay);
  return [
    button("meld", t("action.meld"), { lit: found.meld.length > 0, primary: found.meld.length > 0, run: act.meld, shortcut: "m" }),
    button("lay", ids.length === 1 ? t("action.lay_on", { id: ids[0] }) : t("action.lay"), { lit: ids.length > 0, primary: ids.length > 0, run: act.lay, shortcut: "l" }),
  ];
}

const NAMED = new Set(["pass", "untake", "deal"]);

function sorts(S, act) {
  return h("span", { class: "sorts", key: "sorts", role: "group", "aria-label": t("sort.label") },
    ...[["suit", "s"], ["rank", "k"], ["melds", "b"]].filter(([how]) => how !== "melds" || !S.game.plain).map(([how, key]) => button(`sort-${how}`, t(`sort.${how}`), { lit: true, run: () => act.sort(how), shortcut: key, pressed: S.order.how === how ? "true" : "false" })));
}

function ring(clock) {
  // The sweep itself is CSS. Its start and length were fixed when the view came, so that drawing again disturbs nothing.
  const { from, seconds } = clock.sweep || { from: 0, seconds: 1e6 };
  return h("svg", { class: "ring", viewBox: "0 0 52 52", "aria-hidden": "true" },
    h("circle", { class: "ring-back", cx: 26, cy: 26, r: 22 }),
    h("circle", {
      class: "ring-left", cx: 26, cy: 26, r: 22, "stroke-dasharray": RING, key: `ring${clock.until}`,
      style: { "--from": String(RING * from), "--full": String(RING), "animation-duration": `${seconds}s` },
    }));
}

/** What this seat will answer when the countdown ends. */
function answered(text) {
  if (text === "pass") return t("call.passed");
  const move = parse(text);
  if (move.verb === "rummy") return t("call.made", { cards: move.cards.map((card) => cardSigns(card, move.as[card])).join(" ") });
  return t("call.chosen", { move: moveWords(move) + (move.on ? ` →${move.on}` : "") });
}

function windowBar(S, act) {
  const view = S.shown;
  const clock = view.facts.window;
  const calling = S.calling;
  const callable = view.public.options.calling !== "off";
  const others = S.legal.some((move) => move.verb === "meld" || move.verb === "lay"); // R210: out of turn
  const hints = S.legal.filter((move) => move.verb === "rummy");
  const blocks = S.legal.filter((move) => move.verb === "block"); // R182
  const given = S.answer !== "" && clock.prompt;
  const state = clock.safe ? t("call.safe") : given ? t("call.given") : S.answer ? answered(S.answer) : "";
  return h("div", { class: "window-bar", key: "window", role: "group", "aria-label": t("call.label") },
    !callable || given ? null : h("button", { key: "rummy", type: "button", class: `rummy ${calling ? "armed" : ""}`, "data-do": "rummy", "aria-pressed": calling ? "true" : "false", "aria-keyshortcuts": "r", on: { click: act.rummy } },
      ring(clock), h("span", { class: "rummy-word" }, t("call.rummy"))),
    calling
      ? [
        h("p", { key: "how", class: "window-words" }, calling.cards.size ? t("call.where") : t("call.choose")),
        button("call-new", t("call.new_meld"), { lit: calling.cards.size > 0, primary: calling.cards.size > 2, run: () => act.call(""), shortcut: "n" }),
        button("call-back", t("call.back"), { lit: true, run: act.clear }),
      ]
      : [
        h("p", { key: "how", class: "window-words" }, state || t(callable ? "call.open" : "call.out_of_turn"), " ",
          clock.left_ms > 0 ? h("span", { class: "clock", "data-clock": clock.until }, clockText(clock)) : null),
        ...(others && !given ? layButtons(S, act) : []),
        ...(given ? [] : blocks).map((move) => button(`own ${move.text}`, moveWords(move), { lit: S.answer !== move.text, run: () => act.send(move.text) })),
        given ? null : button("pass", t("action.pass"), { lit: act.may("pass") && S.answer !== "pass", primary: false, run: act.pass, shortcut: "p" }),
        S.ahead || act.mayAhead() ? button("draw-ahead", t("ahead.draw"), { lit: true, run: act.draw, shortcut: "d", pressed: S.ahead ? "true" : "false" }) : null,
        ...(given ? [] : hints.slice(0, 6)).map((move) => button(`hint ${move.text}`, t("call.hint", { cards: move.cards.map((card) => cardSigns(card, move.as[card])).join(" ") + (move.on ? ` →${move.on}` : "") }), { lit: true, run: () => act.send(move.text) })),
      ]);
}

function hintRow(S, act) {
  if (!S.shown.public.options.hints || S.shown.need.kind !== "turn") return null;
  const label = (move) => move.cards.map((card) => cardSigns(card, move.as[card])).join(" ") + (move.double ? " ×2" : "") + (move.on ? ` →${move.on}` : "");
  const possible = S.legal.filter((move) => (move.verb === "meld" && move.groups.length === 1) || move.verb === "lay")
    .sort((one, other) => Object.keys(one.as).length - Object.keys(other.as).length);
  // Jokers look alike: of two moves that differ in nothing else one is enough.
  const melds = possible.filter((move, at) => possible.findIndex((other) => label(other) === label(move)) === at).slice(0, 8);
  if (!melds.length) return null;
  return h("div", { class: "hints", key: "hints" }, h("span", {}, t("hints.label")),
    ...melds.map((move) => h("button", { key: move.text, type: "button", class: "chip", on: { click: () => act.send(move.text) } }, label(move))));
}

export function tray(S, act, inWindow) {
  if (S.shown.me === null) return h("footer", { class: "tray slim", key: "tray" }, h("p", { class: "notice" }, S.notice || t("watch.note")));
  const past = S.again || S.replay;
  return h("footer", { class: `tray ${past ? "is-past" : ""}`, key: "tray", id: "hand" },
    h("p", { class: "notice", key: "notice", role: "status" }, S.notice),
    past ? null : inWindow ? windowBar(S, act) : h("div", { class: `actions phase-${S.legal.some((move) => move.verb === "draw" || move.verb === "take") ? "draw" : S.legal.length ? "play" : "none"}`, key: "actions", role: "toolbar", "aria-label": t("action.label") },
      ...turnButtons(S, act),
      h("span", { class: "gap", key: "gap" }), sorts(S, act)),
    hintRow(S, act),
    hand(S, act));
}
