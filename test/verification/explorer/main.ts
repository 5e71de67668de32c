import { parseArgs } from 'node:util';
import { progressOf } from './progress.ts';
import { situationLines } from './situations.ts';
import { changes, tell } from './story.ts';
import { type Measured, measured, nullDecide, summaryOf } from './summary.ts';
import { type Family, families, requests, type World, worldOf } from './world.ts';

// Explores the decision core. Exit 0 where every invariant holds, 1 with a counterexample, 2 for a wrong call.

const usage = `usage: test/verification/explorer/main.ts [--replicas 1|3|5] [--faults N|any] [--families a,b | --alone | --pairs]
  [--coarse] [--good] [--unfolded] [--states N]
  [--requests a,b] [--keeper policy|webhook] [--current old|updated|older] [--lost-members KeepRevision] [--partition N]
families: ${families.join(', ')}
requests: ${requests.join(', ')}`;

const { values } = readArguments();
const replicas = Number(values.replicas ?? 3);
const chosen = (values.families ?? '').split(',').filter((name) => name !== '');
const unknown = chosen.find((name) => !families.includes(name as Family));
if (![1, 3, 5].includes(replicas) || unknown !== undefined) {
  fail(
    unknown === undefined
      ? `expected 1, 3 or 5 replicas, got ${values.replicas}`
      : `expected a family, got "${unknown}"`,
  );
}
const asked = requests.filter((request) => (values.requests ?? '').split(',').includes(request));
const faults = values.faults === 'any' || values.faults === undefined ? null : Number(values.faults);
if (faults !== null && !(Number.isInteger(faults) && faults >= 0 && faults <= 3)) {
  fail(`expected 0 to 3 faults or "any", got ${values.faults}`);
}
const states = Number(values.states ?? Number.POSITIVE_INFINITY);
if (!(states > 0)) fail(`expected a number of states from 1 and up, got ${values.states}`);

const worlds = chosenFamilies().map(world);
const explored = worlds.map(explore);
if (worlds.length > 1) {
  const complete = explored.filter(({ findings }) => findings.finished).length;
  const total = explored.reduce((sum, { findings }) => sum + findings.states, 0);
  const seconds = explored.reduce((sum, one) => sum + one.seconds, 0);
  const stopped = worlds.length - complete;
  console.log(
    `${worlds.length} explorations, ${complete} complete, ${stopped} stopped at ${states} states, ` +
      `${total.toLocaleString('en')} states, ${seconds.toFixed(0)} s of processor time`,
  );
}

function chosenFamilies(): readonly (readonly Family[])[] {
  if (values.alone) return families.map((family) => [family]);
  if (!values.pairs) return [chosen as Family[]];
  return families.flatMap((one, at) => families.slice(at + 1).map((other) => [one, other]));
}

function world(wanted: readonly Family[]): World {
  return worldOf(
    replicas,
    {
      faults,
      badRevision: values.good !== true,
      detail: values.coarse ? 'coarse' : 'fine',
      folded: values.unfolded !== true,
      families: new Set(wanted),
      requests: new Set(asked),
      ...(values.keeper === undefined ? {} : { keeper: values.keeper as World['keeper'] }),
      ...(values.current === undefined ? {} : { current: values.current as World['current'] }),
    },
    {
      ...(values['lost-members'] === 'KeepRevision' ? { lostMembers: 'KeepRevision' } : {}),
      ...(values.partition === undefined ? {} : { partition: Number(values.partition) }),
    },
  );
}

function explore(one: World): Measured {
  const result = measured(one, { states });
  console.log(summaryOf(one, result));
  const { counterexample, finished } = result.findings;
  if (counterexample !== null) {
    for (const line of tell(counterexample)) console.log(`  ${line}`);
    process.exitCode = 1;
    return result;
  }
  for (const line of situationLines(result.exploration)) console.log(line);
  if (worlds.length === 1) {
    const idle = measured(one, { states: 200_000 }, { decide: nullDecide(), wanted: 'I1' });
    console.log(`  with a decide that does nothing: ${Math.round(idle.findings.states / idle.seconds)} states/s`);
  }
  if (finished) reportProgress(result);
  return result;
}

function reportProgress({ exploration }: Measured): void {
  const { cycle, stuck, sinks } = progressOf(exploration);
  const path = cycle ?? stuck?.path ?? null;
  const places = [...sinks].filter(([name]) => !name.startsWith('stuck '));
  console.log(`  rests at ${places.map(([name, count]) => `${name} (${count})`).join(', ')}`);
  if (path === null) return;
  process.exitCode = 1;
  console.log(cycle === null ? `  stuck for ever with ${stuck?.hold}:` : '  for ever:');
  path.forEach((cells, at) => {
    const before = path[at - 1];
    if (before !== undefined) console.log(`    ${changes(before, cells)}`);
  });
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        replicas: { type: 'string' },
        faults: { type: 'string' },
        families: { type: 'string' },
        states: { type: 'string' },
        alone: { type: 'boolean' },
        pairs: { type: 'boolean' },
        coarse: { type: 'boolean' },
        unfolded: { type: 'boolean' },
        good: { type: 'boolean' },
        requests: { type: 'string' },
        keeper: { type: 'string' },
        current: { type: 'string' },
        'lost-members': { type: 'string' },
        partition: { type: 'string' },
      },
    });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(sentence: string): never {
  console.error(`${sentence}\n${usage}`);
  process.exit(2);
}
