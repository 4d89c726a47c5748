// A button beside each command that copies it; where the browser keeps the clipboard from a page, the command is marked.
"use strict";
(() => {
  function mark(code) {
    const range = document.createRange();
    range.selectNodeContents(code);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  }

  async function copied(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      return false;
    }
  }

  for (const box of document.querySelectorAll("[data-command]")) {
    const code = box.querySelector("code");
    const button = box.querySelector("button");
    const status = box.querySelector("[role=status]");
    button.addEventListener("click", async () => {
      mark(code);
      status.textContent = (await copied(code.textContent)) ? status.dataset.copied : status.dataset.marked;
    });
    button.hidden = false;
  }
})();
