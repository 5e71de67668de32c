import { randomBytes } from 'node:crypto';
import { type Row, Rows } from './rows.ts';
import type { Session } from './session.ts';

// What writers write into: a table of its own in a database of its own.

const longestInsertMilliseconds = 60_000;

export async function makeTable(session: Session): Promise<void> {
  await session.run('CREATE DATABASE IF NOT EXISTS reality');
  await session.run(
    'CREATE TABLE IF NOT EXISTS reality.written (writer INT, number INT, PRIMARY KEY (writer, number))',
  );
}

/** Resolves once the server has acknowledged it. */
export async function insertRow(session: Session, row: Row): Promise<void> {
  await session.run('INSERT INTO reality.written VALUES (?, ?)', row, longestInsertMilliseconds);
}

export async function selectRows(session: Session): Promise<Rows> {
  const rows = await session.run('SELECT writer, number FROM reality.written');
  return new Rows(rows.map(([writer, number]): Row => [Number(writer), Number(number)]));
}

/** Until the session is closed, a replica receives changes of the table and applies none. */
export async function blockApplier(session: Session): Promise<void> {
  await session.run('LOCK TABLES reality.written READ');
}

/** Until the session is closed, or the server ends it, a transaction has written and not committed. */
export async function leaveUncommitted(session: Session, row: Row): Promise<void> {
  await session.run('START TRANSACTION');
  await insertRow(session, row);
}

/** Each in a transaction of its own. */
export async function writeMuch(session: Session, transactions: number, bytesEach: number): Promise<void> {
  await session.run('CREATE TABLE reality.much (id INT AUTO_INCREMENT PRIMARY KEY, bytes LONGBLOB)');
  const bytes = randomBytes(bytesEach).toString('latin1');
  for (let left = transactions; left > 0; left -= 1) {
    await session.run('INSERT INTO reality.much (bytes) VALUES (?)', [bytes], longestInsertMilliseconds);
  }
}

/** Commits that wait for replicas are answered, and new ones don't wait until MOCO has them wait again. */
export async function letCommitsGo(session: Session): Promise<void> {
  await session.run('SET GLOBAL rpl_semi_sync_master_enabled = OFF');
}
