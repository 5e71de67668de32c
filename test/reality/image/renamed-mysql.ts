import { edited, type Replacement, UnknownProgram } from './binary-edit.ts';

/**
 * MOCO 0.36 works with MySQL 8.0 and 8.4 alone, and asks for semi-synchronous replication by the names that 8.4 still
 * has and 9.x has not. These edits let 9.7 answer to those names; what it does stays its own.
 */

/** `VERSION()` is put together by code: `mov dword [r13], "9.7."` after `mov r10d, "4"` for the last digit. */
const versionCode = 'A\u00C7E\u0000';
const digitCode = 'A\u00BA';
const digitBytesBefore = 41;

/** mysqld of version 9.7.x that calls itself `version`, which is 8.4.y with one digit. */
export function renamedServer(bytes: Buffer, ownVersion: string, version: string): Buffer {
  const [own, wanted] = [numbers(ownVersion), numbers(version)];
  const copy = edited('mysqld', bytes, [
    { from: ownVersion, to: version, times: 3 },
    { from: `${versionCode}${own.series}`, to: `${versionCode}${wanted.series}`, times: 1 },
  ]);
  const code = copy.indexOf(Buffer.from(`${versionCode}${wanted.series}`, 'latin1'));
  const digit = code - digitBytesBefore;
  const expected = Buffer.from(`${digitCode}${own.patch}\0\0\0`, 'latin1');
  if (!copy.subarray(digit, digit + expected.length).equals(expected)) {
    throw new UnknownProgram(
      `Expected mysqld to load ${own.patch} ${digitBytesBefore} bytes before its version, it doesn't`,
    );
  }
  copy.write(wanted.patch, digit + digitCode.length, 'latin1');
  return copy;
}

/** `9.7.` and `4` of `9.7.4`. */
function numbers(version: string): { readonly series: string; readonly patch: string } {
  const [, series, patch] = /^(\d\.\d\.)(\d)$/.exec(version) ?? [];
  if (series === undefined || patch === undefined) {
    throw new UnknownProgram(`Expected a version of three digits, such as 9.7.4, got ${version}`);
  }
  return { series, patch };
}

/**
 * `semisync_source.so` under its old name: the plugin's, its variables' and its status variables'. The user variable
 * `@rpl_semi_sync_replica`, by which a replica tells its source what it is, has to stay.
 */
const sourceNames: readonly Replacement[] = [
  {
    from: 'pl_semi_sync_source_wait_for_replica_count',
    to: 'pl_semi_sync_master_wait_for_slave_count',
    times: 3,
  },
  { from: 'pl_semi_sync_source', to: 'pl_semi_sync_master', times: 16 },
  { from: '\0wait_for_replica_count\0', to: '\0wait_for_slave_count\0', times: 1 },
  { from: '\0wait_no_replica\0', to: '\0wait_no_slave\0', times: 1 },
];

/** `semisync_replica.so` likewise. Its query to the source is stored in two pieces that overlap. */
const replicaNames: readonly Replacement[] = [
  { from: '\0rpl_semi_sync_replica\0', to: '\0rpl_semi_sync_slave\0', times: 1 },
  { from: '\0Rpl_semi_sync_replica_status\0', to: '\0Rpl_semi_sync_slave_status\0', times: 1 },
  { from: 'SELECT @@global.rpl_semi_sync_so', to: 'SELECT @@global.rpl_semi_sync_ma', times: 1 },
  { from: 'c_source_enabled', to: 'c_master_enabled', times: 1 },
];

export const renamedPlugins = [
  { from: 'semisync_source.so', to: 'semisync_master.so', replacements: sourceNames },
  { from: 'semisync_replica.so', to: 'semisync_slave.so', replacements: replicaNames },
] as const;

/** A plugin under its old name. */
export function renamedPlugin(bytes: Buffer, { from, replacements }: (typeof renamedPlugins)[number]): Buffer {
  return edited(from, bytes, replacements);
}
