import { type CheckedMember, checkRows, type MemberRows } from './check-rows.ts';
import { Rows } from './rows.ts';
import type { Passwords } from './session.ts';
import type { WriteGap } from './write-gaps.ts';
import { WriteLoad, type WriteLoadOptions, type WriterKind } from './write-load.ts';

// Runs in the network of a cluster, where the primary's Service has its address: writes as the process orders that starts
// it, and ends with that process. Every order is answered, with what {@link Answers} has.

export interface Written {
  readonly acknowledged: number;
  /** From the start on, of each kind of writers. */
  readonly gaps: Readonly<Record<WriterKind, readonly WriteGap[]>>;
  /** How often writers met which error. */
  readonly errors: Readonly<Record<string, number>>;
}

export type Order =
  | ({ readonly kind: 'start' } & WriteLoadOptions)
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'written' }
  /** Looks for the rows of this moment. */
  | { readonly kind: 'compare'; readonly members: readonly CheckedMember[] };

export interface Answers {
  readonly start: null;
  readonly pause: null;
  readonly resume: null;
  readonly stop: null;
  readonly written: Written;
  readonly compare: readonly MemberRows[];
}

let load: WriteLoad | null = null;
let passwords: Passwords | null = null;

process.on('message', ({ id, order }: { readonly id: number; readonly order: Order }) => {
  perform(order).then(
    (answer) => process.send?.({ id, answer }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));

async function perform(order: Order): Promise<Answers[Order['kind']]> {
  if (order.kind === 'start') {
    passwords = order.passwords;
    load = await WriteLoad.start(order);
    return null;
  }
  if (load === null || passwords === null)
    throw new Error(`Expected a load before it can ${order.kind}, there is none`);
  switch (order.kind) {
    case 'pause':
      await load.pause();
      return null;
    case 'resume':
      load.resume();
      return null;
    case 'stop':
      await load.stop();
      return null;
    case 'written':
      return {
        acknowledged: load.acknowledged.size,
        gaps: { kept: load.gaps('kept'), fresh: load.gaps('fresh') },
        errors: load.errors,
      };
    case 'compare':
      return checkRows(new Rows(load.acknowledged), order.members, passwords);
  }
}
