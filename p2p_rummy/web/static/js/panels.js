// What lies beside the table: score sheet, how the shuffle was made, talk, rules, settings, replay; and the questions.

import { h } from "./dom.js";
import { LANGUAGES, known, language, t } from "./i18n.js";
import { RANKS, SUITS, cardWords, picture } from "./cards.js";
import { REACTIONS, icon, reactionIcon } from "./icons.js";
import { settings } from "./settings.js";
import { seatColour, seatName } from "./table.js";
import { told } from "./words.js";

const seatsOf = (view) => Array.from({ length: view.public.seats }, (_, seat) => seat);
const signed = (number) => (number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "0");

// --- score sheet ------------------------------------------------------------------------------------------------

function scores(S) {
  const { public: open } = S.shown;
  const seats = seatsOf(S.shown);
  return [
    h("div", { class: "scroll-x", tabindex: 0, role: "region", "aria-label": t("panel.scores") },
      h("table", { class: "sheet" },
        h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("scores.hand")), ...seats.map((seat) => h("th", { scope: "col", key: seat }, h("span", { class: `dot ${seatColour(seat)}`, "aria-hidden": "true" }), seatName(S.shown, seat))))),
        h("tbody", {}, ...open.sheet.flatMap((row) => [
          h("tr", { key: `h${row.hand}` }, h("th", { scope: "row" }, row.hand),
            ...seats.map((seat) => h("td", { key: seat },
              h("span", { class: `points ${row.points[seat] < 0 ? "minus" : ""}` }, signed(row.points[seat])),
              row.table && row.in_hand ? h("span", { class: "reason" }, t("scores.reason", { table: row.table[seat], hand: row.in_hand[seat] })) : null))),
          row.notes?.length ? h("tr", { key: `n${row.hand}`, class: "notes" }, h("td", { colspan: seats.length + 1 }, row.notes.map((note) => (known(`note.${note}`) ? t(`note.${note}`) : note)).join(" · "))) : null,
        ])),
        h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, t("scores.total")), ...seats.map((seat) => h("td", { key: seat, class: (open.winner || []).includes(seat) ? "won" : "" }, open.scores[seat] < 0 ? `−${-open.scores[seat]}` : open.scores[seat])))))),
    h("p", { class: "muted" }, t(open.sheet.length ? "scores.legend" : "scores.none")),
    Number(open.options.target) > 0 ? h("p", { class: "muted" }, t("scores.target", { target: open.options.target })) : null,
  ];
}

// --- how this shuffle was made --------------------------------------------------------------------------------

function shuffle(S, act) {
  const { facts } = S.shown;
  const made = facts.shuffles?.made || [];
  return [
    h("p", {}, t("shuffle.intro")),
    h("ol", { class: "shuffles" }, ...made.map((item) => h("li", { key: item.position, class: item.verified ? "verified" : "busy" },
      h("span", { class: `dot ${seatColour(item.seat)}`, "aria-hidden": "true" }),
      h("span", { class: "shuffle-name" }, seatName(S.shown, item.seat)),
      h("span", { class: "shuffle-state" }, item.verified
        ? t(item.seat === S.shown.me ? "shuffle.made" : "shuffle.verified", { ms: item.ms, cards: item.cards })
        : t(item.seat === S.shown.me ? "shuffle.making" : "shuffle.verifying", { cards: item.cards }))))),
    made.length ? null : h("p", { class: "muted" }, t("shuffle.none")),
    h("p", {}, t("shuffle.meaning", { count: made[0]?.of ?? S.shown.public.seats })),
    facts.words ? h("div", { class: "words" }, h("p", {}, t("shuffle.words")), h("p", { class: "word-list" }, facts.words)) : null,
    h("dl", { class: "log-facts" },
      h("dt", {}, t("log.steps")), h("dd", {}, facts.step ?? "–"),
      h("dt", {}, t("log.head")), h("dd", { class: "mono" }, facts.head || "–")),
    h("div", { class: "panel-actions" },
      h("button", { type: "button", class: "do lit primary", on: { click: act.verify } }, t("log.verify")),
      h("button", { type: "button", class: "do lit", on: { click: act.replay } }, t("log.replay")),
      h("a", { class: "do lit", href: "/log", download: "" }, t("log.download"))),
    S.verdict ? verdict(S.verdict) : null,
  ];
}

function verdict(result) {
  if (result.running) return h("p", { class: "verdict", role: "status" }, t("verdict.running"));
  return h("div", { class: `verdict ${result.ok ? "good" : "bad"}`, role: "status" },
    h("p", {}, result.ok ? t("verdict.good") : t("verdict.bad")),
    result.ok ? h("p", {}, t("verdict.details", { steps: result.steps, hands: result.hands, ms: result.ms })) : h("p", {}, result.message));
}

