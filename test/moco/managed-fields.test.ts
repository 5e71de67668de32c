import { expect } from 'chai';
import { labelSetAt, newestManagers } from '../../src/moco/managed-fields.ts';
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

describe('who has written an object last', () => {
  const entry = (manager: string, time: string, more: object = {}): object => ({
    manager,
    time,
    fieldsV1: {},
    ...more,
  });
  const lines: Readonly<Record<string, readonly [managedFields: unknown, managers: readonly string[]]>> = {
    'is the writer with the newest time': [[entry('a', created), entry('b', changed)], ['b']],
    'are both of two who write in turn, since times are whole seconds': [
      [entry('b', changed), entry('a', '2026-07-01T11:59:59Z'), entry('c', '2026-07-01T11:59:58Z')],
      ['a', 'b'],
    ],
    'is named once, however many entries it has': [[entry('a', changed), entry('a', changed)], ['a']],
    'is nobody who writes the status': [[entry('a', created), entry('b', changed, { subresource: 'status' })], ['a']],
    'is not known without times': [[{ manager: 'a' }], []],
    'is not known without managed fields': [undefined, []],
  };
  for (const [sentence, [managedFields, managers]] of Object.entries(lines)) {
    it(sentence, () => {
      expect(newestManagers(managedFields)).to.deep.equal(managers);
    });
  }
});
