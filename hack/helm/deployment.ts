import type { Edit } from './template.ts';

const affinity = `        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              podAffinityTerm:
                topologyKey: kubernetes.io/hostname
                labelSelector:
                  matchLabels:
                    app.kubernetes.io/name: moco-rollout
                    app.kubernetes.io/component: controller
`;

const resources = `            requests:
              cpu: 100m
              memory: 192Mi
            limits:
              memory: 512Mi
`;

const optional = (name: string): string =>
  `      {{- with $.Values.${name} }}\n      ${name}:\n        {{- toYaml . | nindent 8 }}\n      {{- end }}\n`;

/** Where values come into the Deployment. A manifest that is changed at one of these places says so here. */
export const deploymentEdits: readonly Edit[] = [
  { from: '  replicas: 2\n', to: '  replicas: {{ $.Values.replicas }}\n' },
  {
    from: '        kubectl.kubernetes.io/default-container: controller\n',
    to: `        kubectl.kubernetes.io/default-container: controller
        {{- with $.Values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
`,
  },
  {
    from: '      serviceAccountName: moco-rollout\n',
    to: `      serviceAccountName: moco-rollout
${['imagePullSecrets', 'nodeSelector', 'tolerations'].map(optional).join('')}      {{- with $.Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
`,
  },
  {
    from: affinity,
    to: `        {{- with $.Values.affinity }}
        {{- toYaml . | nindent 8 }}
        {{- else }}
${affinity}        {{- end }}
`,
  },
  {
    from: '          image: moco-rollout:0.1.0\n          imagePullPolicy: IfNotPresent\n',
    to: `          image: {{ include "moco-rollout.image" $ }}
          imagePullPolicy: {{ $.Values.image.pullPolicy }}
`,
  },
  {
    from: '            - --leader-election-namespace=$(POD_NAMESPACE)\n',
    to: `            - --leader-election-namespace=$(POD_NAMESPACE)
            {{- with include "moco-rollout.args" $ | trim }}
            {{- . | nindent 12 }}
            {{- end }}
`,
  },
  { from: resources, to: '            {{- toYaml $.Values.resources | nindent 12 }}\n' },
  {
    from: '            - name: metrics\n',
    to: `            {{- if include "moco-rollout.servesWebhook" $ }}
            - name: webhook
              containerPort: 9443
            {{- end }}
            - name: metrics
`,
  },
  {
    from: '              drop: [ALL]\n',
    to: `              drop: [ALL]
          {{- if or (include "moco-rollout.servesWebhook" $) $.Values.extraVolumeMounts }}
          volumeMounts:
            {{- if include "moco-rollout.servesWebhook" $ }}
            - name: webhook-certificate
              mountPath: /tmp/k8s-webhook-server/serving-certs
              readOnly: true
            {{- end }}
            {{- with $.Values.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
          {{- end }}
      {{- if or (include "moco-rollout.servesWebhook" $) $.Values.extraVolumes }}
      volumes:
        {{- if include "moco-rollout.servesWebhook" $ }}
        - name: webhook-certificate
          secret:
            secretName: {{ $.Values.certificate.secretName }}
        {{- end }}
        {{- with $.Values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
`,
  },
];
