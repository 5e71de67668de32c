import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { deploymentEdits } from './deployment.ts';
import { type Edit, type TemplateOptions, template } from './template.ts';
import { valuesSchema } from './values-schema.ts';

const configDirectory = fileURLToPath(new URL('../../config', import.meta.url));

export const chartDirectory = join(configDirectory, 'helm/moco-rollout');

const read = (path: string): Promise<string> => readFile(join(configDirectory, path), 'utf8');

/** Where the namespace is not one: no Role can grant these. */
const ofWholeCluster: readonly string[] = ['mysqlrolloutpolicies', 'namespaces'];

/** Whether any webhook is registered, so that the controller has to answer. */
const servesWebhook = '(include "moco-rollout.servesWebhook" .)';

const webhookIngress = `    {{- if include "moco-rollout.servesWebhook" $ }}
    - ports:
        - port: webhook
    {{- end }}
`;

/** cert-manager puts the CA in, or the values have it. */
const authorityEdits: readonly Edit[] = [
  { from: '  annotations:\n', to: '  {{- if $.Values.certificate.certManager }}\n  annotations:\n' },
  { from: 'moco-rollout-webhook\nwebhooks:', to: 'moco-rollout-webhook\n  {{- end }}\nwebhooks:' },
  {
    from: '    clientConfig:\n',
    to: `    clientConfig:
      {{- if not $.Values.certificate.certManager }}
      caBundle: {{ $.Values.certificate.caBundle }}
      {{- end }}
`,
  },
];

/**
 * Everything of the chart that is not written by hand, by its path in the chart: made of the manifests that kustomize
 * installs, so that there is one of each.
 */
export async function chartFiles(): Promise<Readonly<Record<string, string>>> {
  const from = async (path: string, options?: TemplateOptions): Promise<string> => {
    const source = `{{- /* Written by hack/helm/main.ts from config/${path} */ -}}\n`;
    return source + template(await read(path), options);
  };
  return {
    'Chart.yaml': chart(),
    'values.schema.json': `${JSON.stringify(valuesSchema(), null, 2)}\n`,
    'files/moco-rollout.json': await read('grafana/moco-rollout.json'),
    ...(await definitions(from)),
    ...(await users(from)),
    ...(await admissionPolicy(from)),
    'templates/certificate.yaml': await from('webhook-server/certificate.yaml', {
      when: `and ${servesWebhook} .Values.certificate.certManager`,
      edits: [{ from: 'moco-rollout-webhook-certificate', to: '{{ $.Values.certificate.secretName }}' }],
    }),
    'templates/deployment.yaml': await from('manager/deployment.yaml', { edits: deploymentEdits }),
    'templates/leader-election-role.yaml': await from('rbac/leader-election-role.yaml'),
    'templates/leader-election-role-binding.yaml': await from('rbac/leader-election-role-binding.yaml'),
    'templates/metrics-service.yaml': await from('manager/metrics-service.yaml'),
    'templates/network-policy.yaml': await from('manager/network-policy.yaml', {
      when: '.Values.networkPolicy.enabled',
      edits: [{ from: '  ingress:\n', to: `  ingress:\n${webhookIngress}` }],
    }),
    'templates/partition-webhook.yaml': await from('partition-driver/mutating-webhook-configuration.yaml', {
      when: 'eq .Values.partitionDriver "own"',
      edits: authorityEdits,
    }),
    'templates/pod-disruption-budget.yaml': await from('manager/pod-disruption-budget.yaml', {
      when: 'gt (int .Values.replicas) 1',
    }),
    'templates/prometheus-rule.yaml': await from('prometheus/prometheus-rule.yaml', {
      when: '.Values.prometheusRule.enabled',
      moreLabels: '$.Values.prometheusRule.labels',
    }),
    'templates/role.yaml': await role(),
    'templates/service-account.yaml': await from('rbac/service-account.yaml'),
    'templates/service-monitor.yaml': await from('prometheus/service-monitor.yaml', {
      when: '.Values.serviceMonitor.enabled',
      moreLabels: '$.Values.serviceMonitor.labels',
    }),
    'templates/webhook-service.yaml': await from('webhook-server/service.yaml', { when: servesWebhook }),
    'templates/webhook.yaml': await from('webhook/mutating-webhook-configuration.yaml', {
      when: 'eq (include "moco-rollout.admission" .) "webhook"',
      edits: authorityEdits,
    }),
  };
}

