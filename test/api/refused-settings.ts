import { overridableRules } from '../../src/core/rules/catalogue.ts';

/** A spec of a MySQLRollout that is refused. */
interface Refused {
  readonly title: string;
  readonly spec: object;
  /** The message of the program. */
  readonly message: string;
  /** Some of the answer of the API server; `undefined` if its CRD cannot say it, or another row stands for it. */
  readonly answer: RegExp | undefined;
}

/** Each value that a path must not have, and some of the API server's answer if it is asked. */
type Value = readonly [value: unknown, answer?: RegExp];

const at = (path: string, expected: string, specOf: (value: unknown) => object, ...values: readonly Value[]) =>
  values.map(([value, answer]): Refused => {
    const got = (JSON.stringify(value) ?? 'nothing').slice(0, 80);
    const message = `expected spec.${path} to be ${expected}, got ${got}`;
    const [top] = path.split(/[.[]/);
    const about = answer && new RegExp(`spec\\.${top}.*${answer.source}`);
    return { title: `${path} ${got}`, spec: specOf(value), message, answer: about };
  });
const field = (name: string, expected: string, ...values: readonly Value[]) =>
  at(name, expected, (value) => ({ [name]: value }), ...values);
const within = (name: string, lowest: number, highest: number, ...values: readonly Value[]) =>
  field(name, `a whole number from ${lowest} to ${highest}`, ...values);

const now = '2026-01-02T03:04:05Z';
const budget = 'a whole number from 1 to 1000, or a percentage from "1%" to "100%"';
const schedule =
  'a schedule of five fields, of which the first is a minute and the second an hour or up to six hours, such as "0 1 * * TUE-THU"';
const zone = 'the name of a time zone of the IANA database, such as "Asia/Tokyo"';
const variables = 'a query whose only variables are $namespace, $name, $updated and $stale';
const query = 'a PromQL expression of 1 to 1024 characters';
const reason = 'a text of 1 to 256 characters';
const name = 'a name of up to 63 lower case letters, digits and dashes, such as "replication-delay"';
const key = 'the key of a label or an annotation, or a prefix of keys followed by a *';
const oneOfFrom1To1000 = /must be a whole number from 1 to 1000, or a percentage from "1%" to "100%"/;

const window = (more: object) => ({ maintenanceWindows: [{ schedule: '0 1 * * *', duration: '4h', ...more }] });
const blackout = (more: object) => ({
  blackouts: [{ from: now, until: '2026-02-01T00:00:00Z', reason: 'x', ...more }],
});
const override = (more: object) => ({ overrides: [{ rule: 'BackupRunning', until: now, reason: 'x', ...more }] });
const check = (more: object) => ({ checks: [{ name: 'errant', query: 'up == 0', ...more }] });
const restored = (...members: readonly unknown[]) => ({ restore: { revision: 'r', members } });
const pinned = (one: unknown) => ({ pinnedMembers: [{ ordinal: 1, reason: 'x' }, one] });

export const refusedSettings: readonly Refused[] = [
  ...field('strategy', 'OnDelete or Partition', ['RollingUpdate', /Unsupported value/]),
  ...field('paused', 'true or false', ['yes']),
  ...at('pause.until', 'a time such as 2026-01-02T03:04:05Z', (until) => ({ paused: true, pause: { until } }), [
    'soon',
  ]),
  ...at('pause.reason', reason, (value) => ({ paused: true, pause: { reason: value } }), ['x'.repeat(257)], ['']),
  ...at('pause.by', reason, (by) => ({ paused: true, pause: { by } }), ['x'.repeat(257)]),
  ...field('repairWhilePaused', 'true or false', [1]),
  ...field(
    'maxUnavailable',
    budget,
    [0, oneOfFrom1To1000],
    [1.5, /maxUnavailable/],
    ['0%', oneOfFrom1To1000],
    ['101%', oneOfFrom1To1000],
    ['2', oneOfFrom1To1000],
  ),
  ...within('partition', 0, 2 ** 31 - 1, [-1], [0.5], [2 ** 31, /partition/]),
  ...within('minReadySeconds', 0, 3600, ['5'], [null]),
  ...within('progressDeadlineSeconds', 1, 86_400, [0]),
  ...within('switchoverTimeoutSeconds', 1, 3600, [0]),
  ...within('failoverGraceSeconds', 60, 3600, [59]),
  ...within('expectedMemberSeconds', 1, 86_400, [0]),
  ...field('primaryUpdatePolicy', 'Automatic or Manual', ['Never']),
  ...field('nodeMaintenance', 'Ignore or Switchover or Evacuate', ['Drain', /Unsupported value/]),
  ...field('rolloutsDuringMaintenance', 'Proceed or Wait', ['Stop', /Unsupported value/]),
  ...field('lostMembers', 'UpdateOnceVerified or KeepRevision', ['Update', /Unsupported value/]),
  ...field('approvedRevision', 'a text of 1 to 253 characters', ['']),
  ...at(
    'restore.revision',
    'a text of 1 to 253 characters',
    (revision) => ({ restore: { revision, members: [1] } }),
    [undefined, /Required/],
    ['', /at least 1/],
  ),
  ...at('restore.members', 'a list of at least 1', () => restored(), [[], /at least 1/]),
  ...at('restore.members[0]', 'a whole number from 0 to 999', restored, [1000, /999/]),
  ...at('restore.members[2]', 'different from every other value in the list', (one) => restored(2, 1, one), [
    2,
    /Duplicate value/,
  ]),
  ...field('pinnedMembers', 'a list', [2]),
  ...at('pinnedMembers[1]', 'an object', pinned, [2]),
  ...at('pinnedMembers[1].ordinal', 'a whole number from 0 to 999', () => pinned({ reason: 'x' }), [undefined]),
  ...at('pinnedMembers[1].reason', reason, () => pinned({ ordinal: 2 }), [undefined, /reason: Required/]),
  ...at(
    'pinnedMembers[1].ordinal',
    'different from every other ordinal in the list',
    (ordinal) => pinned({ ordinal, reason: 'y' }),
    [1, /Duplicate value/],
  ),
  ...at(
    'inPlace.metadata[1]',
    key,
    (one) => ({ inPlace: { metadata: ['team', one] } }),
    ['*', /should match/],
    ['a*b', /should match/],
  ),
  ...at('inPlace.metadata', 'a list', (metadata) => ({ inPlace: { metadata } }), [true, /array/]),
  ...at('overrides[0].rule', overridableRules.join(' or '), (rule) => override({ rule }), [
    'NotEnoughAcknowledging',
    /Unsupported value/,
  ]),
  ...at(
    'overrides[0].until',
    'a time such as 2026-01-02T03:04:05Z',
    (until) => override({ until }),
    ['2026-01-02', /date-time/],
    ['2026-13-02T03:04:05Z'],
    [undefined],
  ),
  ...at('overrides[0].reason', reason, (why) => override({ reason: why }), ['']),
  ...at(
    'overrides[1].rule',
    'different from every other rule in the list',
    () => ({ overrides: [override({}), override({})].flatMap(({ overrides }) => overrides) }),
    ['BackupRunning'],
  ),
  ...at(
    'maintenanceWindows[0].schedule',
    schedule,
    (one) => window({ schedule: one }),
    ['* * * * *', /must be a schedule of five fields/],
    ['61 25 * * FOO', /must be a schedule of five fields/],
    ['0 1 31 FEB,apr *', /must be a schedule with a day that its months have/],
    ['* 1 * * *'],
    ['0 */2 * * *'],
    ['0 1 * *'],
    ['0 0 1 * * *'],
    ['0 24 * * *'],
    ['60 1 * * *'],
    ['0 1 32 * *'],
    ['0 1 * * FRI-MON'],
    ['0 1 * * XYZ'],
    ['@daily'],
    ['2026-01-02T03:04:05'],
    [''],
    [undefined],
  ),
  ...at(
    'maintenanceWindows[0].timeZone',
    zone,
    (timeZone) => window({ timeZone }),
    [
      'Asia/Tokio',
      /timeZone: Invalid value: "string": unknown time zone Asia\/Tokio evaluating rule: expected the name of a time zone of the IANA database, such as "Asia\/Tokyo"/,
    ],
    ['Asia Tokyo', /timeZone: Invalid value: "Asia Tokyo": expected the name of a time zone/],
    ['Local', /timeZone: Invalid value: "Local": expected the name of a time zone/],
    ['Mars/Olympus'],
    ['+09:00'],
    [''],
  ),
  ...at(
    'maintenanceWindows[0].duration',
    'a duration such as "90s", "5m" or "24h", or a whole number of seconds',
    (duration) => window({ duration }),
    ['240', /should match/],
    ['1.5h'],
    ['-1h'],
    ['30m1h'],
    ['2d'],
  ),
  ...at('blackouts[0].until', 'a time after the beginning of the blackout', (until) => blackout({ until }), [
    now,
    /must end after it begins/,
  ]),
  ...at('blackouts[0].reason', reason, (why) => blackout({ reason: why }), [undefined]),
  ...field('checks', 'a list', ['x']),
  ...field('checks', 'a list of at most 16', [
    Array.from({ length: 17 }, (_, index) => ({ name: `check-${index}`, query: 'up' })),
    /at most 16/,
  ]),
  ...at(
    'checks[0].name',
    name,
    (one) => check({ name: one }),
    ['A', /should match/],
    [''],
    ['-a'],
    ['a'.repeat(64)],
    [undefined],
  ),
  ...at(
    'checks[0].query',
    query,
    (one) => check({ query: one }),
    ['', /at least 1/],
    [' \n', /must be a PromQL expression/],
    ['x'.repeat(1025), /1024/],
    [7],
    [undefined, /Required/],
  ),
  ...at(
    'checks[0].query',
    variables,
    (one) => check({ query: one }),
    ['up{namespace="$ns"}', /whose only variables are \$namespace, \$name, \$updated and \$stale/],
    ['up{namespace="${namespace}"}', /whose only variables are \$namespace, \$name, \$updated and \$stale/],
    ['up{pod="$names"}'],
  ),
  ...at(
    'checks[1].name',
    'different from every other name in the list',
    () => ({ checks: [check({}), check({})].flatMap(({ checks }) => checks) }),
    ['errant', /Duplicate value/],
  ),
];
