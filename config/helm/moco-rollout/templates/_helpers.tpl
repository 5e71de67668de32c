{{- define "moco-rollout.labels" -}}
app.kubernetes.io/part-of: moco-rollout
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "moco-rollout.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "moco-rollout.args" -}}
{{- range $gate, $on := .Values.featureGates }}
{{- if $on }}
- --feature-gates={{ $gate }}=true
{{- end }}
{{- end }}
{{- with .Values.namespaces }}
- --namespaces={{ join "," . }}
{{- end }}
{{- range $flag, $value := .Values.flags }}
- {{ printf "--%s=%s" $flag (toJson $value | trimAll "\"") | quote }}
{{- end }}
{{- end }}

{{- /* A hand-back of every namespace that is worked in; without a list, of all of them at once. */ -}}
{{- define "moco-rollout.handBacks" -}}
{{- if .Values.namespaces -}}
{{- range .Values.namespaces }}
- { name: moco-rollout-hand-back-{{ . | trunc 40 | trimSuffix "-" }}-{{ . | sha256sum | trunc 6 }}, of: "--namespace={{ . }}" }
{{- end }}
{{- else }}
- { name: moco-rollout-hand-back, of: --all }
{{- end }}
{{- end }}
