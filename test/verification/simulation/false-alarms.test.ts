import { expect } from 'chai';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { pods, type ResourceKind } from '../../../src/kube/resource.ts';
import { clusterNameLabel, revisionHashLabel } from '../../../src/moco/names.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { Ability } from '../witness/ability.ts';
import { Witness } from '../witness/witness.ts';
import { FalseAlarms } from './false-alarms.ts';

const change = (kind: ResourceKind, type: StoreChange['type'], object: object): StoreChange =>
  ({ revision: 1, kind, type, object, before: null }) as unknown as StoreChange;

/** A pod with a grace period of 20 s is asked to go at 0, and has gone after so long; the alarm comes at 60 s. */
function objections(goneAfterMilliseconds: number, impededUntil: number): readonly string[] {
  const ability = new Ability();
  ability.leads(true, -60_000);
  ability.impede(goneAfterMilliseconds, impededUntil);
  const witness = new Witness(null, { ability });
  const alarms = new FalseAlarms(witness, ability);
  const labels = { [clusterNameLabel]: 'test', [revisionHashLabel]: 'moco-test-5897fd84f8' };
  const going = { deletionTimestamp: '2026-07-01T12:00:00Z', deletionGracePeriodSeconds: 20 };
  const metadata = { namespace: 'default', name: 'moco-test-1', uid: 'one', labels, ...going };
  alarms.changed(change(pods, 'MODIFIED', { metadata }), 0);
  alarms.changed(change(pods, 'DELETED', { metadata }), goneAfterMilliseconds);
  const hold = { rule: 'MemberStuckTerminating', message: 'moco-test-1 still exists' };
  alarms.changed(change(rolloutKind, 'MODIFIED', { metadata: { name: 'test' }, status: { hold } }), 60_000);
  return witness.findings.map(({ law }) => law);
}

describe('false alarms', () => {
  it('are those about a pod that went in its time, if the program could see its end', () => {
    expect(objections(15_000, 15_000)).to.deep.equal(['alarm']);
    expect(objections(15_000, 30_000)).to.deep.equal(['alarm']);
    expect(objections(15_000, 55_000)).to.deep.equal([]);
    expect(objections(45_000, 45_000)).to.deep.equal([]);
  });
});
