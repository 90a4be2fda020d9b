// What the search looks through: each section of each page.
const sections = [
{{- range site.Pages }}{{ $page := . }}
{{- range $i, $part := split .RawContent "\n## " }}
{{- $lines := split $part "\n" }}
{{- $heading := index $lines 0 | replaceRE "^# " "" }}
	{page: {{ partial "title" $page | jsonify }}, url: {{ $page.RelPermalink | jsonify }}, heading: {{ cond (eq $i 0) "" ($heading | plainify) | jsonify }}, anchor: {{ cond (eq $i 0) "" ($heading | anchorize) | jsonify }}, text: {{ delimit (after 1 $lines) " " | replaceRE "\\]\\([^)]*\\)|[\\[|`*]|---" "" | replaceRE `\s+` " " | jsonify }}},
{{- end }}
{{- end }}
];
