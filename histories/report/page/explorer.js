(() => {
  "use strict";
  const $ = (id) => document.getElementById("lp-" + id);
  const starts = JSON.parse($("starts").textContent);
  let state = {x: 0, at: -1, edited: false, actions: [], options: {}}, last = null;

  const make = (tag, text, props) => Object.assign(document.createElement(tag), {textContent: text ?? ""}, props);
  const encode = (v) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(v)))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const decode = (s) => JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(s.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0))));

  function ask(s) {
    return JSON.parse(lockproofExplore(JSON.stringify({file: starts[s.x].file, edited: s.edited, actions: s.actions, options: s.options, at: s.at})));
  }

  // address reads the step and the schedule from the address, or reports that they are not there.
  function address() {
    const h = location.hash;
    const plain = /^#explore-(\d+)$/.exec(h);
    if (plain && starts[+plain[1]]) { state = {x: +plain[1], at: -1, edited: false, actions: [], options: {}}; return true; }
    if (!h.startsWith("#explore=")) return false;
    try {
      const s = decode(h.slice(9));
      if (!starts[s.x]) return false;
      state = {x: s.x, at: s.at, edited: !!s.edited, actions: s.actions || [], options: s.options || {}};
    } catch { return false; }
    return true;
  }

  function show(next, keep) {
    const began = performance.now();
    const r = ask(next);
    if (r.error) { $("status").hidden = false; $("status").textContent = r.error; return; }
    $("status").hidden = true;
    state = next; state.at = r.at; last = r;
    const hash = "#explore=" + encode(state);
    if (!keep && location.hash !== hash) history.replaceState(null, "", hash);
    draw(r);
    $("app").dataset.milliseconds = (performance.now() - began).toFixed(1);
  }

  function table(element, heads, rows) {
    const head = make("tr"), body = document.createElement("tbody");
    heads.forEach((h) => head.append(make("th", h, {scope: "col"})));
    rows.forEach((cells) => { const tr = make("tr"); cells.forEach((c) => tr.append(make("td", c))); body.append(tr); });
    const thead = document.createElement("thead"); thead.append(head);
    element.replaceChildren(thead, body);
  }

  function buttons(element, choices, offset) {
    element.replaceChildren(...choices.map((c, i) => {
      const key = i + offset < 9 ? i + offset + 1 + " " : "";
      const b = make("button", (offset < 9 ? key : "") + c.text, {type: "button", className: c.taken ? "taken" : ""});
      b.dataset.action = JSON.stringify(c.action);
      if (c.taken) b.title = "what this execution does";
      b.onclick = () => choose(c);
      return b;
    }));
    if (!choices.length) element.append(make("p", "nothing: it is over", {className: "soft"}));
  }

  function draw(r) {
    const now = r.steps[r.at];
    $("start").value = state.x;
    $("where").textContent = `step ${r.at} of ${r.actions.length}`;
    $("first").disabled = $("back").disabled = r.at === 0;
    $("on").disabled = $("last").disabled = r.at === r.actions.length;
    $("steps").replaceChildren(...r.steps.map((s, i) => {
      const li = make("li"), b = make("button", s.text, {type: "button"});
      if (s.mark) b.className = "r";
      if (i === r.at) b.setAttribute("aria-current", "step");
      b.onclick = () => show({...state, at: i});
      li.append(b);
      return li;
    }));
    const current = $("steps").querySelector("[aria-current]");
    if (current && current.offsetTop) $("steps").scrollTop = current.offsetTop - $("steps").offsetTop - 120;
    buttons($("next"), r.enabled.filter((c) => !c.fault), 0);
    buttons($("faults"), r.enabled.filter((c) => c.fault), 9);
    table($("clients"), ["", "doing", "believes", "connection"], now.clients.map((c) => [c.name, c.doing, c.believes, c.link]));
    table($("queues"), ["queue", "declared", "messages", "exclusive to"], now.resources.map((q) => [q.name, q.kind, q.content, q.owner || "–"]));
    const broken = r.properties.filter((p) => p.step);
    $("verdict").replaceChildren();
    if (broken.length) {
      $("verdict").append(make("b", "✗ " + broken.map((p) => p.name).join(", "), {className: "r"}), " " + broken[0].cause);
    } else {
      $("verdict").append(make("b", "✓ nothing is violated", {className: "g"}), " in these " + r.actions.length + " steps.");
    }
    $("properties").replaceChildren(...r.properties.map((p) => {
      const li = make("li", "", {title: p.sentence}), seen = p.step && p.step <= r.at;
      li.append(make("span", p.step ? "✗ " : "✓ ", {className: p.step ? "r" : "g"}), make("span", p.name, {className: seen ? "r" : ""}));
      if (p.step) li.append(make("span", ` shows in step ${p.step}: ${p.explain}`, {className: "soft"}));
      return li;
    }));
    $("strips").innerHTML = r.strips; $("strips").hidden = !r.strips;
    $("diagram").innerHTML = r.diagram;
    const row = document.getElementById("step-" + r.at);
    if (row) row.setAttribute("class", "now");
    options(r);
    if ($("save").href) URL.revokeObjectURL($("save").href);
    $("save").href = URL.createObjectURL(new Blob([r.saved], {type: "application/json"}));
    $("save").download = r.savedName;
  }

  function options(r) {
    $("options").replaceChildren(...r.options.map((o) => {
      const l = make("label", o.name + " ", {title: o.doc});
      const words = /^[a-z|-]+$/.test(o.values) && o.values.includes("|") ? o.values.split("|") : null;
      const input = words ? document.createElement("select") : document.createElement("input");
      if (words) words.forEach((w) => input.append(new Option(w, w)));
      input.value = o.value; input.disabled = o.fixed; input.name = o.name;
      if (!words) { input.size = 6; input.placeholder = o.values; }
      input.onchange = () => show({...state, options: {...state.options, [o.name]: input.value}});
      l.append(input);
      return l;
    }));
  }

  // choose has something happen after the step at hand: what the execution did from there on is left out, unless it is just that.
  function choose(c) {
    if (c.taken) return show({...state, at: state.at + 1});
    show({...state, edited: true, actions: [...last.actions.slice(0, last.at), c.action], at: last.at + 1});
  }

  function finish() {
    let s = {...state, edited: true, actions: [...last.actions], at: -1};
    for (let i = 0; i < 200; i++) {
      const next = ask(s).enabled.find((c) => !c.fault && (c.action.do !== "advance" || i === 0));
      if (!next || next.action.do === "advance" && !last.steps.at(-1).clients.some((c) => c.doing !== "nothing" && c.doing !== "dead")) break;
      s = {...s, actions: [...s.actions, next.action]};
    }
    show(s);
  }

  // space has the dots of the state space lead to their states.
  function space() {
    const g = JSON.parse($("graph").textContent);
    if (!g) return;
    const dots = $("map").querySelectorAll("circle");
    dots.forEach((dot, i) => dot.onclick = () => {
      const actions = [];
      for (let at = i; at > 0; at = g.nodes[at].parent) actions.unshift(g.nodes[at].action);
      dots.forEach((e) => e.classList.remove("here"));
      dot.classList.add("here");
      show({x: starts.length - 1, at: -1, edited: true, actions, options: {}});
    });
    $("space").hidden = false;
  }

  function begin() {
    space();
    $("start").replaceChildren(...starts.map((s, i) => new Option(s.name, i)));
    const fresh = (x) => ({x, at: -1, edited: false, actions: [], options: {}});
    $("start").onchange = (e) => show(fresh(+e.target.value));
    $("first").onclick = () => show({...state, at: 0});
    $("back").onclick = () => state.at > 0 && show({...state, at: state.at - 1});
    $("on").onclick = () => state.at < last.actions.length && show({...state, at: state.at + 1});
    $("last").onclick = () => show({...state, at: -1});
    $("finish").onclick = finish;
    $("reset").onclick = () => show(fresh(state.x));
    document.addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
      const keys = {ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last"};
      if (keys[e.key] && !e.target.closest("figure")) { e.preventDefault(); $(keys[e.key]).click(); return; }
      if (/^[1-9]$/.test(e.key)) { const b = $("next").querySelectorAll("button")[e.key - 1]; if (b) b.click(); }
    });
    addEventListener("hashchange", () => { if (address()) { show(state, true); $("app").scrollIntoView(); } });
    const linked = address();
    $("app").hidden = false;
    show(state, !linked);
    if (linked) document.getElementById("explorer").scrollIntoView();
  }

  // asked has the program that serves the page answer.
  function asked(question) {
    const request = new XMLHttpRequest();
    request.open("POST", "ask", false);
    try { request.send(question); } catch { return JSON.stringify({error: "The program that served this page does not answer any more."}); }
    return request.status === 200 ? request.responseText : JSON.stringify({error: request.responseText});
  }

  (async () => {
    if (!$("wasm")) {
      globalThis.lockproofExplore = asked;
      begin();
      return;
    }
    $("status").textContent = "The explorer is being unpacked …";
    try {
      const packed = Uint8Array.from(atob($("wasm").textContent), (c) => c.charCodeAt(0));
      const unpacked = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
      const go = new Go();
      globalThis.lockproofReady = begin;
      const {instance} = await WebAssembly.instantiate(await unpacked.arrayBuffer(), go.importObject);
      go.run(instance);
    } catch (e) {
      $("status").textContent = "The explorer can't be started in this browser: " + e;
    }
  })();
})();
