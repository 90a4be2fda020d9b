// Search and versions. Pages lie side by side, so addresses are relative to the folder of this script.
(() => {
	const root = new URL("./", document.currentScript.src);
	const search = document.getElementById("search"), found = document.getElementById("found");
	// Sections that have all the words; those that have them in their heading come first.
	const matching = (words) => sections
		.map((s) => ({ s, head: (s.page + " " + s.heading).toLowerCase(), all: (s.page + " " + s.heading + " " + s.text).toLowerCase() }))
		.filter((m) => words.every((w) => m.all.includes(w)))
		.sort((a, b) => words.filter((w) => b.head.includes(w)).length - words.filter((w) => a.head.includes(w)).length)
		.slice(0, 12);
	const around = (text, word) => {
		const at = Math.max(0, text.toLowerCase().indexOf(word) - 40);
		return (at > 0 ? "… " : "") + text.slice(at, at + 120);
	};
	const show = () => {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		found.replaceChildren(...(words.length === 0 ? [] : matching(words)).map(({ s }) => {
			const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
			link.href = new URL("." + s.url, root) + (s.anchor ? "#" + s.anchor : "");
			link.textContent = s.heading ? s.page + " · " + s.heading : s.page;
			text.textContent = around(s.text, words[0]);
			item.append(link, text);
			return item;
		}));
		if (words.length > 0 && found.children.length === 0) {
			const item = document.createElement("li");
			item.textContent = "No page has " + words.join(" and ");
			found.append(item);
		}
	};
	search.addEventListener("input", show);
	search.value = new URLSearchParams(location.search).get("q") ?? "";
	show();
	search.addEventListener("keydown", (e) => {
		if (e.key === "Escape") { search.value = ""; show(); }
		if (e.key === "Enter") found.querySelector("a")?.click();
	});
	addEventListener("keydown", (e) => {
		if (e.key === "/" && document.activeElement === document.body) { e.preventDefault(); search.focus(); }
	});
	if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".menu").open = false;

	// Beside the versions lies the list of them; a build alone has none.
	const versions = document.getElementById("versions");
	const list = document.createElement("script");
	list.src = new URL("../versions.js", root);
	list.onload = () => {
		versions.replaceChildren(...lockproofVersions.map((v) => new Option(v, v, v === versions.dataset.version, v === versions.dataset.version)));
		versions.onchange = () => { location.href = new URL("../" + versions.value + "/index.html", root); };
	};
	document.head.append(list);
})();
