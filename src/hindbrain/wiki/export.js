
"use strict";
(() => {
  const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  const box = document.getElementById("search");
  const count = document.getElementById("count");
  const entries = new Map([...document.querySelectorAll("nav a")].map((link) => [link.getAttribute("href").slice(1), link.parentNode]));
  const pages = [...document.querySelectorAll("article")].map((article) => ({ article, entry: entries.get(article.id), text: null }));
  const groups = [...document.querySelectorAll("nav section")];

  // Where the words stand. Only texts whose folded form has the same length are marked, so that places agree.
  const mark = (words, shown) => {
    if (!("highlights" in CSS)) return;
    CSS.highlights.delete("found");
    if (!words.length) return;
    const found = new Highlight();
    for (const page of shown.slice(0, 50)) {
      const walker = document.createTreeWalker(page.article, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const text = fold(node.data);
        if (text.length !== node.data.length) continue;
        for (const word of words) {
          for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
            const range = new Range();
            range.setStart(node, at);
            range.setEnd(node, at + word.length);
            found.add(range);
          }
        }
      }
    }
    CSS.highlights.set("found", found);
  };

  const search = () => {
    const words = fold(box.value).split(/\s+/).filter(Boolean);
    const shown = [];
    for (const page of pages) {
      page.text ??= words.length ? fold(page.article.textContent) : null;
      const fits = words.every((word) => page.text.includes(word));
      page.article.hidden = !fits;
      if (page.entry) page.entry.hidden = !fits;
      if (fits) shown.push(page);
    }
    for (const group of groups) group.hidden = !group.querySelector("li:not([hidden])");
    count.textContent = words.length ? `${shown.length} of ${count.dataset.all}` : count.dataset.all;
    mark(words, shown);
    return shown;
  };

  box.addEventListener("input", search);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      box.value = "";
      search();
    } else if (event.key === "Enter") {
      const [first] = search();
      if (first) first.article.scrollIntoView();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== box && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      box.focus();
    }
  });
  // A link to a page that the search has hidden ends the search.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    const target = link && document.getElementById(link.getAttribute("href").slice(1));
    if (target && target.closest("article")?.hidden) {
      box.value = "";
      search();
    }
  });
  if (box.value) search();
})();
