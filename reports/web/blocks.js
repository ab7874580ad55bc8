// Blocks of content (reports/page/blocks.py) as nodes; a part that is closed is not drawn.
// Rule of this file: it knows kinds of blocks, and nothing of protocols or of the report.
(function () {
  "use strict";
  const { html, words, text } = asif;
  const { useLayoutEffect, useRef, useState } = preactHooks;
  const NARROW = "(max-width: 40rem)";
  const MOST = { wide: 24, narrow: 8 };
  const MOST_LINES = 60;

  const isOff = (words) => [words].flat().some((one) => one && one.tone === "bad");

  // The first of many things, in their order, and a button that shows the others.  What is not as
  // expected (`off`) is never behind the button; the heading (`leads`) of a thing comes with it.
  function useFew(things, off, most, name, leads = () => false) {
    const [all, setAll] = useState(false);
    const known = things.map((_, at) => at).filter((at) => !leads(things[at]));
    const first = matchMedia(NARROW).matches ? most.narrow : most.wide;
    const bad = known.filter((at) => off(things[at]));
    const good = known.filter((at) => !off(things[at])).slice(0, Math.max(0, first - bad.length));
    const shown = new Set(all ? known : [...bad, ...good]);
    const left = known.length - shown.size;
    let heading = null;
    const few = things.flatMap((one, at) => {
      if (leads(one)) heading = one;
      if (!shown.has(at)) return [];
      const led = heading ? [heading, one] : [one];
      heading = null;
      return led;
    });
    const more = left > 0 && html`<button class="more" type="button" onClick=${() => setAll(true)}>
      Show ${left} more ${left === 1 ? name.slice(0, -1) : name}</button>`;
    return { few, more };
  }

  // A box that scrolls sideways.
  function Scroll({ name, children }) {
    const box = useRef(null);
    return html`<div class="scroll" ref=${box} ...${asif.useStop(box, name)}>${children}</div>`;
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
    const { few, more } = useFew(block.items, isOff, MOST, "items");
    return html`<ul class=${block.small ? "chips" : null}>
      ${few.map((item) => html`<li>${words(item)}</li>`)}
    </ul>${more}`;
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
    // A narrow window shows a row as a card, with a line for each cell.
    const most = { wide: MOST.wide, narrow: Math.min(MOST.narrow, Math.ceil(MOST_LINES / block.columns.length)) };
    const { few, more } = useFew(block.rows, (row) => row.off, most, "rows", (row) => row.group);
    return html`<${Scroll} name=${block.name}>
      <table role="table" aria-label=${block.name}>
        <thead role="rowgroup"><tr role="row">
          ${block.columns.map(
            (column) => html`<th scope="col" role="columnheader" class=${column.number ? "number" : null}>
              ${column.name}</th>`
          )}
        </tr></thead>
        <tbody role="rowgroup">
          ${few.map((row) => html`<${Row} row=${row} columns=${block.columns} />`)}
        </tbody>
      </table>
      ${more}
    <//>`;
  }

  // --- pictures ----------------------------------------------------------------------------------
  function Svg({ svg }) {
    const place = useRef(null);
    useLayoutEffect(() => {
      const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
      place.current.replaceChildren(document.importNode(drawn, true));
    }, [svg]);
    return html`<div class="svg" ref=${place}></div>`;
  }

  function SteppedPicture({ block, place }) {
    const here = place && place.panel && block.scope;
    const parts = (step) => [...place.panel.split("/"), block.scope, step];
    const wanted = here && place.part === block.scope ? place.step : null;
    return html`<${asif.Stepper} run=${block.steps} at=${wanted === null ? undefined : wanted}
      onStep=${(step) => here && asif.replaceAddress(parts(step))}
      link=${here ? (step) => asif.href(parts(step)) : null} />`;
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
    useLayoutEffect(() => wanted && setOpen(true), [wanted, place && place.asked]);
    return html`<details open=${open} onToggle=${(event) => setOpen(event.currentTarget.open)}>
      <summary>${words(block.summary)}</summary>
      ${open && html`<div class="inside"><${asif.Blocks} ...${{ blocks: block.blocks, depth, place }} /></div>`}
    </details>`;
  }

  // Parts in a row; one that an address asks for, or that is not as expected, is always there.
  function Parts({ list, depth, place }) {
    const asked = useRef(new Set());
    if (place && place.part) asked.current.add(place.part);
    const off = (block) => block.open || asked.current.has(block.name) || isOff(block.summary);
    const { few, more } = useFew(list, off, MOST, "parts");
    return html`${few.map((block) => html`<${FoldedPart} key=${list.indexOf(block)} ...${{ block, depth, place }} />`)}${more}`;
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
  // Parts that follow each other are a list, of which the first are shown.
  asif.Blocks = function ({ blocks, depth, place }) {
    const lists = [];
    blocks.forEach((block) => {
      const last = lists[lists.length - 1];
      if (last && [last[0], block].every((one) => one.is === "FoldedPart")) last.push(block);
      else lists.push([block]);
    });
    return lists.map((list) =>
      list.length > 1
        ? html`<${Parts} ...${{ list, depth, place }} />`
        : html`<${KINDS[list[0].is]} ...${{ block: list[0], depth, place }} />`
    );
  };
})();
