// A card under the finger or the mouse. A short press selects; a longer way drags: along the hand to reorder, to a
// meld to lay off, to the own side to meld, to the pile to discard.

const THRESHOLD = 7;

export function grab(event, card, S, act, render) {
  if (event.button !== 0 || S.again || S.replay) return;
  const source = event.currentTarget;
  const start = { x: event.clientX, y: event.clientY };
  const box = source.getBoundingClientRect();
  let ghost = null;
  let cards = [card];
  let zone = null;

  source.setPointerCapture(event.pointerId);
  source.addEventListener("pointermove", onMove);
  source.addEventListener("pointerup", onUp);
  source.addEventListener("pointercancel", end);

  function onMove(now) {
    const dx = now.clientX - start.x;
    const dy = now.clientY - start.y;
    if (!ghost) {
      if (Math.hypot(dx, dy) < THRESHOLD) return;
      begin();
    }
    ghost.style.transform = `translate(${dx}px, ${dy}px)`;
    mark(zoneAt(now.clientX, now.clientY));
  }

  function begin() {
    cards = S.selected.has(card) ? S.order.cards.filter((one) => S.selected.has(one)) : [card];
    if (!S.selected.has(card)) { S.selected.clear(); S.selected.add(card); render(); }
    ghost = document.createElement("div");
    ghost.className = "dragged";
    for (const [at, one] of cards.entries()) {
      const model = document.querySelector(`[data-hand="${one}"]`);
      if (!model) continue;
      const copy = model.cloneNode(true);
      copy.removeAttribute("data-fly");
      copy.removeAttribute("data-hand");
      Object.assign(copy.style, { left: `${box.left + (at - cards.indexOf(card)) * 22}px`, top: `${box.top}px`, width: `${box.width}px`, height: `${box.height}px` });
      ghost.append(copy);
      model.classList.add("lifted");
    }
    document.getElementById("flying").append(ghost);
    document.body.classList.add("dragging");
  }

  function zoneAt(x, y) {
    for (const element of document.elementsFromPoint(x, y)) {
      const meld = element.closest("[data-meld]");
      if (meld && act.targets().has(meld.dataset.meld)) return { kind: "lay", id: meld.dataset.meld, element: meld };
      const place = element.closest(".pile-place");
      if (place && S.shown.public.phase !== "draw") return { kind: "discard", element: place };
      const other = element.closest("[data-hand]");
      if (other) {
        const half = other.getBoundingClientRect();
        return { kind: "order", card: other.dataset.hand, after: x > half.left + half.width / 2, element: other };
      }
      if (element.closest(".hand")) return { kind: "order", card: null, after: true, element: element.closest(".hand") };
      const mine = element.closest("[data-zone=meld]");
      if (mine) return { kind: "meld", element: mine };
    }
    return null;
  }

  function mark(next) {
    zone?.element.classList.remove("drop", "drop-after");
    zone = next;
    zone?.element.classList.add("drop");
    zone?.element.classList.toggle("drop-after", zone.kind === "order" && zone.after);
  }

  function end() {
    source.removeEventListener("pointermove", onMove);
    source.removeEventListener("pointerup", onUp);
    source.removeEventListener("pointercancel", end);
    mark(null);
    ghost?.remove();
    for (const element of document.querySelectorAll(".lifted")) element.classList.remove("lifted");
    document.body.classList.remove("dragging");
  }

  function onUp() {
    const dropped = zone;
    const dragged = ghost !== null;
    end();
    if (!dragged) { source.focus(); act.toggle(card); return; }
    if (!dropped) { render(); return; }
    if (dropped.kind === "lay") act.layCards(cards, dropped.id);
    else if (dropped.kind === "discard") act.discardCards(cards);
    else if (dropped.kind === "meld") act.meldCards(cards);
    else {
      const order = S.order.cards.filter((one) => !cards.includes(one));
      const at = dropped.card === null || cards.includes(dropped.card) ? null : dropped.after ? order[order.indexOf(dropped.card) + 1] ?? null : dropped.card;
      if (dropped.card !== null && cards.includes(dropped.card)) { render(); return; }
      if (cards.length === 1) S.selected.clear();
      act.reorder(cards, at);
    }
  }
}
