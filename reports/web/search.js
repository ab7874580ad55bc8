// The search: names, claims and findings; the key "/" begins it.
// Rule of this file: it reads titles and words of the index, and no data of a room.
(function () {
  "use strict";
  const { html, text, href } = asif;
  const { useLayoutEffect, useMemo, useRef, useState } = preactHooks;
  const MOST = 24;

  // Everything that can be found: {title, words, to, mark}.
  function entries(data) {
    const found = [];
    for (const room of data.rooms) {
      found.push({ title: room.title, words: room.address, to: room.address });
      for (const one of room.panels) {
        found.push({ title: one.title, words: one.words || "", to: one.address, mark: one.mark });
      }
    }
    const cards = (blocks) =>
      blocks.forEach((block) => {
        if (block.is === "FindingCard" && block.to) {
          found.push({ title: text(block.claim), words: block.source + " " + text(block.verdict), to: block.to });
        }
        if (block.blocks) cards(block.blocks);
      });
    cards(data.first);
    return found.map((one) => ({ ...one, all: (one.title + " " + one.words + " " + one.to).toLowerCase() }));
  }

  // Those with every word; titles that begin with the words come first.
  asif.search = function (known, asked) {
    const wanted = asked.toLowerCase().split(/\s+/).filter(Boolean);
    if (!wanted.length) return [];
    const hits = known.filter((one) => wanted.every((word) => one.all.includes(word)));
    const rank = (one) => {
      const title = one.title.toLowerCase();
      if (title.startsWith(wanted[0])) return 0;
      return wanted.every((word) => title.includes(word)) ? 1 : 2;
    };
    return hits.map((one, at) => [rank(one), at, one]).sort((a, b) => a[0] - b[0] || a[1] - b[1])
      .map((one) => one[2]);
  };

  function move(event, box) {
    const stops = [...box.querySelectorAll("input, .hits a")];
    const at = stops.indexOf(document.activeElement);
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (way && at >= 0) {
      const next = stops[Math.max(0, Math.min(stops.length - 1, at + way))];
      next.focus();
      event.preventDefault();
    }
  }

  asif.Search = function ({ data }) {
    const known = useMemo(() => entries(data), [data]);
    const [asked, setAsked] = useState("");
    const box = useRef(null);
    useLayoutEffect(() => {
      const listen = (event) => {
        const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
        if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
          box.current.querySelector("input").focus();
          event.preventDefault();
        }
      };
      const leave = () => setAsked("");
      addEventListener("keydown", listen);
      addEventListener("hashchange", leave);
      return () => {
        removeEventListener("keydown", listen);
        removeEventListener("hashchange", leave);
      };
    }, []);
    const hits = asif.search(known, asked);
    const keys = (event) => {
      if (event.key === "Escape") {
        setAsked("");
        box.current.querySelector("input").focus();
      } else if (event.key === "Enter" && event.target.tagName === "INPUT" && hits.length) {
        location.hash = href(hits[0].to).slice(1);
        setAsked("");
      } else move(event, box.current);
    };
    const left = hits.length - MOST;
    return html`<div class="search" role="search" ref=${box} onKeyDown=${keys}>
      <input type="search" aria-label="Search names, claims and findings" aria-keyshortcuts="/"
        placeholder="Search names, claims, findings ( / )" autocomplete="off" value=${asked}
        onInput=${(event) => setAsked(event.target.value)} />
      ${asked.trim() &&
      html`<div class="hits">
        <p role="status">${hits.length === 1 ? "1 hit" : hits.length ? hits.length + " hits" : "0 hits: try a protocol, a paper or a claim"}</p>
        <ul>${hits.slice(0, MOST).map(
          (one) => html`<li><a href=${href(one.to)} onClick=${() => setAsked("")}>
            <span class="title">${one.title}</span>
            ${one.mark && html` <span class="chip ${one.mark.tone || ""}">${one.mark.text}</span>`}
            ${one.words && html`<span class="dim">${one.words}</span>`}</a></li>`
        )}</ul>
        ${left > 0 && html`<p>${left} more; add a word.</p>`}
      </div>`}
    </div>`;
  };
})();
