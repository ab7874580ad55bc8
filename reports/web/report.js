// The report: a bar with menu and search, and below it the index, a room, or a panel of a room.
// Rule of this file: the address of the browser is its only state.
(function () {
  "use strict";
  const { html, href } = asif;
  const { useLayoutEffect, useRef, useState } = preactHooks;

  // The parts of the address: one that somebody follows, or that a step of a run puts there.
  function useAddress() {
    const [parts, setParts] = useState(asif.here());
    useLayoutEffect(() => {
      const look = (event) => setParts(event.detail || asif.here());
      const events = ["hashchange", "addressreplaced"];
      events.forEach((one) => addEventListener(one, look));
      return () => events.forEach((one) => removeEventListener(one, look));
    }, []);
    return parts;
  }

  // The blocks of a room or of its panel: null while they come, an Error if they are not there.
  function useBlocks(room, panel) {
    const shown = panel || room;
    const [found, setFound] = useState({ shown: null, blocks: null });
    useLayoutEffect(() => {
      let wanted = true;
      const set = (blocks) => wanted && setFound({ shown, blocks });
      const content = asif.load(room, panel);
      content.then((one) => (panel ? one.panels[panel.address] : one.blocks)).then(set, set);
      return () => (wanted = false);
    }, [shown]);
    return found.shown === shown ? found.blocks : null;
  }

  // A heading that has the focus when its view is new, so that keys and readers begin there.
  function Title({ view, children, mark, first }) {
    const heading = useRef(null);
    useLayoutEffect(() => {
      if (!first) {
        scrollTo(0, 0);
        heading.current.focus({ preventScroll: true });
      }
    }, [view]);
    return html`<h1 ref=${heading} tabindex="-1">${children}${mark && html` <span class="chip ${mark.tone || ""}">${mark.text}</span>`}</h1>`;
  }

  function Menu({ data, room, open }) {
    const link = (one) => html`<li><a href=${href(one.address)}
      aria-current=${room && room.address === one.address ? "page" : null}>${one.label || one.title}</a></li>`;
    const families = data.rooms.filter((one) => one.family);
    const others = data.rooms.filter((one) => !one.family);
    return html`<nav id="menu" aria-label="Contents" class=${open ? "open" : null}>
      <ul><li><a href="#" aria-current=${room ? null : "page"}>Overview</a></li></ul>
      ${families.length > 0 && html`<p>Families</p><ul>${families.map((one) => link({ ...one, label: one.address }))}</ul>`}
      <p>Other parts</p><ul>${others.map(link)}</ul>
    </nav>`;
  }

  function Unknown({ address }) {
    return html`<p class="lead bad" role="alert">This report has no “${address}”: search above, or choose a part.</p>`;
  }

  function Index({ data, anchor, first }) {
    const [unknown, setUnknown] = useState("");
    useLayoutEffect(() => {
      const place = anchor && document.getElementById(anchor);
      if (place) place.scrollIntoView();
      setUnknown(place ? "" : anchor || "");
    }, [anchor]);
    return html`<main id="main"><${Title} view="index" first=${first || anchor}>${data.heading}<//>
      ${unknown && html`<${Unknown} address=${unknown} />`}
      <${asif.Blocks} blocks=${data.first} depth=${2} /></main>`;
  }

  function Missing({ room, error }) {
    return html`<p class="lead bad">The data of this part is not there (report/${error.message}). ${" "}
      <a href="report.md">report.md</a> has the same content as ${room.title}.</p>`;
  }

  function Room({ room, panel, part, step, asked }) {
    const blocks = useBlocks(room, panel);
    const shown = panel || room;
    const place = panel && { panel: panel.address, part, step, asked };
    let body = html`<p role="status">Loading …</p>`;
    if (blocks instanceof Error) body = html`<${Missing} room=${room} error=${blocks} />`;
    else if (blocks) {
      body = html`<${asif.Blocks} key=${shown.address} blocks=${blocks} depth=${2} place=${place} />`;
    }
    const name = room.family ? room.address : room.title;
    return html`<main id="main" class=${panel ? "with-list" : null}>
      ${panel && html`<${Siblings} room=${room} panel=${panel} />`}
      <section class="view" aria-label=${shown.title}>
        <p class="path"><a href="#">Overview</a>${panel && html` / <a href=${href(room.address)}>${name}</a>`}</p>
        <${Title} view=${shown.address} mark=${panel && panel.mark}>${shown.title}<//>
        ${!panel && asked.length > 1 && html`<${Unknown} address=${asked.join("/")} />`}
        ${body}
      </section>
    </main>`;
  }

  // The panels of a room as a list beside the open one.
  function Siblings({ room, panel }) {
    const list = useRef(null);
    useLayoutEffect(() => {
      const here = list.current.querySelector("[aria-current]");
      if (here) list.current.scrollTop = here.offsetTop - list.current.clientHeight / 2;
    }, [panel]);
    const short = (one) =>
      room.family ? one.title.slice(room.address.length + 1) || room.address : one.title;
    return html`<nav class="siblings" aria-label=${"Panels of " + room.title} ref=${list}>
      <ul>${room.panels.map(
        (one) => html`<li><a href=${href(one.address)} aria-current=${one === panel ? "page" : null}>
          <span class="dot ${(one.mark && one.mark.tone) || ""}"></span>${short(one)}</a></li>`
      )}</ul>
    </nav>`;
  }

  function Report({ data }) {
    const parts = useAddress();
    const [open, setOpen] = useState(false);
    const begun = useRef(false);
    const found = asif.find(parts);
    useLayoutEffect(() => {
      setOpen(false);
      begun.current = true;
      const shown = found.panel || found.room;
      document.title = shown ? shown.title + " · " + data.title : data.title;
    }, [parts.join("/")]);
    const view = found.room
      ? html`<${Room} ...${found} asked=${parts} />`
      : html`<${Index} data=${data} anchor=${parts[0]} first=${!begun.current} />`;
    return html`<div class="page">
      <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
      <header class="bar">
        <a class="brand" href="#">asif</a>
        <button type="button" class="menu" aria-expanded=${open ? "true" : "false"} aria-controls="menu"
          onClick=${() => setOpen(!open)}>Menu</button>
        <${asif.Search} data=${data} />
      </header>
      <div class="body"><${Menu} data=${data} room=${found.room} open=${open} />${view}</div>
    </div>`;
  }

  // The address is the state, so this link moves the focus and leaves the address.
  function skip(event) {
    event.preventDefault();
    document.querySelector("main h1").focus();
  }

  asif.open = function (data) {
    asif.setRooms(data.rooms);
    preact.render(html`<${Report} data=${data} />`, document.getElementById("report"));
  };
})();
