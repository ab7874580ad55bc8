// Words of the page: texts with a look, and links to addresses of the page.
// Rule of this file: a text is a text node; nothing of a user's becomes HTML.
(function () {
  "use strict";
  const asif = (window.asif = window.asif || {});
  const html = (asif.html = htm.bind(preact.h));

  // The link to an address: "log-io:published", or parts between "/", also as a list.
  asif.href = function (address) {
    const parts = Array.isArray(address) ? address : address.split("/");
    const escaped = (part) => encodeURIComponent(part).replace(/%3A/g, ":");
    return "#" + parts.map(escaped).join("/");
  };

  // The parts of the address that the browser shows; an address that nobody can read has none.
  asif.here = function () {
    const text = window.location.hash.slice(1);
    try {
      return text ? text.split("/").map(decodeURIComponent) : [];
    } catch (error) {
      return [];
    }
  };

  // Show another address in place of the present one, as parts; the page knows of it.
  asif.replaceAddress = function (parts) {
    window.history.replaceState(null, "", asif.href(parts));
    window.dispatchEvent(new CustomEvent("addressreplaced", { detail: parts.map(String) }));
  };

  const TAGS = { code: "code", strong: "strong" };
  const CHIPS = { holds: true, refuted: true };

  function one(word) {
    if (typeof word === "string") return word;
    const tone = word.tone || "";
    let shown = word.text;
    if (TAGS[tone]) shown = html`<${TAGS[tone]}>${shown}<//>`;
    else if (tone) shown = html`<span class=${(CHIPS[tone] ? "chip " : "") + tone}>${shown}</span>`;
    return word.to && asif.known(word.to)
      ? html`<a href=${asif.href(word.to)}>${shown}</a>`
      : shown;
  }

  // The words as nodes: a text, a word with a look, or a list of both.
  asif.words = function (words) {
    if (words === undefined || words === null) return null;
    return Array.isArray(words) ? words.map(one) : one(words);
  };

  asif.text = function (words) {
    if (words === undefined || words === null) return "";
    const parts = Array.isArray(words) ? words : [words];
    return parts.map((part) => (typeof part === "string" ? part : part.text)).join("");
  };
})();
