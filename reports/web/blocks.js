// Blocks of content (reports/page/blocks.py) as nodes; a part that is closed is not drawn.
// Rule of this file: it knows kinds of blocks, and nothing of protocols or of the report.
(function () {
  "use strict";
  const { html, words, text } = asif;
  const { useEffect, useRef, useState } = preactHooks;
  const NARROW = "(max-width: 40rem)";
  const MOST_ROWS = { wide: 30, narrow: 8 };

  // A box that scrolls sideways; only where it does is it a stop of the Tab key.
  function Scroll({ name, children }) {
    const box = useRef(null);
    const [scrolls, setScrolls] = useState(false);
    useEffect(() => {
      const look = () => setScrolls(box.current.scrollWidth > box.current.clientWidth + 1);
      const observer = new ResizeObserver(look);
      observer.observe(box.current);
      if (box.current.firstElementChild) observer.observe(box.current.firstElementChild);
      look();
      return () => observer.disconnect();
    }, []);
    const stop = scrolls ? { tabindex: "0", role: "region", "aria-label": name } : {};
    return html`<div class="scroll" ref=${box} ...${stop}>${children}</div>`;
  }
  asif.Scroll = Scroll;

  function Heading({ depth, id, children }) {
    return html`<${"h" + Math.min(depth, 6)} id=${id || null}>${children}<//>`;
  }

  function Sentence({ block }) {
    const boxed = { good: "lead good", bad: "lead bad", refuted: "lead refuted" };
    return html`<p class=${boxed[block.tone] || null}>${words(block.words)}</p>`;
  }

  function FactList({ block }) {
    return html`<dl class="facts">
      ${block.rows.map(([name, fact]) => html`<div><dt>${name}</dt><dd>${words(fact)}</dd></div>`)}
    </dl>`;
  }

  function ItemList({ block }) {
    return html`<ul class=${block.small ? "chips" : null}>
      ${block.items.map((item) => html`<li>${words(item)}</li>`)}
    </ul>`;
  }

  // --- tables ------------------------------------------------------------------------------------
  function Cell({ at, cell, column }) {
    const side = column.number ? "number" : null;
    const name = column.name || "";
    if (!at) return html`<th scope="row" role="rowheader" class=${side}>${words(cell)}</th>`;
    const empty = text(cell) === "" ? " empty" : "";
    return html`<td role="cell" class=${(side || "") + empty} data-name=${name}><div>${words(cell)}</div></td>`;
  }

  function Row({ row, columns }) {
    if (row.group) {
      return html`<tr role="row" class="group">
        <th role="rowheader" colspan=${columns.length}>${words(row.cells[0])}</th>
      </tr>`;
    }
    return html`<tr role="row" class=${row.off ? "off" : null}>
      ${row.cells.map((cell, at) => html`<${Cell} at=${at} cell=${cell} column=${columns[at]} />`)}
    </tr>`;
  }

  function DataTable({ block }) {
    const [all, setAll] = useState(false);
    const most = matchMedia(NARROW).matches ? MOST_ROWS.narrow : MOST_ROWS.wide;
    // What is not as expected is never behind the button.
    const rows = all
      ? block.rows
      : [...block.rows.filter((row) => row.off), ...block.rows.filter((row) => !row.off)].slice(
          0,
          Math.max(most, block.rows.filter((row) => row.off).length)
        );
    const left = block.rows.length - rows.length;
    return html`<${Scroll} name=${block.name}>
      <table role="table" aria-label=${block.name}>
        <thead role="rowgroup"><tr role="row">
          ${block.columns.map(
            (column) => html`<th scope="col" role="columnheader" class=${column.number ? "number" : null}>
              ${column.name}</th>`
          )}
        </tr></thead>
        <tbody role="rowgroup">
          ${rows.map((row) => html`<${Row} row=${row} columns=${block.columns} />`)}
        </tbody>
      </table>
      ${left > 0 &&
      html`<button class="more" type="button" onClick=${() => setAll(true)}>
        Show ${left} more rows</button>`}
    <//>`;
  }

  // --- pictures ----------------------------------------------------------------------------------
  function Svg({ svg }) {
    const place = useRef(null);
    useEffect(() => {
      const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
      place.current.replaceChildren(document.importNode(drawn, true));
    }, [svg]);
    return html`<div class="svg" ref=${place}></div>`;
  }

  // A run to step through; its whole picture is behind a line.
  function SteppedPicture({ block, place }) {
    const here = place && place.panel && block.scope;
    const parts = (step) => [...place.panel.split("/"), block.scope, step];
    const address = (step) => asif.href(parts(step));
    const wanted = here && place.part === block.scope ? place.step : null;
    const at = wanted === null ? undefined : wanted;
    const onStep = (step) => here && asif.replaceAddress(parts(step));
    const whole = block.svg && { summary: "The whole run in one picture", blocks: [{ ...block, steps: null, caption: "" }] };
    return html`<${asif.Stepper} run=${block.steps} at=${at} onStep=${onStep} link=${here ? address : null} />
      ${whole && html`<${FoldedPart} block=${whole} depth=${6} />`}`;
  }

  function DrawnPicture({ block, place }) {
    return html`<figure>
      ${block.caption && html`<figcaption>${words(block.caption)}</figcaption>`}
      ${block.steps
        ? html`<${SteppedPicture} block=${block} place=${place} />`
        : block.svg && html`<${Scroll} name=${block.name}><${Svg} svg=${block.svg} /><//>`}
    </figure>`;
  }

  function gridCell(cells, at) {
    const [shown, mark] = cells[at];
    if (!shown) return html`<td></td>`;
    const before = at > 0 && cells[at - 1][0];
    const after = at + 1 < cells.length && cells[at + 1][0];
    const again = before && cells[at - 1].join() === cells[at].join() && (!mark || mark === "bad");
    const names = ["on", mark, !before && "starts", !after && "ends", again && "again"];
    return html`<td><div class=${names.filter(Boolean).join(" ")}>${shown}</div></td>`;
  }

  function GridDrawing({ block }) {
    const { caption, columns, lanes, facts, legend } = block.grid;
    const wide = columns.length;
    return html`<figure class="picture">
      <figcaption>${caption}</figcaption>
      <${Scroll} name=${caption}>
        <table class="grid">
          <thead><tr><td></td>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
          <tbody>
            ${lanes.map((lane) =>
              lane.cells
                ? html`<tr><th scope="row">${lane.label}</th>
                    ${lane.cells.map((_, at) => gridCell(lane.cells, at))}</tr>`
                : html`<tr class="lanes"><th colspan=${wide + 1} scope="rowgroup">${lane.label}</th></tr>`
            )}
            ${(facts || []).map(
              ([fact, labels]) => html`<tr class="always"><th scope="row">${fact}</th>
                <td colspan=${wide}>${labels.join(", ")}</td></tr>`
            )}
          </tbody>
        </table>
      <//>
      ${legend &&
      html`<p class="legend">
        ${legend.map(
          ([mark, sign, meaning]) =>
            html`<span><span class="on starts ends ${mark}">${sign}</span> ${meaning}</span>`
        )}
      </p>`}
    </figure>`;
  }

  function CodeText({ block }) {
    const lines = block.text.split("\n");
    const tags = { "-": "del", "+": "ins" };
    const line = (one) => {
      const tag = block.diff && tags[one[0]];
      return tag ? html`<${tag}>${one + "\n"}<//>` : one + "\n";
    };
    return html`<${Scroll} name="Program"><pre class=${block.diff ? "diff" : null}><code>${lines.map(
      line
    )}</code></pre><//>`;
  }

  // --- parts -------------------------------------------------------------------------------------
  function FoldedPart({ block, depth, place }) {
    const wanted = Boolean(place && place.part && place.part === block.name);
    const [open, setOpen] = useState(Boolean(block.open) || wanted);
    useEffect(() => wanted && setOpen(true), [wanted, place && place.asked]);
    return html`<details open=${open} onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>${words(block.summary)}</summary>
      ${open && html`<div class="inside"><${asif.Blocks} ...${{ blocks: block.blocks, depth, place }} /></div>`}
    </details>`;
  }

  function PageSection({ block, depth, place }) {
    return html`<section>
      <${Heading} depth=${depth} id=${block.anchor}>${words(block.title)}<//>
      <${asif.Blocks} ...${{ blocks: block.blocks, depth: depth + 1, place }} />
    </section>`;
  }

  function FindingCard({ block }) {
    return html`<article class="finding">
      ${block.svg ? html`<${Svg} svg=${block.svg} />` : html`<div class="svg"></div>`}
      <div>
        <p class="source">${block.source}</p>
        <p class="claim">${words(block.claim)}</p>
        <p>${words(block.verdict)}</p>
        <p class="dim">${words(block.run)}</p>
      </div>
    </article>`;
  }

  const KINDS = {
    Sentence, FactList, ItemList, DataTable, DrawnPicture, GridDrawing, CodeText, FoldedPart,
    PageSection, FindingCard,
  };

  // depth: of the headings.  place: the address beyond that of the panel: {panel, part, step, asked}, where each
  // address that somebody follows is another `asked`.
  asif.Blocks = function ({ blocks, depth, place }) {
    return blocks.map(
      (block) => html`<${KINDS[block.is]} ...${{ block, depth, place }} />`
    );
  };
})();
