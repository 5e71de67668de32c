import { expect } from 'chai';
import { labelSetAt, newestManagers, whoseOf, writersOf } from '../../src/moco/managed-fields.ts';
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
    'is not a manager that writes only the status': [
      [entry('a', created), entry('b', changed, { subresource: 'status' })],
      ['a'],
    ],
    'is not known without times': [[{ manager: 'a' }], []],
    'is not known without managed fields': [undefined, []],
  };
  for (const [sentence, [managedFields, managers]] of Object.entries(lines)) {
    it(sentence, () => {
      expect(newestManagers(managedFields)).to.deep.equal(managers);
    });
  }
});

const fieldsOf = (field: string): object => ({ 'f:spec': { [`f:${field}`]: {} } });
const writer = (manager: string, time: string, fieldsV1: object, more: object = {}): object => ({
  manager,
  time,
  fieldsV1,
  ...more,
});

describe('who has written a template lately', () => {
  const template = fieldsOf('template');
  const writers = (...managedFields: readonly object[]) => writersOf({ metadata: { managedFields } }, 'template');

  it('is the newest writer first, and none who wrote more than ten minutes before', () => {
    expect(
      writers(
        writer('moco-controller', '2026-07-01T11:51:00Z', template),
        writer('reloader', '2026-07-01T12:00:00Z', template),
        writer('helm', '2026-07-01T11:49:59Z', template),
      ),
    ).to.deep.equal(['reloader', 'moco-controller']);
  });

  it('is no manager that has written other fields, the status, or at an unknown time', () => {
    expect(
      writers(
        writer('kube-controller-manager', changed, template, { subresource: 'status' }),
        writer('hpa', changed, fieldsOf('replicas')),
        writer('old', '', template),
      ),
    ).to.deep.equal([]);
    expect(writersOf({}, 'template')).to.deep.equal([]);
  });

  it('are three at most, each once', () => {
    const many = Array.from({ length: 50 }, (_, index) => writer(`w${index % 10}`, changed, template));
    expect(writers(...many)).to.deep.equal(['w0', 'w1', 'w2']);
  });
});

describe('whose an object is', () => {
  const spec = { 'f:spec': {} };
  const lines: Readonly<Record<string, readonly [metadata: object, whose: string | null]>> = {
    'says its controller before other owners': [
      {
        ownerReferences: [
          { kind: 'Other', name: 'x' },
          { kind: 'Kafka', name: 'orders', controller: true },
        ],
        managedFields: [writer('helm', changed, spec)],
      },
      'owned by Kafka orders',
    ],
    'says an owner that does not control it': [{ ownerReferences: [{ kind: 'Other', name: 'x' }] }, 'owned by Other x'],
    'says who has written its spec without an owner': [
      {
        managedFields: [
          writer('helm', changed, spec),
          writer('kube-controller-manager', changed, { 'f:status': {} }, { subresource: 'status' }),
          writer('labeler', changed, { 'f:metadata': {} }),
          writer('kubectl-edit', changed, spec),
        ],
      },
      'managed by helm, kubectl-edit',
    ],
    'is not known where nothing shows it': [{}, null],
    'is cut where it is too long': [
      { ownerReferences: [{ kind: 'K', name: 'x'.repeat(999) }] },
      `owned by K ${'x'.repeat(241)}…`,
    ],
  };
  for (const [sentence, [metadata, whose]] of Object.entries(lines)) {
    it(sentence, () => expect(whoseOf({ metadata })).to.equal(whose));
  }
});
