/* The looks into a stepped run (model/results/steps.py): the whole of each step, from its changes.
   Rule of this file: no element of a page; functions of a run. */
"use strict";
window.asif = window.asif || {};
(function (asif) {
  const cache = new WeakMap();

  /* A function of a run, which remembers its answer. */
  function remembered(name, make) {
    return function (run) {
      if (!cache.has(run)) cache.set(run, {});
      const known = cache.get(run);
      if (!(name in known)) known[name] = make(run);
      return known[name];
    };
  }

  /* For each step, the nodes by name: {up, kind, says, fields, changed, was}. */
  const nodes = remembered("nodes", function (run) {
    let now = {};
    return run.steps.map(function (step) {
      const next = {};
      for (const name of Object.keys(now)) {
        next[name] = Object.assign({}, now[name], {changed: {}, moved: false});
      }
      for (const [name, change] of Object.entries(step.nodes || {})) {
        const old = now[name] ? now[name].fields : {};
        const fields = change.whole ? {} : Object.assign({}, old);
        for (const gone of change.gone || []) delete fields[gone];
        Object.assign(fields, change.fields);
        const changed = {};
        for (const key of Object.keys(fields)) {
          if (old[key] !== fields[key]) changed[key] = key in old ? old[key] : null;
        }
        next[name] = {
          up: change.up, kind: change.kind || "", says: change.says || "",
          fields: fields, changed: now[name] ? changed : {}, moved: Boolean(now[name]),
        };
      }
      now = next;
      return next;
    });
  });

  /* For each step, the expected outputs and the number of other allowed ones. */
  const expected = remembered("expected", function (run) {
    let now = [];
    return run.steps.map(function (step) {
      now = step.expects || now;
      return {outputs: now, others: step.others || 0};
    });
  });

  /* The outputs up to a step: {at, text, surplus, wrong, step}. */
  function outputs(run, at) {
    const wrong = new Set(((run.culprit && run.culprit.wrong) || []).map((w) => w.step + "." + w.emit));
    return run.steps.slice(0, at + 1).flatMap(function (step, number) {
      return (step.emits || []).map((one, place) => Object.assign(
        {step: number, wrong: wrong.has(number + "." + place)}, one));
    });
  }

  /* The messages on their way after a step, each with its number in the run. */
  function inFlight(run, at) {
    return (run.messages || [])
      .map((message, number) => Object.assign({number: number}, message))
      .filter((m) => m.sent <= at && (m.ended === undefined || m.ended === null || m.ended > at));
  }

  /* The failure-free run with the steps that both runs have; null: there is none. */
  const unfailed = remembered("unfailed", function (run) {
    if (!run.unfailed) return null;
    const common = run.steps.slice(0, run.differs.parts);
    return Object.assign({}, run.unfailed, {steps: common.concat(run.unfailed.steps)});
  });

  /* For each step, the names of the nodes that are down. */
  const down = remembered("down", function (run) {
    return nodes(run).map((all) => new Set(Object.keys(all).filter((name) => !all[name].up)));
  });

  /* The marks of a step: words with a kind, the gravest first. */
  function marks(run, at) {
    const found = [];
    const culprit = run.culprit;
    if (culprit && culprit.step === at) found.push({kind: "bad", text: "culprit"});
    if (culprit && culprit.lost === at && culprit.step !== at) found.push({kind: "bad", text: "lost here"});
    if (culprit && culprit.decided === at) found.push({kind: "bad", text: "decides"});
    const differs = run.differs;
    if (differs && differs.parts === at) found.push({kind: "note", text: "first fault"});
    if (differs && differs.step === at) found.push({kind: "note", text: "output differs"});
    return found;
  }

  /* A step in one sentence, for people and for screen readers. */
  function sentence(run, at) {
    const step = run.steps[at];
    if (at === 0) return "the beginning: every node has booted, and nothing has arrived.";
    const before = step.undone ? ", before " + step.undone : "";
    return step.says + before + ".";
  }

  /* A text with each control character as its number: none turns the rest of a line around.  As
     reports/safe_text.py has it. */
  const HIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/g;
  function visible(text) {
    return text.replace(HIDDEN, function (one) {
      const digits = one.charCodeAt(0).toString(16);
      return digits.length > 2 ? "\\u" + digits.padStart(4, "0") : "\\x" + digits.padStart(2, "0");
    });
  }

  const SHOWN = ["title", "aria-label", "aria-valuetext"];
  const seen = (child) => (typeof child === "string" ? visible(child) : Array.isArray(child) ? child.map(seen) : child);

  /* An element whose texts are visible. */
  function element(type, props, ...children) {
    for (const name of SHOWN) {
      if (typeof type === "string" && props && typeof props[name] === "string") props[name] = visible(props[name]);
    }
    return window.preact.h(type, props, ...children.map(seen));
  }

  Object.assign(asif, {
    steps: {nodes, expected, outputs, inFlight, unfailed, down, marks, sentence},
    html: window.htm.bind(element),
  });
})(window.asif);
