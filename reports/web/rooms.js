// The rooms of the report: their data lies in files beside the page, and comes when it is asked for.
// Rule of this file: a script tag is the one way to data, so that a page from a file works.
(function () {
  "use strict";
  const contents = {};
  const loading = {};
  let rooms = [];

  // Called by the files of data: {blocks, panels} of the room with this address.
  asif.room = function (address, content) {
    const found = (contents[address] = contents[address] || { blocks: [], panels: {} });
    found.blocks = found.blocks.concat(content.blocks);
    Object.assign(found.panels, content.panels);
  };

  asif.setRooms = function (entries) {
    rooms = entries;
  };

  // {room, panel, part, step} of an address; room and panel as the menu knows them, or null.  The
  // first part may be a name ("log-io:published"), whose family is the room.  A step that is no
  // number is null.
  asif.find = function (parts) {
    if (!parts.length) return { room: null, panel: null };
    const first = parts[0];
    const byName = (one) => one.address === first || one.panels.some((x) => x.address === first);
    const room = rooms.find(byName) || null;
    if (!room) return { room: null, panel: null };
    for (let many = parts.length; many > 0; many--) {
      const panel = room.panels.find((one) => one.address === parts.slice(0, many).join("/"));
      if (panel) {
        const step = /^\d+$/.test(parts[many + 1] || "") ? Number(parts[many + 1]) : null;
        return { room, panel, part: parts[many] || "", step };
      }
    }
    return { room, panel: null };
  };

  asif.known = function (address) {
    const parts = address.split("/");
    const found = asif.find(parts);
    return Boolean(found.room && (found.panel || parts.length === 1));
  };

  function loadFile(file) {
    loading[file] =
      loading[file] ||
      new Promise((done, fail) => {
        const script = document.createElement("script");
        script.src = "report/" + encodeURIComponent(file);
        script.onload = done;
        script.onerror = () => {
          delete loading[file];
          script.remove();
          fail(new Error(file));
        };
        document.head.append(script);
      });
    return loading[file];
  }

  // The content of a room, once the file with the panel (null: with the table of all) is there.
  // Fails with the name of a missing file.
  asif.load = async function (room, panel) {
    await loadFile(room.files[panel ? panel.file || 0 : 0]);
    return contents[room.address];
  };
})();
