// The table: seats, melds before whoever scores them, stock, pile, own hand. Draws a view; decides nothing.

import { h } from "./dom.js";
import { known, t } from "./i18n.js";
import { cardSigns, cardWords, picture, placeWords } from "./cards.js";
import { clockText, tOf } from "./words.js";
import { reactionIcon } from "./icons.js";
import { settings } from "./settings.js";

/** One card that lies on the table (not a control). */
export function cardBox(card, { as = "", small = false, fly = false, ghost = false, key, extra = "", label = true } = {}) {
  return h("span", {
    key: key ?? card,
    class: `card ${small ? "small" : ""} ${card ? "" : "hidden-face"} ${ghost ? "ghost" : ""} ${extra}`,
    "data-fly": fly && card ? card : undefined,
    role: label ? "img" : undefined,
    "aria-label": label ? cardWords(card, as) : undefined,
    "aria-hidden": label ? undefined : "true",
    title: label && card ? cardWords(card, as) : undefined,
  }, picture(card, { small, as }));
}

export function seatName(view, seat) {
  return view.facts.players[seat]?.name ?? t("seat.number", { number: seat + 1 });
}

export function seatColour(seat) {
  return `seat-${seat % 8}`;
}

// --- melds ------------------------------------------------------------------------------------------------------

/** The melds as they lie: for each seat the whole of its own melds, and the pieces it laid on others'. */
export function meldsBefore(view, seat) {
  const pieces = [];
  for (const meld of view.public.melds) {
    const own = meld.cards.filter((item) => item.seat === seat);
    if (meld.owner === seat) pieces.push({ meld, cards: meld.cards, whole: true });
    else if (own.length) pieces.push({ meld, cards: own, whole: false });
  }
  return pieces;
}

function meldLabel(view, meld) {
  const cards = meld.cards.map((item) => cardWords(item.card, item.as !== item.card ? item.as : "")).join(", ");
  return t(meld.kind === "run" ? "meld.run" : "meld.group", { id: meld.id, name: seatName(view, meld.owner), cards });
}

function meldPiece(S, act, { meld, cards, whole }, seat) {
  const view = S.shown;
  const target = whole && act.targets().get(String(meld.id));
  const owner = seatName(view, meld.owner);
  return h("div", {
    key: `${meld.id}-${whole ? "whole" : "piece"}`,
    class: `meld ${whole ? "whole" : "piece"} ${target ? "target" : ""}`,
    "data-meld": whole ? meld.id : undefined,
    role: "group",
    "aria-label": whole ? meldLabel(view, meld) : t("meld.piece", { id: meld.id, name: owner }),
  },
    h("span", { class: "meld-id", "aria-hidden": "true" }, whole ? `${meld.id}` : `→${meld.id}`),
    ...cards.map((item) => {
      const as = item.as && item.as !== item.card ? item.as : "";
      const ghost = whole && item.seat !== seat;
      return cardBox(item.card, { as, small: true, fly: !ghost, ghost, extra: ghost ? seatColour(item.seat) : "" });
    }),
    target ? h("button", { class: "meld-target", type: "button", on: { click: () => act.layOn(String(meld.id)) }, "aria-label": t("action.lay_here", { id: meld.id, name: owner }) },
      h("span", { "aria-hidden": "true" }, "＋")) : null);
}

function meldRow(S, act, seat) {
  const pieces = meldsBefore(S.shown, seat);
  return h("div", { class: "melds", key: "melds", "data-place": `melds-${seat}` }, ...pieces.map((piece) => meldPiece(S, act, piece, seat)));
}

// --- seats --------------------------------------------------------------------------------------------------------

function linkWords(player, facts) {
  if (!player) return "";
  const wait = facts.clock && facts.clock.seats.includes(player.seat) && player.link !== "here" ? facts.clock : null;
  if (player.link === "here") return "";
  const words = t(`link.${player.link}`);
  return wait ? `${words}, ${clockText(wait)}` : words;
}

function badges(S, seat) {
  const { public: open, facts } = S.shown;
  const player = facts.players[seat] || {};
  const extra = open.extra || {};
  return [
    open.dealer === seat ? h("span", { class: "badge", title: t("seat.dealer") }, t("seat.dealer")) : null,
    player.bot ? h("span", { class: "badge quiet" }, t("seat.bot", { level: known(`level.${player.bot}`) ? t(`level.${player.bot}`) : player.bot })) : null,
    (open.floating || []).includes(seat) ? h("span", { class: "badge" }, t("seat.floating")) : null,
    (open.out || []).includes(seat) ? h("span", { class: "badge warn" }, t("seat.out")) : null,
  ];
}

