import { type CheckedMember, checkRows, type MemberRows } from './check-rows.ts';
import type { Passwords } from './session.ts';
import type { WriteGap } from './write-gaps.ts';
import { WriteLoad } from './write-load.ts';

// Runs in the network of a cluster, where the primary's Service has its address: writes from `start` to `stop`, as the
// process orders that starts it, and ends with that process.

export interface Start {
  readonly kind: 'start';
  /** The address of the primary's Service. */
  readonly service: string;
  readonly passwords: Passwords;
  readonly writers: number;
  readonly freshWriters: number;
}

export interface Stop {
  readonly kind: 'stop';
  readonly members: readonly CheckedMember[];
}

export interface LoadResult {
  readonly acknowledged: number;
  readonly gaps: Readonly<Record<'kept' | 'fresh', readonly WriteGap[]>>;
  /** How often writers met which error. */
  readonly errors: Readonly<Record<string, number>>;
  readonly members: readonly MemberRows[];
}

let load: WriteLoad | null = null;
let passwords: Passwords | null = null;

process.on('message', (order: Start | Stop) => {
  switch (order.kind) {
    case 'start':
      void start(order);
      return;
    case 'stop':
      void stop(order.members).then((result) => process.send?.({ kind: 'stopped', result }));
  }
});
process.on('disconnect', () => process.exit(0));

async function start(order: Start): Promise<void> {
  passwords = order.passwords;
  load = await WriteLoad.start({ ...order, address: () => order.service });
  process.send?.({ kind: 'started' });
}

async function stop(members: readonly CheckedMember[]): Promise<LoadResult> {
  if (load === null || passwords === null) throw new Error('Expected a load that was started before it is stopped');
  await load.stop();
  return {
    acknowledged: load.acknowledged.size,
    gaps: { kept: load.gaps('kept'), fresh: load.gaps('fresh') },
    errors: load.errors,
    members: await checkRows(load.acknowledged, members, passwords),
  };
}
