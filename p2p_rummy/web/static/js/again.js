// Which of the views that came is the last turn of somebody else.  Several moves may come in one view.

const isDoing = (item) =>
  (item.kind === "move_made" && item.text !== "pass") || (item.kind === "ruled" && item.winner !== null && item.winner !== undefined);

/** What changed the table, of all that happened. */
export const doings = (happened) => happened.filter(isDoing);

export const doer = (item) => (item.kind === "ruled" ? item.winner : item.seat);

/**
 * The last turn of a seat other than `me` in `history`, a list of {view, happened}: {seat, start, end}, where the views
 * start..end show it and the view before start is the table as it was.  Null if there is none.
 */
export function lastTurn(history, me) {
  for (let end = history.length - 1; end > 0; end--) {
    const others = doings(history[end].happened).filter((item) => doer(item) !== me);
    if (!others.length) continue;
    const seat = doer(others.at(-1));
    let start = end;
    for (let at = end; at > 0; at--) {
      const done = doings(history[at].happened);
      // A view that shows the end of another's turn as well is where this one begins, if anything of it came later.
      if (done.some((item) => doer(item) !== seat)) break;
      if (done.length) start = at;
    }
    return { seat, start, end };
  }
  return null;
}
