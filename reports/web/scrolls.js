/* Boxes that scroll: only where one does, it is a stop of the Tab key, with a name.
   Rule of this file: it measures the box of others, and draws nothing. */
"use strict";
window.asif = window.asif || {};
(function (asif) {
  const {useLayoutEffect, useState} = window.preactHooks;

  /* Does the box scroll to the sides, or up and down? */
  const sideways = (box) => box.scrollWidth > box.clientWidth + 1;
  const upwards = (box) => box.scrollHeight > box.clientHeight + 1;

  /* The attributes of the box with this name, measured again when it or its content changes. */
  function useStop(box, name) {
    const [scrolls, setScrolls] = useState(false);
    useLayoutEffect(function () {
      const look = () => box.current && setScrolls(sideways(box.current) || upwards(box.current));
      const watch = new ResizeObserver(look);
      [box.current, ...box.current.children].forEach((one) => watch.observe(one));
      look();
      return () => watch.disconnect();
    });
    return scrolls ? {tabindex: "0", role: "region", "aria-label": name} : {};
  }

  Object.assign(asif, {scrolls: {sideways, upwards}, useStop});
})(window.asif);