type From = (path: string, options?: TemplateOptions) => Promise<string>;

function chart(): string {
  const { name, version, description } = manifest;
  const kubeVersion = '>=1.30.0-0';
  return `# Written by hack/helm/main.ts from package.json\n${stringify(
    { apiVersion: 'v2', name, description, type: 'application', version, appVersion: version, kubeVersion },
    { lineWidth: 120 },
  )}`;
}

/** As templates: what Helm finds in `crds` it never upgrades. And kept: deleting a CRD deletes every object of its kind. */
async function definitions(from: From): Promise<Record<string, string>> {
  const files = (await readdir(join(configDirectory, 'crd'))).filter((file) => file.endsWith('.yaml')).toSorted();
  const annotations = '  annotations:\n    helm.sh/resource-policy: keep\n';
  const made = files.map(async (file): Promise<[string, string]> => {
    const name = file.replace('moco-rollout.io_', 'crd-');
    return [`templates/${name}`, await from(`crd/${file}`, { when: '.Values.crds.install', annotations })];
  });
  return Object.fromEntries(await Promise.all(made));
}

async function users(from: From): Promise<Record<string, string>> {
  const files = (await readdir(join(configDirectory, 'users'))).filter((file) => file.endsWith('.yaml')).toSorted();
  const when = '.Values.users.create';
  const made = files.map(
    async (file): Promise<[string, string]> => [`templates/users-${file}`, await from(`users/${file}`, { when })],
  );
  return Object.fromEntries(await Promise.all(made));
}

/** In the version that the API server has: v1, or v1beta1 where only that is served. */
async function admissionPolicy(from: From): Promise<Record<string, string>> {
  const when = 'eq (include "moco-rollout.admission" .) "policy"';
  const version = {
    from: 'apiVersion: admissionregistration.k8s.io/v1\n',
    to: 'apiVersion: {{ include "moco-rollout.admissionPolicyVersion" $ }}\n',
  };
  const made = ['mutating-admission-policy.yaml', 'binding.yaml'].map(async (file): Promise<[string, string]> => {
    const name = file === 'binding.yaml' ? 'admission-policy-binding.yaml' : 'admission-policy.yaml';
    return [`templates/${name}`, await from(`admission-policy/${file}`, { when, edits: [version] })];
  });
  return Object.fromEntries(await Promise.all(made));
}

/** A ClusterRole, or a Role in each namespace that is listed. */
async function role(): Promise<string> {
  const paths = ['rbac/role.yaml', 'rbac/role-binding.yaml'];
  const [text = '', binding = ''] = await Promise.all(paths.map(read));
  const wide = parse(text) as { rules: readonly { resources: readonly string[] }[] };
  const rules = wide.rules.filter(({ resources }) => !resources.every((one) => ofWholeCluster.includes(one)));
  const here = {
    from: '  name: moco-rollout-controller\n',
    to: '  name: moco-rollout-controller\n  namespace: {{ . }}\n',
  };
  const narrow = stringify({ ...wide, kind: 'Role', rules }).replace(here.from, here.to);
  const narrowBinding = binding
    .replace('kind: ClusterRoleBinding', 'kind: RoleBinding')
    .replace('kind: ClusterRole\n', 'kind: Role\n')
    .replace(here.from, here.to);
  return [
    `{{- /* Written by hack/helm/main.ts from ${paths.map((path) => `config/${path}`).join(' and ')} */ -}}`,
    '{{- if .Values.namespaces }}',
    '{{- range .Values.namespaces }}',
    '---',
    templated(narrow),
    '---',
    templated(narrowBinding),
    '{{- end }}',
    '{{- else }}',
    templated(text),
    '---',
    templated(binding),
    '{{- end }}\n',
  ].join('\n');
}

/** Of what is a template already where it names the namespace. */
function templated(text: string): string {
  return template(text.replaceAll('{{ . }}', '@here@')).replaceAll('@here@', '{{ . }}').trimEnd();
}
