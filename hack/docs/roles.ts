import {
  clusterPermissions,
  evictionRequestPermissions,
  inPlacePermissions,
  leaderElectionPermissions,
  type Permission,
  releasePermissions,
} from '../../src/objects/permissions.ts';
import { code, table } from './table.ts';

// Writes the roles of config/rbac and of the chart, and the table of rights in docs/security.md, from
// src/objects/permissions.ts.

const written = '# Written by `make docs` from src/objects/permissions.ts.\n';

function rule({ group, resource, verbs, names }: Permission): readonly string[] {
  return [
    `- apiGroups: [${group === '' ? "''" : group}]`,
    `  resources: [${resource}]`,
    ...(names === undefined ? [] : [`  resourceNames: [${names.join(', ')}]`]),
    `  verbs: [${verbs.join(', ')}]`,
  ];
}

const indented = (lines: readonly string[]): string => lines.map((line) => `  ${line}\n`).join('');

/** One rule for each kind of object, unless some of its rights depend on a condition. */
function rulesOf(permissions: readonly Permission[]): string {
  const keyOf = ({ group, resource, names, needsPolicy }: Permission): string =>
    JSON.stringify([group, resource, names, needsPolicy]);
  return [...Map.groupBy(permissions, keyOf).values()]
    .map(([first, ...others]) => {
      if (first === undefined) return '';
      return indented(rule({ ...first, verbs: [first, ...others].flatMap(({ verbs }) => verbs) }));
    })
    .join('');
}

/** The rules of the chart. Some depend on a condition. */
function templatedRules(permissions: readonly Permission[]): string {
  const always = permissions.filter(({ needsPolicy }) => needsPolicy !== true);
  const withPolicy = permissions.filter(({ needsPolicy }) => needsPolicy === true);
  return [
    rulesOf(always),
    '  {{- if $.Values.controllerPolicy.enabled }}\n',
    rulesOf(withPolicy),
    '  {{- end }}\n',
    '  {{- if $.Values.featureGates.InPlaceUpdate }}\n',
    rulesOf(inPlacePermissions),
    '  {{- end }}\n',
    '  {{- if $.Values.featureGates.EvictionRequests }}\n',
    rulesOf(evictionRequestPermissions),
    '  {{- end }}\n',
  ].join('');
}

/** In the order of the chart: rules with a condition come last. */
const byCondition = (one: Permission, other: Permission): number =>
  Number(one.needsPolicy === true) - Number(other.needsPolicy === true);

const role = (kind: string, name: string, rules: string, namespace?: string): string =>
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
metadata:
  name: ${name}
${namespace === undefined ? '' : `  namespace: ${namespace}\n`}rules:
${rules}`;

const templatedRole = (kind: string, name: string, rules: string, namespace?: string): string =>
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}
metadata:
  name: ${name}
${namespace === undefined ? '' : `  namespace: ${namespace}\n`}  labels:
    {{- include "moco-rollout.labels" $ | nindent 4 }}
rules:
${rules}`;

const boundTo = (kind: string, name: string, namespace?: string): string =>
  `apiVersion: rbac.authorization.k8s.io/v1
kind: ${kind}Binding
metadata:
  name: ${name}
${namespace === undefined ? '' : `  namespace: ${namespace}\n`}  labels:
    {{- include "moco-rollout.labels" $ | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ${kind}
  name: ${name}
subjects:
  - kind: ServiceAccount
    name: {{ include "moco-rollout.serviceAccountName" $ }}
    namespace: {{ $.Release.Namespace }}
`;

const controller = 'moco-rollout-controller';
const leaderElection = 'moco-rollout-leader-election';
const inNamespaces = clusterPermissions.filter(({ isOfWholeCluster }) => isOfWholeCluster !== true);

