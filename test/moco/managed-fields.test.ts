import { expect } from 'chai';
import { labelSetAt } from '../../src/moco/json.ts';
import { revisionHashLabel } from '../../src/moco/names.ts';
import { revisionOwner } from '../support/label-owner.ts';

const created = '2026-07-01T11:00:00Z';
const changed = '2026-07-01T12:00:00Z';

describe('when a label was set', () => {
  const lines: Readonly<Record<string, readonly [managedFields: unknown, at: string | null]>> = {
    'is the time of the writer that has set it': [[revisionOwner('a', created)], created],
    'is the later time where two writers have set the same': [
      [revisionOwner('a', changed), revisionOwner('b', created)],
      changed,
    ],
    'is not known from writers of other fields': [
      [{ manager: 'kubelet', time: changed, fieldsV1: { 'f:status': {} } }],
      null,
    ],
    'is not known without the time': [[revisionOwner('a', created), { ...revisionOwner('b', ''), time: null }], null],
    'is not known without managed fields': [undefined, null],
  };
  for (const [sentence, [managedFields, at]] of Object.entries(lines)) {
    it(sentence, () => {
      expect(labelSetAt(managedFields, revisionHashLabel)).to.equal(at);
    });
  }
});
