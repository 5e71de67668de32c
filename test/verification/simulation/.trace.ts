import { readFileSync } from 'node:fs';
import { draw } from './draw.ts';
import { happen } from './happen.ts';
import { Simulation } from './simulation.ts';
import { record } from './stored-object.ts';
import { words } from './words.ts';
const [seed = '1', untilS = '600', kinds = 'MySQLRollout,StatefulSet,Pod', themes = '', only = ''] = process.argv.slice(2);
const drawn = themes.endsWith('.json') ? JSON.parse(readFileSync(themes, 'utf8')) : draw(seed, themes === '' ? [] : themes.split(','));
const { circumstances } = drawn;
const plan = only === '' ? drawn.plan : drawn.plan.filter((_, index) => only.split(',').includes(String(index)));
const simulation = new Simulation(circumstances);
const { clock, server } = simulation;
await simulation.start();
const log = (text: string): void => console.log(`${(clock.nowMilliseconds / 1000).toFixed(3)} ${text}`);
const last = new Map<string, string>();
let seen = 0;
const wants = kinds.split(',');
server.store.subscribe(({ object, type, kind }) => {
  if (!wants.includes(kind.kind)) return;
  const { metadata, spec, status } = object;
  let text = '';
  if (kind.kind === 'StatefulSet') {
    const s = record(status), u = record(record(spec)['updateStrategy']);
    text = `${JSON.stringify(metadata.labels && Object.fromEntries(Object.entries(metadata.labels).filter(([k]) => k.startsWith('moco-rollout'))))} ${JSON.stringify(u)} cur=${String(s['currentRevision']).slice(-5)} upd=${String(s['updateRevision']).slice(-5)} gen=${metadata.generation}/${s['observedGeneration']} replicas=${record(spec)['replicas']}`;
  } else if (kind.kind === 'Pod') {
    const cs = (record(status)['containerStatuses'] ?? []) as readonly Record<string, unknown>[];
    const m = cs.find(({ name }) => name === 'mysqld') ?? {};
    text = `${metadata.uid} rev=${String(metadata.labels?.['controller-revision-hash']).slice(-5)} ${metadata.labels?.['moco.cybozu.com/role'] ?? '-'} ${metadata.deletionTimestamp === undefined ? '' : 'TERMINATING'} ${record(status)['phase']} mysqld=${Object.keys(record(m['state']))[0]}${m['ready'] === true ? ' ready' : ''}`;
  } else if (kind.kind === 'MySQLRollout') {
    const st = record(status), r = record(st['rollout']);
    text = `paused=${record(spec)['paused']} hold=${record(st['hold'])['rule']} waiting=${JSON.stringify(r['waiting'])} verified=${r['verified']} oob=${JSON.stringify(r['updatedOutOfBand'])} rev=${String(r['revision']).slice(-5)} intent=${JSON.stringify(record(st['intent'])['step'])} ${JSON.stringify(((record(st['intent'])['pods'] ?? []) as {name: string}[]).map(({ name }) => name))} last=${record(st['lastStep'])['step']} ${record(st['lastStep'])['result']}`;
  } else text = JSON.stringify(status ?? spec).slice(0, 300);
  text = `${type} ${kind.kind} ${metadata.name} ${text}`;
  if (last.get(metadata.name + kind.kind) === text) return;
  last.set(metadata.name + kind.kind, text);
  log(text);
});
server.onRequest((request, { code, body }) => {
  if (request.actor.startsWith('controller-') && request.method !== 'GET' && !request.path.includes('/events') && !request.path.includes('/leases') && !request.path.includes('mysqlrollouts'))
    log(`   ${request.actor} ${request.method} ${request.path.split('/').slice(-3).join('/')} ${request.query ?? ''} ${code} ${JSON.stringify(request.body ?? {}).slice(0, 260)} ${code >= 400 ? JSON.stringify(body['message']) : ''}`);
});
const lead = 6000;
for (const one of plan) clock.after(lead + one.atMilliseconds, () => { log(`*** ${words(one)}`); happen(simulation, one.what); });
while (clock.nowMilliseconds < Number(untilS) * 1000) {
  await clock.runUntil(() => false, 500);
  for (; seen < simulation.witness.findings.length; seen++) log(`!!! ${JSON.stringify(simulation.witness.findings[seen])}`);
}
console.log(JSON.stringify(simulation.witness.lostMembers('default/test')));
for (const process of simulation.processes) process.end();
