// Fetches the page anew every two seconds while it is looked at, and puts in what
// has changed. Without it the page is the same, and shows news when it is reloaded.
"use strict";

const everyMs = 2000;
const state = document.getElementById("live");
const pause = document.getElementById("pause");
let paused = false;
let failed = 0;

// busy: somebody is at work in an element, who must not lose it.
function busy(element) {
  const selection = document.getSelection();
  return element.contains(document.activeElement) && document.activeElement !== document.body ||
    selection && !selection.isCollapsed && element.contains(selection.anchorNode);
}

function say(text, stale) {
  state.textContent = text;
  state.parentElement.classList.toggle("stale", stale);
}

async function refresh() {
  if (paused || document.hidden) {
    return;
  }
  try {
    const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(5 * everyMs) });
    const news = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!news.getElementById("live")) {
      throw new Error(answer.statusText);
    }
    for (const old of document.querySelectorAll("[data-live]")) {
      const next = news.getElementById(old.id);
      if (next && !busy(old) && old.innerHTML !== next.innerHTML) {
        const lists = old.querySelectorAll(".wide, .events");
        const at = Array.from(lists, (list) => [list.scrollLeft, list.scrollTop]);
        old.innerHTML = next.innerHTML;
        old.querySelectorAll(".wide, .events").forEach((list, i) => {
          [list.scrollLeft, list.scrollTop] = at[i] || [0, 0];
        });
      }
    }
    failed = 0;
    say(news.getElementById("live").textContent, false);
  } catch (error) {
    failed++;
    say("no news for " + Math.round(failed * everyMs / 1000) + " s: " + error.message, true);
  }
}

async function follow() {
  for (;;) {
    await new Promise((next) => setTimeout(next, everyMs));
    await refresh();
  }
}

if (state && pause) {
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", String(paused));
    pause.textContent = paused ? "Go on" : "Pause";
  });
  follow();
}
