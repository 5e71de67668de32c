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

const mounts = `          volumeMounts:
            - name: webhook-certificate
              mountPath: /tmp/k8s-webhook-server/serving-certs
              readOnly: true
`;

const volumes = `      volumes:
        - name: webhook-certificate
          secret:
            secretName: moco-rollout-webhook-certificate
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
    from: mounts,
    to: `          volumeMounts:
            {{- with $.Values.extraVolumeMounts }}
            {{- toYaml . | nindent 12 }}
            {{- end }}
            - name: webhook-certificate
              mountPath: /tmp/k8s-webhook-server/serving-certs
              readOnly: true
`,
  },
  {
    from: volumes,
    to: `      volumes:
        - name: webhook-certificate
          secret:
            secretName: {{ $.Values.certificate.secretName }}
        {{- with $.Values.extraVolumes }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
`,
  },
];
