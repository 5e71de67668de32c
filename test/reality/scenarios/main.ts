import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import PQueue from 'p-queue';
import { roughly } from '../../../hack/bench/program/durations.ts';
import { interruption } from '../../../hack/bench/program/interruption.ts';
import { Recording } from '../../../hack/bench/record/record.ts';
import { textOf } from '../../../hack/bench/record/table.ts';
import { parseRealityArguments, type RealityOptions } from './arguments.ts';
import { inSeconds } from './expectations.ts';
import { type Played, play } from './play.ts';
import { runWhereItCan } from './requirements.ts';
import { scenarioTable, wayTable } from './results.ts';
import type { Scenario } from './scenario.ts';
import { withSurroundings } from './surroundings.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const mostMembers = 5;

const asked = parseRealityArguments(process.argv.slice(2));
const sideBySide = asked.kind === 'options' ? asked.options.sideBySide : 1;
await runWhereItCan(asked, sideBySide * mostMembers, run);

async function run({ scenarios, runs, output, record }: RealityOptions): Promise<void> {
  const recording = new Recording(basename(record ?? 'reality.json', '.json'));
  const folder = output ?? join(root, '.cache/reality-runs', new Date().toISOString().replaceAll(':', '-'));
  const interrupted = interruption();
  const all: Played[] = [];
  const failures: string[] = [];
  await withSurroundings(say, interrupted, async (surroundings, program) => {
    const one = async ({ scenario, name }: Turn): Promise<void> => {
      if (interrupted.signal.aborted) return;
      say(`${scenario.title} ...`);
      try {
        const played = await play(surroundings, program, scenario, name, join(folder, name));
        all.push(played);
        say(lineOf(played));
      } catch (error) {
        failures.push(`${scenario.title}: ${error instanceof Error ? error.message : String(error)}`);
        say(`  ${failures.at(-1)}`);
      }
      await recording.write(record, tablesOf(all), all);
    };
    const turns = turnsOf(scenarios, runs);
    const queue = new PQueue({ concurrency: sideBySide });
    await queue.addAll(turns.filter(({ scenario }) => !scenario.isAlone).map((turn) => () => one(turn)));
    for (const turn of turns.filter(({ scenario }) => scenario.isAlone)) await one(turn);
    interrupted.signal.throwIfAborted();
  });
  for (const table of tablesOf(all)) say(`\n${textOf(table)}`);
  const failed = all.filter(({ complaints }) => complaints.length > 0);
  say('');
  for (const { title, complaints } of failed) for (const complaint of complaints) say(`  ${title}: ${complaint}`);
  for (const failure of failures) say(`  ${failure}`);
  say(`  everything that was seen: ${relative(process.cwd(), folder)}`);
  const count = failed.length + failures.length;
  say(`${all.length - failed.length} passed, ${count} failed`);
  if (count > 0) throw new Error('Expected every scenario to pass.');
}

/** A scenario that is played under a name of its own. */
interface Turn {
  readonly scenario: Scenario;
  readonly name: string;
}

/** Each run has all of them, so that a slow hour of the machine is everybody's. */
function turnsOf(scenarios: readonly Scenario[], runs: number): readonly Turn[] {
  return Array.from({ length: runs }, (_, run) =>
    scenarios.map((scenario) => ({ scenario, name: runs === 1 ? scenario.slug : `${scenario.slug}-run-${run + 1}` })),
  ).flat();
}

function tablesOf(all: readonly Played[]) {
  return [wayTable(all), scenarioTable(all)].filter(({ rows }) => rows.length > 0);
}

function lineOf({ title, seconds, gaps, lost, complaints }: Played): string {
  const verdict = complaints.length === 0 ? 'passed' : `failed: ${complaints.join('; ')}`;
  return `  ${title}: ${roughly(seconds * 1000)}, write gaps ${inSeconds(gaps) || 'none'}, ${lost} rows lost, ${verdict}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
