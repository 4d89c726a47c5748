// Checks receipts (lingee-receipt/1) and proofs (C2SP tlog-proof) in the reader's own browser: SHA-256 along the
// path of RFC 6962 / RFC 9162, and the log's Ed25519 signature where the browser has that algorithm. Nothing is sent
// anywhere. The same text stands inside the page that can be saved and opened from a disk.
"use strict";
(() => {
  const HEADER = "c2sp.org/tlog-proof@v1";
  const KINDS = { admission: "submission.admitted", release: "result.released" };
  const HASH_BYTES = 32;
  const LONGEST_PATH = 64;
  const utf8 = new TextEncoder();

  class Invalid extends Error {}

  const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const joined = (...parts) => {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  };
  const same = (one, other) => one.length === other.length && one.every((byte, at) => byte === other[at]);
  const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

  function unbase64(text) {
    let binary;
    try {
      binary = atob(text);
    } catch {
      throw new Invalid("malformed");
    }
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    if (btoa(binary) !== text) throw new Invalid("malformed");
    return bytes;
  }

  const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", joined(...parts)));
  const leafHash = (entry) => sha256(Uint8Array.of(0), entry);
  const nodeHash = (left, right) => sha256(Uint8Array.of(1), left, right);

  function parseProof(text) {
    const end = text.indexOf("\n\n");
    if (end < 0) throw new Invalid("malformed");
    const lines = text.slice(0, end).split("\n");
    if (lines.shift() !== HEADER) throw new Invalid("malformed");
    const extra = lines[0]?.startsWith("extra ") ? unbase64(lines.shift().slice(6)) : null;
    const index = /^index (0|[1-9][0-9]{0,14})$/.exec(lines.shift() ?? "");
    const path = lines.map(unbase64);
    if (!index || path.length > LONGEST_PATH || path.some((hash) => hash.length !== HASH_BYTES)) {
      throw new Invalid("malformed");
    }
    return { extra, index: Number(index[1]), path, note: text.slice(end + 2) };
  }

  function parseNote(text) {
    const end = text.lastIndexOf("\n\n");
    if (end < 0 || !text.endsWith("\n")) throw new Invalid("malformed");
    const body = text.slice(0, end + 1);
    const [origin, size, root] = body.split("\n");
    if (!/^(0|[1-9][0-9]{0,14})$/.test(size ?? "") || !origin) throw new Invalid("malformed");
    const signatures = text.slice(end + 2, -1).split("\n").map((line) => {
      const match = /^— ([^\s+]+) ([A-Za-z0-9+/=]+)$/.exec(line);
      const bytes = match && unbase64(match[2]);
      if (!bytes || bytes.length < 5) throw new Invalid("malformed");
      return { name: match[1], id: bytes.slice(0, 4), signature: bytes.slice(4) };
    });
    const found = { body, origin, size: Number(size), root: unbase64(root ?? ""), signatures };
    if (found.root.length !== HASH_BYTES) throw new Invalid("malformed");
    return found;
  }

  async function parseKey(text) {
    const match = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/.exec(text.trim());
    const bytes = match && unbase64(match[3]);
    if (!bytes || bytes.length !== 33 || bytes[0] !== 1) throw new Invalid("badKey");
    const id = (await sha256(utf8.encode(`${match[1]}\n`), bytes)).slice(0, 4);
    if (hex(id) !== match[2]) throw new Invalid("badKey");
    return { name: match[1], id, key: bytes.slice(1) };
  }

  // RFC 9162, section 2.1.3.2; sizes stay below 2**53, so plain numbers are exact.
  async function climb(leaf, index, size, path) {
    if (index >= size) throw new Invalid("outside");
    let node = index;
    let last = size - 1;
    let hash = leaf;
    const up = () => {
      node = Math.floor(node / 2);
      last = Math.floor(last / 2);
    };
    for (const sibling of path) {
      if (last === 0) throw new Invalid("badPath");
      if (node % 2 === 1 || node === last) {
        hash = await nodeHash(sibling, hash);
        while (node % 2 === 0 && node !== 0) up();
      } else {
        hash = await nodeHash(hash, sibling);
      }
      up();
    }
    if (last !== 0) throw new Invalid("badPath");
    return hash;
  }

  // "good", "noKey" (no line is by one of the keys), "unable" (the browser lacks Ed25519); throws on a wrong one.
  async function checkSignature(note, keys) {
    let outcome = "noKey";
    for (const key of keys) {
      if (key.name !== note.origin) continue;
      for (const line of note.signatures) {
        if (line.name !== key.name || !same(line.id, key.id)) continue;
        let imported;
        try {
          imported = await crypto.subtle.importKey("raw", key.key, { name: "Ed25519" }, false, ["verify"]);
        } catch {
          return "unable";
        }
        const good = await crypto.subtle.verify("Ed25519", imported, line.signature, utf8.encode(note.body));
        if (!good) throw new Invalid("badSignature");
        outcome = "good";
      }
    }
    return outcome;
  }

  async function checkProof(text, keys, expected) {
    const proof = parseProof(text);
    if (!proof.extra) throw new Invalid("noEntry");
    const note = parseNote(proof.note);
    const root = await climb(await leafHash(proof.extra), proof.index, note.size, proof.path);
    if (!same(root, note.root)) throw new Invalid("badPath");
    const entry = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(proof.extra));
    if (expected && (entry.kind !== expected.kind || entry.subject?.id !== expected.subject)) {
      throw new Invalid("otherEntry");
    }
    return { proof, note, entry, signature: await checkSignature(note, keys) };
  }

  // The proofs in what was given, each with what its entry has to be: {name, text, expected}.
  function parts(text) {
    if (!text.trimStart().startsWith("{")) return [{ name: "", text: text.replace(/\r\n/g, "\n"), expected: null }];
    let receipt;
    try {
      receipt = JSON.parse(text);
    } catch {
      throw new Invalid("malformed");
    }
    if (receipt.schema !== "lingee-receipt/1" || typeof receipt.admission !== "string") throw new Invalid("malformed");
    return Object.keys(KINDS).filter((name) => typeof receipt[name] === "string").map((name) => ({
      name, text: receipt[name], expected: { kind: KINDS[name], subject: receipt.submission },
    }));
  }

  function start(form) {
    const words = Object.fromEntries([...form.querySelectorAll("[data-word]")].map((item) => [item.dataset.word, item.textContent]));
    const say = (key, facts = {}) => (words[key] ?? key).replace(/\[(\w+)\]/g, (_, name) => facts[name] ?? "–");
    const result = form.querySelector("[data-result]");
    const source = form.querySelector("[data-source]");
    const keysField = form.querySelector("[data-keys]");
    const file = form.querySelector("[data-file]");

    function show(tone, lines) {
      result.className = `notice notice-${tone}`;
      result.replaceChildren();
      const box = document.createElement("div");
      for (const line of lines) {
        const paragraph = document.createElement("p");
        paragraph.textContent = line;
        box.append(paragraph);
      }
      result.append(box);
      result.hidden = false;
    }

    async function check() {
      if (!globalThis.crypto?.subtle) return show("warn", [say("noCrypto")]);
      const lines = [];
      let tone = "good";
      try {
        const keys = await Promise.all(keysField.value.split("\n").filter((line) => line.trim()).map(parseKey));
        for (const part of parts(source.value)) {
          const found = await checkProof(part.text, keys, part.expected);
          const facts = { kind: found.entry.kind, index: found.proof.index, size: found.note.size, origin: found.note.origin,
            root: base64(found.note.root), time: found.entry.time };
          lines.push(say("inTree", facts), say(found.signature, facts));
          if (found.signature !== "good") tone = "warn";
        }
      } catch (error) {
        tone = "bad";
        lines.push(say(error instanceof Invalid ? error.message : "malformed"));
      }
      return show(tone, lines);
    }

    file?.addEventListener("change", async () => {
      if (file.files[0]) source.value = await file.files[0].text();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      check();
    });
    form.querySelector("button").disabled = false;
  }

  for (const form of document.querySelectorAll("form[data-verifier]")) start(form);
})();
