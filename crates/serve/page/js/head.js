// The head of the page: the sentence, facts, and words where nothing can be shown.

function headline(state, words) {
  const head = byId("head");
  if (head.className !== state) head.className = state;
  write(byId("headline"), words);
}

function showFacts(facts) {
  const list = byId("facts");
  facts.forEach((text, n) => write(list.children[n] ?? list.appendChild(element("li")), text));
  while (list.children.length > facts.length) list.lastChild.remove();
}

const sentence = (text) => {
  const words = text.trim();
  return `${capital(words)}${/[.?!]$/.test(words) ? "" : "."}`;
};

function empty(title, words, command) {
  headline("", title);
  const parts = [element("p", {}, words)];
  if (command) parts.push(element("pre", {}, element("code", {}, command)));
  byId("says").replaceChildren(element("div", { class: "empty" }, ...parts));
}