function bubble(S, seat) {
  const said = S.bubbles.get(seat);
  if (!said) return null;
  const muted = settings.muted.includes(S.shown.facts.players[seat]?.fingerprint);
  if (muted) return null;
  return h("div", { class: "bubble", key: "bubble", "aria-hidden": "true" }, said.reaction ? reactionIcon(said.reaction) : said.text);
}

function backs(view, seat) {
  const held = view.public.hands[seat] || [];
  const seen = held.filter((item) => item.card);
  const unseen = held.length - seen.length;
  const words = seen.length
    ? t("seat.cards_seen", { count: held.length, cards: seen.map((item) => cardWords(item.card)).join(", ") })
    : t("seat.cards", { count: held.length });
  return h("div", { class: "backs", key: "backs", "data-place": `seat-${seat}`, role: "img", "aria-label": words, title: words },
    ...Array.from({ length: Math.min(unseen, 13) }, (_, at) => cardBox("", { small: true, key: `back${at}`, label: false })),
    ...seen.map((item) => cardBox(item.card, { small: true, fly: true, label: false })),
    h("span", { class: "count" }, held.length));
}

function onTurn(view, seat) {
  return view.need.kind === "turn" && view.need.seats.includes(seat);
}

function seatPanel(S, act, seat) {
  const view = S.shown;
  const player = { ...(view.facts.players[seat] || {}), seat };
  const thinking = view.need.kind === "window" && view.need.seats.includes(seat);
  const state = linkWords(player, view.facts) || (onTurn(view, seat) ? turnClock(view, t("seat.on_turn")) : thinking ? t("seat.may_call") : "");
  return h("section", {
    key: `seat${seat}`,
    class: `seat ${seatColour(seat)} ${onTurn(view, seat) ? "on-turn" : ""} ${player.link && player.link !== "here" ? "away" : ""}`,
    "aria-label": player.name,
  },
    h("header", { class: "seat-head" },
      h("span", { class: "dot", "aria-hidden": "true" }),
      h("h2", { class: "seat-name" }, player.name || t("seat.number", { number: seat + 1 })),
      ...badges(S, seat),
      h("span", { class: `seat-state ${player.link && player.link !== "here" ? "warn" : ""}` }, state),
      score(view, seat)),
    h("div", { class: "seat-cards" }, backs(view, seat), meldRow(S, act, seat)),
    bubble(S, seat));
}

function score(view, seat) {
  const chips = view.public.extra?.chips;
  if (Array.isArray(chips)) return h("span", { class: "score chips" }, t("seat.chips", { count: chips[seat] }));
  const points = view.public.scores[seat] ?? 0;
  return h("span", { class: "score", title: t("seat.score") }, points < 0 ? `−${-points}` : points);
}

function turnClock(view, words) {
  const clock = view.facts.clock;
  return clock && clock.left_ms > 0 ? h("span", {}, words, " ", h("span", { class: "clock", "data-clock": clock.until }, clockText(clock))) : words;
}

// --- the middle ---------------------------------------------------------------------------------------------------

function stock(S, act) {
  const count = S.shown.public.stock;
  const may = act.may("draw") || act.mayAhead();
  return h("div", { class: "stock-place", key: "stock" },
    h("button", {
      type: "button", class: `stock ${may ? "may" : ""}`, "data-place": "stock", "aria-disabled": may ? undefined : "true",
      "aria-label": t("stock.label", { count }), on: { click: act.draw },
    },
      ...Array.from({ length: Math.min(3, Math.ceil(count / 12)) }, (_, at) => h("span", { class: `card under under-${at}`, key: `under${at}`, "aria-hidden": "true" }, picture(""))),
      count ? h("span", { class: "card", key: "top", "aria-hidden": "true" }, picture("")) : h("span", { class: "card empty", key: "none" })),
    h("p", { class: "caption" }, t("stock.caption", { count })));
}

