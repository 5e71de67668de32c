import type { CheckReader } from '../../src/controller/questions/checks.ts';
import type { MocoReader, SeenLease } from '../../src/controller/questions/moco-lease.ts';
import type {
  CheckReading,
  CloneProgress,
  CloneReading,
  DelayReading,
  MemberAnswer,
  MemberSaid,
} from '../../src/core/on-demand-facts.ts';
import type { DelayReader, MemberReader } from '../../src/moco/agent.ts';
import type { MysqlAnswer, MysqlAsker, MysqlQuestion } from '../../src/mysql/mysql-asker.ts';
import type { ServerSaid } from '../../src/mysql/read-cluster.ts';
import type { OpenWriteNow } from '../../src/mysql/statements.ts';
import { caughtUp } from '../core/mysql-readings.ts';
import type { FakeWorld } from '../kube/fake-world.ts';

// Servers beside the API server that have nothing against anybody unless told otherwise.

class Told<Reading> {
  /** The names of what was asked about. */
  readonly asked: string[] = [];
  readonly #readings = new Map<string, Reading>();

  says(name: string, reading: Reading): void {
    this.#readings.set(name, reading);
  }

  protected about(name: string, otherwise: Reading): Promise<Reading> {
    this.asked.push(name);
    return Promise.resolve(this.#readings.get(name) ?? otherwise);
  }
}

/** Asked about checks. */
export class FakePrometheus extends Told<CheckReading> {
  readonly read: CheckReader = ({ name }) => this.about(name, { kind: 'passing' });
}

/** The agents of replicas, by the name of the pod. */
export class FakeReplicas extends Told<DelayReading> implements DelayReader {
  /** By the name of a member. The others do not clone. */
  readonly clones = new Map<string, CloneReading>();

  readClone({ name }: { readonly name: string }): Promise<CloneReading> {
    return Promise.resolve(this.clones.get(name) ?? { kind: 'notCloning' });
  }

  read({ name }: { readonly name: string }): Promise<DelayReading> {
    return this.about(name, { kind: 'delay', seconds: 0 });
  }
}

/** The agents of members, by the name of the pod. */
export class FakeMembers extends Told<MemberAnswer> implements MemberReader {
  answerOf({ name }: { readonly name: string }): Promise<MemberAnswer> {
    return this.about(name, { kind: 'ready' });
  }
}

/** The Lease of moco-controller, which is being renewed. */
export class FakeMoco implements MocoReader {
  readonly #world: Pick<FakeWorld, 'monotonic'>;
  readonly #says: Partial<SeenLease> = {};

  constructor(world: Pick<FakeWorld, 'monotonic'>, says: Partial<SeenLease> = {}) {
    this.#world = world;
    this.#says = says;
  }

  read(): Promise<SeenLease> {
    const now = this.#world.monotonic();
    const renewed = { atMilliseconds: now, renewedAtMilliseconds: now };
    const held = {
      lease: 'moco-system/moco',
      state: 'held',
      holder: 'moco-controller-a',
      durationSeconds: 15,
    } as const;
    return Promise.resolve({ ...held, ...renewed, ...this.#says });
  }
}

/** Every mysqld, and what they were asked. */
export class FakeMysql implements MysqlAsker {
  /** `switchover` or `step`, once each time. */
  readonly asked: ('switchover' | 'step')[] = [];
  writes: readonly OpenWriteNow[] = [];
  /** What every mysqld that answers says of itself. */
  server: ServerSaid = { version: null, replicaAddresses: [] };
  problem: string | null = null;
  readonly #said = new Map<string, MemberSaid>();

  /** By the name of a member. */
  readonly clones = new Map<string, CloneProgress>();

  cloneProgress(_: unknown, { name }: { readonly name: string }): Promise<CloneProgress | null> {
    return Promise.resolve(this.clones.get(name) ?? null);
  }

  says(name: string, said: MemberSaid): void {
    this.#said.set(name, said);
  }

  ask({ primary, replicas, forSwitchover }: MysqlQuestion): Promise<MysqlAnswer> {
    this.asked.push(forSwitchover ? 'switchover' : 'step');
    const { problem } = this;
    if (problem !== null) {
      const unknown = { kind: 'unknown', message: problem } as const;
      const asked = [...replicas, ...(primary === null ? [] : [primary])];
      return Promise.resolve({
        said: new Map(asked.map(({ uid }) => [uid, unknown])),
        writes: null,
        servers: new Map(),
        problem,
      });
    }
    const said = new Map<string, MemberSaid>(replicas.map(({ uid, name }) => [uid, this.#said.get(name) ?? caughtUp]));
    if (primary !== null) {
      const needed = Math.ceil(replicas.length / 2);
      const says = { kind: 'primary', needed, acknowledging: replicas.length } as const;
      said.set(primary.uid, this.#said.get(primary.name) ?? says);
    }
    const isSilent = primary !== null && said.get(primary.uid)?.kind === 'unknown';
    const servers = [...said].flatMap(([uid, one]) => (one.kind === 'unknown' ? [] : [[uid, this.server] as const]));
    return Promise.resolve({
      said,
      writes: forSwitchover && !isSilent ? this.writes : null,
      servers: new Map(servers),
      problem: null,
    });
  }
}
