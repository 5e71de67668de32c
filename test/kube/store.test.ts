import { expect } from 'chai';
import * as fc from 'fast-check';
import { type Change, Store, type Stored } from '../../src/kube/store.ts';

interface Pod extends Stored {
  readonly cluster: string | null;
}

const pod = (name: string, cluster: string | null = null, uid = 'u', resourceVersion = '1'): Pod => ({
  namespace: 'ns',
  name,
  uid,
  resourceVersion,
  cluster,
});

const byCluster = { cluster: (record: Pod): string | null => record.cluster };

describe('a store', () => {
  it('finds by name and by index', () => {
    const store = new Store(byCluster);
    store.put(pod('a', 'one'));
    store.put(pod('b', 'one'));
    store.put(pod('c'));
    expect(store.get('ns', 'a')).to.deep.equal(pod('a', 'one'));
    expect(store.get('other', 'a')).to.equal(undefined);
    expect(store.by('cluster', 'one').map(({ name }) => name)).to.deep.equal(['a', 'b']);
    expect(store.by('cluster', 'two')).to.deep.equal([]);
  });

  it('moves a record between indexes when it changes', () => {
    const store = new Store(byCluster);
    store.put(pod('a', 'one'));
    store.put(pod('a', 'two', 'u', '2'));
    expect(store.by('cluster', 'one')).to.deep.equal([]);
    expect(store.by('cluster', 'two')).to.have.length(1);
    store.put(pod('a', null, 'u', '3'));
    expect(store.by('cluster', 'two')).to.deep.equal([]);
  });

  it('refuses an unknown index', () => {
    expect(() => new Store(byCluster).by('node', 'x')).to.throw(
      TypeError,
      'expected one of the indexes cluster, got node',
    );
  });

  it('returns a snapshot that later changes do not affect', () => {
    const store = new Store(byCluster);
    store.put(pod('a', 'one'));
    for (const { name } of store.by('cluster', 'one')) store.remove('ns', name);
    for (const { name } of store.values()) store.remove('ns', name);
    expect(store.size).to.equal(0);
  });

  it('notifies subscribers after each change until they unsubscribe', () => {
    const store = new Store(byCluster);
    const reported: string[] = [];
    const end = store.subscribe(({ type, before, after }) => {
      reported.push(`${type} ${before?.uid ?? '-'} ${after?.uid ?? '-'} ${store.get('ns', 'a')?.uid ?? '-'}`);
    });
    store.put(pod('a', null, 'u1'));
    store.put(pod('a', null, 'u1', '2'));
    store.put(pod('a', null, 'u2', '3'));
    store.remove('ns', 'a');
    store.remove('ns', 'a');
    end();
    store.put(pod('a', null, 'u3', '4'));
    expect(reported).to.deep.equal([
      'added - u1 u1',
      'updated u1 u1 u1',
      'removed u1 - -',
      'added - u2 u2',
      'removed u2 - -',
    ]);
  });

  it('calls a function twice that subscribed twice, and once less after one of them has ended', () => {
    const store = new Store(byCluster);
    let calls = 0;
    const subscriber = (): void => {
      calls += 1;
    };
    const end = store.subscribe(subscriber);
    store.subscribe(subscriber);
    store.put(pod('a'));
    end();
    store.put(pod('b'));
    expect(calls).to.equal(3);
  });

  it('calls every subscriber even if one throws, and throws afterwards', () => {
    const store = new Store(byCluster);
    const reported: string[] = [];
    store.subscribe(() => {
      throw new Error('no');
    });
    store.subscribe(({ type }: Change<Pod>) => reported.push(type));
    expect(() => store.put(pod('a', null, 'u1'))).to.throw(AggregateError);
    expect(() => store.put(pod('a', null, 'u2'))).to.throw(AggregateError);
    expect(() => store.remove('ns', 'a')).to.throw(AggregateError);
    expect(reported).to.deep.equal(['added', 'removed', 'added', 'removed']);
    expect(store.size).to.equal(0);
  });

  it('behaves like a plain list for any operations', () => {
    const arbitraryPod = fc.record({
      namespace: fc.constantFrom('x', 'y'),
      name: fc.constantFrom('a', 'b', 'c'),
      uid: fc.constantFrom('u1', 'u2'),
      resourceVersion: fc.constant('1'),
      cluster: fc.constantFrom('one', 'two', null),
    });
    const arbitraryChange = fc.record({ removes: fc.boolean(), record: arbitraryPod });
    fc.assert(
      fc.property(fc.array(arbitraryChange), (steps) => {
        const store = new Store<Pod>(byCluster);
        const mirrored = new Map<string, Pod>();
        store.subscribe(({ type, before, after }) => {
          const key = `${(after ?? before).namespace}/${(after ?? before).name}`;
          expect(mirrored.get(key) ?? null).to.equal(before);
          expect(type === 'updated').to.equal(before?.uid === after?.uid);
          if (after) mirrored.set(key, after);
          else mirrored.delete(key);
        });
        const model = new Map<string, Pod>();
        for (const { removes, record } of steps) {
          const key = `${record.namespace}/${record.name}`;
          if (removes) {
            store.remove(record.namespace, record.name);
            model.delete(key);
          } else {
            store.put(record);
            model.set(key, record);
          }
        }
        const all = [...model.values()];
        expect(store.values()).to.have.members(all);
        expect([...mirrored.values()]).to.have.members(all);
        for (const cluster of ['one', 'two']) {
          expect(store.by('cluster', cluster)).to.have.members(all.filter((record) => record.cluster === cluster));
        }
      }),
    );
  });
});
