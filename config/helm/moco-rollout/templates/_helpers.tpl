{{- define "moco-rollout.labels" -}}
{{ with .Values.commonLabels }}{{ toYaml . }}
{{ end -}}
app.kubernetes.io/part-of: moco-rollout
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- /* Of a pod of the controller. Selectors have these two alone, because a selector can't be changed. */ -}}
{{- define "moco-rollout.selector" -}}
app.kubernetes.io/name: moco-rollout
app.kubernetes.io/component: controller
{{- end }}

{{- define "moco-rollout.podLabels" -}}
{{ with merge (dict) .Values.podLabels .Values.commonLabels }}{{ toYaml . }}{{ end }}
{{- end }}

{{- define "moco-rollout.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "moco-rollout.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default "moco-rollout" }}
{{- end }}

{{- /* Where the pods of the Deployment and of the Jobs run, and how they get their image. */ -}}
{{- define "moco-rollout.scheduling" -}}
serviceAccountName: {{ include "moco-rollout.serviceAccountName" . }}
automountServiceAccountToken: true
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- /* Files that are mounted belong to the group of the pod, and no other user can read them. */ -}}
{{- define "moco-rollout.fsGroup" -}}
{{- if and (include "moco-rollout.volumes" . | trim) (not (kindIs "invalid" .Values.fsGroup)) -}}
fsGroup: {{ .Values.fsGroup | int64 }}
{{- end }}
{{- end }}

{{- define "moco-rollout.args" -}}
{{- $gates := list }}
{{- range $gate, $on := .Values.featureGates }}
{{- if $on }}
{{- $gates = append $gates (printf "%s=true" $gate) }}
{{- end }}
{{- end }}
{{- with $gates }}
- --feature-gates={{ join "," . }}
{{- end }}
{{- with .Values.namespaces }}
- --namespaces={{ join "," . }}
{{- end }}
{{- if include "moco-rollout.servesWebhook" . }}
- --webhook-bind-address=:9443
- --cert-dir=/tmp/k8s-webhook-server/serving-certs
{{- end }}
{{- if eq .Values.partitionDriver "own" }}
- --partition-driver=own
{{- end }}
{{- if not .Values.controllerPolicy.enabled }}
- --dry-run-pods=false
{{- end }}
{{- with .Values.prometheus.url }}
- --prometheus-url={{ . }}
{{- end }}
{{- if .Values.prometheus.ca.configMap }}
- --prometheus-ca-file=/etc/moco-rollout/prometheus/ca.crt
{{- end }}
{{- if .Values.prometheus.token.secret }}
- --prometheus-token-file=/etc/moco-rollout/prometheus/token
{{- end }}
{{- if .Values.prometheus.basicAuth.secret }}
- --prometheus-basic-auth-file=/etc/moco-rollout/prometheus/basic-auth
{{- end }}
{{- if .Values.prometheus.headers.secret }}
- --prometheus-headers-file=/etc/moco-rollout/prometheus/headers
{{- end }}
{{- with .Values.prometheus.proxyUrl }}
- --prometheus-proxy-url={{ . }}
{{- end }}
{{- range $setting, $value := .Values.settings }}
- --{{ ternary "default-strategy" (kebabcase $setting) (eq $setting "strategy") }}={{ $value }}
{{- end }}
{{- range $flag, $value := .Values.flags }}
- {{ printf "--%s=%s" $flag (toJson $value | trimAll "\"") | quote }}
{{- end }}
{{- end }}

{{- /* A release of every namespace that is worked in; without a list, of all of them at once. */ -}}
{{- define "moco-rollout.releases" -}}
{{- if .Values.namespaces -}}
{{- range .Values.namespaces }}
- { name: moco-rollout-release-{{ . | trunc 40 | trimSuffix "-" }}-{{ . | sha256sum | trunc 6 }}, of: "--namespace={{ . }}" }
{{- end }}
{{- else }}
- { name: moco-rollout-release, of: --all-namespaces }
{{- end }}
{{- end }}

{{- /* The volumes of the controller, as a list in YAML: empty without any. */ -}}
{{- define "moco-rollout.volumes" -}}
{{- if include "moco-rollout.servesWebhook" . }}
- name: webhook-certificate
  secret:
    secretName: {{ .Values.certificate.secretName }}
    defaultMode: 288 # 0440
{{- end }}
{{- if include "moco-rollout.prometheusFiles" . }}
- name: prometheus
  projected:
    defaultMode: 288 # 0440
    sources:
      {{- with .Values.prometheus.ca.configMap }}
      - configMap:
          name: {{ . }}
          items:
            - key: {{ $.Values.prometheus.ca.key }}
              path: ca.crt
      {{- end }}
      {{- with .Values.prometheus.token.secret }}
      - secret:
          name: {{ . }}
          items:
            - key: {{ $.Values.prometheus.token.key }}
              path: token
      {{- end }}
      {{- with .Values.prometheus.basicAuth.secret }}
      - secret:
          name: {{ . }}
          items:
            - key: {{ $.Values.prometheus.basicAuth.key }}
              path: basic-auth
      {{- end }}
      {{- with .Values.prometheus.headers.secret }}
      - secret:
          name: {{ . }}
          items:
            - key: {{ $.Values.prometheus.headers.key }}
              path: headers
      {{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Whether files for Prometheus are mounted; empty for no. */ -}}
{{- define "moco-rollout.prometheusFiles" -}}
{{- with .Values.prometheus -}}
{{- if or .ca.configMap .token.secret .basicAuth.secret .headers.secret -}}
true
{{- end -}}
{{- end -}}
{{- end }}

{{- define "moco-rollout.volumeMounts" -}}
{{- if include "moco-rollout.servesWebhook" . }}
- name: webhook-certificate
  mountPath: /tmp/k8s-webhook-server/serving-certs
  readOnly: true
{{- end }}
{{- if include "moco-rollout.prometheusFiles" . }}
- name: prometheus
  mountPath: /etc/moco-rollout/prometheus
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* What keeps adopted StatefulSets at OnDelete: policy, webhook or none. `helm template` without a cluster knows its
version alone. */ -}}
{{- define "moco-rollout.admission" -}}
{{- if ne .Values.admission "auto" -}}
{{ .Values.admission }}
{{- else if or (include "moco-rollout.servedPolicyVersion" .) (semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version) -}}
policy
{{- else -}}
webhook
{{- end -}}
{{- end }}

{{- define "moco-rollout.servedPolicyVersion" -}}
{{- if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
admissionregistration.k8s.io/v1
{{- else if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy" -}}
admissionregistration.k8s.io/v1beta1
{{- end -}}
{{- end }}

{{- define "moco-rollout.admissionPolicyVersion" -}}
{{ include "moco-rollout.servedPolicyVersion" . | default "admissionregistration.k8s.io/v1" }}
{{- end }}

{{- /* Whether any webhook is registered, so that the controller has to answer; empty for no. */ -}}
{{- define "moco-rollout.servesWebhook" -}}
{{- if or (eq (include "moco-rollout.admission" .) "webhook") (eq .Values.partitionDriver "own") -}}
true
{{- end -}}
{{- end }}