// --- talk -------------------------------------------------------------------------------------------------------------

function talk(S, act) {
  const { me, facts } = S.shown;
  return [
    h("ol", { class: "lines", tabindex: 0, "aria-label": t("talk.lines") }, ...S.lines.slice(-120).map((line, at) =>
      h("li", { key: `${S.lines.length - at}`, class: `${line.kind} ${line.seat === undefined || line.seat === null ? "" : seatColour(line.seat)}` }, line.text))),
    me === null ? null : h("div", { class: "reactions", role: "group", "aria-label": t("talk.reactions") },
      ...REACTIONS.map((name) => h("button", { key: name, type: "button", class: "icon-button", "aria-label": t(`reaction.${name}`), title: t(`reaction.${name}`), on: { click: () => act.react(name) } }, reactionIcon(name)))),
    me === null ? null : h("form", {
      class: "say", on: {
        submit: (event) => {
          event.preventDefault();
          const box = event.target.elements.line;
          const text = box.value.trim();
          if (text) act.say(text);
          box.value = "";
        },
      },
    }, h("label", { class: "unseen", for: "say-line" }, t("talk.say")),
      h("input", { id: "say-line", name: "line", maxlength: 200, autocomplete: "off", placeholder: t("talk.say") }),
      h("button", { type: "submit", class: "do lit" }, t("talk.send"))),
    h("fieldset", { class: "mutes" }, h("legend", {}, t("talk.mute")),
      ...facts.players.map((player, seat) => (seat === me ? null : h("label", { key: seat },
        h("input", { type: "checkbox", prop: { checked: settings.muted.includes(player.fingerprint) }, on: { change: () => act.mute(player.fingerprint) } }), player.name)))),
  ];
}

// --- rules, keys, settings ----------------------------------------------------------------------------------------

