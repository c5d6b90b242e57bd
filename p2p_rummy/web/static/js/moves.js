// Moves as text, and which of the legal ones a selection means. No rules here: everything compares with `view.legal`.

/** "lay X1=8H on 2" -> {text, verb: "lay", cards: ["X1"], as: {X1: "8H"}, on: "2", groups: [["X1"]]}. */
export function parse(text) {
  const [verb, ...words] = text.split(" ");
  const move = { text, verb, cards: [], as: {}, on: "", groups: [[]] };
  for (let at = 0; at < words.length; at++) {
    if (words[at] === "on") { move.on = words[at + 1]; break; }
    if (words[at] === "double") { move.double = true; continue; } // R179: the dealer's joker on this meld
    if (words[at] === "+") { move.groups.push([]); continue; }
    const [card, as] = words[at].split("=");
    move.cards.push(card);
    move.groups[move.groups.length - 1].push(card);
    if (as) move.as[card] = as;
  }
  return move;
}

const parsed = new Map();
export function parseAll(texts) {
  return texts.map((text) => {
    if (!parsed.has(text)) {
      if (parsed.size > 5000) parsed.clear();
      parsed.set(text, parse(text));
    }
    return parsed.get(text);
  });
}

const sameCards = (cards, wanted) => cards.length === wanted.size && cards.every((card) => wanted.has(card));

/** What the selected hand cards (and `lent`, the dealer's joker, if it is among them) may do now: {meld: [...], lay: {id: [...]}, discard: move | null, others: [...]}. */
export function meanings(legal, selected, lent = "") {
  const found = { meld: [], lay: {}, discard: null, others: [] };
  if (!selected.size) return found;
  for (const move of legal) {
    if (move.verb === "lay") {
      if (selected.size >= 1 && move.cards.every((card) => selected.has(card)) && move.cards.length === 1) {
        (found.lay[move.on] ||= []).push(move);
      }
    } else if (sameCards(move.double ? [...move.cards, lent] : move.cards, selected)) {
      if (move.verb === "meld") found.meld.push(move);
      else if (move.verb === "discard") found.discard = move;
      else if (move.verb !== "take") found.others.push(move);
    }
  }
  if (found.meld.length && selected.size > 1) found.lay = {}; // one button for one meaning
  return found;
}

const ASKED_BY_CARDS = new Set(["draw", "take", "meld", "lay", "discard", "rummy"]);

/** Moves with a button of their own: pass, untake, bets and bids, whatever a game has beside the five usual ones.
    What names cards of the hand waits until they are selected, unless there is little to choose; what names a card of the
    pile waits until that is picked. */
export function plainMoves(legal, hand, pile, pick) {
  const own = new Set(hand);
  const inPile = new Set(pile);
  const rest = legal.filter((move) => !ASKED_BY_CARDS.has(move.verb));
  const few = rest.length <= 6;
  return rest.filter((move) => (few || !move.cards.some((card) => own.has(card))) && move.cards.every((card) => !inPile.has(card) || card === pick));
}

/** The move that takes from `card` up, if it is legal. */
export function takeOf(legal, card) {
  return legal.find((move) => move.verb === "take" && move.cards[0] === card) || null;
}

/** A call in words of the notation. `as`: what each joker stands for. */
export function callText(cards, as, on) {
  const written = cards.map((card) => (as[card] ? `${card}=${as[card]}` : card));
  return `rummy ${written.join(" ")}${on ? ` on ${on}` : ""}`;
}
