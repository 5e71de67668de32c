import { parseArgs } from 'node:util';
import type { RolloutStatus } from '../../../src/api/rollout-status.ts';
import { displayOf } from '../../../src/cli/terminal/live.ts';
import { sequenceBlock, toldOfStages } from '../../../src/cli/terminal/sequence-lines.ts';
import { type SequenceView, sequenceViewOf } from '../../../src/cli/terminal/sequence-view.ts';
import { projectSequence } from '../../../src/controller/facts/sequence-record.ts';
import { Fleet, noFleetLimits } from '../../../src/controller/fleet/fleet-limits.ts';
import { timestampOf } from '../../../src/moco/json.ts';

// How long a picture of `kubectl moco-rollout sequence --watch` takes, from a change of one cluster to the text that is
// written to the terminal.

const usage = `usage: hack/node.sh hack/bench/sequence-frame/main.ts [--clusters=1000] [--frames=200]

Draws a sequence of many clusters again and again, one of which has changed each time.`;

const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '1000' },
    frames: { type: 'string', default: '200' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const clusters = Number(values.clusters);
const frames = Number(values.frames);
const now = Date.parse('2026-07-01T12:00:00Z');

const fleet = new Fleet(noFleetLimits, { wall: () => now }, () => undefined);
const tier = (name: string) => ({ matchLabels: { tier: name } });
const record = projectSequence({
  metadata: { name: 'all', uid: 'all', resourceVersion: '1', generation: 1 },
  spec: {
    stages: [
      { name: 'canary', selector: tier('canary') },
      { name: 'most', selector: tier('most'), maxConcurrent: '10%' },
      { name: 'rest', maxConcurrent: '10%' },
    ],
  },
});
fleet.stages.noteSequence('all', record);

const statuses = new Map<string, RolloutStatus>();
let version = 0;

function note(index: number, status: RolloutStatus): void {
  const [namespace, name] = ['db', `cluster-${index}`];
  const key = `${namespace}/${name}`;
  version += 1;
  statuses.set(key, status);
  const metadata = { namespace, name, uid: key, resourceVersion: String(version) };
  fleet.note(key, { apiVersion: '', kind: '', metadata, status });
}

const updateRevision = 'after';
const waiting = { revision: updateRevision, startedAt: timestampOf(now), lastProgressAt: timestampOf(now) };
const notBegun = { ...waiting, verified: false, takenDown: [], disruptions: 0, switchovers: 0 };
for (let index = 0; index < clusters; index += 1) {
  const label = index % 100 === 0 ? 'canary' : index % 2 === 0 ? 'most' : 'rest';
  const objects = { labels: { tier: label }, offline: false, updateRevision };
  fleet.stages.noteCluster(`db/cluster-${index}`, objects);
  note(index, { updateRevision, rollout: notBegun });
}

let written = 0;
const host = {
  program: 'kubectl moco-rollout',
  env: {},
  home: '/',
  out: (text: string) => {
    written += text.length;
  },
  err: () => undefined,
  terminal: () => ({ columns: 120, rows: 50, colour: true }),
  onInterrupt: () => () => undefined,
  wall: () => now,
};
const show = displayOf<SequenceView>(
  host,
  (views, room) => views.flatMap((view) => sequenceBlock(view, room)),
  toldOfStages,
);
const milliseconds: number[] = [];
for (let frame = 0; frame < frames; frame += 1) {
  const begin = performance.now();
  note(frame % clusters, { updateRevision, completeSince: timestampOf(now) });
  show([sequenceViewOf(record, fleet.stages, (key) => statuses.get(key) ?? {}, now / 1000)]);
  milliseconds.push(performance.now() - begin);
}
const sorted = milliseconds.toSorted((one, other) => one - other);
const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
console.log(
  `${clusters} clusters, ${frames} pictures: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${Math.round(written / frames)} characters each`,
);