function pile(S, act) {
  const cards = S.shown.public.discard;
  const from = S.pick !== null ? cards.indexOf(S.pick) : -1;
  const hover = S.hover !== null ? cards.indexOf(S.hover) : -1;
  const edge = hover >= 0 ? hover : from;
  const calling = S.calling;
  return h("div", { class: `pile-place ${calling ? "calling" : ""}`, key: "pile" },
    h("div", {
      class: "pile", role: "listbox", "aria-label": t("pile.label", { count: cards.length }), "aria-multiselectable": calling ? "true" : "false",
      "data-place": "pile", on: { keydown: act.rove, pointerleave: () => act.hover(null) },
    },
      ...cards.map((card, at) => {
        const chosen = calling ? calling.cards.has(card) : S.pick === card;
        const brought = !calling && edge >= 0 && at >= edge;
        return h("div", {
          key: card, class: `card small ${brought ? "brought" : ""} ${chosen ? "chosen" : ""} ${at === cards.length - 1 ? "top" : ""}`,
          role: "option", "aria-selected": chosen ? "true" : "false", "data-fly": card, "data-pile": card,
          tabindex: at === cards.length - 1 ? 0 : -1, "aria-label": cardWords(card),
          on: {
            click: () => act.pickPile(card), dblclick: () => act.takeFrom(card), pointerenter: (event) => event.pointerType === "mouse" && act.hover(card),
            focus: (event) => event.target.matches(":focus-visible") && act.hover(card), blur: () => act.hover(null),
          },
        }, picture(card, { small: true }));
      }),
      cards.length ? null : h("span", { class: "card small empty", key: "none", role: "presentation" })),
    h("p", { class: "caption", "aria-live": "off" }, pileCaption(S, act, cards, edge)));
}

function pileCaption(S, act, cards, edge) {
  if (S.calling) return t("call.choose");
  if (edge < 0) return t("pile.caption", { count: cards.length });
  const brought = cards.slice(edge);
  const list = brought.map((card) => cardSigns(card)).join(" ");
  const note = act.takeNote(cards[edge]);
  return h("span", {}, t("pile.brings", { count: brought.length, cards: list }), note ? ` ${note}` : "");
}

// Rummoli has a board in the middle: pots, what was shown and bid, and the cards in the order they were played.

function board(S) {
  const view = S.shown;
  const extra = view.public.extra;
  const said = [
    ...(view.public.phase === "bet" && extra.betting && extra.betting.level ? [t("rummoli.bet", { level: extra.betting.level })] : []),
    ...(view.public.phase === "auction" ? extra.bids || [] : []).map(([seat, amount]) => (amount ? tOf(view, seat, "rummoli.bid", { count: amount }) : "")).filter(Boolean),
    ...(extra.shown || []).map((item) => tOf(view, item.seat, "rummoli.shown", { cards: item.cards.map((card) => cardSigns(card)).join(" "), hand: known(`poker.${item.hand}`) ? t(`poker.${item.hand}`) : item.hand })),
    ...(extra.due && view.public.phase === "follow" ? [t("rummoli.due", { card: cardSigns(extra.due) })] : []),
    ...(extra.colour ? [t("rummoli.colour", { colour: t(`rummoli.${extra.colour}`) })] : []),
    ...(extra.faults || []).map((fault) => tOf(view, fault.seat, "rummoli.fault", { rule: fault.rule })),
  ];
  const played = extra.played || [];
  return h("div", { class: "board", key: "board" },
    h("ul", { class: "pots", "aria-label": t("pots.label") },
      ...Object.entries(extra.pots || {}).map(([name, chips]) => h("li", { key: name, class: `pot pot-${name.toLowerCase().replace(/[^a-z0-9]/g, "-")}` },
        h("span", { class: "pot-name" }, name.split("+").map((part) => (/^[A2-9TJQK][SHDC]$/.test(part) ? cardSigns(part) : known(`pot.${part}`) ? t(`pot.${part}`) : part)).join(" ")),
        h("span", { class: "pot-chips" }, chips)))),
    h("div", { class: "board-side" },
      h("ul", { class: "said" }, ...said.map((line, at) => h("li", { key: `${at}` }, line))),
      h("div", { class: "pile played", "data-place": "pile", role: "group", "aria-label": t("rummoli.played", { count: played.length }) },
        ...played.map(([seat, card]) => h("span", { key: card, class: `card small played-card ${seatColour(seat)}`, "data-fly": card, role: "img", "aria-label": `${cardWords(card)}, ${seatName(view, seat)}` }, picture(card, { small: true }))))));
}

