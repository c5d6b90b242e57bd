// A page as a function of its state: describe the elements wanted, and patch() changes what differs.
// Keyed children keep their element when they move, so focus stays and cards can be followed by motion.js.

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "use", "path", "g", "circle", "ellipse", "rect", "line", "polyline", "symbol", "defs", "text"]);

/** Describe an element. props: attributes; `key`; `on: {event: handler}`; `prop: {domProperty: value}`; `style: {css: value}`. */
export function h(tag, props, ...children) {
  return { tag, props: props || {}, children: children.flat(Infinity) };
}

const isThere = (child) => child !== null && child !== undefined && child !== false && child !== true;

/** Make the children of `parent` what `wanted` describes (strings or results of h). */
export function patch(parent, wanted) {
  wanted = wanted.filter(isThere);
  const old = [...parent.childNodes];
  const byKey = new Map();
  for (const node of old) if (node.pageKey !== undefined) byKey.set(node.pageKey, node);
  let spare = old.filter((node) => node.pageKey === undefined);
  const found = wanted.map((item) => {
    if (typeof item === "object" && item.props.key !== undefined) {
      const node = byKey.get(item.props.key);
      return node && node.pageTag === item.tag ? node : null;
    }
    const at = spare.findIndex((node) => fits(node, item));
    if (at < 0) return null;
    const node = spare[at];
    spare = spare.slice(at + 1);
    return node;
  });
  // What goes, goes first: then what stays is in its place already, and nothing is moved around it.
  const kept = new Set(found);
  for (const node of old) if (!kept.has(node)) node.remove();
  let place = parent.firstChild;
  for (const [at, item] of wanted.entries()) {
    const node = found[at] ?? create(item);
    if (found[at]) update(node, item);
    if (node !== place) parent.insertBefore(node, place);
    place = node.nextSibling;
  }
}

function fits(node, item) {
  return typeof item === "object" ? node.pageTag === item.tag : node.nodeType === Node.TEXT_NODE;
}

export function create(item) {
  if (typeof item !== "object") return document.createTextNode(String(item));
  const node = SVG_TAGS.has(item.tag) ? document.createElementNS(SVG, item.tag) : document.createElement(item.tag);
  node.pageTag = item.tag;
  node.pageProps = {};
  if (item.props.key !== undefined) node.pageKey = item.props.key;
  update(node, item);
  return node;
}

function update(node, item) {
  if (typeof item !== "object") {
    if (node.data !== String(item)) node.data = String(item);
    return;
  }
  const before = node.pageProps;
  const after = item.props;
  for (const name of Object.keys(before)) if (!(name in after)) setProp(node, name, undefined, before[name]);
  for (const [name, value] of Object.entries(after)) setProp(node, name, value, before[name]);
  node.pageProps = after;
  if (!after.opaque) patch(node, item.children);
}

function setProp(node, name, value, before) {
  if (name === "key" || name === "opaque") return;
  if (name === "on") {
    for (const event of Object.keys(before || {})) if (!value || !(event in value)) node.removeEventListener(event, dispatch);
    for (const event of Object.keys(value || {})) if (!before || !(event in before)) node.addEventListener(event, dispatch);
  } else if (name === "prop") {
    for (const [key, wanted] of Object.entries(value || {})) if (node[key] !== wanted) node[key] = wanted;
  } else if (name === "style") {
    for (const key of Object.keys(before || {})) if (!value || !(key in value)) node.style.removeProperty(key);
    for (const [key, wanted] of Object.entries(value || {})) if (!before || before[key] !== wanted) node.style.setProperty(key, wanted);
  } else if (value === undefined || value === null || value === false) {
    node.removeAttribute(name);
  } else if (before !== value) {
    node.setAttribute(name, value === true ? "" : value);
  }
}

// One listener for every event: the handler is looked up when it fires, so a new one needs no re-registration.
function dispatch(event) {
  const handler = this.pageProps.on && this.pageProps.on[event.type];
  if (handler) handler(event);
}
