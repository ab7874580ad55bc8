/* The actions that may come next, and the state of the promises of a protocol.
   Rule of this file: it shows a world of `asif explore` (model/results/explored.py) and asks nothing. */
"use strict";
(function (asif) {
  const html = asif.html;
  const KINDS = [["node", "A node acts"], ["outside", "The outside world acts"], ["fault", "A fault strikes"]];

  /* The crashes that may come after `after` effects, each a button. */
  function Here({crashes, after, onChoose}) {
    return crashes.filter((one) => one.after === after).map((one) => html`<li class="ex-here" key=${one.choice}>
      <button type="button" data-choice=${one.choice} title=${one.point} onClick=${() => onChoose(one.choice)}>✕ crash
        ${(one.with || []).length > 0 && ` with ${one.with.join(", ")}`} here</button></li>`);
  }

  /* The effects of a step in order, with a place for a crash between any two of them, or the reason
     why there is none. */
  function Effects({choice, onChoose}) {
    const effects = choice.effects || [], crashes = choice.crashes || [];
    if (!effects.length) return null;
    const count = `${effects.length} effect${effects.length === 1 ? "" : "s"}`;
    const places = new Set(crashes.map((one) => one.after)).size;
    return html`<details><summary>${count}, ${places || "no"} place${places > 1 ? "s" : ""} for a crash</summary>
      <ol class="ex-effects">${effects.map((text, at) => html`<${Here} crashes=${crashes} after=${at} onChoose=${onChoose} />
        <li key=${"e" + at}>${text}</li>`)}</ol>
      ${choice.refused && html`<p class="ex-note">${choice.refused}</p>`}</details>`;
  }

  function Choice({choice, onChoose}) {
    const alone = !(choice.effects || []).length && !choice.fails;
    const kinds = ["ex-choice", alone ? "ex-alone" : "", choice.kind === "fault" ? "ex-fault" : ""];
    return html`<li class=${kinds.join(" ")}>
      <button type="button" data-choice=${choice.choice} onClick=${() => onChoose(choice.choice)}>${choice.says}</button>
      ${choice.fails && html`<p class="ex-fails">This step fails: ${choice.fails}</p>`}
      <${Effects} choice=${choice} onChoose=${onChoose} /></li>`;
  }

  /* The number of choices of a kind that stand there at once. */
  const MOST = 30;

  /* Props: world, onChoose(place). */
  function Choices({world, onChoose}) {
    const groups = KINDS.map(([kind, title]) => [title, world.choices.filter((one) => one.kind === kind)]);
    const list = (some) => html`<ul class="ex-group">${some.map((one) =>
      html`<${Choice} key=${one.choice} choice=${one} onChoose=${onChoose} />`)}</ul>`;
    if (!world.choices.length) {
      const fails = world.run.steps.some((one) => one.fails);
      return html`<p>${fails ? "A step has failed, and ends the run here." : "Nothing more can happen."}</p>`;
    }
    return groups.map(([title, some]) => some.length > 0 && html`<h3>${title}</h3>
      ${list(some.slice(0, MOST))}
      ${some.length > MOST && html`<details><summary>${some.length - MOST} more</summary>${list(some.slice(MOST))}</details>`}`);
  }

  function Promise_({one}) {
    const kind = one.holds === true ? "ex-holds" : one.holds === false ? "ex-broken" : "ex-open";
    const word = one.holds === true ? "holds" : one.holds === false ? "violated" : one.fails ? "no answer" : "judged at rest";
    return html`<li class=${kind}>${one.name}: <b>${word}</b>${one.fails && html` <span class="ex-fails">${one.fails}</span>`}</li>`;
  }

  /* Props: world. */
  function Promises({world}) {
    const left = world.left, many = (n, word) => `${n} ${word}${n === 1 ? "" : /s$|sh$/.test(word) ? "es" : "s"}`;
    const faults = [many(left.crashes, "crash")];
    if (left.early) faults.push(`${left.early} early time-out${left.early === 1 ? "" : "s"}`);
    if (left.disturbances) faults.push(`${left.disturbances} link fault${left.disturbances === 1 ? "" : "s"}`);
    return html`<aside class="ex-state" aria-label="State of the promises"><h2>This state</h2>
      <p class=${world.broken ? "ex-verdict ex-bad" : "ex-verdict"}>${world.broken
        ? html`<b>Step ${world.broken_in} violates a property:</b> ${world.broken}.` : world.rests ? "At rest: no node does anything by itself." : "Not at rest."}</p>
      ${world.guarantee && html`<p>Guarantee of this run: <b>${world.guarantee}</b> (${world.everyday}).</p>`}
      <ul>${world.properties.map((one) => html`<${Promise_} key=${one.name} one=${one} />`)}</ul>
      <p class="ex-note">Left: ${faults.join(", ")}. ${left.refused}</p></aside>`;
  }

  Object.assign(asif, {Choices, Promises});
})(window.asif);
