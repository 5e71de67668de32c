import type { Json } from '../../../src/base/json.ts';

const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } };
const get = {
  path: '/healthz',
  port: 8080,
  httpHeaders: [
    { name: 'A', value: 'a' },
    { name: 'B', value: 'b' },
  ],
};
const selector = { matchLabels: { team: 'a' }, matchExpressions: [{ key: 'x', operator: 'In', values: ['a', 'b'] }] };
const term = { topologyKey: 'zone', labelSelector: selector };
const field = (fieldPath: string): Json => ({ fieldRef: { fieldPath } });

/** A template that has a bit of everything, and more than one item in each list whose order may have a meaning. */
export const bitOfEverything: Json = {
  metadata: { labels: { team: 'a', role: 'db' }, annotations: { note: 'a', other: 'b' } },
  spec: {
    terminationGracePeriodSeconds: 60,
    activeDeadlineSeconds: 10_000,
    serviceAccountName: 'default',
    automountServiceAccountToken: false,
    shareProcessNamespace: false,
    hostname: 'db',
    nodeSelector: { disk: 'fast', zone: 'a' },
    dnsPolicy: 'None',
    dnsConfig: {
      nameservers: ['192.0.2.1', '192.0.2.2'],
      searches: ['a.example', 'b.example'],
      options: [
        { name: 'ndots', value: '2' },
        { name: 'timeout', value: '1' },
      ],
    },
    hostAliases: [
      { ip: '192.0.2.3', hostnames: ['a', 'b'] },
      { ip: '192.0.2.4', hostnames: ['a'] },
    ],
    imagePullSecrets: [{ name: 'one' }, { name: 'two' }],
    readinessGates: [{ conditionType: 'example.com/a' }, { conditionType: 'example.com/b' }],
    tolerations: [
      { key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 60 },
      { key: 'b', operator: 'Equal', value: 'c' },
    ],
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: selector },
      { maxSkew: 2, topologyKey: 'host', whenUnsatisfiable: 'ScheduleAnyway' },
    ],
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [term, { ...term, topologyKey: 'host' }],
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }],
      },
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'a', operator: 'Exists' },
                { key: 'b', operator: 'Exists' },
              ],
            },
            { matchExpressions: [{ key: 'c', operator: 'Exists' }] },
          ],
        },
      },
    },
    securityContext: {
      fsGroup: 1000,
      runAsUser: 1000,
      supplementalGroups: [1, 2],
      sysctls: [
        { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' },
        { name: 'net.ipv4.tcp_syncookies', value: '1' },
      ],
    },
    volumes: [
      { name: 'empty', emptyDir: { sizeLimit: '1Gi' } },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
      {
        name: 'config',
        configMap: {
          name: 'a',
          items: [
            { key: 'a', path: 'a' },
            { key: 'b', path: 'b' },
          ],
        },
      },
      { name: 'secret', secret: { secretName: 'a', defaultMode: 0o400 } },
      { name: 'path', hostPath: { path: '/a' } },
      {
        name: 'down',
        downwardAPI: {
          items: [
            { path: 'a', ...field('metadata.uid') },
            { path: 'b', ...field('metadata.name') },
          ],
        },
      },
      {
        name: 'projected',
        projected: {
          sources: [
            { serviceAccountToken: { path: 'token' } },
            { configMap: { name: 'a' } },
            { secret: { name: 'a', items: [{ key: 'a', path: 'c' }] } },
            { downwardAPI: { items: [{ path: 'a', ...field('metadata.uid') }] } },
          ],
        },
      },
    ],
    initContainers: [
      { name: 'copy', image: 'example/agent:1', args: ['a', 'b'] },
      { name: 'proxy', image: 'example/proxy:1', restartPolicy: 'Always', startupProbe: { exec: { command: ['a'] } } },
      {
        name: 'init',
        image: 'example/init:1',
        env: [
          { name: 'A', value: 'a' },
          { name: 'B', value: '$(A)' },
        ],
      },
    ],
    containers: [
      {
        name: 'agent',
        image: 'example/agent:1',
        command: ['/agent', '--verbose'],
        args: ['--a', '--b'],
        workingDir: '/work',
        env: [
          { name: 'A', value: 'a' },
          { name: 'B', value: '$(A)' },
          { name: 'UID', valueFrom: field('metadata.uid') },
          { name: 'CPU', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
        ],
        envFrom: [{ configMapRef: { name: 'a' } }, { prefix: 'X_', secretRef: { name: 'a', optional: true } }],
        ports: [
          { name: 'a', containerPort: 80 },
          { name: 'b', containerPort: 81, protocol: 'UDP' },
        ],
        resources,
        livenessProbe: { httpGet: get, periodSeconds: 5 },
        readinessProbe: { grpc: { port: 9000 } },
        startupProbe: { tcpSocket: { port: 'a' }, failureThreshold: 30 },
        lifecycle: { preStop: { sleep: { seconds: 5 } }, postStart: { httpGet: { port: 80 } } },
        securityContext: { capabilities: { add: ['A', 'B'], drop: ['ALL'] }, readOnlyRootFilesystem: true },
        volumeMounts: [
          { name: 'empty', mountPath: '/a' },
          { name: 'empty', mountPath: '/a/b', subPath: 'b' },
          { name: 'memory', mountPath: '/c', readOnly: true },
        ],
      },
      {
        name: 'mysqld',
        image: 'example/mysql:1',
        resources,
        env: [
          { name: 'A', value: 'a' },
          { name: 'B', value: '$(A)' },
        ],
        volumeMounts: [
          { name: 'empty', mountPath: '/a' },
          { name: 'memory', mountPath: '/a/b' },
        ],
      },
      { name: 'slow-log', image: 'example/slow-log', stdin: true, tty: true },
    ],
  },
};