function rules(S) {
  if (!S.rules) return [h("p", { class: "muted" }, t("state.loading"))];
  // One source writes the rules as text: a line that begins with "## " is a heading, with "- " an item.
  const blocks = [];
  for (const line of S.rules.split("\n")) {
    if (line.startsWith("#")) blocks.push(h("h3", {}, line.replace(/^#+ /, "")));
    else if (line.startsWith("- ")) blocks.push(h("p", { class: "rule" }, line.slice(2)));
    else if (line.trim()) blocks.push(h("p", {}, line));
  }
  return [h("div", { class: "rules-text" }, ...blocks)];
}

const KEY_LIST = [["D", "draw"], ["T", "take"], ["M", "meld"], ["L", "lay"], ["X", "discard"], ["R", "rummy"], ["N", "call_new"], ["P", "pass"], ["← →", "walk"], ["Space", "choose"], ["Alt ← →", "move"], ["S K B", "sort"], ["H", "hand"], ["G", "pile"], ["C", "talk"], ["O", "scores"], ["A", "again"], ["Esc", "escape"], ["?", "keys"]];

function keys() {
  return [h("dl", { class: "keys" }, ...KEY_LIST.flatMap(([key, name]) => [h("dt", { key }, h("kbd", {}, key)), h("dd", { key: `${key}d` }, t(`keys.${name}`))]))];
}

function choice(name, values, act) {
  return h("fieldset", { class: "choice", key: name }, h("legend", {}, t(`settings.${name}`)),
    ...values.map((value) => h("label", { key: String(value) },
      h("input", { type: "radio", name, prop: { checked: settings[name] === value }, on: { change: () => act.setting(name, value) } }), t(`settings.${name}.${value}`))));
}

function tick(name, act) {
  return h("label", { class: "tick", key: name }, h("input", { type: "checkbox", prop: { checked: settings[name] }, on: { change: (event) => act.setting(name, event.target.checked) } }), t(`settings.${name}`));
}

function settingsPanel(S, act) {
  return [
    choice("theme", ["auto", "dark", "light"], act),
    choice("colours", ["two", "four"], act),
    tick("letters", act), tick("sound", act), tick("keys", act), tick("notify", act),
    choice("motion", ["auto", "off"], act),
    h("label", { class: "field", key: "language" }, t("settings.language"),
      h("select", { on: { change: (event) => act.setting("language", event.target.value) }, prop: { value: language } },
        ...Object.entries(LANGUAGES).map(([code, name]) => h("option", { key: code, value: code, lang: code, selected: code === language }, name)))),
    h("div", { class: "panel-actions", key: "more" },
      h("button", { type: "button", class: "do lit", on: { click: () => act.open("keys") } }, icon("keys"), t("panel.keys")),
      h("button", { type: "button", class: "do lit", on: { click: act.leave } }, t("table.leave"))),
    S.shown?.facts.ticket ? h("p", { class: "mono small-print", key: "ticket" }, S.shown.facts.ticket) : null,
  ];
}

// --- replay -----------------------------------------------------------------------------------------------------------

function replay(S, act) {
  const { steps, at, playing } = S.replay;
  const step = steps[at];
  const view = S.shown;
  const words = step.happened.map((item) => told(view, item, { before: at ? steps[at - 1].view : null })).filter(Boolean).join(" ") || t("replay.step", { step: at + 1 });
  return [
    h("p", { class: "replay-words", "aria-live": "polite" }, words),
    h("label", { class: "field" }, t("replay.scrub", { step: at + 1, of: steps.length }),
      h("input", { type: "range", min: 0, max: steps.length - 1, prop: { value: String(at) }, "aria-valuetext": words, on: { input: (event) => act.scrub(Number(event.target.value)) } })),
    h("div", { class: "panel-actions" },
      h("button", { type: "button", class: "do lit", on: { click: () => act.scrub(Math.max(0, at - 1)) } }, t("replay.back")),
      h("button", { type: "button", class: "do lit primary", "aria-pressed": playing ? "true" : "false", on: { click: act.playReplay } }, playing ? t("replay.pause") : t("replay.play")),
      h("button", { type: "button", class: "do lit", on: { click: () => act.scrub(Math.min(steps.length - 1, at + 1)) } }, t("replay.next"))),
  ];
}

export const PANELS = { scores, shuffle, talk, rules, settings: settingsPanel, keys, replay };

export function panel(name, S, act) {
  if (name === "replay" && !S.replay) return null;
  return h("aside", { class: `panel panel-${name}`, key: `panel-${name}`, "aria-label": t(`panel.${name}`) },
    h("div", { class: "panel-head" }, h("h2", { tabindex: -1 }, t(name === "shuffle" ? "shuffle.title" : `panel.${name}`)),
      h("button", { type: "button", class: "icon-button", "aria-label": t("panel.close"), on: { click: act.close } }, icon("close"))),
    h("div", { class: "panel-body" }, ...PANELS[name](S, act)));
}

// --- questions ----------------------------------------------------------------------------------------------------------

export function chooser(S, act) {
  const asking = S.asking;
  if (!asking) return null;
  return h("dialog", { class: "ask", key: "ask", "aria-labelledby": "ask-title", on: { cancel: (event) => { event.preventDefault(); act.dismiss(); } } },
    h("h2", { id: "ask-title" }, asking.title),
    asking.grid ? placeGrid(asking.grid, act) : h("div", { class: "choices" }, ...asking.choices.map((item, at) =>
      h("button", { key: at, type: "button", class: "choice-card", "aria-label": item.words ? `${item.label}: ${item.words}` : item.label, on: { click: () => act.answer(item) } },
        h("span", { class: "choice-cards", "aria-hidden": "true" }, ...item.cards.map((card, place) => h("span", { key: `${place}${card}`, class: `card small ${item.jokers[place] ? "stands" : ""}` }, picture(card.length === 1 ? "X1" : card, { small: true }), card.length === 1 ? h("span", { class: "as" }, card) : null))),
        h("span", { class: "choice-label" }, item.label)))),
    h("button", { type: "button", class: "do lit", on: { click: act.dismiss } }, t("ask.back")));
}

/** Any card that a joker may be named as; the first row is a rank alone, for a group. */
function placeGrid(run, act) {
  const pick = (place, label, words) => h("button", { key: place, type: "button", class: `place ink-${place[1] || "X"}`, "aria-label": words, on: { click: () => act.answer({ run: () => run(place) }) } }, label);
  return h("div", { class: "places" },
    h("div", { class: "place-row", role: "group", "aria-label": t("ask.group") }, ...[...RANKS].map((rank) => pick(rank, rank === "T" ? "10" : rank, t(`rank.${rank}`)))),
    ...[...SUITS].map((suit) => h("div", { key: suit, class: "place-row", role: "group", "aria-label": t(`suit.${suit}`) },
      ...[...RANKS].map((rank) => pick(rank + suit, `${rank === "T" ? "10" : rank}${{ S: "♠", H: "♥", D: "♦", C: "♣" }[suit]}`, cardWords(rank + suit))))));
}
