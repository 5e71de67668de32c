import type { MemberSaid } from '../../src/core/on-demand-facts.ts';
import type { MysqlAnswer, MysqlAsker, MysqlQuestion } from '../../src/mysql/mysql-asker.ts';
import type { OpenWriteNow } from '../../src/mysql/statements.ts';
import { caughtUp } from '../core/mysql-readings.ts';

/** Servers of which nobody is behind unless told otherwise, and what they were asked. */
export class FakeMysql implements MysqlAsker {
  /** `switchover` or `step`, once each time. */
  readonly asked: ('switchover' | 'step')[] = [];
  writes: readonly OpenWriteNow[] = [];
  problem: string | null = null;
  readonly #said = new Map<string, MemberSaid>();

  says(name: string, said: MemberSaid): void {
    this.#said.set(name, said);
  }

  ask({ primary, replicas, forSwitchover }: MysqlQuestion): Promise<MysqlAnswer> {
    this.asked.push(forSwitchover ? 'switchover' : 'step');
    const { problem } = this;
    if (problem !== null) {
      const unknown = { kind: 'unknown', message: problem } as const;
      const asked = [...replicas, ...(primary === null ? [] : [primary])];
      return Promise.resolve({ said: new Map(asked.map(({ uid }) => [uid, unknown])), writes: null, problem });
    }
    const said = new Map<string, MemberSaid>(replicas.map(({ uid, name }) => [uid, this.#said.get(name) ?? caughtUp]));
    if (primary !== null) {
      const needed = Math.ceil(replicas.length / 2);
      const says = { kind: 'primary', needed, acknowledging: replicas.length } as const;
      said.set(primary.uid, this.#said.get(primary.name) ?? says);
    }
    const isSilent = primary !== null && said.get(primary.uid)?.kind === 'unknown';
    return Promise.resolve({ said, writes: forSwitchover && !isSilent ? this.writes : null, problem: null });
  }
}
