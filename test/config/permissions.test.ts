import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { controllerPolicies } from '../../src/objects/controller-policy.ts';
import {
  clusterPermissions,
  evictionRequestPermissions,
  inPlacePermissions,
  leaderElectionPermissions,
  type Permission,
  releasePermissions,
} from '../../src/objects/permissions.ts';
import { readManifests } from './manifests.ts';

const permissions: readonly Permission[] = [
  ...clusterPermissions,
  ...leaderElectionPermissions,
  ...inPlacePermissions,
  ...evictionRequestPermissions,
  ...releasePermissions,
];
const writes = ['create', 'update', 'patch', 'delete'];

describe('each right', () => {
  let messages: readonly string[];

  before(async () => {
    const policies = (await readManifests('rbac')).filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
    expect(policies.map(({ metadata }) => metadata.name)).to.have.members([...controllerPolicies]);
    messages = policies.flatMap(({ spec }) =>
      (spec as { validations: { message: string }[] }).validations.map(({ message }) => message),
    );
  });

  for (const { resource, verbs, usedBy, confinedBy = [] } of permissions) {
    it(`${verbs.join(', ')} ${resource} names code that uses it, and is confined if it writes`, () => {
      for (const place of usedBy) {
        const [file = '', word = ''] = place.split(':');
        const source = readFileSync(fileURLToPath(new URL(`../../src/${file}`, import.meta.url)), 'utf8');
        expect(source.includes(word), `src/${file} has ${word}`).to.equal(true);
      }
      expect(usedBy, 'code that uses it').not.to.deep.equal([]);
      const isWrite = verbs.some((verb) => writes.includes(verb));
      expect(confinedBy.length > 0, 'rules of a policy in config/rbac that confine it').to.equal(isWrite);
      for (const begin of confinedBy) {
        expect(
          messages.some((message) => message.startsWith(begin)),
          `a policy with a message "${begin}…"`,
        ).to.equal(true);
      }
    });
  }

  it('is confined by expressions that an API server compiles: RE2 repeats at most 1,000 times', async () => {
    const text = JSON.stringify(await readManifests('rbac'));
    const numbers = [...text.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].flatMap(([, ...found]) => found.map(Number));
    expect(numbers.filter((number) => number > 1000)).to.deep.equal([]);
  });

  it('is why every rule of the policies is there', () => {
    const begins = permissions.flatMap(({ confinedBy = [] }) => confinedBy);
    const idle = messages.filter((message) => !begins.some((begin) => message.startsWith(begin)));
    expect(idle, 'messages that no right names in src/objects/permissions.ts').to.deep.equal([]);
  });
});
