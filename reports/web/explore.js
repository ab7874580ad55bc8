/* The page of `asif explore`: the world at the address of the page, and ways to other worlds.
   Rule of this file: the state of the page is its address, #SCOPE/3.0.12. */
"use strict";
(function (asif) {
  const html = asif.html;
  const {useLayoutEffect, useRef, useState} = window.preactHooks;

  const ENDED = "asif explore does not answer: it has ended.";

  /* The answer of the server; each browser has its own words for a server that is gone. */
  async function ask(path, given) {
    let response;
    try { response = await fetch(path + "?" + new URLSearchParams(given || {})); } catch { throw new Error(ENDED); }
    const answer = await response.json();
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  /* The scope and the run of the address. */
  function here() {
    const [scope, ...rest] = location.hash.replace(/^#/, "").split("/");
    const run = rest.join("/");
    let name = "";
    try { name = decodeURIComponent(scope || ""); } catch { name = scope; }
    return {scope: name, run: run || ""};
  }

  const hash = (scope, run) => "#" + encodeURIComponent(scope) + "/" + run;
  const choices = (run) => (run ? run.split(".") : []);

  /* Go to a place, whose entry of the history knows the place before it. */
  function go(to) {
    const {scope, run} = here();
    location.hash = to;
    history.replaceState({before: hash(scope, run)}, "");
  }

  /* Go to the place before: back, where the history has it as its last entry. */
  function undo(before) {
    if (history.state && history.state.before === before) history.back();
    else go(before);
  }

  function Bar({scopes, place, world, busy, onShortest}) {
    const begin = hash(place.scope, ""), back = hash(place.scope, choices(place.run).slice(0, -1).join("."));
    const file = (path) => path + "?" + new URLSearchParams(place);
    return html`<div class="ex-bar" role="group" aria-label="Run">
      <label>Scope <select value=${place.scope} onChange=${(event) => go(hash(event.target.value, ""))}>
        ${scopes.scopes.map((one) => html`<option key=${one.name} value=${one.name}
          selected=${one.name === place.scope}>${one.name}${one.expect === "refuted" ? " (refuted)" : ""}</option>`)}
      </select></label>
      <button type="button" disabled=${!place.run} onClick=${() => undo(back)}>Undo</button>
      <button type="button" disabled=${!place.run} onClick=${() => go(begin)}>Begin again</button>
      <button type="button" disabled=${busy} onClick=${onShortest}>Shortest counterexample</button>
      ${world && place.run && html`<a href=${file("/run.json")} download>Save as JSON</a>
        <a href=${file("/test.py")} download>Save as a test</a>`}
    </div>`;
  }

  /* Look at the world of the address, and again when it changes. */
  function usePlace(scopes) {
    const [place, setPlace] = useState(here()), [world, setWorld] = useState(null), [error, setError] = useState("");
    const asked = useRef(0);
    useLayoutEffect(function () {
      const move = () => setPlace(here());
      window.addEventListener("hashchange", move);
      return () => window.removeEventListener("hashchange", move);
    }, []);
    useLayoutEffect(function () {
      if (!scopes) return;
      if (!place.scope) { location.replace(hash(scopes.first, place.run)); return; }
      const number = ++asked.current;
      ask("/world", place).then(
        (found) => { if (number === asked.current) { setWorld(found); setError(""); } },
        (problem) => { if (number === asked.current) { setWorld(null); setError(problem.message); } });
    }, [scopes, place.scope, place.run]);
    return {place, world: world && world.scope === place.scope ? world : null, error};
  }

  function Walk({world}) {
    const [at, setAt] = useState(null), last = world.run.steps.length - 1, title = useRef(null);
    useLayoutEffect(() => setAt(null), [world]);
    const now = at === null ? last : at;
    const link = (n) => hash(world.scope, world.address.slice(0, n).join("."));
    function choose(choice) {
      go(hash(world.scope, world.address.concat(choice).join(".")));
      title.current.focus();
    }
    return html`<div class="ex-columns"><section><h2 tabindex="-1" ref=${title}>What happens next?</h2>
        ${now === last ? html`<${asif.Choices} world=${world} onChoose=${choose} />`
          : html`<p class="ex-past">Below you look at step ${now} of this run. <a href=${link(now)}>Go on from step ${now}</a></p>`}
      </section><${asif.Promises} world=${world} /></div>
      <h2>The run so far</h2>
      <${asif.Stepper} run=${world.run} at=${now} onStep=${setAt} link=${link} />`;
  }

  /* The search for a shortest counterexample, and its answer.  The answer moves nobody who has gone
     elsewhere meanwhile; it is shown in its scope alone, until the place changes. */
  function useSearch(place) {
    const [busy, setBusy] = useState(false), [said, setSaid] = useState({});
    function search() {
      const {scope} = place, asked = hash(scope, place.run);
      const answer = (text, at, to) => setSaid({text, at, to});
      setBusy(true);
      setSaid({text: `Searching “${scope}”, for half a minute at most…`});
      ask("/shortest", {scope}).then(function (found) {
        const now = here(), at = hash(now.scope, now.run);
        const to = found.address ? hash(scope, found.address.join(".")) : at;
        if (now.scope !== scope) setSaid({});
        else if (at === asked) { answer(found.says, to, to); if (to !== at) go(to); }
        else answer(found.says, at, to);
      }, (problem) => answer(problem.message, asked, asked)).then(() => setBusy(false));
    }
    const at = hash(place.scope, place.run);
    const shown = busy || said.at === at ? said : {};
    return {busy, search, said: html`${shown.text}${shown.to && shown.to !== at
      && html` <a href=${shown.to}>Go to its end</a>`}`};
  }

  function Page() {
    const [scopes, setScopes] = useState(null), [lost, setLost] = useState("");
    useLayoutEffect(() => { ask("/scopes").then(setScopes, (problem) => setLost(problem.message)); }, []);
    const {place, world, error} = usePlace(scopes), {busy, search, said} = useSearch(place);
    useLayoutEffect(() => { document.title = `${scopes ? scopes.protocol : "asif"}: step ${choices(place.run).length}`; });
    if (!scopes) return html`<p class=${lost ? "ex-error" : ""}>${lost || "Asking asif…"}</p>`;
    return html`<h1>${scopes.protocol}</h1><p class="ex-title">${scopes.title}</p>
      <${Bar} scopes=${scopes} place=${place} world=${world} busy=${busy} onShortest=${search} />
      <p class="ex-note" role="status">${said}</p>
      ${error && html`<p class="ex-error" role="alert">${error} <a href=${hash(scopes.first, "")}>Begin</a></p>`}
      ${world && html`<${Walk} world=${world} />`}`;
  }

  const root = document.getElementById("page");
  root.textContent = "";
  window.preact.render(html`<${Page} />`, root);
})(window.asif);
