// Live parts, forms and keys of the screens. Every screen can be read without this script.
//
// A part with `data-live` and an id is replaced by its newer version when the server reports a change: the page is
// requested again and parsed, its scripts never run. A form with `data-post` sends its fields as JSON; when the response is
// a page, its parts are swapped in, else this page is requested again.

const body = document.body;
const message = document.getElementById("message");
const seen = new Map();
const LIVE = "[data-live][id]";
const LOST_AFTER = 5000;

function say(words) {
  message.textContent = words;
  message.hidden = !words;
}

// Swapping parts

function remember() {
  for (const part of document.querySelectorAll(LIVE)) seen.set(part.id, part.innerHTML);
}

function isInUse(part) {
  const chosen = getSelection();
  const writes = part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
  const marks = !chosen.isCollapsed && part.contains(chosen.anchorNode);
  return writes || marks || part.dataset.changed === "yes" || part.querySelector("figure:hover") !== null;
}

function replace(old, next) {
  const focus = old.contains(document.activeElement) ? document.activeElement.id : null;
  const open = [...old.querySelectorAll("details[open][id]")].map((details) => details.id);
  const places = [...old.querySelectorAll(".wide")].map((part) => part.scrollLeft);
  seen.set(old.id, next.innerHTML);
  old.replaceWith(document.adoptNode(next));
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  next.querySelectorAll(".wide").forEach((part, place) => { part.scrollLeft = places[place] ?? 0; });
  if (focus !== null) (document.getElementById(focus) ?? document.getElementById("main")).focus({ preventScroll: true });
}

function swap(html, which, force = false) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const old of document.querySelectorAll(which)) {
    const next = fresh.getElementById(old.id);
    const changed = next !== null && next.innerHTML !== seen.get(old.id);
    if (changed && (force || !isInUse(old))) replace(old, next);
  }
}

// Requesting the page again

const SOON = 1;
const AT_ONCE = 2;
let asking = false;
let missed = 0;
let answered = 0;

async function refresh(force = false) {
  if (asking) {
    missed = Math.max(missed, force ? AT_ONCE : SOON);
    return;
  }
  asking = true;
  try {
    const response = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (response.ok) swap(await response.text(), LIVE, force);
    else say(await complaint(response));
  } catch {
    say(message.dataset.lost);
  } finally {
    asking = false;
    answered = performance.now();
    const then = missed;
    missed = 0;
    if (then === AT_ONCE) refresh(true);
    else if (then === SOON) soon();
  }
}

let planned = null;

function soon() {
  const wait = Math.max(0, answered + Number(body.dataset.pace) - performance.now());
  planned ??= setTimeout(() => {
    planned = null;
    refresh();
  }, wait);
}

async function complaint(response) {
  if ((response.headers.get("content-type") ?? "").includes("json")) return (await response.json()).error;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  return page.querySelector("main .strange")?.textContent ?? `${response.status}`;
}

// Server-sent events, while the page is visible

let source = null;
let silent = null;

function listen() {
  source = new EventSource(body.dataset.events);
  source.addEventListener("status", () => {
    connected();
    soon();
  });
  source.addEventListener("open", connected);
  source.addEventListener("error", () => {
    silent ??= setTimeout(() => say(message.dataset.lost), LOST_AFTER);
  });
}

function connected() {
  if (silent !== null) {
    clearTimeout(silent);
    silent = null;
    say("");
  }
}

function follow() {
  if (document.hidden) {
    source?.close();
    source = null;
  } else if (source === null) {
    listen();
    refresh();
  }
}

// Forms

function value(field) {
  if (field.value === "true" || field.value === "false" || field.value === "null") return JSON.parse(field.value);
  return field.type === "number" ? field.valueAsNumber : field.value;
}

function fields(form, button) {
  const sent = form.dataset.url === undefined ? {} : { url: form.dataset.url };
  const named = [...form.querySelectorAll("input[name], select[name]")];
  for (const field of button?.name ? [...named, button] : named) {
    if (field.value !== "") sent[field.name] = value(field);
    else if (form.dataset.empty === "null") sent[field.name] = null;
  }
  const isLabel = form.dataset.url !== undefined && form.dataset.post.startsWith("/api/");
  return isLabel ? { labels: [sent] } : sent;
}

async function send(form, button) {
  if (form.ariaBusy === "true") return;
  form.ariaBusy = "true";
  say("");
  try {
    const response = await fetch(form.dataset.post, {
      method: form.dataset.method ?? "POST",
      headers: { "Content-Type": "application/json", Accept: "text/html, application/json" },
      body: JSON.stringify(fields(form, button)),
    });
    if (!response.ok) say(await complaint(response));
    else await took(response, form);
  } catch {
    say(message.dataset.lost);
  } finally {
    form.ariaBusy = "false";
  }
}

async function took(response, form) {
  for (const part of document.querySelectorAll("[data-changed]")) delete part.dataset.changed;
  if ((response.headers.get("content-type") ?? "").includes("html")) {
    swap(await response.text(), `${LIVE}, [data-swap]`, true);
  } else {
    await response.text();
    form.reset();
    await refresh(true);
  }
}

document.addEventListener("submit", (event) => {
  if (event.target.dataset.post === undefined) return;
  event.preventDefault();
  send(event.target, event.submitter);
});

document.addEventListener("input", (event) => {
  const part = event.target.closest("[data-live]");
  if (part !== null) part.dataset.changed = "yes";
});

// Keys

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.matches("input, select, textarea")) return;
  const wanted = [...document.querySelectorAll("[data-key]")].find((each) => each.dataset.key === event.key);
  if (wanted === undefined || wanted.disabled) return;
  event.preventDefault();
  wanted.click();
});

// Charts show the figures of the hovered point

document.addEventListener("pointermove", (event) => {
  const chart = event.target.closest?.("svg.chart");
  const line = chart?.parentElement.querySelector(".hint-line");
  if (!line) return;
  const away = (hint) => {
    const box = hint.getBoundingClientRect();
    return Math.abs(box.left + box.width / 2 - event.clientX);
  };
  const hints = [...chart.querySelectorAll("[data-hint]")];
  if (hints.length === 0) return;
  const nearest = hints.reduce((best, hint) => (away(hint) < away(best) ? hint : best));
  for (const hint of hints) hint.classList.toggle("near", hint === nearest);
  line.textContent = nearest.dataset.hint;
});

remember();
if (body.dataset.events) {
  document.addEventListener("visibilitychange", follow);
  listen();
}
setInterval(() => {
  if (!document.hidden && document.querySelector("[data-growing]")) refresh();
}, 1000);
if (body.dataset.again) {
  setInterval(() => {
    if (!document.hidden) refresh();
  }, Number(body.dataset.again));
}