function dealersJoker(S, act) {
  const view = S.shown;
  const joker = view.public.extra?.dealers_joker;
  if (!joker) return null;
  const mine = view.me === view.public.dealer && joker.effect && !joker.used && !joker.blocked;
  const state = joker.blocked ? "blocked" : joker.used ? "used" : joker.effect || "unnamed";
  return h("div", { class: "lent", key: "lent" },
    h("button", { type: "button", class: `card ${S.selected.has(joker.card) ? "chosen" : ""}`, "aria-disabled": mine ? undefined : "true", "aria-pressed": S.selected.has(joker.card) ? "true" : "false", "aria-label": t("lent.label"), on: { click: () => mine && act.toggle(joker.card) } },
      picture(joker.blocked ? "" : joker.card)),
    h("p", { class: "caption" }, t(`lent.${state}`)));
}

// --- own hand -----------------------------------------------------------------------------------------------------

export function hand(S, act) {
  const view = S.shown;
  const { cards, fresh } = S.order;
  const held = new Set(view.hand.map((item) => item.card));
  const shown = cards.filter((card) => held.has(card));
  const blank = view.hand.filter((item) => !item.card).length;
  return h("div", {
    class: `hand ${size(shown.length + blank)}`, key: "hand", role: "listbox", "aria-multiselectable": "true", "aria-label": t("hand.label", { count: shown.length }),
    "data-place": "hand", on: { keydown: act.rove },
  },
    ...shown.flatMap((card, at) => {
      const chosen = S.selected.has(card);
      // On a narrow page a hand of more than eight lies in two rows of about the same length.
      const turn = shown.length > 8 && at === Math.ceil(shown.length / 2) ? h("span", { key: "turn", class: "row-turn", role: "presentation" }) : null;
      return [turn, h("div", {
        key: card, class: `card ${chosen ? "chosen" : ""} ${fresh.has(card) ? "fresh" : ""} ${view.public.must_use === card ? "must" : ""}`,
        role: "option", "aria-selected": chosen ? "true" : "false", tabindex: S.focus === card || (S.focus === null && at === 0) ? 0 : -1,
        "aria-label": [cardWords(card), fresh.has(card) ? t("hand.new") : "", view.public.must_use === card ? t("hand.must") : ""].filter(Boolean).join(", "),
        "data-fly": card, "data-hand": card, on: { pointerdown: (event) => act.grab(event, card), focus: () => act.focusOn(card) },
      }, picture(card), fresh.has(card) ? h("span", { class: "new-mark", "aria-hidden": "true" }, t("hand.new")) : null)];
    }),
    ...Array.from({ length: blank }, (_, at) => h("span", { class: "card", key: `blank${at}`, role: "presentation" }, picture(""))));
}

function size(count) {
  return count <= 5 ? "tiny" : count <= 9 ? "few" : count <= 13 ? "some" : count <= 20 ? "many" : "crowd";
}

// --- the whole ------------------------------------------------------------------------------------------------------

export function felt(S, act) {
  const view = S.shown;
  const seats = view.public.seats;
  const me = view.me;
  const others = Array.from({ length: seats }, (_, step) => ((me ?? -1) + 1 + step) % seats).filter((seat) => seat !== me);
  return h("main", { class: `felt seats-${others.length}`, key: "felt", id: "table" },
    h("div", { class: `others count-${others.length}`, key: "others" }, ...others.map((seat) => seatPanel(S, act, seat))),
    h("div", { class: "centre", key: "centre" }, S.game.plain ? board(S) : [stock(S, act), dealersJoker(S, act), pile(S, act)]),
    me === null ? null : h("section", { class: `mine seat ${seatColour(me)} ${onTurn(view, me) ? "on-turn" : ""}`, key: "mine", "aria-label": t("seat.mine"), "data-place": `seat-${me}` },
      h("header", { class: "seat-head" },
        h("span", { class: "dot", "aria-hidden": "true" }),
        h("h2", { class: "seat-name" }, t("seat.me", { name: seatName(view, me) })),
        ...badges(S, me),
        score(view, me)),
      S.game.plain ? null : h("div", { class: `meld-zone ${act.canMeld() ? "may" : ""}`, "data-zone": "meld" },
        meldRow(S, act, me),
        meldsBefore(view, me).length ? null : h("p", { class: "caption" }, t("meld.none"))),
      bubble(S, me)));
}

export { placeWords };