/** The generated files by their paths in the project. */
export const roleFiles: Readonly<Record<string, () => string>> = {
  'config/rbac/role.yaml': () =>
    `${written}# It needs no right to finalizers of MySQLClusters, because its ownerReferences don't block the owner's deletion. What it may
# write with these rights, the ValidatingAdmissionPolicies beside this file say.
${role('ClusterRole', controller, rulesOf(clusterPermissions.toSorted(byCondition)))}`,
  'config/rbac/leader-election-role.yaml': () =>
    written + role('Role', leaderElection, rulesOf(leaderElectionPermissions), 'moco-rollout-system'),
  'config/helm/moco-rollout/templates/role.yaml': () =>
    `{{- /* Written by \`make docs\` from src/objects/permissions.ts. */ -}}
{{- if .Values.namespaces }}
{{- range .Values.namespaces }}
---
${templatedRole('Role', controller, templatedRules(inNamespaces), '{{ . }}')}---
${boundTo('Role', controller, '{{ . }}')}{{- end }}
{{- else }}
${templatedRole('ClusterRole', controller, templatedRules(clusterPermissions))}---
${boundTo('ClusterRole', controller)}{{- end }}
`,
  'config/helm/moco-rollout/templates/leader-election-role.yaml': () =>
    `{{- /* Written by \`make docs\` from src/objects/permissions.ts. */ -}}
${templatedRole('Role', leaderElection, rulesOf(leaderElectionPermissions), '{{ $.Release.Namespace }}')}`,
};

const grants: readonly (readonly [where: string, permissions: readonly Permission[]])[] = [
  ['', clusterPermissions],
  ['in its own namespace', leaderElectionPermissions],
  ['with `InPlaceUpdate`', inPlacePermissions],
  ['with `EvictionRequests`', evictionRequestPermissions],
  ['while the chart is uninstalled', releasePermissions],
];

function row({ group, resource, verbs, names, why, usedBy, confinedBy = [] }: Permission, where: string): string[] {
  const what = `${code(resource)}${group === '' ? '' : ` (${group})`}${names === undefined ? '' : ` ${names.join(', ')}`}`;
  const places = usedBy.map((place) => {
    const [file = '', word = ''] = place.split(':');
    return `[${word}](../src/${file})`;
  });
  const rules = confinedBy.filter((message) => !aboutMetadata.some((one) => message.startsWith(one)));
  const general = confinedBy.length > rules.length ? ['metadata as below'] : [];
  return [
    `${what}${where === '' ? '' : `, ${where}`}`,
    verbs.join(', '),
    why,
    places.join(', '),
    confinedBy.length === 0
      ? 'reads'
      : [...general, ...rules.map((message) => message.replace(/^moco-rollout /, ''))].join('; '),
  ];
}

/** The first words of messages about metadata. These messages apply to objects of every kind. */
const aboutMetadata = [
  'moco-rollout changes no owner',
  'moco-rollout removes no record',
  'moco-rollout changes no label but',
  'moco-rollout changes no annotation but',
  'moco-rollout changes few labels',
];

/** @param messages the messages of all policies in config/rbac */
export const securitySections = (messages: readonly string[]): Readonly<Record<string, string>> => ({
  rights: table(
    ['on', 'it may', 'to', 'code', 'and the policies say: moco-rollout …'],
    grants.flatMap(([where, permissions]) =>
      permissions.map((permission) =>
        row(
          { ...permission, ...(permission.confinedBy && { confinedBy: whole(permission.confinedBy, messages) }) },
          where,
        ),
      ),
    ),
  ),
});

/** The messages that begin with one of these texts. */
const whole = (begins: readonly string[], messages: readonly string[]): readonly string[] =>
  begins.flatMap((begin) => {
    const found = messages.filter((message) => message.startsWith(begin));
    if (found.length === 0)
      throw new Error(`Expected a message of a policy in config/rbac that begins with "${begin}".`);
    // If several prefixes match a message, it belongs to the longest one.
    return found.filter((message) => !begins.some((other) => other.length > begin.length && message.startsWith(other)));
  });
