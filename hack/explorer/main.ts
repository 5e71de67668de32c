import { parseArgs } from 'node:util';
import { progressOf } from './progress.ts';
import { changes, tell } from './story.ts';
import { measured, nullDecide, summaryOf } from './summary.ts';
import { type Family, families, type World, worldOf } from './world.ts';

// Explores the decision core. Exit 0 where every invariant holds, 1 with a counterexample, 2 for a wrong call.

const usage = `usage: hack/explorer/main.ts [--replicas 1|3|5] [--faults N|any] [--families a,b] [--pairs] [--coarse] [--good] [--unfolded] [--states N]
families: ${families.join(', ')}`;

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
const faults = values.faults === 'any' || values.faults === undefined ? null : Number(values.faults);
if (faults !== null && !(Number.isInteger(faults) && faults >= 0 && faults <= 3)) {
  fail(`expected 0 to 3 faults or "any", got ${values.faults}`);
}

const states = Number(values.states ?? Number.POSITIVE_INFINITY);
const worlds = values.pairs ? pairs().map((pair) => world(pair)) : [world(chosen as Family[])];
for (const one of worlds) explore(one);

function world(wanted: readonly Family[]): World {
  const room = wanted.includes('two-at-once') || wanted.includes('scaling') ? 5 : replicas;
  return worldOf(room, {
    faults,
    badRevision: values.good !== true,
    detail: values.coarse ? 'coarse' : 'fine',
    folded: values.unfolded !== true,
    families: new Set(wanted),
  });
}

/** Of the families that three members have room for. */
function pairs(): readonly (readonly [Family, Family])[] {
  const small = families.filter((family) => family !== 'two-at-once' && family !== 'scaling');
  return small.flatMap((one, at) => small.slice(at + 1).map((other) => [one, other] as const));
}

function explore(one: World): void {
  const result = measured(one, { states });
  console.log(summaryOf(one, result));
  const { counterexample, finished } = result.findings;
  if (counterexample !== null) {
    console.log(
      tell(counterexample)
        .map((line) => `  ${line}`)
        .join('\n'),
    );
    process.exitCode = 1;
    return;
  }
  if (chosen.length === 0 && !values.pairs) {
    const idle = measured(one, { states: 200_000 }, { decide: nullDecide(), wanted: 'I1' });
    console.log(`  with a decide that does nothing: ${Math.round(idle.findings.states / idle.seconds)} states/s`);
    if (finished) reportProgress(result.exploration);
  }
}

function reportProgress(exploration: Parameters<typeof progressOf>[0]): void {
  const { cycle, stuck, sinks } = progressOf(exploration);
  const path = cycle ?? stuck?.path ?? null;
  console.log(`  rests at ${[...sinks].map(([name, count]) => `${name} (${count})`).join(', ')}`);
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
        pairs: { type: 'boolean' },
        coarse: { type: 'boolean' },
        unfolded: { type: 'boolean' },
        good: { type: 'boolean' },
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
