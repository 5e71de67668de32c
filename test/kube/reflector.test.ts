import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { ApiClient } from '../../src/kube/api-client.ts';
import { type Connection, connect } from '../../src/kube/connection.ts';
import { Reflector, type Unavailable } from '../../src/kube/reflector.ts';
import { type Change, Store, type Stored } from '../../src/kube/store.ts';
import type { StoredObject } from '../support/api-server/stored-object.ts';
import { endOfList, FakeApiServer, json, lineOf, things } from './fake-api-server.ts';
import { FakeLog } from './fake-log.ts';
import { FakeWorld, status } from './fake-world.ts';

interface Thing extends Stored {
  readonly size: number;
}

describe('a reflector, over real HTTP', function suite() {
  let server: FakeApiServer;
  let connection: Connection;
  let world: FakeWorld;
  let store: Store<Thing>;
  let log: FakeLog;
  let changes: string[];
  let stop: AbortController;
  let running: Promise<void>;
  let reflector: Reflector<Thing>;
  let project: (raw: Readonly<Record<string, unknown>>) => Thing | null;
  let ignored: string[];
  let failed: number;
  /** What the reflector tells of a kind that it can do without; `null` where it is to wait for it. */
  let unavailable: (Unavailable | null)[] | null;
  let streamsLists: boolean;

  beforeEach(async () => {
    server = await FakeApiServer.start();
    connection = connect({ kubeconfigPath: await server.front.kubeconfig() });
    world = new FakeWorld(connection.exchange);
    store = new Store<Thing>({ size: ({ size }) => String(size) });
    log = new FakeLog();
    changes = [];
    stop = new AbortController();
    store.subscribe((change) => changes.push(described(change)));
    project = (raw) => {
      const { metadata, ...fields } = raw as StoredObject & { readonly metadata: { readonly namespace: string } };
      return { ...metadata, size: JSON.stringify(fields).length };
    };
    ignored = [];
    failed = 0;
    unavailable = null;
    streamsLists = false;
  });

  /** Nothing is left over but connections that wait for the next call, and those end with what keeps them. */
  afterEach(async () => {
    stop.abort();
    await running;
    expect(world.pendingTimers, 'timers left over').to.equal(0);
    expect(getEventListeners(stop.signal, 'abort'), 'listeners left over').to.have.length(0);
    await world.until(() => server.openWatches === 0, 'no watch left over');
    await connection.close();
    await world.until(() => server.front.sockets.size === 0, 'no connection left over');
    await server.front.close();
  });

  const run = (pageSize = 100): void => {
    const client = new ApiClient({ world, qps: 1000, burst: 1000 });
    reflector = new Reflector({
      client,
      world,
      store,
      log,
      kind: things,
      project: (raw) => project(raw),
      pageSize,
      streamsLists,
      observer: {
        ignored: (reason) => ignored.push(reason),
        failed: () => {
          failed += 1;
        },
      },
      ...(unavailable && { onUnavailable: (why) => unavailable?.push(why) }),
    });
    running = reflector.run(stop.signal);
  };

  const cached = (): Readonly<Record<string, string>> =>
    Object.fromEntries(store.values().map(({ name, uid, resourceVersion }) => [name, `${uid}@${resourceVersion}`]));

  const equal = (): boolean => JSON.stringify(sorted(cached())) === JSON.stringify(sorted(server.truth));

  const inSync = async (): Promise<void> => {
    await world.until(() => reflector.hasSynced && equal(), 'the cache to equal the server');
  };

  const watching = async (): Promise<void> => {
    await world.until(() => server.openWatches === 1, 'a watch');
  };

  /** How long it has waited after each failure. */
  const waits = (): readonly number[] =>
    log.lines.map(({ fields }) => (fields as { waitMilliseconds: number }).waitMilliseconds);

  const listed = (): number => server.urls.filter(({ searchParams }) => !searchParams.has('watch')).length;
  const watched = (): number => server.urls.filter(({ searchParams }) => searchParams.has('watch')).length;

  const started = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) server.put(name);
    run();
    await inSync();
    await watching();
  };

  const followsChanges = async (): Promise<void> => {
    await started('a', 'b');
    server.put('c');
    server.put('a', { more: true });
    server.delete('b');
    await inSync();
    expect(changes).to.deep.equal(['added a', 'added b', 'added c', 'updated a', 'removed b']);
  };

  it('lists, then watches additions, changes and removals', async () => {
    await followsChanges();
    expect(listed()).to.equal(1);
  });

  it('lists page by page and fills the store with the last page', async () => {
    for (let index = 0; index < 7; index += 1) server.put(`thing-${index}`);
    const sizes: number[] = [];
    for (let page = 0; page < 4; page += 1) {
      server.lists.push((request, response, self) => {
        sizes.push(store.size);
        self.list(request, response);
      });
    }
    run(2);
    await inSync();
    expect(sizes).to.deep.equal([0, 0, 0, 0]);
    expect(store.size).to.equal(7);
  });

  describe('that streams its list', () => {
    beforeEach(() => {
      streamsLists = true;
    });

    const added = (name: string, version: number): string =>
      lineOf({ type: 'ADDED', object: { metadata: metadata(name, version) } });
    /** A list that says this and breaks off. */
    const says = (...lines: readonly string[]): void => server.beginWatch(lines.join(''), (response) => response.end());

    it('gets objects and changes from one request', async () => {
      await followsChanges();
      expect([watched(), listed()]).to.deep.equal([1, 0]);
      const { searchParams } = server.urls[0] as URL;
      expect(searchParams.get('sendInitialEvents')).to.equal('true');
      expect(searchParams.get('resourceVersionMatch')).to.equal('NotOlderThan');
      expect(searchParams.has('resourceVersion')).to.equal(false);
    });

    it('continues from the end of the list when the server ends the watch', async () => {
      await started('a');
      const { version } = server;
      server.endWatches();
      await world.until(() => watched() === 2, 'a second watch');
      const { searchParams } = server.urls.at(-1) as URL;
      expect(searchParams.get('resourceVersion')).to.equal(version);
      expect(searchParams.has('sendInitialEvents')).to.equal(false);
    });

    it('keeps the store as it is until the list is complete', async () => {
      await started('a', 'b');
      server.breakWatches();
      server.delete('a');
      server.compact();
      says(lineOf({ type: 'ERROR', object: status(410, 'Expired') }));
      let stopped: (() => void) | null = null;
      server.beginWatch(added('new', 200), (response) => {
        stopped = () => response.destroy();
      });
      await world.until(() => stopped !== null, 'the beginning of a list');
      expect(store.values().map(({ name }) => name)).to.deep.equal(['a', 'b']);
      (stopped as (() => void) | null)?.();
      await inSync();
      expect(changes).to.deep.equal(['added a', 'added b', 'removed a']);
    });

    it('applies changes before the end of the list', async () => {
      const gone = { type: 'DELETED', object: { metadata: metadata('gone', 106) } };
      const changed = { type: 'MODIFIED', object: { metadata: metadata('kept', 107) } };
      const lines = [added('gone', 101), added('kept', 102), lineOf(gone), lineOf(changed), lineOf(endOfList('107'))];
      server.beginWatch(lines.join(''));
      run();
      await reflector.synced;
      expect(Object.keys(cached())).to.deep.equal(['kept']);
      expect(store.get('ns', 'kept')?.resourceVersion).to.equal('107');
      expect(changes).to.deep.equal(['added kept']);
    });

    it('lists again after a delay when the list ends before it is complete, is not JSON, or has an error in it', async () => {
      says(added('never', 101));
      says('upstream connect error\n');
      says(added('never', 101), lineOf({ type: 'ERROR', object: status(500, 'InternalError') }));
      await started('a');
      expect(changes).to.deep.equal(['added a']);
      expect(failed).to.equal(3);
      expect(log.of('warn')).to.have.length(3);
    });

    it('doubles its delay after each list that breaks off, however long it took', async () => {
      const breaks: (() => void)[] = [];
      for (let times = 0; times < 3; times += 1) {
        server.beginWatch(added('never', 101), (response) => breaks.push(() => response.destroy()));
      }
      server.put('a');
      run();
      for (let times = 0; times < 3; times += 1) {
        await world.until(() => breaks.length > times, 'the beginning of a list');
        await world.advance(15_000);
        breaks[times]?.();
        await world.until(() => failed > times, 'the end of a list');
      }
      await inSync();
      expect(waits()).to.deep.equal([150, 300, 600]);
    });

    it('skips an object that it cannot decode', async () => {
      says(added('b', 101), lineOf({ type: 'ADDED', object: { metadata: {} } }), lineOf(endOfList('102')));
      server.put('a');
      run();
      await reflector.synced;
      expect(changes).to.deep.equal(['added b']);
      expect(ignored).to.deep.equal(['UnreadableEvent']);
    });

    it('lists page by page, from then on, where the server refuses to stream', async () => {
      server.refuse('watches', 422, 'Invalid');
      await started('a', 'b');
      server.send('not JSON\n');
      await world.until(() => listed() === 2, 'a second list');
      await watching();
      expect(server.urls.filter((url) => url.searchParams.has('sendInitialEvents'))).to.have.length(1);
      expect(changes).to.deep.equal(['added a', 'added b']);
    });

    it('waits for a kind that is not there yet', async () => {
      unavailable = [];
      server.refuse('watches', 404, 'NotFound');
      await started('a');
      expect(unavailable).to.deep.equal(['NotFound', null]);
    });
  });

  it('requests bookmarks and a random timeout between its bounds', async () => {
    world.chance = 0.25;
    await started();
    const { searchParams } = server.urls.at(-1) as URL;
    expect(searchParams.get('allowWatchBookmarks')).to.equal('true');
    expect(searchParams.get('timeoutSeconds')).to.equal('300');
    expect(searchParams.get('resourceVersion')).to.equal(server.version);
  });

  it('watches again at once from the last event when the server ends a watch', async () => {
    await started('a');
    server.put('a');
    await inSync();
    server.endWatches();
    await world.until(() => watched() === 2, 'a second watch', 0);
    await watching();
    server.put('b');
    await inSync();
    expect(listed()).to.equal(1);
    expect(log.of('warn')).to.have.length(0);
  });

  it('continues from a bookmark', async () => {
    await started('a');
    server.bookmark();
    server.bookmark();
    const { version } = server;
    server.endWatches();
    await world.until(() => watched() === 2, 'a second watch');
    expect(server.urls.at(-1)?.searchParams.get('resourceVersion')).to.equal(version);
    expect(listed()).to.equal(1);
  });

  it('never goes back in time when a watch repeats events, whatever has become of their objects', async () => {
    await started('changed', 'gone', 'again');
    const before = server.objects;
    server.put('changed', { more: true });
    server.delete('gone');
    server.delete('again');
    server.put('again');
    await inSync();
    const made = changes.length;
    for (const object of before) server.send(lineOf({ type: 'MODIFIED', object }));
    for (const object of before) server.send(lineOf({ type: 'DELETED', object }));
    server.put('last');
    await inSync();
    expect(changes.slice(made)).to.deep.equal(['added last']);
    expect(ignored).to.deep.equal([]);
  });

  it('backs off when watches end at once', async () => {
    for (let watch = 0; watch < 3; watch += 1) server.watches.push((_, response) => response.end());
    await started('a');
    expect(log.of('warn')).to.have.length(3);
  });

  for (const [name, code, reason, headers] of [
    ['500', 500, 'InternalError', {}],
    ['429 without Retry-After', 429, 'TooManyRequests', {}],
    ['429 with Retry-After', 429, 'TooManyRequests', { 'retry-after': '1' }],
    ['503', 503, 'ServiceUnavailable', {}],
    ['403', 403, 'Forbidden', {}],
    ['404, since the kind is not there yet,', 404, 'NotFound', {}],
  ] as const) {
    it(`recovers from ${name} to a list, and to a watch without another list`, async () => {
      server.refuse('lists', code, reason, 3, headers);
      server.refuse('watches', code, reason, 1, headers);
      await started('a');
      server.put('b');
      await inSync();
      expect(listed()).to.equal(4);
    });
  }

  it('honours Retry-After up to a limit', async () => {
    for (const seconds of ['7', '3600']) {
      server.refuse('lists', 429, 'TooManyRequests', 1, { 'retry-after': seconds });
    }
    server.put('a');
    run();
    await world.until(equal, 'the cache to equal the server', 100);
    expect(waits()).to.deep.equal([7_000, 60_000]);
  });

  it('doubles its delay after each failure up to a limit, and logs it', async () => {
    server.refuse('lists', 500, 'InternalError', 8);
    await started('a');
    expect(waits()).to.deep.equal([200, 400, 800, 1600, 3200, 6400, 10_000, 10_000].map((wait) => wait * 0.75));
  });

  it('logs whole milliseconds', async () => {
    world.chance = 1 / 3;
    server.refuse('lists', 500, 'InternalError');
    await started('a');
    expect(waits().map(Number.isInteger)).to.deep.equal([true]);
  });

  it('lists soon after 410, however long the server was unavailable before, and backs off when it repeats', async () => {
    await started('a');
    server.refuse('watches', 500, 'InternalError', 5);
    server.refuse('watches', 410, 'Expired', 3);
    server.breakWatches();
    await world.until(() => log.lines.length === 9, 'all failures');
    await watching();
    expect(waits()).to.deep.equal([150, 300, 600, 1200, 2400, 4800, 150, 300, 600]);
  });

  it('recovers from a list that breaks off, and from what is no list of its kind', async () => {
    server.lists.push((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"kind":"ThingList","items":[', () => response.destroy());
    });
    server.lists.push((_, response) => response.end('<html>Sign in</html>'));
    server.lists.push((_, response) => json(response, 200, { kind: 'Thing', metadata: { name: 'x' } }));
    const items = [{ metadata: metadata('other', 1) }];
    server.lists.push((_, response) => {
      json(response, 200, { kind: 'OtherList', metadata: { resourceVersion: '100' }, items });
    });
    await started('a');
    expect(listed()).to.equal(5);
    expect(changes).to.deep.equal(['added a']);
    expect(ignored).to.deep.equal(['AnotherKind', 'AnotherKind']);
  });

  it('keeps its objects while lists fail', async () => {
    await started('a', 'b');
    server.compact();
    server.put('c');
    server.compact();
    server.refuse('lists', 500, 'InternalError');
    server.lists.push((request, response, self) => {
      expect(Object.keys(cached())).to.include.members(['a', 'b']);
      self.list(request, response);
    });
    server.breakWatches();
    server.delete('a');
    server.compact();
    await inSync();
    expect(server.lists).to.have.length(0);
  });

  it('misses nothing when the connection is reset in the middle of a line', async () => {
    await started('a');
    server.put('b');
    await inSync();
    const half = JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'never' } } }).slice(0, 40);
    server.send(half);
    server.breakWatches();
    server.put('c');
    server.delete('a');
    await inSync();
    expect(listed()).to.equal(1);
    expect(changes).to.deep.equal(['added a', 'added b', 'added c', 'removed a']);
  });

  it('closes a silent connection and watches from the last resourceVersion', async () => {
    await started('a');
    server.watches.push((_, response) => {
      response.writeHead(200);
      response.flushHeaders();
    });
    server.breakWatches();
    await world.until(() => watched() === 2, 'the silent watch');
    server.put('b');
    await world.until(() => watched() === 3, 'another watch', 1_000);
    await inSync();
    expect(listed()).to.equal(1);
    expect(log.lines.at(-1)?.fields).to.have.property('error').that.has.property('message').that.contains('120 s');
  });

  it('closes a connection that does not answer', async () => {
    await started('a');
    server.watches.push(() => {});
    server.breakWatches();
    await world.until(() => watched() === 3, 'another watch', 500);
    server.put('b');
    await inSync();
    expect(log.lines.at(-1)?.fields).to.have.property('error').that.has.property('reason', 'TimedOut');
  });

  it('keeps a connection with only bookmarks', async () => {
    await started('a');
    for (let minute = 0; minute < 10; minute += 1) {
      await world.advance(60_000);
      server.bookmark();
      await world.until(() => (reflector.ageMilliseconds ?? 0) < 60_000, 'the bookmark');
    }
    server.put('b');
    await inSync();
    expect([watched(), listed()]).to.deep.equal([1, 1]);
    expect(log.lines).to.have.length(0);
  });

  it('lists again on 410 inside a watch, and finds missed changes', async () => {
    await started('a', 'b');
    server.breakWatches();
    server.delete('a');
    server.put('b');
    server.put('c');
    server.compact();
    await inSync();
    expect(listed()).to.equal(2);
    expect(changes).to.deep.equal(['added a', 'added b', 'removed a', 'updated b', 'added c']);
  });

  it('lists again on 410 to a watch, on any other error inside it, and on a line that is not JSON', async () => {
    server.refuse('watches', 410, 'Expired');
    await started('a');
    expect([listed(), changes]).to.deep.equal([2, ['added a']]);
    for (const line of [lineOf({ type: 'ERROR', object: status(500, 'InternalError') }), 'upstream connect error\n']) {
      const before = listed();
      server.send(line);
      await world.until(() => listed() > before, 'another list');
      await watching();
    }
    server.put('b');
    await inSync();
  });

  it('starts again when a page token expires, in pages unless it repeats', async () => {
    for (let index = 0; index < 5; index += 1) server.put(`thing-${index}`);
    const expires = (): void => {
      server.lists.push((request, response, self) => self.list(request, response));
      server.refuse('lists', 410, 'Expired');
    };
    const lists = (): readonly string[] =>
      server.urls.filter(({ searchParams }) => !searchParams.has('watch')).map(({ search }) => search);
    expires();
    expires();
    run(2);
    await inSync();
    await watching();
    const [page1, page2] = ['?limit=2&continue=page-1', '?limit=2&continue=page-2'];
    expect(lists()).to.deep.equal(['?limit=2', page1, '?limit=2', page2, '']);
    expires();
    server.send(lineOf({ type: 'ERROR', object: status(410, 'Expired') }));
    server.put('more');
    await inSync();
    expect(lists().slice(5)).to.have.length(5);
    for (const search of lists().slice(5)) expect(search).to.contain('limit=2');
  });

  it('treats another uid as another object, even at the same resourceVersion, as after a restored backup', async () => {
    for (const uid of ['before', 'after']) {
      const items = [{ metadata: { ...metadata('a', 90), uid } }];
      server.lists.push((_, response) =>
        json(response, 200, { kind: 'ThingList', metadata: { resourceVersion: '100' }, items }),
      );
    }
    run();
    await watching();
    server.send('not JSON\n');
    await world.until(() => listed() === 2, 'a second list');
    await world.until(() => changes.length === 3, 'the other object');
    expect(changes).to.deep.equal(['added a', 'removed a', 'added a']);
  });

  it('watches from the resourceVersion of the first page', async () => {
    for (const [resourceVersion, next, name] of [
      ['100', 'more', 'a'],
      ['105', '', 'b'],
    ] as const) {
      const items = [{ metadata: metadata(name, 90) }];
      server.lists.push((_, response) => {
        json(response, 200, { kind: 'ThingList', metadata: { resourceVersion, continue: next }, items });
      });
    }
    run();
    await watching();
    expect(server.urls.at(-1)?.searchParams.get('resourceVersion')).to.equal('100');
    expect(changes).to.deep.equal(['added a', 'added b']);
  });

  it('resets its backoff after a watch that was open for a while', async () => {
    server.refuse('lists', 500, 'InternalError', 4);
    await started('a');
    await world.advance(10_000);
    server.breakWatches();
    await world.until(() => watched() === 2, 'a second watch');
    expect(waits()).to.deep.equal([150, 300, 600, 1200, 150]);
  });

  it('treats a deleted and recreated object as another one, whether or not a watch shows both', async () => {
    const recreate = (): void => {
      server.delete('a');
      server.put('a');
    };
    await started('a');
    recreate();
    await inSync();
    server.breakWatches();
    recreate();
    server.compact();
    await inSync();
    expect(changes).to.deep.equal(['added a', 'removed a', 'added a', 'removed a', 'added a']);
  });

  it("ignores a late deletion event of an object's predecessor", async () => {
    await started('a');
    const end = { type: 'DELETED', object: { metadata: { ...metadata('a', 1), uid: 'of-another' } } };
    server.send(`${JSON.stringify(end)}\n`);
    server.bookmark();
    server.put('b');
    await world.until(() => store.size === 2, 'b');
    expect(changes).to.deep.equal(['added a', 'added b']);
  });

  it('is not affected by jumps of the wall clock', async () => {
    await started('a');
    for (const jumpMilliseconds of [-3_600_000, 7_200_000]) {
      world.wallOffsetMilliseconds += jumpMilliseconds;
      await world.advance(60_000);
      server.put('b', { jumpMilliseconds });
      await inSync();
    }
    world.wallOffsetMilliseconds -= 86_400_000;
    server.breakWatches();
    await world.until(() => watched() === 2, 'a second watch');
    server.put('c');
    await inSync();
    expect([watched(), listed()]).to.deep.equal([2, 1]);
    expect(log.of('warn'), 'but for the watch that was broken').to.have.length(1);
  });

  it("watches again without another list after an hour's suspension", async () => {
    await started('a');
    server.put('b');
    world.freeze(3_600_000);
    server.put('c');
    server.delete('a');
    await inSync();
    server.put('d');
    await world.until(() => store.get('ns', 'd') !== undefined, 'what comes after it');
    await inSync();
    expect(listed()).to.equal(1);
  });

  it('skips an object whose projection throws', async () => {
    const usual = project;
    project = (raw) => {
      if ((raw as StoredObject)['bad']) throw new Error('expected a good one');
      return usual(raw);
    };
    server.put('listed-bad', { bad: true });
    await expectOnly('good');
    server.put('watched-bad', { bad: true });
    server.put('good', { bad: true });
    server.put('fine');
    await world.until(() => store.get('ns', 'fine') !== undefined, 'the fine one');
    expect(store.values().map(({ name }) => name)).to.deep.equal(['fine']);
    expect(log.of('error')).to.have.length(3);
    expect(ignored).to.deep.equal(['NotProjected', 'NotProjected', 'NotProjected']);
    expect(listed()).to.equal(1);
  });

  it('passes unchanged objects of lists and watches to the projection', async () => {
    const usual = project;
    const managedFields = [{ manager: 'somebody', operation: 'Apply' }];
    const came: unknown[] = [];
    project = (raw) => {
      came.push((raw['metadata'] as { managedFields?: unknown }).managedFields);
      return usual(raw);
    };
    server.put('listed', { metadata: { managedFields } });
    await started();
    server.put('watched', { metadata: { managedFields } });
    await inSync();
    expect(came).to.deep.equal([managedFields, managedFields]);
  });

  it('removes an object that its projection rejects', async () => {
    const usual = project;
    project = (raw) => ((raw as StoredObject)['unwanted'] ? null : usual(raw));
    await started('a', 'b');
    server.put('a', { unwanted: true });
    await world.until(() => store.size === 1, 'a to leave');
    server.delete('a');
    server.delete('b');
    await inSync();
    expect(changes).to.deep.equal(['added a', 'added b', 'removed a', 'removed b']);
  });

  it('skips malformed events, objects and kinds, and reports why', async () => {
    await started('a');
    const lines: readonly (readonly [line: object, why: string])[] = [
      [{ type: 'ADDED' }, 'UnreadableEvent'],
      [{ type: 'ADDED', object: null }, 'UnreadableEvent'],
      [{ type: 'MODIFIED', object: { metadata: {} } }, 'UnreadableEvent'],
      [{ type: 'DELETED', object: { metadata: { name: 'a' } } }, 'UnreadableEvent'],
      [{ type: 'BOOKMARK', object: {} }, 'UnreadableEvent'],
      [{ type: 'RENAMED', object: { metadata: metadata('x', 1) } }, 'UnknownEvent'],
      [{ type: { deep: 'x'.repeat(1_000_000) } }, 'UnknownEvent'],
      [{}, 'UnknownEvent'],
      [{ type: 'ADDED', object: { kind: 'Other', metadata: metadata('x', 9_999) } }, 'AnotherKind'],
      [
        { type: 'DELETED', object: { kind: 'Other', metadata: { ...metadata('a', 9_999), uid: 'uid-1' } } },
        'AnotherKind',
      ],
    ];
    for (const [line] of lines) server.send(`${lineOf(line)}\n`);
    server.put('b');
    await inSync();
    expect(listed()).to.equal(1);
    expect(log.of('error')).to.have.length(lines.length);
    expect(ignored).to.deep.equal(lines.map(([, why]) => why));
    const said = log.lines.map(({ fields }) => (fields as { error: Error }).error.message.length);
    expect(Math.max(...said), 'of what came, no more than a line is said').to.be.below(200);
  });

  it('skips malformed items and items of another kind in a list', async () => {
    server.put('a');
    server.lists.push((_, response) => {
      const { truth, version } = server;
      const [uid, resourceVersion] = truth['a']?.split('@') ?? [];
      const items = [
        null,
        'text',
        [],
        { metadata: null },
        { metadata: { name: 'nameless' } },
        { kind: 'Other', metadata: metadata('other', 1) },
        { metadata: { namespace: 'ns', name: 'a', uid, resourceVersion } },
      ];
      json(response, 200, { kind: 'ThingList', metadata: { resourceVersion: version }, items });
    });
    run();
    await inSync();
    await watching();
    expect(ignored).to.deep.equal([...Array.from({ length: 5 }, () => 'NotAnObject'), 'AnotherKind']);
  });

  it('continues when a subscriber throws, and calls the others', async () => {
    store.subscribe(() => {
      throw new Error('not me');
    });
    const seen: string[] = [];
    store.subscribe((change) => seen.push(described(change)));
    await started('a');
    server.put('b');
    server.delete('a');
    await inSync();
    expect(seen).to.deep.equal(['added a', 'added b', 'removed a']);
    expect(listed()).to.equal(1);
  });

  it('removes only its own objects from a shared store', async () => {
    store.put({ namespace: 'elsewhere', name: 'other', uid: 'u', resourceVersion: '1', size: 0 });
    server.put('a');
    run();
    await world.until(() => reflector.hasSynced, 'the first list');
    await watching();
    server.compact();
    server.delete('a');
    server.compact();
    server.breakWatches();
    await world.until(() => store.size === 1, 'a to be gone');
    expect(store.get('elsewhere', 'other')).not.to.equal(undefined);
  });

  it('resolves `synced` once the first list is in the store, and not before', async () => {
    server.put('a');
    server.refuse('lists', 500, 'InternalError');
    run();
    let resolved = false;
    const waiting = (async () => {
      await reflector.synced;
      resolved = true;
    })();
    await world.until(() => log.lines.length === 1, 'the failure');
    expect([resolved, reflector.hasSynced, reflector.ageMilliseconds]).to.deep.equal([false, false, null]);
    await inSync();
    await waiting;
    expect(store.size).to.equal(1);
  });

  it('ends at once when aborted, in a list or while it waits after a failure', async () => {
    server.refuse('lists', 500, 'InternalError');
    server.lists.push(() => {});
    run();
    await world.until(() => listed() === 2, 'the second list');
    stop.abort();
    await running;
    await reflector.synced;
    expect(reflector.hasSynced).to.equal(false);
    stop = new AbortController();
    server.refuse('lists', 500, 'InternalError');
    run();
    await world.until(() => log.lines.length === 2, 'the second failure', 0);
    stop.abort();
    await running;
    expect(listed()).to.equal(3);
  });

  for (const [code, reason] of [
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ] as const) {
    it(`treats an optional kind as synced and empty on ${code}, and reads it when it appears`, async () => {
      unavailable = [];
      server.refuse('lists', code, reason, 3);
      server.lists.push((request, response, self) => {
        expect([reflector.hasSynced, store.size, reflector.ageMilliseconds]).to.deep.equal([true, 0, null]);
        self.list(request, response);
      });
      server.put('a');
      run();
      await reflector.synced;
      await inSync();
      await watching();
      expect(unavailable).to.deep.equal([reason, null]);
      const isForbidden = code === 403;
      const missing = 'Kind does not exist; continuing without it, will retry';
      expect(log.of('info')).to.deep.equal([...(isForbidden ? [] : [missing]), 'Kind is readable now']);
      expect(log.of('warn')).to.deep.equal(
        isForbidden ? ['Forbidden to read kind; continuing without it, will retry'] : [],
      );
      expect(failed).to.equal(0);
      server.put('b');
      await inSync();
    });
  }

  it('logs once why a kind can’t be read', async () => {
    server.refuse('lists', 403, 'Forbidden', 3);
    server.refuse('lists', 404, 'NotFound', 2);
    server.refuse('lists', 500, 'InternalError', 2);
    run();
    await inSync();
    expect(failed).to.equal(7);
    expect(log.of('warn')).to.have.length(4);
  });

  it('removes the objects of an optional kind that is deleted', async () => {
    unavailable = [];
    await started('a', 'b');
    server.refuse('watches', 404, 'NotFound');
    server.refuse('lists', 404, 'NotFound');
    server.breakWatches();
    await world.until(() => unavailable?.length === 2, 'the kind to go and to come back');
    await inSync();
    expect(unavailable).to.deep.equal(['NotFound', null]);
    expect(changes).to.deep.equal(['added a', 'added b', 'removed a', 'removed b', 'added a', 'added b']);
  });

  it('keeps its objects while a role is missing, and finds missed changes when it returns', async () => {
    unavailable = [];
    await started('a', 'b');
    server.refuse('watches', 403, 'Forbidden');
    server.refuse('lists', 403, 'Forbidden');
    server.breakWatches();
    server.delete('a');
    await inSync();
    expect(unavailable).to.deep.equal(['Forbidden', null]);
    expect(changes).to.deep.equal(['added a', 'added b', 'removed a']);
  });

  it('calls an optional kind unanswered after three minutes without an answer, until it answers again', async () => {
    unavailable = [];
    await started('a');
    server.refuse('watches', 500, 'InternalError', 40);
    server.refuse('lists', 500, 'InternalError', 40);
    server.breakWatches();
    await world.until(() => unavailable?.length === 1, 'the kind to be called unanswered', 1000);
    expect(unavailable).to.deep.equal(['Unanswered']);
    expect(reflector.ageMilliseconds).to.be.at.least(180_000);
    expect(store.size).to.equal(1);
    server.watches.length = 0;
    server.lists.length = 0;
    server.put('b');
    await world.until(() => unavailable?.length === 2, 'the kind to answer', 1000);
    expect(unavailable).to.deep.equal(['Unanswered', null]);
    await inSync();
  });

  it('retries an optional kind on every other failure', async () => {
    unavailable = [];
    server.refuse('lists', 500, 'InternalError');
    server.refuse('lists', 401, 'Unauthorized');
    server.lists.push((request, response, self) => {
      expect(reflector.hasSynced).to.equal(false);
      self.list(request, response);
    });
    await started('a');
    expect(unavailable).to.deep.equal([]);
    expect(failed).to.equal(log.of('warn').length).and.equal(2);
  });

  async function expectOnly(name: string): Promise<void> {
    server.put(name);
    run();
    await world.until(() => reflector.hasSynced, 'the first list');
    await watching();
    expect(store.values().map((thing) => thing.name)).to.deep.equal([name]);
  }
});

function described({ type, before, after }: Change<Thing>): string {
  return `${type} ${(after ?? before)?.name}`;
}

function sorted(names: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(names).sort(([left], [right]) => (left < right ? -1 : 1));
}

function metadata(name: string, version: number): StoredObject['metadata'] {
  return { namespace: 'ns', name, uid: `uid-of-${name}`, resourceVersion: String(version) };
}
