/* The space-time picture of a stepped run: a lane a node, a row a step, an arrow a message.
   Rule of this file: a picture alone; all that it shows stands in words beside it. */
"use strict";
(function (asif) {
  const html = asif.html, steps = asif.steps;
  const {useRef, useState, useLayoutEffect} = window.preactHooks;
  const ROW = 26, LEFT = 30, LEAST = 46, LETTER = 7.3, TAG = 6.8;

  const shorten = (name, room) => (name.length > room ? name.slice(0, room - 1) + "…" : name);

  /* The sizes of the picture: the x of each lane, the y of each row. */
  function measure(run, width) {
    const count = run.lanes.length;
    const tags = run.steps.flatMap((_, row) => steps.marks(run, row).slice(0, 1).map((one) => one.text));
    const right = tags.length ? 12 + TAG * Math.max(...tags.map((text) => text.length)) : 14;
    const lane = Math.max(LEAST, (width - LEFT - right) / count);
    const longest = Math.max(...run.lanes.map((name) => name.length));
    const slanted = longest * LETTER > lane - 6;
    const top = slanted ? 24 + Math.min(longest, 18) * 4.6 : 34;
    return {
      lane, slanted, top, right,
      x: (name) => LEFT + lane * (run.lanes.indexOf(name) + 0.5),
      y: (row) => ROW * (row + 0.5) + 2,
      width: LEFT + lane * count + right,
      height: ROW * run.steps.length + 6,
    };
  }

  function Names({run, size}) {
    return run.lanes.map(function (name) {
      const x = size.x(name), y = size.top - 8;
      const turn = size.slanted ? `rotate(-32 ${x} ${y})` : "";
      return html`<text class="sp-lane" x=${x} y=${y} transform=${turn}
        text-anchor=${size.slanted ? "start" : "middle"}>
        <title>${name}</title>${shorten(name, 18)}</text>`;
    });
  }

  /* The line of a node's life: dashed while it is down. */
  function Lives({run, size}) {
    const down = steps.down(run);
    return run.lanes.map((name) => run.steps.map(function (_, row) {
      if (row === 0) return null;
      const off = down[row - 1].has(name) || down[row].has(name) && down[row - 1].has(name);
      return html`<line class=${off ? "sp-life sp-off" : "sp-life"} x1=${size.x(name)}
        x2=${size.x(name)} y1=${size.y(row - 1)} y2=${size.y(row)} />`;
    }));
  }

  function Arrow({message, size, at, last, hot, onHover}) {
    const end = message.ended === undefined || message.ended === null ? last : message.ended;
    const x1 = size.x(message.from), x2 = size.x(message.to);
    const flat = message.sent === end && message.ended === end;
    const open = message.ended === undefined || message.ended === null;
    const y1 = size.y(message.sent), y2 = size.y(end) + (open ? ROW * 0.45 : 0);
    const stop = message.lost || open ? 0.72 : 1;
    const away = 6 * Math.sign(x2 - x1);
    const tip = {x: x1 + (x2 - away - x1) * stop, y: y1 + (y2 - y1) * stop};
    const bend = flat ? -7 - 3 * (message.number % 3) : 0;
    const path = `M${x1} ${y1}Q${(x1 + tip.x) / 2} ${(y1 + tip.y) / 2 + bend * 2} ${tip.x} ${tip.y}`;
    const flying = message.sent <= at && (open || message.ended > at);
    const kinds = ["sp-arrow", "sp-" + message.kind];
    if (flying) kinds.push("sp-flying");
    if (message.sent > at) kinds.push("sp-later");
    if (hot) kinds.push("sp-hot");
    const turn = Math.atan2(tip.y - (y1 + tip.y) / 2 - bend * 2, tip.x - (x1 + tip.x) / 2);
    return html`<g class=${kinds.join(" ")} onMouseEnter=${() => onHover(message.number)}
        onMouseLeave=${() => onHover(null)}>
      <title>${message.label}: ${message.from} to ${message.to}${message.lost ? ", lost" : ""}</title>
      <path class="sp-wide" d=${path} /><path class="sp-line" d=${path} />
      ${message.lost
        ? html`<path class="sp-cross" d=${`M${tip.x - 4} ${tip.y - 4}l8 8m0-8l-8 8`} />`
        : html`<path class="sp-head" d="M0 0L-7 -3.5L-7 3.5Z"
            transform=${`translate(${tip.x} ${tip.y}) rotate(${(turn * 180) / Math.PI})`} />`}
      ${hot && html`<circle class="sp-end" cx=${x1} cy=${y1} r="8" />
        <circle class="sp-end" cx=${x2} cy=${y2} r="8" />`}
    </g>`;
  }

  /* The mark of a step on the lane of its node, and those of the results of sinks. */
  function Deed({step, row, size, at, wrong}) {
    if (!step.node) return null;
    const x = size.x(step.node), y = size.y(row), kind = row > at ? "sp-later" : "";
    const marks = (step.down || []).map(function (name) {
      const at_ = size.x(name);
      return html`<path class="sp-crash" d=${`M${at_ - 6} ${y - 6}l12 12m0-12l-12 12`} />`;
    });
    if (!(step.down || []).includes(step.node)) {
      const up = step.kind === "restart";
      marks.push(html`<circle class=${up ? "sp-restart" : "sp-deed"} cx=${x} cy=${y} r=${up ? 5.5 : 4} />`);
    }
    (step.emits || []).forEach(function (output, place) {
      const at_ = size.x(output.at) + 13 + 11 * place;
      const bad = wrong.has(row + "." + place);
      marks.push(html`<path class=${bad ? "sp-out sp-wrong" : "sp-out"}
        d=${`M${at_} ${y - 5}l5 5l-5 5l-5 -5z`}><title>${output.text}</title></path>`);
    });
    return html`<g class=${kind}>${marks}</g>`;
  }

  function Rows({run, size, at, onStep}) {
    return run.steps.map(function (_, row) {
      const found = steps.marks(run, row), top = size.y(row) - ROW / 2;
      const kinds = ["sp-row"];
      if (row === at) kinds.push("sp-now");
      if (found.some((one) => one.kind === "bad")) kinds.push("sp-blamed");
      return html`<g class=${kinds.join(" ")} onClick=${() => onStep(row)}>
        <rect x="1" y=${top} width=${size.width - 2} height=${ROW} rx="4" />
        <text class="sp-number" x=${LEFT - 8} y=${size.y(row) + 4} text-anchor="end">${row}</text>
        ${found.slice(0, 1).map((one) => html`<text class=${"sp-tag sp-" + one.kind}
          x=${size.width - size.right + 4} y=${size.y(row) + 4}>${one.text}</text>`)}
      </g>`;
    });
  }

  /* Props: run, at, hot (the number of a message, or null), onStep(n), onHover(number or null). */
  function Lanes({run, at, hot, onStep, onHover}) {
    const frame = useRef(null), [width, setWidth] = useState(560), [whole, setWhole] = useState(false);
    useLayoutEffect(function () {
      const look = () => frame.current && setWidth(frame.current.clientWidth);
      look();
      const watch = new ResizeObserver(look);
      watch.observe(frame.current);
      return () => watch.disconnect();
    }, []);
    const size = measure(run, width), last = run.steps.length - 1;
    useLayoutEffect(function () {
      const box = frame.current, y = size.y(at);
      if (y < box.scrollTop + ROW || y > box.scrollTop + box.clientHeight - size.top - ROW) {
        box.scrollTop = y - (box.clientHeight - size.top) / 2;
      }
    }, [at, width]);
    const stop = asif.useStop(frame, "Space-time picture");
    const wrong = new Set(((run.culprit && run.culprit.wrong) || []).map((w) => w.step + "." + w.emit));
    const messages = (run.messages || []).map((m, number) => Object.assign({number}, m));
    const ordered = messages.filter((m) => m.number !== hot).concat(messages.filter((m) => m.number === hot));
    const kinds = [...new Set(messages.map((message) => message.kind))].sort();
    const tall = whole || (frame.current && asif.scrolls.upwards(frame.current));
    return html`<div><div class=${whole ? "sp-lanes sp-whole" : "sp-lanes"} ref=${frame} ...${stop}>
      <svg class="sp-names" width=${size.width} height=${size.top} aria-hidden="true">
        <${Names} run=${run} size=${size} /></svg>
      <svg width=${size.width} height=${size.height} role="img"
          aria-label=${`Space-time picture of ${last} steps; the words of each step stand below`}>
        <${Rows} run=${run} size=${size} at=${at} onStep=${onStep} />
        <${Lives} run=${run} size=${size} />
        <g class="sp-arrows">${ordered.map((message) => html`<${Arrow} key=${message.number} message=${message}
          size=${size} at=${at} last=${last} hot=${hot === message.number} onHover=${onHover} />`)}</g>
        <g class="sp-deeds">${run.steps.map((step, row) => html`<${Deed} step=${step} row=${row} size=${size}
          at=${at} wrong=${wrong} />`)}</g>
      </svg></div>
      ${tall && html`<button type="button" class="sp-link"
        onClick=${() => setWhole(!whole)}>${whole ? "A part of the picture" : "The whole run in one picture"}</button>`}
      ${kinds.length > 0 && html`<ul class="sp-key" aria-label="Messages of the picture">${kinds.map((kind) => html`<li key=${kind}>
        <span class=${"sp-sign sp-" + kind} aria-hidden="true"></span>${kind}</li>`)}</ul>`}</div>`;
  }

  asif.Lanes = Lanes;
})(window.asif);
