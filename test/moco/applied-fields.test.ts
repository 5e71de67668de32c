import { expect } from 'chai';
import { alteredFields } from '../../src/moco/applied-fields.ts';

// As the API server returned them for MySQLClusters of moco-controller 0.36 (test/cluster/real-moco-contention.test.ts).

const owned = (...names: readonly string[]): object => Object.fromEntries(names.map((name) => [`f:${name}`, {}]));
/** An item of a list that MOCO owns. */
const item = (keys: object, fields: object): object => ({
  [`k:${JSON.stringify(keys)}`]: { '.': {}, ...owned(...Object.keys(keys)), ...fields },
});

interface Case {
  /** `spec.podTemplate.spec` of the MySQLCluster. */
  readonly wanted: object;
  /** `spec.template.spec` of the StatefulSet. */
  readonly live: object;
  /** What MOCO owns of it. */
  readonly fields: object;
  readonly altered: readonly string[];
}

const env = (wanted: object, live: object, fields: object): Omit<Case, 'altered'> => ({
  wanted: { containers: [{ name: 'side', env: [{ name: 'A', ...wanted }] }] },
  live: { containers: [{ name: 'mysqld' }, { name: 'side', env: [{ name: 'A', ...live }] }] },
  fields: { 'f:containers': item({ name: 'side' }, { 'f:env': item({ name: 'A' }, fields) }) },
});
const from = (field: string, wanted: object, live: object): Omit<Case, 'altered'> =>
  env({ valueFrom: { [field]: wanted } }, { valueFrom: { [field]: live } }, { 'f:valueFrom': owned(field) });

const cases: Readonly<Record<string, Case>> = {
  'fieldRef without apiVersion gets it': {
    ...from('fieldRef', { fieldPath: 'metadata.name' }, { apiVersion: 'v1', fieldPath: 'metadata.name' }),
    altered: ['added spec.podTemplate.spec.containers[side].env[A].valueFrom.fieldRef.apiVersion'],
  },
  'fieldRef with apiVersion stays as it is': {
    ...from('fieldRef', { apiVersion: 'v1', fieldPath: 'a' }, { apiVersion: 'v1', fieldPath: 'a' }),
    altered: [],
  },
  'resourceFieldRef without divisor gets it': {
    ...from('resourceFieldRef', { resource: 'limits.cpu' }, { resource: 'limits.cpu', divisor: '0' }),
    altered: ['added spec.podTemplate.spec.containers[side].env[A].valueFrom.resourceFieldRef.divisor'],
  },
  'an empty value is not stored': {
    ...env({ value: '' }, {}, owned('value')),
    altered: ['dropped spec.podTemplate.spec.containers[side].env[A].value'],
  },
  'another value has not been applied yet': { ...env({ value: 'b' }, { value: 'a' }, owned('value')), altered: [] },
  'a token without expirationSeconds gets it': {
    wanted: { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }] },
    live: {
      volumes: [
        {
          name: 'v',
          projected: {
            defaultMode: 420,
            sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: 3600 } }],
          },
        },
      ],
    },
    fields: { 'f:volumes': item({ name: 'v' }, { 'f:projected': owned('sources') }) },
    altered: ['added spec.podTemplate.spec.volumes[v].projected.sources[0].serviceAccountToken.expirationSeconds'],
  },
  'false is not stored where it is the same as nothing': {
    wanted: { hostNetwork: false, containers: [{ name: 'side', stdin: false }] },
    live: { containers: [{ name: 'side' }] },
    fields: { ...owned('hostNetwork'), 'f:containers': item({ name: 'side' }, owned('stdin')) },
    altered: ['dropped spec.podTemplate.spec.hostNetwork', 'dropped spec.podTemplate.spec.containers[side].stdin'],
  },
  'empty requests are not stored': {
    wanted: { containers: [{ name: 'side', resources: { limits: { cpu: '1000m' }, requests: {} } }] },
    live: { containers: [{ name: 'side', resources: { limits: { cpu: '1' } } }] },
    fields: {
      'f:containers': item({ name: 'side' }, { 'f:resources': { 'f:limits': owned('cpu'), ...owned('requests') } }),
    },
    altered: ['dropped spec.podTemplate.spec.containers[side].resources.requests'],
  },
  'an emptyDir is stored as it is': {
    wanted: { volumes: [{ name: 'v', emptyDir: {} }] },
    live: { volumes: [{ name: 'v', emptyDir: {} }] },
    fields: { 'f:volumes': item({ name: 'v' }, owned('emptyDir')) },
    altered: [],
  },
  'what the API server adds to fields of MOCO is not compared': {
    wanted: { containers: [{ name: 'side', ports: [{ containerPort: 80, protocol: 'TCP' }] }] },
    live: {
      dnsPolicy: 'ClusterFirst',
      containers: [{ name: 'side', imagePullPolicy: 'Always', ports: [{ containerPort: 80, protocol: 'TCP' }] }],
    },
    fields: { 'f:containers': item({ name: 'side' }, { 'f:ports': item({ containerPort: 80, protocol: 'TCP' }, {}) }) },
    altered: [],
  },
  'what MOCO does not apply is not compared': {
    wanted: { containers: [{ name: 'mysqld', readinessProbe: { exec: { command: [] } } }] },
    live: { containers: [{ name: 'mysqld' }] },
    fields: { 'f:containers': item({ name: 'mysqld' }, {}) },
    altered: [],
  },
};

describe('fields that MOCO applies again and again', () => {
  for (const [sentence, { wanted, live, fields, altered }] of Object.entries(cases)) {
    it(sentence, () => {
      const statefulSet = {
        metadata: {
          managedFields: [
            { manager: 'kube-controller-manager', operation: 'Update', subresource: 'status', fieldsV1: {} },
            { manager: 'moco-controller', operation: 'Update', fieldsV1: {} },
            {
              manager: 'moco-controller',
              operation: 'Apply',
              fieldsV1: { 'f:spec': { 'f:template': { 'f:spec': fields } } },
            },
          ],
        },
        spec: { template: { spec: live } },
      };
      const found = alteredFields({ spec: { podTemplate: { spec: wanted } } }, statefulSet);
      expect(found.map(({ path, what }) => `${what} ${path}`)).to.deep.equal(altered);
    });
  }

  it('are not known without managed fields', () => {
    expect(alteredFields({ spec: { podTemplate: { spec: { hostNetwork: false } } } }, {})).to.deep.equal([]);
  });
});
