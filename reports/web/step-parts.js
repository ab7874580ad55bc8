/* The parts of the stepper in words: nodes, messages, outputs, the failure-free run beside.
   Rule of this file: each part shows one step of a run, and changes nothing. */
"use strict";
(function (asif) {
  const html = asif.html, steps = asif.steps;
  const {useRef} = window.preactHooks;
  const ROOM = 72, EMPTY = new Set(["()", "{}", "none", ""]);

  /* The name of a field, which may break behind its dots. */
  const shown = (name) => name.replace(/_/g, " ").replace(/\./g, ".\u200b");

  /* A long text: its beginning, which opens to the whole. */
  function Text({text}) {
    if (text.length <= ROOM) return html`<span>${text}</span>`;
    return html`<details class="sp-long"><summary>${text.slice(0, ROOM - 1)}…</summary>${text}</details>`;
  }

  function Field({name, text, was, changed}) {
    return html`<div class=${changed ? "sp-field sp-changed" : "sp-field"}>
      <dt>${shown(name)}${changed && html`<span class="sp-hidden"> (changed)</span>`}</dt>
      <dd><${Text} text=${EMPTY.has(text) ? "empty" : text} />
        ${changed && was !== null && html`<small>was <${Text} text=${EMPTY.has(was) ? "empty" : was} /></small>`}
      </dd></div>`;
  }

  function Node({name, node, end}) {
    const all = Object.entries(node.fields);
    const bare = all.filter(([key, text]) => EMPTY.has(text) && !(key in node.changed));
    const full = all.filter(([key, text]) => !EMPTY.has(text) || key in node.changed);
    const kinds = ["sp-node"];
    if (!node.up) kinds.push("sp-down");
    if (node.moved) kinds.push("sp-moved");
    if (end) kinds.push("sp-marked");
    return html`<section class=${kinds.join(" ")} data-node=${name}>
      <h3>${name} ${!node.up && html`<span class="sp-state">down</span>`}
        ${end && html`<span class="sp-state sp-endword">${end}</span>`}</h3>
      ${(node.says || node.kind) && html`<p class="sp-kind">${node.says || node.kind}</p>`}
      <dl>${full.map(([key, text]) => html`<${Field} key=${key} name=${key} text=${text}
        changed=${key in node.changed} was=${node.changed[key]} />`)}</dl>
      ${bare.length > 0 && html`<p class="sp-bare">empty: ${bare.map(([key]) => shown(key)).join(", ")}</p>`}
    </section>`;
  }

  /* Props: run, at, message: the one whose ends are marked, or null. */
  function Nodes({run, at, message}) {
    const all = steps.nodes(run)[at];
    const end = (name) => (!message ? "" : name === message.from ? "sender" : name === message.to ? "receiver" : "");
    return html`<div class="sp-nodes">${run.lanes.filter((name) => all[name]).map((name) => html`
      <${Node} key=${name} name=${name} node=${all[name]} end=${end(name)} />`)}</div>`;
  }

  /* Props: run, at, hot, onHover, onStep. */
  function Messages({run, at, hot, onHover, onStep}) {
    const flying = steps.inFlight(run, at);
    if (!flying.length) return html`<p class="sp-none">No message is on its way.</p>`;
    return html`<ul class="sp-messages">${flying.map((m) => html`<li key=${m.number}>
      <button type="button" class=${hot === m.number ? "sp-message sp-marked" : "sp-message"}
        onMouseEnter=${() => onHover(m.number)} onMouseLeave=${() => onHover(null)}
        onFocus=${() => onHover(m.number)} onBlur=${() => onHover(null)} onClick=${() => onStep(m.sent)}>
        <span class=${"sp-sign sp-" + m.kind} aria-hidden="true"></span>
        <b>${m.label}</b> ${m.from} → ${m.to} <small>since step ${m.sent}</small></button></li>`)}</ul>`;
  }

  function Results({outputs, none}) {
    if (!outputs.length) return html`<p class="sp-none">${none}</p>`;
    return html`<ol class="sp-results">${outputs.map((one) => html`
      <li class=${one.wrong || one.surplus ? "sp-off" : one.seen === false ? "sp-waits" : "sp-right"}>
        ${one.text}${one.note && html` <small>${one.note}</small>`}</li>`)}</ol>`;
  }

  /* Props: run, at. */
  function Outputs({run, at}) {
    const several = new Set(run.steps.flatMap((s) => (s.emits || []).concat(s.expects || []).map((o) => o.at))).size > 1;
    const name = (one) => (several ? one.at + ": " : "") + one.text;
    const out = steps.outputs(run, at).map((one) => Object.assign({}, one, {
      text: name(one),
      note: "step " + one.step + (one.wrong ? ", wrong" : one.surplus ? ", not expected here" : ""),
    }));
    const {outputs, others} = steps.expected(run)[at];
    const want = outputs.map((one) => Object.assign({}, one, {
      text: name(one), seen: Boolean(one.seen), note: one.seen ? "seen" : "not yet seen",
    }));
    return html`<div class="sp-outputs">
      <div><h3>Outputs so far</h3><${Results} outputs=${out} none="None." /></div>
      <div><h3>Expected so far</h3><${Results} outputs=${want} none="None." />
        ${others > 0 && html`<p class="sp-none">${others} other ${others === 1 ? "output is" : "outputs are"} allowed as well.</p>`}
      </div></div>`;
  }

  /* The fields in which two worlds differ: [node, field, mine, theirs]. */
  function differing(mine, theirs) {
    return Object.keys(mine).flatMap(function (name) {
      const one = mine[name], other = theirs[name];
      if (!other) return [];
      if (one.up !== other.up) return [[name, "", one.up ? "up" : "down", other.up ? "up" : "down"]];
      const keys = [...new Set([...Object.keys(one.fields), ...Object.keys(other.fields)])];
      return keys.filter((key) => one.fields[key] !== other.fields[key])
        .map((key) => [name, key, one.fields[key] || "", other.fields[key] || ""]);
    });
  }

  /* Props: rows: what differing() finds. */
  function Differences({rows}) {
    const box = useRef(null), stop = asif.useStop(box, "Fields that differ");
    return html`<div class="sp-table" ref=${box} ...${stop}><table>
      <thead><tr><th scope="col">node</th><th scope="col">field</th>
        <th scope="col">this run</th><th scope="col">without failures</th></tr></thead>
      <tbody>${rows.map(([node, key, mine, theirs]) => html`<tr><th scope="row">${node}</th>
        <td>${shown(key) || "it is"}</td><td><${Text} text=${EMPTY.has(mine) ? "empty" : mine} /></td>
        <td><${Text} text=${EMPTY.has(theirs) ? "empty" : theirs} /></td></tr>`)}</tbody></table></div>`;
  }

  /* Props: run, at, onStep. */
  function Beside({run, at, onStep}) {
    const other = steps.unfailed(run);
    if (!other) return null;
    const there = run.beside[at], differs = run.differs;
    const rows = differing(steps.nodes(run)[at], steps.nodes(other)[there]);
    const to = (step) => html`<button type="button" class="sp-link" onClick=${() => onStep(step)}>step ${step}</button>`;
    const out = steps.outputs(other, there).map((one) => Object.assign({}, one, {
      note: "its step " + one.step, surplus: false,
    }));
    const missing = differs.unfailed !== undefined && differs.unfailed !== null;
    return html`<section class="sp-beside"><h3>Beside it: the run without failures</h3>
      <p>The same events, and no fault. The runs part in ${to(differs.parts)}.
        ${differs.step ? html` The first output that differs comes in ${to(differs.step)}.` : ""}
        ${missing ? ` Its step ${differs.unfailed} has an output that this run never has.` : ""}</p>
      <p>After its step ${there}: ${steps.sentence(other, there)}</p>
      <${Results} outputs=${out} none="No output so far." />
      ${rows.length > 0 && html`<${Differences} rows=${rows} />`}
    </section>`;
  }

  /* Props: run, at, onStep: all steps in words. */
  function Words({run, at, onStep}) {
    return html`<details class="sp-words"><summary>All steps in words</summary>
      <ol start="0">${run.steps.map((step, row) => html`<li class=${row === at ? "sp-now" : ""}>
        <button type="button" class="sp-link" aria-current=${row === at ? "step" : null}
          onClick=${() => onStep(row)}>${steps.sentence(run, row)}</button>
        ${steps.marks(run, row).map((one) => html` <span class=${"sp-tag sp-" + one.kind}>${one.text}</span>`)}
      </li>`)}</ol></details>`;
  }

  Object.assign(asif, {stepParts: {Nodes, Messages, Outputs, Beside, Words}});
})(window.asif);
