import { expect } from 'chai';
import { linesOf } from '../../../src/base/text.ts';
import { ApiServer } from '../../support/api-server/api-server.ts';
import { resourceAt } from '../../support/api-server/resource-path.ts';
import { Chance } from './chance.ts';
import { VirtualClock } from './clock.ts';
import { WatchStream } from './watch-stream.ts';

const podsPath = '/api/v1/namespaces/default/pods';

/** A watch of pods with the selector `app=db`, and what has arrived of it. */
class Scene {
  readonly clock = new VirtualClock();
  readonly server: ApiServer;
  readonly lines: string[] = [];
  readonly stream: WatchStream;
  ended: unknown = 'open';

  constructor(
    oldestRevision = 0,
    query: Readonly<Record<string, string>> = { resourceVersion: '1000' },
    server?: ApiServer,
  ) {
    this.server = server ?? new ApiServer(() => this.clock.nowMilliseconds);
    const target = resourceAt(podsPath);
    if (target === null) throw new Error('expected pods to be served');
    this.stream = new WatchStream({
      clock: this.clock,
      chance: new Chance('watch'),
      server: this.server,
      target,
      query: new URLSearchParams({ labelSelector: 'app=db', timeoutSeconds: '3600', ...query }),
      lag: () => 10,
      deliver: (callback) => {
        this.clock.wake();
        callback();
      },
      onReported: () => undefined,
      oldestRevision,
    });
    void this.#read();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of linesOf(this.stream.body)) {
        const { type, object } = JSON.parse(line) as { type: string; object: { metadata?: { name?: string } } };
        this.lines.push([type, object.metadata?.name].filter((word) => word !== undefined).join(' '));
      }
      this.ended = 'ended';
    } catch (error) {
      this.ended = (error as { code?: string }).code;
    }
  }

  /** Another watch of the same server. */
  again(oldestRevision: number, query: Readonly<Record<string, string>>): Scene {
    return new Scene(oldestRevision, query, this.server);
  }

  make(name: string, app = 'db'): void {
    const body = { metadata: { name, labels: { app } }, spec: {} };
    this.server.handle({ method: 'POST', path: podsPath, body, actor: 'somebody' });
  }

  label(name: string, app: string): void {
    const body = { metadata: { labels: { app } } };
    this.server.handle({ method: 'PATCH', path: `${podsPath}/${name}`, body, actor: 'somebody' });
  }

  async pass(milliseconds: number): Promise<void> {
    await this.clock.runUntil(() => false, milliseconds);
  }
}

describe('a simulated watch', () => {
  it('reports objects that match its selector, begin to match and cease to match', async () => {
    const scene = new Scene();
    scene.make('a');
    scene.make('b', 'web');
    scene.label('b', 'db');
    scene.label('a', 'web');
    await scene.pass(100);
    expect(scene.lines).to.deep.equal(['ADDED a', 'ADDED b', 'DELETED a']);
  });

  it('begins with a list if requested, whatever revisions are forgotten', async () => {
    const before = new Scene();
    before.make('a');
    before.make('other', 'web');
    const scene = before.again(2_000, { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' });
    scene.make('b');
    await scene.pass(100);
    expect(scene.lines).to.deep.equal(['ADDED a', 'BOOKMARK', 'ADDED b']);
  });

  it('stays in order when it stalls twice', async () => {
    const scene = new Scene();
    scene.make('a');
    scene.stream.stall(1_000);
    await scene.pass(500);
    scene.make('b');
    scene.stream.stall(2_000);
    await scene.pass(600);
    scene.make('c');
    expect(scene.lines).to.deep.equal([]);
    await scene.pass(3_000);
    expect(scene.lines).to.deep.equal(['ADDED a', 'ADDED b', 'ADDED c']);
  });

  it('sends a bookmark every minute', async () => {
    const scene = new Scene();
    await scene.pass(150_000);
    expect(scene.lines).to.deep.equal(['BOOKMARK', 'BOOKMARK']);
  });

  it('skips events when it forgets, and then says that it has expired', async () => {
    const scene = new Scene();
    let forgotten = 0;
    scene.make('a');
    await scene.pass(100);
    scene.stream.forget(1_000, (lines) => (forgotten = lines));
    scene.make('b');
    scene.make('c');
    await scene.pass(2_000);
    expect(scene.lines).to.deep.equal(['ADDED a', 'ERROR']);
    expect(scene.ended).to.equal('ended');
    expect(forgotten).to.equal(2);
  });

  it('repeats its last lines, breaks, and expires', async () => {
    const repeating = new Scene();
    repeating.make('a');
    repeating.make('b');
    repeating.stream.repeat(1);
    await repeating.pass(100);
    expect(repeating.lines).to.deep.equal(['ADDED a', 'ADDED b', 'ADDED b']);
    repeating.stream.break();
    await repeating.pass(100);
    expect(repeating.ended).to.equal('ECONNRESET');
    const expired = new Scene(2_000);
    await expired.pass(100);
    expect(expired.lines).to.deep.equal(['ERROR']);
    expect(expired.ended).to.equal('ended');
  });
});
