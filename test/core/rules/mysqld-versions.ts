import type { mysqldVersions } from '../../../src/core/rules/mysqld-versions.ts';
import { stale, three } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { deletes, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

const crashing = (ordinal: number, version: string | null) =>
  member(ordinal).stale().mysqld(version).down('CrashLoopBackOff');

const following = (version: string | null) => ({ replicaClusters: [{ cluster: 'shop/copy', version }] });

export const examples: Examples<keyof typeof mysqldVersions> = {
  VersionRefused: {
    applies: held(stale().toMysqld('8.0.42'), { member: 2, data: '8.4.8', mysqld: '8.0.42' }),
    says: 'the update revision cannot start on the data of moco-test-2: mysqld 8.0.42 refuses data that mysqld 8.4.8 has opened: MySQL does not support downgrades to an older series',
    justDoesNot: when(stale().toMysqld('8.4.0'), next),
    alsoSays: [
      { member: 2, data: '8.0.40', mysqld: '9.7.4' },
      'the update revision cannot start on the data of moco-test-2: mysqld 9.7.4 refuses data that mysqld 8.0.40 has opened: MySQL does not support upgrades that skip a series, so upgrade to 8.4 first',
    ],
  },
  RedoLogOpen: {
    applies: held(three(member(0).stale(), member(1).stale(), crashing(2, '8.0.28')).toMysqld('8.4.8'), {
      member: 2,
      works: false,
      before: '8.0.28',
      after: '8.4.8',
      killed: false,
    }),
    says: 'moco-test-2 is down, and mysqld 8.0.28 may have left its redo log open: mysqld 8.4.8 cannot read a log of that format, so the member has to start at its own revision first',
    justDoesNot: when(
      three(member(0).stale(), member(1).stale(), crashing(2, '8.4.0')).toMysqld('8.4.8'),
      deletes('MemberDown', 2),
    ),
    alsoSays: [
      { member: 2, works: true, before: '8.0.28', after: '8.4.8', killed: true },
      'mysqld 8.0.28 on moco-test-2 was killed (exit code 137). If it is killed again with its pod, it leaves its redo log open, and mysqld 8.4.8 may be unable to read it; raise terminationGracePeriodSeconds and the memory limit, or set innodb_fast_shutdown to 1, before the version changes',
      { member: 2, works: false, before: null, after: null, killed: true },
      'moco-test-2 is down, and mysqld of its revision was killed (exit code 137) and has left its redo log open: mysqld of the update revision may be unable to read it, so the member has to start at its own revision first',
    ],
  },
  ReplicaClusterOlder: {
    applies: held(stale().toMysqld('9.7.4').mysql(following('8.4.8')), {
      cluster: 'shop/copy',
      replica: '8.4.8',
      mysqld: '9.7.4',
    }),
    says: 'cluster shop/copy replicates from this one and has mysqld 8.4.8: MySQL does not support a replica of an older series than its source (9.7.4), so upgrade shop/copy first',
    justDoesNot: when(stale().toMysqld('9.7.4').mysql(following('9.7.1')), next),
    alsoSays: [
      { cluster: null, replica: null, mysqld: '9.7.4' },
      'a cluster of another namespace replicates from this one: MySQL does not support a replica of an older series than its source (9.7.4), so upgrade that cluster first',
    ],
  },
};
