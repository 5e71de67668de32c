import { setTimeout as delay } from 'node:timers/promises';
import { missingRows, type Row, type Rows } from './rows.ts';
import { codeOf, type Passwords, Session } from './session.ts';
import { selectRows } from './table.ts';

/** What one member has of the acknowledged rows. */
export interface MemberRows {
  readonly member: string;
  readonly rows: number;
  /** Nothing is known of one that can't be read. */
  readonly missing: readonly Row[];
  /** Why its rows could not be read; `null` if they could. */
  readonly unreadable: string | null;
}

export interface CheckedMember {
  readonly name: string;
  readonly address: string;
}

/** A replica may still apply what it has received. */
const patienceMilliseconds = 60_000;
const pauseMilliseconds = 250;

/** Reads every member until it has every acknowledged row, or has had its time. */
export function checkRows(
  acknowledged: Rows,
  members: readonly CheckedMember[],
  passwords: Passwords,
): Promise<readonly MemberRows[]> {
  return Promise.all(members.map((member) => checkMember(acknowledged, member, passwords)));
}

async function checkMember(acknowledged: Rows, member: CheckedMember, passwords: Passwords): Promise<MemberRows> {
  const deadline = performance.now() + patienceMilliseconds;
  for (;;) {
    const found = await readMember(acknowledged, member, passwords);
    if ((found.unreadable === null && found.missing.length === 0) || performance.now() > deadline) return found;
    await delay(pauseMilliseconds);
  }
}

async function readMember(
  acknowledged: Rows,
  { name, address }: CheckedMember,
  passwords: Passwords,
): Promise<MemberRows> {
  let session: Session | null = null;
  try {
    session = await Session.open(address, 'moco-readonly', passwords);
    const found = await selectRows(session);
    return { member: name, rows: found.size, missing: missingRows(acknowledged, found), unreadable: null };
  } catch (error) {
    return { member: name, rows: 0, missing: [], unreadable: codeOf(error) };
  } finally {
    session?.close();
  }
}
