/* The stepper: a run, step by step.  asif.Stepper({run, at, onStep, link}).
   Rule of this file: the choice of a step; the parts that show it have files of their own.
   Rule of all pages: effects are layout effects, so that what is shown is what the next key finds. */
"use strict";
(function (asif) {
  const html = asif.html, steps = asif.steps, parts = asif.stepParts;
  const {useLayoutEffect, useRef, useState} = window.preactHooks;
  const KEYS = {
    ArrowLeft: (at) => at - 1, ArrowRight: (at) => at + 1, Home: () => 0, End: (_, last) => last,
  };
  const FIELDS = "input, textarea, select, [contenteditable]";

  /* The steppers of the page by their elements, each with a function that goes by a move; the one
     that somebody used last. */
  const known = new Map();
  let used = null;

  /* Does the element that has the focus take the key itself: a field, or a part that scrolls so? */
  function takes(focus, key) {
    if (!focus || !focus.matches(`${FIELDS}, [role=region]`)) return false;
    if (focus.matches(FIELDS)) return true;
    return key.startsWith("Arrow") ? asif.scrolls.sideways(focus) : asif.scrolls.upwards(focus);
  }

  /* The one stepper that takes keys: where the focus is, or in the part that a line with the focus
     opens; else the last used; else the first of the page. */
  function taker(focus) {
    const all = [...document.querySelectorAll(".stepper")].filter((one) => known.has(one));
    const part = focus && focus.matches("summary") ? focus.parentElement : null;
    return all.find((one) => one.contains(focus)) || all.find((one) => part && part.contains(one))
      || all.find((one) => one === used) || all[0];
  }

  document.addEventListener("keydown", function (event) {
    const move = KEYS[event.key], focus = document.activeElement;
    const modified = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
    if (!move || modified || event.defaultPrevented || takes(focus, event.key)) return;
    const chosen = taker(focus);
    if (!chosen) return;
    event.preventDefault();
    known.get(chosen)(move);
  });

  /* Go by keys while the stepper is on the page.  Returns a function that makes it the last used. */
  function useKeys(root, go) {
    const now = useRef(go);
    now.current = go;
    useLayoutEffect(function () {
      const place = root.current;
      if (!place) return undefined;
      known.set(place, (move) => now.current(move));
      return () => known.delete(place);
    });
    return () => { used = root.current; };
  }

  function Bar({run, at, last, go, link}) {
    const jump = (step, text) => html`<button type="button" onClick=${() => go(() => step)}
      aria-pressed=${at === step ? "true" : "false"}>${text}</button>`;
    const button = (label, sign, to, off) => html`<button type="button" aria-label=${label} title=${label}
      disabled=${off} onClick=${() => go(to)}>${sign}</button>`;
    return html`<div class="sp-bar" role="group" aria-label="Steps">
      ${button("First step (Home)", "|◀", () => 0, at === 0)}
      ${button("Previous step (left arrow)", "◀", (n) => n - 1, at === 0)}
      <input type="range" min="0" max=${last} value=${at} aria-label="Step"
        aria-valuetext=${`step ${at} of ${last}: ${steps.sentence(run, at)}`}
        onInput=${(event) => { const to = Number(event.target.value); go(() => to); }} />
      ${button("Next step (right arrow)", "▶", (n) => n + 1, at === last)}
      ${button("Last step (End)", "▶|", (_, end) => end, at === last)}
      <span class="sp-count">step ${at} of ${last}</span>
      ${run.culprit && jump(run.culprit.step, `culprit: step ${run.culprit.step}`)}
      ${run.differs && jump(run.differs.parts, `first fault: step ${run.differs.parts}`)}
      ${link && html`<a class="sp-here" href=${link(at)}>link to this step</a>`}
    </div>`;
  }

  function Now({run, at}) {
    const step = run.steps[at], last = run.steps.length - 1, circle = run.circle || 0;
    return html`<div class="sp-say">
      <p role="status" aria-live="polite"><b>Step ${at}.</b> ${steps.sentence(run, at)}
        ${steps.marks(run, at).map((one) => html` <span class=${"sp-tag sp-" + one.kind}>${one.text}</span>`)}</p>
      ${(step.parts || []).length > 0 && html`<ul class="sp-then">${step.parts.map((part) => html`<li>then ${part}</li>`)}</ul>`}
      ${at === last && circle > 0 && html`<p>The last ${circle} ${circle === 1 ? "step repeats" : "steps repeat"} without end.</p>`}
      ${at === last && run.violates && html`<p class="sp-broken">Violated: ${run.violates}</p>`}
    </div>`;
  }

  /* Props: run: a stepped run (model/results/steps.py); at: the step to show; onStep(n): the user
     goes to another step; link(n): the address of a step. */
  function Stepper({run, at, onStep, link}) {
    const last = run.steps.length - 1;
    const clamp = (n) => Math.max(0, Math.min(last, Number.isFinite(n) ? n : 0));
    const root = useRef(null), [own, setOwn] = useState(clamp(at)), [hot, setHot] = useState(null);
    const now = clamp(own);
    const use = useKeys(root, go);
    useLayoutEffect(() => { if (at !== undefined) { setOwn(clamp(at)); use(); } }, [at, run]);
    useLayoutEffect(() => setHot(null), [now, run]);
    function go(move) {
      const to = clamp(move(now, last));
      use();
      if (to === now) return;
      setOwn(to);
      if (onStep) onStep(to);
    }
    if (last < 0) return html`<p class="stepper">No node could boot, so there is no step.</p>`;
    const onStep_ = (step) => go(() => step);
    const message = hot === null || !run.messages[hot] ? null : run.messages[hot];
    return html`<div class="stepper" ref=${root}>
      <${Bar} run=${run} at=${now} last=${last} go=${go} link=${link} />
      <${Now} run=${run} at=${now} />
      ${run.culprit && html`<p class="sp-culprit"><b>Culprit:</b> ${run.culprit.says}</p>`}
      <div class="sp-columns">
        <${asif.Lanes} run=${run} at=${now} hot=${hot} onStep=${onStep_} onHover=${setHot} />
        <div class="sp-side">
          <h3>Messages on their way</h3>
          <${parts.Messages} run=${run} at=${now} hot=${hot} onHover=${setHot} onStep=${onStep_} />
          <${parts.Outputs} run=${run} at=${now} />
        </div>
      </div>
      <${parts.Nodes} run=${run} at=${now} message=${message} />
      <${parts.Beside} run=${run} at=${now} onStep=${onStep_} />
      <${parts.Words} run=${run} at=${now} onStep=${onStep_} />
    </div>`;
  }

  asif.Stepper = Stepper;
})(window.asif);
